"""The section of `rsg reproduce goal-only`: its text, its tables and what they say of the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from rsg.evaluation.goal_curves import (
    EASY,
    HARD,
    PAPER_POINTS,
    Trials,
    draw_goals,
    draw_growth,
    draw_pooled,
    gathered,
    rate_text,
    reached,
    seed_of,
)
from rsg.evaluation.goal_links import links_section
from rsg.evaluation.goal_methods import BLIND, BLIND_BUDGET, BUDGET, LADDER, LIMITS, MAIN, OURS
from rsg.evaluation.goal_terms_section import gathered_sets, growth_of, terms_section, without_section
from rsg.evaluation.jobs import Plain
from rsg.evaluation.reproduce import Extent, Picture, Results, Section
from rsg.evaluation.statistics import Mean, mean_of
from rsg.evaluation.tables import NONE, number, table
from rsg.planning import GoalSettings

SHARES = (0.5, 0.7, 0.9, 0.99)
PAPER_ROWS = {  # as the paper has them: expansions to 70 %, times fewer than blind
    EASY: [("**the paper: with dependencies**", NONE, "2.4"), ("**the paper: blind**", NONE, "1")],
    HARD: [
        ("**the paper: with dependencies**", f"{PAPER_POINTS['with dependencies']:,}", "4.5"),
        ("**the paper: blind**", f"{PAPER_POINTS['blind']:,}", "1"),
    ],
}


def section(extent: Extent, results: Results) -> Section:
    """All that was found, from the jobs that are finished."""
    del extent
    trials = gathered(results)
    main = {name: trials[name] for name in MAIN if name in trials}
    links, wide = (
        {seed_of(job): one for job, one in results.items() if key in one} for key in ("dependencies", "sets")
    )
    text, summary, pictures = list[str](), Plain(), dict[str, Picture]()
    if main:
        text += ["### Eight goals", _COUNTING, *_pooled(main), *_by_goal(main)]
        summary |= {"paper": PAPER_POINTS, "goals": _figures(main)}
        band = "mean over seeds, their range as a band; dotted: the budget"
        pictures["success"] = Picture(f"Success against expanded nodes: {band}", partial(draw_pooled, trials=main))
        pictures["by-goal"] = Picture(f"The same for each goal: {band}", partial(draw_goals, trials=main))
    limits = {name: trials[name] for name in LIMITS if name in trials}
    if limits:
        text += _limits(limits)
        summary["limits"] = _figures(limits)
    if any(name in trials for name in LADDER if name not in MAIN):
        steps = _ladder(trials)
        text += ["### Each idea with its gain", *_ladder_text(steps)]
        summary["ladder"] = _figures(steps)
    if wide:
        for key, head, part in (("terms", "All terms", terms_section), ("no_solution", "No solution", without_section)):
            words, summary[key] = part(wide)
            text += [f"### {head}", words]
        growing = growth_of(gathered_sets(wide))
        pictures["growth"] = Picture(
            "All 26 terms on larger maps: mean over seeds, with the range over seeds",
            partial(draw_growth, sets=growing),
        )
    if links:
        words, summary["links"] = links_section(links)
        text += ["### Links between subgoals", words]
    return Section("Plans for a goal only, Crafting World", "\n\n".join(text), summary, pictures)


_COUNTING = (
    "Only the last term of each task is given; the classifiers are learned, the links between subgoals are discovered "
    "in the training demonstrations. A plan counts if it is replayed in the true world and the goal, judged by the "
    "truth, comes true at its end. Every expansion counts. In our search a state is expanded at most once, and "
    "stands there for all candidate instructions with that completed prefix; in the paper's algorithm a (state, node) "
    "pair counts again for every candidate instruction. The budget is "
    f"{BUDGET:,} expansions, {BLIND_BUDGET:,} for the blind search. Unless its name says otherwise, "
    "a method uses our calibrated threshold and our test of the goal, which is believed only where its prerequisites "
    "held just before; “as printed” means the paper's threshold and no such test. A *wrong plan* is one that the "
    "classifiers believe and the truth does not. Figures are means over seeds with the range over seeds in brackets "
    "(one percentage alone: all seeds alike), wrong plans those of all seeds together. Time is wall time, several jobs "
    "side by side on the machine."
)


def ratio(trials: Trials, blind: Trials, share: float = 0.7) -> Mean | None:
    """How many times fewer expansions than blind a method needs, over seeds; None where one never gets there."""
    own, theirs = trials.reach(share), blind.reach(share)
    both = own.keys() & theirs.keys()
    if not both or any(math.isinf(value) for seed in both for value in (own[seed], theirs[seed])):
        return None
    return mean_of([theirs[seed] / own[seed] for seed in sorted(both)])


def _pooled(main: Mapping[str, Trials]) -> list[str]:
    """A table to each group of goals."""
    parts = []
    head = [
        "method",
        *(f"to {share:.0%}".replace("%", " %") for share in SHARES),
        "times fewer than blind at 70 %",
        f"success within {BUDGET:,}, %",
        "wrong plans",
        "median time",
    ]
    for group in (EASY, HARD):
        chosen = {name: several.of(group) for name, several in main.items()}
        rows = [
            [label, NONE, seventy, NONE, NONE, times, NONE, NONE, NONE] for label, seventy, times in PAPER_ROWS[group]
        ]
        for name, several in chosen.items():
            label = f"**{MAIN[name].label}**" if name == OURS else MAIN[name].label
            rows.append([label, *_cells(several, chosen.get(BLIND))])
        parts += [f"**{group}**, expansions until so many of the starts are solved:", table(head, rows)]
    return parts


def _cells(trials: Trials, blind: Trials | None, shares: Sequence[float] = SHARES) -> list[str]:
    times = ratio(trials, blind) if blind else None
    return [
        *(reached(trials, share) for share in shares),
        number(times, 1),
        rate_text(trials.success()),
        str(trials.wrong()),
        number(trials.milliseconds(), 2, "ms"),
    ]


def _by_goal(main: Mapping[str, Trials]) -> list[str]:
    """Expansions to 70 % of each goal by each method, and more about ours."""
    goals = {row["goal"]: row["subgoals"] for several in main.values() for rows in several.rows for row in rows}
    names = list(main)
    every = [
        [goal, str(count), *(reached(main[name].of(goal=goal), 0.7) for name in names)] for goal, count in goals.items()
    ]
    parts = [
        "Each goal, expansions until 70 % of the starts are solved:",
        table(["goal", "subgoals", *(MAIN[name].label for name in names)], every),
    ]
    if OURS in main:
        own = [[goal, *_cells(main[OURS].of(goal=goal), None)] for goal in goals]
        own = [[*row[:5], *row[6:]] for row in own]  # without the ratio to blind
        head = [
            "goal",
            *(f"to {100 * share:.0f} %" for share in SHARES),
            f"success within {BUDGET:,}, %",
            "wrong plans",
            "median time",
        ]
        parts += ["Each goal, ours:", table(head, own)]
    return parts


def _limits(limits: Mapping[str, Trials]) -> list[str]:
    rows = [[LIMITS[name].label, *_short(several)] for name, several in limits.items()]
    return [
        "The paper does not say how many expansions each candidate instruction gets. Seed 0, on starts "
        f"that are used for nothing else, with our test of the goal; the tables above have "
        f"{GoalSettings().per_candidate:,}:",
        table(["expansions of each candidate", *_SHORT_HEAD], rows),
    ]


_SHORT_HEAD = (
    f"to 70 %, {EASY}",
    f"to 70 %, {HARD}",
    f"success within {BUDGET:,}, %",
    "wrong plans",
    "median time",
)


def _short(trials: Trials) -> list[str]:
    return [*(reached(trials.of(group), 0.7) for group in (EASY, HARD)), *_cells(trials, None, ())[1:]]


def _ladder(trials: Mapping[str, Trials]) -> dict[str, Trials]:
    """The rows of the ladder, all with the same starts."""
    few = min(
        len(row["success"])
        for name in LADDER
        if name in trials and name not in MAIN
        for rows in trials[name].rows
        for row in rows
    )
    return {name: trials[name].of(starts=few) for name in LADDER if name in trials}


def _ladder_text(steps: Mapping[str, Trials]) -> list[str]:
    first = next(iter(steps.values())).rows[0][0]
    rows = [[LADDER[name].label, *_short(several)] for name, several in steps.items()]
    return [
        f"From the paper's algorithm to ours, and ours with one thing changed; {len(first['success'])} starts of each "
        f"goal, budget {BUDGET:,}.",
        table(["method", *_SHORT_HEAD], rows),
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
