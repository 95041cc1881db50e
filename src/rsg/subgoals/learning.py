"""Learning rational subgoals (paper, Algorithm 1): RSG as a method for the training loop."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled
from rsg.core.errors import DemonstrationError, RsgError
from rsg.demos import Demonstration
from rsg.language import Machine, machine_of, sample_task
from rsg.subgoals.alignment import JOINED
from rsg.subgoals.classifiers import DOUBT, Classifiers, Floats, Part
from rsg.subgoals.ground import Ground, ground
from rsg.subgoals.objective import Rationality, Score, contrast, score
from rsg.training.settings import TrainingSettings
from rsg.worlds import World

WorldOf = Callable[[Demonstration], World]
"""Gives the world of a demonstration."""


@dataclass(frozen=True)
class RsgSettings(TrainingSettings):
    """What RSG adds to the settings of every method; the values are the paper's where it gives one, but for `single`.

    Attributes:
        encoder: `sets`, `flat`, `image`, or the name of a module that is given in their place.
        hidden: the width of its layers.
        single: whether I is 1 - G instead of a classifier of its own (the paper's).
        alpha: α, inverse rationality.
        weight: λ, what a transition's log-probabilities cost beside actions.
        beta: β, how sharply the contrastive term compares scores.
        gamma: γ, its weight.
        one_action: whether a node that was entered must be served by an action before it is left.
        alignment: `max` takes the best alignment, `sum` all (log-sum-exp), `expectation` leaves nodes by chance.
        negatives: how many other tasks each demonstration is compared with.
        negatives_from: `descriptions` of other demonstrations, or the task `language`.
        doubt: minus the first log-odds of G: a subgoal is false until something that is there says otherwise.
        unmentioned: what it costs to call a subgoal of those tasks true that the demonstration's own does not mention.
        unmentioned_steps: after so many steps it costs nothing any more.
        prompt: what it counts that a subgoal was not yet true in the states in which it was served: demonstrators go on
            as soon as it is. 0 is the paper's.
        scheme: `exact` computes J on the graph of all states around a demonstration, `sampled` on the paper's search.
        full_layers: exhaustive layers of that search.
        beam_layers: layers after them, in which only the best states are kept.
        beam: how many are kept per node.
        depth: how many steps around a demonstration the exact graph reaches.
        poses: of the roadmap that this graph is cut from in a continuous world.
        actions: there, rationality compares the action taken with all `edges` of the roadmap, or with `sampled` ones.
        samples: how many are sampled at each step.
        sure: planners take a subgoal for true where it is surer than at this share of the ends of demonstrations, who
            stop at the edge of what is true; 0: where it is likelier than not. For training it does not matter.
        context: whether the first layer of `sets` sees the overall features too, as in the paper.
        compiled: whether to use the encoder's compiled form where it has one.
    """

    encoder: str = "sets"
    hidden: int = 128
    single: bool = True
    alpha: float = 1.0
    weight: float = 1.0
    beta: float = 1.0
    gamma: float = 0.1
    one_action: bool = True
    alignment: str = "max"
    negatives: int = 5
    negatives_from: str = "descriptions"
    doubt: float = DOUBT
    unmentioned: float = 0.01
    unmentioned_steps: int = 200
    prompt: float = 0.0
    scheme: str = "exact"
    full_layers: int = 3
    beam_layers: int = 15
    beam: int = 10
    depth: int = 4
    poses: int = 2000
    actions: str = "edges"
    samples: int = 20
    sure: float = 0.0
    context: bool = False
    compiled: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alignment not in JOINED:
            raise RsgError(f"alignment is max, sum or expectation, not '{self.alignment}'")
        if self.negatives_from not in ("descriptions", "language"):
            raise RsgError(f"negatives come from descriptions or language, not '{self.negatives_from}'")
        if not 0 <= self.sure < 1:
            raise RsgError(f"sure is a share, from 0 up to but not 1, not {self.sure}")
        if self.actions not in ("edges", "sampled"):
            raise RsgError(f"actions are edges or sampled, not '{self.actions}'")
        if self.scheme not in ("exact", "sampled"):
            raise RsgError(f"scheme is exact or sampled, not '{self.scheme}'")
        if self.scheme == "sampled" and self.encoder == "image":
            raise RsgError("the scheme 'sampled' has no values for pictures; use scheme=exact with the encoder 'image'")
        if self.scheme == "sampled" and (self.prompt or self.sure):
            raise RsgError("the scheme 'sampled' knows neither prompt nor sure; set both to 0, or use scheme=exact")
        if self.prompt and self.alignment != "max":
            raise RsgError("prompt asks about the one best alignment; set it to 0, or use alignment=max")
        if self.full_layers < 1 or self.beam_layers < 0 or self.beam < 1:
            raise RsgError("full_layers and beam must be at least 1, beam_layers must not be negative")
        if min(self.depth, self.poses, self.samples, self.hidden) < 1 or self.negatives < 0:
            raise RsgError("depth, poses, samples and hidden must be at least 1, negatives must not be negative")
        if min(self.alpha, self.weight, self.beta) <= 0 or self.gamma < 0:
            raise RsgError("alpha, weight and beta must be positive, gamma must not be negative")
        if min(self.unmentioned, self.unmentioned_steps, self.prompt) < 0:
            raise RsgError("unmentioned, unmentioned_steps and prompt must not be negative")

    @property
    def rationality(self) -> Rationality:
        """The part that scores depend on."""
        return Rationality(self.alpha, self.weight, self.one_action, self.alignment)

    @property
    def roads(self) -> dict[str, int]:
        """The part that the graph of a continuous world depends on."""
        return {"poses": self.poses, "samples": self.samples if self.actions == "sampled" else 0}


class RationalSubgoals:
    """RSG: classifiers are fitted so that each demonstrator acted rationally for what the description says.

    Args:
        classifiers: what is learned.
        settings: how.
        world_of: gives the world of a demonstration.
        descriptions: all of the training set; negatives are drawn from them.
    """

    name = "rsg"

    def __init__(
        self, classifiers: Classifiers, settings: RsgSettings, world_of: WorldOf, descriptions: Sequence[str]
    ) -> None:
        self.module, self.settings = classifiers, settings
        self._world_of, self._descriptions = world_of, tuple(dict.fromkeys(map(spelled, descriptions)))
        self._grounds: OrderedDict[Demonstration, Ground] = OrderedDict()
        self._bytes = 0

    def about(self) -> dict[str, Any]:
        """What it takes to build the classifiers again."""
        return {"terms": list(self.module.terms), "shape": self.module.shape}

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """The gradient of the loss: minus the objective, averaged over the batch."""
        price = self._price(step)
        parts: dict[int, tuple[World, list[Part]]] = {}
        with self.module.varied(rng):
            explained = [self.explain(demo, self._candidates(demo, rng), price) for demo in demos]
            for one in explained:
                part = (one.ground.graph.states, one.numbers, one.slope / -len(demos))
                parts.setdefault(id(one.ground.world), (one.ground.world, []))[1].append(part)
            for world, pieces in parts.values():
                self.module.backward(world, pieces)
        if self.settings.sure:
            self.module.raise_margins([end for one in explained for end in one.ends], self.settings.sure)
        return figures_of(explained, self.settings.gamma, price)

    def held_out_score(self, demos: Sequence[Demonstration], rng: np.random.Generator) -> float:
        """The objective of the paper, averaged."""
        explained = [self.explain(demo, self._candidates(demo, rng)) for demo in demos]
        return -figures_of(explained, self.settings.gamma)["loss"]

    def _price(self, step: int) -> float:
        """What it costs at a step to call true what is not mentioned."""
        return self.settings.unmentioned if step < self.settings.unmentioned_steps else 0.0

    def explain(self, demo: Demonstration, tasks: Sequence[Machine], price: float = 0.0) -> Explained:
        """Score a demonstration for several tasks, its own first, with the gradient of the objective."""
        ground = self.ground(demo)
        terms = list(dict.fromkeys(name for machine in tasks for name in names(machine)))
        numbers = self.module.numbers(terms)
        place = {term: column for column, term in enumerate(terms)}
        odds = self.module.evaluate(ground.world, ground.graph.states, numbers)
        log_g, log_i = log_probabilities(odds)
        scores, served = [], list[NDArray[np.int32]]()
        for machine in tasks:
            columns = np.array([*(place[name] for name in names(machine)), -1], dtype=np.int32)[machine.term_of]
            how = self.settings.rationality
            served.append(columns)
            scores.append(score(ground.graph, ground.taken, machine, log_g, log_i, how, columns, ground.each))
        compared, weights = contrast([one.value for one in scores], self.settings.beta)
        weights = self.settings.gamma * weights
        weights[0] += 1.0
        slope = np.zeros((*log_g.shape, 2))
        for one, share in zip(scores, weights, strict=True):
            if share != 0.0:
                add_slopes(share, one.slope_g, one.slope_i, log_g, log_i, slope)
        own = len(names(tasks[0]))
        claimed = claim_less(price, ground.graph.path, log_g[:, own:], slope[:, own:, 0])
        ends = [(numbers[k], float(odds[ground.graph.path[-1], k, 0])) for k in last_served(scores[0], served[0])]
        late, prompt = 0.0, self.settings.prompt
        if prompt:
            late = prompt * not_yet(prompt, ground.graph.path, scores[0].acts, served[0], log_i, slope[..., 1])
        return Explained(ground, tuple(numbers), scores, compared, claimed, late, ends, slope)

    def ground(self, demo: Demonstration) -> Ground:
        """The graph around a demonstration; as many are kept as the cache holds."""
        if demo in self._grounds:
            self._grounds.move_to_end(demo)
            return self._grounds[demo]
        try:
            there = ground(self._world_of(demo), demo.states, demo.actions, self.settings.depth, **self.settings.roads)
        except RsgError as error:
            raise DemonstrationError(str(error), demo) from None
        self._grounds[demo] = there
        self._bytes += there.size_bytes
        while self._bytes > self.settings.cache_mb * 2**20 and len(self._grounds) > 1:
            self._bytes -= self._grounds.popitem(last=False)[1].size_bytes
        return there

    def _candidates(self, demo: Demonstration, rng: np.random.Generator) -> list[Machine]:
        """The machine of the demonstration's own task, then those of others."""
        own, count = machine_of(demo.task), self.settings.negatives
        if self.settings.negatives_from == "language":
            drawn = (sample_task(self.module.terms, seed=rng) for _ in range(count))
            return [own, *(Machine.of(task) for task in drawn if str(task) != spelled(demo.task))]
        others = [text for text in self._descriptions if text != spelled(demo.task)]
        chosen = rng.choice(len(others), size=min(count, len(others)), replace=False) if others else ()
        return [own, *(machine_of(others[i]) for i in chosen)]


@lru_cache(maxsize=4096)
def spelled(text: str) -> str:
    """A description as rsg writes it: the same for all ways to write a task."""
    return str(machine_of(text).task)


@lru_cache(maxsize=4096)
def names(machine: Machine) -> tuple[str, ...]:
    """The names of a machine's terms."""
    return tuple(str(term) for term in machine.terms)


@compiled
def log_probabilities(odds: Floats) -> tuple[Floats, Floats]:
    """log G and log I `[S, terms]` from log-odds `[S, terms, 2]`."""
    log_g, log_i = np.empty(odds.shape[:2]), np.empty(odds.shape[:2])
    for s in range(odds.shape[0]):
        for k in range(odds.shape[1]):
            log_g[s, k] = min(odds[s, k, 0], 0.0) - np.log1p(np.exp(-abs(odds[s, k, 0])))
            log_i[s, k] = min(odds[s, k, 1], 0.0) - np.log1p(np.exp(-abs(odds[s, k, 1])))
    return log_g, log_i


@compiled
def add_slopes(share: float, slope_g: Floats, slope_i: Floats, log_g: Floats, log_i: Floats, slope: Floats) -> None:
    """Add a share of a score's gradient, from log-probabilities to log-odds: d log σ(x) / dx = 1 - σ(x)."""
    for s in range(log_g.shape[0]):
        for k in range(log_g.shape[1]):
            if slope_g[s, k] != 0.0:
                slope[s, k, 0] -= share * slope_g[s, k] * np.expm1(log_g[s, k])
            if slope_i[s, k] != 0.0:
                slope[s, k, 1] -= share * slope_i[s, k] * np.expm1(log_i[s, k])


@compiled
def claim_less(weight: float, path: NDArray[Any], log_g: Floats, slope: Floats) -> float:
    """How much is called true along a demonstration that its description does not mention: Σ_o mean_s G_o(s).

    Adds the gradient of minus `weight` times this to that of the log-odds of G, `[S, terms]`: dG / dx = G (1 - G), so
    where a classifier is sure, it is left in peace: something may be true that goes without saying.
    """
    claimed = 0.0
    for i in range(len(path)):
        for k in range(log_g.shape[1]):
            g = np.exp(log_g[path[i], k])
            claimed += g / len(path)
            slope[path[i], k] -= weight * g * (1.0 - g) / len(path)
    return claimed


def last_served(score: Score, columns: NDArray[Any]) -> list[int]:
    """The column of the subgoal that the last action serves, if there is an alignment."""
    return [int(columns[score.acts[-1].argmax()])] if score.value > -np.inf and len(score.acts) else []


@compiled
def not_yet(
    weight: float, path: NDArray[Any], acts: Floats, columns: NDArray[Any], log_i: Floats, slope: Floats
) -> float:
    """log I of the subgoal that each action serves, where it begins: Σ_i Σ_v acts_iv log I_v(s_i).

    Adds the gradient of `weight` times this to that of the log-odds of I, `[S, terms]`.
    """
    total = 0.0
    for i in range(len(acts)):
        for v in range(1, len(columns) - 1):
            if acts[i, v] > 0.0:
                s, k = path[i], columns[v]
                total += acts[i, v] * log_i[s, k]
                slope[s, k] -= weight * acts[i, v] * np.expm1(log_i[s, k])
    return total


@dataclass(frozen=True, eq=False)
class Explained:
    """A demonstration with the scores of several tasks.

    Attributes:
        ground: where it took place.
        numbers: of the terms of all these tasks.
        scores: one per task, its own first.
        compared: log softmax of the own task's score.
        claimed: how much else is called true along the demonstration.
        late: what the objective loses where subgoals are served that are true already.
        ends: the number of the subgoal that it ends with, if it has any, and the log-odds of its G there.
        slope: `[S, terms, 2]` the gradient of the objective with respect to the log-odds.
    """

    ground: Ground
    numbers: tuple[int, ...]
    scores: list[Score]
    compared: float
    claimed: float
    late: float
    ends: list[tuple[int, float]]
    slope: Floats


def figures_of(explained: Sequence[Explained], gamma: float, price: float = 0.0) -> dict[str, float]:
    """What is shown of a batch; `recognised` is the share whose own task scores best.

    The loss is minus the objective: score + γ · contrast (eq. 5), less what is claimed without being mentioned.
    """
    own = float(np.mean([one.scores[0].value for one in explained]))
    compared = float(np.mean([one.compared for one in explained]))
    claimed = float(np.mean([one.claimed for one in explained]))
    first = [one.scores[0].value >= max(other.value for other in one.scores) for one in explained]
    loss = -own - gamma * compared + price * claimed - float(np.mean([one.late for one in explained]))
    return {"loss": loss, "score": own, "contrast": compared, "recognised": float(np.mean(first))}
