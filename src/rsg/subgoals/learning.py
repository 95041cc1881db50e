"""Learning rational subgoals (paper, Algorithm 1): RSG as a method for the training loop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rsg.core.arrays import Floats
from rsg.core.compiled import bare
from rsg.core.errors import DemonstrationError, RsgError
from rsg.demos import Demonstration, actions_of
from rsg.demos.demonstration import by_world
from rsg.language import Machine, machine_of
from rsg.search.cost_to_go import Logs
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.ground import Ground, ground
from rsg.subgoals.objective import Score, View, contrast
from rsg.subgoals.settings import RsgSettings as RsgSettings
from rsg.training.data import Kept
from rsg.worlds import EitherWorld

FEW = 0.3  # of Adam's largest step: a thing that gradients pull less steadily than this is drawn to nothing
CHOOSY = 1 / 3  # of training: then what is left is seen well enough to choose among things that say the same
THING = 0.01  # what looking at one thing more, in each term, must add to the held-out score to be worth it
WorldOf = Callable[[Demonstration], EitherWorld]
"""Gives the world of a demonstration."""


class RationalSubgoals:
    """RSG: classifiers are fitted so that each demonstrator acted rationally for what the description says.

    A subclass may change where a demonstration is looked at (`around`, `views`), how well a task explains it (`score`)
    and which tasks it is compared with (`candidates`).

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
        self.module, self.settings, self.world_of = classifiers, settings, world_of
        self._descriptions = tuple(dict.fromkeys(map(spelled, descriptions)))
        self.grounds_kept = Kept(self._around, lambda there: there.size_bytes)

    def about(self) -> dict[str, Any]:
        """What it takes to build the classifiers again."""
        return {"terms": list(self.module.terms), "shape": self.module.shape}

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """The gradient of the loss: minus the objective, averaged over the batch."""
        del step
        explained = [self.explain(demo, self.candidates(demo, rng)) for demo in demos]
        parts = ((view, slope / -len(demos)) for one in explained for view, slope in one.slopes.items())
        pieces = ((view.ground.world, (view.ground.graph.states, view.numbers, slope)) for view, slope in parts)
        for world, some in by_world(pieces):
            self.module.backward(world, some)
        return {**figures_of(explained, self.settings.gamma), "things": self.module.things_seen()}

    def after_step(self, rate: float, share: float) -> None:
        """Prefer classifiers that look at few things."""
        self.module.shrink(FEW * rate, choosy=share >= CHOOSY)

    def held_out_score(self, demos: Sequence[Demonstration], rng: np.random.Generator) -> float:
        """The objective of the paper, averaged, less a price for each thing that terms look at."""
        explained = [self.explain(demo, self.candidates(demo, rng)) for demo in demos]
        return -figures_of(explained, self.settings.gamma)["loss"] - THING * self.module.things_seen()

    def explain(self, demo: Demonstration, tasks: Sequence[Machine]) -> "Explained":
        """Score a demonstration for several tasks, its own first, with the gradient of the objective (eq. 5)."""
        views = self.views(demo, tasks)
        scores = [self.score(view, machine) for view, machine in zip(views, tasks, strict=True)]
        compared, weights = contrast([one.value for one in scores], self.settings.beta)
        weights = self.settings.gamma * weights
        weights[0] += 1.0
        slopes = {view: np.zeros(view.odds.shape) for view in views}
        for view, one, share in zip(views, scores, weights, strict=True):
            if share != 0.0:
                add_slopes(share, Logs(one.slope_g, one.slope_i), view.logs, slopes[view])
        return Explained(views, scores, compared, slopes)

    def views(self, demo: Demonstration, tasks: Sequence[Machine]) -> list[View]:
        """For each task where the demonstration is looked at; here on one graph for all.

        The first, that of its own task, knows the terms of all tasks, its own first.
        """
        terms = (name for machine in tasks for name in machine.names)
        return [View.of(self.module, self.ground(demo), terms)] * len(tasks)

    def score(self, view: View, machine: Machine) -> Score:
        """How well a task explains a demonstration (eq. 2)."""
        return view.score(machine, self.settings.rationality)

    def ground(self, demo: Demonstration) -> Ground:
        """The graph around a demonstration; as many are kept as memory has room for."""
        return self.grounds_kept.of(demo)

    def _around(self, demo: Demonstration) -> Ground:
        with blaming(demo):
            return self.around(demo)

    def around(self, demo: Demonstration) -> Ground:
        """The graph around a demonstration, made anew."""
        return ground(self.world_of(demo), demo.states, actions_of(demo), self.settings.depth)

    def candidates(self, demo: Demonstration, rng: np.random.Generator) -> list[Machine]:
        """The machine of the demonstration's own task, then those of others, drawn from all descriptions."""
        others = other_tasks(self._descriptions, demo.task, self.settings.negatives, rng)
        return [machine_of(text) for text in (demo.task, *others)]


@contextmanager
def blaming(demo: Demonstration) -> Iterator[None]:
    """What goes wrong here is the fault of a demonstration."""
    try:
        yield
    except RsgError as error:
        raise DemonstrationError(str(error), demo) from None


@lru_cache(maxsize=4096)
def spelled(text: str) -> str:
    """A description as rsg writes it: the same for all ways to write a task."""
    return str(machine_of(text).task)


def other_tasks(descriptions: Sequence[str], text: str, count: int, rng: np.random.Generator) -> list[str]:
    """So many of the descriptions, as rsg writes them, by chance: none twice, and none of the same task."""
    rest = [other for other in descriptions if other != spelled(text)]
    count = min(count, len(rest))
    return [rest[i] for i in rng.choice(len(rest), size=count, replace=False)] if count else []


@bare
def add_slopes(share: float, slopes: Logs, logs: Logs, slope: Floats) -> None:
    """Add a share of a score's gradient, from log-probabilities to log-odds: d log σ(x) / dx = 1 - σ(x)."""
    for s in range(slope.shape[0]):
        for k in range(slope.shape[1]):
            if slopes.g[s, k] != 0.0:
                slope[s, k, 0] -= share * slopes.g[s, k] * np.expm1(logs.g[s, k])
            if slopes.i[s, k] != 0.0:
                slope[s, k, 1] -= share * slopes.i[s, k] * np.expm1(logs.i[s, k])


@dataclass(frozen=True, eq=False)
class Explained:
    """A demonstration with the scores of several tasks."""

    views: list[View]  # where it was looked at for each task, its own first
    scores: list[Score]  # how well each explains it
    compared: float  # log softmax of the own task's score
    # for each view the gradient of the objective with respect to its log-odds, `[S, terms, 2]`
    slopes: dict[View, Floats]


def figures_of(explained: Sequence[Explained], gamma: float) -> dict[str, float]:
    """What is shown of a batch; `recognised` is the share whose own task scores best.

    The loss is minus the objective: score + γ · contrast (eq. 5).
    """
    own = float(np.mean([one.scores[0].value for one in explained]))
    compared = float(np.mean([one.compared for one in explained]))
    first = [one.scores[0].value >= max(other.value for other in one.scores) for one in explained]
    loss = -own - gamma * compared
    return {"loss": loss, "score": own, "contrast": compared, "recognised": float(np.mean(first))}
