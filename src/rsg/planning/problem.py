"""A goal without an instruction: what is asked, and what is known of the terms that may lead to it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.language import Task, Term, Then
from rsg.planning.dependencies import Dependencies, Rules
from rsg.planning.plan import Plan
from rsg.search import Between, GoalFn, Goals
from rsg.worlds import World

Goal = str | Callable[[Array], Array]
"""A term, or a function from states `[N, W]` to whether the goal holds `[N]` (or to its probability)."""

METHODS = ("regions", "paper", "uniform", "blind")
HOLDS = 0.5  # a subgoal holds where G is at least this


@dataclass(frozen=True)
class GoalSettings:
    """How to look for a way to a goal.

    Attributes:
        method: `regions` searches states, region by region (see `rsg.search.RegionSearch`); `blind` the cheapest states
            first, whatever subgoals hold there; `paper` is the paper's Algorithm 2, which plans for one candidate
            instruction after the other; `uniform` the same without dependencies. Or one's own, see `Method`.
        budget: expansions in total.
        seed: where chance comes from.
    """

    method: "str | Method" = "regions"
    budget: int = 25_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not callable(self.method) and self.method not in METHODS:
            raise RsgError(f"method is one of {', '.join(METHODS)}, not '{self.method}'")
        if self.budget < 1:
            raise RsgError(f"budget must be at least 1, not {self.budget}")


class GoalProblem:
    """A goal among the terms: one that is a function comes after them, and nothing is known of what it needs.

    Args:
        world, state, goal, goal_fn, dependencies: as for `rsg.planning.plan_goal`.

    Attributes:
        terms: all terms; goal: the number of the goal among them; named: whether it is a term of its own.
    """

    def __init__(self, world: World, state: Array, goal: Goal, goal_fn: GoalFn, dependencies: Dependencies) -> None:
        if state.ndim != 1:
            raise RsgError(f"a plan starts in one state [W], got shape {state.shape}")
        if not isinstance(goal, str) and not callable(goal):
            raise RsgError(f"a goal is a term or a function of states, not {goal!r}")
        self.world, self.state, self.dependencies = world, state, dependencies
        self._goal, self._goal_fn = goal, goal_fn
        self.named = isinstance(goal, str)
        name = "goal"
        while name in dependencies.terms:
            name = f"my-{name}"
        self.terms = dependencies.terms if isinstance(goal, str) else (*dependencies.terms, name)
        self.goal = dependencies.number(goal) if isinstance(goal, str) else len(dependencies.terms)

    @property
    def name(self) -> str:
        """The goal's term."""
        return self.terms[self.goal]

    @cached_property
    def rules(self) -> Rules:
        """What each term needs."""
        return self.rules_of(self.dependencies.prerequisites)

    def rules_of(self, prerequisites: Sequence[Sequence[Sequence[int]]]) -> Rules:
        """The same for other prerequisites of the known terms."""
        return Rules.of(prerequisites if self.named else [*prerequisites, ((),)])

    def goals(self, world: World, terms: Sequence[str], state: Array) -> Goals:
        """The classifiers of terms, among them perhaps the goal: a `GoalFn`."""
        if self.named or self.name not in terms:
            return self._goal_fn(world, terms, state)
        known = [term for term in terms if term != self.name]
        return _WithGoal(self._goal_fn(world, known, state) if known else None, self._goal)

    def no_plan(self, expansions: int, ended: str, reached: Iterable[str], never: Sequence[str], because: str) -> Plan:
        """That there is none, and why."""
        return Plan(
            task=Term(self.name),
            states=self.state[None],
            expansions=expansions,
            ended=ended,
            reached=tuple(reached),
            missed=tuple(never),
            because=because,
        )


Method = Callable[[GoalProblem, GoalSettings, Between | None], Plan]
"""A way to plan for a goal, with a hook that is called now and then as in `rsg.planning.plan`."""


class _WithGoal:
    """Classifiers of terms, and a goal of the user's own as the last one."""

    def __init__(self, goals: Goals | None, goal: Any) -> None:
        self._goals, self._goal = goals, goal

    def __call__(self, states: Array) -> tuple[Any, Any]:
        own = np.asarray(self._goal(states), dtype=np.float64)
        if own.shape != (len(states),):
            raise RsgError(f"a goal gives for states [N, W] whether it holds [N], or its probability, not {own.shape}")
        if not ((own >= 0) & (own <= 1)).all():
            raise RsgError("a goal gives whether it holds, or its probability: numbers from 0 to 1")
        with np.errstate(divide="ignore"):
            mine = np.log(own)[:, None], np.log1p(-own)[:, None]
        if self._goals is None:
            return mine
        log_g, log_i = self._goals(states)
        return np.concatenate([log_g, mine[0]], axis=1), np.concatenate([log_i, mine[1]], axis=1)


def instruction(names: Sequence[str]) -> Task:
    """Terms one after the other."""
    parts = [Term(name) for name in names]
    return parts[0] if len(parts) == 1 else Then(tuple(parts))


def never_reached(terms: Sequence[str]) -> str:
    """That in words."""
    return f"{' and '.join(terms)} {'was' if len(terms) == 1 else 'were'} never reached"
