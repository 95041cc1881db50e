"""`rsg reproduce searches`: learned subgoals by every order of search, hard and soft, and the paper's value V_t."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from reproductions.harness.figures import Picture, bars
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import PAPERS, Results, plain
from reproductions.harness.tables import mean_of, number, page, percent, table
from reproductions.harness.trials import BUDGET, EVALUATION_SEED, SPLITS, Learned, Size, Variant, learned, learning
from reproductions.paper.layered import Layers, by_layers
from rsg.evaluation.planning import Starts, evaluate_planning
from rsg.planning import plan
from rsg.search import Hard, Product, SearchSettings, Soft

NAME = "searches"
NETWORKS, LIMITED, FORMULAS, VALUES = "networks", "limited", "formulas", "values"
KINDS: Mapping[str, Hard | Soft] = {"hard": Hard(), "soft": Soft()}
ENTER = 100  # cheapest states that enter a node, where not all do


class Way(NamedTuple):
    """A way to search: the order of expansions, None for the paper's layers; these; expansions; whether with V_t."""

    label: str
    order: str | None = None
    layers: Layers = Layers()
    budget: int | None = BUDGET
    value: bool = False


WAYS = {
    "deepest": Way("`deepest` (ours)", "deepest"),
    "novel": Way("`novel` (ours)", "novel"),
    "balanced": Way("`balanced`", "balanced"),
    "anytime": Way("`anytime`", "anytime"),
    "optimal": Way("`optimal`", "optimal"),
    "layers": Way("the paper's layers"),
    "layers-each": Way(
        f"the paper's layers, {BUDGET:,} at each node instead of in total", None, Layers(each=BUDGET), None
    ),
    "layers-enter": Way(f"the paper's layers, the {ENTER} cheapest states enter a node", None, Layers(enter=ENTER)),
    "layers-both": Way(
        f"the paper's layers, {BUDGET:,} at each node, the {ENTER} cheapest states enter one",
        None,
        Layers(each=BUDGET, enter=ENTER),
        None,
    ),
    "value": Way("the paper's layers with V_t", value=True),
}
ASKED = {  # of each job: by which ways, and in which splits
    NETWORKS: ([way for way in WAYS if way not in ("value", "layers-both")], SPLITS),
    LIMITED: (["layers-both"], SPLITS),
    FORMULAS: (["deepest", "novel", "balanced", "anytime", "optimal"], SPLITS),
    VALUES: (["layers", "value"], SPLITS[:1]),  # V_t is of tasks of the training set
}
TOLD = {
    NETWORKS: "networks",
    LIMITED: "the same networks, with both limits",
    FORMULAS: "formulas over named facts",
    VALUES: "networks, trained by the paper's search",
}
CHANGES: Mapping[str, Mapping[str, Any]] = {
    NETWORKS: {},
    LIMITED: {},
    FORMULAS: {"encoder": "facts"},
    VALUES: {"kind": "sampled"},
}

FULL = Size(400, {"compositional": 25, "novel": 50}, 2.5, seeds=5)
QUICK = Size(20, {"compositional": 1, "novel": 1}, 0.5, {"steps": 60, "curriculum": 20})


def jobs(size: Size) -> Iterator[Job]:
    """For each seed: networks as everywhere, formulas, and networks of which V_t was learned as well."""
    for seed in range(size.seeds):
        for name, (ways, splits) in ASKED.items():
            asked = {"ways": ways, "starts": {split: size[split] for split in splits}}
            yield learning(NAME, size, seed, Variant(name, CHANGES.get(name, {}), asked), run)


def run(parameters: Plain, place: Place) -> Plain:
    """Train, then plan by each way, hard and soft."""
    found = learned(parameters, place)
    evaluations = {
        f"{split} {way} {kind}": planned(
            found, Starts(split, per_task, EVALUATION_SEED + found.settings.seed), way, kind
        )
        for way in parameters["ways"]
        for kind in KINDS
        for split, per_task in parameters["starts"].items()
    }
    return {"training": found.training, "evaluations": evaluations}


def planned(found: Learned, starts: Starts, name: str, kind: str) -> Plain:
    """Success by one way to search; everything is compiled first."""
    way = WAYS[name]
    values = getattr(found.subgoals, "values", None) if way.value else None
    planner = plan if way.order else by_layers(way.layers, values)
    settings = SearchSettings(Product(way.order, KINDS[kind]), way.budget, seed=starts.seed)
    goals = found.subgoals.goals
    few = SearchSettings(Product(way.order, KINDS[kind]), 1)
    evaluate_planning(found.source, starts._replace(per_task=1), goals, few, planner=planner)
    return evaluate_planning(found.source, starts, goals, settings, planner=planner)


def section(size: Size, results: Results) -> Section:
    """A table for each kind of subgoals."""
    del size
    tables, summary = {}, Plain()
    for name, (ways, splits) in ASKED.items():
        found = {way: {kind: _figures(results, name, way, kind, splits) for kind in KINDS} for way in ways}
        if results.of(name):
            tables[TOLD[name]] = _table(found, splits)
            summary[name] = {way: {kind: _plain(one) for kind, one in both.items()} for way, both in found.items()}
    text = page(NAME, tables=tables, budget=f"{BUDGET:,}", layers=Layers(), enter=ENTER)
    return Section("Every search, hard and soft, Crafting World", text, summary, _pictures(results))


def _figures(results: Results, name: str, way: str, kind: str, splits: tuple[str, ...]) -> Plain:
    """By split: success, expansions and the time of a plan, over seeds."""
    keys = {split: f"{split} {way} {kind}" for split in splits}
    return {
        split: {
            "success": results.rate(name, key),
            "expansions": results.plans(name, key, "expansions_mean"),
            "ms": results.plans(name, key, "plan_ms_median"),
            "cost": [cost for cost in results.plans(name, key, "cost_mean") if cost is not None],
        }
        for split, key in keys.items()
    }


def _plain(figures: Plain) -> Plain:
    return {
        split: {key: value for key, value in (*one.items(), ("success", plain(one["success"]))) if value}
        for split, one in figures.items()
    }


def _table(found: Mapping[str, Mapping[str, Plain]], splits: tuple[str, ...]) -> str:
    head = [f"{what}{split}" for split in splits for what in ("", "expansions, ", "time of a plan, ")]
    rows = [
        [
            f"{WAYS[way].label}, {kind}",
            *(
                cell
                for split in splits
                for cell in (
                    percent(figures[split]["success"]),
                    number(mean_of(figures[split]["expansions"]), 0),
                    number(mean_of(figures[split]["ms"]), 2, "ms"),
                )
            ),
        ]
        for way, both in found.items()
        for kind, figures in both.items()
    ]
    return table(["search, transitions", *head], rows)


def _pictures(results: Results) -> dict[str, Picture]:
    short = {
        "deepest": "deepest",
        "novel": "novel",
        "balanced": "balanced",
        "anytime": "any-\ntime",
        "optimal": "optimal",
        "layers": "layers",
    }
    groups = {
        f"{split}, {kind}": {label: results.rate(NETWORKS, f"{split} {way} {kind}") for way, label in short.items()}
        for kind in KINDS
        for split in SPLITS
    }
    paper = {f"{split}, {kind}": PAPERS["crafting"][split] for kind in KINDS for split in SPLITS}
    return {"success": bars("Success by order of search, hard and soft", groups, paper)} if results.of(NETWORKS) else {}


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
