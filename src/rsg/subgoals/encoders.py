"""Classifiers on top of any encoder: a module that turns what a world shows into vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.subgoals.classifiers import DOUBT, Classifiers, doubtful

Encoder = Callable[[], nn.Module]
"""Makes a module that turns what the world shows into features `[N, F]`; a class without arguments is one."""


def seeded(encoder: Encoder, seed: int) -> nn.Module:
    """A module of one's own whose first weights follow from the seed, as it is used: without dropout."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return encoder().eval()


class EncodedClassifiers(Classifiers):
    """One encoder for all terms, and for each classifier a linear layer on its features.

    Args:
        encoder: takes what `world.encode` gives (arrays as tensors) and gives features `[N, features]`.
        features: how many.
        terms: the terms.
        single: whether I is 1 - G.
        seed: of the first weights of the linear layers.
        doubt: minus the first log-odds of G, as far as the linear layers' offset goes.
    """

    def __init__(
        self,
        encoder: nn.Module,
        features: int,
        terms: Sequence[str],
        single: bool = False,
        seed: int = 0,
        doubt: float = DOUBT,
    ) -> None:
        super().__init__((), single)
        self.encoder, self.features, self.doubt = encoder, features, doubt
        networks = 1 if single else 2
        self.heads = nn.Parameter(torch.zeros(0, networks, features))
        self.offsets = nn.Parameter(torch.zeros(0, networks))
        self.grow(terms, seed)

    def grow(self, terms: Sequence[str], seed: int) -> None:
        """Linear layers for new terms."""
        new = [term for term in dict.fromkeys(terms) if term not in self.terms]
        if new:
            shape, scale = self.heads.shape[1:], self.features**-0.5
            drawn = [scale * stream(seed, "term", term, "head").standard_normal(tuple(shape)) for term in new]
            fresh = torch.as_tensor(np.stack(drawn)).to(self.heads)
            self.heads = nn.Parameter(torch.cat([self.heads.detach(), fresh]))
            first = doubtful(shape[0], self.doubt).to(self.offsets).expand(len(new), shape[0])
            self.offsets = nn.Parameter(torch.cat([self.offsets.detach(), first]))
        self.terms += tuple(new)

    def odds(self, seen: Any, numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, networks]`."""
        chosen = list(numbers)
        return torch.einsum("nf,tmf->ntm", self.encoder(seen), self.heads[chosen]) + self.offsets[chosen]


class Flat(nn.Module):
    """The encoder `flat`: all numbers that a world shows, in one row, through two layers. For worlds of one's own.

    Args:
        inputs: how many numbers a state shows.
        hidden: the width of the layers.
        seed: of the first weights.
    """

    def __init__(self, inputs: int, hidden: int = 128, seed: int = 0) -> None:
        super().__init__()
        self.inputs = inputs
        self.layers = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        rng = stream(seed, "flat")
        with torch.no_grad():
            for parameter in self.parameters():
                bound = (inputs if parameter.shape[-1] == inputs else hidden) ** -0.5
                parameter.copy_(torch.as_tensor(rng.uniform(-bound, bound, tuple(parameter.shape))))

    def forward(self, seen: Any) -> Tensor:
        """Features `[N, hidden]`."""
        numbers = flat(seen).to(next(self.parameters()))
        if numbers.shape[1] != self.inputs:
            raise RsgError(
                f"the encoder 'flat' learned on states of {self.inputs} numbers, this world shows {numbers.shape[1]}; "
                "use the encoder 'sets', or worlds of one size"
            )
        return self.layers(numbers)  # type: ignore[no-any-return]


def flat(seen: Any) -> Tensor:
    """All arrays of an observation side by side, `[N, numbers]`."""
    if isinstance(seen, dict):
        return torch.cat([flat(value) for value in seen.values()], dim=1)
    if isinstance(seen, tuple):
        return torch.cat([flat(value) for value in seen], dim=1)
    return torch.as_tensor(seen).reshape(len(seen), -1).float()
