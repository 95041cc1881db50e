"""The examples of a report: a demonstration as a run understands it, costs-to-go on a map, a plan for a novel task."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.random import stream
from rsg.demos import Benchmark, Demonstration
from rsg.evaluation.timeline import parts
from rsg.language import Machine, parse
from rsg.planning import Part, Plan, plan, validate
from rsg.planning.validation import Verdict
from rsg.search import StateGraph, local_graph
from rsg.search.cost_to_go import CostToGo, Logs, cost_to_go
from rsg.subgoals import Classifiers, Recogniser, RsgSettings
from rsg.subgoals.objective import log_probabilities
from rsg.worlds import World

COST_TASK = "grab-axe then mine-wood then craft-wood-plank"
COST_MAP = """map:
@...#...
..a.#.T.
....#...
........
.##..~~.
...1.~..
"""
_EVERYTHING = 10_000  # a depth that reaches all states of a small map


@dataclass(frozen=True, eq=False)
class Followed:
    """A demonstration as the classifiers see it.

    Attributes:
        demo: what was shown; world: where.
        terms: of its task.
        responses: `[T + 1, terms]` G of each term in each state.
        truth: `[T + 1, terms]` what really holds.
        segments: the best alignment: which subgoal the steps serve.
    """

    demo: Demonstration
    world: Any
    terms: tuple[str, ...]
    responses: NDArray[np.float64]
    truth: NDArray[np.bool_]
    segments: list[Part]

    @property
    def hits(self) -> int:
        """How many parts end exactly where a subgoal comes true."""
        truth = [step for number in range(len(self.terms)) for step in self.turns(number)]
        return sum(part.end in truth for part in self.segments)

    def turns(self, term: int) -> list[int]:
        """The states in which a term turns true."""
        column = self.truth[:, term]
        return [int(i) + 1 for i in np.flatnonzero(~column[:-1] & column[1:])]


def follow_demonstration(source: Benchmark, subgoals: Classifiers, settings: RsgSettings, seed: int = 0) -> Followed:
    """A new demonstration of the compositional task with the largest machine, aligned as in training."""
    machines = [Machine.of(parse(text)) for text in source.tasks("compositional")]
    number = max(range(len(machines)), key=lambda i: machines[i].nodes)
    machine = machines[number]
    demo, _ = source.demonstrate("compositional", number, stream(seed, "report", "demonstration"))
    world = source.world(demo.setting)
    terms = machine.names
    log_g, _ = log_probabilities(subgoals.evaluate(world, demo.states, subgoals.numbers(terms)))
    found = Recogniser(subgoals, [machine.task], settings).segment(world, demo.states, demo.actions, machine.task)
    return Followed(demo, world, terms, np.exp(log_g), source.truth(world, demo.states, terms), parts(found))


@dataclass(frozen=True, eq=False)
class CostMap:
    """The cost-to-go of one machine node, for each place of the agent.

    Attributes:
        term: of the node.
        world: a grid; state: `[W]` as the node is entered.
        cost: `[height, width]` J(s, v) with the agent there and all else as in `state`; NaN where it cannot be.
        path: (row, column) of each state from entering the node to leaving it.
    """

    term: str
    world: Any
    state: NDArray[Any]
    cost: NDArray[np.float64]
    path: list[tuple[int, int]]

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest cost."""
        return float(np.nanmin(self.cost)), float(np.nanmax(self.cost))


def cost_maps(
    world: Any, state: NDArray[Any], task: str, subgoals: Classifiers, settings: RsgSettings
) -> list[CostMap]:
    """J on all that can be reached from a state of Crafting World, for each node that a rational agent serves."""
    machine = Machine.of(parse(task))
    graph = local_graph(world, state[None], _EVERYTHING)
    terms = machine.names
    logs = Logs(*subgoals.goals_with_i(world, terms, state)(graph.states))
    found = cost_to_go(graph, machine, logs, settings.weight)
    maps = []
    for node, rows in rational_path(graph, found):
        entered = graph.states[rows[0]]
        here = np.flatnonzero((graph.states[:, 2:] == entered[2:]).all(axis=1))  # all but the agent's place
        cost = np.full((world.height, world.width), np.nan)
        cost[graph.states[here, 0], graph.states[here, 1]] = found.cost[here, node]
        path = [(int(graph.states[row, 0]), int(graph.states[row, 1])) for row in rows]
        maps.append(CostMap(terms[machine.term_of[node]], world, entered, cost, path))
    return maps


def rational_path(graph: StateGraph, found: CostToGo) -> list[tuple[int, list[int]]]:
    """The cheapest way through world and machine from the graph's first state: each node with its states.

    A node is left as soon as waiting gains less than half an action: small differences of classifiers are no reason.
    """
    slack = graph.edge_cost.min() / 2
    row, node = int(graph.path[0]), int(found.then[graph.path[0], 0])
    last = found.cost.shape[1] - 1
    parts = [(node, [row])]
    fresh = True
    while True:
        if not fresh and found.leave[row, node] <= found.cost[row, node] + slack:
            node, fresh = int(found.then[row, node]), True
            if node == last:
                return parts
            parts.append((node, [row]))
        else:
            edges = np.arange(graph.edge_start[row], graph.edge_start[row + 1])
            costs = graph.edge_cost[edges] + found.cost[graph.edge_end[edges], node]
            row, fresh = int(graph.edge_end[edges[costs.argmin()]]), False
            parts[-1][1].append(row)


def plan_novel_task(source: Benchmark, subgoals: Classifiers, seed: int = 0) -> tuple[World, Plan, Verdict]:
    """A plan for the last novel task from the first start that chance gives, which may fail: where, and its replay."""
    number = len(source.tasks("novel")) - 1
    demo, _ = source.demonstrate("novel", number, stream(seed, "report", "plan"))
    world = source.world(demo.setting)
    plan(world, demo.states[0], demo.task, subgoals.goals)  # loads the kernels, which is not planning
    made = plan(world, demo.states[0], demo.task, subgoals.goals)
    return world, made, validate(world, made, demo.task, partial(source.truth, world))
