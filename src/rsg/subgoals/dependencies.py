"""Which subgoals help which (paper, section "RSG Dependency Discovery"): read off the demonstrations.

Two things are counted. As in the paper: first(s̄, o) is the first state of a demonstration in which G_o is true, for the
terms o of its description, and bcount(o1, o2) counts the demonstrations in which o2 came before o1. And beyond it: what
held in the state before o came true, whether it is mentioned or not; what nearly always held is a prerequisite of o.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rsg.core.compiled import compiled
from rsg.core.errors import RsgError, RunError
from rsg.core.files import replacing
from rsg.core.progress import Advance
from rsg.demos import Demonstration, Store, benchmark
from rsg.language import machine_of
from rsg.planning import Dependencies, Rules
from rsg.search import GoalFn
from rsg.subgoals.encoders import Encoder
from rsg.subgoals.learning import WorldOf, names
from rsg.subgoals.runs import load_subgoals
from rsg.training import Run
from rsg.worlds import World

FILE = "dependencies.json"  # in the folder of a run
THRESHOLDS = ("calibrated", "paper", "half")
NECESSARY = 0.85  # the share of all occasions on which a prerequisite held
COVERED = 0.9  # the same for alternatives together
MORE_OFTEN = 2.0  # an alternative holds so many times as often as at the start of any demonstration
_CHUNK = 1000  # demonstrations that are looked at together

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def discover(
    goal_fn: GoalFn,
    terms: Sequence[str],
    demonstrations: Iterable[Demonstration],
    world_of: WorldOf,
    threshold: str = "calibrated",
    advance: Advance | None = None,
) -> Dependencies:
    """Count what came before what, and what held when, as the classifiers see it.

    Args:
        goal_fn: gives the classifiers.
        terms: the terms that they know.
        demonstrations: those of training; they are gone through once.
        world_of: gives the world of a demonstration.
        threshold: from which G on a subgoal is true where it is counted what came before what; prerequisites are asked
            as planners take them, G ≥ 1/2. `paper`: the geometric mean of the least and the greatest G, which
            calls nearly all true where the least is tiny; `half`: 1/2; `calibrated`: for each term what best tells the
            last state of the demonstrations that end with it from all states before: the demonstrator stopped there
            because it had come true. A term that never comes last gets 1/2.
        advance: called with the number of demonstrations that were looked at.
    """
    if threshold not in THRESHOLDS:
        raise RsgError(f"there is no threshold '{threshold}'; there are: {', '.join(THRESHOLDS)}")
    odds, starts, texts = _watched(goal_fn, terms, demonstrations, world_of, advance)
    mentioned = {text: _mentioned(text, terms) for text in dict.fromkeys(texts)}
    shown = np.array([mentioned[text][0] for text in texts])
    last = np.array([mentioned[text][1] for text in texts])
    cuts = np.array([_cut(odds[:, k], starts, last == k, threshold) for k in range(len(terms))])
    before, together = np.zeros((2, len(terms), len(terms)), dtype=np.int64)
    _count(odds >= cuts, starts, shown, before, together)
    holds = odds >= 0
    rises = _rises(holds, starts, shown)
    usual = holds[starts[:-1]].mean(axis=0)
    occasions = [holds[rises[rises[:, k] >= 0, k]] for k in range(len(terms))]
    prerequisites = tuple(_prerequisites(rows, k, usual) for k, rows in enumerate(occasions))
    rules = Rules.of(prerequisites)
    return Dependencies(
        tuple(terms),
        before,
        together,
        np.array([len(rows) for rows in occasions], dtype=np.int64),
        np.array([rows.sum(axis=0) for rows in occasions], dtype=np.int64).reshape(len(terms), len(terms)),
        prerequisites,
        np.exp(-np.logaddexp(0.0, -cuts)),
        np.array([rules.ready(rows, k).sum() for k, rows in enumerate(occasions)], dtype=np.int64),
        len(texts),
    )


def _watched(
    goal_fn: GoalFn,
    terms: Sequence[str],
    demonstrations: Iterable[Demonstration],
    world_of: WorldOf,
    advance: Advance | None,
) -> tuple[NDArray[np.float32], NDArray[np.int64], list[str]]:
    """Log-odds of G in all states `[N, T]`, where each demonstration begins `[D + 1]`, and their descriptions."""
    pieces, lengths, texts = [], list[int](), list[str]()
    part: list[Demonstration] = []

    def look() -> None:
        by_world: dict[int, tuple[World, list[int]]] = {}  # the world itself too: the id of one that is gone is reused
        for number, demo in enumerate(part):
            world = world_of(demo)
            by_world.setdefault(id(world), (world, []))[1].append(number)
        rows: list[Any] = [None] * len(part)
        for world, numbers in by_world.values():
            states = np.concatenate([part[number].states for number in numbers])
            goals = goal_fn(world, terms, states[0])
            log_g = np.asarray(goals(states)[0], dtype=np.float64)
            ends = np.cumsum([len(part[number].states) for number in numbers])[:-1]
            with np.errstate(divide="ignore"):
                odds = log_g - np.log(-np.expm1(log_g))
            found = np.clip(odds, -1e30, 1e30).astype(np.float32)
            for number, piece in zip(numbers, np.split(found, ends), strict=True):
                rows[number] = piece
        pieces.extend(rows)
        lengths.extend(len(row) for row in rows)
        texts.extend(demo.task for demo in part)
        if advance:
            advance(len(part))
        part.clear()

    for demo in demonstrations:
        part.append(demo)
        if len(part) == _CHUNK:
            look()
    if part:
        look()
    if not pieces:
        raise RsgError("there are no demonstrations to discover dependencies in")
    return np.concatenate(pieces), np.cumsum([0, *lengths]), texts


def _mentioned(text: str, terms: Sequence[str]) -> tuple[Bools, int]:
    """Which terms a description mentions `[T]`, and the one that always comes last, -1 if there is none."""
    machine = machine_of(text)
    own = names(machine)
    end = machine.nodes - 1
    last = {own[machine.term_of[v]] for v in range(1, end) if end in machine.successors(v)}
    mentioned = np.array([term in own for term in terms], dtype=np.bool_)
    return mentioned, terms.index(last.pop()) if len(last) == 1 and last <= set(terms) else -1


def _cut(odds: NDArray[np.float32], starts: NDArray[np.int64], ends_here: Bools, threshold: str) -> float:
    """The log-odds from which on a subgoal is true."""
    if threshold == "paper":
        low, high = (-np.logaddexp(0.0, -float(edge)) for edge in (odds.min(), odds.max()))
        middle = (low + high) / 2
        if low < -1e29:  # the least G is 0, and so is the mean
            return -np.inf
        return float(middle - np.log(-np.expm1(min(middle, -1e-12))))
    if threshold == "half" or not ends_here.any():
        return 0.0
    chosen = np.flatnonzero(ends_here)
    true = np.sort(odds[starts[chosen + 1] - 1].astype(np.float64))
    false = np.sort(np.concatenate([odds[starts[i] : starts[i + 1] - 1] for i in chosen]).astype(np.float64))
    values = np.unique(np.concatenate([true, false]))
    between = (values[:-1] + values[1:]) / 2 if len(values) > 1 else values
    wrong = np.searchsorted(true, between) / len(true) + 1 - np.searchsorted(false, between) / len(false)
    best = np.flatnonzero(wrong <= wrong.min() + 1e-12)
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)  # as good all the way: the middle of the widest gap
    widest = max(runs, key=lambda run: between[run[-1]] - between[run[0]])
    return float((between[widest[0]] + between[widest[-1]]) / 2)


@compiled
def _count(holds: Any, starts: Any, shown: Any, before: Any, together: Any) -> None:
    """bcount, and how often two terms were both achieved, `[T, T]` each."""
    terms = holds.shape[1]
    first = np.empty(terms, dtype=np.int64)
    for d in range(len(shown)):
        for k in range(terms):
            first[k] = -1
            for s in range(starts[d + 1] - 1, starts[d] - 1, -1):
                if shown[d, k] and holds[s, k]:
                    first[k] = s
        for k in range(terms):
            for j in range(terms):
                if first[k] >= 0 and first[j] >= 0 and k != j:
                    together[k, j] += 1
                    before[k, j] += first[j] < first[k]


@compiled
def _rises(holds: Any, starts: Any, shown: Any) -> Any:
    """The state before each term of a description came true for the last time, -1 if it never did, `[D, T]`."""
    rises = np.full(shown.shape, -1, dtype=np.int64)
    for d in range(len(shown)):
        for k in range(holds.shape[1]):
            for s in range(starts[d] + 1, starts[d + 1]):
                if shown[d, k] and holds[s, k] and not holds[s - 1, k]:
                    rises[d, k] = s - 1
    return rises


def _prerequisites(occasions: Bools, own: int, usual: Floats) -> tuple[tuple[int, ...], ...]:
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


def load_dependencies(
    folder: str | Path,
    demonstrations: Store | Sequence[Demonstration] | None = None,
    world_of: WorldOf | None = None,
    threshold: str = "calibrated",
    encoder: Encoder | None = None,
    advance: Advance | None = None,
) -> Dependencies:
    """The dependencies of a run: those that are kept in its folder, or discovered now, and kept there.

    Args:
        folder: of the run.
        demonstrations: to discover them in; by default those that the run was trained on.
        world_of: gives the world of a demonstration; by default that of the run's benchmark.
        threshold, advance: as for `discover`.
        encoder: of one's own, if the run has one.
    """
    run = Run(folder)
    kept = _kept(run)
    if demonstrations is None:
        if threshold in kept:
            return kept[threshold]
        demonstrations = training_demonstrations(run)
    if world_of is None:
        source: Any = benchmark(run.about.get("source", {}).get("world", "crafting"))
        world_of = lambda demo: source.world(demo.setting)  # noqa: E731
    subgoals = load_subgoals(folder, "best", encoder)
    found = discover(subgoals.goals, subgoals.terms, demonstrations, world_of, threshold, advance)
    every = {name: one.plain() for name, one in {**kept, threshold: found}.items()}
    content = {"format": "rsg-dependencies", "version": 1, "weights": run.digest("best"), "by_threshold": every}
    with suppress(RsgError), replacing(run.folder / FILE) as part:  # a run that is read only is read all the same
        part.write_text(json.dumps(content))
    return found


def kept_dependencies(folder: str | Path, threshold: str = "calibrated") -> Dependencies | None:
    """The dependencies that are kept in the folder of a run; None if they are still to be discovered."""
    return _kept(Run(folder)).get(threshold)


def training_demonstrations(run: Run) -> Sequence[Demonstration] | Store:
    """The demonstrations that a run says it was trained on."""
    origin = run.about.get("source", {})
    if "demos" not in origin:
        raise RunError(f"{run.folder} does not say where its demonstrations are; give them")
    if not Path(origin["demos"]).exists():
        raise RunError(f"the demonstrations of {run.folder} are no longer in {origin['demos']}; give them")
    store = Store(origin["demos"])
    return store if origin.get("per_task") is None else _first_of_each(store, origin["per_task"])


def _first_of_each(store: Store, per_task: int) -> list[Demonstration]:
    """At most so many demonstrations of each description."""
    seen: dict[str, int] = {}
    chosen = []
    for demo in store:
        seen[demo.task] = seen.get(demo.task, 0) + 1
        if seen[demo.task] <= per_task:
            chosen.append(demo)
    return chosen


def _kept(run: Run) -> dict[str, Dependencies]:
    """What earlier calls wrote, by threshold, if it still fits the run."""
    try:
        content = json.loads((run.folder / FILE).read_text())
        fits = content["format"] == "rsg-dependencies" and content["version"] == 1
        if fits and content["weights"] == run.digest("best"):
            return {name: Dependencies.restored(one) for name, one in content["by_threshold"].items()}
    except RunError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RsgError):
        pass  # none, or damaged: found anew
    return {}
