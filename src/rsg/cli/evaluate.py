"""`rsg eval`: how often plans do what was asked."""

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from rsg.cli.command import Place, Said, command, option
from rsg.cli.options import GIVEN, PerTask, Search, WorldName, goal_fn_named
from rsg.cli.output import table
from rsg.core.errors import RsgError
from rsg.core.progress import progress
from rsg.core.random import stream
from rsg.domain import find
from rsg.evaluation import Starts, evaluate_planning


@command
def evaluate(
    name: WorldName,
    search: Search,
    place: Place,
    split: str | None = option(None, "Which tasks, for example train or novel; the last that reports have."),
    per_task: PerTask = 100,
) -> Said:
    """Plan from many starts, replay every plan in the true world, and report success with a 95 % interval.

    Success is strict: each subgoal false where its part starts and true where it ends. The lenient figure asks only
    that each subgoal is true somewhere, in order. A baseline's run acts from the same starts, without a plan.
    For example:
    [bold]rsg eval {world} --subgoals out/run[/bold]
    [bold]rsg eval {world} --per-task 10 --seed 3[/bold]
    """
    source = find(name, place)
    if not source.has("truth"):
        raise source.lacks("truth", "plans cannot be judged without it")
    if split is None and not source.reported:
        raise source.lacks("tasks", "there is nothing to plan for; see rsg plan")
    split = split or source.reported[-1]
    world, _ = source.start_of(split, 0, stream(search.seed, "world"))
    starts, count = Starts(split, per_task, search.seed), len(source.tasks(split)) * per_task
    about: dict[str, Any] = {"world": source.name, "subgoals": search.subgoals}
    if search.subgoals not in GIVEN:
        from rsg.evaluation.policies import baseline_of, evaluate_run  # which load torch

        if (search.order is not None or search.soft) and baseline_of(search.subgoals):
            raise RsgError(
                f"{search.subgoals} acts without a search; leave out {'--soft' if search.soft else '--order'}"
            )
        if result := evaluate_run(search.subgoals, source, world, starts):
            return Said({**about, **source.about(), **result}, _show(result, about, "steps", "episodes"))
    settings, goal_fn = search.settings_in(world), goal_fn_named(search.subgoals, source, world)
    with progress("planning", count, "plans") as advance:
        result = evaluate_planning(source, starts, goal_fn, settings, advance)
    how = settings.planner
    about |= {"order": how.order or "auto", "budget": settings.budget, "planner": how.name, **source.about()}
    about["transitions"] = how.transitions.name
    return Said({**about, **result}, _show(result, about, "expansions", "plans"))


def _show(result: dict[str, Any], how: dict[str, Any], effort: str, what: str) -> Iterator[RenderableType]:
    """A row to each task, and all of them; `effort` is what is counted, `what` what was done."""
    if "method" in result:
        told = f"{result['method']}: {how['subgoals']}"
    else:
        told = f"subgoals: {how['subgoals']}, order: {how['order']}, {how['transitions']} transitions"
        told += f", planner: {how['planner']}, layout: {how['layout']}" if "layout" in how else ""
        told += f", {how['budget']:,} expansions in total"
    yield f"[bold]{result['split']}[/bold], {told}\n"
    grid = table("task", "success", "lenient", effort, "median", "ms")
    for row in [*result["tasks"], {"task": "[bold]all[/bold]", **result}]:
        rates = (f"{100 * row[key]:.1f}%" for key in ("success", "success_lenient"))
        efforts = (f"{row[key]:.0f}" for key in ("expansions_mean", "expansions_median"))
        grid.add_row(row["task"], *rates, *efforts, f"{row['plan_ms_median']:.2f}")
    yield grid
    low, high = result["success_interval"]
    yield f"\n{result['episodes']:,} {what}: {100 * result['success']:.2f}% ({100 * low:.2f} to {100 * high:.2f})"
