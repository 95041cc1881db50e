"""Subgoal classifiers: for each term o, G_o (is the subgoal true?) and I_o (is it not yet true?)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from rsg.core.arrays import Array, Floats
from rsg.core.errors import RsgError, meant
from rsg.core.random import stream
from rsg.search import Goals, attach, is_continuous, roadmap
from rsg.training.loop import one_thread
from rsg.worlds import EitherWorld

TWICE = np.log(2.0)  # less log-odds: where a subgoal is as sure, but for twice the chance that it is false
DOUBT = 4.0  # minus the first log-odds: a subgoal is false until something that is there says otherwise
WEAKEST = 0.05  # of the strongest thing of a term: weaker ones are drawn to nothing no faster
Part = tuple[Array, Sequence[int], Floats]
"""States `[N, W]`, the numbers of some terms, and the gradient of their log-odds `[N, terms, 2]`."""


class Weights(NamedTuple):
    """How the weights of one name begin: each term has its own, drawn from the seed and the term alone."""

    shape: tuple[int, ...]  # of those of one term
    spread: float = 0.0  # the standard deviation of the first ones
    first: Any = -0.0  # what they are spread around; -0.0 leaves every number as it was drawn, the sign of a zero too
    drawn_as: str = ""  # the name under which they are drawn, if it is another one


class Classifiers(nn.Module):
    """What learning, planning and recognition ask of classifiers; a subclass says how log-odds are computed.

    It knows no terms at first; `grow` adds some.

    Args:
        single: whether I_o is 1 - G_o (one classifier) instead of a network of its own.
        weights: the parameters that each term has its own of, by name.

    Attributes:
        terms: the terms that it knows.
        networks: how many classifiers each of them has.

    A subclass has to write `odds`; all else follows. It may say which of its weights are about one thing (`groups`),
    and offer `compiled(world, terms, separate, state)` and `batch`, see `rsg.search.Goals`, and faster twins of
    `evaluate` and `backward`.
    """

    def __init__(self, single: bool = False, weights: Mapping[str, Weights] | None = None) -> None:
        super().__init__()
        self.terms: tuple[str, ...] = ()
        self.single, self.networks = single, 1 if single else 2
        self._weights = dict(weights or {})
        for name, one in self._weights.items():
            self.register_parameter(name, nn.Parameter(torch.zeros(0, *one.shape)))
        self.small = False  # whether several threads would only wait for each other
        self.shape: dict[str, Any] = {}  # what it takes to build it again, besides the settings

    def odds(self, seen: Any, numbers: Sequence[int]) -> Tensor:
        """Log-odds `[N, terms, 2]` (`[N, terms, 1]` if single) of the terms with these numbers.

        numbers: places in `self.terms`; seen: what `world.encode` gives, its arrays as tensors on the module's device.
        """
        raise NotImplementedError

    def grow(self, terms: Sequence[str], seed: int = 0) -> Self:
        """Learn of new terms; what is known of the old ones stays."""
        new = [term for term in dict.fromkeys(terms) if term not in self.terms]
        for name, one in self._weights.items() if new else ():
            draws = [stream(seed, "term", term, one.drawn_as or name) for term in new]
            fresh = np.stack([one.first + one.spread * draw.standard_normal(one.shape) for draw in draws])
            old = self.get_parameter(name).detach()
            self.register_parameter(name, nn.Parameter(torch.cat([old, torch.as_tensor(fresh).to(old)])))
        self.terms += tuple(new)
        return self

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """The places of terms; one that was never learned is an error."""
        for term in terms:
            if term not in self.terms:
                raise RsgError(f"these subgoals never learned the term '{term}'; {meant(term, self.terms)}")
        return [self.terms.index(term) for term in terms]

    def forward(self, seen: Any, numbers: Sequence[int]) -> Tensor:
        """Log-odds of G and of I, `[N, terms, 2]`."""
        odds = self.odds(seen, numbers)
        return torch.cat([odds, -odds], dim=-1) if self.single else odds

    def evaluate(self, world: EitherWorld, states: Array, numbers: Sequence[int]) -> Floats:
        """Log-odds `[N, terms, 2]` of states, without a gradient."""
        with torch.inference_mode(), one_thread(self.small):
            return self(self.see(world, states), numbers).cpu().double().numpy()  # type: ignore[no-any-return]

    def backward(self, world: EitherWorld, parts: Sequence[Part]) -> None:
        """Add to the parameters' gradients, given gradients of log-odds, which are mostly zero."""
        for states, numbers, gradient in parts:
            rows = np.flatnonzero(gradient.any(axis=(1, 2)))
            if len(rows):
                odds = self(self.see(world, states[rows]), numbers)
                odds.backward(torch.as_tensor(gradient[rows]).to(odds))

    def see(self, world: EitherWorld, states: Array) -> Any:
        """What the world shows of states, as `odds` takes it."""
        return self.taken(world.encode(states))

    def taken(self, seen: Any) -> Any:
        """What `world.encode` gives, arrays or tensors, as `odds` takes it: in torch alone, so it can be exported."""
        return tensors(seen, next(self.parameters()).device)

    def margins_at(self, world: EitherWorld, numbers: Sequence[int], state: Array) -> Floats:
        """`[terms]` the log-odds from which on planners take a subgoal for true, where the world is in this state.

        Even odds; in a continuous world more. There demonstrators stop at the very edge of what is true, and nothing
        tells how far off that edge classifiers are. So planners go where it is surest: to poses that are at most twice
        as likely to be false as the surest that can be reached.
        """
        return margins_of(lambda states: self.evaluate(world, states, numbers), world, state, len(numbers))

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *how: Any) -> None:
        """As every module, without what only older versions learned."""
        state_dict.pop(f"{prefix}margins", None)
        super()._load_from_state_dict(state_dict, prefix, *how)

    def meet(self, world: EitherWorld, states: Array) -> None:
        """Get to know what the states of a demonstration look like, before training; by default nothing comes of it."""

    def groups(self) -> list[Tensor]:
        """Parameters or views of them, `[terms, networks, things, weights]`: each row is about one thing to look at.

        A goal is about few things, so training prefers classifiers that look at few, see `shrink`. By default none.
        """
        return []

    @torch.no_grad()
    def shrink(self, amount: float, choosy: bool) -> None:
        """Draw the weights of each thing towards nothing together, so that those that do not matter come to be 0.

        It is the proximal step of a group lasso, after each step of training.

        amount: by how much, for each weight of a thing; choosy: whether a thing is drawn the more the weaker it is
        beside the strongest one of its network: of several that say the same, one is left.
        """
        groups = self.groups()
        norms = [torch.linalg.vector_norm(rows, dim=-1, keepdim=True) for rows in groups]
        top = torch.cat(norms, dim=2).amax(dim=2, keepdim=True) if groups else 0.0
        for rows, norm in zip(groups, norms, strict=True):
            by = amount * rows.shape[-1] ** 0.5 * (top / (norm + WEAKEST * top) if choosy else 1.0)
            rows.mul_((1 - by / norm).clamp(min=0).nan_to_num(0))  # nothing stays nothing

    def things_seen(self) -> float:
        """How many things a network looks at, in the mean; 0 where nobody can tell."""
        looks = [rows.detach().any(dim=-1).flatten(0, 1) for rows in self.groups()]
        return float(torch.cat(looks, dim=1).sum(dim=1).double().mean()) if looks and len(looks[0]) else 0.0

    def looks_at(self, term: str, world: EitherWorld | None) -> list[tuple[str, float]]:
        """What the classifier of a term looks at, in words, with its share of the weights, most first.

        Empty where its weights have no names.
        """
        del term, world
        return []

    def goals(self, world: EitherWorld, terms: Sequence[str], state: Array) -> Goals:
        """The classifiers of some terms as the planner asks for them, a `GoalFn`: G, and 1 - G in the place of I."""
        return LearnedGoals(self, world, terms, state)

    def goals_with_i(self, world: EitherWorld, terms: Sequence[str], state: Array) -> Goals:
        """As `goals`, with the separate classifiers I for "not yet"."""
        return LearnedGoals(self, world, terms, state, separate=True)


class LearnedGoals:
    """Classifiers of some terms in one world, as planners take them that start in a state."""

    def __init__(
        self,
        classifiers: Classifiers,
        world: EitherWorld,
        terms: Sequence[str],
        state: Array,
        separate: bool = False,
    ) -> None:
        self._classifiers, self._world, self._separate = classifiers, world, separate
        self._numbers, self._start = classifiers.numbers(terms), np.asarray(state)
        self._last: tuple[Array, Floats] = np.empty((0, 0)), np.empty((0, 0, 2))  # what was asked for last: all poses
        self._margins = margins_of(self._evaluated, world, self._start, len(self._numbers))
        if hasattr(classifiers, "batch"):
            self.batch = classifiers.batch
        compile_for: Callable[..., Any] | None = getattr(classifiers, "compiled", None)
        if compile_for is not None and not self._margins.any():
            form = compile_for(world, self._numbers, separate, self._start)
            if form is not None:
                self.compiled = form

    def __call__(self, states: Array) -> tuple[Floats, Floats]:
        """log G and log I, each `[N, terms]`."""
        odds = self._evaluated(states)
        surer, not_yet = odds[..., 0] - self._margins, odds[..., 1] if self._separate else -odds[..., 0]
        if self._margins.any():  # nobody is asked for what is done: where it is not sure at the start, it is yet to do
            start = (states == self._start).all(axis=1)
            not_yet[start] = np.maximum(not_yet[start], -surer[start])
        return log_sigmoid(surer), log_sigmoid(not_yet)

    def _evaluated(self, states: Array) -> Floats:
        """Log-odds `[N, terms, 2]`; of many states that are asked for twice running, as those of a roadmap, once."""
        if not np.array_equal(states, self._last[0]):
            self._last = np.array(states), self._classifiers.evaluate(self._world, states, self._numbers)
        return self._last[1]


def margins_of(odds: Callable[[Array], Floats], world: EitherWorld, state: Array, terms: int) -> Floats:
    """As `Classifiers.margins_at`; odds: the log-odds `[N, terms, 2]` of states."""
    if not is_continuous(world):
        return np.zeros(terms)
    poses = attach(world, roadmap(world, state), np.asarray(state)[None], trajectory=False)
    reached = poses.steps_from(np.zeros(1, dtype=np.int64)) >= 0
    some = reached if reached[1:].any() else np.ones_like(reached)  # else in a corner, with a way out
    surest = np.concatenate([odds(part) for part in (poses.states[:1], poses.states[1:])])[some, :, 0].max(axis=0)
    return np.asarray(np.maximum(surest - TWICE, 0.0))


def log_sigmoid(odds: Floats) -> Floats:
    """The logarithm of the probability that has these log-odds."""
    return np.asarray(np.minimum(odds, 0) - np.log1p(np.exp(-np.abs(odds))))


def doubtful(networks: int) -> Weights:
    """Offsets of log-odds of G, and of I if it has a network of its own: at first not true, not yet true."""
    return Weights((networks,), first=np.array([-DOUBT, DOUBT][:networks]))


def mapped(function: Callable[..., Any], *seen: Any) -> Any:
    """A function of what a world shows, array by array: one array, or those of a dict or a tuple."""
    first = seen[0]
    if isinstance(first, dict):
        return {key: mapped(function, *(one[key] for one in seen)) for key in first}
    if isinstance(first, tuple):
        parts = [mapped(function, *some) for some in zip(*seen, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return function(*seen)


def tensors(seen: Any, device: torch.device | str) -> Any:
    """What a world shows as tensors; whole numbers as long ones."""

    def tensor(array: Any) -> Tensor:
        made = as_tensor(array)
        return made.to(device, torch.float32 if made.is_floating_point() else torch.int64)

    return mapped(tensor, seen)


def as_tensor(array: Any) -> Tensor:
    """An array, which may be a view that nobody may write to, as a tensor; a tensor stays what it is."""
    return array if isinstance(array, Tensor) else torch.as_tensor(np.require(array, requirements=("C", "W")))
