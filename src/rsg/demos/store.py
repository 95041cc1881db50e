"""Demonstrations on disk: a folder with `manifest.json` and `.npz` shards.

A shard is written whole or not at all, and counts only once the manifest lists it with its SHA-256. So a kill at any
moment leaves every committed shard readable, and a changed bit is always an error, never other data.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, overload

from rsg.core.errors import StoreError
from rsg.core.files import replacing
from rsg.demos import shards
from rsg.demos.demonstration import Demonstration

FORMAT = "rsg-demonstrations"
VERSION = 1
MANIFEST = "manifest.json"
SHARD_EPISODES = 400


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
    """What the store is and which shards count.

    Attributes:
        world: the name of the world that the demonstrations come from.
        recipe: how the store was made (split, seed, ...), so that an interrupted run can go on; empty for imports.
        shards: the committed ones, in order.
        planned: how many shards the recipe will give in the end; 0 if there is no plan.
    """

    world: str
    recipe: dict[str, Any] = field(default_factory=dict)
    shards: tuple[Shard, ...] = ()
    planned: int = 0

    @property
    def complete(self) -> bool:
        """Whether everything planned is there."""
        return len(self.shards) >= self.planned


class Store:
    """A folder of demonstrations, opened for reading; `Store.create` and `append` write.

    Iterating streams shard by shard, so that a store may be larger than memory; `store[i]` keeps the last shard read.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest = _read_manifest(self.folder)
        self._loaded: tuple[int, list[Demonstration]] | None = None

    @staticmethod
    def create(folder: str | Path, world: str, recipe: dict[str, Any] | None = None, planned: int = 0) -> Store:
        """A new, empty store in a folder that does not exist or is empty."""
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StoreError(f"{folder} is not empty; choose another folder, or remove it first")
        _write_manifest(folder, Manifest(world, recipe or {}, (), planned))
        return Store(folder)

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
            raise StoreError(f"{self.folder} has {len(self):,} episodes, there is no episode {index}")
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
        data = _read(path, f"episodes {self.first_episode(shard):,} to {self.last_episode(shard):,}")
        if hashlib.sha256(data).hexdigest() != shard.sha256:
            raise StoreError(
                f"{path} is damaged: its checksum differs, so episodes {self.first_episode(shard):,} to "
                f"{self.last_episode(shard):,} cannot be trusted; 'rsg demos repair {self.folder}' keeps the rest"
            )
        demos, draws = shards.unpack(data, path)
        if len(demos) != shard.episodes:
            raise StoreError(f"{path} has {len(demos)} episodes, the manifest says {shard.episodes}")
        return demos, draws

    def first_episode(self, shard: Shard) -> int:
        """The number of the shard's first episode."""
        return sum(other.episodes for other in self.manifest.shards if other.index < shard.index)

    def last_episode(self, shard: Shard) -> int:
        """The number of the shard's last episode."""
        return self.first_episode(shard) + shard.episodes - 1

    def append(self, demonstrations: Iterable[Demonstration]) -> None:
        """Add demonstrations at the end, a shard at a time; each shard is safe once it is written."""
        source = iter(demonstrations)
        with locked(self.folder):
            self.manifest = _read_manifest(self.folder)
            index = max((shard.index for shard in self.manifest.shards), default=-1) + 1
            while batch := list(islice(source, SHARD_EPISODES)):
                self.commit(write_shard(self.folder, index, batch))
                index += 1

    def commit(self, *written: Shard) -> None:
        """Make shards count that have been written. The caller holds the lock."""
        kept = {shard.index: shard for shard in (*self.manifest.shards, *written)}
        ordered = tuple(kept[index] for index in sorted(kept))
        manifest = Manifest(self.manifest.world, self.manifest.recipe, ordered, self.manifest.planned)
        _write_manifest(self.folder, manifest)
        self.manifest = manifest


def write_shard(folder: Path, index: int, demos: Sequence[Demonstration], draws: Sequence[int] | None = None) -> Shard:
    """Write one shard; it counts when it is committed."""
    data = shards.pack(demos, draws)
    name = f"shard-{index:05}.npz"
    with replacing(folder / name) as part:
        part.write_bytes(data)
    return Shard(index, name, len(demos), sum(map(len, demos)), hashlib.sha256(data).hexdigest())


@dataclass(frozen=True)
class Repaired:
    """What a repair kept and lost."""

    kept: int
    lost: int
    damaged: tuple[str, ...]


def repair(folder: str | Path) -> Repaired:
    """Keep every intact episode, drop the damaged ones, and make the store consistent again."""
    folder = Path(folder)
    with locked(folder):
        try:
            manifest = _read_manifest(folder)
        except StoreError:
            manifest = _rebuilt_manifest(folder)
        store = Store.__new__(Store)
        store.folder, store.manifest, store._loaded = folder, manifest, None
        good: list[Shard] = []
        damaged: list[str] = []
        before = len(store)
        for shard in manifest.shards:
            path = folder / shard.file
            try:
                store.read_shard(shard)
                good.append(shard)
            except StoreError:
                damaged.append(shard.file)
                demos = shards.salvage(path.read_bytes(), path) if path.is_file() else []
                if demos:
                    good.append(write_shard(folder, shard.index, demos))
        planned = manifest.planned if not damaged else 0
        recipe = manifest.recipe if not damaged else {}
        _write_manifest(folder, Manifest(manifest.world, recipe, tuple(good), planned))
    kept = sum(shard.episodes for shard in good)
    return Repaired(kept, before - kept, tuple(damaged))


def _rebuilt_manifest(folder: Path) -> Manifest:
    """A manifest for the shards that are there, when the old one cannot be read."""
    if not folder.is_dir() or not list(folder.glob("shard-*.npz")):
        raise StoreError(f"{folder} is not a store of demonstrations: there are no shards in it")
    found = []
    world = "unknown"
    for path in sorted(folder.glob("shard-*.npz")):
        data = path.read_bytes()
        demos = shards.salvage(data, path)
        for demo in demos[:1]:
            with suppress(ValueError, AttributeError):
                world = json.loads(demo.setting).get("world", world)
        digest = hashlib.sha256(data).hexdigest()
        found.append(Shard(int(path.stem.split("-")[1]), path.name, len(demos), sum(map(len, demos)), digest))
    return Manifest(world, {}, tuple(shard for shard in found if shard.episodes))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one process writes to a store at a time; the lock goes with the process, also when it is killed."""
    try:
        handle = (folder / ".lock").open("w")
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror}") from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"another process is writing to {folder}; wait for it, or stop it") from None
        yield


def _write_manifest(folder: Path, manifest: Manifest) -> None:
    content = {
        "format": FORMAT,
        "version": VERSION,
        "world": manifest.world,
        "recipe": manifest.recipe,
        "planned_shards": manifest.planned,
        "episodes": sum(shard.episodes for shard in manifest.shards),
        "steps": sum(shard.steps for shard in manifest.shards),
        "shards": [vars(shard) for shard in manifest.shards],
    }
    with replacing(folder / MANIFEST) as part:
        part.write_text(json.dumps({**content, "sha256": _digest(content)}, indent=1) + "\n", encoding="utf-8")


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if not path.exists():
        raise StoreError(f"{folder} is not a store of demonstrations: it has no {MANIFEST}")
    try:
        content = json.loads(_read(path, "the whole store").decode("utf-8"))
        if content["format"] != FORMAT:
            raise StoreError(f"{path} is not a manifest of demonstrations but of '{content['format']}'")
        if content["version"] > VERSION:
            raise StoreError(
                f"{path} has format {content['version']}, this rsg reads up to {VERSION}; update rsg to read it"
            )
        digest = content.pop("sha256")
        if digest != _digest(content):
            raise StoreError(f"{path} is damaged: its checksum differs; 'rsg demos repair {folder}' rebuilds it")
        listed = tuple(Shard(**shard) for shard in content["shards"])
        return Manifest(content["world"], content["recipe"], listed, content["planned_shards"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StoreError(f"{path} is damaged: it cannot be read; 'rsg demos repair {folder}' rebuilds it") from None


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path} ({what}): {error.strerror}") from None
