"""`rsg reproduce instructions`: plans for instructions in Crafting World, the RSG rows of the paper's main table."""

from collections.abc import Iterator, Mapping

from reproductions.harness.figures import Picture, bars, curves
from reproductions.harness.jobs import Job
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import PAPERS, UNSEEN, Rates, Results, mean_or_none, plain
from reproductions.harness.tables import NONE, certainty, number, page, percent, table
from reproductions.harness.trials import (
    BUDGET,
    SPLITS,
    Size,
    Variant,
    learning,
    oracle_job,
    untrained_job,
)
from rsg.domain import find

NAME = "instructions"
PAPER = PAPERS["crafting"]
PAPER_PLAN = "4,700 ms"
PAPER_TRAINING = "17 h (60 epochs of 17.0 min)"
APART = {"single": False, "steps": 400, "curriculum": 200, "rate": 0.01}  # what G and I trained apart need

FULL = Size(400, {"compositional": 150, "novel": 100, "untrained": 30}, 2.0, seeds=5)
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
COLUMNS = (*SPLITS, UNSEEN)


def jobs(size: Size) -> Iterator[Job]:
    """For each seed: RSG, trained on demonstrations of its own; classifiers that learned nothing; the truth."""
    for seed in range(size.seeds):
        main = size.evaluations(seed)
        with_i = {f"{split}-with-i": one for split, one in size.evaluations(seed, goals="G-and-I").items()}
        few = {split: {**one, "per_task": size["untrained"]} for split, one in main.items()}
        untrained = {"world": "crafting", "seed": seed, "evaluations": few}
        yield learning(NAME, size, seed, Variant("rsg", {}, {"evaluations": main}))
        yield learning(NAME, size, seed, Variant("separate", APART, {"evaluations": {**main, **with_i}}))
        yield Job(NAME, f"untrained-seed{seed}", untrained_job, untrained, 0.3)
        yield Job(NAME, f"oracle-seed{seed}", oracle_job, {"world": "crafting", "evaluations": main}, 0.3)


def section(size: Size, results: Results) -> Section:
    """The main table, how sure it is, and what it cost."""
    del size
    trained, costs = find("crafting").tasks("train"), _costs(results)
    rates = {label: results.rates(method, check, more, trained) for label, (method, more, check) in ROWS.items()}
    rates = {label: row for label, row in rates.items() if any(row.values())}
    paper = ["**RSG, the paper**", *(f"{PAPER[column]:.1f}" if column in PAPER else NONE for column in COLUMNS)]
    ours = [[label, *(percent(row[column]) for column in COLUMNS)] for label, row in rates.items()]
    ours = [[f"**{cell}**" for cell in row] if row[0] == MAIN else row for row in ours]
    text = page(
        NAME,
        success=table(["method", *COLUMNS], [paper, *ours]),
        certainty=certainty(rates),
        costs=table(["", "paper", "ours"], [[name, *both] for name, both in costs.items()]),
        budget=f"{BUDGET:,}",
        apart=APART["steps"],
    )
    summary = {
        "paper": PAPER,
        "success": plain(rates),
        "costs": {name: {"paper": paper, "ours": ours} for name, (paper, ours) in costs.items()},
    }
    return Section("Plans for instructions, Crafting World", text, summary, _pictures(rates, results))


def _costs(results: Results) -> dict[str, tuple[str, str]]:
    """What was measured besides success: the paper's figure, ours."""
    rows = {what: (NONE, ours) for what, ours in results.costs("rsg", 1).items()}
    rows["training, processor time"] = (PAPER_TRAINING, rows["training, processor time"][1])
    for split in SPLITS:
        plan = number(mean_or_none(results.plans("rsg", split)), 2, "ms")
        both = (mean_or_none(results.plans("rsg", split, f"expansions_{key}")) for key in ("mean", "median"))
        expansions = " / ".join(number(one, 0) for one in both)
        rows[f"median time of a plan, {split}"] = (PAPER_PLAN, plan)
        rows[f"expansions of a plan, {split}, mean / median"] = (f"at most {BUDGET:,}", expansions)
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
    pictures = {"success": bars("Success by split, with the paper's", groups, PAPER)}
    scores = [[(row["step"], row["held_out"]) for row in one["training"]["history"]] for one in results.of("rsg")]
    if scores:
        lines = {"training": {f"seed {seed}": [line] for seed, line in enumerate(scores)}}
        caption = "Held-out score during training, a line to each seed"
        pictures["held-out"] = curves(caption, lines, "gradient steps", "held-out score")
    return pictures


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
