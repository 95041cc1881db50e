"""How often the description that ranks first is the right one: for baselines and RSG alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from rsg.core.random import stream
from rsg.demos import Benchmark, Demonstration
from rsg.evaluation.planning import Starts
from rsg.evaluation.statistics import wilson
from rsg.language import Task, machine_of
from rsg.subgoals import Recognised
from rsg.training.loop import one_thread


class Ranks(Protocol):
    """Whoever can say which task a trajectory did: a baseline, or RSG."""

    def rank(self, world: Any, demo: Demonstration, tasks: Sequence[Task]) -> list[Recognised]:
        """Tasks, the most likely first; what the demonstration says itself is not read."""
        ...


def evaluate_recognition(
    source: Benchmark, starts: Starts, method: Ranks, candidates: Sequence[str] = ()
) -> dict[str, Any]:
    """How often the description that explains a fresh demonstration best is its own.

    Candidates are the distinct descriptions of the split, unless others are given. Demonstrations are those of
    `rsg reproduce recognition` for the same seed.
    """
    split, per_task, seed = starts
    texts = source.tasks(split)
    among = [machine_of(text).task for text in dict.fromkeys(candidates or texts)]
    right = every = 0
    for text in dict.fromkeys(texts):
        for i in range(per_task):
            demo, _ = source.demonstrate(split, texts.index(text), stream(seed, "recognition", split, text, i))
            with one_thread():
                first = method.rank(source.world(demo.setting), demo, among)[0]
            right += str(first.task) == str(machine_of(text).task)
            every += 1
    share, interval = right / every, [round(edge, 6) for edge in wilson(right, every)]
    return {
        "split": split,
        "candidates": len(among),
        "right": right,
        "trajectories": every,
        "recognised": share,
        "recognised_interval": interval,
    }
