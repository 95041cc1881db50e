"""Demonstrations, ready to be interpreted: with the graphs around them, and the facts that hold there."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

import numpy as np

from rsg.core.arrays import Bools, Floats, Ints
from rsg.demos import Demonstration
from rsg.demos.demonstration import by_world
from rsg.language import Machine, machine_of
from rsg.subgoals.formulas import Formula, Literal, where
from rsg.subgoals.ground import Ground
from rsg.subgoals.objective import Given
from rsg.worlds import Recorded
from rsg.worlds.facts import NOT, fact_names, facts_of, family

ENOUGH = 40  # demonstrations of each term: more of them change nothing, they only take time
AT_ONCE = 128  # formulas: so many stay near the processor
MANY = 64  # of so many facts of one family some never vary by chance
SEVERAL = 3  # ends at least at which something held, if it is told though that may be chance
CHANCE = 0.01  # what has never varied is told if chance alone would hardly bring it about


@dataclass(frozen=True, eq=False)
class Shown:
    """A demonstration, ready to be interpreted."""

    ground: Ground  # with the graph of states around it
    machine: Machine  # of its description
    facts: Bools  # `[S, F]` which facts hold in the states of the graph
    moves: Bools | None = None  # `[T]` in which steps something moves but the robot, if that is known

    def going_on(self, late: Floats) -> "Shown":
        """The same, if it may go on after its task; late: see `Walk`."""
        return replace(self, ground=replace(self.ground, walk=self.ground.walk._replace(late=late)))

    def ends_with(self, term: str) -> bool:
        """Whether its task ends with that term."""
        last = self.machine.nodes - 1
        before = [node for node in range(1, last) if last in self.machine.successors(node)]
        return any(self.machine.names[self.machine.term_of[node]] == term for node in before)

    @cached_property
    def on_path(self) -> Bools:
        """Which facts hold along the way, `[T + 1, F]`."""
        return self.facts[self.ground.graph.path]

    @property
    def given(self) -> Given:
        """What a score needs besides what terms mean."""
        return Given(self.ground.graph.arrays, self.ground.walk, self.machine.arrays)

    @cached_property
    def blind(self) -> float:
        """The score of somebody who acts at random, whatever the description says."""
        edges, path = self.ground.graph.arrays, self.ground.graph.path[:-1]
        choices = np.maximum(edges.start[path + 1] - edges.start[path], 2)  # at least: to go on, or to be done
        return -float(np.log(choices).sum())


def prepared(
    demos: Sequence[Demonstration],
    ground_of: Callable[[Demonstration], Ground],
    known: Mapping[str, Formula] | None = None,
) -> "Data":
    """Demonstrations, ready to be interpreted; known: what some terms mean, which is not asked again."""
    grounds = [ground_of(demo) for demo in demos]
    worlds = by_world((ground.world, ground.graph.states) for ground in grounds)
    names = dict.fromkeys(name for world, some in worlds for name in fact_names(world, np.concatenate(some)))
    names |= dict.fromkeys(name for one in (known or {}).values() for name in one.facts)
    facts = {id(world): facts_of(world, tuple(names)) for world, _ in worlds}
    return Data(
        {name: number for number, name in enumerate(names)},
        [
            Shown(ground, machine_of(demo.task), facts[id(ground.world)].ask(ground.graph.states), moving(ground))
            for demo, ground in zip(demos, grounds, strict=True)
        ],
        known or {},
    )


def moving(ground: Ground) -> Bools | None:
    """In which steps something moves, where recordings are all that is known and tell that."""
    if not isinstance(ground.world, Recorded) or all(least is None for least in ground.world.still):
        return None
    return ground.world.moves(ground.graph.states[ground.graph.path])


def enough(tasks: Sequence[str]) -> list[int]:
    """The numbers of as many demonstrations as it takes to see each term often, by turns of each description."""
    by_task: dict[str, list[int]] = {}
    for number, task in enumerate(tasks):
        by_task.setdefault(task, []).append(number)
    seen, chosen = Counter[str](), list[int]()
    for turn in zip_longest(*by_task.values()):
        for number in turn:
            if number is not None and any(seen[name] < ENOUGH for name in machine_of(tasks[number]).names):
                seen.update(machine_of(tasks[number]).names)
                chosen.append(number)
    return sorted(chosen)


@dataclass(frozen=True, eq=False)
class Data:
    """All demonstrations. place: the column of each fact; known: what some terms mean."""

    place: dict[str, int]
    demos: list[Shown]
    known: Mapping[str, Formula]

    @cached_property
    def terms(self) -> dict[str, list[int]]:
        """For each term the demonstrations that mention it."""
        found: dict[str, list[int]] = {}
        for number, demo in enumerate(self.demos):
            for term in demo.machine.names:
                found.setdefault(term, []).append(number)
        return found

    @cached_property
    def on_paths(self) -> tuple[Bools, Ints]:
        """Which facts hold along all demonstrations, one after the other `[N, F]`, and where each begins."""
        starts = np.cumsum([0, *(len(demo.on_path) for demo in self.demos)])
        return np.concatenate([demo.on_path for demo in self.demos]), starts

    def rises(self, formulas: Sequence[Formula], demos: Sequence[int] | None = None) -> Bools:
        """In which demonstrations each formula comes true on the way, `[formulas, D]`; by default in any."""
        holds, starts = self.on_paths
        if demos is not None:
            holds = np.concatenate([self.demos[d].on_path for d in demos])
            starts = np.cumsum([0, *(len(self.demos[d].on_path) for d in demos)])
        found = np.zeros((len(formulas), len(starts) - 1), dtype=np.bool_)
        for first in range(0, len(formulas), AT_ONCE):
            true = where(formulas[first : first + AT_ONCE], holds, self.place)
            came = np.zeros(true.shape, dtype=np.bool_)
            came[:, 1:] = true[:, 1:] & ~true[:, :-1]
            came[:, starts[:-1]] = False
            found[first : first + AT_ONCE] = np.logical_or.reduceat(came, starts[:-1], axis=1)
        return found

    def always(self, formula: Formula, ends: Sequence[tuple[int, int]], about: AbstractSet[str]) -> tuple[str, ...]:
        """What held at all these ends, and that a formula says nothing of.

        It did so too often for chance, or on all ways, or it is what other terms are about. Of a column that has two
        values, `not` is told, too: it says the other one.
        """
        holds, starts = self.on_paths
        there = [starts[d] + step for d, step in ends]
        others = np.array([name in about for name in self.place], dtype=np.bool_) & (len(ends) >= SEVERAL)
        found = []
        for value in (True, False):
            was = holds == value
            usual = (was.sum(axis=0) - was[there].sum(axis=0) + 1) / (len(was) - len(ends) + 2)  # elsewhere
            strange = (usual ** len(ends) < CHANCE) | (was.all(axis=0) & self.varies & (self.kin < MANY))
            told = was[there].all(axis=0) & (strange | (others & ~was.all(axis=0))) & (value | self.twofold)
            found += [name if value else f"{NOT}{name}" for name, n in self.place.items() if told[n]]
        return tuple(name for name in found if name.removeprefix(NOT) not in formula.facts)

    @cached_property
    def varies(self) -> Bools:
        """Which facts hold somewhere around what was shown, and elsewhere do not."""
        somewhere = np.any([demo.facts.any(axis=0) for demo in self.demos], axis=0)
        everywhere = np.all([demo.facts.all(axis=0) for demo in self.demos], axis=0)
        return np.asarray(somewhere & ~everywhere)

    @cached_property
    def twofold(self) -> Bools:
        """Which facts are about a column of two values, of which one has a fact."""
        about = np.array(["=" in name for name in self.place], dtype=np.bool_)
        return np.asarray(about & (self.kin == 1))

    @cached_property
    def kin(self) -> Ints:
        """How many facts there are in the family of each."""
        sizes = Counter(map(family, self.place))
        return np.array([sizes[family(name)] for name in self.place], dtype=np.int64)

    @cached_property
    def turns(self) -> Floats:
        """What each demonstration counts for, `[D]`, if all those of one description count for one."""
        often = Counter(str(demo.machine.task) for demo in self.demos)
        return np.array([1 / often[str(demo.machine.task)] for demo in self.demos])

    @cached_property
    def literals(self) -> dict[Formula, Bools]:
        """Every fact that comes true somewhere on the way, and every one that ceases to be; with the demonstrations."""
        every = [Formula((Literal(fact, holds),)) for fact in self.place for holds in (True, False)]
        return {one: rises for one, rises in zip(every, self.rises(every), strict=True) if rises.any()}
