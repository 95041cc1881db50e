"""`rsg demos`: make, look at, check, mend and exchange demonstrations."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Annotated, Any

import typer

from rsg.cli.command import Said, command, option
from rsg.cli.options import Place, WorldName
from rsg.cli.output import console, table
from rsg.cli.worlds import FACES, face_named
from rsg.core.cores import cores
from rsg.core.errors import RsgError
from rsg.core.progress import progress
from rsg.demos import Benchmark, Demonstration, Recipe, Store, benchmark, check_store, make_demonstrations
from rsg.demos import repair as repair_store
from rsg.demos.checking import statistics
from rsg.demos.exchange import import_from
from rsg.demos.showing import frames, milestones, write_gif

demos = typer.Typer(
    name="demos",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Make, look at, check, mend and exchange demonstrations.",
    epilog="A store is a folder: manifest.json and .npz shards, each with its checksum. Nothing in it can run code.",
)
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a store.")]


@dataclass(frozen=True)
class Shown:
    """What is demonstrated, and how."""

    split: str = option(
        "train", "train (primitive + compositional), validation, compositional, novel; crafting: goal-only."
    )
    task: list[str] | None = option(
        None, "A task of your own, in the place that you name; may be repeated.", metavar="TASK"
    )
    per_task: int = option(400, "Demonstrations of each task.")
    seed: int = option(0, "The same seed gives the same bytes.")
    noise: float = option(0.0, "Share of random actions, for tests of robustness.")


def demonstrate(recipe: Recipe, folder: Path, workers: int = 0) -> Store:
    """Make the demonstrations of a recipe, or those that are missing; 0 workers: one per core."""
    with progress("demonstrating", recipe.episodes(), "episodes") as advance:
        return make_demonstrations(recipe, folder, workers=workers or cores(), advance=advance)


@demos.command()
@command
def make(
    world: WorldName,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to; the same command goes on after a stop.")],
    shown: Shown,
    place: Place,
    workers: int = option(0, "Processes; 0: one per core. Makes no difference to the result.", min=0),
) -> Said:
    """Let the expert demonstrate tasks.

    For example:
    [bold]rsg demos make crafting --split train --per-task 400 --out train[/bold]
    [bold]rsg demos make playroom --task "ring-bell then touch-monkey" --layout narrow --out bells[/bold]
    """
    if world in FACES:
        face_named(world, **vars(place))
    if place.map is not None and not shown.task:
        raise RsgError("--map is for tasks of your own: give at least one --task")
    split, own = "custom" if shown.task else shown.split, tuple(shown.task or ())
    recipe = Recipe(world, split, shown.per_task, shown.seed, shown.noise, own, place.name)
    try:
        store = demonstrate(recipe, out, workers)
    except KeyboardInterrupt:
        safe = len(Store(out)) if (out / "manifest.json").exists() else 0
        told = f"{safe:,} of {recipe.episodes():,} demonstrations are safe in {out}"
        typer.echo(f"\n{told}; the same command goes on from there.", err=True)
        raise
    values = {"folder": str(out), "episodes": len(store), "steps": store.steps}
    values["tasks"] = len(recipe.benchmark().tasks(split))
    told = f"{len(store):,} demonstrations, {store.steps:,} steps, in {out}"
    return Said(values, f"{told}\nLook at them: rsg demos info {out}; rsg demos show {out} --episode 0")


@demos.command()
@command
def info(folder: Folder) -> Said:
    """Say what a store holds: how it was made, and a table of its tasks."""
    store = Store(folder)
    rows = statistics(store)
    known = {"world": store.manifest.world, "complete": store.manifest.complete, "recipe": store.manifest.recipe}
    values = {**known, "episodes": len(store), "steps": store.steps, "tasks": rows}
    return Said(values, partial(_show_store, store, rows))


def _show_store(store: Store, rows: list[dict[str, Any]]) -> None:
    out, recipe = console(), store.manifest.recipe
    out.print(f"[bold]{len(store):,} demonstrations[/bold] of {store.manifest.world}, {store.steps:,} steps")
    if recipe:
        out.print("made with  " + ", ".join(f"{key} {value}" for key, value in recipe.items() if value or value == 0))
    if not store.manifest.complete:
        there = f"{len(store.manifest.shards)} of {store.manifest.planned} shards"
        out.print(f"[yellow]not complete[/yellow]: {there}; run the command that makes it again")
    grid = table("task", "episodes", "steps", "from", "to", "redrawn")
    for row in rows:
        cells = [f"{row['episodes']:,}", f"{row['steps_mean']:.1f}", str(row["steps_min"]), str(row["steps_max"])]
        grid.add_row(row["task"], *cells, f"{100 * row['redrawn']:.1f}%")
    out.print(grid)


@demos.command()
@command
def show(
    folder: Folder,
    episode: int = option(0, "The number of the episode, from 0."),
    gif: Path | None = option(None, "Write the episode as an animated picture.", metavar="FILE"),
) -> Said:
    """Show one demonstration: its description, its steps, and when each subgoal came true."""
    store = Store(folder)
    demo, source = store[episode], _known(store.manifest.world)
    reached = milestones(source, demo) if source else []
    if gif:
        write_gif(frames(source or benchmark(store.manifest.world), demo), gif)  # or says that there is no such world
    values = {"episode": episode, "task": demo.task, "steps": len(demo)}
    values["reached"] = [{"step": step, "term": term} for step, term in reached]
    show_it = partial(_show_demonstration, source, demo, reached)
    return Said({**values, "actions": demo.actions.tolist()}, show_it, written=[gif])


def _show_demonstration(source: Any, demo: Demonstration, reached: list[tuple[int, str]]) -> None:
    """A demonstration in the terminal: the first state, then the steps up to each subgoal."""
    out = console()
    out.print(f"[bold]task[/bold]   {demo.task}\n")
    if source is None:
        out.print(f"{len(demo)} steps")
        return
    face, world = FACES[source.name], source.world(demo.setting)
    out.print(face.view(world, demo.states[0]))
    out.print()
    start = 0
    for step, term in [*reached, (len(demo), "")]:
        if step > start:
            steps = face.steps(world, demo.states[start : step + 1], demo.actions[start:step])
            out.print(f"  steps {start + 1:2} to {step:2}  {steps}")
            start = step
        if term:
            out.print(f"                 [green]{term}[/green]")


@demos.command()
@command
def check(folder: Folder) -> Said:
    """Verify every checksum, replay every trajectory in its world, and judge each by its description."""
    store = Store(folder)
    with progress("checking", len(store), "episodes") as advance:
        report = check_store(store, advance)

    done = "verified, replayed and judged" if report.replayed else "verified (an unknown world: not replayed)"
    verdict = "all is well" if report.ok else f"{len(report.problems)} problems"
    told = [*report.problems, f"{report.episodes:,} episodes, {report.steps:,} steps {done}: {verdict}"]
    if not report.complete:
        told.append("not complete: the command that made it goes on")
    keys = ("ok", "episodes", "steps", "replayed", "complete", "problems")
    return Said({key: getattr(report, key) for key in keys}, "\n".join(told), 0 if report.ok else 2)


@demos.command()
@command
def repair(folder: Folder) -> Said:
    """Keep every intact demonstration of a damaged store, drop the others, and say what was lost."""
    result = repair_store(folder)
    lost = f"{result.lost:,} lost"
    if "manifest.json" in result.damaged:  # then nobody knows how many there were
        lost = f"at least {lost}, and how the store was made is forgotten"
    elif result.lost:
        lost += " (if rsg made them, the same 'rsg demos make' makes them again)"
    told = f"{result.kept:,} demonstrations kept, {lost}; damaged: {', '.join(result.damaged)}"
    if not result.damaged:
        told = f"nothing to mend: all {result.kept:,} demonstrations are intact"
    return Said({"kept": result.kept, "lost": result.lost, "damaged": list(result.damaged)}, told)


@demos.command()
@command
def export(
    folder: Folder, minari: str = option(..., "The id of the new set: crafting/train-v0.", metavar="ID")
) -> Said:
    """Write a store as a Minari dataset (HDF5), with the description of each episode."""
    from rsg.demos.minari_sets import export_minari

    episodes = export_minari(Store(folder), minari)
    told = f"{episodes:,} episodes in the Minari dataset {minari}"
    return Said({"minari": minari, "episodes": episodes}, told)


@demos.command(name="import")
@command
def import_(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="FILE.npz, FILE.jsonl, or minari:ID.")],
    out: Path = option(..., "A new store, or one of the same world to add to.", metavar="DIR"),
    world: str = option("", "The name of the world they come from."),
    dtype: str | None = option(None, "Of the states, such as uint8 or float32."),
) -> Said:
    """Bring in your own demonstrations.

    .npz: arrays states, actions, lengths, tasks. .jsonl: one object per line with states, actions and task.
    """
    from rsg.demos.minari_sets import minari_world

    name = world or (minari_world(source.removeprefix("minari:")) if source.startswith("minari:") else None) or "own"
    demos = _with_settings(import_from(source, dtype or (FACES[name].dtype if name in FACES else None)), name, source)
    new = not (out / "manifest.json").exists()
    store = Store.create(out, name) if new else Store(out)
    if store.manifest.world != name:
        raise RsgError(f"{out} holds demonstrations of the world '{store.manifest.world}', these are of '{name}'")
    had = len(store)
    try:
        store.append(demos, all_or_none=True)
        if not len(store):
            raise RsgError(f"{source} holds no demonstrations")
    except BaseException:
        if new:  # nothing of a failed import stays
            rmtree(out, ignore_errors=True)
        raise
    told = f"{len(store) - had:,} demonstrations imported; {len(store):,} in {out}"
    return Said({"folder": str(out), "imported": len(store) - had, "episodes": len(store), "world": name}, told)


def _with_settings(demos: Iterator[Demonstration], world: str, source: str) -> Iterator[Demonstration]:
    """The same demonstrations; those of a world that rsg knows must say their setting, or nobody could replay them."""
    known = _known(world)
    for number, demo in enumerate(demos):
        try:
            if known:
                known.world(demo.setting)
        except RsgError as error:
            example = FACES[world].setting
            raise RsgError(f"{source}, episode {number}: {error}; give each a setting such as {example}") from None
        yield demo


def _known(world: str) -> Benchmark | None:
    """The benchmark of a world, if rsg knows it."""
    return benchmark(world) if world in FACES else None
