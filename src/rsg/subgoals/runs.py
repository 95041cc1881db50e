"""From demonstrations to subgoals in one call, and from a run on disk back to subgoals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
from rsg.subgoals.points import PointClassifiers
from rsg.subgoals.relative import RelativeClassifiers
from rsg.subgoals.sampled import SampledSubgoals, build_values, classifier_weights
from rsg.subgoals.sets import TYPES, SetClassifiers
from rsg.training import Progress, Run, TrainingData, fit
from rsg.training.checkpoint import Which
from rsg.training.loop import Report, Watch
from rsg.training.settings import restored
from rsg.worlds import World, check
from rsg.worlds.crafting import CraftingWorld, Sets
from rsg.worlds.playroom import PlayroomWorld

ENCODERS = ("sets", "flat", "image", "relative", "point")
_ROOM = {"prompt": 1.0, "depth": 2, "held_out": 64, "check_every": 50}
PRESETS: dict[str, dict[str, Any]] = {
    "image": IMAGE_PRESET,
    "relative": {**_ROOM, "sure": 0.92, "steps": 250, "curriculum": 100, "rate": 0.01, "rate_end": 1e-3, "hidden": 64},
    "point": {**_ROOM, "sure": 0.98, "steps": 300, "curriculum": 150, "rate": 0.05, "rate_end": 5e-3},
}
"""The settings that learn best with an encoder, where they are not the usual ones."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What `learn` gives: the classifiers of the best held-out score, and how training went."""

    subgoals: Classifiers
    progress: Progress


def learn(
    demonstrations: Store | Sequence[Demonstration],
    world: World | WorldOf,
    out: str | Path | None = None,
    settings: RsgSettings | None = None,
    per_task: int | None = None,
    start: Classifiers | None = None,
    encoder: Encoder | None = None,
    watch: Watch | None = None,
    reports: Sequence[Report] = (),
    tensorboard: bool = True,
    source: dict[str, Any] | None = None,
) -> Learned:
    """Learn a classifier for each term in the descriptions of demonstrations.

    Args:
        demonstrations: a store, or a list.
        world: the world that they come from, or a function from a demonstration to its world.
        out: the folder of the run; one with checkpoints is gone on with. None: nothing is kept.
        settings: how to learn.
        per_task: at most so many demonstrations of each description.
        start: classifiers to begin with; terms that they lack are added.
        encoder: makes a module of one's own, in the place of `settings.encoder`.
        watch: called after each step; reports: figures that are only reported.
        tensorboard: whether to write curves.
        source: where the demonstrations come from, kept with the run for people to read.
    """
    settings = settings or RsgSettings()
    if encoder is not None and settings.encoder in ENCODERS:
        settings = replace(settings, encoder=f"{getattr(encoder, '__name__', 'mine')} (your own)")
    check_device(settings.device)
    world_of = _world_of(world)
    data = TrainingData(demonstrations, settings, per_task)
    terms = [str(term) for text in data.descriptions for term in machine_of(text).terms]
    example = data[int(data.learn[0])]
    if settings.scheme == "sampled" and is_continuous(world_of(example)):
        raise RsgError("the scheme 'sampled' is for worlds with finitely many actions; here use actions=sampled")
    seen = world_of(example).encode(example.states[:1])
    if start is not None:
        subgoals = _copied(start, settings, encoder)
    else:
        subgoals = build(settings, terms, {} if encoder else shape_of(settings, seen, world_of(example)), encoder, seen)
    subgoals.grow(terms, settings.seed)
    if settings.sure:
        subgoals.keep_margins()
    subgoals.to(settings.device).eval()  # a state is seen twice in each step, and must look the same: no dropout
    method = _method(subgoals, settings, world_of, data.descriptions, encoder)
    with TemporaryDirectory() as scratch:
        folder = out or Path(scratch) / "run"
        progress = fit(method, data, folder, watch, reports, tensorboard and out is not None, source)
        run = Run(folder)
        if run.has("best"):
            subgoals.load_state_dict(classifier_weights(run.load("best")))
    return Learned(subgoals, progress)


def _method(
    subgoals: Classifiers, settings: RsgSettings, world_of: WorldOf, texts: Sequence[str], encoder: Encoder | None
) -> RationalSubgoals:
    """RSG by the scheme of the settings."""
    if settings.scheme == "exact":
        return RationalSubgoals(subgoals, settings, world_of, texts)
    values = build_values(settings, texts, subgoals.shape, encoder)
    layers = (settings.full_layers, settings.beam_layers, settings.beam)
    return SampledSubgoals(subgoals, settings, world_of, texts, values, layers)


def preset(encoder: str) -> RsgSettings:
    """The settings that learn best with an encoder."""
    return RsgSettings(encoder=encoder, **PRESETS.get(encoder, {}))


def usual_encoder(world: Any) -> str:
    """The encoder that fits a world best, if none is asked for."""
    return "relative" if isinstance(world, PlayroomWorld) else "sets" if isinstance(world, CraftingWorld) else "flat"


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
            "the subgoals to begin with do not fit the settings; encoder, hidden, single and context must be theirs"
        ) from None


def load_subgoals(folder: str | Path, which: Which = "best", encoder: Encoder | None = None) -> Classifiers:
    """The classifiers of a run; one with an encoder of your own needs that encoder again."""
    run = Run(folder)
    if not run.has(which) and run.about.get("method") == RationalSubgoals.name:
        raise RunError(f"{folder} has no checkpoint yet; train for some steps first")
    settings, subgoals = rebuilt(run, encoder)
    try:
        subgoals.load_state_dict(classifier_weights(run.load(which)))
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
    seed, single, doubt = settings.seed, settings.single, settings.doubt
    if encoder is not None:
        module = seeded(encoder, seed)
        features = shape.get("features") or _features(module, seen)
        shape["features"] = features
        made: Classifiers = EncodedClassifiers(module, features, terms, single, seed, doubt)
    elif settings.encoder == "sets":
        made = SetClassifiers(
            terms, single, settings.hidden, shape["types"], seed, settings.compiled, settings.context, doubt
        )
    elif settings.encoder == "flat":
        module = Flat(shape["inputs"], settings.hidden, seed)
        made = EncodedClassifiers(module, settings.hidden, terms, single, seed, doubt)
    elif settings.encoder == "relative":
        made = RelativeClassifiers(terms, shape["inputs"], settings.hidden, single, seed, doubt)
    elif settings.encoder == "point":
        made = PointClassifiers(terms, shape["inputs"], seed)
    elif settings.encoder == "image":
        made = ImageClassifiers(terms, single, settings.hidden, seed, doubt)
    else:
        raise RsgError(
            f"'{settings.encoder}' is an encoder of your own; give it to rsg.learn or rsg.load_subgoals as `encoder`"
        )
    made.shape = shape
    if settings.sure:
        made.keep_margins()
    return made


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
    if settings.encoder == "sets":
        if not isinstance(seen, Sets):
            raise RsgError("the encoder 'sets' reads sets of objects, and this world shows none; use --encoder flat")
        return {"types": len(world.rules.things) if hasattr(world, "rules") else TYPES}
    if settings.encoder in ("relative", "point") and not isinstance(world, PlayroomWorld):
        raise RsgError(
            f"the encoder '{settings.encoder}' sees a robot among things, as in Playroom; use --encoder flat"
        )
    return {} if settings.encoder == "image" else {"inputs": int(flat(seen).shape[1])}


def untrained(terms: Sequence[str], seed: int = 0, world: Any = None) -> Classifiers:
    """Classifiers as they are before any training: the floor that every figure is compared with.

    world: where they are to be used, if not in a Crafting World.
    """
    if world is None:
        return build(RsgSettings(seed=seed), terms, {"types": TYPES})
    settings = replace(preset(usual_encoder(world)), seed=seed, sure=0.0)
    state = world.sample(stream(seed, "untrained"), 1)
    return build(settings, terms, shape_of(settings, world.encode(state), world))
