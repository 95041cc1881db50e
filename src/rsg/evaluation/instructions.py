"""`rsg reproduce instructions`: plans for instructions in Crafting World, the RSG rows of the paper's main table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rsg.demos import Recipe, benchmark
from rsg.evaluation.figures import draw_lines, draw_rates
from rsg.evaluation.jobs import Job, Place, Plain
from rsg.evaluation.reproduce import Experiment, Extent, Picture, Results, Section
from rsg.evaluation.statistics import Mean, mean_of
from rsg.evaluation.tables import NONE, Rate, number, percent, span, table
from rsg.evaluation.trials import BUDGET, evaluate, evaluation, rate, settings_of, train
from rsg.subgoals import untrained

NAME = "instructions"
WORLD = "crafting"
PAPER = {"compositional": 99.6, "novel": 97.8}
PAPER_PLAN = "4,700 ms"
PAPER_TRAINING = "17 h (60 epochs of 17.0 min)"


@dataclass(frozen=True)
class Sizes:
    """How much is done for each seed.

    Attributes:
        demonstrations: of each task.
        compositional, novel: starts of each task; untrained, general: the same for these methods.
        minutes: that training and its evaluations take, about.
        changes: to the settings of training.
        budget: expansions of a plan.
    """

    demonstrations: int = 400
    compositional: int = 150
    novel: int = 100
    untrained: int = 30
    general: int = 3
    minutes: float = 2.0
    changes: Mapping[str, Any] = field(default_factory=dict)
    budget: int = BUDGET


FULL = Sizes()
APART = {"single": False, "steps": 400, "curriculum": 200, "rate": 0.01}  # what G and I trained apart need
QUICK = Sizes(20, 3, 3, 3, 1, 0.5)


def jobs(extent: Extent) -> list[Job]:
    """For each seed: RSG, trained on demonstrations of its own; classifiers that learned nothing; the truth."""
    size = QUICK if extent.quick else FULL
    listed = []
    for seed in range(extent.seeds):
        compositional = partial(evaluation, "compositional", seed=seed, budget=size.budget)
        novel = partial(evaluation, "novel", seed=seed, budget=size.budget)
        main = {"compositional": compositional(size.compositional), "novel": novel(size.novel)}
        more = {
            "novel-per-node": novel(size.novel, budget=None, per_node=size.budget),
            "compositional-general": compositional(size.general, fast=False),
            "novel-general": novel(size.general, fast=False),
        }
        floor = {"compositional": compositional(size.untrained), "novel": novel(size.untrained)}
        settings = settings_of(seed, **size.changes)
        with_i = {
            "compositional-with-i": compositional(size.compositional, goals="G-and-I"),
            "novel-with-i": novel(size.novel, goals="G-and-I"),
        }
        apart = {**settings, **APART} if not extent.quick else {**settings, "single": False}
        recipe = Recipe(WORLD, "train", size.demonstrations, seed)
        learned = {
            "settings": settings,
            "demonstrations": size.demonstrations,
            "evaluations": {**main, **more},
        }
        listed += [
            Job(NAME, f"rsg-seed{seed}", learned_job, learned, size.minutes, (recipe,)),
            Job(
                NAME,
                f"separate-seed{seed}",
                learned_job,
                {**learned, "settings": apart, "evaluations": {**main, **with_i}},
                size.minutes,
                (recipe,),
            ),
            Job(NAME, f"untrained-seed{seed}", untrained_job, {"seed": seed, "evaluations": floor}, 0.3),
            Job(NAME, f"oracle-seed{seed}", oracle_job, {"evaluations": main}, 0.3),
        ]
    return listed


def learned_job(parameters: Plain, place: Place) -> Plain:
    """Train, then plan."""
    settings = parameters["settings"]
    recipe = Recipe(WORLD, "train", parameters["demonstrations"], settings["seed"])
    subgoals, training = train(place, settings, recipe)
    return {"training": training, "evaluations": _evaluated(subgoals, parameters)}


def untrained_job(parameters: Plain, place: Place) -> Plain:
    """Plan with networks as they are before any training."""
    del place
    return {"evaluations": _evaluated(untrained(benchmark(WORLD).vocabulary, parameters["seed"]), parameters)}


def oracle_job(parameters: Plain, place: Place) -> Plain:
    """Plan with the truth."""
    del place
    return {"evaluations": _evaluated(benchmark(WORLD).true_goals, parameters)}


def _evaluated(subgoals: Any, parameters: Plain) -> Plain:
    source = benchmark(WORLD)
    return {name: evaluate(source, subgoals, asked) for name, asked in parameters["evaluations"].items()}


def section(extent: Extent, results: Results) -> Section:
    """The main table, how sure it is, and what it cost."""
    del extent
    rates = _rates(results)
    training = [one["training"] for name, one in results.items() if name.startswith("rsg")]
    costs = _costs(results, training)
    text = "\n\n".join(
        [
            "Success of plans for instructions, in percent: mean over seeds, with the 95 % interval of the mean over "
            "seeds (Student's t) in brackets. Each seed has its own demonstrations, first weights and starts. "
            "*Strict*: each subgoal is false where its part of the plan starts and true where it ends, judged by the "
            "truth; *lenient*: each is true somewhere, in order, the check of the authors' code. The last column "
            "leaves out the novel task that is also trained on.",
            _main_table(rates),
            f"Unless a row says otherwise a plan may expand {BUDGET:,} (state, node) pairs in total, G decides when a "
            "subgoal holds, and 1 − G when it does not hold yet. RSG trains one classifier per term; the paper "
            f"trains G and I apart, which here takes {APART['steps']} steps.",
            "How sure that is: the worst seed, and Wilson's 95 % interval of all episodes together.",
            _certainty_table(rates),
            "What it costs: mean over seeds, with the range over seeds in brackets, several jobs side by side on the "
            "machine. The paper does not state its "
            "hardware.",
            table(["", "paper", "ours"], [[name, paper, ours] for name, paper, ours in costs]),
        ]
    )
    pictures = {"success": Picture("Success by split, with the paper's", _drawn_success(rates))}
    if training:
        pictures["held-out"] = Picture("Held-out score during training, a line to each seed", _drawn_scores(training))
    summary = {
        "paper": PAPER,
        "success": {key: {column: r.plain() for column, r in row.items() if r} for key, row in rates.items()},
        "costs": {name: {"paper": paper, "ours": ours} for name, paper, ours in costs},
    }
    return Section("Plans for instructions, Crafting World", text, summary, pictures)


MAIN = "RSG, one classifier per term, strict"
ROWS = {  # for each row: which jobs, what is added to the name of an evaluation, and the check
    MAIN: ("rsg", "", "success"),
    "RSG, one classifier per term, lenient": ("rsg", "", "success_lenient"),
    f"RSG, one classifier per term, strict, {BUDGET:,} expansions per node": ("rsg", "-per-node", "success"),
    "RSG with G and I apart, strict": ("separate", "", "success"),
    "RSG with G and I apart, strict, I for “not yet”": ("separate", "-with-i", "success"),
    "untrained, strict": ("untrained", "", "success"),
    "untrained, lenient": ("untrained", "", "success_lenient"),
    "oracle (the truth), strict": ("oracle", "", "success"),
}
COLUMNS = ("compositional", "novel", "novel, not trained on")


def _rates(results: Results) -> dict[str, dict[str, Rate | None]]:
    """The rate in each row and column of the main table."""
    trained_on = benchmark(WORLD).tasks("train")
    rows: dict[str, dict[str, Rate | None]] = {}
    for label, (method, more, check) in ROWS.items():
        compositional = _evaluations(results, method, f"compositional{more}")
        novel = _evaluations(results, method, f"novel{more}")
        found = (rate(compositional, check), rate(novel, check), rate(novel, check, without=trained_on))
        if any(found):
            rows[label] = dict(zip(COLUMNS, found, strict=True))
    return rows


def _evaluations(results: Results, method: str, name: str) -> list[Plain]:
    found = [one["evaluations"].get(name) for job, one in results.items() if job.startswith(method)]
    return [one for one in found if one is not None]


def _main_table(rates: dict[str, dict[str, Rate | None]]) -> str:
    paper = ["**RSG, the paper**", *(f"{PAPER[column]:.1f}" if column in PAPER else NONE for column in COLUMNS)]
    ours = [[label, *(percent(row[column]) for column in COLUMNS)] for label, row in rates.items()]
    ours = [[f"**{cell}**" for cell in row] if row[0] == MAIN else row for row in ours]
    return table(["method", *COLUMNS], [paper, *ours])


def _certainty_table(rates: dict[str, dict[str, Rate | None]]) -> str:
    lines = []
    for label, row in rates.items():
        for column, one in row.items():
            if one is not None:
                mean = one.over_seeds
                worst, episodes = f"{100 * mean.least:.2f}", f"{sum(one.trials):,}"
                lines.append([label, column, f"{100 * mean.mean:.2f}", worst, span(*one.pooled), episodes])
    return table(["method", "split", "mean", "worst seed", "all episodes, 95 %", "episodes"], lines)


def _costs(results: Results, training: Sequence[Plain]) -> list[tuple[str, str, str]]:
    """What was measured besides success: name, the paper's figure, ours."""

    def of_training(key: str) -> Mean | None:
        values = [one[key] for one in training if one[key] is not None]
        return mean_of(values) if values else None

    def of_plans(name: str, key: str) -> Mean | None:
        values = [one[key] for one in _evaluations(results, "rsg", name)]
        return mean_of(values) if values else None

    rows = [
        ("training, processor time", PAPER_TRAINING, number(of_training("cpu_seconds"), 1, "s")),
        ("training, wall time with reading the data", NONE, number(of_training("seconds"), 1, "s")),
        ("training, gradient steps", NONE, number(of_training("steps"), 0)),
    ]
    for split in ("compositional", "novel"):
        for label, more in (("", ""), (", networks and world not compiled", "-general")):
            paper = NONE if more else PAPER_PLAN
            plan = number(of_plans(split + more, "plan_ms_median"), 2, "ms")
            rows.append((f"median time of a plan, {split}{label}", paper, plan))
        expansions = (of_plans(split, f"expansions_{key}") for key in ("mean", "median"))
        both = " / ".join(number(one, 0) for one in expansions)
        rows.append((f"expansions of a plan, {split}, mean / median", f"at most {BUDGET:,}", both))
    return rows


def _drawn_success(rates: dict[str, dict[str, Rate | None]]) -> Any:
    chosen = {
        "untrained": "untrained, strict",
        "RSG": MAIN,
        "G and I\napart": "RSG with G and I apart, strict",
        "oracle": "oracle (the truth), strict",
    }
    groups = {
        split: {short: rates[label][split] for short, label in chosen.items() if label in rates} for split in PAPER
    }
    return partial(draw_rates, groups=groups, paper=PAPER)


def _drawn_scores(training: Sequence[Plain]) -> Any:
    scores = [[(row["step"], row["held_out"]) for row in one["history"]] for one in training]
    lines = {f"seed {seed}": [line] for seed, line in enumerate(scores)}
    return partial(draw_lines, groups={"training": lines}, across="gradient steps", up="held-out score")


EXPERIMENT = Experiment(NAME, 5, 1, jobs, section)
