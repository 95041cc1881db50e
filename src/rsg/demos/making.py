"""Making a store of demonstrations: on several cores, resumable, the same bytes however it is run."""

from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rsg.core.blame import telling_whose
from rsg.core.errors import RsgError, StoreError
from rsg.core.progress import Advance, progress
from rsg.core.random import stream
from rsg.core.workers import cores, each_done
from rsg.demos.demonstration import Demonstrator
from rsg.demos.store import FOLDER, MANIFEST, SHARD_EPISODES, Shard, Store, write_shard


@dataclass(frozen=True)
class Recipe:
    """All that decides the content of a store.

    Attributes:
        world: the name of the domain.
        split: which tasks; `custom` for `tasks`.
        per_task: demonstrations of each task.
        seed: where chance comes from.
        noise: the share of random actions.
        tasks: descriptions of one's own, in place of those of a split.
        map: the place, if one was named.

    >>> Recipe("kitchen", "train", per_task=5).seed
    0
    """

    world: str
    split: str
    per_task: int
    seed: int = 0
    noise: float = 0.0
    tasks: tuple[str, ...] = ()
    map: str | None = None

    def __post_init__(self) -> None:
        if self.per_task < 1:
            raise RsgError(f"per-task must be at least 1, not {self.per_task}")
        if not 0 <= self.noise < 1:
            raise RsgError(f"noise is a share of random actions, from 0 up to but not 1, not {self.noise}")

    def episodes(self, source: Demonstrator) -> int:
        """How many demonstrations it gives."""
        return len(source.tasks(self.split)) * self.per_task

    def shards(self, source: Demonstrator) -> int:
        """How many files they fill."""
        return -(-self.episodes(source) // SHARD_EPISODES)


def fill_store(
    source: Demonstrator, recipe: Recipe, folder: Path, workers: int = 1, advance: Advance | None = None
) -> Store:
    """Let somebody demonstrate what a recipe asks for; see `rsg.domain.make_demonstrations`."""
    shards = recipe.shards(source)
    if not (folder / MANIFEST).exists():
        Store.create(folder, recipe.world, _plain(recipe), shards)
    with FOLDER.writing(folder):
        store = _opened(recipe, folder, shards)
        done = {shard.index: shard.episodes for shard in store.manifest.shards if store.intact(shard)}
        full = {index for index, episodes in done.items() if episodes == len(_numbers(source, recipe, index))}
        todo = (index for index in range(shards) if index not in full)
        if advance:
            advance(sum(done[index] for index in full))
        make = partial(make_shard, source, recipe, folder)
        with closing(each_done(make, todo, min(workers, shards - len(full)))) as written:
            for shard in written:
                store.commit(shard)
                if advance:
                    advance(shard.episodes)
    return store


def fill_with_bar(source: Demonstrator, recipe: Recipe, folder: Path, workers: int = 0) -> Store:
    """The same with a bar for a person who waits; 0 workers: one per core."""
    with progress("demonstrating", recipe.episodes(source), "episodes") as advance:
        return fill_store(source, recipe, folder, workers or cores(), advance)


def _opened(recipe: Recipe, folder: Path, shards: int) -> Store:
    """The store, if it is one of that recipe."""
    store = Store(folder)
    if store.manifest.world != recipe.world:
        raise StoreError(f"{folder} holds demonstrations of the world '{store.manifest.world}'; choose another folder")
    had, plan = store.manifest.recipe, _plain(recipe)
    if had != plan or store.manifest.planned != shards:
        if not store.manifest.shards:  # begun and never filled: nothing is lost
            store.begin_anew(plan, shards)
            return store
        differ = ", ".join(f"{key} {had[key]}" for key in plan if had.get(key) != plan[key] and key in had)
        raise StoreError(f"{folder} holds other demonstrations ({differ or 'an import'}); choose another folder")
    return store


def _plain(recipe: Recipe) -> dict[str, Any]:
    """The recipe as JSON gives it back."""
    return {**asdict(recipe), "tasks": list(recipe.tasks)}


def _numbers(source: Demonstrator, recipe: Recipe, index: int) -> range:
    """The numbers of the episodes in a shard."""
    return range(index * SHARD_EPISODES, min((index + 1) * SHARD_EPISODES, recipe.episodes(source)))


def make_shard(source: Demonstrator, recipe: Recipe, folder: Path, index: int) -> Shard:
    """Write the shard with that number."""
    demos, draws = [], []
    for episode in _numbers(source, recipe, index):
        task, number = divmod(episode, recipe.per_task)
        rng = stream(recipe.seed, "demonstrations", recipe.split, task, number)
        with telling_whose():  # a worker cannot hand on how it came to an error
            demo, drawn = source.demonstrate(recipe.split, task, rng, recipe.noise)
        demos.append(demo)
        draws.append(drawn)
    return write_shard(folder, index, demos, draws)
