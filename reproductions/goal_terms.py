"""All 26 terms as goals: what is in the hands, larger maps, and goals that cannot be reached."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from reproductions.goal_trials import ENDS, SIZE, Columns, Planner, Trials, gathered, listing, success_text
from reproductions.harness.jobs import Plain
from reproductions.harness.tables import mean_of, number, page
from rsg.core.random import stream
from rsg.core.words import quantity
from rsg.domains.crafting import VOCABULARY, CraftingWorld
from rsg.domains.crafting.maps import objects_for
from rsg.domains.crafting.starts import leading_to, rules_for, start_for, ways
from rsg.domains.crafting.world import States

LARGER = (9, 12)
NAMES = {
    "primitive": "tools and ingredients of one of the term's rules",
    "tools": "the tools of one of its rules",
    "empty": "nothing",
}
COLUMNS: Columns = {
    "episodes": lambda trials: f"{sum(trials.success().trials):,}",
    "success within the budget, %": success_text,
    "wrong plans": ENDS["wrong plans"],
    "expansions, mean": lambda trials: number(trials.expansions(np.mean), 0),
    "expansions, median": lambda trials: number(trials.expansions(np.median), 0),
    "median time": ENDS["median time"],
}

Sets = dict[tuple[str, int], Trials]
"""Trials by what is in the hands and by the size of the map."""


def possible(objects: Collection[str]) -> set[str]:
    """The terms that can come true from empty hands where these objects are within reach.

    >>> sorted(possible({"axe", "tree", "boat-station"}))
    ['grab-axe', 'mine-wood']
    """
    found: set[str] = set()
    there = [term for term in VOCABULARY if set(objects_for([term])) <= set(objects)]
    while True:
        more = {term for term in there if term not in found and any(way <= found for way in ways(term))}
        if not more:
            return found
        found |= more


class NoWay(NamedTuple):
    """A start from which a goal cannot be reached.

    Attributes:
        world, state: where it starts, with empty hands.
        goal: what cannot come true.
        removed: the object that the map lacks.
        first: the subgoals that lack nothing but this object; all others that are impossible come after them.
        possible: the subgoals on the way to the goal that can be reached all the same.
    """

    world: CraftingWorld
    state: States
    goal: str
    removed: str
    first: frozenset[str]
    possible: frozenset[str]


def start_without(size: int, rng: np.random.Generator) -> NoWay:
    """A start that lacks one object without which a goal, drawn by chance, is impossible."""
    goals = [term for term in VOCABULARY if any(ways(term))]
    goal = goals[rng.integers(len(goals))]
    needs = objects_for(leading_to(goal))
    vital = [name for name in needs if goal not in possible(set(needs) - {name})]
    removed = vital[rng.integers(len(vital))]
    world, state = start_for(goal, size, rng)
    cells = world.cells(state)
    cells[cells == world.rules.code(removed)] = 0
    able = possible(set(needs) - {removed})
    on_the_way = frozenset(leading_to(goal))
    first = frozenset(term for term in on_the_way - able if any(way <= able for way in ways(term)))
    return NoWay(world, state, goal, removed, first, on_the_way & able)


def held_for(term: str, hands: str, rng: np.random.Generator) -> tuple[str, ...]:
    """What is in the hands at the start, by one of the `NAMES`; nothing where the term has no rule."""
    rules = rules_for(term)
    if not rules or hands == "empty":
        return ()
    rule = rules[rng.integers(len(rules))]
    return (*rule.tools, *rule.uses) if hands == "primitive" else rule.tools


def plans_for_terms(planner: Planner, asked: Plain) -> Plain:
    """Plans for all terms, by what is in the hands and by the size of the map; and where there is no way."""
    wanted = [(hands, SIZE, asked["terms"]) for hands in NAMES]
    wanted += [(hands, size, asked["growth"]) for size in LARGER for hands in ("tools", "empty")]
    sets = []
    for hands, size, count in wanted:
        rows = []
        for term in VOCABULARY:
            streams = (stream(planner.seed, "test", "terms", term, hands, size, i) for i in range(count))
            rows.append(planner.row(term, (start_for(term, size, rng, held_for(term, hands, rng)) for rng in streams)))
        sets.append({"hands": hands, "size": size, "terms": rows})
    without = [_without(planner, number_) for number_ in range(asked["without"])]
    return {"budget": planner.budget, "sets": sets, "without": without}


def _without(planner: Planner, place: int) -> Plain:
    """A plan for a goal that cannot be reached."""
    start = start_without(SIZE, stream(planner.seed, "test", "without", place))
    made, _, right = planner.attempt(start.world, start.state, start.goal)
    assert not right, "a goal that is impossible by the rule table was reached"
    return {
        "goal": start.goal,
        "removed": start.removed,
        "first": sorted(start.first),
        "possible": sorted(start.possible),
        "found": made.found,
        "ended": made.ended,
        "expansions": made.expansions,
        "microseconds": round(1e6 * made.seconds),
        "reached": list(made.reached),
        "missed": list(made.missed),
        "reason": made.reason,
    }


def terms_section(results: Mapping[int, Plain]) -> tuple[str, Plain]:
    """The text about all terms and its figures, from the results of each seed."""
    sets: Sets = gathered(
        ((several["hands"], several["size"]), one["budget"], seed, several["terms"])
        for seed, one in results.items()
        for several in one["sets"]
    )
    smallest = min(size for _, size in sets)
    kinds = [key for key in sets if key[1] == smallest]
    sizes = Counter(hands for hands, _ in sets)
    growth = sorted((key for key in sets if sizes[key[0]] > 1), key=lambda key: key[1])
    text = page(
        "goal-terms",
        smallest=smallest,
        hands=listing("in the hands", {NAMES[hands]: sets[hands, size] for hands, size in kinds}, COLUMNS),
        below_on_small=_below(sets, kinds),
        larger=listing(
            "map, in the hands",
            {f"{size}×{size}, {NAMES[hands]}": sets[hands, size] for hands, size in growth},
            COLUMNS,
        ),
        below_on_larger=_below(sets, [key for key in growth if key[1] != smallest]),
    )
    return text, {
        f"{hands}-{size}": {
            "success": several.success().plain(),
            "wrong": several.wrong(),
            "expansions_mean": several.expansions(np.mean).mean,
            "expansions_median": several.expansions(np.median).mean,
            "milliseconds_median": several.milliseconds().mean,
            "below": _shares(several),
        }
        for (hands, size), several in sets.items()
    }


def _shares(trials: Trials) -> dict[str, list[int]]:
    """The terms that were not always reached: successes and episodes."""
    found = {name: trials.of(goal=name).success() for name in trials.goals}
    return {
        name: [sum(rate.successes), sum(rate.trials)]
        for name, rate in found.items()
        if sum(rate.successes) < sum(rate.trials)
    }


def _below(sets: Sets, keys: Sequence[tuple[str, int]]) -> dict[str, dict[str, list[int]]]:
    """The terms below 100 %, by map and hands."""
    every = {f"{size}×{size}, in the hands {NAMES[hands]}": _shares(sets[hands, size]) for hands, size in keys}
    return {words: shares for words, shares in every.items() if shares}


def without_section(results: Mapping[int, Plain]) -> tuple[str, Plain]:
    """The text about goals that cannot be reached, and its figures."""
    each = [one["without"] for one in results.values() if one["without"]]
    rows = [row for some in each for row in some]
    if not rows:
        return "", {}
    quiet = [row for row in rows if not row["found"]]
    named = [row for row in quiet if set(row["first"]) & set(row["missed"])]
    clean = [row for row in named if not set(row["missed"]) & set(row["possible"])]
    expansions, time = (
        mean_of([float(np.mean([row[key] for row in some])) / unit for some in each])
        for key, unit in (("expansions", 1), ("microseconds", 1000))
    )
    example = next((row for row in clean if len(row["missed"]) > 1 and row["reached"]), (clean or rows)[0])
    found = {
        "starts": len(rows),
        "no_plan": len(quiet),
        "exhausted": sum(row["ended"] == "exhausted" for row in rows),
        "names_first": len(named),
        "named_mean": float(np.mean([len(row["missed"]) for row in named])) if named else 0.0,
        "names_nothing_possible": len(clean),
        "expansions_mean": expansions.mean,
        "milliseconds_mean": time.mean,
    }
    text = page(
        "goal-no-way",
        found=found,
        starts=quantity(len(rows), "start"),
        budget=f"{next(iter(results.values()))['budget']:,}",
        expansions=number(expansions, 0),
        time=number(time, 0, "ms"),
        example=example,
    )
    return text, found
