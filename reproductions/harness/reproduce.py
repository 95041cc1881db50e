"""The harness: from an experiment to its section of the results, running only what is missing.

An experiment is a list of jobs and a function from their results to a section; see `reproductions.registry` for
how to add one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reproductions.harness.extras import require
from reproductions.harness.jobs import Job, Plain, finished, store_folder, work_on
from reproductions.harness.quotes import pages, refresh
from reproductions.harness.results import Results
from reproductions.harness.side_by_side import Ended, side_by_side
from reproductions.harness.tables import with_section
from reproductions.harness.trials import Size
from rsg.core.errors import RsgError
from rsg.core.files import leftovers, replacing
from rsg.core.folder import locked
from rsg.core.progress import Advance
from rsg.core.words import quantity
from rsg.demos import Recipe, make_demonstrations


@dataclass(frozen=True)
class Extent:
    """How much is run: seeds 0 to `seeds` - 1, so much of each; `quick`: a small version that shows that all works."""

    seeds: int
    size: Size = field(default_factory=Size)
    quick: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure of a section: what it shows, a function that draws it into a file, of which kind (png or gif).

    One that is not `shown` is there for other pages.
    """

    caption: str
    draw: Callable[[Path], None]
    kind: str = "png"
    shown: bool = True


@dataclass(frozen=True)
class Section:
    """What an experiment says.

    Attributes:
        title: its headline.
        text: markdown.
        summary: the figures of the text as plain JSON.
        pictures: by name; they follow the text.
    """

    title: str
    text: str
    summary: Plain
    pictures: Mapping[str, Picture] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """Something that can be reproduced.

    Attributes:
        name: the word for it on the command line.
        seeds: how many are run unless the user says otherwise; one in a quick run.
        full, quick: how much is done for each.
        jobs: lists what is to be done.
        section: turns results into a section; some jobs may be missing from them (`--report-only`).
        extras: packages that the jobs need, see `rsg.core.extras`.
    """

    name: str
    seeds: int
    full: Size
    quick: Size
    jobs: Callable[[Extent], list[Job]]
    section: Callable[[Extent, Results], Section]
    extras: tuple[str, ...] = ()

    def extent(self, seeds: int | None, quick: bool) -> Extent:
        """How much is run if the user asks for that."""
        if seeds is not None and seeds < 1:
            raise RsgError(f"seeds must be at least 1, not {seeds}")
        return Extent(seeds or (1 if quick else self.seeds), self.quick if quick else self.full, quick)


class Reproduction:
    """An experiment in a work folder: what is done of it, doing the rest, and writing it down.

    Args:
        experiment: which.
        extent: how much of it.
        work: where results, runs and demonstrations are kept.
    """

    def __init__(self, experiment: Experiment, extent: Extent, work: str | Path) -> None:
        self.experiment, self.extent, self.work = experiment, extent, Path(work)
        self.jobs = experiment.jobs(extent)
        names = [self.name_of(job) for job in self.jobs]
        assert len(set(names)) == len(names), "each job of an experiment has a name of its own"

    def name_of(self, job: Job) -> str:
        """A job's name among the results; one that is shared with another experiment says so."""
        return job.name if job.experiment == self.experiment.name else f"{job.experiment}/{job.name}"

    def kept(self) -> dict[str, Plain]:
        """All that is kept of the finished jobs, by name."""
        pairs = [(self.name_of(job), finished(job, self.work)) for job in self.jobs]
        return {name: kept for name, kept in pairs if kept is not None}

    def missing(self) -> list[Job]:
        """The jobs that are still to be done."""
        return [job for job in self.jobs if finished(job, self.work) is None]

    def recipes(self) -> list[Recipe]:
        """The demonstrations that missing jobs need."""
        return list(dict.fromkeys(recipe for job in self.missing() for recipe in job.needs))

    def demonstrate(self, workers: int, advance: Advance | None = None) -> None:
        """Make the demonstrations that missing jobs need, once for all of them."""
        for recipe in self.recipes():
            make_demonstrations(recipe, store_folder(self.work, recipe), workers, advance)

    def run(self, workers: int, tell: Callable[[Job, Ended], None] | None = None) -> None:
        """Do the missing jobs, so many at a time; if some fail, the others are still done and kept."""
        jobs = self.missing()
        if jobs:
            require(*self.experiment.extras)
        failed: list[tuple[Job, str]] = []
        with self.alone(), closing(side_by_side([(work_on, (job, self.work)) for job in jobs], workers)) as ended:
            for one in ended:
                job = jobs[one.number]
                if one.problem:
                    failed.append((job, one.problem + self._log(job, one)))
                if tell:
                    tell(job, one)
        if failed:
            which = "; ".join(f"{job.experiment}/{job.name}: {problem}" for job, problem in failed[:3])
            more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
            raise RsgError(
                f"{len(failed)} of {quantity(len(self.jobs), 'job')} failed: {which}{more}. "
                f"What is finished is kept in {self.work}; the same command does the rest"
            )

    def _log(self, job: Job, ended: Ended) -> str:
        """Keep the traceback of a job; says where it is."""
        if not ended.details:
            return ""
        path = job.file(self.work).with_suffix(".log")
        with replacing(path) as part:
            part.write_text(ended.details, encoding="utf-8")
        return f" (see {path})"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else does these jobs in the same folders meanwhile."""
        with ExitStack() as locks:
            for name in sorted({self.experiment.name, *(job.experiment for job in self.jobs)}):
                folder = self.work / name
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise RsgError(f"cannot write to {folder}: {error.strerror}") from None
                busy = f"another rsg reproduce works in {folder}; wait for it, or give another --work"
                locks.enter_context(locked(folder, RsgError(busy)))
            yield

    def command(self) -> str:
        """What a reader types to get the same."""
        seeds = 1 if self.extent.quick else self.experiment.seeds
        more = "" if self.extent.seeds == seeds else f" --seeds {self.extent.seeds}"
        return f"rsg reproduce {self.experiment.name}{more}{' --quick' if self.extent.quick else ''}"

    def write(self, out: str | Path, order: Sequence[str] = ()) -> Plain:
        """Write the section into `out`, its figures and pictures into `results` beside it; gives the summary.

        Pages beside `out` that quote results, and the README of these docs, are brought up to date.

        Args:
            out: a markdown file; the sections of other experiments stay as they are.
            order: the names of all experiments, in the order of their sections.
        """
        out, kept = Path(out), self.kept()
        if not kept:
            raise RsgError(f"no job of {self.experiment.name} is finished in {self.work}; run it without --report-only")
        section = self.experiment.section(self.extent, Results({name: one["result"] for name, one in kept.items()}))
        text = _read(out)
        folder, name = out.parent / "results", self.experiment.name
        files = {key: f"{name}-{key}.{picture.kind}" for key, picture in section.pictures.items()}
        body = _markdown(self, section, kept, files)
        text = with_section(text, name, body, order, str(out))  # says so if it cannot, before anything is written
        figures = _figures(self, section, kept)
        for stray in (*leftovers(out.parent, out.name), *leftovers(folder, f"{name}.json", f"{name}-*")):
            stray.unlink(missing_ok=True)
        with replacing(folder / f"{name}.json") as part:
            part.write_text(figures, encoding="utf-8")
        for picture, file in files.items():
            with replacing(folder / file) as part:
                section.pictures[picture].draw(part)
        with replacing(out) as part:
            part.write_text(text, encoding="utf-8")
        for page in pages(out.parent):
            if page != out:
                refresh(page, folder)
        return section.summary


def outlook(several: Sequence[Reproduction], workers: int) -> str:
    """What lies ahead, in a sentence; jobs that experiments share count once."""
    jobs = {(job.experiment, job.name) for one in several for job in one.jobs}
    minutes = {(job.experiment, job.name): job.minutes for one in several for job in one.missing()}
    done = f"{quantity(len(jobs), 'job')}, {len(jobs) - len(minutes)} done"
    if not minutes:
        return done
    ahead = max(sum(minutes.values()) / max(1, workers), *minutes.values(), 1.0)
    return f"{done}; about {quantity(round(ahead), 'minute')} on {quantity(workers, 'worker')}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise RsgError(f"cannot read {path} ({error}); move it away, or give another --out") from None


def _markdown(made: Reproduction, section: Section, kept: Mapping[str, Plain], files: Mapping[str, str]) -> str:
    """A whole section: what the experiment says, its pictures, and how it came about."""
    quick = made.extent.quick
    parts = [f"## {section.title}{' (quick run)' if quick else ''}"]
    if quick:
        parts.append("**A quick run: it shows that everything works. Its figures are no results.**")
    if len(kept) < len(made.jobs):
        parts.append(f"**Unfinished: {len(kept)} of {quantity(len(made.jobs), 'job')}.**")
    parts.append(section.text.strip())
    shown = [(picture.caption, files[name]) for name, picture in section.pictures.items() if picture.shown]
    parts += [f"![{caption}](results/{file})" for caption, file in shown]
    parts.append("\n".join(f"- {line}" for line in _origin(made, kept)))
    return "\n\n".join(parts)


def _origin(made: Reproduction, kept: Mapping[str, Plain]) -> list[str]:
    """How figures came about: command, seeds, hardware, data."""
    seeds = made.extent.seeds
    machines = [
        f"{one['processor']}, {quantity(one['cores'], 'core')}, {one['platform']}; Python {one['python']}, "
        f"torch {one['torch']}, numpy {one['numpy']}, numba {one['numba']}, rsg {one['rsg']}"
        for one in _distinct(kept, "environment")
    ]
    data = {name: digest for one in kept.values() for name, digest in one["data"].items()}
    minutes = sum(one["took"]["cpu_seconds"] for one in kept.values()) / 60
    name = made.experiment.name
    fewer = ", or as many as the experiment has that a job is from" if any("/" in job for job in kept) else ""
    return [
        f"Command: `{made.command()}`; {'seed 0' if seeds == 1 else f'seeds 0 to {seeds - 1}'}{fewer}; "
        f"{quantity(len(kept), 'job')}, {minutes:.1f} minutes of processor time.",
        *(f"Hardware: {machine}; one thread per job." for machine in machines),
        *(f"Data: {store}, sha256 `{digest[:16]}…`." for store, digest in data.items()),
        f"The same as JSON: [results/{name}.json](results/{name}.json); raw figures stay in the work folder.",
    ]


def _distinct(kept: Mapping[str, Plain], key: str) -> list[Any]:
    found: list[Any] = []
    for one in kept.values():
        if one[key] not in found:
            found.append(one[key])
    return found


def _figures(made: Reproduction, section: Section, kept: Mapping[str, Plain]) -> str:
    """The summary and where it comes from as JSON, a key to a line."""
    values = {
        "experiment": made.experiment.name,
        "command": made.command(),
        "quick": made.extent.quick,
        "seeds": list(range(made.extent.seeds)),
        "environments": _distinct(kept, "environment"),
        "data": {name: digest for one in kept.values() for name, digest in one["data"].items()},
        "summary": section.summary,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in values.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
