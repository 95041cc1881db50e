"""How far many trajectories have come in one task: `Machine.advance` for a batch, compiled."""

import numpy as np

from rsg.core.arrays import Array, Bools
from rsg.core.compiled import bare
from rsg.language import Machine
from rsg.language.machine import Nodes


@bare
def _advance(nodes: Nodes, values: Array, entered: Array, first: Array, done: Array) -> None:
    """Move each row of `entered` `[N, V]` on by one state; `first` says which rows are in their first state."""
    last = len(nodes.term) - 1
    for i in range(len(values)):
        done[i] = False
        if first[i]:
            for node in range(last + 1):
                entered[i, node] = node == 0
        # Nodes are in topological order and nothing entered now can be left now: one pass from the back suffices.
        for node in range(last - 1, -1, -1):
            if not entered[i, node] or (node > 0 and not values[i, nodes.term[node]]):
                continue
            for edge in range(nodes.start[node], nodes.start[node + 1]):
                after = nodes.after[edge]
                if after == last:
                    done[i] = True
                elif not values[i, nodes.term[after]]:
                    entered[i, after] = True
        entered[i, 0] = False


class BatchProgress:
    """The nodes that each of N trajectories has entered in the machine of one task."""

    def __init__(self, machine: Machine, count: int) -> None:
        self.machine = machine
        self.entered = np.zeros((count, machine.nodes), dtype=bool)

    def advance(self, values: Bools, first: Bools) -> Bools:
        """Take in the next states and say which trajectories have now done the task, `[N]`.

        values: `[N, terms]` which of `machine.terms` hold there; first: `[N]` which of the states begin a trajectory.
        """
        done = np.empty(len(values), dtype=bool)
        _advance(self.machine.arrays, values, self.entered, first, done)
        return done
