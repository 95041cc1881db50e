"""Subgoal classifiers G_o and I_o on sets of objects (paper, appendix "State feature extractor")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rsg.core.errors import RsgError
from rsg.search import Goals
from rsg.worlds import World
from rsg.worlds.crafting import VOCABULARY, Sets

HIDDEN = 128
_MAP_FEATURES = 4  # of an object on the map besides its type: row, column, status, whether the agent stands on it
_OVERALL = 5


class SetClassifiers(nn.Module):
    """For each term two networks of one shape: G_o, is the subgoal true; I_o, is it not yet true.

    Each item held and each object on the map goes through a linear layer with ReLU; a maximum over the items and one
    over the objects give two vectors, which together with the overall features decide. Places are relative to the
    map's size.

    Args:
        terms: the terms that it knows.
        types: how many types of objects there are.
        hidden: the width of a layer.
    """

    def __init__(self, terms: Sequence[str] = VOCABULARY, types: int = 47, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.terms = tuple(terms)
        networks = 2 * len(self.terms)  # G of every term, then I of every term
        self.inventory = nn.Parameter(torch.randn(networks, types + 1, hidden) * 0.5)
        self.objects = nn.Parameter(torch.randn(networks, types + 1, hidden) * 0.5)
        self.places = nn.Parameter(torch.randn(networks, _MAP_FEATURES, hidden) * 0.5)
        self.bias = nn.Parameter(torch.zeros(networks, 2, hidden))
        self.overall = nn.Parameter(torch.randn(networks, _OVERALL) * 0.1)
        self.head = nn.Parameter(torch.randn(networks, 2 * hidden) / hidden**0.5)
        self.offset = nn.Parameter(torch.zeros(networks))

    def forward(self, sets: Sets, terms: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Log-probabilities log G and log I, each `[N, terms]`, of the terms with these numbers."""
        chosen = torch.tensor([*terms, *(len(self.terms) + term for term in terms)])
        overall = torch.as_tensor(sets.overall)
        size = overall[:, None, :2].clamp(min=1)
        inventory = torch.as_tensor(sets.inventory.astype(np.int64))
        types = torch.as_tensor(sets.objects[..., 0].astype(np.int64))
        rest = torch.as_tensor(sets.objects[..., 1:].astype(np.float32))
        rest = torch.cat([rest[..., :2] / size, rest[..., 2:]], dim=-1)
        logits = [self._logit(int(n), inventory, types, rest, overall / 10) for n in chosen]
        both = nn.functional.logsigmoid(torch.stack(logits, dim=-1))
        return both[:, : len(terms)], both[:, len(terms) :]

    def _logit(self, n: int, inventory: Tensor, types: Tensor, rest: Tensor, overall: Tensor) -> Tensor:
        items = torch.relu(self.inventory[n][inventory] + self.bias[n, 0]) * (inventory > 0)[..., None]
        things = torch.relu(self.objects[n][types] + rest @ self.places[n] + self.bias[n, 1]) * (types > 0)[..., None]
        features = torch.cat([items.amax(dim=1), things.amax(dim=1)], dim=-1)
        return features @ self.head[n] + overall @ self.overall[n] + self.offset[n]

    def goals(self, world: World, terms: Sequence[str], state: NDArray[Any]) -> Goals:
        """The classifiers of some terms, as the planner asks for them: a `GoalFn`."""
        del state
        unknown = [term for term in terms if term not in self.terms]
        if unknown:
            raise RsgError(f"these subgoals never learned the term '{unknown[0]}'")
        numbers = [self.terms.index(term) for term in terms]

        def goals(states: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            with torch.inference_mode():
                log_g, log_i = self(world.encode(states), numbers)
            return log_g.double().numpy(), log_i.double().numpy()

        return goals


def untrained(seed: int = 0) -> SetClassifiers:
    """Classifiers as they are before any training: the floor that every figure is compared with."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return SetClassifiers()
