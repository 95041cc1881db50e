"""Classifiers as settings say, before they learned anything, and as a run has them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from rsg.core.arrays import Array
from rsg.core.errors import RsgError, RunError
from rsg.core.random import stream
from rsg.domain import Network, offered
from rsg.subgoals.classifiers import Classifiers, tensors
from rsg.subgoals.encoders import EncodedClassifiers, Encoder, seeded
from rsg.subgoals.learning import RationalSubgoals, RsgSettings
from rsg.subgoals.readings import Reading, Readings
from rsg.subgoals.seeing import PICTURES, SEEN
from rsg.training import Run
from rsg.training.settings import restored
from rsg.worlds.seen import kinds_of, parts_of

UNFIT = "the subgoals to begin with do not fit the settings; encoder, hidden and single must be theirs"


def network_for(world: Any, states: Array) -> str:
    """The network that suits a world: the one that it names, or else what it shows of states `[N, W]` decides."""
    if hasattr(world, "network"):
        return str(world.network)
    kinds = kinds_of(world, parts_of(world.encode(states)))
    return "pictures" if "picture" in kinds.values() else "seen"


def network_named(name: str) -> Network | None:
    """The kind of network of that name, if somebody offers one."""
    return SEEING.get(name) or offered("networks", name)


def preset(encoder: str) -> RsgSettings:
    """The settings that learn best with an encoder."""
    found = network_named(encoder)
    return RsgSettings(encoder=encoder, **(found.preset if found else {}))


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
    settings: RsgSettings, terms: Sequence[str], shape: dict[str, Any], encoder: Encoder | None = None, seen: Any = None
) -> Classifiers:
    """Classifiers that have learned nothing yet."""
    if "readings" in shape:
        return readings_as(settings, shape)
    if encoder is not None:
        made = _of_ones_own(seeded(encoder, settings.seed), settings, shape, seen)
    elif network := network_named(settings.encoder):
        made = network.build(settings, shape)
    else:
        raise RsgError(
            f"'{settings.encoder}' is an encoder of your own; give it to rsg.learn or rsg.load_subgoals as `encoder`"
        )
    made.grow(terms, settings.seed).shape = shape
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


def shape_of(settings: RsgSettings, seen: Any, world: Any) -> dict[str, Any]:
    """What an encoder must know of a world."""
    return (network_named(settings.encoder) or SEEN).shape(seen, world)


SEEING = {"seen": SEEN, "pictures": PICTURES, "flat": SEEN}
"""Networks for every world; `flat` is what older versions had for numbers."""


def untrained(terms: Sequence[str], world: Any, seed: int = 0, state: Array | None = None) -> Classifiers:
    """Classifiers as they are before any training: the floor that every figure is compared with.

    world: where they are to be used; state: one of its states `[W]`, by default a sample.
    """
    state = world.sample(stream(seed, "untrained"), 1)[0] if state is None else state
    settings = replace(preset(network_for(world, state[None])), seed=seed)
    return build(settings, terms, shape_of(settings, world.encode(state[None]), world))


def copied(start: Classifiers, settings: RsgSettings, encoder: Encoder | None) -> Classifiers:
    """Classifiers with the same weights; they must be what the settings say, or the run could not be loaded again."""
    if isinstance(start, Readings):
        raise RsgError(UNFIT)
    try:
        copy = build(settings, start.terms, dict(start.shape), encoder)
        copy.load_state_dict(start.state_dict())
        return copy
    except (KeyError, RuntimeError):  # the shape is that of another encoder, or its sizes differ
        raise RsgError(UNFIT) from None


def readings_as(settings: RsgSettings, shape: dict[str, Any], start: Classifiers | None = None) -> Readings:
    """Readings and their network, as the shape says; start: a network that goes on learning."""
    network, rest = None, shape.get("network")
    if rest:
        own = replace(settings, encoder=rest["encoder"])
        network = copied(start, own, None) if start else build(own, [], rest["shape"])
        network.grow(rest["terms"], settings.seed)
    made = Readings(
        {term: Reading.restored(one) for term, one in shape["readings"].items()}, shape["certainty"], network
    )
    made.shape = shape
    return made
