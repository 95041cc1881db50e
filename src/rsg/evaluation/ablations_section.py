"""What `rsg reproduce ablations` says: a table for each question, with the paper's words on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rsg.evaluation.figures import COLORS, PAPER, Line, draw_lines, panels
from rsg.evaluation.jobs import Plain
from rsg.evaluation.reproduce import Extent, Picture, Results, Section
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.tables import Rate, hundredths, number, percent, table
from rsg.evaluation.trials import rate

NAME = "ablations"
OURS = "ours"
CURVE = "curve-"  # begins the names of the jobs that watch what classifiers learn
SPLITS = ("compositional", "novel")
STUCK = 0.8  # a classifier that is right in fewer of the true states, or of the false ones, is called stuck


@dataclass(frozen=True)
class Question:
    """A table.

    Attributes:
        title: its headline.
        paper: what the paper says.
        rows: for each variant, by name, what it is.
    """

    title: str
    paper: str
    rows: Mapping[str, str]


QUESTIONS = (
    Question(
        "One classifier per term, or G and I apart",
        "G and I apart give 99.6, one classifier 75, because some classifiers get stuck at local optima.",
        {
            OURS: "one, 200 steps (ours)",
            "two": "G and I apart, 200 steps",
            "one-longer": "one, 400 steps",
            "two-longer": "G and I apart, 400 steps",
            "one-printed": "one, 400 steps, none of the three: the paper's objective",
            "two-printed": "G and I apart, 400 steps, none of the three: the paper's objective",
            "one-printed-no-curriculum": "one, 400 steps, the paper's objective, no curriculum",
            "two-printed-no-curriculum": "G and I apart, 400 steps, the paper's objective, no curriculum",
            "one-printed-slow": "one, 400 steps, the paper's objective, no curriculum, rate 0.001",
            "two-printed-slow": "G and I apart, 400 steps, the paper's objective, no curriculum, rate 0.001",
            "one-printed-sampled": "one, 200 steps, the paper's objective, no curriculum, sampled",
            "two-printed-sampled": "G and I apart, 200 steps, the paper's objective, no curriculum, sampled",
        },
    ),
    Question(
        "Parts of the objective",
        "The contrastive term and a curriculum belong to the method; their effect is not measured.",
        {
            OURS: "ours",
            "no-one-action": "one-action rule off",
            "no-contrast": "no contrastive term (γ = 0)",
            "no-curriculum": "no curriculum",
            "no-doubt": "no doubt at the start (`doubt=0`)",
            "no-price": "nothing for what is not mentioned (`unmentioned=0`)",
            "neither": "neither of these two",
        },
    ),
    Question(
        "Cost-to-go: exact, how far around, or sampled",
        "A search of a few full layers and a beam, with a learned value function; no exact graph.",
        {
            OURS: "exact, depth 4 (ours)",
            "depth-1": "exact, depth 1",
            "depth-2": "exact, depth 2",
            "depth-6": "exact, depth 6",
            "sampled": "sampled, 200 steps",
        },
    ),
    Question(
        "Inverse rationality α",
        "“Our model is not sensitive to α”: 0.1 < α < 10 perform alike.",
        {"alpha-0.1": "α = 0.1", OURS: "α = 1 (ours and the paper's)", "alpha-10": "α = 10"},
    ),
    Question(
        "λ, the weight of a transition, to the action cost of 0.1",
        "“A bit sensitive” to the ratio; steps per subgoal × action cost is a good λ.",
        {
            "weight-0.1": "λ = 0.1, ratio 1",
            "weight-0.3": "λ = 0.3, ratio 3",
            OURS: "λ = 1, ratio 10 (ours and the paper's)",
            "weight-3": "λ = 3, ratio 30",
            "weight-10": "λ = 10, ratio 100",
        },
    ),
    Question(
        "The contrastive term: weight γ and sharpness β",
        "0.01 < γ < 0.1 and 0.1 < β < 1 all work well.",
        {
            "no-contrast": "γ = 0",
            "gamma-0.01": "γ = 0.01",
            OURS: "γ = 0.1, β = 1 (ours and the paper's)",
            "gamma-1": "γ = 1",
            "beta-0.1": "β = 0.1",
            "beta-10": "β = 10",
        },
    ),
    Question(
        "Alignments: the best, all, or by chance",
        "The best alignment is used; whether the stochastic formulation is better is “unclear”.",
        {
            OURS: "the best one (ours and the paper's)",
            "alignment-sum": "the sum over all (log-sum-exp)",
            "alignment-expectation": "expectation, nodes are left with probability G",
        },
    ),
    Question(
        "Where the other tasks of the contrastive term come from",
        "Sampled from the task language.",
        {OURS: "descriptions of other demonstrations (ours)", "language": "the task language (the paper's)"},
    ),
)


def section(extent: Extent, results: Results) -> Section:
    """A table for each question."""
    del extent
    found = _by_variant(results)
    text = [
        "One setting is changed at a time; the rest is ours. Success of plans for instructions, strict, in percent: "
        "mean over seeds, with the 95 % interval of the mean over seeds in brackets, then the worst seed. All variants "
        "of a seed have the same demonstrations and the same starts. *Stuck* counts the classifiers, of 26, that are "
        f"right in less than {100 * STUCK:.0f} % of the true or of the false states of some training demonstrations: "
        "mean and range over seeds."
    ]
    for question in QUESTIONS:
        rows = [_row(label, found[name]) for name, label in question.rows.items() if name in found]
        if rows:
            head = ["", *SPLITS, "worst seed", "stuck", "training"]
            text += [f"### {question.title}", f"The paper: {question.paper}", table(head, rows)]
    summary: Plain = {
        name: {
            "success": {split: one.plain() for split, one in _rates(several).items() if one},
            "stuck": [_stuck(one) for one in several],
            "cpu_seconds": [one["training"]["cpu_seconds"] for one in several],
        }
        for name, several in found.items()
    }
    pictures = {}
    if found:
        pictures["success"] = Picture("Success of each variant: mean, interval and seeds", partial(_draw, found=found))
    curves = {name: _curves(results, name) for name in FORMS}
    if any(curves.values()):
        text += ["### What one and two classifiers learn, step by step", _told(curves)]
        summary["curves"] = {FORMS[name]: _means(several) for name, several in curves.items() if several}
        drawn = partial(draw_lines, groups=_lines(curves), across="gradient steps", up="share of states in %")
        pictures["curves"] = Picture("What the classifiers get right, a line to each seed", drawn)
    return Section("Ablations", "\n\n".join(text), summary, pictures)


FORMS = {"one": "one classifier", "two": "G and I apart"}
ASPECTS = {
    "true": "true states that G calls true",
    "false": "false states that G calls false",
    "not_yet": "true states in which I still says “not yet”",
}


def _curves(results: Results, name: str) -> list[Plain]:
    return [one for job, one in results.items() if job.startswith(f"{CURVE}{name}-")]


def _means(several: Sequence[Plain]) -> dict[str, dict[str, float]]:
    """For each look, the mean over seeds of each aspect."""
    found: dict[str, dict[str, float]] = {}
    for row in several[0]["curve"]:
        same = [other for one in several for other in one["curve"] if other["step"] == row["step"]]
        found[str(row["step"])] = {key: mean_of([other[key] for other in same]).mean for key in ASPECTS}
    return found


def _told(curves: Mapping[str, Sequence[Plain]]) -> str:
    """A table of a few looks."""
    rows = []
    for name, several in curves.items():
        means = _means(several) if several else {}
        for step in [step for step in ("20", "60", "100", "200", "400") if step in means]:
            rows.append([f"{FORMS[name]}, {step} steps", *(hundredths(means[step][key]) for key in ASPECTS)])
    return (
        "In percent of the states of some training demonstrations, mean over terms and seeds, ours but for the number "
        "of steps. With one classifier the last column is what the first one leaves.\n\n"
    ) + table(["", *ASPECTS.values()], rows)


def _lines(curves: Mapping[str, Sequence[Plain]]) -> dict[str, dict[str, list[Line]]]:
    return {
        label: {
            FORMS[name]: [[(row["step"], 100 * row[key]) for row in one["curve"]] for one in several]
            for name, several in curves.items()
        }
        for key, label in ASPECTS.items()
    }


def _by_variant(results: Results) -> dict[str, list[Plain]]:
    found: dict[str, list[Plain]] = {}
    for job, one in results.items():
        if not job.startswith(CURVE):
            found.setdefault(job.rpartition("-seed")[0], []).append(one)
    return found


def _rates(several: Sequence[Plain]) -> dict[str, Rate | None]:
    return {split: rate([one["evaluations"][split] for one in several]) for split in SPLITS}


def _stuck(one: Plain) -> int:
    """How many classifiers are."""
    return sum(min(share["true"], share["false"]) < STUCK for share in one["terms"].values())


def _row(label: str, several: Sequence[Plain]) -> list[str]:
    rates = _rates(several)
    worst = " / ".join(hundredths(one.over_seeds.least) for one in rates.values() if one)
    stuck = mean_of([_stuck(one) for one in several])
    seconds = mean_of([one["training"]["cpu_seconds"] for one in several])
    return [label, *(percent(one) for one in rates.values()), worst, number(stuck, 1), f"{seconds.mean:.0f} s"]


def _draw(path: Path, found: Mapping[str, Sequence[Plain]]) -> None:
    """A line to each variant, from top to bottom as in the tables, a panel to each split."""
    lines: list[tuple[int, str, str]] = []
    for group, question in enumerate(QUESTIONS):
        lines += [(group, name, label) for name, label in question.rows.items() if name in found]
    with panels(path, SPLITS, width=4.6, height=0.19 * len(lines) + 1.0) as axes:
        for one, split in zip(axes, SPLITS, strict=True):
            for place, (group, name, _) in enumerate(lines):
                success = _rates(found[name])[split]
                if success is not None:
                    _dot(one, place, success, COLORS[group % len(COLORS)])
            one.set_ylim(len(lines) - 0.5, -0.5)
            one.set_xlim(-2, 102)
            one.set_xlabel("success in %")
            one.grid(axis="y", visible=False)
            one.set_yticks(range(len(lines)), [label for *_, label in lines] if one is axes[0] else [""] * len(lines))
            one.tick_params(axis="y", labelsize=7)


def _dot(axes: object, place: int, success: Rate, color: str) -> None:
    mean = success.over_seeds
    value = 100 * mean.mean
    each = [100 * done / of for done, of in zip(success.successes, success.trials, strict=True)]
    draw = axes.plot  # type: ignore[attr-defined]
    draw(each, [place] * len(each), ".", color=PAPER, markersize=3, alpha=0.6)
    if mean.low is not None and mean.high is not None:
        draw([100 * max(0.0, mean.low), 100 * min(1.0, mean.high)], [place] * 2, color=color, linewidth=1.4)
    draw([value], [place], "o", color=color, markersize=5)
