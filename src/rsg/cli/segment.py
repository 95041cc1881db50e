"""`rsg segment`: where each subgoal begins and ends in many recordings, in the format that somebody wants."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.markup import escape

from rsg.cli.command import Said, command, option
from rsg.cli.demos import Reading
from rsg.cli.output import to_fill
from rsg.core.errors import RsgError
from rsg.core.progress import progress
from rsg.core.words import quantity
from rsg.demos import Demonstration, Store
from rsg.demos.formats import Options
from rsg.demos.formats.format import check_free
from rsg.demos.importing import label_to, labelled_as, open_store, world_of_source
from rsg.domain import Domain, find, installed
from rsg.evaluation.timeline import draw_labels
from rsg.subgoals import learn, load
from rsg.subgoals.segmenting import Cut, parts_for, segment_store, summary, told
from rsg.training import Run
from rsg.training.data import problem_of
from rsg.training.origin import RECORDED, OfRecordings, home
from rsg.worlds import recorded

LEROBOTS = ("0.6", "0.5")
SHOWN = 5  # kinds of problems


@command
def segment(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="The folder of a run; with --fit a new one.")
    ] = None,
    *,
    reading: Reading,
    demos: str | None = option(None, "The recordings: a store, a file, a folder or minari:ID.", metavar="SOURCE"),
    fit: str | None = option(None, "The same, and learn from them first.", metavar="SOURCE"),
    out: str = option(..., "What to write; its name says the format, as in rsg demos export.", metavar="TARGET"),
    labels: str | None = option(None, "jsonl, lerobot, robomimic or minari; else guessed.", "--as", metavar="FORMAT"),
    lerobot: str = option("0.6", "The version of LeRobot that shall read the labels: 0.6 and later, or 0.5."),
    pictures: Path | None = option(
        None, "A new folder, with a picture of each recording.", metavar="DIR", callback=to_fill
    ),
    workers: int = option(0, "Processes; 0: one per core where that pays.", min=0),
) -> Said:
    """Say where each subgoal of each recording begins and ends, how sure that is, and where else it may be.

    FILE.jsonl: a line for each recording. FILE.hdf5: robomimic with MimicGen's subtask_term_signals. FOLDER: LeRobot
    with subtasks. minari:ID: in each episode's metadata. A source of the same format is copied with all that it holds.

    --fit learns from the very recordings; where nobody has a simulator, no --world is needed. Interrupted, the same
    command goes on. Exit code 0, or 1 if no recording could be cut. For example:
    [bold]rsg segment out/run --demos train --out labels.jsonl[/bold]
    [bold]rsg segment --fit lerobot/pusht --words words.toml --out pusht-labelled[/bold]
    """
    if (demos is None) == (fit is None) or (run is None and fit is None):
        raise RsgError("say with what to segment and what: rsg segment RUN --demos SOURCE, or rsg segment --fit SOURCE")
    labelled_as(out, labels)
    if pictures:
        check_free(str(pictures))
    if lerobot not in LEROBOTS:
        raise RsgError(f"--lerobot is {' or '.join(LEROBOTS)}, not {lerobot}: from 0.6 on labels have another place")
    notes: list[str] = []
    with ExitStack() as stack:
        if fit:
            scratch = Path(stack.enter_context(TemporaryDirectory(prefix="rsg-")))
            run, store, domain = _fitted(run or scratch / "run", fit, reading, notes)
        else:
            assert run is not None
            assert demos is not None
            domain = home(Run(run), find(reading.world) if reading.world else None)
            store = open_store(Path(demos), domain.name, how=reading.asked(domain, notes.append))
        parts = parts_for(out, run, store)
        with progress("segmenting", len(store), "recordings") as advance:
            found = segment_store(run, store, domain, parts, workers, advance)
    cut = summary(found)
    if cut.cut:
        label_to(out, found, store, str(fit or demos), Options(lerobot=lerobot, note=notes.append), labels)
        if pictures:
            draw_labels(pictures, store, domain, found)
    rmtree(parts)
    return Said({"out": out, **told(cut), "notes": notes}, _show(cut, out, notes), 0 if cut.cut else 1, [pictures])


def _fitted(run: Path, source: str, reading: Reading, notes: list[str]) -> tuple[Path, Store, Domain]:
    """A run that has learned from the recordings, these, and where they happened: by default nobody knows."""
    here = reading.world or world_of_source(source, reading.format) or ""
    known = find(here) if reading.world or here in installed() else None
    how = reading.asked(known, notes.append)
    if known:
        how = replace(how, bridge=how.bridge or 0)  # actions that are missing are found
    store = open_store(Path(source), here or RECORDED, how=how)
    domain = known or OfRecordings(recorded(store, how.options.parts), store.manifest.world)
    learn(_learnable(store, notes), domain, run, domain.presets.get("rsg"))
    terms = load(run, domain).tell(domain.world(store[0].setting))
    notes.extend(f"{one.means}{f' ({one.sure:.0%} sure)' if one.sure is not None else ''}" for one in terms)
    return run, store, domain


def _learnable(store: Store, notes: list[str]) -> Store | list[Demonstration]:
    """The recordings that can be learned from; if some cannot, that is noted."""
    wrong = {number: problem for number, demo in enumerate(store) if (problem := problem_of(demo, acts=False))}
    if not wrong:
        return store
    first, problem = next(iter(wrong.items()))
    if len(wrong) == len(store):
        raise RsgError(f"there is nothing to learn from: episode {first} {problem}, and so it is with all others")
    notes.append(f"learned without {quantity(len(wrong), 'recording')}: the first, episode {first}, {problem}")
    return [demo for number, demo in enumerate(store) if number not in wrong]


def _show(cut: Cut, out: str, notes: list[str]) -> Iterator[str]:
    """What was cut, and what was not and why."""
    yield from map(escape, dict.fromkeys(notes))
    for problem, count in cut.problems.most_common(SHOWN):
        several = f"{quantity(count, 'recording')}, the first of them episode" if count > 1 else "episode"
        yield f"[yellow]not cut[/yellow]  {several} {cut.first[problem]}: {escape(problem)}"
    if len(cut.problems) > SHOWN:
        says = f"; {out} says why" if cut.cut else ""
        yield f"[yellow]not cut[/yellow]  {sum(cut.problems.values()):,} in all{says}"
    close = f"; {cut.close:,} with another alignment that is nearly as likely" if cut.close else ""
    where = f" in {out}" if cut.cut else ""
    segments = quantity(cut.segments, "segment")
    yield f"{cut.cut:,} of {quantity(cut.recordings, 'recording')} cut into {segments}{where}{close}"
