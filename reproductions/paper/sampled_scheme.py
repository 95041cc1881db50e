"""The sampled scheme (appendix "FSM-A*"): the cost-to-go on the states that the paper's search comes across.

The paper grows a tree for each node v of the machine, from all states of the demonstration: b layers with all states,
then c layers of which only the k best are kept. What is best is said by V_t(s, v), the value of a task t of the
training set, which is learned from the very J (eq. 4) that comes out; without a value chance decides (h = 0).

Here all trees of a task share one graph: the states of the full layers and of all beams, with every edge among them. J
on it is never above J on the tree, and as in the paper never below the true J. The paper's V_t sees all states so far;
here it sees the present one and the machine's node, which is all of the history that J depends on. Each task has its
own graph; all else is as in the package, which looks at all states around a demonstration.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import nn

from reproductions.paper import beams
from rsg.core.compiled import compiled, specialised
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Demonstration, actions_of
from rsg.demos.demonstration import by_world
from rsg.domains.crafting.sets import SetClassifiers
from rsg.language import Machine, machine_of
from rsg.search import Goals, StateGraph
from rsg.subgoals import Classifiers, RationalSubgoals, RsgSettings
from rsg.subgoals.ground import Ground, taken_edges
from rsg.subgoals.learning import Explained, WorldOf, spelled
from rsg.subgoals.objective import View
from rsg.subgoals.rationality import Walk

Floats = NDArray[np.float64]
LAYERS = (3, 15, 10)  # the paper's b, c and k in training
HIDDEN = 32  # the width of the value networks: there is one for each node of each task, so they are narrow
OTHERS = 8  # states of a graph, besides those of the demonstration, whose J the values learn from


class SampledScheme(RationalSubgoals):
    """RSG on beam graphs, in worlds with a compiled step."""

    layers = LAYERS

    def __init__(
        self, classifiers: Classifiers, settings: RsgSettings, world_of: WorldOf, descriptions: Sequence[str]
    ) -> None:
        if not isinstance(classifiers, SetClassifiers):
            raise RsgError("the sampled scheme has values for the encoder 'sets' only")
        super().__init__(classifiers, settings, world_of, descriptions)
        self.values = Values(descriptions, classifiers.shape["types"], settings.seed).to(settings.device).eval()
        classifiers.values = self.values  # beside what is learned: optimised, saved and resumed with it
        self._chance: np.random.Generator | None = None
        self._examples: list[Example] = []

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """The gradients of the loss and, for the values, of their mean squared error against J."""
        self._chance, self._examples = rng, []
        figures = super().gradients(demos, rng, step)
        error = self.values.regress(self._examples)
        self._chance = None
        return {**figures, "value_error": error**0.5}

    def explain(self, demo: Demonstration, tasks: Sequence[Machine]) -> Explained:
        """Score a demonstration for several tasks; what J was found to be is kept for the values to learn from."""
        found = super().explain(demo, tasks)
        if rng := self._chance:
            for view, machine, one in zip(found.views, tasks, found.scores, strict=True):
                others = rng.integers(len(one.cost), size=OTHERS)
                chosen = np.unique(np.concatenate([view.ground.graph.path, others]))
                states = view.ground.graph.states[chosen]
                self._examples.append(Example(view.ground.world, machine, states, one.cost[chosen]))
        return found

    def views(self, demo: Demonstration, tasks: Sequence[Machine]) -> list[View]:
        """Each task on its own graph."""
        rng = self._chance or stream(self.settings.seed, "beams")
        world, every = self.world_of(demo), [name for machine in tasks for name in machine.names]
        found: list[View] = []
        for machine in tasks:
            guide = self.values.goals(world, machine, demo.states[0])
            graph = beam_graph(world, demo.states, machine, guide, self.layers, rng)
            ground = Ground(world, graph, Walk(graph.path, taken_edges(graph, actions_of(demo)), np.ones(len(demo))))
            found.append(View.of(self.module, ground, machine.names if found else every))
        return found


class Example(NamedTuple):
    """Costs to learn from: J `[N, V]` of states `[N, W]`, infinite where there is nothing to learn."""

    world: Any
    machine: Machine
    states: NDArray[Any]
    costs: Floats


class Values(nn.Module):
    """V_t(s, v): a network for each node of each task's machine, V = log(1 + exp(x)) of its output x, never negative.

    The networks are classifiers that nobody asks for a subgoal: log I = log σ(-x) is -V.

    Args:
        descriptions: of the tasks of the training set; others have no value.
        types: of things, as the classifiers know them.
        seed: of the first weights.
        hidden: the width of the layers.
    """

    def __init__(self, descriptions: Sequence[str], types: int, seed: int, hidden: int = HIDDEN) -> None:
        super().__init__()
        machines = {text: machine_of(text) for text in map(spelled, descriptions)}
        self.names = {text: [f"{text} @ {v}" for v in range(1, one.nodes - 1)] for text, one in machines.items()}
        every = [name for names in self.names.values() for name in names]
        self.networks = SetClassifiers(hidden, types, single=True).grow(every, seed)
        nn.init.zeros_(self.networks.offset)  # nothing to doubt: at first V is log 2

    def goals(self, world: Any, machine: Machine, state: NDArray[Any]) -> Goals | None:
        """The values of a task's nodes as planners ask for classifiers; None if it has none."""
        names = self.names.get(str(machine.task))
        return None if names is None else self.networks.goals(world, names, state)

    def regress(self, examples: Sequence[Example]) -> float:
        """Add the gradient of the mean squared error to the parameters' gradients; gives the error, 0 for no example.

        Examples of tasks without a value are passed over.
        """
        known = [(one, self.names[text]) for one in examples if (text := str(one.machine.task)) in self.names]
        total = sum(int(np.isfinite(one.costs[:, 1:-1]).sum()) for one, _ in known)
        error, parts = 0.0, []
        for (world, _, states, costs), names in known if total else ():
            numbers, wanted = self.networks.numbers(names), costs[:, 1:-1]
            odds = self.networks.evaluate(world, states, numbers)
            off = np.where(np.isfinite(wanted), np.logaddexp(0.0, odds[..., 0]) - wanted, 0.0)
            error += float((off**2).sum()) / total
            slope = np.zeros(odds.shape)
            slope[..., 0] = 2 * off / total / (1 + np.exp(-odds[..., 0]))
            parts.append((world, (states, numbers, slope)))
        for world, pieces in by_world(parts):
            self.networks.backward(world, pieces)
        return error


def beam_graph(
    world: Any,
    states: NDArray[Any],
    machine: Machine,
    values: Goals | None,
    layers: tuple[int, int, int],
    rng: np.random.Generator,
) -> StateGraph:
    """The states that a beam search for a task comes to from the given ones `[T + 1, W]`, and every edge among them.

    Args:
        world: with a compiled step.
        states: of the demonstration. All their successors are in the graph.
        machine: of the task.
        values: of its nodes, with a compiled form: -log I is what is still to be paid. None: chance decides.
        layers: b layers with all states, c layers of beams, k states in each layer of a beam.
        rng: where chance comes from.
    """
    if layers[0] < 1 or layers[1] < 0 or layers[2] < 1:
        raise RsgError(f"a beam graph has at least 1 full layer and 1 state in a beam, got layers {layers}")
    step, tables = world.compiled_step
    form: Any = (beams.no_guide, ()) if values is None else getattr(values, "compiled")  # noqa: B009
    states = np.array(states, order="C")  # never read-only, which would be compiled once more
    world.step(states, np.zeros(len(states), dtype=np.int64))  # so that it may object: a kernel takes any bytes
    sizes = (len(world.actions), machine.nodes, layers, np.uint64(rng.integers(2**63)))
    distinct, after, path = _kernel(step, form[0])(tables, form[1], states, *sizes)
    source, action = (part.astype(np.int32) for part in np.nonzero(after >= 0))
    start = np.searchsorted(source, np.arange(len(distinct) + 1)).astype(np.int32)
    cost = np.asarray(world.costs, dtype=np.float64)[action]
    return StateGraph(distinct, start, after[source, action], action, cost, path)


@cache
def _kernel(step: Callable[..., None], guide: Callable[..., Any]) -> Callable[..., Any]:
    expand = specialised(beams.expand, compiled, step=step)
    return specialised(
        beams.beams,
        compiled,
        expand=expand,
        surround=specialised(beams.surround, compiled, expand=expand),
        listed=specialised(beams.listed, compiled, expand=expand),
        choose=specialised(beams.choose, compiled, guide=guide),
    )
