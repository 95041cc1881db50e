"""From demonstrations to subgoals in one call, and from a run on disk back to subgoals."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import torch
from torch import nn

from rsg.core.arrays import Array
from rsg.core.errors import RsgError, RunError
from rsg.core.random import stream
from rsg.demos import Demonstration, Store
from rsg.domain import Network, offered
from rsg.language import machine_of
from rsg.search import is_continuous
from rsg.subgoals.classifiers import Classifiers, tensors
from rsg.subgoals.encoders import EncodedClassifiers, Encoder, Flat, flat, seeded
from rsg.subgoals.ground import Ground, ground
from rsg.subgoals.interpretation import enough, interpret, prepared, readings_of
from rsg.subgoals.learning import RationalSubgoals, RsgSettings, WorldOf, blaming
from rsg.subgoals.readings import Reading, Readings
from rsg.training import Progress, Run, TrainingData
from rsg.training.checkpoint import Which
from rsg.training.loop import Looking, fitted, telling_which, weights
from rsg.training.settings import restored
from rsg.worlds import EitherWorld, World, check
from rsg.worlds.facts import fact_names

MET = 1000  # demonstrations whose looks are learned before training: more show nothing new
BY_FACTS = ("auto", "facts")
NO_FACTS = "nothing in the states of this world is discrete, so there are no facts; use another encoder"
UNFIT = "the subgoals to begin with do not fit the settings; encoder, hidden and single must be theirs"


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
    if encoder is not None and network_named(settings.encoder):
        settings = replace(settings, encoder=f"{getattr(encoder, '__name__', 'mine')} (your own)")
    check_device(settings.device)
    world_of = _world_of(world)
    data = TrainingData(demonstrations, settings, beside.get("per_task"))
    start, begun = beside.get("start"), time.process_time()
    subgoals = _had(out) or _read(data, world_of, settings, start) if settings.encoder in BY_FACTS else None
    if subgoals is None:
        settings = _by_network(settings, world_of(data[int(data.learn[0])]))
        subgoals = _first(data, world_of, settings, encoder, start)
    method = beside.get("method", RationalSubgoals)(subgoals, settings, world_of, data.descriptions)
    looking: Any = {**beside, "seconds": time.process_time() - begun}
    return Learned(subgoals, fitted(method, data, out, looking))


def _by_network(settings: RsgSettings, world: EitherWorld) -> RsgSettings:
    """The settings, with a network that suits the world if none was chosen."""
    if settings.encoder == "facts":
        raise RsgError(NO_FACTS)
    return replace(settings, encoder=network_for(world)) if settings.encoder == "auto" else settings


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
        subgoals = build(settings, [], {} if encoder else shape_of(settings, seen, world), encoder, seen)
    for number in data.learn[:: -(-len(data.learn) // MET)].tolist():
        subgoals.meet(world_of(data[number]), data[number].states)
    subgoals.grow(terms, settings.seed)
    return subgoals.to(settings.device).eval()  # a state is seen twice in each step, and must look the same: no dropout


def _had(out: str | Path | None) -> Classifiers | None:
    """What a run that goes on has read already."""
    if out is None or not (Path(out) / "run.json").exists():
        return None
    run = Run(out)
    return rebuilt(run)[1] if "last" in run.steps and "readings" in run.about.get("shape", {}) else None


def _read(
    data: TrainingData, world_of: WorldOf, settings: RsgSettings, start: Classifiers | None
) -> Classifiers | None:
    """Classifiers that are formulas, with a network for what these do not explain; None if the world has no facts.

    Formulas to begin with stay as they are; terms that a network knows stay with it.
    """
    every = np.sort(np.concatenate([data.learn, data.held_out])).tolist()
    example = data[every[0]]
    world = world_of(example)
    if is_continuous(world) or not fact_names(world, example.states):
        return None
    if start is not None and not (isinstance(start, Readings) and (settings.encoder == "auto" or not start.network)):
        raise RsgError(UNFIT)
    had, network = (start.readings, start.network) if isinstance(start, Readings) else ({}, None)

    def ground_of(demo: Demonstration) -> Ground:
        with blaming(demo):
            return ground(world_of(demo), demo.states, demo.actions, settings.depth)

    with telling_which(data):
        numbers = [every[n] for n in enough([data[number].task for number in every])]
        known = {term: one.formula for term, one in had.items()}
        chosen = prepared([data[number] for number in numbers], ground_of, known)
    found = interpret(chosen)
    readings = {**had, **readings_of(chosen, found)}
    unread = list(network.terms if network else ())
    unread += [term for term, one in readings.items() if settings.encoder == "auto" and not one.read]
    shape = {
        "readings": {term: one.plain() for term, one in readings.items() if term not in unread},
        **{"certainty": found.certainty, "alpha": [found.alpha, *found.alpha_range], "doubt": found.doubt},
        "doubted": [numbers[n] for n in np.flatnonzero(found.wrong > 0.5)],
    }
    if unread:
        own = replace(settings, encoder=network_for(world))
        seen = world.encode(example.states[:1])
        terms = list(dict.fromkeys(unread))
        shape["network"] = {"encoder": own.encoder, "terms": terms, "shape": shape_of(own, seen, world)}
    return _readings(settings, shape, network)


def _readings(settings: RsgSettings, shape: dict[str, Any], start: Classifiers | None = None) -> Readings:
    """Readings and their network, as the shape says; start: a network that goes on learning."""
    network, rest = None, shape.get("network")
    if rest:
        own = replace(settings, encoder=rest["encoder"])
        network = _copied(start, own, None) if start else build(own, [], rest["shape"])
        network.grow(rest["terms"], settings.seed)
    made = Readings(
        {term: Reading.restored(one) for term, one in shape["readings"].items()}, shape["certainty"], network
    )
    made.shape = shape
    return made


def network_for(world: Any) -> str:
    """The network that suits a world: the one that it names, or `flat`."""
    return str(getattr(world, "network", "flat"))


def network_named(name: str) -> Network | None:
    """The kind of network of that name, if somebody offers one."""
    return FLAT if name == "flat" else offered("networks", name)


def preset(encoder: str) -> RsgSettings:
    """The settings that learn best with an encoder."""
    found = network_named(encoder)
    return RsgSettings(encoder=encoder, **(found.preset if found else {}))


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
    if isinstance(start, Readings):
        raise RsgError(UNFIT)
    try:
        copy = build(settings, start.terms, dict(start.shape), encoder)
        copy.load_state_dict(start.state_dict())
        return copy
    except (KeyError, RuntimeError):  # the shape is that of another encoder, or its sizes differ
        raise RsgError(UNFIT) from None


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
    settings: RsgSettings, terms: Sequence[str], shape: dict[str, Any], encoder: Encoder | None = None, seen: Any = None
) -> Classifiers:
    """Classifiers that have learned nothing yet."""
    if "readings" in shape:
        return _readings(settings, shape)
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
    return (network_named(settings.encoder) or FLAT).shape(seen, world)


FLAT = Network(
    lambda how, shape: EncodedClassifiers(Flat(shape["inputs"], how.hidden, how.seed), how.hidden, how.single),
    lambda seen, _: {"inputs": int(flat(seen).shape[1])},
)
"""All numbers that a world shows, in one row: a network for every world."""


def untrained(terms: Sequence[str], world: Any, seed: int = 0, state: Array | None = None) -> Classifiers:
    """Classifiers as they are before any training: the floor that every figure is compared with.

    world: where they are to be used; state: one of its states `[W]`, by default a sample.
    """
    state = world.sample(stream(seed, "untrained"), 1)[0] if state is None else state
    settings = replace(preset(network_for(world)), seed=seed)
    return build(settings, terms, shape_of(settings, world.encode(state[None]), world))
