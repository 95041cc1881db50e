"""Large maps and long chains: how far `novel` and `deepest` come, what each idea in `novel` is worth."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.harness import in_pieces
from rsg.core.random import stream
from rsg.domain import find
from rsg.domains.crafting import STANDARD, VOCABULARY, CraftingWorld
from rsg.domains.crafting.maps import objects_for, sample_map
from rsg.domains.crafting.starts import KIND, within_walk
from rsg.evaluation import Starts
from rsg.language import Machine, parse
from rsg.planning import plan, validate
from rsg.search import GoalFn, Product, SearchSettings
from rsg.search.product import search
from rsg.search.product.kernels import NEVER

SOURCE: Any = find("crafting")
SEEDS = range(100, 105)
LENGTHS = range(2, 13)
SIZES = (12, 20, 50)
SMALL, LARGE = 5_000, 50_000
PLAIN, NOVEL = "deepest", "novel"
IDEAS = {  # of each order: after how many expansions a random node has its turn, and walks begin
    "deepest, every second": (PLAIN, 2, NEVER),
    "deepest, every sixteenth": (PLAIN, 16, NEVER),
    "novel without walks, every fourth": (NOVEL, 4, NEVER),
    "novel without walks": (NOVEL, 16, NEVER),
    "novel, every fourth": (NOVEL, 4, search.EARLY),
    "novel, every eighth": (NOVEL, 8, search.EARLY),
    "novel": (NOVEL, 16, search.EARLY),
}
MOST = 300_000  # expansions for a plan of least cost; what takes longer is left out where costs are compared


class Case(NamedTuple):
    """Something to be planned."""

    seed: int
    world: Any
    state: Any
    machine: Machine


def run() -> dict[str, Any]:
    """All tables; some minutes."""
    pieces: dict[str, Callable[[], Any]] = {f"instructions/{size}": partial(_instructions, size) for size in SIZES}
    tables = {"splits": _splits, "dearer on 20": _dearer, "ideas": _ideas, "sheep": _sheep, "kernel": _kernel}
    return in_pieces("large", {**pieces, **tables})


def kept(cases: list[Case], order: str, budget: int, goals: GoalFn = SOURCE.true_goals) -> dict[str, list[Any]]:
    """What planning gives, case by case; a plan is right if it does the task in the true world, strictly."""
    settings = SearchSettings(Product(order), budget=budget)
    rows: dict[str, list[Any]] = {"seed": [], "right": [], "expansions": [], "cost": [], "ms": []}
    for number, case in enumerate([cases[0], *cases]):
        start = time.process_time()
        made = plan(case.world, case.state, case.machine, goals, settings)
        spent = time.process_time() - start
        if number:  # the first one compiles
            right = validate(case.world, made, case.machine, partial(SOURCE.truth, case.world)).ok
            kept = (case.seed, bool(right), int(made.expansions), float(made.cost), 1000 * spent)
            for column, value in zip(rows.values(), kept, strict=True):
                column.append(value)
    return rows


def within(rows: dict[str, list[Any]], budget: int) -> dict[str, float]:
    """The share of right plans within a budget, over all and for the worst seed, and the expansions."""
    spent = np.minimum(rows["expansions"], budget)
    done, seeds = np.array(rows["right"]) & (np.array(rows["expansions"]) <= budget), np.array(rows["seed"])
    return {
        "cases": len(done),
        "success": round(float(done.mean()), 4),
        "success_worst_seed": round(min(float(done[seeds == seed].mean()) for seed in set(rows["seed"])), 4),
        "expansions_mean": round(float(spent.mean()), 1),
        "expansions_median": float(np.median(spent)),
        "cpu_ms_median": round(float(np.median(rows["ms"])), 3),
    }


# Instructions.


def _instructions(size: int) -> dict[str, Any]:
    """Of 2 to 12 terms, on maps that hold what is needed."""
    cases = list(long_instructions(size, maps=2))
    rows = kept(cases, NOVEL, LARGE)
    return {
        PLAIN: within(kept(cases, PLAIN, SMALL), SMALL),
        NOVEL: within(rows, SMALL),
        f"{NOVEL} {LARGE}": within(rows, LARGE),
    }


def long_instructions(size: int, maps: int, seeds: Any = SEEDS) -> Iterator[Case]:
    """Of each seed one instruction of each length, each on so many maps."""
    for seed in seeds:
        for length in LENGTHS:
            terms = instruction(stream(seed, "large", "instruction", length), length)
            machine = Machine.of(parse(" then ".join(terms)))
            for number in range(maps):
                yield Case(seed, *map_for(terms, size, stream(seed, "large", "map", size, length, number)), machine)


def instruction(rng: np.random.Generator, length: int, room: int = 6) -> list[str]:
    """Terms that can come true one after the other, by the rules: what is made counts six times what is picked up."""
    while True:
        held: list[str] = []
        terms: list[str] = []
        while len(terms) < length and (able := _next_terms(held, terms, room)):
            weights = np.array([1.0 if term.startswith("grab") else 6.0 for term, _ in able])
            term, held = able[int(rng.choice(len(able), p=weights / weights.sum()))]
            terms.append(term)
        if len(terms) == length:
            return terms


def _next_terms(held: list[str], terms: list[str], room: int) -> list[tuple[str, list[str]]]:
    """What can come true now, and what is held then; each thing lies about once."""
    able = []
    for term in VOCABULARY:
        verb, _, item = term.partition("-")
        if item in held or term in ("grab-key", "toggle-switch"):
            continue
        if verb == "grab" and term not in terms and len(held) < room:
            able.append((term, [*held, item]))
        for rule in STANDARD.rules if verb in ("mine", "craft") else ():
            if rule.gives == item and _fires(rule.at, held, room) is rule:
                able.append((term, [*_without(held, rule.uses), item]))
    return able


def _fires(place: str, held: list[str], room: int) -> Any:
    """The rule that a place follows: the first one that can be."""
    for rule in STANDARD.rules:
        ready = set(rule.tools) <= set(held) and len(held) - len(_without(held, rule.uses)) == len(rule.uses)
        if rule.at == place and ready and len(held) - len(rule.uses) < room:
            return rule
    return None


def _without(held: list[str], uses: Any) -> list[str]:
    rest = list(held)
    for item in uses:
        if item in rest:
            rest.remove(item)
    return rest


def map_for(
    terms: list[str], size: int, rng: np.random.Generator, objects: int | None = None
) -> tuple[CraftingWorld, Any]:
    """A map on which one can walk to all that is needed, with so many objects."""
    needs = objects_for(terms)
    while True:
        world, state = sample_map(KIND, rng, needs, (), (size, size), objects)
        if set(needs) <= within_walk(world, state):
            return world, state


# The paper's splits, and what each idea is worth.


def of_split(split: str, per_task: int, seeds: Any = SEEDS) -> Iterator[Case]:
    """Starts of all tasks of a split."""
    for seed in seeds:
        starts = Starts(split, per_task, seed)
        for number, text in enumerate(SOURCE.tasks(split)):
            machine = Machine.of(parse(text))
            for place in range(per_task):
                demo = starts.draw(SOURCE, number, place)
                yield Case(seed, SOURCE.world(demo.setting), demo.states[0], machine)


def _splits(per_task: int = 10) -> dict[str, Any]:
    """Small maps; `dearer` by how much plans cost more than the cheapest, on the first starts."""
    figures: dict[str, Any] = {}
    for split in ("compositional", "novel"):
        cases = list(of_split(split, per_task))
        few = list(of_split(split, 1))
        least = kept(few, "optimal", MOST)["cost"]
        for order in (PLAIN, NOVEL):
            dear = dearer(kept(few, order, MOST)["cost"], least)
            figures[f"{split} {order}"] = {**dear, **within(kept(cases, order, SMALL), SMALL)}
    return figures


def _ideas() -> dict[str, Any]:
    """What they take within 5,000 expansions, and by how much their plans are dearer where the least cost is known."""
    groups = {
        "compositional": list(of_split("compositional", 2)),
        "novel": list(of_split("novel", 2)),
        **{str(size): list(long_instructions(size, maps=1)) for size in SIZES},
    }
    least = {name: kept(groups[name], "optimal", MOST)["cost"] for name in ("compositional", "novel")}
    figures: dict[str, Any] = {}
    for name, (order, every, early) in IDEAS.items():
        with patch.dict(search.EVERY, {order: every}), patch.object(search, "EARLY", early):
            found = {group: kept(cases, order, SMALL) for group, cases in groups.items()}
        figures[name] = {group: within(rows, SMALL) for group, rows in found.items()}
        for group, costs in least.items():
            figures[name][group] = dearer(found[group]["cost"], costs) | figures[name][group]
    return figures


def _dearer() -> dict[str, Any]:
    """The same for short instructions on open 20×20 fields on which all that is needed lies three times."""
    cases = list(_with_choices(20))
    least = kept(cases, "optimal", MOST)["cost"]
    return {order: dearer(kept(cases, order, LARGE)["cost"], least) for order in (PLAIN, NOVEL)}


def _with_choices(size: int, copies: int = 3, maps: int = 4) -> Iterator[Case]:
    """Of each seed instructions of 2 to 4 terms: where a thing lies once, there is nothing to choose."""
    for seed in SEEDS:
        for length in (2, 3, 4):
            terms = instruction(stream(seed, "large", "instruction", length), length)
            things = list(objects_for(terms)) * copies
            for number in range(maps):
                cells = stream(seed, "large", "choices", length, number).permutation(size * size)[: len(things) + 1]
                agent, *places = (divmod(cell, size) for cell in cells.tolist())
                world = CraftingWorld(size, size)
                state = world.state(dict(zip(places, things, strict=True)), agent)
                yield Case(seed, world, state, Machine.of(parse(" then ".join(terms))))


def dearer(costs: Sequence[float], least: Sequence[float]) -> dict[str, float]:
    """By how much plans cost more than the cheapest in the mean, and in which share that is known."""
    found, known = np.array(costs), np.isfinite(least)
    both = known & np.isfinite(found)
    ratio = float((found[both] / np.array(least)[both]).mean())
    return {"cases": len(known), "dearer": round(ratio - 1, 4), "share_with_known_least_cost": round(known.mean(), 3)}


def _sheep(size: int = 20) -> dict[str, int]:
    """A sword in hand, a sheep in the far corner, three plants near the start: expansions."""
    world = CraftingWorld(size, size)
    plants = {(1, 1): "potato-plant", (1, 2): "beetroot-crop", (2, 1): "sugar-cane-plant"}
    state = world.state({**plants, (size - 1, size - 1): "sheep"}, (0, 0), ["sword"])
    case = Case(SEEDS[0], world, state, Machine.of(parse("mine-wool")))
    return {order: kept([case], order, LARGE)["expansions"][0] for order in (PLAIN, NOVEL)}


def _kernel(budget: int = 20_000, tries: int = 10) -> dict[str, int]:
    """Expansions per second of CPU time of one search that finds nothing, the growing of its arrays included."""
    machine = Machine.of(parse("mine-sugar-cane then craft-arrow"))
    world, state = sample_map(KIND, stream(1, "bench"))
    figures = {}
    for order in (PLAIN, NOVEL):
        rates = []
        for _ in range(tries):
            start = time.process_time()
            made = plan(world, state, machine, SOURCE.true_goals, SearchSettings(Product(order), budget=budget))
            rates.append(made.expansions / (time.process_time() - start))
        figures[f"{order}_expansions_per_cpu_s"] = round(max(rates))
    return figures
