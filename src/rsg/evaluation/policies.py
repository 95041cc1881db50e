"""How well baselines do: success of a policy, with the starts and figures of planning."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from rsg.baselines import Policy, policy_for, rollout
from rsg.baselines import baseline_of as baseline_of
from rsg.baselines.jobs import RSG
from rsg.baselines.policies import MAX_STEPS
from rsg.core.arrays import Array
from rsg.core.progress import Advance, progress
from rsg.demos import Demonstration
from rsg.demos.showing import gif
from rsg.domain import Domain
from rsg.evaluation.planning import Episode, Starts, by_task, evaluate_planning
from rsg.language import machine_of
from rsg.planning.validation import does_leniently
from rsg.training.data import least_steps
from rsg.training.loop import one_thread
from rsg.worlds import EitherWorld, costs_of, is_continuous

LONGEST = 60  # steps of an episode that is shown


def success_now(source: Domain, per_task: int, _step: int, method: Any) -> dict[str, float]:
    """Success against the truth of what is being trained, for reports of it."""
    starts = Starts(source.reported[0], per_task)
    if method.name == RSG:
        result = evaluate_planning(source, starts, method.module.goals)
    elif hasattr(method, "act"):
        result = evaluate_policy(source, starts, method)
    else:
        return {}
    return {f"success_{starts.split}": result["success"]}


def evaluate_run(folder: str, source: Domain, world: Any, starts: Starts) -> dict[str, Any]:
    """What `evaluate_policy` gives for a baseline's run, with a bar for who waits; nothing for any other run."""
    method = baseline_of(folder)
    if method is None:
        return {}
    policy = policy_for(folder, source, world)
    with progress("acting", len(source.tasks(starts.split)) * starts.per_task, "episodes") as advance:
        return {"method": method, **evaluate_policy(source, starts, policy, advance=advance)}


See = Callable[[int, int, Array, Episode], None]
"""Called with an episode: the numbers of its task and of its start, what was done `[T]` or `[T, D]`, the judgement."""


def evaluate_policy(
    source: Domain,
    starts: Starts,
    policy: Policy,
    max_steps: int = MAX_STEPS,
    advance: Advance | None = None,
    see: See | None = None,
) -> dict[str, Any]:
    """Success of a policy over a split, with the starts and the figures of `evaluate_planning`.

    An episode ends when the trajectory has done the task, when the policy stops, or after `max_steps`: the rule of
    the environments, for all worlds. It succeeds if it did the task strictly. So a policy need not know when it is
    done, which is more than is granted to a plan. `expansions` are the steps that were taken. `see` is called with
    each episode.
    """
    tasks = source.tasks(starts.split)
    episodes = []
    for number in range(len(tasks)):
        demos = [starts.draw(source, number, i) for i in range(starts.per_task)]
        rows = []
        for start, actions, episode in _acted(source, policy, demos, max_steps):
            rows.append(episode)
            if see:
                see(number, start, actions, episode)
        episodes.append(rows)
        if advance:
            advance(starts.per_task)
    return {**starts._asdict(), **by_task(tasks, episodes)}


def _acted(
    source: Domain, policy: Policy, demos: Sequence[Demonstration], max_steps: int
) -> Iterator[tuple[int, Array, Episode]]:
    """From which of the demonstrations' starts, all of one task, what was done; those of a world side by side."""
    machine = machine_of(demos[0].task)
    order = sorted(range(len(demos)), key=lambda i: demos[i].setting)
    for setting, group in groupby(order, key=lambda i: demos[i].setting):
        world: EitherWorld = source.world(setting)
        truth = partial(source.truth, world, terms=machine.names)
        places = list(group)
        begun = time.perf_counter()
        with one_thread():
            made = rollout(policy, world, np.stack([demos[i].states[0] for i in places]), machine, max_steps, truth)
        milliseconds = 1000 * (time.perf_counter() - begun) / len(places)
        price = float(world.cost if is_continuous(world) else costs_of(world)[0])
        for row, place in enumerate(places):
            steps, done = int(made.steps[row]), bool(made.done[row])
            lenient = done or does_leniently(machine, truth(made.states[row, : steps + 1]))
            yield place, made.actions[row, :steps], Episode(done, lenient, steps, milliseconds, price * steps)


class Examples:
    """Keeps one good and one failed episode of several subgoals, neither too long to be watched."""

    def __init__(self, source: Domain) -> None:
        self._tasks = source.tasks(source.reported[0])
        self.found: dict[str, dict[str, Any]] = {}

    def see(self, task: int, start: int, actions: Array, episode: Episode) -> None:
        """Look at an episode."""
        kind = "good" if episode.success else "failed"
        several = least_steps(machine_of(self._tasks[task])) > 1
        if kind not in self.found and several and len(actions) > 5:
            self.found[kind] = {"task": task, "start": start, "actions": actions[:LONGEST].round(4).tolist()}


def episode_film(source: Domain, example: Mapping[str, Any], seed: int) -> bytes:
    """A GIF of an episode that was kept of the first split: from the same start, by the same actions."""
    demo = Starts(source.reported[0], 1, seed).draw(source, example["task"], example["start"])
    world: EitherWorld = source.world(demo.setting)
    states = [demo.states[0]]
    for action in example["actions"]:
        states.append(world.step(states[-1][None], np.array([action]))[0])
    return gif([source.picture(world, state, source.pixels.get("small")) for state in states])
