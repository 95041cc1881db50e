"""Demonstrations on disk: a folder with `manifest.json` and `.npz` shards.

A shard is written whole or not at all, and counts only once the manifest lists it with its SHA-256. So a kill at any
moment leaves every committed shard readable, and a changed bit is always an error, never other data.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, overload

from rsg.core.errors import StoreError
from rsg.core.folder import UNREADABLE, Sealed, is_sealed, sha256, write
from rsg.demos import shards
from rsg.demos.demonstration import Demonstration

MANIFEST = "manifest.json"
SHARD_EPISODES = 400
FOLDER = Sealed(
    file=MANIFEST,
    format="rsg-demonstrations",
    what="a store of demonstrations",
    parts=("shard-*.npz",),
    error=StoreError,
    busy="writing to",
    mend="'rsg demos repair {folder}' rebuilds it",
)


@dataclass(frozen=True)
class Shard:
    """One committed file: its place in the order, its name, what it holds, and what its bytes must hash to."""

    index: int
    file: str
    episodes: int
    steps: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What the store is and which shards count."""

    world: str  # the name of the world that the demonstrations come from
    # how the store was made (split, seed, ...), so that an interrupted run can go on; empty for imports
    recipe: dict[str, Any] = field(default_factory=dict)
    shards: tuple[Shard, ...] = ()  # the committed ones, in order
    planned: int = 0  # how many shards the recipe will give in the end; 0 if there is no plan

    @staticmethod
    def of(content: dict[str, Any]) -> "Manifest":
        """What a manifest's file says."""
        listed = tuple(Shard(**shard) for shard in content["shards"])
        return Manifest(content["world"], content["recipe"], listed, content["planned_shards"])

    def plain(self) -> dict[str, Any]:
        """What the file says."""
        return {
            "world": self.world,
            "recipe": self.recipe,
            "planned_shards": self.planned,
            "episodes": sum(shard.episodes for shard in self.shards),
            "steps": sum(shard.steps for shard in self.shards),
            "shards": [vars(shard) for shard in self.shards],
        }

    @property
    def complete(self) -> bool:
        """Whether everything planned is there; what was appended comes after the plan."""
        return sum(shard.index < self.planned for shard in self.shards) >= self.planned


class Store:
    """A folder of demonstrations, opened for reading; `Store.create` and `append` write.

    Iterating streams shard by shard, so that a store may be larger than memory; `store[i]` keeps the last shard read.

    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = Store.create(f"{folder}/mine", world="kitchen")
    ...     store.append([Demonstration(np.zeros((3, 4)), np.array([0, 1]), "open-drawer")])
    ...     [demo.task for demo in Store(f"{folder}/mine")]
    ['open-drawer']
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest = FOLDER.read(self.folder, Manifest.of)
        self._loaded: tuple[int, list[Demonstration]] | None = None

    @staticmethod
    def create(folder: str | Path, world: str, recipe: dict[str, Any] | None = None, planned: int = 0) -> "Store":
        """A new, empty store in a folder that does not exist or is empty."""
        FOLDER.create(Path(folder), Manifest(world, recipe or {}, (), planned).plain())
        return Store(folder)

    def check_world(self, world: str) -> None:
        """An error if the demonstrations are of another world."""
        if self.manifest.world != world:
            raise StoreError(f"{self.folder} holds demonstrations of '{self.manifest.world}', not of '{world}'")

    def __len__(self) -> int:
        return sum(shard.episodes for shard in self.manifest.shards)

    @property
    def steps(self) -> int:
        """All actions of all episodes."""
        return sum(shard.steps for shard in self.manifest.shards)

    def __iter__(self) -> Iterator[Demonstration]:
        for shard in self.manifest.shards:
            yield from self.read_shard(shard)[0]

    @overload
    def __getitem__(self, index: int) -> Demonstration: ...
    @overload
    def __getitem__(self, index: slice) -> list[Demonstration]: ...
    def __getitem__(self, index: int | slice) -> Demonstration | list[Demonstration]:
        """One episode by its number, or a list of several."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise StoreError(
                f"{self.folder} has {len(self):,} episodes, 0 to {len(self) - 1}; there is no episode {index}"
            )
        rest = index % len(self)
        for shard in self.manifest.shards:
            if rest < shard.episodes:
                if self._loaded is None or self._loaded[0] != shard.index:
                    self._loaded = (shard.index, self.read_shard(shard)[0])
                return self._loaded[1][rest]
            rest -= shard.episodes
        raise AssertionError("the manifest's counts add up")

    def read_shard(self, shard: Shard) -> tuple[list[Demonstration], list[int]]:
        """The demonstrations of one shard and how many starts were drawn for each; its bytes are verified."""
        path = self.folder / shard.file
        first = self.first_episode(shard)
        which = f"episodes {first:,} to {first + shard.episodes - 1:,}"
        data = _read(path, which)
        if sha256(data) != shard.sha256:
            lost = f"{path} is damaged: its checksum differs, so {which} cannot be trusted"
            raise StoreError(f"{lost}; 'rsg demos repair {self.folder}' keeps the rest")
        demos, draws = shards.unpack(data, path)
        if len(demos) != shard.episodes:
            raise StoreError(f"{path} has {len(demos)} episodes, the manifest says {shard.episodes}")
        return demos, draws

    def intact(self, shard: Shard) -> bool:
        """Whether the shard's file still has the bytes that were written."""
        return _hash(self.folder / shard.file) == shard.sha256

    def first_episode(self, shard: Shard) -> int:
        """The number of the shard's first episode."""
        return sum(other.episodes for other in self.manifest.shards if other.index < shard.index)

    def append(self, demonstrations: Iterable[Demonstration], all_or_none: bool = False) -> None:
        """Add demonstrations at the end, a shard at a time; each shard is safe once it is written.

        With `all_or_none`, they count only when the last one has been written: an error on the way adds nothing.
        """
        source = iter(demonstrations)
        written: list[Shard] = []
        with FOLDER.writing(self.folder):
            self.manifest = FOLDER.read(self.folder, Manifest.of)
            taken = (max(shard.index, _number(shard.file)) for shard in self.manifest.shards)
            index = max(self.manifest.planned, *(number + 1 for number in taken), 0)
            try:
                while batch := list(islice(source, SHARD_EPISODES)):
                    written.append(write_shard(self.folder, index, batch))
                    index += 1
                    if not all_or_none:
                        self.commit(written.pop())
                if written:
                    self.commit(*written)
            except BaseException:
                for shard in written:
                    (self.folder / shard.file).unlink(missing_ok=True)
                raise

    def begin_anew(self, recipe: dict[str, Any], planned: int) -> None:
        """Plan something else in a store that holds nothing yet. The caller holds the lock."""
        assert not self.manifest.shards
        self._put(Manifest(self.manifest.world, recipe, (), planned))

    def commit(self, *written: Shard) -> None:
        """Make shards count that have been written. The caller holds the lock."""
        kept = {shard.index: shard for shard in (*self.manifest.shards, *written)}
        ordered = tuple(kept[index] for index in sorted(kept))
        self._put(replace(self.manifest, shards=ordered))

    def _put(self, manifest: Manifest) -> None:
        FOLDER.write(self.folder, manifest.plain())
        self.manifest = manifest


def write_shard(folder: Path, index: int, demos: Sequence[Demonstration], draws: Sequence[int] | None = None) -> Shard:
    """Write one shard; it counts when it is committed."""
    data = shards.pack(demos, draws)
    name = f"shard-{index:05}.npz"
    write(folder / name, data)
    return Shard(index, name, len(demos), sum(map(len, demos)), sha256(data))


@dataclass(frozen=True)
class Repaired:
    """What a repair kept and lost."""

    kept: int
    lost: int
    damaged: tuple[str, ...]


def repair(folder: str | Path) -> Repaired:
    """Keep every intact episode, drop the damaged ones, and make the store consistent again.

    A manifest that cannot be read is rebuilt from the shards; how the store was made is not known any more then.
    """
    folder = Path(folder)
    if not (folder / MANIFEST).exists() and not _shard_files(folder):
        raise StoreError(f"{folder} is not a store of demonstrations: it has no {MANIFEST} and no shards")
    with FOLDER.writing(folder):
        if (folder / MANIFEST).exists() and is_sealed(_read(folder / MANIFEST, "the whole store")):
            return _mend(folder, FOLDER.read(folder, Manifest.of))
        return _rebuild(folder)


def _mend(folder: Path, manifest: Manifest) -> Repaired:
    """Salvage what the shards of a manifest still hold."""
    hashes = {name: _hash(folder / name) for name in _shard_files(folder)}
    places = {digest: name for name, digest in hashes.items()}
    listed = {shard.sha256 for shard in manifest.shards}
    good: list[Shard] = []
    damaged: list[str] = []
    for shard in manifest.shards:
        digest = hashes.get(shard.file)
        if digest == shard.sha256:
            good.append(shard)
            continue
        damaged.append(shard.file)
        if shard.sha256 in places:  # whole, but under the name of another
            good.append(replace(shard, file=places[shard.sha256]))
        elif digest is not None and digest not in listed:
            demos, draws, _ = shards.salvage(_read(folder / shard.file, "to salvage"))
            if demos:
                good.append(replace(write_shard(folder, _number(shard.file), demos, draws), index=shard.index))
    if damaged:  # the recipe stays: the command that made the store makes again what was lost
        FOLDER.write(folder, replace(manifest, shards=tuple(good)).plain())
    kept = sum(shard.episodes for shard in good)
    return Repaired(kept, sum(shard.episodes for shard in manifest.shards) - kept, tuple(damaged))


def _rebuild(folder: Path) -> Repaired:
    """A manifest for the shards that are there, when the old one cannot be read."""
    good: list[Shard] = []
    damaged = [MANIFEST]
    lost, world = 0, "unknown"
    for name in _shard_files(folder):
        digest = _hash(folder / name)
        demos, draws, held = shards.salvage(_read(folder / name, "to salvage"))
        lost += held - len(demos)
        if demos:
            good.append(write_shard(folder, _number(name), demos, draws))
            with suppress(*UNREADABLE):
                world = str(json.loads(demos[0].setting)["world"])
        if not demos or digest != good[-1].sha256:
            damaged.append(name)
    there = {_number(name) for name in _shard_files(folder)}
    damaged += [f"shard-{number:05}.npz" for number in range(max(there, default=0)) if number not in there]
    if not good:
        raise StoreError(f"{folder} holds no intact demonstration, and its {MANIFEST} cannot be read; nothing was done")
    FOLDER.write(folder, Manifest(world, {}, tuple(good)).plain())
    return Repaired(sum(shard.episodes for shard in good), lost, tuple(damaged))


def _shard_files(folder: Path) -> list[str]:
    """The names of the shards that are there, in order."""
    names = [path.name for path in folder.glob("shard-*.npz") if re.fullmatch(r"shard-\d{5,}\.npz", path.name)]
    return sorted(names, key=_number)


def _number(file: str) -> int:
    return int(file.removeprefix("shard-").removesuffix(".npz"))


def _hash(path: Path) -> str | None:
    """The SHA-256 of a file; None if there is no such file."""
    return sha256(_read(path, "to verify it")) if path.is_file() else None


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path} ({what}): {error.strerror}") from None
