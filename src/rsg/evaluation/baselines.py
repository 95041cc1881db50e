"""How well baselines do: success of a policy, with the starts and figures of planning; recognition of tasks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from rsg.baselines import Baseline, Policy, rollout
from rsg.baselines.policies import MAX_STEPS
from rsg.core.progress import Advance
from rsg.core.random import stream
from rsg.demos import Benchmark, Demonstration
from rsg.evaluation.planning import Episode, by_task
from rsg.evaluation.statistics import wilson
from rsg.language import Machine
from rsg.planning.validation import does_leniently
from rsg.training.data import machine_of
from rsg.training.loop import one_thread


def evaluate_policy(
    source: Benchmark,
    split: str,
    policy: Policy,
    per_task: int,
    seed: int = 0,
    max_steps: int = MAX_STEPS,
    advance: Advance | None = None,
) -> dict[str, Any]:
    """Success of a policy over a split, with the starts and the figures of `evaluate_planning`.

    An episode ends when the trajectory has done the task, when the policy stops, or after `max_steps`: the rule of
    the environments, for all worlds. It succeeds if it did the task strictly. So a policy need not know when it is
    done, which is more than is granted to a plan. `expansions` are the steps that were taken.
    """
    tasks = source.tasks(split)
    episodes = []
    for number, text in enumerate(tasks):
        demos = [
            source.demonstrate(split, number, stream(seed, "evaluation", split, number, i))[0] for i in range(per_task)
        ]
        episodes.append(_judged(source, policy, demos, machine_of(text), max_steps))
        if advance:
            advance(per_task)
    return {"split": split, "per_task": per_task, "seed": seed, **by_task(tasks, episodes)}


def _judged(
    source: Benchmark, policy: Policy, demos: Sequence[Demonstration], machine: Machine, max_steps: int
) -> list[Episode]:
    """Episodes from the starts of demonstrations, those of the same world side by side."""
    found: list[Episode] = []
    for setting, group in groupby(sorted(demos, key=lambda demo: demo.setting), key=lambda demo: demo.setting):
        world: Any = source.world(setting)
        terms = [str(term) for term in machine.terms]
        truth = partial(source.truth, world, terms=terms)
        starts = np.stack([demo.states[0] for demo in group])
        begun = time.perf_counter()
        with one_thread():
            acted = rollout(policy, world, starts, machine, max_steps, truth)
        milliseconds = 1000 * (time.perf_counter() - begun) / len(starts)
        price = float(world.costs[0]) if hasattr(world, "costs") else float(world.cost)
        for states, steps, done in zip(acted.states, acted.steps.tolist(), acted.done.tolist(), strict=True):
            lenient = done or does_leniently(machine, truth(states[: steps + 1]))
            found.append(Episode(done, lenient, steps, milliseconds, price * steps))
    return found


def evaluate_recognition(
    source: Benchmark, split: str, method: Baseline, per_task: int, seed: int = 0, candidates: Sequence[str] = ()
) -> dict[str, Any]:
    """How often the description that explains a fresh demonstration best is its own.

    Candidates are the distinct descriptions of the split, unless others are given. Demonstrations are those of
    `rsg reproduce recognition` for the same seed.
    """
    texts = source.tasks(split)
    among = list(dict.fromkeys(candidates or texts))
    right = every = 0
    for text in dict.fromkeys(texts):
        for i in range(per_task):
            demo, _ = source.demonstrate(split, texts.index(text), stream(seed, "recognition", split, text, i))
            with one_thread():
                scores = method.explain(source.world(demo.setting), demo, among)
            right += among[int(scores.argmax())] == text
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
