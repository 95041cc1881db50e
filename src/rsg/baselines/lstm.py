"""LSTM: task recognition only. A network reads the states and the description, and says how well they fit."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rsg.baselines.common import Baseline, BaselineSettings, Batch
from rsg.baselines.encoders import Shape, state_encoder
from rsg.baselines.networks import TaskEncoder, averaged


@dataclass(frozen=True)
class LstmSettings(BaselineSettings):
    """What the LSTM changes: it only compares tasks, with all other descriptions unless there are very many."""

    steps: int = 800
    batch: int = 32
    gamma: float = 1.0
    negatives: int = 100


class LstmNetwork(nn.Module):
    """Bi-directional LSTMs over states and over words, each averaged, and two layers on both (the paper's)."""

    def __init__(self, settings: LstmSettings, shape: Shape, terms: Sequence[str]) -> None:
        super().__init__()
        hidden = settings.hidden
        self.states = state_encoder(shape, hidden, 0, settings.layers)
        self.history = nn.LSTM(hidden, hidden, batch_first=True, bidirectional=True)
        self.tasks = TaskEncoder(terms, hidden)
        self.of_history = nn.Linear(2 * hidden, hidden)
        self.of_task = nn.Linear(self.tasks.features, hidden, bias=False)
        self.out = nn.Linear(hidden, 1)

    def watched(self, batch: Batch) -> Tensor:
        """What was seen of each demonstration, `[B, hidden]`."""
        padded = batch.padded(self.states(batch.seen))
        return self.of_history(averaged(self.history, padded, torch.bincount(batch.owner)))  # type: ignore[no-any-return]

    def fit(self, watched: Tensor, tasks: Tensor) -> Tensor:
        """Scores `[B, tasks]` of what was seen `[B, hidden]` and what was read `[B, tasks, hidden]`."""
        return self.out(torch.relu(watched[:, None] + tasks))[..., 0]  # type: ignore[no-any-return]


class Lstm(Baseline):
    """The LSTM as a method, and a judge of how well a task explains a trajectory. It does not act."""

    name = "lstm"
    kind = LstmSettings

    def build(self) -> nn.Module:
        """The network."""
        return LstmNetwork(self.settings, self.shape, self.terms)

    def objective(self, scores: Tensor) -> dict[str, Tensor]:
        """The contrastive part of RSG's loss alone."""
        compared = (self.settings.beta * scores).log_softmax(dim=1)[:, 0].mean()
        first = (scores[:, 0] >= scores.amax(dim=1)).float().mean()
        return {"loss": -compared, "recognised": first}

    def scores(self, batch: Batch, candidates: Sequence[Sequence[str]]) -> Tensor:
        """`[B, tasks]` how well several tasks explain each demonstration."""
        network = self.module
        distinct = list(dict.fromkeys(text for texts in candidates for text in texts))
        place = {text: number for number, text in enumerate(distinct)}
        read = network.of_task(network.tasks(distinct))
        rows = torch.tensor([[place[text] for text in texts] for texts in candidates], device=read.device)
        return network.fit(network.watched(batch), read[rows])  # type: ignore[no-any-return]
