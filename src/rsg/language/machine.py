"""The finite state machine of a task, by the paper's construction (section 2), as arrays ready for kernels."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rsg.core.arrays import Indices
from rsg.core.errors import TaskError
from rsg.core.words import quantity
from rsg.language.semantics import read_trace
from rsg.language.syntax import parse
from rsg.language.tree import And, Or, Task, Term, Then

MAX_NODES = 2**16
MAX_EDGES = 2**20
"""A larger machine is refused before it is built: `and` over n parts has n·2^(n-1) copies."""


class Nodes(NamedTuple):
    """A machine as kernels want it."""

    term: Indices  # `[V]` the column of log G and log I that a node asks about; -1 for `v_0` and `v_T`
    start: Indices  # `[V + 1]` where the successors of each node begin in `after`
    after: Indices  # `[E]` the successors of node 0, of node 1, and so on


@dataclass(frozen=True, eq=False)
class Machine:
    """Nodes are numbered in topological order: node 0 is `v_0`, the last one `v_T`, each other one serves a term.

    Attributes:
        task: what the machine was made from.
        terms: the distinct terms of the task, in the order of their first appearance.
        term_of: `[V]` the index in `terms` that a node serves; -1 for `v_0` and `v_T`.
        next_start: `[V + 1]` where the successors of each node begin in `next_node`.
        next_node: `[E]` the successors of node 0, of node 1, and so on.

    >>> from rsg.language import parse
    >>> machine = Machine.of(parse("a then (b or c)"))
    >>> machine.nodes, machine.names, machine.accepts([[0, 0, 0], [1, 0, 0], [1, 0, 1]])
    (5, ('a', 'b', 'c'), True)
    """

    task: Task
    terms: tuple[Term, ...]
    term_of: Indices
    next_start: Indices
    next_node: Indices
    START: ClassVar = frozenset([0])  # the nodes entered before the first state: `v_0`

    @staticmethod
    def of(task: Task) -> "Machine":
        """Build the machine of a task.

        >>> from rsg.language import parse
        >>> machine = Machine.of(parse("grab-axe then mine-wood and mine-coal"))
        >>> machine.nodes, machine.edges
        (7, 7)
        """
        if not isinstance(task, Task):
            raise TaskError(f"a machine is made of a task, not of {type(task).__name__}; use rsg.parse on a text")
        _refuse_if_large(task)
        terms = task.terms()
        index = {term: i for i, term in enumerate(terms)}
        inner = _build(task, index)
        last = len(inner.term_of) + 1
        edges = np.concatenate(
            [_product(_ints([0]), inner.starts + 1), inner.edges + 1, _product(inner.ends + 1, _ints([last]))]
        )
        edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
        counts = np.bincount(edges[:, 0], minlength=last + 1)
        return Machine(
            task=task,
            terms=terms,
            term_of=np.concatenate([_ints([-1]), inner.term_of, _ints([-1])]),
            next_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            next_node=np.ascontiguousarray(edges[:, 1]),
        )

    @property
    def nodes(self) -> int:
        """How many nodes, `v_0` and `v_T` among them."""
        return len(self.term_of)

    @property
    def edges(self) -> int:
        """How many edges, those from `v_0` and to `v_T` among them."""
        return len(self.next_node)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The terms as they are written."""
        return tuple(str(term) for term in self.terms)

    @cached_property
    def arrays(self) -> Nodes:
        """The machine for kernels; its terms are the columns."""
        return Nodes(self.term_of, self.next_start, self.next_node)

    def among(self, columns: Mapping[str, int]) -> Nodes:
        """The machine for kernels, where its terms are columns of a larger table."""
        term = np.array([*(columns[name] for name in self.names), -1], dtype=np.int32)[self.term_of]
        return Nodes(term, self.next_start, self.next_node)

    def successors(self, node: int) -> Indices:
        """The nodes that may follow `node`, in order."""
        return self.next_node[self.next_start[node] : self.next_start[node + 1]]

    def accepts(self, trace: ArrayLike, vocabulary: Sequence[str | Term] | None = None) -> bool:
        """Whether the trace `[steps, terms]` does the task; says the same as `satisfies`, fast."""
        true, column = read_trace(trace, self.task, vocabulary)
        true = true[:, [column[term] for term in self.terms]]
        entered, done = self.START, False
        for values in true.tolist():
            entered, done = self.advance(entered, values)
        return done

    def advance(
        self, entered: frozenset[int], values: Sequence[bool], fresh: Sequence[bool] | None = None
    ) -> tuple[frozenset[int], bool]:
        """The nodes entered up to the next state, and whether the trajectory up to it does the task.

        Args:
            entered: those up to the state before; before the first one `START`.
            values: which of `terms` hold in the state.
            fresh: which do not hold yet; by default all others.

        A node is entered in a state where its subgoal is false and left in one where it is true, so the set of
        entered nodes is all that has to be remembered of a trajectory.
        """
        holds = self._holding(values)
        reached = set[int]().union(*(self._after[node] for node in entered & holds))
        begun = reached - holds if fresh is None else reached & self._holding(fresh) - {0, self.nodes - 1}
        return (entered | begun) - self.START, self.nodes - 1 in reached

    def rest(self, entered: frozenset[int], stale: Collection[int] = ()) -> "tuple[Machine, Indices]":
        """What is left of the task for a trajectory that has entered these nodes, and which node each was before.

        Args:
            entered: as `advance` gives them.
            stale: nodes whose subgoal is not false now, though they were entered. They have terms of their own, the
                last ones: these may always be entered.

        >>> from rsg.language import parse
        >>> machine = Machine.of(parse("a then b then c"))
        >>> machine.rest(frozenset([1, 2]))[0].names
        ('b', 'c')
        """
        begins = [node for node in sorted(entered) if not entered.issuperset(self._after[node])]
        kept, queue = set(begins), list(begins)
        while queue:
            fresh = set(self._after[queue.pop()]) - kept
            kept |= fresh
            queue += fresh
        before = _ints([0, *sorted(kept)])
        inner = [(int(self.term_of[node]), node in begins and node in stale) for node in before[1:-1].tolist()]
        column = {term: i for i, term in enumerate(sorted(set(inner), key=lambda one: (one[1], one[0])))}
        after = [begins, *(self._after[node] for node in before[1:].tolist())]
        return Machine(
            task=self.task,
            terms=tuple(self.terms[term] for term, _ in column),
            term_of=_ints([-1, *(column[one] for one in inner), -1]),
            next_start=_ints([0, *accumulate(map(len, after))]),
            next_node=np.searchsorted(before, _ints([one for some in after for one in some])).astype(np.int32),
        ), before

    def frontier(self, entered: frozenset[int]) -> tuple[Term, ...]:
        """The subgoals that a trajectory is at: those of entered nodes from which nothing further has been entered."""
        nodes = [node for node in sorted(entered) if entered.isdisjoint(self._after[node])]
        return tuple(dict.fromkeys(self.terms[self.term_of[node]] for node in nodes))

    def _holding(self, values: Sequence[bool]) -> set[int]:
        """The nodes whose subgoal holds, and `v_0` and `v_T`: the one is left at once, the other never entered."""
        return {0, self.nodes - 1}.union(*(nodes for nodes, value in zip(self._serving, values, strict=True) if value))

    @cached_property
    def _after(self) -> list[list[int]]:
        """The successors of each node."""
        return [self.successors(node).tolist() for node in range(self.nodes)]

    @cached_property
    def _serving(self) -> list[list[int]]:
        """The nodes that serve each term."""
        return [np.flatnonzero(self.term_of == term).tolist() for term in range(len(self.terms))]

    def paths(self) -> Iterator[tuple[Term, ...]]:
        """The distinct linear instructions, one after the other; made as they are asked for.

        >>> from rsg.language import parse
        >>> for path in Machine.of(parse("a and b then (c or c)")).paths():
        ...     print(*path)
        a b c
        b a c
        """
        stack: list[tuple[tuple[Term, ...], tuple[int, ...]]] = [((), (0,))]
        while stack:
            prefix, nodes = stack.pop()
            following = self._follow(nodes)
            if -1 in following:
                yield prefix
            steps = [((*prefix, self.terms[term]), after) for term, after in following.items() if term >= 0]
            stack.extend(reversed(steps))

    def count_instructions(self) -> int:
        """How many distinct linear instructions there are, without listing them.

        >>> from rsg.language import parse
        >>> Machine.of(parse("(a and b and c) or (a then b then c)")).count_instructions()
        6
        """
        # Sets of nodes that the same prefix can lead to; each is larger in its least node than any it follows.
        ways: dict[tuple[int, ...], int] = {(0,): 1}
        queue: list[tuple[int, ...]] = [(0,)]
        total = 0
        seen = 0
        while queue:
            nodes = heappop(queue)
            count = ways.pop(nodes)
            seen += 1
            if seen > MAX_EDGES:
                raise TaskError(f"too many instructions to count: {self.task!s:.60}")
            for term, after in self._follow(nodes).items():
                if term < 0:
                    total += count
                elif after in ways:
                    ways[after] += count
                else:
                    ways[after] = count
                    heappush(queue, after)
        return total

    def _follow(self, nodes: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        """For each term that may come after any of the nodes (-1: the end), the nodes that then serve it."""
        following: dict[int, set[int]] = {}
        for node in nodes:
            for after in self.successors(node).tolist():
                following.setdefault(int(self.term_of[after]), set()).add(after)
        return {term: tuple(sorted(after)) for term, after in following.items()}


class _Fragment(NamedTuple):
    """A machine without `v_0` and `v_T`: nodes in topological order, edges `[E, 2]`, where it may start and end."""

    term_of: Indices
    edges: Indices
    starts: Indices
    ends: Indices


def _build(task: Task, index: dict[Term, int]) -> _Fragment:
    if isinstance(task, Term):
        zero = _ints([0])
        return _Fragment(_ints([index[task]]), np.empty((0, 2), np.int32), zero, zero)
    assert isinstance(task, (Then, Or, And))
    parts = [_build(part, index) for part in task.parts]
    if isinstance(task, And):
        return _in_any_order(parts)
    offsets = list(accumulate((len(part.term_of) for part in parts), initial=0))
    shifted = [
        _Fragment(part.term_of, part.edges + offset, part.starts + offset, part.ends + offset)
        for part, offset in zip(parts, offsets, strict=False)
    ]
    term_of = np.concatenate([part.term_of for part in shifted])
    edges = [part.edges for part in shifted]
    if isinstance(task, Or):
        starts, ends = (np.concatenate([getattr(p, side) for p in shifted]) for side in ("starts", "ends"))
        return _Fragment(term_of, np.concatenate(edges), starts, ends)
    links = [_product(a.ends, b.starts) for a, b in pairwise(shifted)]
    return _Fragment(term_of, np.concatenate(edges + links), shifted[0].starts, shifted[-1].ends)


def _in_any_order(parts: list[_Fragment]) -> _Fragment:
    """The layered lattice: one copy of part i for each set `done` of other parts that may come before it."""
    n = len(parts)
    sizes = np.array([len(part.term_of) for part in parts])
    done, part_of = (axis.ravel() for axis in np.meshgrid(np.arange(2**n), np.arange(n), indexing="ij"))
    copies = np.flatnonzero(done >> part_of & 1 == 0)
    copies = copies[np.argsort(np.bitwise_count(done[copies]), kind="stable")]  # layer by layer: topological order
    done, part_of = done[copies], part_of[copies]
    offset = np.zeros((2**n, n), dtype=np.int32)
    offset[done, part_of] = np.concatenate([[0], np.cumsum(sizes[part_of])[:-1]])

    everything = 2**n - 1
    edges = []
    for i, part in enumerate(parts):
        sets = np.unique(done[part_of == i])
        edges.append((part.edges[None] + offset[sets, i][:, None, None]).reshape(-1, 2))
        for j, after in enumerate(parts):
            before = sets[sets >> j & 1 == 0] if j != i else sets[:0]
            link = _product(part.ends, after.starts)
            shift = np.stack([offset[before, i], offset[before | 1 << i, j]], axis=-1)
            edges.append((link[None] + shift[:, None]).reshape(-1, 2))
    return _Fragment(
        term_of=np.concatenate([parts[i].term_of for i in part_of]),
        edges=np.concatenate(edges).astype(np.int32),
        starts=np.concatenate([part.starts + offset[0, i] for i, part in enumerate(parts)]),
        ends=np.concatenate([part.ends + offset[everything ^ 1 << i, i] for i, part in enumerate(parts)]),
    )


def machine_of(task: str | Task | Machine) -> Machine:
    """The machine of a task, however it is given; that of a text is built once.

    >>> machine_of("grab-axe then mine-wood").nodes
    4
    """
    if isinstance(task, Machine):
        return task
    return _of_text(task) if isinstance(task, str) else Machine.of(task)


@lru_cache(maxsize=4096)
def _of_text(text: str) -> Machine:
    return Machine.of(parse(text))


class _Size(NamedTuple):
    nodes: int
    edges: int
    starts: int
    ends: int


def _refuse_if_large(task: Task) -> None:
    """The size is known before anything is built."""
    size = _size(task)
    nodes, edges = size.nodes + 2, size.edges + size.starts + size.ends
    if nodes > MAX_NODES or edges > MAX_EDGES:
        raise TaskError(
            f"the machine of this task would have {quantity(nodes, 'node')} and {quantity(edges, 'edge')}, "
            f"more than the limit of {MAX_NODES:,} nodes and {MAX_EDGES:,} edges; "
            "'and' allows every order of its parts, so say part of the order with 'then'"
        )


def _size(task: Task) -> _Size:
    if isinstance(task, Term):
        return _Size(1, 0, 1, 1)
    assert isinstance(task, (Then, Or, And))
    parts = [_size(part) for part in task.parts]
    nodes, edges, starts, ends = (sum(column) for column in zip(*parts, strict=True))
    if isinstance(task, Or):
        return _Size(nodes, edges, starts, ends)
    if isinstance(task, Then):
        links = sum(a.ends * b.starts for a, b in pairwise(parts))
        return _Size(nodes, edges + links, parts[0].starts, parts[-1].ends)
    copies = 2 ** (len(parts) - 1)
    pairs = ends * starts - sum(part.ends * part.starts for part in parts)
    return _Size(nodes * copies, edges * copies + pairs * copies // 2, starts, ends)


def _product(sources: Indices, targets: Indices) -> Indices:
    """All edges from a source to a target, `[E, 2]`."""
    return np.stack([np.repeat(sources, len(targets)), np.tile(targets, len(sources))], axis=-1)


def _ints(values: Sequence[int]) -> Indices:
    return np.array(values, dtype=np.int32)
