"""What all baselines share: settings, demonstrations as tensors, and a `Method` but for what it learns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from rsg.baselines.encoders import Shape, look
from rsg.baselines.networks import Actions
from rsg.core.arrays import Array, Floats
from rsg.core.errors import DemonstrationError, RsgError
from rsg.core.random import stream
from rsg.core.settings import default
from rsg.demos import Demonstration, actions_of
from rsg.language import Machine, Task
from rsg.subgoals.classifiers import mapped, tensors
from rsg.subgoals.encoders import SeenTensors, seeded
from rsg.subgoals.learning import WorldOf, other_tasks, spelled
from rsg.subgoals.recognition import Recognised, ranked
from rsg.training.settings import TrainingSettings
from rsg.worlds import EitherWorld, World, is_continuous, successors_of

LONGEST_SLOPE = 1.0  # a longer one is shortened: LSTMs now and then have one that would undo much


@dataclass(frozen=True)
class BaselineSettings(TrainingSettings):
    """What baselines add to the settings of every method; rates, widths and weights are the paper's."""

    GONE: ClassVar = {**TrainingSettings.GONE, "effective": True}

    steps: int = 1200
    batch: int = 64
    rate: float = 1e-3
    rate_end: float = 1e-5
    curriculum: int = 0
    held_out: int = 512
    check_every: int = 200
    patience: int = 5
    save_every: int = 500
    observation: str = default(
        "state", "state, what the world shows, or image, pictures of it", among=("state", "image")
    )
    hidden: int = default(128, "the width of layers", least=1)
    layers: int = default(2, "of the network that reads one state", least=1)
    blur: float = default(
        0.02, "how inexactly numbers are seen in training, so that few demonstrations are not learned by heart", least=0
    )
    beta: float = default(1.0, "β, how sharply the contrastive term compares the scores of tasks", above=0)
    gamma: float = default(0.0, "γ, its weight; 0: no other tasks are looked at", least=0)
    negatives: int = default(5, "how many other descriptions each demonstration is compared with", least=0)


@dataclass(frozen=True, eq=False)
class Batch:
    """B demonstrations with N states altogether."""

    texts: tuple[str, ...]  # `[B]` their descriptions
    seen: SeenTensors  # what the world shows of the N states, as tensors
    owner: Tensor  # `[N]` the demonstration of each state
    place: Tensor  # `[N]` the state's number in it
    moving: Tensor  # `[N]` whether an action follows
    actions: Tensor  # `[N - B]` or `[N - B, D]` those of the states where one follows

    def padded(self, values: Tensor) -> Tensor:
        """Values of states `[N, F]` as `[B, longest, F]`, zero beyond the end of each demonstration."""
        longest = int(self.place.max()) + 1
        return values.new_zeros(len(self.texts), longest, values.shape[-1]).index_put((self.owner, self.place), values)

    def unpadded(self, values: Tensor) -> Tensor:
        """The way back: `[B, longest, F]` as `[N, F]`."""
        return values[self.owner, self.place]

    def per_demonstration(self, values: Tensor) -> Tensor:
        """The sum `[B, ...]` over the states of each demonstration."""
        return values.new_zeros(len(self.texts), *values.shape[1:]).index_add(0, self.owner, values)


def batch_of(demos: Sequence[Demonstration], world_of: WorldOf, shape: Shape, device: str = "cpu") -> Batch:
    """Demonstrations as a batch, each seen with the eyes of its own world."""
    lengths = np.array([len(demo.states) for demo in demos])
    place = np.concatenate([np.arange(length) for length in lengths])
    owner = torch.as_tensor(np.repeat(np.arange(len(demos)), lengths), device=device)
    moving = torch.as_tensor(place < np.repeat(lengths - 1, lengths), device=device)
    seen = tensors(mapped(stacked, *(_seen(demo, world_of, shape) for demo in demos)), device)
    taken = torch.cat([Actions(shape).read(actions_of(demo)) for demo in demos]).to(device)
    texts = tuple(demo.task for demo in demos)
    return Batch(texts, seen, owner, torch.as_tensor(place, device=device), moving, taken)


def _seen(demo: Demonstration, world_of: WorldOf, shape: Shape) -> Any:
    wanted = "whole numbers [T]" if "actions" in shape else "moves [T, D]"
    actions = actions_of(demo)
    if ("actions" in shape) != (actions.ndim == 1):
        raise DemonstrationError(f"actions are {wanted} in this world, not {list(actions.shape)}", demo)
    try:
        return look(world_of(demo), demo.states, shape)
    except RsgError as error:
        raise DemonstrationError(str(error), demo) from None


def stacked(*parts: ArrayLike) -> Array:
    """Arrays one after the other; sets of different sizes are padded with zeros."""
    arrays = [np.asarray(part) for part in parts]
    size = np.max([array.shape[1:] for array in arrays], axis=0).astype(int).tolist()
    out = np.zeros((sum(map(len, arrays)), *size), dtype=arrays[0].dtype)
    start = 0
    for array in arrays:
        out[(slice(start, start + len(array)), *map(slice, array.shape[1:]))] = array
        start += len(array)
    return out


class Baseline:
    """A method for the training loop. A baseline says what its module is and what its loss is; all else is here.

    shape: of the worlds, see `encoders.shape_of`. Only training needs `world_of` and all descriptions, from which
    negatives are drawn.
    """

    name: ClassVar[str]
    kind: ClassVar[type[BaselineSettings]]
    network: ClassVar[type[nn.Module]]
    module: Any

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
        seed = int(stream(settings.seed, self.name).integers(2**31))
        self.module = seeded(self.build, seed).to(settings.device)

    def build(self) -> nn.Module:
        """The module, with fresh weights."""
        return self.network(self.settings, self.shape, self.terms, self.actions.outputs)

    def losses(self, batch: Batch, rng: np.random.Generator) -> dict[str, Tensor]:
        """Figures of a batch: `loss` is what training makes small."""
        return self.objective(self.scores(batch, [[text, *self.others(text, rng)] for text in batch.texts]))

    def scores(self, batch: Batch, candidates: Sequence[Sequence[str]]) -> Tensor:
        """`[B, tasks]` how well several tasks explain each demonstration."""
        return torch.stack([self.score(batch, texts) for texts in zip(*candidates, strict=True)], dim=1)

    def score(self, batch: Batch, texts: Sequence[str]) -> Tensor:
        """`[B]` how well each demonstration is explained by its task."""
        raise NotImplementedError

    def about(self) -> dict[str, Any]:
        """What it takes to build the module again."""
        return {"terms": list(self.terms), "shape": self.shape}

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """The gradients of the loss of a batch."""
        del step
        batch = self.batch(demos)
        return backward(self.losses(replace(batch, seen=self.blurred(batch.seen, rng)), rng), self.module)

    def held_out_score(self, demos: Sequence[Demonstration], rng: np.random.Generator) -> float:
        """Minus the loss."""
        with torch.inference_mode():
            return -float(self.losses(self.batch(demos), rng)["loss"])

    def batch(self, demos: Sequence[Demonstration]) -> Batch:
        """Demonstrations as tensors."""
        return batch_of(demos, self.world_of, self.shape, self.settings.device)

    def world_of(self, demo: Demonstration) -> Any:
        """The world of a demonstration."""
        if self._world_of is None:
            raise RsgError("this baseline was loaded to be used; to train it, say where demonstrations take place")
        return self._world_of(demo)

    def blurred(self, seen: SeenTensors, rng: np.random.Generator) -> SeenTensors:
        """What is seen, as it is seen in training."""
        if self.settings.blur == 0 or not isinstance(seen, Tensor):
            return seen
        noise = torch.as_tensor(rng.standard_normal(tuple(seen.shape))).to(seen)
        return seen.add(self.settings.blur * noise)

    def see(self, world: EitherWorld, states: Array) -> Any:
        """What a world shows of states, as tensors."""
        return tensors(look(world, states, self.shape), self.settings.device)

    def explain(self, world: EitherWorld, demo: Demonstration, texts: Sequence[str]) -> Floats:
        """`[tasks]` how well each of several descriptions explains a trajectory; what it says itself is not read."""
        with torch.inference_mode():
            batch = batch_of([demo], lambda _: world, self.shape, self.settings.device)
            return self.scores(batch, [texts])[0].double().cpu().numpy()

    def rank(self, world: EitherWorld, demo: Demonstration, tasks: Sequence[Task]) -> list[Recognised]:
        """Which task a trajectory did, the most likely first."""
        scores = self.explain(world, demo, [str(task) for task in tasks])
        return ranked(tasks, scores, scores)

    def chance(self) -> np.random.Generator:
        """Where a policy's chance comes from, the same in each rollout."""
        return stream(self.settings.seed, "act")

    def begin(self, world: EitherWorld, states: Array, machine: Machine) -> Any:
        """What most policies remember: the task, an LSTM that has seen nothing, and where chance comes from."""
        del world
        return *self.module.begin(machine, len(states)), self.chance()

    def choose(self, world: EitherWorld, states: Array, given: Tensor, rng: np.random.Generator) -> Array:
        """The likeliest actions `[N]`, or mean moves `[N, D]`; none without effect if another has one.

        Which actions have an effect is asked of the world's model, as in the paper's IRL: else a policy may stay stuck.
        Where the mean move has none, the likeliest of 20 random moves is taken.
        """
        if not is_continuous(world):
            return self.actions.best(self.having_effect(world, states, given))
        chosen = self.actions.best(given)
        idle = np.flatnonzero((world.step(states, chosen) == states).all(axis=1))
        if len(idle):
            tried = self.actions.candidates(len(idle), rng)
            count = tried.shape[1]
            rows, flat = np.repeat(states[idle], count, axis=0), np.concatenate(tried)
            moved = (world.step(rows, flat) != rows).any(axis=1).reshape(-1, count)
            repeated = given[idle].repeat_interleave(count, dim=0)
            logs = self.actions.log_probability(repeated, self.actions.read(flat).to(given.device))
            worth = np.where(moved, logs.double().cpu().numpy().reshape(-1, count), -np.inf)
            found = moved.any(axis=1)
            chosen[idle[found]] = tried[found, worth[found].argmax(axis=1)]
        return chosen

    def having_effect(self, world: World, states: Array, given: Tensor) -> Tensor:
        """Log-odds of actions `[N, A]` without those that have no effect, if another has one."""
        moves = (successors_of(world, states) != states[:, None]).any(axis=2)
        moves |= ~moves.any(axis=1, keepdims=True)
        return given.masked_fill(torch.as_tensor(~moves, device=given.device), -torch.inf)

    def others(self, text: str, rng: np.random.Generator) -> list[str]:
        """Other descriptions that a demonstration is compared with."""
        return other_tasks(self._descriptions, text, self.settings.negatives, rng) if self.settings.gamma > 0 else []

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


def backward(figures: Mapping[str, Tensor], *parts: nn.Module) -> dict[str, float]:
    """The figures as numbers, after their loss has given each part of a module its slopes."""
    figures["loss"].backward()  # type: ignore[no-untyped-call]
    for part in parts:
        nn.utils.clip_grad_norm_(part.parameters(), LONGEST_SLOPE)
    return {key: float(value.detach()) for key, value in figures.items()}
