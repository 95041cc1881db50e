"""Learning with the paper's own search (appendix "FSM-A*") in the place of the exact graph around a demonstration.

For each demonstration and each task that it is compared with, a beam search finds the states on which J is computed.
The beams follow values that are learned from that very J, one for each training task. So every task has its own graph;
all else is as in `rsg.subgoals.learning`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from rsg.core.errors import RunError
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.language import Machine
from rsg.search import Goals
from rsg.search.beam_graph import beam_graph
from rsg.subgoals.classifiers import Classifiers, Floats, Part
from rsg.subgoals.encoders import EncodedClassifiers, Flat, seeded
from rsg.subgoals.ground import Ground
from rsg.subgoals.learning import (
    Explained,
    RationalSubgoals,
    RsgSettings,
    WorldOf,
    add_slopes,
    claim_less,
    figures_of,
    log_probabilities,
    names,
)
from rsg.subgoals.objective import Score, contrast, score, taken_edges
from rsg.subgoals.sets import SetClassifiers
from rsg.subgoals.values import Example, ValueNetworks
from rsg.training import Run
from rsg.training.checkpoint import Saved, Which
from rsg.training.loop import weights
from rsg.training.settings import restored
from rsg.worlds import World

LAYERS = (3, 15, 10)  # the paper's b, c and k in training
OTHERS = 8  # states of a graph, besides those of the demonstration, whose J the values learn from
PREFIX = "classifiers."


class WithValues(Classifiers):
    """Classifiers together with the values that guide their training: one module to optimise, save and resume."""

    def __init__(self, classifiers: Classifiers, values: ValueNetworks) -> None:
        super().__init__(classifiers.terms, classifiers.single)
        self.classifiers, self.values, self.shape = classifiers, values, classifiers.shape

    def odds(self, seen: Any, numbers: Sequence[int]) -> Tensor:
        """Those of the classifiers."""
        return self.classifiers.odds(seen, numbers)

    def grow(self, terms: Sequence[str], seed: int) -> None:
        """New terms for the classifiers; the values stay as they are."""
        self.classifiers.grow(terms, seed)
        self.terms = self.classifiers.terms

    def evaluate(self, world: World, states: NDArray[Any], numbers: Sequence[int]) -> Floats:
        """As the classifiers do."""
        return self.classifiers.evaluate(world, states, numbers)

    def backward(self, world: World, parts: Sequence[Part]) -> None:
        """As the classifiers do."""
        self.classifiers.backward(world, parts)

    def goals(self, world: World, terms: Sequence[str], state: NDArray[Any]) -> Goals:
        """Those of the classifiers."""
        return self.classifiers.goals(world, terms, state)

    def goals_with_i(self, world: World, terms: Sequence[str], state: NDArray[Any]) -> Goals:
        """Those of the classifiers."""
        return self.classifiers.goals_with_i(world, terms, state)


@dataclass(frozen=True, eq=False)
class Sampled(Explained):
    """A demonstration with the scores of several tasks, each on a graph of its own.

    `ground`, `numbers` and `slope` are those of its own task. Attributes besides:
        parts: for each task its states, terms and the gradient of the objective; then what is not mentioned.
        examples: costs-to-go for the values to learn from.
    """

    parts: list[Part]
    examples: list[Example]


class SampledSubgoals(RationalSubgoals):
    """RSG with beam graphs.

    Args:
        classifiers, settings, world_of, descriptions: as for `RationalSubgoals`.
        values: of the training tasks, as from `build_values`.
        layers: b, c and k of the beams.
    """

    def __init__(
        self,
        classifiers: Classifiers,
        settings: RsgSettings,
        world_of: WorldOf,
        descriptions: Sequence[str],
        values: ValueNetworks,
        layers: tuple[int, int, int] = LAYERS,
    ) -> None:
        super().__init__(WithValues(classifiers, values), settings, world_of, descriptions)
        self.values, self._layers = values, layers

    def about(self) -> dict[str, Any]:
        """What it takes to build the classifiers and the values again."""
        return {**super().about(), "value_tasks": list(self.values.tasks)}

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """The gradients of the loss and, for the values, of their mean squared error against J."""
        price = self._price(step)
        explained = [self.explain(demo, self._candidates(demo, rng), price, rng) for demo in demos]
        parts: dict[int, tuple[World, list[Part]]] = {}
        for one in explained:
            pieces = parts.setdefault(id(one.ground.world), (one.ground.world, []))[1]
            pieces += [(states, numbers, slope / -len(demos)) for states, numbers, slope in one.parts]
        for world, pieces in parts.values():
            self.module.backward(world, pieces)
        error = self.values.regress([example for one in explained for example in one.examples])
        return {**figures_of(explained, self.settings.gamma, price), "value_error": error**0.5}

    def explain(
        self,
        demo: Demonstration,
        tasks: Sequence[Machine],
        price: float = 0.0,
        rng: np.random.Generator | None = None,
    ) -> Sampled:
        """Score a demonstration for several tasks, its own first, with the gradient of the objective."""
        rng = rng or stream(self.settings.seed, "beams")
        world = self._world_of(demo)
        asked = [self._score(world, demo, machine, rng) for machine in tasks]
        scores = [one for _, one, _ in asked]
        compared, shares = contrast([one.value for one in scores], self.settings.beta)
        shares = self.settings.gamma * shares
        shares[0] += 1.0
        parts: list[Part] = []
        examples = []
        for machine, (ground, one, logs), share in zip(tasks, asked, shares, strict=True):
            slope = np.zeros((*logs[0].shape, 2))
            if share != 0.0:
                add_slopes(share, one.slope_g, one.slope_i, *logs, slope)
            parts.append((ground.graph.states, tuple(self.module.numbers(names(machine))), slope))
            examples.append(_example(ground, machine, one.cost, rng))
        ground, (_, numbers, slope) = asked[0][0], parts[0]
        claimed, others = self._unmentioned(world, demo, tasks, price)
        return Sampled(ground, tuple(numbers), scores, compared, claimed, 0.0, [], slope, parts + others, examples)

    def _unmentioned(
        self, world: World, demo: Demonstration, tasks: Sequence[Machine], price: float
    ) -> tuple[float, list[Part]]:
        """How much is called true that the demonstration's own task does not mention, and the gradient of that."""
        own = names(tasks[0])
        others = dict.fromkeys(name for machine in tasks for name in names(machine) if name not in own)
        if not others:
            return 0.0, []
        numbers = self.module.numbers(list(others))
        log_g, _ = log_probabilities(self.module.evaluate(world, demo.states, numbers))
        slope = np.zeros((*log_g.shape, 2))
        claimed = claim_less(price, np.arange(len(demo.states)), log_g, slope[..., 0])
        return claimed, [(demo.states, numbers, slope)]

    def _score(
        self, world: World, demo: Demonstration, machine: Machine, rng: np.random.Generator
    ) -> tuple[Ground, Score, tuple[Floats, Floats]]:
        """The task's own graph, its score there, and log G and log I `[S, terms]`."""
        graph = beam_graph(world, demo.states, machine, self.values.heuristic(world, machine), self._layers, rng)
        ground = Ground(world, graph, taken_edges(graph, demo.actions), np.ones(len(demo)))
        logs = log_probabilities(self.module.evaluate(world, graph.states, self.module.numbers(names(machine))))
        return ground, score(graph, ground.taken, machine, *logs, self.settings.rationality), logs


def _example(ground: Ground, machine: Machine, costs: Floats, rng: np.random.Generator) -> Example:
    """J at the states of the demonstration and at some others of the graph."""
    others = rng.integers(len(costs), size=OTHERS)
    chosen = np.unique(np.concatenate([ground.graph.path, others]))
    return Example(ground.world, machine, ground.graph.states[chosen], costs[chosen])


def build_values(
    settings: RsgSettings,
    descriptions: Sequence[str],
    shape: Mapping[str, int],
    encoder: Callable[[], nn.Module] | None = None,
    hidden: int = 32,
) -> ValueNetworks:
    """Values that have learned nothing yet, on the same kind of encoder as the classifiers.

    Args:
        settings: of the run.
        descriptions: of the training tasks.
        shape: of the classifiers.
        encoder: makes a module of one's own.
        hidden: the width of the layers; there is a network for each node of each task, so they are narrow.
    """

    def make(terms: Sequence[str]) -> Classifiers:
        if encoder is not None:
            module = seeded(encoder, settings.seed)
            return EncodedClassifiers(module, shape["features"], terms, True, settings.seed, doubt=0.0)
        if settings.encoder == "sets":
            return SetClassifiers(
                terms, True, hidden, shape["types"], settings.seed, settings.compiled, settings.context, doubt=0.0
            )
        module = Flat(shape["inputs"], hidden, settings.seed)
        return EncodedClassifiers(module, hidden, terms, True, settings.seed, doubt=0.0)

    return ValueNetworks(descriptions, make).to(settings.device).eval()


def classifier_weights(saved: Saved) -> dict[str, Tensor]:
    """The classifiers' part of a checkpoint, whether there are values beside it or not."""
    found = weights(saved)
    ours = {key.removeprefix(PREFIX): value for key, value in found.items() if key.startswith(PREFIX)}
    return ours or found


def load_values(
    folder: str | Path, which: Which = "best", encoder: Callable[[], nn.Module] | None = None
) -> ValueNetworks | None:
    """The values of a run, for planning; None if it was trained without."""
    run = Run(folder)
    if "value_tasks" not in run.about:
        return None
    if not run.has(which):
        raise RunError(f"{folder} has no checkpoint yet; train for some steps first")
    found = weights(run.load(which))
    try:
        settings = replace(restored(RsgSettings, run.about["settings"]), device="cpu")
        values = build_values(settings, run.about["value_tasks"], run.about["shape"], encoder)
        values.load_state_dict(
            {key.removeprefix("values."): value for key, value in found.items() if key.startswith("values.")}
        )
    except (KeyError, TypeError, RuntimeError):
        raise RunError(f"the values in {folder} do not fit its settings; train again into another folder") from None
    return values
