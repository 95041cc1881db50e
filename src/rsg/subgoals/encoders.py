"""Classifiers on top of any encoder: a module that turns what a world shows into vectors."""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from rsg.subgoals.classifiers import Classifiers, Weights, doubtful
from rsg.worlds import Seen

SeenTensors = Tensor | tuple[Tensor, ...] | Mapping[str, Tensor]
"""What a world shows, `rsg.worlds.Seen`, its arrays as tensors."""

Encoder = Callable[[], nn.Module]
"""Makes a module that turns what the world shows into features `[N, F]`; a class without arguments is one.

It may also make `Classifiers` of one's own, which know no terms yet.
"""


def seeded(encoder: Encoder, seed: int) -> nn.Module:
    """A module of one's own whose first weights follow from the seed, as it is used: without dropout."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return encoder().eval()


class EncodedClassifiers(Classifiers):
    """One encoder for all terms, and for each classifier a linear layer on its features.

    encoder: takes what `world.encode` gives (arrays as tensors) and gives features `[N, features]`.
    """

    heads: Tensor
    offsets: Tensor

    def __init__(self, encoder: nn.Module, features: int, single: bool = False) -> None:
        networks = 1 if single else 2
        heads = Weights((networks, features), features**-0.5, drawn_as="head")
        super().__init__(single, {"heads": heads, "offsets": doubtful(networks)})
        self.encoder, self.features = encoder, features

    def odds(self, seen: SeenTensors, numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, networks]`."""
        chosen = list(numbers)
        return torch.einsum("nf,tmf->ntm", self.encoder(seen), self.heads[chosen]) + self.offsets[chosen]


def dense(inputs: int, hidden: int, layers: int) -> nn.Sequential:
    """So many layers, one on the other, each linear with ReLU."""
    widths = [inputs, *[hidden] * layers]
    return nn.Sequential(*(part for width in widths[:-1] for part in (nn.Linear(width, hidden), nn.ReLU())))


def flat(seen: Seen | SeenTensors) -> Tensor:
    """All arrays of an observation side by side, `[N, numbers]`."""
    if isinstance(seen, dict):
        return torch.cat([flat(value) for value in seen.values()], dim=1)
    if isinstance(seen, tuple):
        return torch.cat([flat(value) for value in seen], dim=1)
    numbers = torch.as_tensor(seen)
    return numbers.reshape(len(numbers), math.prod(numbers.shape[1:])).float()  # of no states too
