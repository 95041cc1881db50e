"""Doing it: a plan carried out step by step, and planned again where it led elsewhere."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.language import Task
from rsg.planning.plan import Origin, Plan, plan
from rsg.search import HALF, begun, goals_in
from rsg.worlds import Wrapped

State = Callable[[Any], Array]
"""The state `[W]` of the model that an environment is in."""

NEAR = 1e-6  # how far states of fractions may be apart to be the same


class Happened(NamedTuple):
    """What an action came to: which one was taken, the state after it, and why there is no next one, if so."""

    action: Any
    state: Array
    over: str = ""


Act = Callable[[Any], Happened]
"""Takes an action, or whatever comes of the wish to take it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Execution:
    """What happened when a plan was carried out.

    Attributes:
        task: what was to be done.
        states: `[T + 1, W]` the states that it went through; actions: `[T]` what was done.
        came: (term, step) for each subgoal that came true on the way, after so many steps.
        replans: the steps at which it was planned again, since the state was not the one that was expected.
        ended: `done`; or `unexpected` (nobody planned again), `no plan` (nothing was found), `steps` or `replans` (a
            limit), `terminated` or `truncated` (the environment ended the episode).
        seconds: spent on planning again.
        plan: the last one.

    >>> from rsg.language import parse
    >>> no_plan = Plan(task=parse("go"), states=np.zeros((1, 2)), expansions=9, ended="budget", missed=("go",))
    >>> told = Execution(
    ...     task=no_plan.task, states=np.zeros((4, 2)), actions=np.zeros(3), came=(), replans=(3,), ended="no plan",
    ...     seconds=0.1, plan=no_plan,
    ... )
    >>> told.done, told.reason
    (False, 'after 3 steps: no plan: go could not be reached; the budget of 9 expansions ended')
    """

    task: Task
    states: Array
    actions: Array
    came: tuple[tuple[str, int], ...]
    replans: tuple[int, ...]
    ended: str
    seconds: float
    plan: Plan

    @property
    def done(self) -> bool:
        """Whether the task was done, as far as its subgoals tell."""
        return self.ended == "done"

    @property
    def reason(self) -> str:
        """Why it was not done, in a sentence."""
        steps = f"after {len(self.actions)} steps"
        return {
            "done": "",
            "unexpected": f"{steps} the state was not the one that was expected",
            "no plan": f"{steps}: {self.plan.reason}",
            "steps": f"{steps}, the limit, it was not done",
            "replans": f"{steps} it would have been planned again more often than the limit of {len(self.replans)}",
        }.get(self.ended, f"{steps} the environment ended the episode ({self.ended}), and it was not done")


def execute(
    env: Any,
    plan: Plan,
    replan: bool = True,
    *,
    state: State | None = None,
    max_steps: int = 1000,
    max_replans: int = 100,
) -> Execution:
    """Carry out a plan in the real environment, from the state that it is in.

    After each step the state is looked at. If it is not the one that was expected, whatever is still to be done of the
    task is planned for again, from there, with the settings of the plan.

    Args:
        env: an environment with Gymnasium's `step`.
        plan: as `rsg.plan`, `rsg.plan_goal` or `subgoals.plan` gave it.
        replan: False: stop at the first state that was not expected.
        state: gives the state of the plan's world that the environment is in; by default `world.read(env)`.
        max_steps: how many actions are taken; max_replans: how often it is planned again.

    >>> from rsg.search import goals_from
    >>> from rsg.worlds.corridor import Corridor
    >>> class Real:  # an environment in which the third step goes nowhere
    ...     place, steps = [2, 0, 0], 0
    ...     def step(self, action):
    ...         self.steps += 1
    ...         if self.steps != 3:
    ...             self.place = Corridor().step(np.array([self.place]), np.array([action]))[0].tolist()
    ...         return self.place, 0.0, False, False, {}
    >>> from rsg import plan
    >>> made = plan(Corridor(), np.array([2, 0, 0]), "light-lamp", lambda *_: goals_from(lambda s: s[:, 1:2]))
    >>> done = execute(Real(), made, state=lambda env: np.array(env.place))
    >>> done.ended, len(made.actions), len(done.actions), done.came, done.replans
    ('done', 3, 4, (('light-lamp', 4),), (3,))
    """
    if not isinstance(plan, Plan):
        raise RsgError(f"execute takes a plan, as rsg.plan gives it, not a {type(plan).__name__}")
    origin = _origin(plan)
    look, act = reader(origin.world, state), getattr(origin.world, "act", lambda action: action)

    def acting(action: Any) -> Happened:
        seen, _, ended, *more = env.step(act(action))
        over = "terminated" if ended else "truncated" if len(more) > 1 and more[0] else ""
        return Happened(action, _checked(look(env, bool(ended), seen), origin), over)

    return carry_out(plan, _checked(look(env, False, None), origin), acting, max_replans if replan else None, max_steps)


def reader(world: Any, state: State | None = None) -> Callable[[Any, bool, Any], Array]:
    """What reads the state of a world off an environment, given whether that has ended and what it showed last.

    It is what is given, or the world's own `read`.
    """
    if state is None and not hasattr(world, "read"):
        raise RsgError(
            f"nobody knows which state of {type(world).__name__} the environment is in: give state=, a function of the "
            "environment, or write a method read(self, env) of the world"
        )
    if state is None and isinstance(world, Wrapped):
        return world.read
    look: State = state or world.read
    return lambda env, ended, seen: look(env)  # noqa: ARG005


def carry_out(made: Plan, state: Array, act: Act, max_replans: int | None, max_steps: int = 1000) -> Execution:
    """Carry out a plan by what takes its actions; max_replans: None ends it at the first state not expected."""
    course = _Course(made, state)
    replans, seconds, over = list[int](), 0.0, ""
    while not course.done:
        steps = len(course.actions)
        if not course.plan.found:
            over = "no plan"
        elif not over and not course.as_planned:
            over = "unexpected" if max_replans is None else "replans" if len(replans) >= max_replans else ""
            if not over:
                start = time.perf_counter()
                course.plan_again()
                seconds += time.perf_counter() - start
                replans.append(steps)
                continue
        over = over or ("steps" if steps >= max_steps else "")
        if over:
            break
        over = course.take(act(course.next_action))
    return Execution(
        task=made.task,
        states=np.stack(course.states),
        actions=np.array(course.actions, dtype=made.actions.dtype).reshape(-1, *made.actions.shape[1:]),
        came=tuple(course.came),
        replans=tuple(replans),
        ended="done" if course.done else over,
        seconds=seconds,
        plan=course.plan,
    )


class _Course:
    """How far a task has come. What the subgoals say counts, and as long as all goes as planned what the plan says."""

    def __init__(self, made: Plan, state: Array) -> None:
        self.plan, self._origin = made, _origin(made)
        self.machine = self._origin.machine
        self._goals = goals_in(self._origin.subgoals, self._origin.world, self.machine.names, state)
        self.states, self.actions = [np.asarray(state)], list[Any]()
        self.came = list[tuple[str, int]]()
        self.done = made.found and len(made.actions) == 0 and self._like(made.states[0])
        self._entered, self._left = self.machine.START, set[int]()
        self._follow(made, np.arange(self.machine.nodes))
        self._see()

    def _follow(self, made: Plan, before: Array) -> None:
        """Go by a plan, whose nodes had other numbers before."""
        self.plan, self._before, self._at = made, before, 0
        self.as_planned = made.found and len(made.actions) > 0 and self._like(made.states[0])

    @property
    def next_action(self) -> Any:
        """What the plan says to do now."""
        action = self.plan.actions[self._at]
        return int(action) if np.ndim(action) == 0 else action

    def take(self, happened: Happened) -> str:
        """An action was taken; says why there is no next one, if so."""
        self.actions.append(happened.action)
        self.states.append(happened.state)
        self._at += 1
        self.as_planned = self._like(self.plan.states[self._at])
        self._see()
        return happened.over

    def plan_again(self) -> None:
        """Plan for what is left, from here."""
        here, (world, machine, subgoals, settings) = self.states[-1], self._origin
        rest, before, again = machine, np.arange(machine.nodes, dtype=np.int32), 0
        if self._entered:  # else nothing could begin yet
            _, fresh = self._holding()
            stale = {node for node in self._entered if not fresh[machine.term_of[node]]}
            rest, before = machine.rest(self._entered, stale)
            again = len({machine.term_of[node] for node in before[rest.successors(0)].tolist() if node in stale})
        made = plan(world, here, rest, begun(subgoals, again), settings)
        self._follow(replace(made, origin=self._origin), before)

    def _like(self, expected: Array) -> bool:
        here = self.states[-1]
        if expected.dtype.kind == "f":
            return bool(np.allclose(here, expected, rtol=0.0, atol=NEAR))
        return np.array_equal(here, expected)

    def _holding(self) -> tuple[list[bool], list[bool]]:
        """Which terms hold here, and which do not yet."""
        log_g, log_i = self._goals(self.states[-1][None])
        return (log_g[0] >= HALF).tolist(), (log_i[0] > HALF).tolist()

    def _see(self) -> None:
        """What has come true with the last state."""
        holds, fresh = self._holding()
        at, nodes, last = self._at, self._before[self.plan.nodes], self.machine.nodes - 1
        left = {node for node in self._entered - {0} if holds[self.machine.term_of[node]]}
        entered, done = self.machine.advance(self._entered, holds, fresh)
        if self.as_planned and len(nodes):
            planned = nodes[at] if at < len(nodes) else last
            if at > 0 and planned != nodes[at - 1]:
                left.add(int(nodes[at - 1]))
            done |= planned == last
            entered |= {int(planned)} - {last}
        for node in sorted(left - self._left):
            self.came.append((self.machine.names[self.machine.term_of[node]], len(self.actions)))
        self._entered, self.done = entered, self.done or done
        self._left |= left


def _origin(made: Plan) -> Origin:
    if made.origin is None:
        raise RsgError("this plan does not say what it was made from; take one that rsg.plan gave")
    return made.origin


def _checked(state: Any, origin: Origin) -> Array:
    """A state that was read, if it can be one."""
    row = np.asarray(state)
    if row.ndim != 1:
        what = type(origin.world).__name__
        raise RsgError(f"the state of the environment must be a row [W] of {what}, not {row.shape}")
    return row
