"""A benchmark: a world with words, their true meaning, tasks in splits, starts, and an expert."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from rsg.core.arrays import Array, Bools
from rsg.core.errors import RsgError
from rsg.core.files import shipped
from rsg.demos.demonstration import Demonstration
from rsg.language import Machine, parse

Tasks = tuple[Any, ...]


class Benchmark(ABC):
    """What `rsg demos`, training and evaluation ask of a benchmark.

    Attributes:
        name: the word for it on the command line; title: its name in sentences.
        vocabulary: all terms.
        splits: the tasks of each split; `str` gives their descriptions.
        no_splits: what to say where there are none.
        true_goals_of: the truth of a world about some terms, as `true_goals`.
        world_of: a world from the values of a demonstration's setting.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    vocabulary: Sequence[str]
    splits: Mapping[str, Sequence[Any]]
    no_splits: ClassVar[str] = "none"
    true_goals_of: ClassVar[Callable[..., Any]]
    world_of: ClassVar[Callable[..., Any]]

    def split(self, name: str) -> Sequence[Any]:
        """The tasks of a split."""
        if name not in self.splits:
            raise RsgError(f"there is no split '{name}'; splits are: {', '.join(self.splits) or self.no_splits}")
        return self.splits[name]

    def tasks(self, split: str) -> list[str]:
        """The descriptions of a split."""
        return list(map(str, self.split(split)))

    @abstractmethod
    def start(self, split: str, task: int, rng: np.random.Generator) -> tuple[Any, Array]:
        """A world and a first state `[W]` for the task with that number."""

    @abstractmethod
    def demonstrate(
        self, split: str, task: int, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Demonstration, int]:
        """A demonstration by the expert, and how many starts were drawn until one could be done."""

    def truth(self, world: Any, states: Array, terms: Sequence[str]) -> Bools:
        """Which subgoals really hold, `[N, terms]`."""
        holds: Bools = self.true_goals_of(world, terms).holds(states)
        return holds

    def true_goals(self, world: Any, terms: Sequence[str], state: Array) -> Any:
        """The truth as classifiers: an oracle for planners, a `GoalFn`."""
        del state
        return self.true_goals_of(world, terms)

    def world(self, setting: str) -> Any:
        """The world that a demonstration's setting describes."""
        try:
            return _world(type(self), setting)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise RsgError(f"this is not a setting of {self.title}: {setting!r}") from None


@cache
def paper_tasks(world: str) -> dict[str, list[Any]]:
    """The tasks that the paper's appendix lists for a world, by split, from `tasks.json`.

    Of Playroom it prints the second novel one twice; the third stands for the other.
    """
    tasks: dict[str, dict[str, list[Any]]] = json.loads(shipped("rsg.demos", "tasks.json"))
    return tasks[world]


def splits_of(primitive: Tasks, compositional: Tasks, others: Mapping[str, Tasks], custom: Tasks) -> dict[str, Tasks]:
    """The splits of the paper: `train` is primitive and compositional; `validation` the same from other starts."""
    both = primitive + compositional
    splits = {"train": both, "validation": both, "primitive": primitive, "compositional": compositional, **others}
    return splits | ({"custom": custom} if custom else {})


@cache
def _world(kind: type[Benchmark], setting: str) -> Any:
    values = json.loads(setting)
    if values.pop("world") != kind.name:
        raise ValueError(setting)
    return kind.world_of(**values)


@cache
def machine_of(text: str) -> Machine:
    """The machine of a description."""
    return Machine.of(parse(text))


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
