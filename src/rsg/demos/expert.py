"""Somebody who does tasks the shortest way, since they know what is true, and makes mistakes if asked to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bools
from rsg.core.errors import RsgError
from rsg.core.progress import progress
from rsg.core.random import stream
from rsg.core.words import quantity
from rsg.demos.demonstration import Demonstration
from rsg.language import Machine, parse
from rsg.planning import Happened, carry_out, plan
from rsg.search import GoalFn, Goals, Product, SearchSettings, goals_from
from rsg.worlds import EitherWorld, is_continuous

EXPERT = SearchSettings(Product("optimal"), budget=100_000)
MOST = 10_000  # steps, with all mistakes
DRAWS = 100  # of starts, until a task can be done from one
Truth = Callable[[Any, Array, Sequence[str]], Bools]
"""Which terms really hold in states `[N, W]` of a world: `[N, terms]`."""


def shortest_way(
    world: EitherWorld, state: Array, task: str | Machine, truth: GoalFn, rng: np.random.Generator, noise: float = 0.0
) -> tuple[Array, Array] | None:
    """States `[T + 1, W]` and actions of somebody who does a task; None if that cannot be done.

    noise: the share of actions that are random; from where one leads, the way is found anew.

    >>> from rsg.search import goals_from
    >>> from rsg.worlds.corridor import Corridor
    >>> lit = lambda *_: goals_from(lambda states: states[:, 1:2])
    >>> rng = np.random.default_rng(0)
    >>> shortest_way(Corridor(), np.array([2, 0, 0]), "light-lamp", lit, rng)[1].tolist()
    [0, 0, 2]
    >>> shortest_way(Corridor(), np.array([2, 0, 0]), "light-lamp", lit, rng, noise=0.8)[1].tolist()
    [1, 0, 0, 0, 2]
    """
    if not 0 <= noise < 1:
        raise RsgError(f"noise is a share of random actions, from 0 up to but not 1, not {noise}")
    made = plan(world, state, task, truth, None if is_continuous(world) else EXPERT)
    now = [made.states[0]]

    def act(wanted: Any) -> Happened:
        action = _random(world, rng) if noise and rng.random() < noise else wanted
        now[0] = world.step(now[0][None], np.asarray(action)[None])[0]
        return Happened(action, now[0])

    done = carry_out(made, now[0], act, MOST if noise else None, MOST)
    return (done.states, done.actions) if done.done else None


def _random(world: EitherWorld, rng: np.random.Generator) -> Any:
    return rng.uniform(-world.reach, world.reach) if is_continuous(world) else int(rng.integers(len(world.actions)))


def demonstrate(
    world: EitherWorld,
    tasks: str | Sequence[str],
    truth: Truth | Mapping[str, Callable[[Array], Array]],
    per_task: int = 1,
    noise: float = 0.0,
    seed: int = 0,
) -> list[Demonstration]:
    """Demonstrations of tasks: the shortest way from starts that are sampled, in which no term of the task holds.

    Args:
        world: where; it must have `sample(rng, count)`.
        tasks: what to show, or only one task.
        truth: tells which terms hold, `truth(world, states, terms)` → `[N, terms]`; or for each term a function of
            states that tells where it does, `[N]`, in a wrapped environment a function of that. Then tasks may be said
            in words.
        per_task: how many of each task.
        noise: the share of actions that are random.
        seed: where chance comes from.

    >>> from rsg.worlds.corridor import Corridor
    >>> lit = {"light-lamp": lambda states: states[:, 1] == 1}
    >>> [demo.actions.tolist() for demo in demonstrate(Corridor(), "light the lamp", lit, per_task=3)]
    [[0, 0, 0, 0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 2], [0, 0, 2]]
    """
    if per_task < 1:
        raise RsgError(f"per_task must be at least 1, not {per_task}")
    if not hasattr(world, "sample"):
        raise RsgError(f"{type(world).__name__} has no starts; write a method sample(rng, count) that gives some")
    words = list(truth) if isinstance(truth, Mapping) else None
    machines = [Machine.of(parse(text, words=words)) for text in ([tasks] if isinstance(tasks, str) else tasks)]
    tells = getattr(world, "truth", _told)  # a wrapped environment is asked itself
    holds = tells(truth) if isinstance(truth, Mapping) else truth
    shown = []
    with progress("demonstrating", len(machines) * per_task, "episodes") as advance:
        for task, machine in enumerate(machines):
            for number in range(per_task):
                rng = stream(seed, "demonstrations", "train", task, number)
                shown.append(_shown(world, machine, holds, rng, noise))
                advance(1)
    return shown


def _shown(world: EitherWorld, machine: Machine, truth: Truth, rng: np.random.Generator, noise: float) -> Demonstration:
    def goals(where: EitherWorld, terms: Sequence[str], state: Array) -> Goals:  # noqa: ARG001
        return goals_from(lambda states: truth(where, states, terms))

    def attempt() -> Demonstration | None:
        state = start_in(world, machine.names, truth, rng)
        found = shortest_way(world, state, machine, goals, rng, noise)
        return Demonstration(*found, str(machine.task), setting_of(world, state)) if found else None

    return first_done(attempt, str(machine.task))[0]


def _told(tests: Mapping[str, Callable[[Array], Array]]) -> Truth:
    """Which terms hold, told by a function for each."""

    def holds(_: Any, states: Array, terms: Sequence[str]) -> Bools:
        columns = [np.asarray(tests[term](states), dtype=np.bool_) for term in terms]
        for term, column in zip(terms, columns, strict=True):
            if column.shape != (len(states),):
                raise RsgError(
                    f"the truth of '{term}' must tell of states [N, W] where it holds, [N], not {column.shape}"
                )
        return np.stack(columns, axis=1)

    return holds


def start_in(
    world: Any, terms: Sequence[str], truth: Truth | None, rng: np.random.Generator, draws: int = DRAWS
) -> Array:
    """A first state in which no term holds, as far as anybody can tell."""
    for _ in range(draws):
        state: Array = world.sample(rng, 1)[0]
        if truth is None or not terms or not truth(world, state[None], terms).any():
            return state
    raise RsgError(f"no start was found in {quantity(draws, 'draw')} at which {' and '.join(terms)} is not yet true")


def first_done(attempt: Callable[[], Demonstration | None], task: str, draws: int = DRAWS) -> tuple[Demonstration, int]:
    """The first demonstration that an attempt gives, and how many were made."""
    for draw in range(1, draws + 1):
        if shown := attempt():
            return shown, draw
    raise RsgError(f"no demonstration of '{task}' was found in {quantity(draws, 'start')}")


def setting_of(world: EitherWorld, state: Array) -> str:
    """What it takes to find a first state again, as demonstrations have it, if its world says."""
    return str(world.setting(state)) if hasattr(world, "setting") else ""
