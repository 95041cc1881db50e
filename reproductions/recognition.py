"""`rsg reproduce recognition`: which task a trajectory did, and where each of its steps ended."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.harness.figures import curves
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results, mean_or_none, plain, share
from reproductions.harness.tables import NONE, Rate, number, page, percent, table
from reproductions.harness.trials import SPLITS, Size, Variant, learned, learning
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.domain import Domain
from rsg.evaluation.planning import Starts
from rsg.language import Machine, Task, machine_of
from rsg.planning import plan
from rsg.search import Auto, SearchSettings
from rsg.subgoals import Classifiers, Recognised, Recogniser, RsgSettings, Subgoals, recognise
from rsg.subgoals.recognition import SPECIFIC, most_steps
from rsg.training.data import least_steps

NAME, RSG = "recognition", "rsg"
NAMES = {"train": "the training descriptions", "novel": "the novel descriptions"}
RANKED = {"right": f"right, {SPECIFIC} for each step that is named", "plain": "right, the plain score"}
PARTS = (0.25, 0.5, 0.75, 1.0)
TOP = 5
BONUS = {"right": SPECIFIC, "plain": 0.0}  # what each step that a description names counts for it
SEGMENTED, PLACES = ("exact", "near"), ("first", "among")  # kinds of right answers
IDEAL_BUDGET = 20_000  # expansions, to find out what the shortest trajectory for a description is

FULL = Size(400, {"segmented": 20, "recognised": 20, "proposed": 10}, seeds=5)  # trajectories of each task
QUICK = Size(20, {"segmented": 2, "recognised": 2, "proposed": 1}, 1.0, {"steps": 60, "curriculum": 20})


def jobs(size: Size) -> list[Job]:
    """For each seed: train, then look at trajectories that were never seen."""
    variant = Variant(RSG, {}, dict(size.counts))
    return [learning(NAME, size, seed, variant, job) for seed in range(size.seeds)]


def job(parameters: Plain, place: Place) -> Plain:
    """All that is measured with one seed."""
    found = learned(parameters, place)
    watcher = Watcher(found.source, found.subgoals, found.starts)
    return {
        "segmentation": {split: watcher.segmented(split, parameters["segmented"]) for split in SPLITS},
        "recognition": {split: watcher.recognised(split, parameters["recognised"]) for split in NAMES},
        "prefixes": {str(part): watcher.begun(part, parameters["proposed"]) for part in PARTS},
        "proposals": watcher.proposed(parameters["proposed"]),
    }


def fresh(source: Domain, starts: Starts, what: str) -> Iterator[tuple[str, Demonstration, Any]]:
    """New demonstrations of the distinct descriptions of a split, with their worlds."""
    texts = source.tasks(starts.split)
    for text in dict.fromkeys(texts):
        for i in range(starts.per_task):
            rng = stream(starts.seed, what, starts.split, text, i)
            demo, _ = source.demonstrate(starts.split, texts.index(text), rng)
            yield text, demo, source.world(demo.setting)


Rank = Callable[[Any, Demonstration, Sequence[Task]], Sequence[Recognised]]
"""Who can say which task a demonstration in a world did, whatever it says itself: tasks, the most likely first."""


def evaluate_recognition(source: Domain, starts: Starts, rank: Rank) -> Plain:
    """How often the task of the best score among those of the split is that of a fresh demonstration, by `BONUS`."""
    tasks = [machine_of(text).task for text in dict.fromkeys(source.tasks(starts.split))]
    right, every = Counter[str](), 0
    for text, demo, world in fresh(source, starts, "recognition"):
        found, own = rank(world, demo, tasks), machine_of(text).task
        every += 1
        for key, bonus in BONUS.items():
            right[key] += str(likeliest(found, bonus)) == str(own)
    return {"candidates": len(tasks), **{key: right[key] for key in BONUS}, "trajectories": every}


def likeliest(found: Iterable[Recognised], bonus: float) -> Task:
    """The task of the best score, where each step that it names at least counts so much besides."""
    return max(found, key=lambda one: one.score + bonus * least_steps(machine_of(one.task))).task


@dataclass(frozen=True)
class Watcher:
    """Looks at fresh demonstrations with what was learned, and compares with the truth.

    Attributes:
        source: where they come from.
        subgoals: what was learned; settings: how.
        seed: of the demonstrations.
        shortest: whether an ideal observer knows the shortest trajectory for each description; in a continuous world
            nobody does.
    """

    source: Domain
    subgoals: Classifiers
    seed: int
    settings: RsgSettings | None = None
    shortest: bool = True

    def demos(self, split: str, per_task: int, what: str) -> Iterator[tuple[str, Demonstration, Any]]:
        """Fresh demonstrations."""
        return fresh(self.source, Starts(split, per_task, self.seed), what)

    def segmented(self, split: str, per_task: int) -> Plain:
        """How many ends of subgoals are exact, or off by one step."""
        exact = near = every = 0
        for text, demo, world in self.demos(split, per_task, "segmentation"):
            recogniser = Recogniser(self.subgoals, [text], self.settings)
            found = recogniser.segment(world, demo, text)
            truth = true_ends(self.source, world, demo)
            every += len(truth)
            exact += len(set(found.ends) & set(truth))
            close = {(term, step + off) for term, step in found.ends for off in (-1, 0, 1)}
            near += len(close & set(truth))
        return {"exact": exact, "near": near, "ends": every}

    def recognised(self, split: str, per_task: int) -> Plain:
        """How often the description that scores best is the right one; and how often an ideal observer's choice is."""
        candidates = list(dict.fromkeys(self.source.tasks(split)))
        recogniser = Recogniser(self.subgoals, candidates, self.settings)
        machines = {text: machine_of(text) for text in candidates}
        right = plain = ideal = every = 0
        times: list[float] = []
        confused, untold = Counter[str](), Counter[str]()
        for text, demo, world in self.demos(split, per_task, "recognition"):
            begun = time.perf_counter()
            found = recogniser.rank(world, demo)
            times.append(1000 * (time.perf_counter() - begun))
            first, own = str(found[0].task), str(machines[text].task)
            every += 1
            right += first == own
            plain += str(likeliest(found, 0)) == own
            if first != own:
                confused[f"{own} → {first}"] += 1
            able = explanations(self.source, world, demo, machines, self.shortest)
            best = max(able, key=lambda one: most_steps(machines[one]), default=None)
            ideal += best == text
            if best is not None and best != text:
                untold[f"{own} → {machines[best].task}"] += 1
        return {
            "candidates": len(candidates),
            "right": right,
            "plain": plain,
            "ideal": ideal,
            "trajectories": every,
            "ms": median(times),
            "confused": dict(confused.most_common(20)),
            "untold": dict(untold.most_common(20)),
        }

    def begun(self, part: float, per_task: int) -> Plain:
        """Recognition from the first part of each trajectory."""
        recogniser = Recogniser(self.subgoals, list(dict.fromkeys(self.source.tasks("train"))))

        def fits(text: str, demo: Demonstration, world: Any) -> list[bool]:
            steps = max(1, round(part * len(demo)))
            ranked = recogniser.rank(world, demo.first(steps), prefix=part < 1)
            return [str(one.task) == str(machine_of(text).task) for one in ranked[:TOP]]

        return _places(fits(*one) for one in self.demos("train", per_task, "beginnings"))

    def proposed(self, per_task: int) -> Plain:
        """How often a proposal, made without candidates, says only what the true description allows."""

        def fits(text: str, demo: Demonstration, world: Any) -> list[bool]:
            try:
                found = recognise(world, demo, None, Subgoals(self.subgoals))
            except RsgError:  # no subgoal comes true in it
                return []
            allowed = _sequences(machine_of(text))
            return [_sequences(Machine.of(one.task)) <= allowed for one in found[:TOP]]

        return _places(fits(*one) for one in self.demos("compositional", per_task, "proposals"))


def _places(every: Iterable[list[bool]]) -> Plain:
    """How often the first of several answers is right, and how often one of them."""
    fits = list(every)
    return {"first": sum(any(one[:1]) for one in fits), "among": sum(map(any, fits)), "trajectories": len(fits)}


def _sequences(machine: Machine) -> set[tuple[str, ...]]:
    return {tuple(map(str, path)) for path in machine.paths()}


def true_ends(source: Domain, world: Any, demo: Demonstration) -> list[tuple[str, int]]:
    """Where each subgoal of a demonstration came true, along the linear instruction that its expert followed."""
    machine = machine_of(demo.task)
    terms = [str(term) for term in machine.terms]
    holds = source.truth(world, demo.states, terms)
    for path in machine.paths():
        ends = _ends_along([holds[:, terms.index(str(term))] for term in path])
        if ends is not None:
            return list(zip(map(str, path), ends, strict=True))
    raise AssertionError(f"this is no demonstration of its own task: {demo.task}")


def _ends_along(columns: Sequence[NDArray[np.bool_]], now: int = 0) -> list[int] | None:
    """When each of several subgoals was done, each false where it begins, as early as the last can still end it all.

    columns: for each subgoal where it holds, `[T + 1]`.
    """
    if not columns:
        return []
    first, *rest = columns
    if first[now]:
        return None
    for end in (np.flatnonzero(first[now + 1 :]) + now + 1).tolist():
        after = _ends_along(rest, end)
        if after is not None and (rest or end == len(first) - 1):
            return [end, *after]
    return None


def explanations(
    source: Domain, world: Any, demo: Demonstration, machines: dict[str, Machine], shortest: bool = True
) -> list[str]:
    """The descriptions that a trajectory may have by the truth: it does them, and none does them in fewer steps.

    If nobody knows the shortest one, then at least no part of this one did it before.
    """
    settings = SearchSettings(Auto("optimal"), budget=IDEAL_BUDGET)

    def may_be(machine: Machine) -> bool:
        terms = [str(term) for term in machine.terms]
        holds = source.truth(world, demo.states, terms)
        if not machine.accepts(holds, terms):
            return False
        if not shortest:
            return not any(machine.accepts(holds[:end], terms) for end in range(1, len(holds)))
        best = plan(world, demo.states[0], machine, source.true_goals, settings)
        return not best.found or len(best.actions) >= len(demo)

    return [text for text, machine in machines.items() if may_be(machine)]


def section(size: Size, results: Results) -> Section:
    """Tables of segmentation, recognition, beginnings and proposals."""
    del size
    every = results.of(RSG)
    ends = {split: _shares([one["segmentation"][split] for one in every], SEGMENTED, "ends") for split in SPLITS}
    ranks = {split: _ranks([one["recognition"][split] for one in every]) for split in NAMES}
    begun = {f"{100 * part:.0f}": _shares([one["prefixes"][str(part)] for one in every], PLACES) for part in PARTS}
    own = _shares([one["proposals"] for one in every], PLACES)
    among = f"among the first {TOP}"
    text = page(
        NAME,
        segmentation=table(["demonstrations", "ends exact", "within one step"], _rows(ends)),
        recognition=table(
            ["candidates", "how many", *RANKED.values(), "ceiling", "median time"],
            [_rank_row(split, row) for split, row in ranks.items()],
        ),
        beginnings=table(
            ["of the trajectory", "right", among], _rows({f"{part} %": row for part, row in begun.items()})
        ),
        proposals=table(["", "first", among], _rows({"proposals": own})),
        untold=_taken(every, "untold"),
        confused=_taken(every, "confused"),
        specific=SPECIFIC,
        among=NAMES["train"],
    )
    seen = [{part: one["prefixes"][str(part)] for part in PARTS} for one in every]
    lines = {
        label: [[(100 * part, 100 * row[what] / row["trajectories"]) for part, row in one.items()] for one in seen]
        for label, what in (("the first", "first"), (among, "among"))
    }
    caption = "Recognition of trajectories that have only begun"
    pictures = {"beginnings": curves(caption, {"recognition": lines}, "% of the trajectory seen", "right, %")}
    summary = plain({"segmentation": ends, "recognition": ranks, "beginnings": begun, "proposals": own})
    return Section("Recognition, Crafting World", text, summary, pictures if every else {})


def _shares(rows: Sequence[Plain], kinds: Iterable[str], of: str = "trajectories") -> dict[str, Rate | None]:
    return {done: share(rows, done, of) for done in kinds}


def _rows(shares: Mapping[str, Mapping[str, Rate | None]]) -> list[list[str]]:
    return [[label, *map(percent, row.values())] for label, row in shares.items()]


def _ranks(rows: Sequence[Plain]) -> Plain:
    """How often the first one is right by each rank and by the ideal observer, of how many, and how long it takes."""
    count = rows[0]["candidates"] if rows else None
    return {"candidates": count, **_shares(rows, (*RANKED, "ideal")), "ms": [row["ms"] for row in rows]}


def _rank_row(split: str, found: Plain) -> list[str]:
    count, ms = found["candidates"], number(mean_or_none(found["ms"]), 2, "ms")
    rates = [percent(found[kind]) for kind in (*RANKED, "ideal")]
    return [NAMES[split], NONE if count is None else str(count), *rates, ms]


def _taken(every: Sequence[Plain], what: str) -> str:
    """Which descriptions are taken for which."""
    total = Counter[str]()
    for one in every:
        for split in one["recognition"].values():
            total.update(split[what])
    return ", ".join(f"`{pair}` ({count})" for pair, count in total.most_common(12)) or "none"


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
