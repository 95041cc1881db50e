"""V_t(s, v): what is still to be paid at a state and machine node, learned for each training task (paper, "FSM-A*").

It chooses the states of the beams in training (`rsg.search.beam_graph`), and may guide the planner on a task that was
trained. The paper's V_t sees the sequence of states so far; here it sees the present state and the machine's node,
which is all of the history that the cost-to-go depends on. Tasks that were not trained have no value: h = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import nn

from rsg.core.compiled import compiled
from rsg.language import Machine, machine_of
from rsg.subgoals import set_kernels
from rsg.subgoals.classifiers import Classifiers, Floats, Part
from rsg.subgoals.sets import SetClassifiers
from rsg.worlds import World

Make = Callable[[Sequence[str]], Classifiers]
"""Makes networks with one output for each of some names: classifiers with `single`, whose log-odds are read."""


class Example(NamedTuple):
    """Costs to learn from: J `[N, V]` of states `[N, W]`, infinite where there is nothing to learn."""

    world: World
    machine: Machine
    states: NDArray[Any]
    costs: Floats


class ValueNetworks(nn.Module):
    """A network for each node of each task's machine: V = log(1 + exp(x)) of its output x, so V is never negative.

    Args:
        descriptions: of the tasks, as texts.
        make: makes the networks, given their names.
    """

    def __init__(self, descriptions: Sequence[str], make: Make) -> None:
        super().__init__()
        machines = [machine_of(text) for text in descriptions]
        self.tasks = tuple(dict.fromkeys(_text(machine) for machine in machines))
        names = {_text(machine): _names(machine) for machine in machines}
        self.networks = make([name for task in self.tasks for name in names[task]])
        self._places = {task: self.networks.numbers(names[task]) for task in self.tasks}

    def numbers(self, machine: Machine) -> list[int] | None:
        """The networks of the machine's nodes, `v_0` and `v_T` left out; None if the task has no value."""
        return self._places.get(_text(machine))

    def heuristic(self, world: World, machine: Machine) -> Values | None:
        """The task's value as search asks for it; None if it has none.

        It may be given to `SearchSettings(heuristic=...)`. It is learned, so it is no bound: plans may cost more.
        """
        numbers = self.numbers(machine)
        return None if numbers is None else Values(self.networks, world, numbers)

    def regress(self, examples: Sequence[Example]) -> float:
        """Add the gradient of the mean squared error to the parameters' gradients; gives the error, 0 for no example.

        Examples of tasks without a value are passed over.
        """
        known = [(example, numbers) for example in examples if (numbers := self.numbers(example.machine))]
        total = sum(int(np.isfinite(example.costs[:, 1:-1]).sum()) for example, _ in known)
        if total == 0:
            return 0.0
        error = 0.0
        parts: dict[int, tuple[World, list[Part]]] = {}
        for (world, _, states, costs), numbers in known:
            odds = self.networks.evaluate(world, states, numbers)
            wanted = costs[:, 1:-1]
            off = np.where(np.isfinite(wanted), softplus(odds[..., 0]) - wanted, 0.0)
            error += float((off**2).sum()) / total
            slope = np.zeros_like(odds)
            slope[..., 0] = 2 * off / total / (1 + np.exp(-odds[..., 0]))
            parts.setdefault(id(world), (world, []))[1].append((states, numbers, slope))
        for world, pieces in parts.values():
            self.networks.backward(world, pieces)
        return error


class Values:
    """The value of one task in one world: from states `[N, W]` to costs `[N, V]`, 0 at `v_0` and `v_T`."""

    def __init__(self, networks: Classifiers, world: World, numbers: Sequence[int]) -> None:
        self._networks, self._world, self._numbers = networks, world, list(numbers)
        if isinstance(networks, SetClassifiers):
            form = networks.compiled(world, self._numbers, False)
            if form is not None:
                self.compiled = (value, form[1])

    def __call__(self, states: NDArray[Any]) -> Floats:
        """V `[N, V]`."""
        costs = np.zeros((len(states), len(self._numbers) + 2))
        costs[:, 1:-1] = softplus(self._networks.evaluate(self._world, states, self._numbers)[..., 0])
        return costs


@compiled
def value(tables: Any, states: NDArray[Any], i: int, v: int) -> float:
    """V of state i for node v, for the beams."""
    sizes, parameters, wanted, _, scratch = tables
    odds = set_kernels.log_odds(sizes, parameters, wanted[v - 1, 0], states, i, scratch)
    return max(odds, 0.0) + np.log1p(np.exp(-abs(odds)))  # type: ignore[no-any-return]


def softplus(odds: Floats) -> Floats:
    """log(1 + exp(x))."""
    return np.asarray(np.logaddexp(0.0, odds))


@lru_cache(maxsize=4096)
def _text(machine: Machine) -> str:
    """The task in the one way it is printed, however it was written."""
    return str(machine.task)


def _names(machine: Machine) -> list[str]:
    """The names of a task's networks."""
    return [f"{_text(machine)} @ {v}" for v in range(1, machine.nodes - 1)]
