"""What did they do, and where did each step end? The score that trains the classifiers, read the other way round."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rsg.core.arrays import Array, Floats
from rsg.core.errors import RsgError
from rsg.demos import Trajectory
from rsg.language import Machine, Task, Term, Then, machine_of
from rsg.subgoals.alignment import Shares
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.ground import ground
from rsg.subgoals.learning import RsgSettings
from rsg.subgoals.objective import View
from rsg.subgoals.posterior import judge
from rsg.subgoals.rationality import Rationality
from rsg.training.data import least_steps
from rsg.worlds import EitherWorld

SPECIFIC = 0.5  # what naming one more step counts for a description, in nats
PREFIX_DEPTH = 8  # steps around an unfinished trajectory: what it was heading for should be in sight
MAX_EVENTS = 8  # of a trajectory, from which descriptions are proposed


@dataclass(frozen=True, eq=False)
class Segmentation:
    """Which subgoal each step of a trajectory serves, if it does a task.

    Attributes:
        task: the task.
        score: how well it explains the trajectory (eq. 2); minus infinity, and no steps, if it cannot.
        terms: `[T]` the term that each action serves.
        ends: the subgoals that were achieved, in order, and the number of the state in which each was.
        now: the subgoal that an unfinished trajectory serves at its end; None if the task is done.
        sure: for each end how likely it is that this subgoal ended just then.
        second: the ends of the alignment that comes next, and `odds` how likely it is beside this one.

    >>> from rsg.language import parse
    >>> Segmentation(parse("light-lamp"), -1.5, ("light-lamp",) * 3, (("light-lamp", 3),)).ends
    (('light-lamp', 3),)
    """

    task: Task
    score: float
    terms: tuple[str, ...] = ()
    ends: tuple[tuple[str, int], ...] = ()
    now: str | None = None
    sure: tuple[float, ...] = ()
    second: tuple[tuple[str, int], ...] = ()
    odds: float = 0.0


@dataclass(frozen=True, eq=False)
class Recognised:
    """A description, how well it explains a trajectory, and how likely it is among the candidates.

    >>> from rsg.language import parse
    >>> Recognised(parse("light-lamp"), score=-1.5, probability=0.7).probability
    0.7
    """

    task: Task
    score: float
    probability: float


class Recogniser:
    """Ranks candidate descriptions of trajectories; made once for many of them.

    Args:
        classifiers: of the terms.
        candidates: descriptions.
        settings: how rational demonstrators are taken to be.
        specific: what each step that a description names counts for it. A description and its own ending often explain
            a trajectory about equally well ("mine-wood" and "grab-axe then mine-wood"): people mean the longer one.
    """

    def __init__(
        self,
        classifiers: Classifiers,
        candidates: Sequence[str | Task],
        settings: RsgSettings | None = None,
        specific: float = SPECIFIC,
    ) -> None:
        if not candidates:
            raise RsgError("there are no candidates to choose from")
        self._classifiers, self._settings = classifiers, settings or RsgSettings()
        self._machines = [machine_of(one) for one in candidates]
        self._specific = specific
        self._steps = [(least_steps(machine), most_steps(machine)) for machine in self._machines]

    def rank(self, world: EitherWorld, trajectory: Trajectory, prefix: bool = False) -> list[Recognised]:
        """The candidates, the most likely first.

        Args:
            world: where it happened.
            trajectory: what was seen and done.
            prefix: whether it may end before the task does.
        """
        view, how = self._view(world, trajectory, self._machines, prefix), self._how(prefix)
        scores = np.array([view.align(machine, how).value for machine in self._machines])
        weights = scores if prefix else scores + self._specific * self._named(view, scores)
        return ranked([machine.task for machine in self._machines], scores, weights)

    def segment(
        self, world: EitherWorld, trajectory: Trajectory, task: str | Task, prefix: bool = False
    ) -> Segmentation:
        """Where each subgoal of a task ended, a candidate or not; arguments as for `rank`.

        That is the best alignment (eq. 2) in which subgoals end when they come true.
        """
        machine = machine_of(task)
        found = judge(*self._view(world, trajectory, [machine], prefix).given(machine), self._how(prefix))
        if found.value == -np.inf:
            return Segmentation(machine.task, found.value)
        term_of = np.array([machine.names[i] if i >= 0 else "" for i in machine.term_of])
        ends, now = _ends(machine, term_of, found.best)
        return Segmentation(
            machine.task,
            found.value,
            tuple(term_of[found.best.acts.sum(axis=2).argmax(axis=1)].tolist()),
            ends,
            now,
            tuple(min(1.0, float(found.chances[step, term_of == term].sum())) for term, step in ends),
            _ends(machine, term_of, found.second)[0],
            float(np.exp(-found.behind)),
        )

    def _view(self, world: EitherWorld, trajectory: Trajectory, machines: Sequence[Machine], prefix: bool) -> View:
        """A trajectory as the classifiers of some tasks see it."""
        terms = (name for machine in machines for name in machine.names)
        depth = max(self._settings.depth, PREFIX_DEPTH) if prefix else self._settings.depth
        return View.of(self._classifiers, ground(world, trajectory.states, trajectory.actions, depth), terms)

    def _how(self, prefix: bool) -> Rationality:
        return self._settings.rationality._replace(open_end=prefix)

    def _named(self, view: View, scores: Floats) -> Floats:
        """How many steps each candidate names, `[machines]`, along the branches that the trajectory took."""
        named = np.array([least for least, _ in self._steps], dtype=np.float64)
        for i, (least, most) in enumerate(self._steps):
            if least < most and np.isfinite(scores[i]):
                found = judge(*view.given(self._machines[i]), self._how(prefix=False))
                named[i] = (found.best.crossings > 0.5).sum() - 1
        return named


def _ends(machine: Machine, term_of: Array, shares: Shares) -> tuple[tuple[tuple[str, int], ...], str | None]:
    """The ends of an alignment, and what is served at its end if the task is not done; term_of: that of each node."""
    left = np.repeat(np.arange(machine.nodes), np.diff(machine.next_start))
    crossed = np.argwhere(shares.crossings > 0.5).tolist()
    ends = tuple((str(term_of[left[edge]]), step) for step, edge in crossed if left[edge] > 0)
    last = machine.next_node[crossed[-1][1]] if crossed else machine.nodes - 1
    return ends, None if last == machine.nodes - 1 else str(term_of[last])


def ranked(tasks: Sequence[Task], scores: Floats, weights: Floats) -> list[Recognised]:
    """Tasks with their scores, that of the largest weight first; weights are log-probabilities but for a constant."""
    chances = np.exp(weights - weights.max()) if np.isfinite(weights.max()) else np.zeros(len(weights))
    chances /= max(chances.sum(), 1e-300)
    order = np.argsort(-weights, kind="stable")
    return [Recognised(tasks[i], float(scores[i]), float(chances[i])) for i in order]


def propose(classifiers: Classifiers, world: EitherWorld, states: Array, prefix: bool = False) -> list[Task]:
    """Descriptions that a trajectory `[T + 1, W]` may have: chains of subgoals that came true in it, in that order.

    Each ends with one that came true at the end; if none did, with one that came true at all. For the beginning of a
    trajectory (`prefix`): what it may be heading for, each subgoal, alone or after all that came true so far.
    """
    terms = list(classifiers.terms)
    holds = classifiers.evaluate(world, np.asarray(states), list(range(len(terms))))[..., 0] > 0
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


def most_steps(machine: Machine) -> int:
    """How many steps a task takes at most, along its longest branches.

    >>> most_steps(machine_of("a and b then (c or d then e)"))
    4
    """
    ahead = np.zeros(machine.nodes, dtype=np.int64)
    for node in range(machine.nodes - 2, -1, -1):
        ahead[node] = (node > 0) + max(ahead[after] for after in machine.successors(node))
    return int(ahead[0])
