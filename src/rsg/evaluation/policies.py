"""How well baselines do: success of a policy, with the starts and figures of planning; recognition of tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rsg.baselines import Policy, rollout
from rsg.baselines.policies import MAX_STEPS
from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos import Benchmark, Demonstration
from rsg.evaluation.planning import Episode, by_task
from rsg.evaluation.statistics import wilson
from rsg.language import Machine, Task, machine_of
from rsg.planning.validation import does_leniently
from rsg.subgoals import Recognised
from rsg.training.loop import one_thread


@dataclass(frozen=True, eq=False)
class Acted:
    """An episode of a policy.

    Attributes:
        task, start: the numbers of the task in its split and of the start, from which it can be made again.
        actions: `[T]` or `[T, D]` what was done.
        episode: the judgement.
    """

    task: int
    start: int
    actions: NDArray[Any]
    episode: Episode


def evaluate_policy(
    source: Benchmark,
    split: str,
    policy: Policy,
    per_task: int,
    seed: int = 0,
    max_steps: int = MAX_STEPS,
    advance: Advance | None = None,
    see: Callable[[Acted], None] | None = None,
) -> dict[str, Any]:
    """Success of a policy over a split, with the starts and the figures of `evaluate_planning`.

    An episode ends when the trajectory has done the task, when the policy stops, or after `max_steps`: the rule of
    the environments, for all worlds. It succeeds if it did the task strictly. So a policy need not know when it is
    done, which is more than is granted to a plan. `expansions` are the steps that were taken. `see` is called with
    each episode.
    """
    tasks = source.tasks(split)
    episodes = []
    for number in range(len(tasks)):
        demos = [start_of(source, split, number, i, seed) for i in range(per_task)]
        rows = []
        for acted in _acted(source, policy, number, demos, machine_of(tasks[number]), max_steps):
            rows.append(acted.episode)
            if see:
                see(acted)
        episodes.append(rows)
        if advance:
            advance(per_task)
    return {"split": split, "per_task": per_task, "seed": seed, **by_task(tasks, episodes)}


def start_of(source: Benchmark, split: str, task: int, start: int, seed: int) -> Demonstration:
    """A demonstration that begins where an evaluation does."""
    return source.demonstrate(split, task, stream(seed, "evaluation", split, task, start))[0]


def _acted(
    source: Benchmark, policy: Policy, number: int, demos: Sequence[Demonstration], machine: Machine, max_steps: int
) -> Iterator[Acted]:
    """Episodes from the starts of demonstrations, those of the same world side by side."""
    order = sorted(range(len(demos)), key=lambda i: demos[i].setting)
    for setting, group in groupby(order, key=lambda i: demos[i].setting):
        world: Any = source.world(setting)
        truth = partial(source.truth, world, terms=[str(term) for term in machine.terms])
        places = list(group)
        begun = time.perf_counter()
        with one_thread():
            made = rollout(policy, world, np.stack([demos[i].states[0] for i in places]), machine, max_steps, truth)
        milliseconds = 1000 * (time.perf_counter() - begun) / len(places)
        price = float(world.costs[0]) if hasattr(world, "costs") else float(world.cost)
        for row, place in enumerate(places):
            steps, done = int(made.steps[row]), bool(made.done[row])
            lenient = done or does_leniently(machine, truth(made.states[row, : steps + 1]))
            episode = Episode(done, lenient, steps, milliseconds, price * steps)
            yield Acted(number, place, made.actions[row, :steps], episode)


class Ranks(Protocol):
    """Whoever can say which task a trajectory did: a baseline, or RSG."""

    def rank(self, world: Any, demo: Demonstration, tasks: Sequence[Task]) -> list[Recognised]:
        """Tasks, the most likely first; what the demonstration says itself is not read."""
        ...


def evaluate_recognition(
    source: Benchmark, split: str, method: Ranks, per_task: int, seed: int = 0, candidates: Sequence[str] = ()
) -> dict[str, Any]:
    """How often the description that explains a fresh demonstration best is its own.

    Candidates are the distinct descriptions of the split, unless others are given. Demonstrations are those of
    `rsg reproduce recognition` for the same seed.
    """
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
