"""The paper's first layer: each item and each object is seen together with the overall features of the state.

The appendix concatenates the input of every item with the global feature before its fully connected layer; the
package's encoder `sets` adds the overall features at the end only, so that what an object means does not depend on
where the agent is. For `learn(encoder=...)` in Crafting World.
"""

import torch
from torch import Tensor, nn

from rsg.domains.crafting.sets import OVERALL, SetClassifiers
from rsg.subgoals.classifiers import Weights


class ContextClassifiers(SetClassifiers):
    """Classifiers on sets whose first layers see the overall features as well."""

    fast = False  # the compiled form has no such layer
    context: Tensor

    def __init__(self) -> None:
        super().__init__(single=True)
        own = Weights((1, 2, len(OVERALL), self.hidden), 0.1)
        self._weights["context"] = own
        self.register_parameter("context", nn.Parameter(torch.zeros(0, *own.shape)))

    def groups(self) -> list[Tensor]:
        """Those of all, and for each overall feature what the first layers make of it."""
        return [*super().groups(), self.context.flatten(2, 3)]

    def _one(self, t: int, n: int, inventory: Tensor, objects: tuple[Tensor, Tensor], scaled: Tensor) -> Tensor:
        """Log-odds `[N]` of one network; of objects the types and the other features."""
        types, rest = objects
        seen = torch.einsum("nf,lfh->lnh", scaled, self.context[t, n])[:, :, None]
        items = self.inventory[t, n][inventory] + seen[0] + self.bias[t, n, 0]
        things = self.objects[t, n][types] + rest @ self.places[t, n] + seen[1] + self.bias[t, n, 1]
        items = torch.relu(items) * (inventory > 0)[..., None]
        things = torch.relu(things) * (types > 0)[..., None]
        pooled = torch.cat([items.amax(dim=1), things.amax(dim=1)], dim=-1)
        return pooled @ self.head[t, n].flatten() + scaled @ self.overall[t, n] + self.offset[t, n]
