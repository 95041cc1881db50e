"""`rsg reproduce goal-only`: plans for a goal when nobody names the steps, the paper's search figure and beyond."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from reproductions import goal_trials
from reproductions.goal_claims import claims_table, judged
from reproductions.goal_links import CUTS, checked, links_section, true_orders
from reproductions.goal_terms import plans_for_terms, terms_section, without_section
from reproductions.goal_trials import (
    ALL,
    BUDGET,
    EASY,
    GROUPS,
    HARD,
    SUBGOALS,
    TITLES,
    UNITS,
    Columns,
    Planner,
    Trials,
    gathered,
    listing,
    reached,
)
from reproductions.harness.figures import Picture
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results, seed_of
from reproductions.harness.tables import NONE, number, page, table
from reproductions.harness.trials import Learned, Size, Variant, learned, learning
from reproductions.harness.verdicts import FACTOR, POINTS
from reproductions.paper.algorithm_2 import Candidates
from rsg.core.random import stream
from rsg.language import machine_of
from rsg.planning import Dependencies
from rsg.subgoals import discover

NAME = SPLIT = "goal-only"
BLIND_BUDGET = 200_000


class Method(NamedTuple):
    """One way to plan for a goal: what readers see, changes to the settings, by which threshold links were found."""

    label: str
    changes: Mapping[str, Any] = {}
    threshold: str = "half"


OURS, PAPER, PRINTED, BLIND = "ours", "paper", "printed", "blind"
MAIN = {
    OURS: Method("ours"),
    PAPER: Method("the paper's algorithm, threshold 1/2", {"method": "paper"}),
    PRINTED: Method("the paper's algorithm, threshold as printed", {"method": "paper"}, "paper"),
    "uniform": Method("the paper's algorithm, without dependencies", {"method": "uniform"}),
    BLIND: Method("blind", {"method": "blind"}),
}
LADDER = {  # the first row and ours are those of MAIN
    PAPER: MAIN[PAPER],
    "longer": Method("… up to 8 steps instead of 6", {"method": "paper", "length_limit": 8}),
    "priority": Method("one search over regions, ranked by the paper's priority", {"guide": "priority"}),
    "conditional": Method("… ranked by what always came before", {"guide": "conditional"}),
    OURS: Method("… ranked by prerequisites (**ours**)"),
    "helpful": Method("ours, but only helpful terms make regions", {"guide": "helpful"}),
    "unranked": Method("ours, regions without a rank", {"guide": "none"}),
}
LIMITS = {f"limit-{n}": Method(f"{n:,}", {"method": "paper", "each": n}) for n in (200, 500, 1000, 2000, 5000)}
METHODS = {**MAIN, **LADDER, **LIMITS}

FULL = Size(
    400, {"starts": 100, "ladder": 25, "limits": 20, "terms": 20, "growth": 8, "without": 50, "budget": BUDGET}, seeds=5
)
QUICK = Size(
    20,
    {"starts": 4, "ladder": 2, "limits": 1, "terms": 1, "growth": 1, "without": 5, "budget": BUDGET},
    0.3,
    {"steps": 100, "curriculum": 30},
)  # starts of each goal; of each of the 26 terms and kind of hands, and on larger maps; where something is missing


def jobs(size: Size) -> Iterator[Job]:
    """For each seed what was learned, and plans by each method; the paper's limit is looked for with the first seed."""
    groups = {"ours": [OURS], "paper": [PAPER, PRINTED], "uniform": ["uniform"], "blind": [BLIND]}
    plans = {name: {one: _asked(one, size["starts"], size) for one in group} for name, group in groups.items()}
    plans["ladder"] = {one: _asked(one, size["ladder"], size) for one in LADDER if one not in MAIN}
    terms = {key: size[key] for key in ("terms", "growth", "without")}
    terms["settings_of_plans"] = _asked(OURS, 0, size)["settings"]
    limits = {one: {**_asked(one, size["limits"], size), "drawn": "limits"} for one in LIMITS}
    for seed in range(size.seeds):
        yield learning(NAME, size, seed, Variant("links", {}, {}), links_job)
        for name, methods in plans.items():
            yield learning(NAME, size, seed, Variant(name, {}, {"methods": methods}), plans_job)
        yield learning(NAME, size, seed, Variant("terms", {}, terms), terms_job)
        if seed == 0:
            yield learning(NAME, size, seed, Variant("limits", {}, {"methods": limits}), plans_job)


def _asked(name: str, starts: int, size: Size) -> Plain:
    """What a job is asked for: all settings written out, how many starts of each goal, drawn for what, what counts."""
    budget = 8 * size["budget"] if name == BLIND else size["budget"]
    settings = {"method": "regions", "seed": 0, **METHODS[name].changes, "budget": budget}
    threshold = METHODS[name].threshold
    return {"starts": starts, "drawn": "test", "threshold": threshold, "settings": settings, "units": list(UNITS)}


def dependencies(found: Learned, threshold: str = "half") -> Dependencies:
    """What the demonstrations show of the subgoals, by one of `CUTS`."""
    terms, world_of = found.subgoals.terms, lambda demo: found.source.world(demo.setting)
    return discover(found.subgoals.goals, terms, found.store, world_of, CUTS[threshold])


def links_job(parameters: Plain, place: Place) -> Plain:
    """How far the links that are discovered by each threshold are those of the rule table."""
    found = learned(parameters, place)
    truth = true_orders(found.store, found.source)
    return {"links": {name: checked(dependencies(found, name), truth) for name in CUTS}}


def plans_job(parameters: Plain, place: Place) -> Plain:
    """Plans for the last term of each task of the split; nothing else of the task is used but where it starts."""
    found = learned(parameters, place)
    known, result = cache(partial(dependencies, found)), Plain()
    for name, asked in parameters["methods"].items():
        planner = Planner(found, known(asked["threshold"]), asked["settings"])
        rows = []
        for place_, text in enumerate(found.source.tasks(SPLIT)):
            starts = _starts(found, place_, asked)
            row = planner.row(text.rpartition(" then ")[2], starts)
            rows.append({**row, "subgoals": len(machine_of(text).terms)})
        result[name] = {"budget": planner.budget, "goals": rows}
    return {"methods": result}


def _starts(found: Learned, task: int, asked: Plain) -> Iterator[tuple[Any, Any]]:
    for i in range(asked["starts"]):
        demo, _ = found.source.demonstrate(SPLIT, task, stream(found.starts, asked["drawn"], SPLIT, task, i))
        yield found.source.world(demo.setting), demo.states[0]


def terms_job(parameters: Plain, place: Place) -> Plain:
    """Our plans for all terms."""
    found = learned(parameters, place)
    planner = Planner(found, dependencies(found), parameters["settings_of_plans"])
    return plans_for_terms(planner, parameters)


# The section.

SHARES = (0.5, 0.7, 0.9, 0.99)
NUMBERS = [group for group in SUBGOALS if group not in GROUPS]  # all goals of one number of subgoals
OTHERS = [unit for unit in UNITS if unit != "expansions"]
TO: Columns = {f"to {100 * share:.0f} %": partial(reached, share=share) for share in SHARES}
WITHIN: Columns = {f"success within {BUDGET:,}, %": goal_trials.success_text, **goal_trials.ENDS}


def _to_70(trials: Trials, group: str, unit: str) -> str:
    return reached(trials.of(group), 0.7, unit)


SHORT: Columns = {
    **{
        f"{label} to 70 %, {group}": partial(_to_70, group=group, unit=unit)
        for unit, label in UNITS.items()
        for group in (EASY, HARD)
    },
    **WITHIN,
}
# As the paper has them: expansions to 70 %, times fewer than blind.
PAPER_ROWS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    EASY: {"with dependencies": (NONE, "2.4"), "blind": (NONE, "1")},
    HARD: {
        "with dependencies": (f"{goal_trials.PAPER_POINTS['with dependencies']:,}", "4.5"),
        "blind": (f"{goal_trials.PAPER_POINTS['blind']:,}", "1"),
    },
    ALL: {},
}


def section(size: Size, results: Results) -> Section:
    """All that was found, from the jobs that are finished."""
    del size
    trials = gathered(
        (name, method["budget"], seed_of(job), method["goals"])
        for job, one in results.items()
        for name, method in one.get("methods", {}).items()
    )
    main, limits = ({name: trials[name] for name in some if name in trials} for some in (MAIN, LIMITS))
    links, wide = (results.by_seed(key) for key in ("links", "sets"))
    told: Plain = dict.fromkeys(("pooled", "by_goal", "claims", "our_goals", "limits", "ladder", "ladder_starts"))
    summary, pictures, more = Plain(), dict[str, Picture](), dict[str, str]()
    if main:
        told["pooled"] = {TITLES[group]: _pooled(main, group) for group in GROUPS}
        told["by_goal"] = {label: _by_goal(main, unit) for unit, label in UNITS.items()}
        summary |= {"paper": goal_trials.PAPER_POINTS, "goals": _figures(main)}
        caption = "Success against expanded nodes: mean over seeds, their range as a band; dotted: the budget"
        pictures["success"] = Picture(caption, partial(goal_trials.draw_pooled, trials=main))
    if claims := {name: found for name in (PAPER, PRINTED) if (found := judged(main, name))}:
        told["claims"] = {MAIN[name].label: claims_table(found) for name, found in claims.items()}
        summary["claims"] = claims
    if OURS in main:
        ours = {goal: main[OURS].of(goal=goal) for goal in main[OURS].goals}
        told["our_goals"] = listing("goal", ours, {**TO, **_states(), **WITHIN})
    if limits:
        named = {LIMITS[name].label: one for name, one in limits.items()}
        told["limits"], summary["limits"] = listing("expansions of each candidate", named, SHORT), _figures(limits)
    if any(name in trials for name in LADDER if name not in MAIN):
        steps = _ladder(trials)
        named = {LADDER[name].label: several for name, several in steps.items()}
        told |= {"ladder": listing("method", named, SHORT), "ladder_starts": _starts_of(next(iter(steps.values())))}
        summary["ladder"] = _figures(steps)
    if wide:
        more["All terms"], summary["terms"] = terms_section(wide)
        more["No solution"], summary["no_solution"] = without_section(wide)
    if links:
        more["Links between subgoals"], summary["links"] = links_section(
            {seed: one["links"] for seed, one in links.items()}
        )
    limited = {"budget": f"{BUDGET:,}", "blind_budget": f"{BLIND_BUDGET:,}", "each": f"{Candidates().each:,}"}
    margins = {"factor": FACTOR, "points": f"{100 * POINTS:.0f}", "steps": Candidates().length_limit}
    text = page(NAME, **told, **limited, **margins, names={name: one.label for name, one in MAIN.items()}, more=more)
    return Section("Plans for a goal only, Crafting World", text, summary, pictures)


def _pooled(main: Mapping[str, Trials], group: str) -> str:
    """Each method with the goals of a group, beside the paper's."""
    chosen = {
        f"**{MAIN[name].label}**" if name == OURS else MAIN[name].label: several.of(group)
        for name, several in main.items()
    }
    blind = chosen.get(MAIN[BLIND].label, Trials(0, {}))
    fewer: Columns = {"times fewer than blind at 70 %": partial(_fewer, blind=blind, unit="expansions")}
    paper = [
        [f"**the paper: {name}**", NONE, to, NONE, NONE, times, *[NONE] * 7]
        for name, (to, times) in PAPER_ROWS[group].items()
    ]
    return listing("method", chosen, {**TO, **fewer, **_states(blind), **WITHIN}, paper)


def _states(blind: Trials | None = None) -> Columns:
    """States to 70 %, and how many times fewer than blind."""
    columns: dict[str, Callable[[Trials], str]] = {}
    for unit in OTHERS:
        columns[f"{UNITS[unit]} to 70 %"] = partial(reached, share=0.7, unit=unit)
        if blind is not None:
            columns[f"times fewer {UNITS[unit]}"] = partial(_fewer, blind=blind, unit=unit)
    return columns


def _fewer(trials: Trials, blind: Trials, unit: str) -> str:
    return number(trials.fewer_than(blind, unit=unit), 1)


def _by_goal(main: Mapping[str, Trials], unit: str) -> str:
    """What each goal takes to 70 % by each method; and all goals of the same number of subgoals together."""
    every, rows = next(iter(main.values())), []
    for group in NUMBERS:
        goals, (subgoals,) = every.of(group).goals, SUBGOALS[group]
        parts = {f"**all with {subgoals}**": [one.of(group) for one in main.values()]} if len(goals) > 1 else {}
        parts |= {goal: [one.of(goal=goal) for one in main.values()] for goal in goals}
        rows += [
            [label, str(subgoals), *(reached(one, 0.7, unit) for one in several)] for label, several in parts.items()
        ]
    return table(["goal", "subgoals", *(MAIN[name].label for name in main)], rows)


def _ladder(trials: Mapping[str, Trials]) -> dict[str, Trials]:
    """The rows of the ladder, all with the same starts."""
    few = min(map(_starts_of, (trials[name] for name in LADDER if name in trials and name not in MAIN)))
    return {name: trials[name].of(starts=few) for name in LADDER if name in trials}


def _starts_of(trials: Trials) -> int:
    """How many starts every goal has."""
    return min(len(row["success"]) for rows in trials.rows for row in rows)


def _figures(several: Mapping[str, Trials]) -> Plain:
    """What the tables say, as plain JSON."""
    found = Plain()
    for name, trials in several.items():
        groups = {group: trials.of(group) for group in SUBGOALS}
        parts = {**groups, **{goal: trials.of(goal=goal) for goal in trials.goals}}
        found[name] = {key: _plain(one) for key, one in parts.items() if one.seeds}
        for group in groups if BLIND in several else ():
            for unit in UNITS:
                if times := groups[group].fewer_than(several[BLIND].of(group), unit=unit):
                    more = f"_{unit}" if unit in OTHERS else ""
                    found[name][group][f"times_fewer_than_blind{more}"] = [times.mean, times.least, times.most]
    return found


def _plain(trials: Trials) -> Plain:
    reaches = {
        f"{unit}_to_{100 * share:.0f}".removeprefix("expansions_"): trials.reach(share, unit).values()
        for unit in UNITS
        for share in SHARES
    }
    return {
        **{name: [None if math.isinf(value) else value for value in some] for name, some in reaches.items()},
        "success": trials.success().plain(),
        "wrong": trials.wrong(),
        "milliseconds_median": trials.milliseconds().mean,
    }


EXPERIMENT = Experiment(NAME, FULL, QUICK, jobs, section)
