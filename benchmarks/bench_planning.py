"""Planning with true subgoals: success, expansions and time by order; the general path; how cost grows. One core."""

import time
from typing import Any

import numpy as np

from rsg.core.random import stream
from rsg.domain import find
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.maps import sample_map
from rsg.domains.crafting.truth import TrueGoals
from rsg.evaluation import Starts, evaluate_planning
from rsg.language import Machine, parse
from rsg.planning import plan
from rsg.search import Limits, Product, ProductSearch, SearchSettings

SOURCE: Any = find("crafting")
KEPT = (
    "episodes",
    "success",
    "success_lenient",
    "expansions_mean",
    "expansions_median",
    "plan_ms_median",
    "plan_ms_mean",
)


def run() -> dict[str, Any]:
    """All tables; about five minutes."""
    return {
        "splits": _splits(),
        "orders": _orders(),
        "kernel": _kernel(),
        "growth": _growth(),
    }


def only_batched(world: Any, terms: Any, state: Any) -> Any:
    """The truth without its compiled form: what a user's own world and network get."""
    del state
    true = TrueGoals(world, terms)
    return lambda states: true(states)


def _kept(result: dict[str, Any]) -> dict[str, Any]:
    return {key: round(result[key], 4) for key in KEPT}


def _splits() -> dict[str, Any]:
    """The default order on the paper's numbers of episodes, 5,000 expansions in total; then the general path."""
    figures: dict[str, Any] = {}
    for split, count in (("compositional", 150), ("novel", 100)):
        evaluate_planning(SOURCE, Starts(split, 1), SOURCE.true_goals)
        figures[split] = _kept(evaluate_planning(SOURCE, Starts(split, count), SOURCE.true_goals))
        evaluate_planning(SOURCE, Starts(split, 1), only_batched)
        figures[f"{split}_general_path"] = _kept(evaluate_planning(SOURCE, Starts(split, 20), only_batched))
    return figures


def _orders(count: int = 20) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for split in ("compositional", "novel"):
        for order in ("deepest", "balanced", "optimal", "anytime"):
            settings = SearchSettings(Product(order))
            evaluate_planning(SOURCE, Starts(split, 1), SOURCE.true_goals, settings=settings)
            result = evaluate_planning(SOURCE, Starts(split, count), SOURCE.true_goals, settings=settings)
            figures[f"{split} {order}"] = {**_kept(result), "cost_mean": result["cost_mean"]}
    return figures


def _kernel(budget: int = 20_000) -> dict[str, float]:
    """Expansions per second of CPU time of one search that finds nothing, the growing of its arrays included."""
    machine = Machine.of(parse("mine-sugar-cane then craft-arrow"))
    world, state = sample_map("large-field", stream(1, "bench"))
    goals = TrueGoals(world, [str(term) for term in machine.terms])
    figures = {}
    for order in ("deepest", "optimal"):
        rates = []
        for _ in range(10):
            search = ProductSearch(world, state, machine, goals, Product(order))
            start = time.process_time()
            found = search.run(Limits(budget))
            rates.append(found.expansions / (time.process_time() - start))
        figures[f"{order}_expansions_per_cpu_s"] = round(max(rates))
    return figures


def _growth() -> dict[str, Any]:
    """Time and expansions over the size of the map and the number of terms, with the exponent of a power law."""
    rows: dict[str, Any] = {}
    sizes = (6, 9, 12, 18, 25, 35, 50)
    times = []
    for size in sizes:
        rows[f"map {size}×{size}, 4 terms"] = _measure(size, 4)
        times.append(rows[f"map {size}×{size}, 4 terms"]["ms_median"])
    rows["exponent of time over the side of the map"] = _exponent(sizes, times)
    counts = (1, 2, 4, 8, 12, 16, 20)
    times = []
    for count in counts:
        rows[f"map 9×9, {count} terms"] = _measure(9, count)
        times.append(rows[f"map 9×9, {count} terms"]["ms_median"])
    rows["exponent of time over the number of terms"] = _exponent(counts, times)
    return rows


def _measure(size: int, terms: int, tries: int = 15) -> dict[str, float]:
    """A chain of `terms` subgoals, each to pick up another item, scattered over a map of that size."""
    world = CraftingWorld(size, size, capacity=max(6, terms))
    items = [thing.name for thing in world.rules.things if thing.kind == "item"][:terms]
    machine = Machine.of(parse(" then ".join(f"grab-{item}" for item in items)))
    spent, expansions = [], []
    for i in range(-1, tries):
        rng = stream(i + 1, "growth", size, terms)
        cells = rng.permutation(size * size)[: terms + 1]
        places = {(int(c) // size, int(c) % size): name for c, name in zip(cells[1:], items, strict=True)}
        state = world.state(places, (int(cells[0]) // size, int(cells[0]) % size))
        made = plan(world, state, machine, SOURCE.true_goals, SearchSettings(budget=None, time_limit=60))
        if i >= 0:
            spent.append(1000 * made.seconds)
            expansions.append(made.expansions)
    return {"ms_median": round(float(np.median(spent)), 3), "expansions_median": float(np.median(expansions))}


def _exponent(x: Any, y: Any) -> float:
    return round(float(np.polyfit(np.log(x), np.log(y), 1)[0]), 2)
