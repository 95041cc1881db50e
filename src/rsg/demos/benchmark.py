"""A benchmark: a world with words, their true meaning, tasks in splits, starts, and an expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.demos.demonstration import Demonstration
from rsg.search import Goals


class Benchmark(Protocol):
    """What `rsg demos`, training and evaluation ask of a benchmark."""

    @property
    def name(self) -> str:
        """The word for it on the command line."""
        ...

    @property
    def vocabulary(self) -> Sequence[str]:
        """All terms."""
        ...

    @property
    def splits(self) -> Mapping[str, Sequence[Any]]:
        """The names of the splits."""
        ...

    def tasks(self, split: str) -> list[str]:
        """The descriptions of a split."""
        ...

    def start(self, split: str, task: int, rng: np.random.Generator) -> tuple[Any, NDArray[Any]]:
        """A world and a first state `[W]` for the task with that number."""
        ...

    def demonstrate(
        self, split: str, task: int, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Demonstration, int]:
        """A demonstration by the expert, and how many starts were drawn until one could be done."""
        ...

    def truth(self, world: Any, states: NDArray[Any], terms: Sequence[str]) -> NDArray[np.bool_]:
        """Which subgoals really hold, `[N, terms]`."""
        ...

    def true_goals(self, world: Any, terms: Sequence[str], state: NDArray[Any]) -> Goals:
        """The truth as classifiers: an oracle for planners, a `GoalFn`."""
        ...

    def world(self, setting: str) -> Any:
        """The world that a demonstration's setting describes."""
        ...


def benchmark(name: str, tasks: Sequence[str] = (), place: str | None = None) -> Benchmark:
    """The benchmark of that name.

    Args:
        name: `crafting` or `playroom`.
        tasks: tasks of one's own, for the split `custom`.
        place: where: a kind of map or a map file for these tasks, or a layout for all tasks.
    """
    if name == "crafting":
        from rsg.demos.crafting import CraftingBenchmark, custom_task

        return CraftingBenchmark([custom_task(text, place) for text in tasks])
    if name == "playroom":
        from rsg.demos.playroom import PlayroomBenchmark

        return PlayroomBenchmark(place or "paper", tasks)
    raise RsgError(f"there is no benchmark '{name}'; there are: crafting, playroom")
