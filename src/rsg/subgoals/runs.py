"""From demonstrations to subgoals in one call, and from a run on disk back to subgoals."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Unpack

import numpy as np
import torch
from torch import nn

from rsg.core.errors import RsgError, RunError, unknown
from rsg.core.progress import say
from rsg.core.random import stream
from rsg.core.settings import in_file, named
from rsg.demos import Demonstration, Store
from rsg.demos.finding import with_actions
from rsg.demos.importing import opened
from rsg.domain import Domain, find
from rsg.language import machine_of, parse
from rsg.language.words import Words
from rsg.search import is_continuous
from rsg.subgoals.building import (
    UNFIT,
    build,
    copied,
    network_for,
    network_named,
    preset,
    readings_as,
    rebuilt,
    shape_of,
)
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.dependencies import training_demonstrations
from rsg.subgoals.encoders import Encoder
from rsg.subgoals.ground import Ground, ground
from rsg.subgoals.interpretation import interpret, readings_of
from rsg.subgoals.learning import RationalSubgoals, RsgSettings, WorldOf, blaming
from rsg.subgoals.readings import Readings
from rsg.subgoals.recognition import Recogniser
from rsg.subgoals.seeing import told_of as seen_in
from rsg.subgoals.settings import BY_FACTS as BY_FACTS
from rsg.subgoals.shown import enough, prepared
from rsg.subgoals.subgoals import Source, Subgoals
from rsg.training import Progress, Run, TrainingData
from rsg.training.checkpoint import Which
from rsg.training.data import first_of_each
from rsg.training.loop import Looking, about_of, fitted, telling_which, weights
from rsg.training.origin import RECORDED, OfRecordings, home, origin
from rsg.worlds import ContinuousWorld, EitherWorld, Recorded, World, check, require
from rsg.worlds.facts import fact_names

MET = 1000  # demonstrations whose looks are learned before training: more show nothing new
NO_FACTS = "nothing in the states of this world is discrete, so there are no facts; use another encoder"
Where = EitherWorld | Domain | WorldOf | str
"""A world, a domain or its name, or a function from a demonstration to its world."""
Asked = RsgSettings | Mapping[str, object] | str | Path | None
"""All settings; or those that are named, in a mapping or a TOML file: the others follow from the world."""


class Beside(Looking, total=False):
    """What `learn` takes besides; what `Looking` says is for `rsg.training.fit`.

    Attributes:
        per_task: at most so many demonstrations of each description.
        start: subgoals to begin with; terms that they lack are added.
        encoder: makes a module of one's own, in the place of `settings.encoder`.
        method: the kind of `RationalSubgoals` to train.
        words: all terms, if descriptions are said in words; see `rsg.parse`.

    >>> Beside(per_task=5)
    {'per_task': 5}
    """

    per_task: int | None
    start: Subgoals | None
    encoder: Encoder | None
    method: type[RationalSubgoals]
    words: Words | None


def learn(
    demonstrations: Store | Iterable[Demonstration] | str | Path,
    world: Where,
    out: str | Path | None = None,
    settings: Asked = None,
    **beside: Unpack[Beside],
) -> Subgoals:
    """Learn what each term in the descriptions of demonstrations means.

    Args:
        demonstrations: a list, a store, or the folder, file or `minari:ID` that holds them.
        world: the world that they come from, a domain or its name, or a function from a demonstration to its world.
        out: the folder of the run; one with checkpoints is gone on with. None: nothing is kept.
        settings: how to learn. What is not named follows from what the world shows, and is said.
        beside: see `Beside`.

    >>> import rsg
    >>> from rsg.worlds.corridor import Corridor
    >>> shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    >>> subgoals = learn(shown, Corridor())
    >>> [told.means for told in subgoals.tell()]
    ['light-lamp holds where state[1]=1', 'read-book holds where state[2]=1']
    """
    _check_words(out, beside)
    shown = opened(demonstrations)
    if words := beside.get("words"):
        shown = [replace(demo, task=str(parse(demo.task, words=words))) for demo in shown]
    if isinstance(world, Recorded):
        world = OfRecordings(world, shown.manifest.world if isinstance(shown, Store) else RECORDED)
    world_of = world_function(world)
    if shown[0].actions is None or not isinstance(shown, Store):  # actions that are missing are found
        shown = [with_actions(world_of(demo), demo) for demo in shown]
    _meet(shown, world_of)
    encoder, start = beside.get("encoder"), beside.get("start")
    there = _checked(world_of(shown[0]), shown[0])
    settings = _settled(settings, there, shown[0], encoder)
    acts, begun = not isinstance(there, Recorded), time.process_time()
    data = TrainingData(shown, settings, beside.get("per_task"), acts)
    if start is not None and not isinstance(start, Subgoals):
        raise RsgError(f"start= takes subgoals, as rsg.learn and rsg.load give them, not a {type(start).__name__}")
    if isinstance(world, Domain | str):
        _say_misspelt(find(world) if isinstance(world, str) else world, data)
    had = start.classifiers if start else None
    if settings.encoder in BY_FACTS:
        classifiers = _had(out) or _read(data, world_of, settings, had)
    else:
        classifiers = _first(data, world_of, settings, encoder, had)
    method = beside.get("method", RationalSubgoals)(classifiers, settings, world_of, data.descriptions)
    source = {**_origin(world, shown, beside.get("per_task")), **(beside.get("source") or {})}
    looking: Looking = {**beside, "source": source, "seconds": time.process_time() - begun}  # type: ignore[typeddict-unknown-key]
    progress = fitted(method, data, out, looking)
    if isinstance(there, Recorded):
        _say_how_sure(method, data, there)
    per_task = beside.get("per_task")
    return Subgoals(
        classifiers,
        settings,
        progress,
        Source(
            {**about_of(method, data), "source": source},
            None if out is None else Path(out),
            world_of,
            lambda: shown if per_task is None else first_of_each(shown, lambda demo: demo.task, per_task),
        ),
    )


def _check_words(out: object, beside: Mapping[str, object]) -> None:
    """An error for what `learn` does not take, and where it belongs if that is known."""
    if not isinstance(out, str | Path | None):
        raise RsgError(f"out is the folder of the run, not {out!r}; how to learn is told by settings=...")
    for name in beside.keys() - Beside.__annotations__:
        if name in RsgSettings.__dataclass_fields__:
            raise RsgError(f"'{name}' is a setting: settings={{'{name}': ...}}")
        raise unknown("argument of learn", name, Beside.__annotations__)


def _meet(shown: Iterable[Demonstration], world_of: WorldOf) -> None:
    """A wrapped environment finds the states of demonstrations again, which it may never have been in."""
    for number, demo in enumerate(shown):
        world = world_of(demo)
        if not hasattr(world, "meet"):
            return
        try:
            world.meet(demo)
        except RsgError as error:
            raise RsgError(f"episode {number} does not fit its world: {error}") from None


def _say_misspelt(domain: Domain, data: TrainingData) -> None:
    """Tell of words that are nearly terms of the domain: they may be new, and are learned, or misspelt."""
    words = dict.fromkeys(name for text in data.descriptions for name in machine_of(text).names)
    for word in words if domain.vocabulary else ():
        if word not in domain.vocabulary and (near := get_close_matches(word, domain.vocabulary, n=1)):
            say(f"'{word}' is no term of {domain.name}; did you mean {near[0]}? It is learned as a word of its own")


def _say_how_sure(method: RationalSubgoals, data: TrainingData, world: Recorded) -> None:
    """What a world without a model takes for granted, and how well it explains recordings that were held out."""
    say(world.assumes)
    shown = [demo for batch in data.held_out_batches() for demo in batch]
    rng, right = stream(method.settings.seed, "how-sure"), list[bool]()
    for demo in shown if len(data.descriptions) > 1 else ():
        own, *others = (machine.task for machine in method.candidates(demo, rng))
        ranked = Recogniser(method.module, [own, *others], method.settings).rank(world, demo)
        right.append(ranked[0].task == own)
    if right:
        of_what = "the recordings that were held out" if len(data.held_out) else "the recordings"
        say(f"Of {of_what} ({len(shown):,}), {np.mean(right):.0%} are explained best by their own description")


def load(
    folder: str | Path, world: Where | None = None, encoder: Encoder | None = None, which: Which = "best"
) -> Subgoals:
    """The subgoals of a run.

    Args:
        folder: of the run.
        world: where they are used, as for `learn`; by default the domain that the run was trained in, if it is
            installed. Planning needs none; `recognise`, `segment` and `discover` do.
        encoder: of one's own, if the run has one.
        which: the checkpoint.

    >>> import rsg
    >>> from rsg.worlds.corridor import Corridor
    >>> shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     learn(shown, Corridor()).save(f"{folder}/run")
    ...     load(f"{folder}/run").terms
    ('light-lamp', 'read-book')
    """
    if not isinstance(folder, str | Path):
        raise RsgError(f"a run is a folder, not {folder!r}")
    run = Run(folder)
    if which not in run.steps and run.about.get("method") == RationalSubgoals.name:
        raise RunError(f"{folder} has no checkpoint yet; train for some steps first")
    settings, classifiers = rebuilt(run, encoder)
    saved = run.load(which)
    try:
        classifiers.load_state_dict(weights(saved))
    except RuntimeError:
        raise RunError(
            f"{folder} does not fit the encoder '{settings.encoder}': its weights have other shapes"
        ) from None
    world_of = None if world is None else world_function(world)
    if world is None:
        with suppress(RsgError):  # it is of a world that is not installed
            world_of = world_function(home(run))
    source = Source(run.about, run.folder, world_of, lambda: training_demonstrations(run))
    return Subgoals(classifiers.eval(), settings, Progress(**saved.notes), source)


def world_function(world: Where) -> WorldOf:
    """From a demonstration to its world."""
    if isinstance(world, str):
        world = find(world)
    if isinstance(world, type):
        raise RsgError(f"a world is wanted, not a class: make one, {world.__name__}(...)")
    if isinstance(world, Domain):
        domain = world
        return lambda demo: domain.world(demo.setting)
    if isinstance(world, World | ContinuousWorld):
        there = world
        return lambda _: there
    if not callable(world):
        raise RsgError(f"this is neither a world nor a function that gives one: {check(world)[0]}")
    return world


def _checked(world: EitherWorld, example: Demonstration) -> EitherWorld:
    """A world that goes together with a demonstration, or an error that says what it lacks."""
    if not isinstance(world, World | ContinuousWorld):
        raise RsgError(f"what was given as a world is none: {check(world)[0]}")
    require(world, example.states)
    return world


def _origin(world: Where, shown: Store | Sequence[Demonstration], per_task: int | None) -> dict[str, object]:
    """What a run remembers of where it was trained, so that it can be found again."""
    domain = find(world) if isinstance(world, str) else world
    told = origin(domain, shown) if isinstance(domain, Domain) else {}
    return {**told, "per_task": per_task} if "demos" in told else told


def _settled(asked: Asked, world: EitherWorld, example: Demonstration, encoder: Encoder | None) -> RsgSettings:
    """The settings that were asked for; the encoder, and what suits it, follow from the world unless they are named."""
    if isinstance(asked, RsgSettings):
        settings, some = asked, {}
    elif asked is not None and not isinstance(asked, Mapping | str | Path | type):
        raise RsgError(f"settings are RsgSettings(...), a mapping of names to values, or a TOML file, not {asked!r}")
    elif isinstance(asked, type):
        raise RsgError(f"settings are wanted, not a class: make some, {asked.__name__}(...)")
    else:
        some = in_file(RsgSettings, asked) if isinstance(asked, str | Path) else named(RsgSettings, asked or {})
        settings = replace(preset(str(some.get("encoder", "auto"))), **some)
    if isinstance(encoder, nn.Module):
        raise RsgError(f"encoder= takes what makes a module, such as the class {type(encoder).__name__}, not a module")
    if encoder is not None and (settings.encoder in BY_FACTS or network_named(settings.encoder)):
        settings = replace(settings, encoder=f"{getattr(encoder, '__name__', 'mine')} (your own)")
    if settings.encoder in BY_FACTS and (is_continuous(world) or not fact_names(world, example.states)):
        if settings.encoder == "facts":
            raise RsgError(NO_FACTS)
        chosen = preset(network_for(world, example.states))
        settings = replace(settings, encoder=chosen.encoder) if asked is settings else replace(chosen, **some)
    check_device(settings.device)
    if asked is not settings and encoder is None and "encoder" not in some:
        say(_said(settings, world, example))
    return settings


def _said(settings: RsgSettings, world: EitherWorld, example: Demonstration) -> str:
    """How terms will be learned, in a sentence."""
    seen = world.encode(example.states)
    if settings.encoder in BY_FACTS:
        shown = "" if hasattr(world, "facts") else f", which shows {seen_in(shape_of(settings, seen, world))}"
        return (
            f"each term is read as a formula over facts of this world{shown}; a network learns what no formula explains"
        )
    shape = shape_of(settings, seen, world)
    sees = f", and sees {seen_in(shape)}" if "parts" in shape else ""
    return f"this world has no facts to name: the network '{settings.encoder}' learns what each term means{sees}"


def _first(
    data: TrainingData, world_of: WorldOf, settings: RsgSettings, encoder: Encoder | None, start: Classifiers | None
) -> Classifiers:
    """What training begins with: classifiers of all terms of the data, new ones or others that go on learning."""
    terms = [name for text in data.descriptions for name in machine_of(text).names]
    if start is not None:
        subgoals = copied(start, settings, encoder)
    else:
        example = data[int(data.learn[0])]
        world = world_of(example)
        shape = {} if encoder else shape_of(settings, world.encode(example.states), world)
        subgoals = build(settings, [], shape, encoder, world.encode(example.states[:1]))
    _met(subgoals, data, world_of)
    subgoals.grow(terms, settings.seed)
    return subgoals.to(settings.device).eval()  # a state is seen twice in each step, and must look the same: no dropout


def _met(subgoals: Classifiers, data: TrainingData, world_of: WorldOf) -> Classifiers:
    """Classifiers that know what the demonstrations look like."""
    for number in data.learn[:: -(-len(data.learn) // MET)].tolist():
        subgoals.meet(world_of(data[number]), data[number].states)
    return subgoals


def _had(out: str | Path | None) -> Classifiers | None:
    """What a run that goes on has read already."""
    if out is None or not (Path(out) / "run.json").exists():
        return None
    run = Run(out)
    return rebuilt(run)[1] if "last" in run.steps and "readings" in run.about.get("shape", {}) else None


def _read(data: TrainingData, world_of: WorldOf, settings: RsgSettings, start: Classifiers | None) -> Readings:
    """Classifiers that are formulas, with a network for what these do not explain.

    Formulas to begin with stay as they are; terms that a network knows stay with it.
    """
    every = np.sort(np.concatenate([data.learn, data.held_out])).tolist()
    example = data[every[0]]
    world = world_of(example)
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
        own = replace(settings, encoder=network_for(world, example.states))
        first = network.shape if network else shape_of(own, world.encode(example.states), world)
        known = _met(build(own, network.terms if network else (), dict(first)), data, world_of).shape
        shape["network"] = {"encoder": own.encoder, "terms": list(dict.fromkeys(unread)), "shape": known}
    return readings_as(settings, shape, network)


def check_device(name: str) -> None:
    """An error if torch cannot compute there."""
    try:
        torch.zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError, NotImplementedError):
        raise RsgError(f"torch cannot use the device '{name}' here; use cpu, or cuda where there is one") from None
