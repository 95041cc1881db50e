"""`rsg demos`: make, look at, check, mend and exchange demonstrations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.cli.world import Layout, WorldName
from rsg.cli.worlds import FACES, face_named
from rsg.core.cores import cores
from rsg.core.errors import RsgError
from rsg.core.progress import progress

if TYPE_CHECKING:
    from rsg.demos import Demonstration, Store

app = typer.Typer(
    name="demos",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Make, look at, check, mend and exchange demonstrations.",
    epilog="A store is a folder: manifest.json and .npz shards, each with its checksum. Nothing in it can run code.",
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a store.")]


@app.command()
def make(
    world: WorldName,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to; the same command goes on after a stop.")],
    split: Annotated[
        str,
        typer.Option(help="train (primitive + compositional), validation, compositional, novel; crafting: goal-only."),
    ] = "train",
    per_task: Annotated[int, typer.Option(help="Demonstrations of each task.")] = 400,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes; 0: one per core. Makes no difference to the result.")] = 0,
    noise: Annotated[float, typer.Option(help="Share of random actions, for tests of robustness.")] = 0.0,
    task: Annotated[list[str] | None, typer.Option(metavar="TASK", help="A task of your own; may be repeated.")] = None,
    map_: Annotated[
        str | None, typer.Option("--map", metavar="KIND|FILE", help="crafting: where your own tasks are shown.")
    ] = None,
    layout: Layout = None,
    as_json: AsJson = False,
) -> None:
    """Let the expert demonstrate tasks.

    For example:
    [bold]rsg demos make crafting --split train --per-task 400 --out train[/bold]
    [bold]rsg demos make playroom --task "ring-bell then touch-monkey" --layout narrow --out bells[/bold]
    """
    if world in FACES:
        face_named(world, map=map_, layout=layout)
    from rsg.demos import Recipe, Store, make_demonstrations

    if workers < 0:
        raise RsgError(f"workers must be 0 (one per core) or more, not {workers}")
    if map_ is not None and not task:
        raise RsgError("--map is for tasks of your own: give at least one --task")
    recipe = Recipe(world, "custom" if task else split, per_task, seed, noise, tuple(task or ()), map_ or layout)
    total = recipe.episodes()
    try:
        with progress("demonstrating", total, "episodes", shown=not as_json) as advance:
            store = make_demonstrations(recipe, out, workers or cores(), advance)
    except KeyboardInterrupt:
        safe = len(Store(out)) if (out / "manifest.json").exists() else 0
        message = f"\n{safe:,} of {total:,} demonstrations are safe in {out}; the same command goes on from there."
        typer.echo(message, err=True)
        raise
    values = {"folder": str(out), "episodes": len(store), "steps": store.steps, "tasks": len(_tasks(recipe))}
    if as_json:
        emit(values)
    else:
        console().print(f"{len(store):,} demonstrations, {store.steps:,} steps, in {out}", markup=False)
        console().print(f"Look at them: rsg demos info {out}; rsg demos show {out} --episode 0", markup=False)


def _tasks(recipe: Any) -> list[str]:
    return list(recipe.benchmark().tasks(recipe.split))


@app.command()
def info(folder: Folder, as_json: AsJson = False) -> None:
    """Say what a store holds: how it was made, and a table of its tasks."""
    from rsg.demos import Store
    from rsg.demos.checking import statistics

    store = Store(folder)
    table = statistics(store)
    recipe = store.manifest.recipe
    if as_json:
        known = {"world": store.manifest.world, "complete": store.manifest.complete, "recipe": recipe}
        emit({**known, "episodes": len(store), "steps": store.steps, "tasks": table})
        return
    from rich.table import Table

    out = console()
    out.print(f"[bold]{len(store):,} demonstrations[/bold] of {store.manifest.world}, {store.steps:,} steps")
    if recipe:
        out.print("made with  " + ", ".join(f"{key} {value}" for key, value in recipe.items() if value or value == 0))
    if not store.manifest.complete:
        there = f"{len(store.manifest.shards)} of {store.manifest.planned} shards"
        out.print(f"[yellow]not complete[/yellow]: {there}; run the command that makes it again")
    grid = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("task", "episodes", "steps", "from", "to", "redrawn"):
        grid.add_column(name, justify="left" if name == "task" else "right", overflow="fold")
    for row in table:
        cells = [f"{row['episodes']:,}", f"{row['steps_mean']:.1f}", str(row["steps_min"]), str(row["steps_max"])]
        grid.add_row(row["task"], *cells, f"{100 * row['redrawn']:.1f}%")
    out.print(grid)


@app.command()
def show(
    folder: Folder,
    episode: Annotated[int, typer.Option(help="The number of the episode, from 0.")] = 0,
    gif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the episode as an animated picture.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show one demonstration: its description, its steps, and when each subgoal came true."""
    from rsg.demos import Store, benchmark

    store = Store(folder)
    demo = store[episode]
    source = _known(store)
    reached = []
    if source:
        from rsg.demos.showing import frames, milestones, write_gif

        reached = milestones(source, demo)
        if gif:
            write_gif(frames(source, demo), gif)
    elif gif:
        benchmark(store.manifest.world)  # says that there is no such world, so nothing can be drawn
    if as_json:
        steps = [{"step": step, "term": term} for step, term in reached]
        emit({"episode": episode, "task": demo.task, "steps": len(demo), "reached": steps, "actions": _actions(demo)})
        return
    show_demonstration(store.manifest.world, demo, reached)
    if gif:
        console().print(f"\nwritten to {gif}", markup=False)


def show_demonstration(world_name: str, demo: Demonstration, reached: list[tuple[int, str]]) -> None:
    """A demonstration in the terminal: the first state, then the steps up to each subgoal."""
    out = console()
    out.print(f"[bold]task[/bold]   {demo.task}\n")
    if world_name not in FACES:
        out.print(f"{len(demo)} steps")
        return
    from rsg.demos import benchmark

    face, world = FACES[world_name], benchmark(world_name).world(demo.setting)
    out.print(face.view(world, demo.states[0]))
    out.print()

    def told(start: int, end: int) -> str:
        steps = face.steps(world, demo.states[start : end + 1], demo.actions[start:end])
        return f"  steps {start + 1:2} to {end:2}  {steps}"

    start = 0
    for step, term in reached:
        if step > start:
            out.print(told(start, step))
            start = step
        out.print(f"                 [green]{term}[/green]")
    if start < len(demo):
        out.print(told(start, len(demo)))


@app.command()
def check(folder: Folder, as_json: AsJson = False) -> None:
    """Verify every checksum, replay every trajectory in its world, and judge each by its description."""
    from rsg.demos import Store, check_store

    store = Store(folder)
    with progress("checking", len(store), "episodes", shown=not as_json) as advance:
        report = check_store(store, advance)
    if as_json:
        emit(
            {
                "ok": report.ok,
                "episodes": report.episodes,
                "steps": report.steps,
                "replayed": report.replayed,
                "complete": report.complete,
                "problems": report.problems,
            }
        )
    else:
        for problem in report.problems:
            console().print(problem, markup=False)
        done = "verified, replayed and judged" if report.replayed else "verified (an unknown world: not replayed)"
        verdict = f"{report.episodes:,} episodes, {report.steps:,} steps {done}"
        console().print(
            f"{verdict}: {'all is well' if report.ok else f'{len(report.problems)} problems'}", markup=False
        )
        if not report.complete:
            console().print("not complete: the command that made it goes on", style="yellow")
    if not report.ok:
        raise typer.Exit(2)


@app.command()
def repair(folder: Folder, as_json: AsJson = False) -> None:
    """Keep every intact demonstration of a damaged store, drop the others, and say what was lost."""
    from rsg.demos.store import repair as repair_store

    result = repair_store(folder)
    if as_json:
        emit({"kept": result.kept, "lost": result.lost, "damaged": list(result.damaged)})
        return
    if not result.damaged:
        console().print(f"nothing to mend: all {result.kept:,} demonstrations are intact")
        return
    lost = f"{result.lost:,} lost"
    if "manifest.json" in result.damaged:  # then nobody knows how many there were
        lost = f"at least {lost}, and how the store was made is forgotten"
    elif result.lost:
        lost += " (if rsg made them, the same 'rsg demos make' makes them again)"
    console().print(f"{result.kept:,} demonstrations kept, {lost}; damaged: {', '.join(result.damaged)}", markup=False)


@app.command()
def export(
    folder: Folder,
    minari: Annotated[str, typer.Option("--minari", metavar="ID", help="The id of the new set: crafting/train-v0.")],
    as_json: AsJson = False,
) -> None:
    """Write a store as a Minari dataset (HDF5), with the description of each episode."""
    from rsg.demos import Store
    from rsg.demos.minari_sets import export_minari

    episodes = export_minari(Store(folder), minari)
    if as_json:
        emit({"minari": minari, "episodes": episodes})
    else:
        console().print(f"{episodes:,} episodes in the Minari dataset {minari}", markup=False)


@app.command(name="import")
def import_(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="FILE.npz, FILE.jsonl, or minari:ID.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new store, or one of the same world to add to.")],
    world: Annotated[str, typer.Option(help="The name of the world they come from.")] = "",
    dtype: Annotated[str | None, typer.Option(help="Of the states, such as uint8 or float32.")] = None,
    as_json: AsJson = False,
) -> None:
    """Bring in your own demonstrations.

    .npz: arrays states, actions, lengths, tasks. .jsonl: one object per line with states, actions and task.
    """
    from rsg.demos import Store
    from rsg.demos.exchange import import_from
    from rsg.demos.minari_sets import minari_world

    name = world or (minari_world(source.removeprefix("minari:")) if source.startswith("minari:") else None) or "own"
    demos = import_from(source, dtype or (FACES[name].dtype if name in FACES else None))
    demos = _with_settings(demos, name, source)
    new = not (out / "manifest.json").exists()
    if new:
        first = next(demos, None)
        if first is None:
            raise RsgError(f"{source} holds no demonstrations")
        store, demos = Store.create(out, name), chain([first], demos)
    else:
        store = Store(out)
        if store.manifest.world != name:
            raise RsgError(f"{out} holds demonstrations of the world '{store.manifest.world}', these are of '{name}'")
    had = len(store)
    try:
        store.append(demos, all_or_none=True)
    except BaseException:
        if new:  # nothing of a failed import stays
            rmtree(out, ignore_errors=True)
        raise
    if as_json:
        emit({"folder": str(out), "imported": len(store) - had, "episodes": len(store), "world": name})
    else:
        console().print(f"{len(store) - had:,} demonstrations imported; {len(store):,} in {out}", markup=False)


def _with_settings(demos: Iterator[Demonstration], world: str, source: str) -> Iterator[Demonstration]:
    """The same demonstrations; those of a world that rsg knows must say their setting, or nobody could replay them."""
    from rsg.demos import benchmark

    try:
        known = benchmark(world)
    except RsgError:
        yield from demos
        return
    for number, demo in enumerate(demos):
        try:
            known.world(demo.setting)
        except RsgError as error:
            example = FACES[world].setting
            raise RsgError(f"{source}, episode {number}: {error}; give each a setting such as {example}") from None
        yield demo


def _known(store: Store) -> Any:
    """The benchmark of the store's world, if rsg knows it."""
    from rsg.demos import benchmark

    try:
        return benchmark(store.manifest.world)
    except RsgError:
        return None


def _actions(demo: Demonstration) -> list[Any]:
    return list(demo.actions.tolist())
