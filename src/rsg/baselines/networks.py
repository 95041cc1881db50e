"""Parts that baselines are built from: what reads a task and a history, and what the numbers of a last layer mean."""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, one_hot
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from rsg.baselines.encoders import Shape, state_encoder
from rsg.core.arrays import Array, Bools
from rsg.core.errors import RsgError, meant
from rsg.language import Machine, machine_of
from rsg.language.tree import CONNECTIVES, NAME

PUNCTUATION = ("(", ")", *CONNECTIVES)
CANDIDATES = 20  # random moves that are looked at, the paper's number
LEAST_VARIANCE = 1e-3  # of a continuous action: more certainty is never of use


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a description as rsg writes it: terms, connectives, parentheses.

    >>> words_of("a > (b | c)")
    ('a', 'then', 'b', 'or', 'c')
    >>> words_of("(a then b) and c")
    ('(', 'a', 'then', 'b', ')', 'and', 'c')
    """
    return tuple(re.findall(rf"{NAME}(?:\([^)]*\))?|[()]", str(machine_of(text).task)))  # arguments touch their term


class TaskEncoder(nn.Module):
    """The bi-directional LSTM of the paper over the words of a description, averaged over the words.

    It gives twice as many features as each direction is wide (`hidden`).
    """

    def __init__(self, terms: Sequence[str], hidden: int) -> None:
        super().__init__()
        self.vocabulary = (*PUNCTUATION, *terms)
        self.features = 2 * hidden
        self.words = nn.Embedding(len(self.vocabulary), hidden)
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True, bidirectional=True)

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Features `[texts, 2·hidden]`; a text that comes several times is read once."""
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        rows = [torch.tensor([place_of(word, self.vocabulary) for word in words_of(text)]) for text in distinct]
        lengths = torch.tensor([len(row) for row in rows])
        embedded = self.words(pad_sequence(rows, batch_first=True).to(self.words.weight.device))
        return averaged(self.lstm, embedded, lengths)[[distinct[text] for text in texts]]


def averaged(lstm: nn.LSTM, rows: Tensor, lengths: Tensor) -> Tensor:
    """What an LSTM gives for sequences `[B, longest, F]` of some lengths `[B]`, each averaged: `[B, features]`."""
    packed = pack_padded_sequence(rows, lengths.cpu(), batch_first=True, enforce_sorted=False)
    read, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)  # zero beyond the end
    return read.sum(dim=1) / lengths[:, None].to(read)


class History(nn.Module):
    """Reads a task, states with that task in mind, and with an LSTM those before; a subclass says what follows."""

    def __init__(self, shape: Shape, terms: Sequence[str], hidden: int, layers: int) -> None:
        super().__init__()
        self.tasks = TaskEncoder(terms, hidden)
        self.states = state_encoder(shape, hidden, self.tasks.features, layers)
        self.history = nn.LSTM(hidden, hidden, batch_first=True)

    def begin(self, machine: Machine, count: int) -> tuple[Tensor, Tensor]:
        """For N copies the features of their task `[N, features]` and an empty memory `[2, 1, N, hidden]`."""
        with torch.inference_mode():
            task = self.tasks([str(machine.task)]).expand(count, -1)
            return task, task.new_zeros(2, 1, count, self.history.hidden_size)


def place_of(word: str, vocabulary: Sequence[str]) -> int:
    """Where a word stands in a vocabulary; one that is not in it is an error."""
    if word not in vocabulary:
        known = [one for one in vocabulary if one not in PUNCTUATION]
        raise RsgError(f"this run never learned the term '{word}'; {meant(word, known)}")
    return vocabulary.index(word)


class Actions:
    """What a policy's last layer means: log-odds of each action, or a Gaussian over moves.

    A Gaussian's mean is a tanh, its variance a sigmoid, as in the paper.

    Attributes:
        outputs: how many numbers the layer gives.
    """

    def __init__(self, shape: Shape) -> None:
        self.discrete = "actions" in shape
        self._reach = torch.tensor(shape.get("reach", []), dtype=torch.float32)
        self.outputs = int(shape["actions"]) if self.discrete else 2 * len(self._reach)

    def read(self, actions: Array) -> Tensor:
        """Actions of a demonstration `[T]` or `[T, D]` as a tensor."""
        return torch.as_tensor(actions.astype(np.int64 if self.discrete else np.float32))

    def log_probability(self, given: Tensor, actions: Tensor) -> Tensor:
        """Of actions `[N]` or `[N, D]`, for outputs `[N, outputs]`: `[N]`."""
        if self.discrete:
            return (given.log_softmax(dim=-1) * one_hot(actions, self.outputs).to(given)).sum(dim=-1)
        mean, variance = self._gaussian(given)
        return -0.5 * ((actions - mean) ** 2 / variance + torch.log(2 * math.pi * variance)).sum(dim=-1)

    def _gaussian(self, given: Tensor) -> tuple[Tensor, Tensor]:
        mean, spread = given.chunk(2, dim=-1)
        return torch.tanh(mean) * self._reach.to(given), torch.sigmoid(spread) + LEAST_VARIANCE

    def entropy(self, given: Tensor) -> Tensor:
        """Of what is drawn, for outputs `[N, outputs]`: `[N]`."""
        if self.discrete:
            logs = given.log_softmax(dim=-1)
            return -(logs.exp() * logs).sum(dim=-1)
        return 0.5 * torch.log(2 * math.pi * math.e * self._gaussian(given)[1]).sum(dim=-1)

    def best(self, given: Tensor) -> Array:
        """The most likely actions `[N]`, or the mean moves `[N, D]`."""
        if self.discrete:
            return given.argmax(dim=-1).cpu().numpy()
        return self._gaussian(given)[0].double().cpu().numpy()

    def drawn(self, given: Tensor, rng: np.random.Generator) -> Array:
        """Actions `[N]` or moves `[N, D]` by chance, moves never beyond reach."""
        if self.discrete:
            gumbel = torch.as_tensor(rng.gumbel(size=tuple(given.shape))).to(given)
            return (given + gumbel).argmax(dim=-1).cpu().numpy()
        mean, variance = self._gaussian(given)
        noise = torch.as_tensor(rng.standard_normal(tuple(mean.shape))).to(mean)
        reach = self._reach.to(mean)
        return (mean + noise * variance.sqrt()).clamp(-reach, reach).double().cpu().numpy()

    def candidates(self, count: int, rng: np.random.Generator) -> Array:
        """For each of so many states random moves `[N, 20, D]`."""
        reach = self._reach.double().numpy()
        return rng.uniform(-reach, reach, size=(count, CANDIDATES, len(reach)))

    def stops(self, given: Tensor, odds: Tensor) -> Bools:
        """Where stopping, with these log-odds `[N]`, is likelier than any action; among moves, where it is likely."""
        best = given.log_softmax(dim=-1).amax(dim=-1) if self.discrete else torch.zeros_like(odds)
        return (logsigmoid(odds) > logsigmoid(-odds) + best).cpu().numpy()
