"""The paper's search around a demonstration (appendix "FSM-A*"), as a graph: full layers, then a beam for each node.

The paper grows a tree for each node v of the machine, from all states of the demonstration: b layers with all states,
then c layers of which only the k best are kept, by a value that was learned for the task, or at random without one
(h = 0). Here all trees of a task share one graph: the states of the full layers and of all beams, with every edge among
them. It contains each of these trees, and a node may also use what another node's beam came across, so that J on the
graph is never above J on the tree. As in the paper it is never below the true J. A beam starts around the
demonstration, at every node alike; it does not start again where an earlier node's beam has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import specialised
from rsg.core.errors import RsgError
from rsg.language import Machine
from rsg.search import beam_kernels
from rsg.search.graph import Ints, StateGraph
from rsg.search.graph_kernels import edges_of
from rsg.search.product import Heuristic
from rsg.worlds import World

_Grown = tuple[NDArray[Any], tuple[Ints, Ints, Ints], Ints]
_MASK = 2**64 - 1


def beam_graph(
    world: World,
    states: NDArray[Any],
    machine: Machine,
    values: Heuristic | None,
    layers: tuple[int, int, int],
    rng: np.random.Generator,
    max_states: int = 1_000_000,
) -> StateGraph:
    """The states that a beam search for a task comes to from the given ones `[T + 1, W]`, and every edge among them.

    Args:
        world: its compiled step is used if there, unless the values have no compiled form.
        states: of the demonstration. All their successors are in the graph.
        machine: of the task.
        values: from states `[N, W]` to costs-to-go `[N, V]`, by which beams are chosen; may have an attribute
            `compiled`, `(kernel, tables)`: a numba function `kernel(tables, states, i, v)` that gives the value of row
            i, which may be longer than a state, for node v. None: chance decides, as between equal values.
        layers: b layers with all states, c layers of beams, k states in each layer of a beam.
        rng: where chance comes from.
        max_states: of the full layers; more are an error.
    """
    if states.ndim != 2 or len(states) == 0:
        raise RsgError(f"a graph grows from states [N, W], got {states.shape}")
    full, narrow, beam = layers
    if full < 1 or narrow < 0 or beam < 1:
        raise RsgError(f"a beam graph has at least 1 full layer and 1 state in a beam, got layers {layers}")
    salt = int(rng.integers(2**63))
    fast = hasattr(world, "compiled_step") and (values is None or hasattr(values, "compiled"))
    grow = _grow_compiled if fast else _grow
    distinct, (start, end, action), path = grow(world, states, machine, values, layers, salt, max_states)
    cost = np.asarray(world.costs, dtype=np.float64)[action]
    return StateGraph(states=distinct, edge_start=start, edge_end=end, edge_action=action, edge_cost=cost, path=path)


def _grow_compiled(
    world: Any,
    states: NDArray[Any],
    machine: Machine,
    values: Any,
    layers: tuple[int, int, int],
    salt: int,
    max_states: int,
) -> _Grown:
    """The distinct states, their edges and where the given ones are, in one kernel."""
    step, tables = world.compiled_step
    value, value_tables = (beam_kernels.no_value, ()) if values is None else values.compiled
    states = np.array(states, order="C")  # never read-only, which would be compiled once more
    world.step(states, np.zeros(len(states), dtype=np.int64))  # so that it may object: a kernel takes any bytes
    sizes = (len(world.actions), machine.nodes, layers, np.uint64(salt), max_states)
    fits, distinct, edges, path = _kernel(step, value)(tuple(tables), tuple(value_tables), states, *sizes)
    if not fits:
        raise _too_large(layers[0], max_states)
    return distinct, edges, path


@cache
def _kernel(step: Callable[..., None], value: Callable[..., float]) -> Callable[..., Any]:
    expand = specialised(beam_kernels.expand, step=step)
    choose = specialised(beam_kernels.choose, value=value)
    return specialised(
        beam_kernels.beams,
        surround=specialised(beam_kernels.surround, expand=expand),
        narrow_down=specialised(beam_kernels.narrow_down, expand=expand, choose=choose),
        ends=specialised(beam_kernels.ends, step=step),
    )


def _grow(
    world: World,
    states: NDArray[Any],
    machine: Machine,
    values: Heuristic | None,
    layers: tuple[int, int, int],
    salt: int,
    max_states: int,
) -> _Grown:
    """The same with a dictionary; the world and the values are asked for whole layers."""
    full, narrow, beam = layers
    pool = _Pool(world, states)
    done = 0
    for _ in range(full):
        layer = list(range(done, len(pool.rows)))
        done = len(pool.rows)
        pool.expand(layer)
        if len(pool.rows) > max_states:
            raise _too_large(full, max_states)
    first = len(pool.rows)
    kept = dict.fromkeys(range(first))
    for v in range(1, machine.nodes - 1):
        frontier, visited = list(range(done, first)), set(range(first))
        for layer_number in range(narrow):
            pool.expand(frontier)
            found = [t for t in dict.fromkeys(t for s in frontier for t in pool.after[s]) if t not in visited]
            if len(found) > beam:
                chance = beam_kernels.lots(pool.words(found), np.uint64((salt + v * narrow + layer_number) & _MASK))
                worth = _worth(values, np.stack([pool.rows[t] for t in found]), machine)[:, v]
                found = [found[i] for i in np.lexsort((chance, worth))[:beam]]
            frontier = found
            visited.update(found)
            kept.update(dict.fromkeys(found))
    return pool.graph(list(kept))


class _Pool:
    """All states that were come across, by number, and where their actions lead."""

    def __init__(self, world: World, given: NDArray[Any]) -> None:
        self._world = world
        self._index: dict[bytes, int] = {}
        self.rows: list[NDArray[Any]] = []
        self.after: dict[int, list[int]] = {}
        self._path = [self._number(row) for row in np.ascontiguousarray(given)]

    def _number(self, row: NDArray[Any]) -> int:
        number = self._index.setdefault(row.tobytes(), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number

    def expand(self, numbers: list[int]) -> None:
        """Find out where the actions lead in these states."""
        new = [s for s in numbers if s not in self.after]
        if new:
            after = np.asarray(self._world.successors(np.stack([self.rows[s] for s in new])))
            self.after.update(zip(new, [[self._number(row) for row in rest] for rest in after], strict=True))

    def words(self, numbers: list[int]) -> NDArray[np.uint64]:
        """States as whole words, padded with zeros."""
        rows = np.stack([self.rows[s] for s in numbers])
        content = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
        padded = np.zeros((len(rows), -(-content.shape[1] // 8)), dtype=np.uint64)
        padded.view(np.uint8)[:, : content.shape[1]] = content
        return padded

    def graph(self, kept: list[int]) -> _Grown:
        """The graph of these states, with the given ones first."""
        rows = np.stack([self.rows[s] for s in kept])
        self.expand(kept)
        number = np.full(len(self.rows), -1, dtype=np.int32)
        number[kept] = np.arange(len(kept))
        after = number[np.array([self.after[s] for s in kept])]
        return rows, edges_of(after, len(kept)), np.array(self._path, dtype=np.int32)


def _worth(values: Heuristic | None, states: NDArray[Any], machine: Machine) -> NDArray[Any]:
    """What the values say of states, `[N, V]`."""
    shape = (len(states), machine.nodes)
    worth = np.zeros(shape) if values is None else np.asarray(values(states))
    if worth.shape != shape or np.isnan(worth).any():
        raise RsgError(f"values must be costs of shape {shape} without NaN, got {worth.shape}")
    return worth


def _too_large(depth: int, max_states: int) -> RsgError:
    return RsgError(f"more than {max_states:,} states within {depth} actions; choose fewer full layers")
