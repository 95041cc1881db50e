"""The harness: from an experiment to its section of the results, running only what is missing.

An experiment is a list of jobs and a function from their results to a section; see `reproductions.registry` for
how to add one.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from reproductions.harness.extras import require
from reproductions.harness.figures import Picture
from reproductions.harness.jobs import Job, Plain, finished, store_folder
from reproductions.harness.quotes import pages, refresh
from reproductions.harness.results import Results
from reproductions.harness.side_by_side import Ended, side_by_side
from reproductions.harness.tables import page, with_section
from reproductions.harness.trials import Size
from rsg.core.errors import RsgError
from rsg.core.files import leftovers, replacing
from rsg.core.folder import locked, sha256, write
from rsg.core.progress import Advance
from rsg.core.words import quantity
from rsg.demos import Recipe
from rsg.domain import make_demonstrations


@dataclass(frozen=True)
class Section:
    """What an experiment says.

    Attributes:
        title: its headline.
        text: markdown; see `page`.
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
        full, quick: how much is run unless the user says otherwise.
        jobs: lists what is to be done.
        section: turns results into a section; some jobs may be missing from them (`--report-only`).
        extras: packages that the jobs need, see `rsg.core.extras`.
        reads: names of experiments whose written figures the section is computed from, instead of jobs; it gets their
            summaries as `Results`, by name.
    """

    name: str
    full: Size
    quick: Size
    jobs: Callable[[Size], Iterable[Job]]
    section: Callable[[Size, Results], Section]
    extras: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    def size(self, seeds: int | None, quick: bool) -> Size:
        """How much is run if the user asks for that."""
        if seeds is not None and seeds < 1:
            raise RsgError(f"seeds must be at least 1, not {seeds}")
        usual = self.quick if quick else self.full
        return replace(usual, seeds=seeds or usual.seeds, quick=quick)


class Reproduction:
    """An experiment in a work folder: what is done of it, doing the rest, and writing it down.

    Args:
        experiment: which.
        size: how much of it.
        work: where results, runs and demonstrations are kept.
    """

    def __init__(self, experiment: Experiment, size: Size, work: str | Path) -> None:
        self.experiment, self.size, self.work = experiment, size, Path(work)
        self.jobs = list(experiment.jobs(size))
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

    def run(self, workers: int, tell: Callable[[Ended], None] | None = None) -> None:
        """Do the missing jobs, so many at a time; if some fail, the others are still done and kept."""
        jobs = self.missing()
        if jobs:
            require(*self.experiment.extras)
        failed: list[str] = []
        with self.alone(), closing(side_by_side(jobs, self.work, workers)) as every:
            for ended in every:
                if ended.problem:
                    name = f"{ended.job.experiment}/{ended.job.name}"
                    failed.append(f"{name}: {ended.problem.splitlines()[0]}{self._log(ended)}")
                if tell:
                    tell(ended)
        if failed:
            more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
            raise RsgError(
                f"{len(failed)} of {quantity(len(self.jobs), 'job')} failed: {'; '.join(failed[:3])}{more}. "
                f"What is finished is kept in {self.work}; the same command does the rest"
            )

    def _log(self, ended: Ended) -> str:
        """Keep the traceback of a job; says where it is."""
        if not ended.details:
            return ""
        path = ended.job.file(self.work).with_suffix(".log")
        write(path, ended.details.encode())
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
        usual = self.experiment.size(None, self.size.quick)
        more = "" if self.size.seeds == usual.seeds else f" --seeds {self.size.seeds}"
        return f"rsg reproduce {self.experiment.name}{more}{' --quick' if self.size.quick else ''}"

    def write(self, out: str | Path, order: Sequence[str] = ()) -> Plain:
        """Write the section into `out`, its figures and pictures into `results` beside it; gives the summary.

        Pages beside `out` that quote results, and the README of these docs, are brought up to date.

        Args:
            out: a markdown file; the sections of other experiments stay as they are.
            order: the names of all experiments, in the order of their sections.
        """
        out, kept, name = Path(out), self.kept(), self.experiment.name
        folder = out.parent / "results"
        told = written(folder, self.experiment.reads)
        if not kept and not told:
            raise RsgError(self._nothing(folder))
        found = {job: one["result"] for job, one in kept.items()}
        found |= {other: one["summary"] for other, one in told.items()}
        section = self.experiment.section(self.size, Results(found))
        files = {key: f"{name}-{key}.{picture.kind}" for key, picture in section.pictures.items()}
        origin = self.origin(kept) | (read_from(told, folder) if told else {})
        body = page(
            "section",
            **origin,
            told=told,
            section=section,
            files=files,
            jobs=quantity(len(kept), "job"),
            unfinished=f"{len(kept)} of {quantity(len(self.jobs), 'job')}" if len(kept) < len(self.jobs) else "",
            shared=any("/" in job for job in kept),
            minutes=sum(one["took"]["cpu_seconds"] for one in kept.values()) / 60,
        )
        text = with_section(_read(out), name, body, order, str(out))  # says so if it cannot, before anything is written
        for stray in (*leftovers(out.parent, out.name), *leftovers(folder, f"{name}.json", f"{name}-*")):
            stray.unlink(missing_ok=True)
        figures = {**origin, "summary": section.summary}
        lines = [f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in figures.items()]
        write(folder / f"{name}.json", ("{\n" + ",\n".join(lines) + "\n}\n").encode())
        for picture, file in files.items():
            with replacing(folder / file) as part:
                section.pictures[picture].draw(part)
        write(out, text.encode())
        for other in pages(out.parent):
            if other != out:
                refresh(other, folder)
        return section.summary

    def _nothing(self, folder: Path) -> str:
        """What is lacking, where nothing is there to be told."""
        if not self.experiment.reads:
            return f"no job of {self.experiment.name} is finished in {self.work}; run it without --report-only"
        others = ", ".join(self.experiment.reads)
        return f"{self.experiment.name} is computed from results of {others}; none of them is in {folder}"

    def origin(self, kept: Mapping[str, Plain]) -> Plain:
        """Where figures come from, as plain JSON."""
        environments = {json.dumps(one["environment"]): one["environment"] for one in kept.values()}
        return {
            "experiment": self.experiment.name,
            "command": self.command(),
            "quick": self.size.quick,
            "seeds": [self.size.counts.get("first", 0) + place for place in range(self.size.seeds)],
            "environments": list(environments.values()),
            "data": {store: digest for one in kept.values() for store, digest in one["data"].items()},
        }


def written(folder: Path, names: Iterable[str]) -> dict[str, Plain]:
    """What experiments have written there, by name; those that have not are left out."""
    files = {name: folder / f"{name}.json" for name in names}
    return {name: json.loads(_read(file)) for name, file in files.items() if file.exists()}


def read_from(told: Mapping[str, Plain], folder: Path) -> Plain:
    """Where figures come from that were computed from what others have written: their origin, and hashes of files."""
    environments = {json.dumps(one): one for other in told.values() for one in other["environments"]}
    return {
        "quick": any(other["quick"] for other in told.values()),
        "seeds": [],  # each of the others has its own
        "environments": list(environments.values()),
        "data": {f"results/{name}.json": sha256((folder / f"{name}.json").read_bytes()) for name in told},
    }


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
