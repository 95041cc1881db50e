"""From demonstrations to subgoals in one call, and from a run on disk back to subgoals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import torch
from torch import nn

from rsg.core.errors import RsgError, RunError
from rsg.core.random import stream
from rsg.demos import Demonstration, Store
from rsg.language import machine_of
from rsg.search import is_continuous
from rsg.subgoals.classifiers import Classifiers, tensors
from rsg.subgoals.encoders import EncodedClassifiers, Encoder, Flat, flat, seeded
from rsg.subgoals.images import PRESET as IMAGE_PRESET
from rsg.subgoals.images import ImageClassifiers
from rsg.subgoals.learning import RationalSubgoals, RsgSettings, WorldOf
from rsg.subgoals.relative import RelativeClassifiers
from rsg.subgoals.sets import TYPES, SetClassifiers
from rsg.training import Progress, Run, TrainingData
from rsg.training.checkpoint import Which
from rsg.training.loop import Looking, fitted, weights
from rsg.training.settings import restored
from rsg.worlds import World, check
from rsg.worlds.crafting import CraftingWorld, Sets
from rsg.worlds.playroom import PlayroomWorld

PRESETS: dict[str, dict[str, Any]] = {
    "image": IMAGE_PRESET,
    "relative": {
        **{"prompt": 1.0, "depth": 2, "held_out": 64, "check_every": 50, "sure": 0.92},
        **{"steps": 250, "curriculum": 100, "rate": 0.01, "rate_end": 1e-3, "hidden": 64},
    },
}
"""The settings that learn best with an encoder, where they are not the usual ones."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What `learn` gives: the classifiers of the best held-out score, and how training went."""

    subgoals: Classifiers
    progress: Progress


class Beside(Looking, total=False):
    """What `learn` takes besides; what `Looking` says is for `rsg.training.fit`.

    Attributes:
        per_task: at most so many demonstrations of each description.
        start: classifiers to begin with; terms that they lack are added.
        encoder: makes a module of one's own, in the place of `settings.encoder`.
        method: the kind of `RationalSubgoals` to train.
    """

    per_task: int | None
    start: Classifiers | None
    encoder: Encoder | None
    method: type[RationalSubgoals]


def learn(
    demonstrations: Store | Sequence[Demonstration],
    world: World | WorldOf,
    out: str | Path | None = None,
    settings: RsgSettings | None = None,
    **beside: Unpack[Beside],
) -> Learned:
    """Learn a classifier for each term in the descriptions of demonstrations.

    Args:
        demonstrations: a store, or a list.
        world: the world that they come from, or a function from a demonstration to its world.
        out: the folder of the run; one with checkpoints is gone on with. None: nothing is kept.
        settings: how to learn.
        beside: see `Beside`.
    """
    settings, encoder = settings or RsgSettings(), beside.get("encoder")
    if encoder is not None and settings.encoder in ENCODERS:
        settings = replace(settings, encoder=f"{getattr(encoder, '__name__', 'mine')} (your own)")
    check_device(settings.device)
    world_of = _world_of(world)
    data = TrainingData(demonstrations, settings, beside.get("per_task"))
    subgoals = _first(data, world_of, settings, encoder, beside.get("start"))
    method = beside.get("method", RationalSubgoals)(subgoals, settings, world_of, data.descriptions)
    return Learned(subgoals, fitted(method, data, out, beside))


def _first(
    data: TrainingData, world_of: WorldOf, settings: RsgSettings, encoder: Encoder | None, start: Classifiers | None
) -> Classifiers:
    """What training begins with: classifiers of all terms of the data, new ones or others that go on learning."""
    terms = [name for text in data.descriptions for name in machine_of(text).names]
    if start is not None:
        subgoals = _copied(start, settings, encoder)
    else:
        example = data[int(data.learn[0])]
        world = world_of(example)
        seen = world.encode(example.states[:1])
        subgoals = build(settings, terms, {} if encoder else shape_of(settings, seen, world), encoder, seen)
    subgoals.grow(terms, settings.seed)
    if settings.sure:
        subgoals.keep_margins()
    return subgoals.to(settings.device).eval()  # a state is seen twice in each step, and must look the same: no dropout


def preset(encoder: str) -> RsgSettings:
    """The settings that learn best with an encoder."""
    return RsgSettings(encoder=encoder, **PRESETS.get(encoder, {}))


def _world_of(world: Any) -> WorldOf:
    if isinstance(world, World) or is_continuous(world):
        return lambda _: world
    if not callable(world):
        raise RsgError(f"this is neither a world nor a function that gives one: {check(world)[0]}")
    found: WorldOf = world
    return found


def check_device(name: str) -> None:
    """An error if torch cannot compute there."""
    try:
        torch.zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError, NotImplementedError):
        raise RsgError(f"torch cannot use the device '{name}' here; use cpu, or cuda where there is one") from None


def _copied(start: Classifiers, settings: RsgSettings, encoder: Encoder | None) -> Classifiers:
    """Classifiers with the same weights; they must be what the settings say, or the run could not be loaded again."""
    try:
        copy = build(settings, start.terms, dict(start.shape), encoder)
        copy.load_state_dict(start.state_dict())
        return copy
    except (KeyError, RuntimeError):  # the shape is that of another encoder, or its sizes differ
        raise RsgError(
            "the subgoals to begin with do not fit the settings; encoder, hidden and single must be theirs"
        ) from None


def load_subgoals(folder: str | Path, which: Which = "best", encoder: Encoder | None = None) -> Classifiers:
    """The classifiers of a run; one with an encoder of your own needs that encoder again."""
    run = Run(folder)
    if which not in run.steps and run.about.get("method") == RationalSubgoals.name:
        raise RunError(f"{folder} has no checkpoint yet; train for some steps first")
    settings, subgoals = rebuilt(run, encoder)
    try:
        subgoals.load_state_dict(weights(run.load(which)))
    except RuntimeError:
        raise RunError(
            f"{folder} does not fit the encoder '{settings.encoder}': its weights have other shapes"
        ) from None
    return subgoals.eval()


def rebuilt(run: Run, encoder: Encoder | None = None) -> tuple[RsgSettings, Classifiers]:
    """The settings of a run, and classifiers of its shape, with other weights."""
    about = run.about
    if about.get("method") != RationalSubgoals.name:
        raise RunError(f"{run.folder} is a run of '{about.get('method')}', which learns no subgoals")
    try:
        settings = restored(RsgSettings, about["settings"])
        return settings, build(replace(settings, device="cpu"), about["terms"], about["shape"], encoder)
    except (KeyError, TypeError):
        raise RunError(f"{run.folder} does not say what it learned; train again into another folder") from None


def build(
    settings: RsgSettings, terms: Sequence[str], shape: dict[str, int], encoder: Encoder | None = None, seen: Any = None
) -> Classifiers:
    """Classifiers that have learned nothing yet."""
    if encoder is not None:
        made = _of_ones_own(seeded(encoder, settings.seed), settings, shape, seen)
    elif settings.encoder in ENCODERS:
        made = ENCODERS[settings.encoder][0](settings, shape)
    else:
        raise RsgError(
            f"'{settings.encoder}' is an encoder of your own; give it to rsg.learn or rsg.load_subgoals as `encoder`"
        )
    made.grow(terms, settings.seed).shape = shape
    if settings.sure:
        made.keep_margins()
    return made


def _of_ones_own(module: nn.Module, settings: RsgSettings, shape: dict[str, int], seen: Any) -> Classifiers:
    """Classifiers on top of a module, unless it is some itself."""
    if isinstance(module, Classifiers):
        return module
    shape["features"] = shape.get("features") or _features(module, seen)
    return EncodedClassifiers(module, shape["features"], settings.single)


def _features(module: nn.Module, seen: Any) -> int:
    """How many features a module gives."""
    with torch.no_grad():
        given = module(tensors(seen, "cpu"))
    if not isinstance(given, torch.Tensor) or given.ndim != 2 or len(given) != 1:
        shape = list(getattr(given, "shape", ()))
        raise RsgError(f"an encoder gives features [N, F] for N states, this one gave {shape} for one state")
    return int(given.shape[1])


def shape_of(settings: RsgSettings, seen: Any, world: Any) -> dict[str, int]:
    """What an encoder must know of a world."""
    return ENCODERS[settings.encoder][1](seen, world) if settings.encoder in ENCODERS else _inputs(seen, world)


def _inputs(seen: Any, world: Any) -> dict[str, int]:
    del world
    return {"inputs": int(flat(seen).shape[1])}


def _types(seen: Any, world: Any) -> dict[str, int]:
    if not isinstance(seen, Sets):
        raise RsgError("the encoder 'sets' reads sets of objects, and this world shows none; use --encoder flat")
    return {"types": len(world.rules.things) if hasattr(world, "rules") else TYPES}


def _room(seen: Any, world: Any) -> dict[str, int]:
    if not isinstance(world, PlayroomWorld):
        raise RsgError("the encoder 'relative' sees a robot among things, as in Playroom; use --encoder flat")
    return _inputs(seen, world)


_Shape = dict[str, int]
ENCODERS: dict[str, tuple[Callable[[RsgSettings, _Shape], Classifiers], Callable[[Any, Any], _Shape]]] = {
    "sets": (lambda how, shape: SetClassifiers(how.hidden, shape["types"], how.single), _types),
    "flat": (
        lambda how, shape: EncodedClassifiers(Flat(shape["inputs"], how.hidden, how.seed), how.hidden, how.single),
        _inputs,
    ),
    "image": (lambda how, _: ImageClassifiers(how.hidden, how.single), lambda *_: {}),
    "relative": (
        lambda how, shape: RelativeClassifiers(shape["inputs"], how.hidden, how.single, how.seed),
        _room,
    ),
}
"""By name: what makes the classifiers, and what they must know of a world, given what it shows of a state."""


def untrained(terms: Sequence[str], seed: int = 0, world: Any = None) -> Classifiers:
    """Classifiers as they are before any training: the floor that every figure is compared with.

    world: where they are to be used, if not in a Crafting World.
    """
    if world is None:
        return build(RsgSettings(seed=seed), terms, {"types": TYPES})
    name = "relative" if isinstance(world, PlayroomWorld) else "sets" if isinstance(world, CraftingWorld) else "flat"
    settings = replace(preset(name), seed=seed, sure=0.0)
    state = world.sample(stream(seed, "untrained"), 1)
    return build(settings, terms, shape_of(settings, world.encode(state), world))
