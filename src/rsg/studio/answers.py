"""What the service answers: each kind of request with what does it, given the desk, what was asked, a way to tell."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache, partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import ParseError, RsgError, unknown
from rsg.core.random import stream
from rsg.core.version import __version__
from rsg.demos.demonstration import met
from rsg.domain import Domain, action_values
from rsg.envs.game import KEYS
from rsg.evaluation.timeline import parts
from rsg.language import Machine, machine_of, parse
from rsg.language.drawing import plain_picture
from rsg.planning import Plan, validate
from rsg.planning.goal_only import BUDGET
from rsg.search import SearchSettings
from rsg.studio import demonstrations, inside, training
from rsg.studio.asked import MOST
from rsg.studio.desk import Desk, Walk
from rsg.studio.pool import Tell
from rsg.studio.shelf import Shelf
from rsg.subgoals.segmenting import segmented
from rsg.training import Run
from rsg.worlds import is_continuous

Asked = Mapping[str, Any]
DRAWS = 5  # of starts, until a task can be done from one
RANKED = 20  # descriptions that are told
MEMORY = 1_000_000_000  # bytes that the states of one search may take
AHEAD = 5  # states that a search keeps for each that it expands, in the mean
PICTURES = 6_000_000  # characters, after which no more pictures are sent at once


class Answering:
    """What a process of the studio does."""

    def __init__(self, shelf: Shelf) -> None:
        self.desk = Desk(shelf)

    def do(self, kind: str, asked: Asked, tell: Tell) -> Any:
        """An answer."""
        try:
            return ANSWERS[kind](self.desk, asked, tell)
        except MemoryError:
            raise RsgError("this takes more memory than there is; ask for less") from None
        except RecursionError:
            raise RsgError("what was asked is nested too deeply") from None

    def warm(self) -> None:
        """Make the first jobs quick."""
        self.desk.warm()


def about(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """What there is."""
    del asked, tell
    domain, runs = desk.domain, desk.shelf.all_runs()
    has = domain.parts()
    world = domain.start((), np.random.default_rng(0))[0] if has["starts"] else domain.world(domain.example)
    task, goal = domain.examples
    controls = domain.controls(world) if has["keys"] else None
    keys = {key: what for key, what in KEYS.items() if len(key) == 1 and key.isprintable()}
    demos = desk.shelf.demos
    learned = {name: Run(folder).about for name, folder in runs.items()}
    return {
        "version": __version__,
        "domain": domain.name,
        "title": domain.title,
        "continuous": is_continuous(world),
        "example": {"task": task, "goal": goal},
        "terms": list(domain.vocabulary),
        "moves": {
            "names": list(controls.actions) if controls else [],
            "keys": {**keys, **controls.keys} if controls else {},
            "help": controls.help if controls else "",
        },
        "things": list(domain.things(world)),
        "places": dict(domain.places),
        "splits": {split: domain.tasks(split) for split in domain.splits},
        "runs": [{"name": name, "terms": one["terms"], "kind": one["method"]} for name, one in learned.items()],
        "run": next(iter(runs), None),
        "cut_off": training.cut_off(desk.shelf),
        "expert": has["expert"],
        "demos": {"name": _said(demos), "count": len(desk.store) if (demos / "manifest.json").exists() else 0},
        "positions": domain.has("positions"),
        "limits": MOST,
    }


def _said(folder: Path) -> str:
    """A folder as people name it: by the way from where they are, if it is below."""
    here = Path.cwd()
    return str(folder.relative_to(here) if folder.is_relative_to(here) else folder)


def start(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """A start, where the task can be done as far as its terms are known here."""
    del tell
    domain, place = desk.domain, asked["place"]
    if place is not None and place not in domain.places:
        raise unknown("place", place, domain.places)
    world, state = _started(domain, place, asked["task"], asked["goal"], stream(asked["seed"], "world"))
    none = np.zeros((0, 0)) if is_continuous(world) else np.zeros(0, dtype=np.int64)
    return desk.scene(Walk(world, state[None], none, desk.setting(world, state))) | {"seed": asked["seed"]}


def _started(domain: Domain, place: str | None, task: str | None, goal: bool, rng: np.random.Generator) -> Any:
    """A world and a first state; words that are new here ask for nothing."""
    names = machine_of(task).names if task else []
    known = [name for name in names if name in domain.vocabulary]
    there = domain.at(place) if place else domain
    if goal and known:
        return there.start(known[-1:], rng, goal=True)
    if known and len(known) == len(names):
        there, split, number = domain.at(place, [str(task)]), "custom", 0
        if place is None:  # a task of the domain's own has starts of its own
            own = [(name, domain.tasks(name).index(task)) for name in domain.splits if task in domain.tasks(name)]
            there, (split, number) = (domain, own[0]) if own else (there, (split, number))
        for _ in range(DRAWS):
            with suppress(RsgError):  # a kind of place without room for all of it, or nobody can show it
                shown, _draws = there.demonstrate(split, number, rng)
                return met(there.world(shown.setting), shown), shown.states[0]
        return there.start_of(split, number, rng)
    return there.start(known, rng)


def edit(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """A start with something else in a place."""
    del tell
    walk = desk.walk(asked)
    world, state = desk.domain.put(walk.world, walk.states[-1], asked["thing"], (asked["x"], asked["y"]))
    return desk.scene(Walk(world, state[None], walk.actions[:0] if walk.actions is not None else None, walk.setting))


def walk(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """Where moves lead."""
    del tell
    return desk.scene(desk.walk(asked))


def pictures(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """Pictures of some of the states."""
    there = desk.walk(asked)
    wanted = there.states[asked["first"] : asked["first"] + asked["count"]]
    drawn: list[str | None] = []
    for state in wanted:
        if tell() or sum(len(one or "") for one in drawn) > PICTURES:
            break
        drawn.append(desk.picture(there.world, state, asked["pixels"]))
    return {"first": asked["first"], "steps": there.steps, "pictures": drawn}


def read(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """A text as a task; of a run, over the terms that it learned."""
    del tell
    machine = _machine(desk, asked["run"], asked["text"])
    return {"task": str(machine.task), "terms": list(machine.names), "machine": drawing_of(str(machine.task))}


def _machine(desk: Desk, run: str | None, text: str) -> Machine:
    """The machine of a task; without a run its terms may be new."""
    if run is None:
        return machine_of(_strictly(text, desk))
    terms = desk.subgoals(run).terms
    machine = desk.subgoals(run).read(text)
    for name in machine.names:
        if name not in terms:
            near = get_close_matches(name, terms, n=1)
            raise ParseError(
                f"the run '{run}' never learned '{name}'", text, max(0, text.find(name)), near[0] if near else None
            )
    return machine


def _strictly(text: str, desk: Desk) -> Any:
    """A task, also one in words that are known here."""
    with suppress(ParseError):
        return parse(text)
    return desk.domain.read(text)


def plan(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """What to do."""
    subgoals, there = desk.subgoals(asked["run"]), desk.walk(asked)
    if (asked["task"] is None) == (asked["goal"] is None):
        raise RsgError("say what to do: a task, or a goal alone")
    usual = (SearchSettings().budget if asked["task"] else BUDGET) or BUDGET
    budget = min(asked["budget"] or usual, MEMORY // (AHEAD * there.states[0].nbytes))
    between = lambda count: tell({"expansions": count, "budget": budget})  # noqa: E731
    name = asked["run"] or next(iter(desk.shelf.all_runs()))
    machine = _machine(desk, name, asked["task"] or asked["goal"])
    state = there.states[-1]
    if asked["task"] is not None:
        made = subgoals.plan(there.world, state, machine, SearchSettings(budget=budget), between)
    else:
        made = subgoals.plan_goal(there.world, state, str(machine.task), budget, between)
    return told_plan(made, there.world) | {"right": _right(desk, there.world, made)}


def told_plan(made: Plan, world: Any) -> dict[str, Any]:
    """A plan as plain values."""
    return {
        "found": made.found,
        "task": str(made.task),
        "reason": made.reason,
        "actions": [list(one) if isinstance(one, tuple) else one for one in action_values(world, made.actions)],
        "parts": [part._asdict() for part in made.parts] if made.found else [],
        "nodes": made.nodes.tolist(),
        "cost": float(made.cost) if isfinite(made.cost) else None,
        "expansions": int(made.expansions),
        "seconds": made.seconds,
        "ended": made.ended,
        "reached": list(made.reached),
        "missed": list(made.missed),
        "likely": made.bold,
        "machine": drawing_of(str(made.task)),
    }


@lru_cache(maxsize=1000)
def drawing_of(task: str) -> dict[str, Any]:
    """The machine of a task, to be drawn."""
    return plain_picture(machine_of(task))


def _right(desk: Desk, world: Any, made: Plan) -> bool | None:
    """Whether a plan really does what was asked; None if nobody knows."""
    if not made.found or not desk.domain.has("truth"):
        return None
    with suppress(RsgError):  # a word that the world itself does not know
        return bool(validate(world, made, made.task, partial(desk.domain.truth, world)).ok)
    return None


def recognise(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """What somebody did, or seems to be doing."""
    del tell
    there, subgoals = desk.walk(asked), desk.subgoals(asked["run"])
    if not there.steps:
        return {"ranked": [], "segments": [], "now": None}
    shown, world = there.shown("unknown"), there.world
    ranked = subgoals.recognise(shown, asked["candidates"], asked["prefix"], world)
    found = subgoals.segment(shown, ranked[0].task, asked["prefix"], world)
    told = [{"task": str(one.task), "probability": one.probability} for one in ranked[:RANKED]]
    return {"ranked": told, "segments": [part._asdict() for part in parts(found)], "now": found.now}


def segment(desk: Desk, asked: Asked, tell: Tell) -> dict[str, Any]:
    """Where each subgoal ended, how sure that is, and what the classifiers say in each state."""
    del tell
    there, subgoals = desk.walk(asked), desk.subgoals(asked["run"])
    task = asked["task"] or there.task
    if not task:
        raise RsgError("say what was done: the recording has no description")
    if not there.steps:
        raise RsgError("nothing was done yet")
    machine = _machine(desk, asked["run"] or next(iter(desk.shelf.all_runs())), task)
    line = json.loads(segmented(subgoals, there.shown(str(machine.task)), 0))
    if "problem" in line:
        raise RsgError(f"this cannot be cut: {line['problem']}")
    curves = curves_of(subgoals, there.world, there.states, machine.names)
    told = {key: line[key] for key in ("task", "steps", "segments")}
    return {**told, "second": line.get("second"), "curves": curves}


def curves_of(subgoals: Any, world: Any, states: Array, terms: Sequence[str]) -> dict[str, list[float]]:
    """How sure the classifier of each term is in each state."""
    with np.errstate(over="ignore"):
        odds = subgoals.classifiers.evaluate(world, states, subgoals.classifiers.numbers(terms))[..., 0]
        sure = np.round(1 / (1 + np.exp(-odds)), 4)
    return {term: sure[:, k].tolist() for k, term in enumerate(terms)}


ANSWERS: dict[str, Callable[[Desk, Asked, Tell], Any]] = {
    "about": about,
    "start": start,
    "edit": edit,
    "walk": walk,
    "pictures": pictures,
    "read": read,
    "plan": plan,
    "recognise": recognise,
    "segment": segment,
    "list": demonstrations.listed,
    "named": demonstrations.named,
    "demo": demonstrations.shown,
    "keep": demonstrations.keep,
    "correct": demonstrations.correct,
    "train": training.train,
    "run": inside.about_run,
    "responses": inside.responses,
    "dependencies": inside.dependencies,
}
