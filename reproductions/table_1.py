"""`rsg reproduce table-1`: the paper's main table, every method in every world.

It is made of jobs of other experiments and shares them: what one command has finished, another one finds.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from reproductions import baselines, image, instructions, playroom, searches
from reproductions.harness.figures import bars
from reproductions.harness.jobs import Job
from reproductions.harness.printed import PAPER
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import UNSEEN, Rates, Results, plain, stem
from reproductions.harness.tables import NONE, page, percent, table
from reproductions.harness.trials import SPLITS, Size
from rsg.domain import find
from rsg.evaluation.report import LABELS, PICTURES
from rsg.evaluation.statistics import hundredths

RSG, UNTRAINED, ORACLE = LABELS["rsg"], "RSG, untrained", LABELS["oracle"]
FORMULAS = "RSG, formulas"
_SHORT = {UNTRAINED: "un-\ntrained", ORACLE: "oracle", FORMULAS: "for-\nmulas"}
WORDS, MACHINE = "words", "machine"
SEES = {  # how a method is told the task; what it uses the transition model for
    LABELS["irl"]: (WORDS, "choices at demonstrated states; which actions have an effect"),
    LABELS["gail"]: (WORDS, "episodes to learn from; in Crafting World which actions have an effect"),
    LABELS["bc"]: (WORDS, "which actions have an effect"),
    LABELS["bc-fsm"]: (MACHINE, "which actions have an effect; branches in thought"),
    RSG: (MACHINE, "the cost-to-go in training; search"),
    FORMULAS: (f"{MACHINE}; named facts of states", "the cost-to-go in training; search"),
    UNTRAINED: (MACHINE, "search"),
    ORACLE: (f"{MACHINE}; the truth", "search"),
}


class Cell(NamedTuple):
    """Where a method's figures come from: the jobs, and what their evaluations are called besides the split."""

    jobs: str
    more: str = ""


class Column(NamedTuple):
    """A world of the table: its name, that of its domain, its cells by method, and the paper's figures."""

    label: str
    world: str
    cells: Mapping[str, Cell]
    paper: Mapping[str, tuple[float, ...]]
    timed: bool = True  # whether the paper's times are for it


def _column(label: str, world: str, ours: str, more: Mapping[str, Cell]) -> Column:
    experiment = ours.partition("/")[0]
    cells = {LABELS[method]: Cell(f"baselines/{world}-{method}") for method in ("irl", "gail", "bc", "bc-fsm")}
    cells |= {RSG: Cell(ours), **more, UNTRAINED: Cell(f"{experiment}/untrained"), ORACLE: Cell(f"{experiment}/oracle")}
    return Column(label, world, cells, {LABELS[one]: both for one, both in PAPER[world].items() if one != PICTURES})


COLUMNS = (
    _column(
        "Crafting World",
        "crafting",
        "instructions/rsg",
        {FORMULAS: Cell(f"{searches.NAME}/{searches.FORMULAS}", " deepest hard")},
    ),
    Column(
        "Crafting World, pictures",
        "crafting",
        {
            "BC-FSM": Cell(f"baselines/crafting-{PICTURES}"),
            RSG: Cell("image/rsg", f"-{image.CLEAN}"),
            UNTRAINED: Cell("image/rsg", f"-{image.UNTRAINED}"),
        },
        {"BC-FSM": PAPER["crafting"][PICTURES], RSG: tuple(image.PAPER.values())},
        timed=False,
    ),
    _column("Playroom", "playroom", f"playroom/{playroom.MAIN}", {}),
)
METHODS = tuple(dict.fromkeys(method for column in COLUMNS for method in column.cells))


def jobs(size: Size) -> list[Job]:
    """The jobs of other experiments that the cells are made of."""
    return jobs_of(size, {cell.jobs for column in COLUMNS for cell in column.cells.values()})


def jobs_of(size: Size, wanted: Collection[str]) -> list[Job]:
    """Jobs of other experiments, whose names are in front; no more seeds of each experiment than it has."""
    experiments = (one.EXPERIMENT for one in (instructions, searches, image, playroom, baselines))
    every = (job for one in experiments for job in one.jobs(one.size(min(size.seeds, one.full.seeds), size.quick)))
    return [job for job in every if f"{job.experiment}/{stem(job.name)}" in wanted]


def rates_of(results: Results, column: Column, check: str = "success") -> dict[str, Rates]:
    """Success of each method in each split, and in the novel tasks without those that are trained on too."""
    source = find(column.world)
    trained = set(source.tasks("train"))
    seen = trained if trained & set(source.tasks("novel")) else ()
    return {method: results.rates(cell.jobs, check, cell.more, seen) for method, cell in column.cells.items()}


def section(size: Size, results: Results) -> Section:
    """All of the table at a glance, then each world with intervals."""
    del size
    strict = {column.label: rates_of(results, column) for column in COLUMNS}
    lenient = {column.label: rates_of(results, column, "success_lenient") for column in COLUMNS}
    worlds = {world: _details(rows, lenient[world]) for world, rows in strict.items()}
    paper = {column.label: dict(column.paper) for column in COLUMNS}
    summary = {"strict": plain(strict), "lenient": plain(lenient), "paper": paper}
    groups = {
        f"{column.label}, {split}": {
            _SHORT.get(method, method): row[split] for method, row in strict[column.label].items()
        }
        for column in COLUMNS
        for split in SPLITS
    }
    ours = [one for column in COLUMNS for one in column.paper[RSG]]
    drawn = bars("Success by method and split; the paper's RSG as a line", groups, dict(zip(groups, ours, strict=True)))
    text = page("table-1", glance=_glance(strict), worlds=worlds)
    return Section("The paper's main table", text, summary, {"success": drawn})


def _glance(rates: Mapping[str, Mapping[str, Rates]]) -> str:
    learned = [method for method in METHODS if method not in (UNTRAINED, ORACLE)]
    cells: dict[str, list[str]] = {method: [] for method in METHODS}
    for column in COLUMNS:
        for place, split in enumerate(SPLITS):
            found = {method: row[split] for method, row in rates[column.label].items()}
            means = {method: one.over_seeds.mean for method, one in found.items() if one}
            best = max((means[method] for method in learned if method in means), default=None)
            for method, row in cells.items():
                cell = hundredths(means[method]) if method in means else NONE
                bold = "**" if method in learned and method in means and means[method] == best else ""
                paper = column.paper.get(method)
                row.append(f"{bold}{cell}{bold}" + (f" ({paper[place]:.1f})" if paper else ""))
    head = [
        "method",
        "sees the task as",
        "uses the model for",
        *(f"{c.label}, {split}" for c in COLUMNS for split in SPLITS),
    ]
    return table(head, [[method, *SEES[method], *row] for method, row in cells.items()])


def _details(strict: Mapping[str, Rates], lenient: Mapping[str, Rates]) -> str:
    splits = [*SPLITS, UNSEEN] if any(UNSEEN in row for row in strict.values()) else [*SPLITS]
    rows = []
    for method, row in strict.items():
        first = row[SPLITS[0]]
        sizes = [str(len(first.trials)), f"{sum(first.trials):,}"] if first else [NONE, NONE]
        rows.append(
            [method, *(percent(row[split]) for split in splits), *(percent(lenient[method][s]) for s in SPLITS), *sizes]
        )
    head = ["method", *splits, *(f"{split}, lenient" for split in SPLITS), "seeds", "episodes, compositional"]
    return table(head, rows)


EXPERIMENT = Experiment("table-1", Size(seeds=5), Size(), jobs, section)
