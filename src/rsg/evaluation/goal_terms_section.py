"""The part of the section about all 26 terms: what is in the hands, larger maps, and goals that cannot be reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rsg.core.words import quantity
from rsg.evaluation.goal_curves import Trials, rate_text
from rsg.evaluation.jobs import Plain
from rsg.evaluation.statistics import mean_of
from rsg.evaluation.tables import number, table

Sets = dict[tuple[str, int], Trials]
"""Trials by what is in the hands and by the size of the map."""

NAMES = {
    "primitive": "tools and ingredients of one of the term's rules",
    "tools": "the tools of one of its rules",
    "empty": "nothing",
}


def gathered_sets(results: Mapping[int, Plain]) -> Sets:
    """The trials of all seeds."""
    found: Sets = {}
    for seed, one in results.items():
        for several in one["sets"]:
            key = (several["hands"], several["size"])
            found.setdefault(key, Trials(one["budget"], {})).seeds[seed] = several["terms"]
    return found


def terms_section(results: Mapping[int, Plain]) -> tuple[str, Plain]:
    """The text about all terms and its figures, from the results of each seed."""
    sets = gathered_sets(results)
    smallest = min(size for _, size in sets)
    kinds = [key for key in sets if key[1] == smallest]
    growth = sorted(growth_of(sets), key=lambda key: key[1])
    text = [
        f"All 26 terms as goals, on random open {smallest}×{smallest} maps on which all that can help is within a "
        "walk, without a key or a boat; the goal is false at the start. By what is in the hands at the start:",
        table(
            ["in the hands", "episodes", "success within the budget, %", "wrong plans", *_HEAD],
            [[NAMES[hands], *_cells(sets[hands, size])] for hands, size in kinds],
        ),
        _below(sets, kinds),
        "Larger maps, with the same number of objects:",
        table(
            ["map", "in the hands", "episodes", "success within the budget, %", "wrong plans", *_HEAD],
            [[f"{size}×{size}", NAMES[hands], *_cells(sets[hands, size])] for hands, size in growth],
        ),
        _below(sets, [key for key in growth if key[1] != smallest]),
    ]
    return "\n\n".join(part for part in text if part), {
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


_HEAD = ("expansions, mean", "expansions, median", "median time")


def _cells(trials: Trials) -> list[str]:
    rate = trials.success()
    return [
        f"{sum(rate.trials):,}",
        rate_text(rate),
        str(trials.wrong()),
        number(trials.expansions(np.mean), 0),
        number(trials.expansions(np.median), 0),
        number(trials.milliseconds(), 2, "ms"),
    ]


def _shares(trials: Trials) -> dict[str, list[int]]:
    """The terms that were not always reached: successes and episodes."""
    found = {name: trials.of(goal=name).success() for name in trials.goals}
    return {
        name: [sum(rate.successes), sum(rate.trials)]
        for name, rate in found.items()
        if sum(rate.successes) < sum(rate.trials)
    }


def _below(sets: Sets, keys: Sequence[tuple[str, int]]) -> str:
    """The terms below 100 %, as sentences."""
    lines = []
    for hands, size in keys:
        shares = _shares(sets[hands, size])
        if shares:
            listed = ", ".join(f"{name} {done} of {of}" for name, (done, of) in shares.items())
            lines.append(f"- {size}×{size}, in the hands {NAMES[hands]}: {listed}")
    if not lines:
        return "Every term was reached from every start."
    return "\n".join(["Terms that were not reached from every start:", "", *lines])


def without_section(results: Mapping[int, Plain]) -> tuple[str, Plain]:
    """The text about goals that cannot be reached, and its figures."""
    rows = [row for one in results.values() for row in one["without"]]
    if not rows:
        return "", {}
    quiet = [row for row in rows if not row["found"]]
    named = [row for row in quiet if set(row["first"]) & set(row["missed"])]
    exhausted = [row for row in rows if row["ended"] == "exhausted"]
    clean = [row for row in named if not set(row["missed"]) & set(row["possible"])]
    count, budget = len(rows), next(iter(results.values()))["budget"]
    each = [one["without"] for one in results.values() if one["without"]]
    expansions = mean_of([float(np.mean([row["expansions"] for row in some])) for some in each])
    time = mean_of([float(np.mean([row["microseconds"] for row in some])) / 1000 for some in each])
    several = float(np.mean([len(row["missed"]) for row in named])) if named else 0.0
    example = next((row for row in clean if len(row["missed"]) > 1 and row["reached"]), (clean or rows)[0])
    words = f"the map lacks the {example['removed']}. “{example['reason']}.”"
    if example["reached"]:
        words += f" Reached were: {', '.join(example['reached'])}."
    text = (
        f"From {quantity(count, 'start')} with empty hands one object was removed without which the goal "
        f"is impossible. Within the budget of {budget:,} expansions {len(quiet)} of {count} searches ended without a "
        f"plan ({len(exhausted)} because everything that can be reached was tried); {count - len(quiet)} gave a wrong "
        f"plan. Expansions, mean: {number(expansions, 0)}; time, mean: {number(time, 0, 'ms')}. In {len(named)} the "
        "report names the first subgoal that is impossible (the one that lacks nothing but the object) among those "
        f"that could not be reached, of which it names {several:.1f} in the mean; in {len(clean)} it names none "
        f"that is possible. An example, goal {example['goal']}: {words}"
    )
    summary = {
        "starts": count,
        "no_plan": len(quiet),
        "exhausted": len(exhausted),
        "names_first": len(named),
        "named_mean": several,
        "names_nothing_possible": len(clean),
        "expansions_mean": expansions.mean,
        "milliseconds_mean": time.mean,
    }
    return text, summary


def growth_of(sets: Sets) -> Sets:
    """The sets that were tried on maps of several sizes."""
    counts = {hands: len({size for other, size in sets if other == hands}) for hands, _ in sets}
    return {key: several for key, several in sets.items() if counts[key[0]] > 1}
