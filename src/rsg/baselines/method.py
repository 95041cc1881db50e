"""What all baselines share: settings, and the part of a `Method` that does not depend on the baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rsg.baselines.batches import Batch, batch_of
from rsg.baselines.networks import Actions, Shape
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.subgoals.classifiers import tensors
from rsg.subgoals.encoders import seeded
from rsg.subgoals.learning import WorldOf, spelled
from rsg.training.settings import TrainingSettings

LONGEST_GRADIENT = 1.0  # a longer one is shortened: LSTMs now and then have one that would undo much


@dataclass(frozen=True)
class BaselineSettings(TrainingSettings):
    """What baselines add to the settings of every method; rates, widths and weights are the paper's.

    Attributes:
        hidden: the width of layers.
        layers: of the network that reads one state.
        beta: β, how sharply the contrastive term compares the scores of tasks.
        gamma: γ, its weight; 0: no other tasks are looked at.
        negatives: how many other descriptions each demonstration is compared with.
    """

    steps: int = 3000
    batch: int = 64
    rate: float = 1e-3
    rate_end: float = 1e-5
    curriculum: int = 0
    held_out: int = 512
    check_every: int = 200
    patience: int = 5
    save_every: int = 500
    hidden: int = 128
    layers: int = 2
    beta: float = 1.0
    gamma: float = 0.0
    negatives: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden < 1 or self.layers < 1 or self.negatives < 0:
            raise RsgError("hidden and layers must be at least 1, negatives must not be negative")
        if self.beta <= 0 or self.gamma < 0:
            raise RsgError("beta must be positive, gamma must not be negative")


class Baseline:
    """A method for the training loop. A baseline says what its module is and what its loss is; all else is here.

    Args:
        settings: how it is trained.
        shape: of the worlds, see `networks.shape_of`.
        terms: those of the training descriptions.
        world_of: gives the world of a demonstration; only training needs it.
        descriptions: all of the training set; negatives are drawn from them.
    """

    name: ClassVar[str]
    kind: ClassVar[type[BaselineSettings]]

    def __init__(
        self,
        settings: Any,
        shape: Shape,
        terms: Sequence[str],
        world_of: WorldOf | None = None,
        descriptions: Sequence[str] = (),
    ) -> None:
        self.settings, self.shape, self.terms = settings, shape, tuple(terms)
        self.actions = Actions(shape)
        self._world_of = world_of
        self._descriptions = tuple(dict.fromkeys(map(spelled, descriptions)))
        self.module = self._seeded(self.build).to(settings.device)

    def _seeded(self, make: Callable[[], nn.Module]) -> nn.Module:
        return seeded(make, int(stream(self.settings.seed, self.name).integers(2**31)))

    def build(self) -> nn.Module:
        """The module, with fresh weights."""
        raise NotImplementedError

    def losses(self, batch: Batch, rng: np.random.Generator) -> dict[str, Tensor]:
        """Figures of a batch: `loss` is what training makes small."""
        raise NotImplementedError

    def scores(self, batch: Batch, candidates: Sequence[Sequence[str]]) -> Tensor:
        """`[B, tasks]` how well several tasks explain each demonstration."""
        raise NotImplementedError

    def about(self) -> dict[str, Any]:
        """What it takes to build the module again."""
        return {"terms": list(self.terms), "shape": self.shape}

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """The gradients of the loss of a batch."""
        del step
        figures = self.losses(self.batch(demos), rng)
        figures["loss"].backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.module.parameters(), LONGEST_GRADIENT)
        return {key: float(value.detach()) for key, value in figures.items()}

    def held_out_score(self, demos: Sequence[Demonstration], rng: np.random.Generator) -> float:
        """Minus the loss."""
        with torch.inference_mode():
            return -float(self.losses(self.batch(demos), rng)["loss"])

    def batch(self, demos: Sequence[Demonstration]) -> Batch:
        """Demonstrations as tensors."""
        return batch_of(demos, self.world_of, self.actions, self.settings.device)

    def world_of(self, demo: Demonstration) -> Any:
        """The world of a demonstration."""
        if self._world_of is None:
            raise RsgError("this baseline was loaded to be used; to train it, say where demonstrations take place")
        return self._world_of(demo)

    def see(self, world: Any, states: NDArray[Any]) -> Any:
        """What a world shows of states, as tensors."""
        return tensors(world.encode(states), self.settings.device)

    def explain(self, world: Any, demo: Demonstration, texts: Sequence[str]) -> NDArray[np.float64]:
        """`[tasks]` how well each of several descriptions explains a trajectory; what it says itself is not read."""
        with torch.inference_mode():
            batch = batch_of([demo], lambda _: world, self.actions, self.settings.device)
            return self.scores(batch, [texts])[0].double().cpu().numpy()

    def others(self, text: str, rng: np.random.Generator) -> list[str]:
        """Other descriptions that a demonstration is compared with."""
        rest = [other for other in self._descriptions if other != spelled(text)]
        count = min(self.settings.negatives, len(rest)) if self.settings.gamma > 0 else 0
        return [rest[i] for i in rng.choice(len(rest), size=count, replace=False)] if count else []

    def objective(self, scores: Tensor) -> dict[str, Tensor]:
        """The loss of RSG (eq. 5) from the scores `[B, 1 + negatives]` of tasks, each demonstration's own first."""
        own = scores[:, 0].mean()
        compared = (self.settings.beta * scores).log_softmax(dim=1)[:, 0].mean()
        first = (scores[:, 0] >= scores.amax(dim=1)).float().mean()
        return {
            "loss": -own - self.settings.gamma * compared,
            "score": own.detach(),
            "contrast": compared.detach(),
            "recognised": first,
        }
