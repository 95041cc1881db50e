"""`rsg reproduce goal-only`: plans for a goal when nobody names the steps, the paper's search figure and beyond."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from reproductions.goal_curves import PAPER_POINTS, draw_pooled
from reproductions.goal_guides import goal_settings
from reproductions.goal_links import CUTS, checked, links_section, true_orders
from reproductions.goal_terms import plans_for_terms, terms_section, without_section
from reproductions.goal_trials import (
    BUDGET,
    EASY,
    ENDS,
    HARD,
    Columns,
    Planner,
    Trials,
    listing,
    rate_text,
    reached,
    seed_of,
)
from reproductions.harness.jobs import Job, Place, Plain
from reproductions.harness.reproduce import Experiment, Extent, Picture, Section
from reproductions.harness.results import Results
from reproductions.harness.statistics import Mean, mean_of
from reproductions.harness.tables import NONE, number
from reproductions.harness.trials import Learned, Size, Variant, learned, learning
from rsg.core.random import stream
from rsg.language import machine_of
from rsg.planning import Candidates, Dependencies
from rsg.subgoals import discover

NAME = SPLIT = "goal-only"
BLIND_BUDGET = 200_000


class Method(NamedTuple):
    """One way to plan for a goal: what readers see, changes to the settings, by which threshold links were found."""

    label: str
    changes: Mapping[str, Any] = {}
    threshold: str = "half"


OURS, PAPER, BLIND = "ours", "paper", "blind"
MAIN = {
    OURS: Method("ours"),
    PAPER: Method("the paper's algorithm, with our threshold and test of the goal", {"method": "paper"}),
    "printed": Method("the paper's algorithm, as printed", {"method": "paper", "trust": True}, "paper"),
    "uniform": Method("the paper's algorithm, without dependencies", {"method": "uniform"}),
    BLIND: Method("blind", {"method": "blind"}),
}
LADDER = {  # the first and the fourth row are those of MAIN
    PAPER: MAIN[PAPER],
    "longer": Method("the paper's algorithm, up to 8 steps instead of 6", {"method": "paper", "length_limit": 8}),
    "untested": Method("the paper's algorithm, without our test of the goal", {"method": "paper", "trust": True}),
    "priority": Method("one search over regions, ranked by the paper's priority", {"guide": "priority"}),
    "conditional": Method("… ranked by what always came before", {"guide": "conditional"}),
    OURS: Method("… ranked by prerequisites (**ours**)"),
    "trusting": Method("ours, but a goal is believed without its prerequisites", {"trust": True}),
    "helpful": Method("ours, but only helpful terms make regions", {"guide": "helpful"}),
    "unranked": Method("ours, regions without a rank", {"guide": "none"}),
}
LIMITS = {f"limit-{n}": Method(f"{n:,}", {"method": "paper", "each": n}) for n in (200, 500, 1000, 2000, 5000)}
METHODS = {**MAIN, **LADDER, **LIMITS}

FULL = Size(400, {"starts": 100, "ladder": 25, "limits": 20, "terms": 20, "growth": 8, "without": 50, "budget": BUDGET})
QUICK = Size(
    20,
    {"starts": 4, "ladder": 2, "limits": 1, "terms": 1, "growth": 1, "without": 5, "budget": BUDGET},
    0.3,
    {"steps": 100, "curriculum": 30},
)  # starts of each goal; of each of the 26 terms and kind of hands, and on larger maps; where something is missing


def jobs(extent: Extent) -> list[Job]:
    """For each seed what was learned, and plans by each method; the paper's limit is looked for with the first seed."""
    size, listed = extent.size, []
    for seed in range(extent.seeds):
        groups = {"ours": [OURS], "paper": [PAPER, "printed"], "uniform": ["uniform"], "blind": [BLIND]}
        work: dict[str, tuple[Any, Plain]] = {"links": (links_job, {})}
        for name, methods in groups.items():
            work[name] = (plans_job, {"methods": {one: _asked(one, size["starts"], size) for one in methods}})
        ladder = {one: _asked(one, size["ladder"], size) for one in LADDER if one not in MAIN}
        work["ladder"] = (plans_job, {"methods": ladder})
        wide = {key: size[key] for key in ("terms", "growth", "without")}
        work["terms"] = (terms_job, {**wide, "settings_of_plans": _asked(OURS, 0, size)["settings"]})
        if seed == 0:
            tried = {one: {**_asked(one, size["limits"], size), "drawn": "limits"} for one in LIMITS}
            work["limits"] = (plans_job, {"methods": tried})
        listed += [learning(NAME, size, seed, Variant(name, {}, asked), run) for name, (run, asked) in work.items()]
    return listed


def _asked(name: str, starts: int, size: Size) -> Plain:
    """What a job is asked for: all settings written out, and how many starts of each goal, drawn for what."""
    budget = 8 * size["budget"] if name == BLIND else size["budget"]
    settings = {"method": "regions", "trust": False, "seed": 0, **METHODS[name].changes, "budget": budget}
    return {"starts": starts, "drawn": "test", "threshold": METHODS[name].threshold, "settings": settings}


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
        planner = Planner(found, known(asked["threshold"]), goal_settings(asked["settings"]))
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
    planner = Planner(found, dependencies(found), goal_settings(parameters["settings_of_plans"]))
    return plans_for_terms(planner, parameters)


# The section.

SHARES = (0.5, 0.7, 0.9, 0.99)
TO: Columns = {f"to {100 * share:.0f} %": partial(reached, share=share) for share in SHARES}
WITHIN: Columns = {f"success within {BUDGET:,}, %": lambda trials: rate_text(trials.success()), **ENDS}
SHORT: Columns = {
    **{f"to 70 %, {group}": partial(lambda trials, group: reached(trials.of(group), 0.7), group=group)
       for group in (EASY, HARD)},
    **WITHIN,
}  # fmt: skip
PAPER_ROWS = {  # as the paper has them: expansions to 70 %, times fewer than blind
    EASY: [("**the paper: with dependencies**", NONE, "2.4"), ("**the paper: blind**", NONE, "1")],
    HARD: [
        ("**the paper: with dependencies**", f"{PAPER_POINTS['with dependencies']:,}", "4.5"),
        ("**the paper: blind**", f"{PAPER_POINTS['blind']:,}", "1"),
    ],
}
_COUNTING = (
    "Only the last term of each task is given; the classifiers are learned, the links between subgoals are discovered "
    "in the training demonstrations. A plan counts if it is replayed in the true world and the goal, judged by the "
    "truth, comes true at its end. Every expansion counts. In our search a state is expanded at most once, and "
    "stands there for all candidate instructions with that completed prefix; in the paper's algorithm a (state, node) "
    "pair counts again for every candidate instruction. The budget is "
    f"{BUDGET:,} expansions, {BLIND_BUDGET:,} for the blind search. Unless its name says otherwise, "
    "a method uses our threshold, G ≥ 1/2, and our test of the goal, which is believed only where its prerequisites "
    "held just before; “as printed” means the paper's threshold and no such test. A *wrong plan* is one that the "
    "classifiers believe and the truth does not. Figures are means over seeds with the range over seeds in brackets "
    "(one percentage alone: all seeds alike), wrong plans those of all seeds together. Time is wall time, several jobs "
    "side by side on the machine."
)


def section(extent: Extent, results: Results) -> Section:
    """All that was found, from the jobs that are finished."""
    del extent
    trials = gathered(results)
    main, limits = ({name: trials[name] for name in some if name in trials} for some in (MAIN, LIMITS))
    links = {seed_of(job): one["links"] for job, one in results.items() if "links" in one}
    wide = {seed_of(job): one for job, one in results.items() if "sets" in one}
    text, summary, pictures = list[str](), Plain(), dict[str, Picture]()
    if main:
        text += ["### Eight goals", _COUNTING, *_pooled(main), *_by_goal(main)]
        summary |= {"paper": PAPER_POINTS, "goals": _figures(main)}
        band = "mean over seeds, their range as a band; dotted: the budget"
        pictures["success"] = Picture(f"Success against expanded nodes: {band}", partial(draw_pooled, trials=main))
    if limits:
        text += [
            "The paper does not say how many expansions each candidate instruction gets. Seed 0, on starts "
            f"that are used for nothing else, with our test of the goal; the tables above have "
            f"{Candidates().each:,}:",
            listing("expansions of each candidate", {LIMITS[name].label: one for name, one in limits.items()}, SHORT),
        ]
        summary["limits"] = _figures(limits)
    if any(name in trials for name in LADDER if name not in MAIN):
        steps = _ladder(trials)
        text += ["### Each idea with its gain", *_ladder_text(steps)]
        summary["ladder"] = _figures(steps)
    if wide:
        for key, head, part in (("terms", "All terms", terms_section), ("no_solution", "No solution", without_section)):
            words, summary[key] = part(wide)
            text += [f"### {head}", words]
    if links:
        words, summary["links"] = links_section(links)
        text += ["### Links between subgoals", words]
    return Section("Plans for a goal only, Crafting World", "\n\n".join(text), summary, pictures)


def gathered(results: Results) -> dict[str, Trials]:
    """The trials of each method, over all jobs."""
    found: dict[str, Trials] = {}
    for job, one in results.items():
        for name, method in one.get("methods", {}).items():
            found.setdefault(name, Trials(method["budget"], {})).seeds[seed_of(job)] = method["goals"]
    return found


def ratio(trials: Trials, blind: Trials, share: float = 0.7) -> Mean | None:
    """How many times fewer expansions than blind a method needs, over seeds; None where one never gets there."""
    own, theirs = trials.reach(share), blind.reach(share)
    both = own.keys() & theirs.keys()
    if not both or any(math.isinf(value) for seed in both for value in (own[seed], theirs[seed])):
        return None
    return mean_of([theirs[seed] / own[seed] for seed in sorted(both)])


def _fewer(trials: Trials, blind: Trials) -> str:
    return number(ratio(trials, blind), 1)


def _pooled(main: Mapping[str, Trials]) -> list[str]:
    """A table to each group of goals."""
    parts = []
    for group in (EASY, HARD):
        chosen = {
            f"**{MAIN[name].label}**" if name == OURS else MAIN[name].label: several.of(group)
            for name, several in main.items()
        }
        blind = chosen.get(MAIN[BLIND].label, Trials(0, {}))
        times: Columns = {"times fewer than blind at 70 %": partial(_fewer, blind=blind)}
        paper = [[label, NONE, to, NONE, NONE, fewer, NONE, NONE, NONE] for label, to, fewer in PAPER_ROWS[group]]
        parts += [
            f"**{group}**, expansions until so many of the starts are solved:",
            listing("method", chosen, {**TO, **times, **WITHIN}, paper),
        ]
    return parts


def _by_goal(main: Mapping[str, Trials]) -> list[str]:
    """Expansions to 70 % of each goal by each method, and more about ours."""
    every = next(iter(main.values()))
    goals = {goal: every.of(goal=goal) for goal in every.goals}
    by_method: Columns = {
        MAIN[name].label: partial(lambda one, several: reached(several.of(goal=one.goals[0]), 0.7), several=several)
        for name, several in main.items()
    }
    subgoals: Columns = {"subgoals": lambda one: str(one.rows[0][0]["subgoals"])}
    parts = [
        "Each goal, expansions until 70 % of the starts are solved:",
        listing("goal", goals, {**subgoals, **by_method}),
    ]
    if OURS in main:
        own = {goal: main[OURS].of(goal=goal) for goal in main[OURS].goals}
        parts += ["Each goal, ours:", listing("goal", own, {**TO, **WITHIN})]
    return parts


def _ladder(trials: Mapping[str, Trials]) -> dict[str, Trials]:
    """The rows of the ladder, all with the same starts."""
    own = [trials[name] for name in LADDER if name in trials and name not in MAIN]
    few = min(len(row["success"]) for one in own for rows in one.rows for row in rows)
    return {name: trials[name].of(starts=few) for name in LADDER if name in trials}


def _ladder_text(steps: Mapping[str, Trials]) -> list[str]:
    first = next(iter(steps.values())).rows[0][0]
    return [
        f"From the paper's algorithm to ours, and ours with one thing changed; {len(first['success'])} starts of each "
        f"goal, budget {BUDGET:,}.",
        listing("method", {LADDER[name].label: several for name, several in steps.items()}, SHORT),
        "A search over regions has no list of candidates, so some ideas are part of it and have no row: the order of "
        "the steps that a goal needs is free, as with `and`; what holds already is not asked for; a term that was used "
        "up may come again; and there is no limit of length. In the paper's algorithm a candidate whose first subgoal "
        "holds already costs nothing.",
    ]


def _figures(several: Mapping[str, Trials]) -> Plain:
    """What the tables say, as plain JSON."""
    found = Plain()
    for name, trials in several.items():
        parts = {
            "all": trials,
            **{group: trials.of(group) for group in (EASY, HARD)},
            **{goal: trials.of(goal=goal) for goal in trials.goals},
        }
        found[name] = {key: _plain(one) for key, one in parts.items() if one.seeds}
        for group in (EASY, HARD) if BLIND in several else ():
            times = ratio(trials.of(group), several[BLIND].of(group))
            if times:
                found[name][group]["times_fewer_than_blind"] = [times.mean, times.least, times.most]
    return found


def _plain(trials: Trials) -> Plain:
    return {
        **{
            f"to_{100 * share:.0f}": [None if math.isinf(value) else value for value in trials.reach(share).values()]
            for share in SHARES
        },
        "success": trials.success().plain(),
        "wrong": trials.wrong(),
        "milliseconds_median": trials.milliseconds().mean,
    }


EXPERIMENT = Experiment(NAME, 5, FULL, QUICK, jobs, section)
