"""Making a store of demonstrations: on several cores, resumable, the same bytes however it is run."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from rsg.core.errors import RsgError, StoreError
from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos.benchmark import Benchmark, benchmark
from rsg.demos.store import MANIFEST, SHARD_EPISODES, Shard, Store, locked, write_shard


@dataclass(frozen=True)
class Recipe:
    """All that decides the content of a store.

    Attributes:
        world: the name of the benchmark.
        split: which tasks; `custom` for `tasks`.
        per_task: demonstrations of each task.
        seed: where chance comes from.
        noise: the share of random actions.
        tasks: descriptions of one's own, in place of those of a split.
        map: a kind of map or a map file for these.
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

    def benchmark(self) -> Benchmark:
        """The benchmark, with one's own tasks in it."""
        if not self.tasks:
            return benchmark(self.world)
        from rsg.demos.crafting import CraftingBenchmark, custom_task

        return CraftingBenchmark([custom_task(text, self.map) for text in self.tasks])

    def episodes(self) -> int:
        """How many demonstrations it gives."""
        return len(self.benchmark().tasks(self.split)) * self.per_task

    def shards(self) -> int:
        """How many files they fill."""
        return -(-self.episodes() // SHARD_EPISODES)


def make_demonstrations(recipe: Recipe, folder: str | Path, workers: int = 1, advance: Advance | None = None) -> Store:
    """Make the demonstrations of a recipe in a folder, or go on where an interrupted run stopped."""
    folder = Path(folder)
    store = _open_or_create(recipe, folder)
    with locked(folder):
        store = Store(folder)
        committed = {shard.index for shard in store.manifest.shards}
        todo = [index for index in range(recipe.shards()) if index not in committed]
        if advance:
            advance(len(store))
        for shard in _make(recipe, folder, todo, workers):
            store.commit(shard)
            if advance:
                advance(shard.episodes)
    return store


def _open_or_create(recipe: Recipe, folder: Path) -> Store:
    plan = _plain(recipe)
    if not (folder / MANIFEST).exists():
        return Store.create(folder, recipe.world, plan, recipe.shards())
    store = Store(folder)
    if store.manifest.world != recipe.world:
        raise StoreError(f"{folder} holds demonstrations of the world '{store.manifest.world}'; choose another folder")
    if store.manifest.recipe != plan:
        had = ", ".join(f"{key} {value}" for key, value in store.manifest.recipe.items() if value) or "an import"
        raise StoreError(f"{folder} holds other demonstrations ({had}); choose another folder")
    return store


def _plain(recipe: Recipe) -> dict[str, Any]:
    """The recipe as JSON gives it back."""
    return {**asdict(recipe), "tasks": list(recipe.tasks)}


def _make(recipe: Recipe, folder: Path, todo: list[int], workers: int) -> Iterator[Shard]:
    """Write shards, in any order; each depends on the recipe and its number alone."""
    if workers <= 1 or len(todo) <= 1:
        for index in todo:
            yield make_shard(recipe, folder, index)
        return
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(todo)), spawn, initializer=_begin_worker)
    try:
        for job in as_completed([pool.submit(make_shard, recipe, folder, index) for index in todo]):
            yield job.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    """A worker leaves Ctrl-C to its parent, and ends when the parent is gone, even if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()


def make_shard(recipe: Recipe, folder: Path, index: int) -> Shard:
    """Write the shard with that number."""
    source = recipe.benchmark()
    demos, draws = [], []
    for episode in range(index * SHARD_EPISODES, min((index + 1) * SHARD_EPISODES, recipe.episodes())):
        task, number = divmod(episode, recipe.per_task)
        rng = stream(recipe.seed, "demonstrations", recipe.split, task, number)
        demo, drawn = source.demonstrate(recipe.split, task, rng, recipe.noise)
        demos.append(demo)
        draws.append(drawn)
    return write_shard(folder, index, demos, draws)
