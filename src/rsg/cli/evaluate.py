"""`rsg eval`: how often plans do what was asked."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.cli.plan import Order, Planner, Subgoals, goal_fn_named
from rsg.cli.world import Layout, Seed, WorldName
from rsg.cli.worlds import face_named, roadmap_ms
from rsg.core.errors import RsgError
from rsg.core.progress import progress


def evaluate(
    name: WorldName,
    subgoals: Subgoals = "oracle",
    split: Annotated[str, typer.Option(help="compositional, novel, primitive; crafting: goal-only.")] = "novel",
    per_task: Annotated[int, typer.Option(help="Starts of each task.")] = 100,
    budget: Annotated[int, typer.Option(help="Expansions per plan, in total.")] = 5000,
    per_node: Annotated[
        int | None, typer.Option(help="Expansions per machine node instead (the paper's appendix).")
    ] = None,
    order: Order = None,
    planner: Planner = "auto",
    layout: Layout = None,
    stitched: Annotated[bool, typer.Option("--stitched", help="Plan each subgoal by itself: a baseline.")] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Plan from many starts, replay every plan in the true world, and report success with a 95 % interval.

    Success is strict: each subgoal false where its part starts and true where it ends. The lenient figure asks only
    that each subgoal is true somewhere, in order. A baseline's run acts from the same starts, without a plan.
    For example:
    [bold]rsg eval crafting --subgoals out/run --split novel[/bold]
    [bold]rsg eval playroom --split compositional --planner rrt --per-task 10[/bold]
    """
    face = face_named(name, layout=layout)
    if per_task < 1:
        raise RsgError(f"per-task must be at least 1, not {per_task}")
    from rsg.core.random import stream
    from rsg.demos import benchmark
    from rsg.evaluation import evaluate_planning
    from rsg.planning import plan
    from rsg.search import SearchSettings, is_continuous

    source: Any = benchmark(name, (), layout)
    if _acts(subgoals):
        if order is not None or per_node is not None or stitched:
            raise RsgError(f"{subgoals} acts without a search; leave out --order, --per-node and --stitched")
        _evaluate_policy(subgoals, source, split, per_task, seed, face.about(layout), as_json)
        return
    limit = None if per_node is not None else budget
    order = order or face.order
    settings = SearchSettings(order=order, budget=limit, per_node=per_node, seed=seed, planner=planner)
    total = len(source.tasks(split)) * per_task
    world, state = source.start(split, 0, stream(seed, "world"))
    with progress("planning", total, "plans", shown=not as_json) as advance:
        goal_fn = goal_fn_named(subgoals, source, world)
        if is_continuous(world):
            plan(world, state, source.tasks(split)[0], goal_fn, settings)  # compiles the kernels, or loads them
        result = evaluate_planning(source, split, goal_fn, per_task, seed, settings, stitched, advance)
    how = {
        "world": name,
        "subgoals": subgoals,
        "order": order,
        "budget": limit,
        "per_node": per_node,
        "stitched": stitched,
        "planner": planner,
        **face.about(layout),
        **roadmap_ms(world, state, settings),
    }
    if as_json:
        emit({**how, **result})
    else:
        _show(result, how)


def _acts(subgoals: str) -> bool:
    """Whether that is a run of a baseline."""
    if subgoals in ("oracle", "untrained"):
        return False
    from rsg.evaluation.trained import is_baseline

    return is_baseline(subgoals)


def _evaluate_policy(
    folder: str, source: Any, split: str, per_task: int, seed: int, place: dict[str, Any], as_json: bool
) -> None:
    """The same figures for a policy; steps are counted in the place of expansions."""
    from rsg.core.random import stream
    from rsg.evaluation.policies import evaluate_policy
    from rsg.evaluation.trained import policy_for
    from rsg.training import Run

    world, _ = source.start(split, 0, stream(seed, "world"))
    policy = policy_for(folder, source.name, world)
    with progress("acting", len(source.tasks(split)) * per_task, "episodes", shown=not as_json) as advance:
        result = evaluate_policy(source, split, policy, per_task, seed, advance=advance)
    how = {"world": source.name, "subgoals": folder, "method": Run(folder).about["method"], **place}
    if as_json:
        emit({**how, **result})
        return
    room = f", layout: {how['layout']}" if "layout" in how else ""
    console().print(f"[bold]{split}[/bold], {how['method']}: {folder}{room}\n")
    _table(result, "steps", "episodes")


def _show(result: dict[str, Any], how: dict[str, Any]) -> None:
    out = console()
    limit = f"{how['per_node']:,} expansions per node" if how["per_node"] else f"{how['budget']:,} expansions in total"
    room = f", planner: {how['planner']}, layout: {how['layout']}" if "layout" in how else ""
    out.print(f"[bold]{result['split']}[/bold], subgoals: {how['subgoals']}, order: {how['order']}{room}, {limit}\n")
    _table(result, "expansions", "plans")
    if "roadmap_ms" in how:
        out.print(f"The roadmap took {how['roadmap_ms']:.1f} ms, once; that is in none of these times.")


def _table(result: dict[str, Any], effort: str, what: str) -> None:
    """A row to each task, and all of them; `effort` is what is counted, `what` what was done."""
    from rich.table import Table

    out = console()
    grid = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("task", "success", "lenient", effort, "median", "ms"):
        grid.add_column(title, justify="left" if title == "task" else "right", overflow="fold")
    for row in [*result["tasks"], {"task": "[bold]all[/bold]", **result}]:
        rates = (f"{100 * row[key]:.1f}%" for key in ("success", "success_lenient"))
        grid.add_row(row["task"], *rates, *(f"{row[key]:.0f}" for key in ("expansions_mean", "expansions_median")),
                     f"{row['plan_ms_median']:.2f}")  # fmt: skip
    out.print(grid)
    low, high = result["success_interval"]
    out.print(f"\n{result['episodes']:,} {what}: {100 * result['success']:.2f}% ({100 * low:.2f} to {100 * high:.2f})")
