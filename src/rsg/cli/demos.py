"""`rsg demos`: make, look at, check, mend and exchange demonstrations."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from rsg.cli.command import Place, Said, command, option
from rsg.cli.options import Home, WorldName, film, new_folder
from rsg.cli.output import table, to_fill
from rsg.cli.world import view
from rsg.core.errors import RsgError
from rsg.core.folder import write
from rsg.core.progress import progress
from rsg.demos import Demonstration, Recipe, Store, check_store
from rsg.demos import repair as repair_store
from rsg.demos.checking import statistics
from rsg.demos.demonstration import met
from rsg.demos.formats import Options
from rsg.demos.importing import Import, export_to, import_into, open_store, world_of_source
from rsg.demos.making import fill_with_bar
from rsg.demos.showing import milestones
from rsg.demos.words import words_in
from rsg.domain import Domain, find, installed, remembered
from rsg.evaluation.films import demonstration_film

demos = typer.Typer(
    name="demos",
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Make, look at, check, mend and exchange demonstrations.",
    epilog="A store is a folder: manifest.json and .npz shards, each with its checksum. Nothing in it can run code.",
)
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of a store; or a file or a folder that could be imported.")
]


def _part(function: Callable[..., Said]) -> Callable[..., None]:
    """A function as a command of this group, which has its name."""
    return demos.command(function.__name__.strip("_"))(command(function))


@_part
def make(
    name: WorldName,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where to; the same command goes on after a stop.", callback=to_fill),
    ],
    place: Place,
    split: str = option("train", "Which tasks of the world, for example train, compositional or novel."),
    task: list[str] | None = option(
        None, "A task of your own, in the place that you name; may be repeated.", metavar="TASK"
    ),
    per_task: int = option(400, "Demonstrations of each task."),
    seed: int = option(0, "The same seed gives the same bytes."),
    noise: float = option(0.0, "Share of random actions, for tests of robustness."),
    workers: int = option(0, "Processes; 0: one per core. Makes no difference to the result.", min=0),
) -> Said:
    """Let the expert demonstrate tasks.

    For example:
    [bold]rsg demos make {world} --split train --per-task 5 --out train[/bold]
    [bold]rsg demos make {world} --task "{task}"{place} --per-task 5 --out mine[/bold]
    """
    split, own = "custom" if task else split, tuple(task or ())
    domain = find(name).at(place, own)
    recipe = Recipe(domain.name, split, per_task, seed, noise, own, place)
    domain.check_expert()
    try:
        store = fill_with_bar(domain, recipe, out, workers)
    except KeyboardInterrupt:
        safe = len(Store(out)) if (out / "manifest.json").exists() else 0
        told = f"{safe:,} of {recipe.episodes(domain):,} demonstrations are safe in {out}"
        typer.echo(f"\n{told}; the same command goes on from there.", err=True)
        raise
    values = {"folder": str(out), "episodes": len(store), "steps": store.steps, "tasks": len(domain.tasks(split))}
    told = f"{len(store):,} demonstrations, {store.steps:,} steps, in {out}"
    return Said(values, f"{told}\nLook at them: rsg demos info {out}; rsg demos show {out} --episode 0")


@_part
def info(folder: Folder) -> Said:
    """Say what a store holds: how it was made, and a table of its tasks."""
    store = open_store(folder, "own")
    about, rows = store.manifest, statistics(store)
    values = {"world": about.world, "complete": about.complete, "recipe": about.recipe}
    values |= {"episodes": len(store), "steps": store.steps, "tasks": rows}
    return Said(values, _show_store(store, rows))


def _show_store(store: Store, rows: list[dict[str, Any]]) -> Iterator[RenderableType]:
    about = store.manifest
    yield f"[bold]{len(store):,} demonstrations[/bold] of {about.world}, {store.steps:,} steps"
    if about.recipe:
        yield "made with  " + ", ".join(f"{key} {value}" for key, value in about.recipe.items() if value or value == 0)
    if not about.complete:
        there = f"{len(about.shards)} of {about.planned} shards"
        yield f"[yellow]not complete[/yellow]: {there}; run the command that makes it again"
    grid = table("task", "episodes", "steps", "from", "to", "redrawn")
    for row in rows:
        cells = [f"{row['episodes']:,}", f"{row['steps_mean']:.1f}", str(row["steps_min"]), str(row["steps_max"])]
        grid.add_row(row["task"], *cells, f"{100 * row['redrawn']:.1f}%")
    yield grid


@_part
def show(
    folder: Folder,
    episode: int = option(0, "The number of the episode, from 0."),
    gif: Path | None = film(),
    world: Home = None,
) -> Said:
    """Show one demonstration: its description, its steps, and when each subgoal came true."""
    store = open_store(folder, "own")
    demo, source = store[episode], _known(store.manifest.world, world)
    reached = milestones(source, demo) if source and source.has("truth") else []
    if gif:
        there = source or remembered(store.manifest.world)  # or says that there is no such world
        write(gif, demonstration_film(there, demo, reached))
    values = {
        "episode": episode,
        "task": demo.task,
        "steps": len(demo),
        "reached": [{"step": step, "term": term} for step, term in reached],
        "actions": None if demo.actions is None else demo.actions.tolist(),
    }
    return Said(values, _show_demonstration(source, demo, reached), written=[gif])


def _show_demonstration(
    source: Domain | None, demo: Demonstration, reached: list[tuple[int, str]]
) -> Iterator[RenderableType]:
    """A demonstration in the terminal: the first state, then the steps up to each subgoal."""
    yield f"[bold]task[/bold]   {demo.task or '(no description)'}\n"
    if source is None:
        yield f"{len(demo)} steps; if a file describes this world, --world FILE.py:NAME shows them"
        return
    world, start = met(source.world(demo.setting), demo), 0
    yield view(source, world, demo.states[0])
    yield ""
    for step, term in [*reached, (len(demo), "")]:
        if step > start:
            shown = "(no actions)"
            if demo.actions is not None:
                shown = source.steps(world, demo.states[start : step + 1], demo.actions[start:step])
            yield f"  steps {start + 1:2} to {step:2}  {shown}"
            start = step
        if term:
            yield f"                 [green]{term}[/green]"


@_part
def check(folder: Folder, world: Home = None) -> Said:
    """Verify every checksum, replay every trajectory in its world, and judge each by its description."""
    store = open_store(folder, "own")
    source = _known(store.manifest.world, world)
    with progress("checking", len(store), "episodes") as advance:
        report = check_store(store, source, advance, judged=source is not None and source.has("truth"))
    done = "verified, replayed and judged" if report.judged else "verified and replayed (no truth to judge them by)"
    done = done if report.replayed else "verified (an unknown world: not replayed; is it --world FILE.py:NAME?)"
    verdict = "all is well" if report.ok else f"{len(report.problems)} problems"
    missing = {"actions: not replayed": report.without_actions, "a description: not judged": report.without_task}
    told = [f"{count:,} without {what}" for what, count in missing.items() if count and source]
    told = [*report.problems, *told, f"{report.episodes:,} episodes, {report.steps:,} steps {done}: {verdict}"]
    if not report.complete:
        told.append("not complete: the command that made it goes on")
    keys = ("ok", "episodes", "steps", "replayed", "complete", "problems")
    return Said({key: getattr(report, key) for key in keys}, "\n".join(told), 0 if report.ok else 2)


@_part
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


@dataclass(frozen=True)
class Reading:
    """How to bring in what others recorded."""

    format: str | None = option(None, "npz, jsonl, minari, lerobot, robomimic or rsg; else guessed.")
    world: str = option("", "The world they come from: a name, or path/to/file.py:name.")
    dtype: str | None = option(None, "Of the states, such as uint8 or float32.")
    state_keys: str | None = option(
        None, "Which vectors make up a state, in this order; else all that were observed.", metavar="KEY,KEY"
    )
    task_key: str | None = option(None, "Where the text is, if not where the format has it.", metavar="KEY")
    words: Path | None = option(
        None, 'Lines "a text" = "a-task" (TOML); "*" stands for all other texts.', metavar="FILE", exists=True
    )
    find_actions: bool = option(False, "Find actions that are missing with the world's model.", "--find-actions")
    bridge: int = option(0, "At most so many actions for a step that no single one explains.", min=0, metavar="K")

    def asked(self, known: Domain | None, note: Callable[[str], None]) -> Import:
        """What was asked for."""
        keys = tuple(key.strip() for key in (self.state_keys or "").split(",") if key.strip())
        if self.bridge and not self.find_actions:
            raise RsgError("--bridge says how actions are found; add --find-actions")
        return Import(
            Options(keys, self.task_key, self.dtype or (known.dtype if known else None), note=note),
            self.format,
            known,
            words_in(self.words) if self.words else None,
            self.bridge if self.find_actions else None,
        )


@_part
def import_(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file or a folder, or minari:ID.")],
    reading: Reading,
    out: Path = new_folder(..., "A new store, or one of the same world to add to."),
) -> Said:
    """Bring in recordings of your own, or of others: all of a source, or nothing.

    FILE.npz: arrays states, actions, lengths, tasks. FILE.jsonl: one object per line with states, actions and task.
    A folder of LeRobot's, v3.0 or v2.1. FILE.hdf5: robomimic, RoboCasa, LIBERO. A Minari dataset: minari:ID.

    What was left out is said. Recordings may lack actions: a world's model finds them. For example:
    [bold]rsg demos import my.jsonl --world {world} --out mine[/bold]
    [bold]rsg demos import lerobot/pusht --state-keys observation.state --words words.toml --out pusht[/bold]
    [bold]rsg demos import seen.npz --world {world} --find-actions --bridge 3 --out done[/bold]
    """
    notes: list[str] = []
    name = reading.world or world_of_source(source, reading.format) or "own"
    known = _known(name, name if ":" in name else None)
    name = known.name if known else name
    had = len(Store(out)) if (out / "manifest.json").exists() else 0
    store = import_into(out, source, name, reading.asked(known, notes.append))
    notes = list(dict.fromkeys(notes))
    told = f"{len(store) - had:,} demonstrations imported; {len(store):,} in {out}"
    values = {"folder": str(out), "imported": len(store) - had, "episodes": len(store), "world": name, "notes": notes}
    return Said(values, "\n".join([*notes, told]))


@_part
def export(
    folder: Folder,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="What to write; its name says the format.")],
    format: str | None = option(None, "npz, jsonl, minari, lerobot or robomimic; else guessed."),  # noqa: A002
    fps: int = option(10, "Steps a second, for LeRobot, which has a clock.", min=1),
) -> Said:
    """Write a store in a format of others, which read it without rsg. Imported again, it is the same.

    FILE.npz, FILE.jsonl, minari:ID, a new FOLDER for LeRobot v3.0, FILE.hdf5 for robomimic. For example:
    [bold]rsg demos export train minari:my-world/train-v0[/bold]
    [bold]rsg demos export train out/lerobot --fps 20[/bold]
    """
    store = open_store(folder, "own")
    export_to(target, store, Options(fps=fps), format)
    return Said({"target": target, "episodes": len(store)}, f"{len(store):,} episodes in {target}")


def _known(name: str, named: str | None = None) -> Domain | None:
    """The domain of a store: the one that the user names, or the one that the store says, if that is installed."""
    if named is None:
        return find(name) if name in installed() else None
    found = find(named)
    if ":" not in name and found.name != name:
        raise RsgError(f"these demonstrations are of '{name}', not of '{found.name}'")
    return found
