"""`rsg reproduce ablations`: one setting changed at a time, with what the paper says about it.

All variants of a seed learn from the same demonstrations and plan from the same starts.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reproductions.harness.figures import Picture, curves
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results, mean_or_none, plain, stem
from reproductions.harness.tables import Rate, mean_of, number, page, percent, table
from reproductions.harness.trials import SPLITS, Size, Variant, learned, learning, recipe_of
from reproductions.paper.context import ContextClassifiers
from rsg.core.pictures import COLORS, PAPER, panels
from rsg.core.random import stream
from rsg.demos import Store
from rsg.domain import Domain, find
from rsg.evaluation.statistics import hundredths
from rsg.language import machine_of
from rsg.subgoals.classifiers import Classifiers
from rsg.training.data import least_steps

NAME, OURS = "ablations", "ours"
CURVE = "curve-"  # begins the names of the jobs that watch what classifiers learn
SOME = 20  # of so many demonstrations, one is looked at for the steps that a subgoal takes
BY_RULE = "weight-0.45"  # λ by the paper's rule
LOOKS = ("20", "60", "100", "200", "400")  # the steps that the page shows
STUCK = 0.8  # a classifier that is right in fewer of the true states, or of the false ones, is called stuck
LONGER: dict[str, Any] = {"steps": 400, "curriculum": 200, "rate": 0.01}  # what G and I apart need
PRINTED: dict[str, Any] = {"kind": "paper"}  # the objective as the paper prints it

AS_PRINTED: dict[str, Any] = {**PRINTED, "curriculum": 0}
CONDITIONS: dict[str, tuple[str, Mapping[str, Any]]] = {  # in which one classifier is compared with two
    "longer": ("400 steps", {}),
    "printed": ("400 steps, none of the three: the paper's objective", PRINTED),
    "printed-no-curriculum": ("400 steps, the paper's objective, no curriculum", AS_PRINTED),
    "printed-slow": ("400 steps, the paper's objective, no curriculum, rate 0.001", {**AS_PRINTED, "rate": 0.001}),
    "printed-sampled": (
        "200 steps, the paper's objective, no curriculum, sampled",
        {**AS_PRINTED, "kind": "paper-sampled", "steps": 200},
    ),
}
FORMS = {"one": "one classifier", "two": "G and I apart"}
ASPECTS = {
    "true": "true states that G calls true",
    "false": "false states that G calls false",
    "not_yet": "true states in which I still says “not yet”",
}


class Row(NamedTuple):
    """A variant: what it is called, and what differs from ours; `swept`: another value of a setting with numbers."""

    label: str
    changes: Mapping[str, Any] = {}
    swept: bool = False


class Question(NamedTuple):
    """A table: its headline, what the paper says, and the variants by name."""

    title: str
    paper: str
    rows: Mapping[str, Row]


def one_or_two() -> dict[str, Row]:
    """One classifier for each term, and G and I apart, in each of the conditions."""
    return {
        f"{form}-{name}": Row(f"{form.replace('two', FORMS['two'])}, {words}", {**LONGER, **changes, "single": single})
        for name, (words, changes) in CONDITIONS.items()
        for form, single in (("one", True), ("two", False))
    }


def swept(setting: str, labels: Mapping[float, str]) -> dict[str, Row]:
    """Other values of a setting."""
    return {f"{setting}-{value:g}": Row(label, {setting: value}, swept=True) for value, label in labels.items()}


QUESTIONS = (
    Question(
        "One classifier per term, or G and I apart",
        "G and I apart give 99.6, one classifier 75, because some classifiers get stuck at local optima.",
        {
            OURS: Row("one, 300 steps (ours)"),
            "two": Row("G and I apart, 300 steps", {"single": False}),
            **one_or_two(),
        },
    ),
    Question(
        "Parts of the objective",
        "The contrastive term and a curriculum belong to the method; their effect is not measured.",
        {
            OURS: Row("ours"),
            "no-one-action": Row("one-action rule off", {"kind": "printed"}),
            "no-contrast": Row("no contrastive term (γ = 0)", {"gamma": 0.0}),
            "no-curriculum": Row("no curriculum", {"curriculum": 0}),
            "no-doubt": Row("no doubt at the start", {"kind": "no-doubt"}),
            "any-things": Row("no preference for few things", {"kind": "any-things"}),
            "neither": Row("neither of these two", {"kind": "neither"}),
        },
    ),
    Question(
        "What the first layer of a classifier sees",
        "Each item and object is concatenated with the global features.",
        {
            OURS: Row("items and objects; overall features at the end (ours)"),
            "context": Row("overall features with each of them as well (the paper's)", {"encoder": "context"}),
        },
    ),
    Question(
        "Cost-to-go: exact, how far around, or sampled",
        "A search of a few full layers and a beam, with a learned value function; no exact graph.",
        {
            OURS: Row("exact, depth 4 (ours)"),
            **swept("depth", {depth: f"exact, depth {depth}" for depth in (1, 2, 6)}),
            "sampled": Row("sampled, 300 steps", {"kind": "sampled"}),
        },
    ),
    Question(
        "Inverse rationality α",
        "“Our model is not sensitive to α”: 0.1 < α < 10 perform alike.",
        {
            **swept("alpha", {0.1: "α = 0.1", 0.3: "α = 0.3"}),
            OURS: Row("α = 1 (ours and the paper's)"),
            **swept("alpha", {3.0: "α = 3", 10.0: "α = 10"}),
        },
    ),
    Question(
        "λ, the weight of a transition, to the action cost of 0.1",
        "“A bit sensitive” to the ratio; steps per subgoal × action cost is a good λ.",
        {
            **swept("weight", {0.1: "λ = 0.1, ratio 1", 0.3: "λ = 0.3, ratio 3"}),
            **swept("weight", {0.45: "λ = 0.45, ratio 4.5: the paper's rule with the steps per subgoal here"}),
            OURS: Row("λ = 1, ratio 10 (ours and the paper's)"),
            **swept("weight", {3.0: "λ = 3, ratio 30", 10.0: "λ = 10, ratio 100"}),
        },
    ),
    Question(
        "The contrastive term: weight γ and sharpness β",
        "0.01 < γ < 0.1 and 0.1 < β < 1 all work well.",
        {
            "no-contrast": Row("γ = 0", {"gamma": 0.0}),
            **swept("gamma", {0.01: "γ = 0.01", 0.03: "γ = 0.03"}),
            OURS: Row("γ = 0.1, β = 1 (ours and the paper's)"),
            **swept("gamma", {1.0: "γ = 1"}),
            **swept("beta", {0.1: "β = 0.1", 0.3: "β = 0.3", 10.0: "β = 10"}),
        },
    ),
    Question(
        "Alignments: the best, all, or by chance",
        "The best alignment is used; whether the stochastic formulation is better is “unclear”.",
        {
            OURS: Row("the best one (ours and the paper's)"),
            "alignment-expectation": Row("expectation, nodes are left with probability G", {"kind": "expectation"}),
        },
    ),
    Question(
        "Where the other tasks of the contrastive term come from",
        "Sampled from the task language.",
        {
            OURS: Row("descriptions of other demonstrations (ours)"),
            "language": Row("the task language (the paper's)", {"kind": "language"}),
        },
    ),
)
VARIANTS = {name: row for question in QUESTIONS for name, row in question.rows.items()}

FULL = Size(400, {"compositional": 20, "novel": 50, "judged": 5, "sweeps": True}, 0.5, seeds=5)
QUICK = Size(
    20, {"compositional": 1, "novel": 1, "judged": 1, "sweeps": False}, 0.3, {"steps": 40, "curriculum": 15}
)  # without other values of settings that are numbers


def jobs(size: Size) -> Iterator[Job]:
    """Each variant, for each seed."""
    for seed in range(size.seeds):
        looks = {"judged": size["judged"]}
        asked = {**looks, "evaluations": size.evaluations(seed)}
        for name, row in VARIANTS.items():
            if size["sweeps"] or not row.swept:
                yield learning(NAME, size, seed, Variant(name, row.changes, asked), run)
        for form in FORMS:
            variant = Variant(f"{CURVE}{form}", VARIANTS[f"{form}-longer"].changes, looks)
            yield learning(NAME, size, seed, variant, watch)


def run(parameters: Plain, place: Place) -> Plain:
    """Train, compare each classifier with the truth, then plan."""
    own = ContextClassifiers if parameters["settings"]["encoder"] == "context" else None
    found = learned(parameters, place, encoder=own)
    terms = judged(found.source, found.subgoals, found.store, parameters["judged"], found.settings.seed)
    told = {"training": found.training, "evaluations": found.plans(parameters), "terms": terms}
    return {**told, "steps_per_subgoal": steps_per_subgoal(found.store)}


def steps_per_subgoal(store: Store) -> float:
    """How many actions a subgoal takes in some demonstrations of each task, in the mean."""
    some = [store[place] for place in range(0, len(store), SOME)]
    return sum(map(len, some)) / sum(least_steps(machine_of(demo.task)) for demo in some)


def watch(parameters: Plain, place: Place) -> Plain:
    """Train, comparing the classifiers with the truth on the way."""
    source, store = find("crafting"), place.store(recipe_of(parameters))

    def report(step: int, method: Any) -> Plain:
        del step
        found = judged(source, method.module, store, parameters["judged"], parameters["settings"]["seed"]).values()
        return {key: float(np.mean([share[key] for share in found])) for key in ASPECTS}

    training = learned(parameters, place, reports=[report]).training
    return {"curve": [{key: row[key] for key in ("step", *ASPECTS)} for row in training["history"]]}


def judged(source: Domain, subgoals: Classifiers, store: Store, per_task: int, seed: int) -> Plain:
    """For each term the share of true states that G calls true, and of false ones that it calls false.

    Measured on the states of some demonstrations of each training task. `not_yet` is the share of true states in
    which I still says "not yet".
    """
    names = list(source.vocabulary)
    chosen = stream(seed, "judged").permutation(len(store))[: per_task * len(source.tasks("train"))]
    right, count, not_yet = np.zeros((2, len(names))), np.zeros((2, len(names))), np.zeros(len(names))
    for chosen_one in sorted(chosen.tolist()):
        demo = store[chosen_one]
        world = source.world(demo.setting)
        truth = source.truth(world, demo.states, names)
        odds = subgoals.evaluate(world, demo.states, subgoals.numbers(names))
        called = odds[..., 0] >= 0
        not_yet += (truth & (odds[..., 1] > 0)).sum(axis=0)
        for kind in (0, 1):
            count[kind] += (truth == kind).sum(axis=0)
            right[kind] += ((truth == kind) & (called == kind)).sum(axis=0)
    share = np.where(count > 0, right / np.maximum(count, 1), 1.0)
    still = not_yet / np.maximum(count[1], 1)
    return {name: {"true": share[1, i], "false": share[0, i], "not_yet": still[i]} for i, name in enumerate(names)}


def section(size: Size, results: Results) -> Section:
    """A table for each question."""
    del size
    found = list(dict.fromkeys(stem(job) for job in results if not job.startswith(CURVE)))
    tables = []
    for question in QUESTIONS:
        rows = [_row(row.label, results, name) for name, row in question.rows.items() if name in found]
        if rows:
            tables.append((question, table(["", *SPLITS, "worst seed", "stuck", "training"], rows)))
    summary: Plain = {
        name: {
            "success": plain(results.rates(name)),
            "stuck": _stuck(results, name),
            "cpu_seconds": results.training(name, "cpu_seconds"),
        }
        for name in found
    }
    pictures, looks = {}, ""
    if found:
        pictures["success"] = Picture("Success of each variant: mean, interval and seeds", partial(_draw, results))
    seen = {FORMS[form]: [one["curve"] for one in results.of(f"{CURVE}{form}")] for form in FORMS}
    if any(seen.values()):
        summary["curves"] = {form: _means(several) for form, several in seen.items() if several}
        rows = [
            [f"{form}, {step} steps", *map(hundredths, means[step].values())]
            for form, means in summary["curves"].items()
            for step in LOOKS
            if step in means
        ]
        looks = table(["", *ASPECTS.values()], rows)
        lines = {
            label: {
                form: [[(row["step"], 100 * row[key]) for row in one] for one in several]
                for form, several in seen.items()
            }
            for key, label in ASPECTS.items()
        }
        caption = "What the classifiers get right, a line to each seed"
        pictures["curves"] = curves(caption, lines, "gradient steps", "share of states in %")
    steps = [one["steps_per_subgoal"] for one in results.of(BY_RULE) if "steps_per_subgoal" in one]
    summary |= {"steps_per_subgoal": steps} if steps else {}
    text = page(NAME, stuck=f"{100 * STUCK:.0f}", tables=tables, looks=looks, steps=number(mean_or_none(steps), 2))
    return Section("Ablations", text, summary, pictures)


def _means(several: Sequence[Sequence[Plain]]) -> dict[str, dict[str, float]]:
    """For each look, the mean over seeds of each aspect."""
    by_step: dict[str, list[Plain]] = {}
    for row in (row for one in several for row in one):
        by_step.setdefault(str(row["step"]), []).append(row)
    return {step: {key: mean_of([row[key] for row in rows]).mean for key in ASPECTS} for step, rows in by_step.items()}


def _stuck(results: Results, name: str) -> list[int]:
    """How many classifiers are, a seed to each."""
    return [
        sum(min(share["true"], share["false"]) < STUCK for share in one["terms"].values()) for one in results.of(name)
    ]


def _row(label: str, results: Results, name: str) -> list[str]:
    rates = results.rates(name)
    worst = " / ".join(hundredths(one.over_seeds.least) for one in rates.values() if one)
    seconds = mean_of(results.training(name, "cpu_seconds")).mean
    stuck = number(mean_of(_stuck(results, name)), 1)
    return [label, *map(percent, rates.values()), worst, stuck, f"{seconds:.0f} s"]


def _draw(results: Results, path: Path) -> None:
    """A line to each variant, from top to bottom as in the tables, a panel to each split."""
    lines: list[tuple[int, str, str]] = []
    for group, question in enumerate(QUESTIONS):
        lines += [(group, name, row.label) for name, row in question.rows.items() if results.of(name)]
    with panels(path, SPLITS, width=4.6, height=0.19 * len(lines) + 1.0) as axes:
        for one, split in zip(axes, SPLITS, strict=True):
            for place, (group, name, _) in enumerate(lines):
                success = results.rate(name, split)
                if success is not None:
                    _dot(one, place, success, COLORS[group % len(COLORS)])
            one.set_ylim(len(lines) - 0.5, -0.5)
            one.set_xlim(-2, 102)
            one.set_xlabel("success in %")
            one.grid(axis="y", visible=False)
            one.set_yticks(range(len(lines)), [label for *_, label in lines] if one is axes[0] else [""] * len(lines))
            one.tick_params(axis="y", labelsize=7)


def _dot(axes: Any, place: int, success: Rate, color: str) -> None:
    mean = success.over_seeds
    each = [100 * one for one in success.seeds]
    axes.plot(each, [place] * len(each), ".", color=PAPER, markersize=3, alpha=0.6)
    if mean.low is not None and mean.high is not None:
        axes.plot([100 * max(0.0, mean.low), 100 * min(1.0, mean.high)], [place] * 2, color=color, linewidth=1.4)
    axes.plot([100 * mean.mean], [place], "o", color=color, markersize=5)


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
