"""`rsg eval`: how often plans do what was asked."""

from functools import partial
from typing import Any

from rsg.cli.command import Said, command, option
from rsg.cli.options import Layout, PerTask, Search, WorldName
from rsg.cli.output import console, table
from rsg.cli.subgoals import GIVEN, goal_fn_named
from rsg.cli.worlds import face_named
from rsg.core.errors import RsgError
from rsg.core.progress import progress
from rsg.core.random import stream
from rsg.demos import benchmark
from rsg.evaluation import Starts, evaluate_planning
from rsg.search import SearchSettings


@command
def evaluate(
    name: WorldName,
    search: Search,
    split: str = option("novel", "compositional, novel, primitive; crafting: goal-only."),
    per_task: PerTask = 100,
    budget: int = option(5000, "Expansions per plan, in total."),
    layout: Layout = None,
) -> Said:
    """Plan from many starts, replay every plan in the true world, and report success with a 95 % interval.

    Success is strict: each subgoal false where its part starts and true where it ends. The lenient figure asks only
    that each subgoal is true somewhere, in order. A baseline's run acts from the same starts, without a plan.
    For example:
    [bold]rsg eval crafting --subgoals out/run --split novel[/bold]
    [bold]rsg eval playroom --split compositional --planner rrt --per-task 10[/bold]
    """
    face = face_named(name, layout=layout)
    source: Any = benchmark(name, (), layout)
    world, _ = source.start(split, 0, stream(search.seed, "world"))
    starts, count = Starts(split, per_task, search.seed), len(source.tasks(split)) * per_task
    about: dict[str, Any] = {"world": name, "subgoals": search.subgoals}
    if search.subgoals not in GIVEN and (result := _acted(search, source, world, starts, count)):
        return Said({**about, **face.about(layout), **result}, partial(_show, result, about, "steps", "episodes"))
    order = search.order or face.order
    settings = SearchSettings(order=order, budget=budget, seed=search.seed, planner=search.planner)
    goal_fn = goal_fn_named(search.subgoals, source, world)
    with progress("planning", count, "plans") as advance:
        result = evaluate_planning(source, starts, goal_fn, settings, advance)
    about |= {"order": order, "budget": budget, "planner": search.planner, **face.about(layout)}
    return Said({**about, **result}, partial(_show, result, about, "expansions", "plans"))


def _acted(search: Search, source: Any, world: Any, starts: Starts, count: int) -> dict[str, Any]:
    """The same figures for a baseline, nothing for any other run; steps are counted in the place of expansions."""
    from rsg.evaluation.policies import evaluate_policy  # which loads torch
    from rsg.evaluation.trained import baseline_of, policy_for

    method = baseline_of(search.subgoals)
    if method is None:
        return {}
    if search.order is not None:
        raise RsgError(f"{search.subgoals} acts without a search; leave out --order")
    policy = policy_for(search.subgoals, source.name, world)
    with progress("acting", count, "episodes") as advance:
        return {"method": method, **evaluate_policy(source, starts, policy, advance=advance)}


def _show(result: dict[str, Any], how: dict[str, Any], effort: str, what: str) -> None:
    """A row to each task, and all of them; `effort` is what is counted, `what` what was done."""
    out = console()
    if "method" in result:
        told = f"{result['method']}: {how['subgoals']}"
    else:
        told = f"subgoals: {how['subgoals']}, order: {how['order']}"
        told += f", planner: {how['planner']}, layout: {how['layout']}" if "layout" in how else ""
        told += f", {how['budget']:,} expansions in total"
    out.print(f"[bold]{result['split']}[/bold], {told}\n")
    grid = table("task", "success", "lenient", effort, "median", "ms")
    for row in [*result["tasks"], {"task": "[bold]all[/bold]", **result}]:
        rates = (f"{100 * row[key]:.1f}%" for key in ("success", "success_lenient"))
        efforts = (f"{row[key]:.0f}" for key in ("expansions_mean", "expansions_median"))
        grid.add_row(row["task"], *rates, *efforts, f"{row['plan_ms_median']:.2f}")
    out.print(grid)
    low, high = result["success_interval"]
    out.print(f"\n{result['episodes']:,} {what}: {100 * result['success']:.2f}% ({100 * low:.2f} to {100 * high:.2f})")
