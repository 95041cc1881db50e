"""What did they do, and where did each step end? The score that trains the classifiers, read the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.errors import RsgError
from rsg.language import Machine, Task, Term, Then, machine_of
from rsg.search import nodes_ahead
from rsg.subgoals.classifiers import Classifiers, Floats
from rsg.subgoals.ground import Ground, ground
from rsg.subgoals.learning import RsgSettings, log_probabilities, names
from rsg.subgoals.objective import Rationality, Score, score, score_values
from rsg.worlds import World

SPECIFIC = 0.5  # what naming one more step counts for a description, in nats
PREFIX_DEPTH = 8  # steps around an unfinished trajectory: what it was heading for should be in sight
MAX_EVENTS = 8  # of a trajectory, from which descriptions are proposed

States = NDArray[Any]
Actions = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Segmentation:
    """Which subgoal each step of a trajectory serves, if it does a task.

    Attributes:
        task: the task.
        score: how well it explains the trajectory (eq. 2); minus infinity, and no steps, if it cannot.
        terms: `[T]` the term that each action serves.
        ends: the subgoals that were achieved, in order, and the number of the state in which each was.
        now: the subgoal that an unfinished trajectory serves at its end; None if the task is done.
    """

    task: Task
    score: float
    terms: tuple[str, ...] = ()
    ends: tuple[tuple[str, int], ...] = ()
    now: str | None = None


@dataclass(frozen=True, eq=False)
class Recognised:
    """A description, how well it explains a trajectory, and how likely it is among the candidates."""

    task: Task
    score: float
    probability: float


def segment(
    subgoals: Classifiers,
    world: World,
    states: States,
    actions: Actions,
    task: str | Task,
    prefix: bool = False,
    settings: RsgSettings | None = None,
) -> Segmentation:
    """Where each subgoal of a task ended in a trajectory (the arg-max of eq. 2).

    Args:
        subgoals: the classifiers.
        world: where it happened.
        states: `[T + 1, W]`, actions: `[T]` the trajectory.
        task: what was done.
        prefix: whether the trajectory may end before the task does.
        settings: how rational demonstrators are taken to be; by default as in training.
    """
    machine = machine_of(task)
    view = _View.of(subgoals, world, states, actions, list(names(machine)), settings or RsgSettings(), prefix)
    found = view.score(machine)
    if found.value == -np.inf:
        return Segmentation(machine.task, found.value)
    term_of = [str(machine.terms[i]) if i >= 0 else "" for i in machine.term_of]
    left = np.repeat(np.arange(machine.nodes), np.diff(machine.next_start))
    crossed = np.argwhere(found.crossings > 0.5).tolist()
    ends = tuple((term_of[left[edge]], step) for step, edge in crossed if left[edge] > 0)
    served = found.acts.argmax(axis=1)
    last = int(machine.next_node[crossed[-1][1]])
    now = None if last == machine.nodes - 1 else term_of[last]
    return Segmentation(machine.task, found.value, tuple(term_of[node] for node in served), ends, now)


def recognise(
    subgoals: Classifiers,
    world: World,
    states: States,
    actions: Actions,
    candidates: Sequence[str | Task] | None = None,
    prefix: bool = False,
    settings: RsgSettings | None = None,
) -> list[Recognised]:
    """Which task a trajectory did: candidates, or without any, proposals of one's own; the most likely first.

    `Recogniser` does the same for many trajectories and is quicker then. Arguments are those of `segment`.
    """
    if candidates is None:
        candidates = propose(subgoals, world, states, prefix)
    return Recogniser(subgoals, candidates, settings).rank(world, states, actions, prefix)


class Recogniser:
    """Ranks candidate descriptions of trajectories; made once for many of them.

    Args:
        subgoals: the classifiers.
        candidates: descriptions.
        settings: how rational demonstrators are taken to be.
        specific: what each step that a description names counts for it. A description and its own ending often explain
            a trajectory about equally well ("mine-wood" and "grab-axe then mine-wood"): people mean the longer one.
    """

    def __init__(
        self,
        subgoals: Classifiers,
        candidates: Sequence[str | Task],
        settings: RsgSettings | None = None,
        specific: float = SPECIFIC,
    ) -> None:
        if not candidates:
            raise RsgError("there are no candidates to choose from")
        self._subgoals, self._settings = subgoals, settings or RsgSettings()
        self._machines = [machine_of(one) for one in candidates]
        self._terms = list(dict.fromkeys(name for machine in self._machines for name in names(machine)))
        place = {term: column for column, term in enumerate(self._terms)}
        self._columns = [
            np.array([*(place[name] for name in names(machine)), -1], dtype=np.int32)[machine.term_of]
            for machine in self._machines
        ]
        self._specific = specific
        self._steps = [(least_steps(machine), most_steps(machine)) for machine in self._machines]

    def rank(self, world: World, states: States, actions: Actions, prefix: bool = False) -> list[Recognised]:
        """The candidates, the most likely first; arguments as for `segment`."""
        view = _View.of(self._subgoals, world, states, actions, self._terms, self._settings, prefix)
        there = view.ground
        scores = score_values(there.graph, there.taken, self._machines, *view.logs, view.how, self._columns, there.each)
        weights = scores if prefix else scores + self._specific * self._named(view, scores)
        return ranked([machine.task for machine in self._machines], scores, weights)

    def _named(self, view: _View, scores: Floats) -> Floats:
        """How many steps each candidate names, `[machines]`, along the branches that the trajectory took."""
        named = np.array([least for least, _ in self._steps], dtype=np.float64)
        for i, (least, most) in enumerate(self._steps):
            if least < most and np.isfinite(scores[i]):
                best = view.score(self._machines[i], self._columns[i])
                named[i] = (best.crossings > 0.5).sum() - 1
        return named


def ranked(tasks: Sequence[Task], scores: Floats, weights: Floats) -> list[Recognised]:
    """Tasks with their scores, that of the largest weight first; weights are log-probabilities but for a constant."""
    chances = np.exp(weights - weights.max()) if np.isfinite(weights.max()) else np.zeros(len(weights))
    chances /= max(chances.sum(), 1e-300)
    order = np.argsort(-weights, kind="stable")
    return [Recognised(tasks[i], float(scores[i]), float(chances[i])) for i in order]


def propose(subgoals: Classifiers, world: World, states: States, prefix: bool = False) -> list[Task]:
    """Descriptions that a trajectory `[T + 1, W]` may have: chains of subgoals that came true in it, in that order.

    Each ends with one that came true at the end; if none did, with one that came true at all. For the beginning of a
    trajectory (`prefix`): what it may be heading for, each subgoal, alone or after all that came true so far.
    """
    terms = list(subgoals.terms)
    holds = subgoals.evaluate(world, np.asarray(states), list(range(len(terms))))[..., 0] > 0
    rises = np.argwhere(holds[1:] & ~holds[:-1])
    events = [(int(step) + 1, int(term)) for step, term in rises]
    if prefix:
        done = [terms[term] for _, term in _latest(events)]
        ahead = [_chain([term]) for term in terms]
        return [*ahead, *(_chain([*done, term]) for term in terms if done and term != done[-1])]
    ends = [event for event in events if event[0] == len(states) - 1] or events
    if not ends:
        raise RsgError("no subgoal comes true in this trajectory; give candidates")
    found: dict[tuple[int, ...], None] = {}
    for end in ends:
        before = _latest([event for event in events if event[0] < end[0] and event[1] != end[1]])
        for size in range(len(before) + 1):
            for chosen in combinations(before, size):
                found[(*(term for _, term in chosen), end[1])] = None
    return [_chain([terms[term] for term in chosen]) for chosen in found]


def _latest(events: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of each subgoal the last time that it came true, in order; the last few of them."""
    last = {term: step for step, term in events}
    return sorted((step, term) for term, step in last.items())[-MAX_EVENTS:]


def _chain(terms: Sequence[str]) -> Task:
    return Term(terms[0]) if len(terms) == 1 else Then(tuple(Term(term) for term in terms))


def least_steps(machine: Machine) -> int:
    """How many steps a task takes at least.

    >>> machine = machine_of("a and b then (c or d then e)")
    >>> least_steps(machine), most_steps(machine)
    (4, 4)
    """
    return int(nodes_ahead(machine)[0])


def most_steps(machine: Machine) -> int:
    """How many steps a task takes at most, along its longest branches."""
    ahead = np.zeros(machine.nodes, dtype=np.int64)
    for node in range(machine.nodes - 2, -1, -1):
        ahead[node] = (node > 0) + max(ahead[after] for after in machine.successors(node))
    return int(ahead[0])


@dataclass(frozen=True, eq=False)
class _View:
    """A trajectory with the graph around it and what the classifiers say there."""

    ground: Ground
    logs: tuple[Floats, Floats]
    how: Rationality

    def score(self, machine: Machine, columns: NDArray[Any] | None = None) -> Score:
        """How well a task explains it."""
        return score(self.ground.graph, self.ground.taken, machine, *self.logs, self.how, columns, self.ground.each)

    @staticmethod
    def of(
        subgoals: Classifiers,
        world: World,
        states: States,
        actions: Actions,
        terms: Sequence[str],
        settings: RsgSettings,
        prefix: bool,
    ) -> _View:
        states = np.asarray(states)
        if states.ndim != 2 or len(states) != len(actions) + 1:
            shapes = f"{list(states.shape)} and {len(actions)} actions"
            raise RsgError(f"a trajectory is states [T + 1, W] and actions [T], got {shapes}")
        numbers = subgoals.numbers(terms)
        depth = max(settings.depth, PREFIX_DEPTH) if prefix else settings.depth
        there = ground(world, states, actions, depth, **settings.roads)
        logs = log_probabilities(subgoals.evaluate(world, there.graph.states, numbers))
        how = replace(settings.rationality, alignment="max", open_end=prefix)
        return _View(there, logs, how)
