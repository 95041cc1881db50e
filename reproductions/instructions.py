"""`rsg reproduce instructions`: plans for instructions in Crafting World, the RSG rows of the paper's main table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from reproductions.harness.figures import draw_lines, draw_rates
from reproductions.harness.jobs import Job
from reproductions.harness.reproduce import Experiment, Extent, Picture, Section
from reproductions.harness.results import Rates, Results, mean_or_none, plain_rates
from reproductions.harness.tables import NONE, certainty, number, percent, table
from reproductions.harness.trials import BUDGET, SPLITS, Size, Variant, learning, oracle_job, untrained_job
from rsg.demos import benchmark

NAME = "instructions"
PAPER = {"compositional": 99.6, "novel": 97.8}
PAPER_PLAN = "4,700 ms"
PAPER_TRAINING = "17 h (60 epochs of 17.0 min)"
APART = {"single": False, "steps": 400, "curriculum": 200, "rate": 0.01}  # what G and I trained apart need

FULL = Size(400, {"compositional": 150, "novel": 100, "untrained": 30}, 2.0)
QUICK = Size(20, {"compositional": 3, "novel": 3, "untrained": 3}, 0.5, {"steps": 60, "curriculum": 20})

MAIN = "RSG, one classifier per term, strict"
ROWS = {  # for each row: which jobs, what is added to the name of an evaluation, and the check
    MAIN: ("rsg", "", "success"),
    "RSG, one classifier per term, lenient": ("rsg", "", "success_lenient"),
    "RSG with G and I apart, strict": ("separate", "", "success"),
    "RSG with G and I apart, strict, I for “not yet”": ("separate", "-with-i", "success"),
    "untrained, strict": ("untrained", "", "success"),
    "untrained, lenient": ("untrained", "", "success_lenient"),
    "oracle (the truth), strict": ("oracle", "", "success"),
}
UNSEEN = "novel, not trained on"
COLUMNS = (*SPLITS, UNSEEN)


def jobs(extent: Extent) -> list[Job]:
    """For each seed: RSG, trained on demonstrations of its own; classifiers that learned nothing; the truth."""
    size, listed = extent.size, []
    for seed in range(extent.seeds):
        main = size.evaluations(seed)
        with_i = {f"{split}-with-i": one for split, one in size.evaluations(seed, goals="G-and-I").items()}
        few = {split: {**one, "per_task": size["untrained"]} for split, one in main.items()}
        untrained = {"world": "crafting", "seed": seed, "evaluations": few}
        listed += [
            learning(NAME, size, seed, Variant("rsg", {}, {"evaluations": main})),
            learning(NAME, size, seed, Variant("separate", APART, {"evaluations": {**main, **with_i}})),
            Job(NAME, f"untrained-seed{seed}", untrained_job, untrained, 0.3),
            Job(NAME, f"oracle-seed{seed}", oracle_job, {"world": "crafting", "evaluations": main}, 0.3),
        ]
    return listed


def section(extent: Extent, results: Results) -> Section:
    """The main table, how sure it is, and what it cost."""
    del extent
    rates, costs = _rates(results), _costs(results)
    paper = ["**RSG, the paper**", *(f"{PAPER[column]:.1f}" if column in PAPER else NONE for column in COLUMNS)]
    ours = [[label, *(percent(row[column]) for column in COLUMNS)] for label, row in rates.items()]
    ours = [[f"**{cell}**" for cell in row] if row[0] == MAIN else row for row in ours]
    text = [
        "Success of plans for instructions, in percent: mean over seeds, with the 95 % interval of the mean over "
        "seeds (Student's t) in brackets. Each seed has its own demonstrations, first weights and starts. "
        "*Strict*: each subgoal is false where its part of the plan starts and true where it ends, judged by the "
        "truth; *lenient*: each is true somewhere, in order, the check of the authors' code. The last column "
        "leaves out the novel task that is also trained on.",
        table(["method", *COLUMNS], [paper, *ours]),
        f"Unless a row says otherwise a plan may expand {BUDGET:,} (state, node) pairs in total, G decides when a "
        "subgoal holds, and 1 − G when it does not hold yet. RSG trains one classifier per term; the paper "
        f"trains G and I apart, which here takes {APART['steps']} steps.",
        "How sure that is: the worst seed, and Wilson's 95 % interval of all episodes together.",
        certainty(rates),
        "What it costs: mean over seeds, with the range over seeds in brackets, several jobs side by side on the "
        "machine. The paper does not state its hardware.",
        table(["", "paper", "ours"], [[name, *both] for name, both in costs.items()]),
    ]
    summary = {
        "paper": PAPER,
        "success": plain_rates(rates),
        "costs": {name: {"paper": paper, "ours": ours} for name, (paper, ours) in costs.items()},
    }
    pictures = _pictures(rates, results)
    return Section("Plans for instructions, Crafting World", "\n\n".join(text), summary, pictures)


def _rates(results: Results) -> dict[str, Rates]:
    """The rate in each row and column of the main table."""
    trained_on = benchmark("crafting").tasks("train")
    rows: dict[str, Rates] = {}
    for label, (method, more, check) in ROWS.items():
        row = results.rates(method, check, more)
        row[UNSEEN] = results.rate(method, f"novel{more}", check, without=trained_on)
        if any(row.values()):
            rows[label] = row
    return rows


def _costs(results: Results) -> dict[str, tuple[str, str]]:
    """What was measured besides success: the paper's figure, ours."""
    known = {key: mean_or_none(results.training("rsg", key)) for key in ("cpu_seconds", "seconds", "steps")}
    rows = {
        "training, processor time": (PAPER_TRAINING, number(known["cpu_seconds"], 1, "s")),
        "training, wall time with reading the data": (NONE, number(known["seconds"], 1, "s")),
        "training, gradient steps": (NONE, number(known["steps"], 0)),
    }
    for split in SPLITS:
        plan = number(results.plans("rsg", split, "plan_ms_median"), 2, "ms")
        expansions = (results.plans("rsg", split, f"expansions_{key}") for key in ("mean", "median"))
        rows[f"median time of a plan, {split}"] = (PAPER_PLAN, plan)
        rows[f"expansions of a plan, {split}, mean / median"] = (
            f"at most {BUDGET:,}",
            " / ".join(number(one, 0) for one in expansions),
        )
    return rows


def _pictures(rates: Mapping[str, Rates], results: Results) -> dict[str, Picture]:
    chosen = {
        "untrained": "untrained, strict",
        "RSG": MAIN,
        "G and I\napart": "RSG with G and I apart, strict",
        "oracle": "oracle (the truth), strict",
    }
    groups = {
        split: {short: rates[label][split] for short, label in chosen.items() if label in rates} for split in SPLITS
    }
    drawn = partial(draw_rates, groups=groups, paper=PAPER)
    pictures = {"success": Picture("Success by split, with the paper's", drawn)}
    scores = [[(row["step"], row["held_out"]) for row in one["training"]["history"]] for one in results.of("rsg")]
    if scores:
        lines = {"training": {f"seed {seed}": [line] for seed, line in enumerate(scores)}}
        drawn = partial(draw_lines, groups=lines, across="gradient steps", up="held-out score")
        pictures["held-out"] = Picture("Held-out score during training, a line to each seed", drawn)
    return pictures


EXPERIMENT = Experiment(NAME, 5, FULL, QUICK, jobs, section)
