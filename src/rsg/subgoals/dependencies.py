"""Which subgoals help which (paper, section "RSG Dependency Discovery"): read off the demonstrations.

Two things are counted. As in the paper: first(s̄, o) is the first state of a demonstration in which G_o is true, for the
terms o of its description, and bcount(o1, o2) counts the demonstrations in which o2 came before o1. And beyond it: what
held in the state before o came true, whether it is mentioned or not; what nearly always held is a prerequisite of o.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.errors import RsgError, RunError
from rsg.core.files import replacing
from rsg.core.progress import Advance
from rsg.demos import Demonstration, Store
from rsg.demos.demonstration import by_world
from rsg.language import machine_of
from rsg.planning import Dependencies, Rules
from rsg.search import GoalFn
from rsg.subgoals.learning import WorldOf
from rsg.training import Run
from rsg.training.data import first_of_each

FILE = "dependencies.json"  # in the folder of a run
THRESHOLDS = ("half", "calibrated")  # what the file calls G ≥ 1/2, and the choice of earlier versions
NECESSARY = 0.85  # the share of all occasions on which a prerequisite held
COVERED = 0.9  # the same for alternatives together
MORE_OFTEN = 2.0  # an alternative holds so many times as often as at the start of any demonstration
CHUNK = 1000  # demonstrations that are looked at together


def discover(
    goal_fn: GoalFn,
    terms: Sequence[str],
    demonstrations: Iterable[Demonstration],
    world_of: WorldOf,
    cut: Callable[[NDArray[np.float32]], float] | None = None,
    advance: Advance | None = None,
) -> Dependencies:
    """Count what came before what, and what held when, as the classifiers see it.

    cut: from all log-odds of a subgoal to those from which on it is true, where it is counted what came before what.
    None: from 0 on, G ≥ 1/2, as planners take it and as prerequisites are always asked.
    """
    odds, texts = [], list[str]()
    waiting = iter(demonstrations)
    while chunk := list(islice(waiting, CHUNK)):
        odds += _watched(goal_fn, terms, [(world_of(demo), demo.states) for demo in chunk])
        texts += [demo.task for demo in chunk]
        if advance:
            advance(len(chunk))
    if not odds:
        raise RsgError("there are no demonstrations to discover dependencies in")
    named = {text: [term in machine_of(text).names for term in terms] for text in dict.fromkeys(texts)}
    shown = np.array([named[text] for text in texts], dtype=np.bool_)
    starts = np.cumsum([0, *map(len, odds)])
    return _counted(terms, np.concatenate(odds), starts, shown, cut)


def _watched(goal_fn: GoalFn, terms: Sequence[str], shown: Sequence[tuple[Any, Array]]) -> list[Any]:
    """Log-odds of G in all states `[N, T]` of each of some trajectories, `(world, states)`."""
    rows: list[Any] = [None] * len(shown)
    for world, numbers in by_world((world, number) for number, (world, _) in enumerate(shown)):
        states = np.concatenate([shown[number][1] for number in numbers])
        log_g = np.asarray(goal_fn(world, terms, states[0])(states)[0], dtype=np.float64)
        with np.errstate(divide="ignore"):
            odds = log_g - np.log(-np.expm1(log_g))
        ends = np.cumsum([len(shown[number][1]) for number in numbers])[:-1]
        found = np.clip(odds, -1e30, 1e30).astype(np.float32)
        for number, piece in zip(numbers, np.split(found, ends), strict=True):
            rows[number] = piece
    return rows


def _counted(
    terms: Sequence[str], odds: NDArray[np.float32], starts: Ints, shown: Bools, cut: Callable[..., float] | None
) -> Dependencies:
    """Dependencies from log-odds in all states `[N, T]`, where each demonstration begins, and what it mentions."""
    size = len(terms)
    cuts = np.array([cut(odds[:, k]) for k in range(size)]) if cut else np.zeros(size)
    before, together = count_before(odds >= cuts, starts, shown)
    holds = odds >= 0
    rises = last_rises(holds, starts, shown)
    usual = holds[starts[:-1]].mean(axis=0)
    occasions = [holds[rises[rises[:, k] >= 0, k]] for k in range(size)]
    prerequisites = tuple(prerequisites_of(rows, k, usual) for k, rows in enumerate(occasions))
    rules = Rules.of(prerequisites)
    return Dependencies(
        tuple(terms),
        before,
        together,
        np.array([len(rows) for rows in occasions], dtype=np.int64),
        np.array([rows.sum(axis=0) for rows in occasions], dtype=np.int64).reshape(size, size),
        prerequisites,
        np.exp(-np.logaddexp(0.0, -cuts)),
        np.array([rules.ready(rows, k).sum() for k, rows in enumerate(occasions)], dtype=np.int64),
        len(shown),
    )


def count_before(holds: Bools, starts: Ints, shown: Bools) -> tuple[Ints, Ints]:
    """bcount, and how often two terms were both achieved, `[T, T]` each."""
    never = len(holds)
    state = np.arange(never)[:, None]
    first = np.where(shown, np.minimum.reduceat(np.where(holds, state, never), starts[:-1]), never)  # [D, T]
    achieved = (first < never).astype(np.int64)
    together = achieved.T @ achieved
    np.fill_diagonal(together, 0)
    before = [(achieved[:, [k]] * (first < first[:, [k]])).sum(axis=0) for k in range(first.shape[1])]
    return np.array(before, dtype=np.int64), together


def last_rises(holds: Bools, starts: Ints, shown: Bools) -> Ints:
    """The state before each term of a description came true for the last time, -1 if it never did, `[D, T]`."""
    state = np.arange(len(holds))[:, None]
    rises = holds & ~np.roll(holds, 1, axis=0)
    rises[starts[:-1]] = False  # what held from the beginning never came true
    return np.where(shown, np.maximum.reduceat(np.where(rises, state - 1, -1), starts[:-1]), -1)


def prerequisites_of(occasions: Bools, own: int, usual: Floats) -> tuple[tuple[int, ...], ...]:
    """What nearly always held before a term came true `[N, T]`; else alternatives, one of which nearly always did."""
    others = occasions.copy()
    others[:, own] = False
    if not len(others):
        return ((),)
    necessary = np.flatnonzero(others.mean(axis=0) >= NECESSARY)
    if len(necessary):
        return (tuple(necessary.tolist()),)
    alternatives: list[int] = []
    open_rows = np.ones(len(others), dtype=np.bool_)
    while open_rows.sum() > (1 - COVERED) * len(others) + 1e-9:
        share = others[open_rows].mean(axis=0)
        best = int(np.where(share > MORE_OFTEN * usual, share, 0.0).argmax())
        unusual = share[best] > MORE_OFTEN * usual[best]
        if not unusual or share[best] < 0.5:
            return ((),)
        alternatives.append(best)
        open_rows &= ~others[:, best]
    held = (others[others[:, one]].mean(axis=0) for one in alternatives)
    return tuple(tuple(np.flatnonzero(share >= NECESSARY).tolist()) for share in held)


def keep_dependencies(folder: str | Path, found: Dependencies) -> None:
    """Keep dependencies in the folder of a run, for the next time; one that is read only is left as it is."""
    run = Run(folder)
    content = {"format": "rsg-dependencies", "version": 1, "weights": run.digest("best")}
    with suppress(RsgError), replacing(run.folder / FILE) as part:
        part.write_text(json.dumps({**content, "by_threshold": {THRESHOLDS[0]: found.plain()}}))


def training_demonstrations(run: Run) -> Sequence[Demonstration] | Store:
    """The demonstrations that a run says it was trained on."""
    origin = run.about.get("source", {})
    if "demos" not in origin:
        raise RunError(f"{run.folder} does not say where its demonstrations are; give them")
    if not Path(origin["demos"]).exists():
        raise RunError(f"the demonstrations of {run.folder} are no longer in {origin['demos']}; give them")
    store = Store(origin["demos"])
    if origin.get("per_task") is None:
        return store
    return list(first_of_each(store, lambda demo: demo.task, origin["per_task"]))


def kept_dependencies(folder: str | Path) -> Dependencies | None:
    """The dependencies that are kept in the folder of a run; None if they are still to be discovered."""
    run = Run(folder)
    try:
        content = json.loads((run.folder / FILE).read_text())
        fits = content["format"] == "rsg-dependencies" and content["version"] == 1
        if fits and content["weights"] == run.digest("best"):
            kept = content["by_threshold"]
            return Dependencies.restored(next(kept[name] for name in THRESHOLDS if name in kept))
    except RunError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, StopIteration, RsgError):
        pass  # none, or damaged: found anew
    return None
