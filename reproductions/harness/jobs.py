"""The jobs of an experiment: plain JSON in, plain JSON out, each in a process of its own, each result kept on disk.

A job is run again only if what it was asked for has changed. What it trains goes to its own folder, so that a job that
was killed goes on from its last checkpoint.
"""

import json
import os
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rsg.core.errors import RsgError
from rsg.core.files import leftovers
from rsg.core.folder import sha256, write
from rsg.core.version import __version__
from rsg.demos import Recipe, Store

Plain = dict[str, Any]
"""What JSON can hold: strings, finite numbers, lists and the like."""

MARK = "job.json"


@dataclass(frozen=True)
class Place:
    """Where a job works.

    Attributes:
        work: the folder that all experiments share.
        folder: the job's own; what is in it survives a kill, and goes when the job is asked for something else.
    """

    work: Path
    folder: Path

    @property
    def run(self) -> Path:
        """The folder for what the job trains."""
        return self.folder / "run"

    def store(self, recipe: Recipe) -> Store:
        """Demonstrations that the job said it needs; they are there before it starts."""
        return Store(store_folder(self.work, recipe))


@dataclass(frozen=True)
class Job:
    """One piece of an experiment.

    Attributes:
        experiment: the name of the experiment.
        name: the job's own, good for a file.
        run: a function of a module, called with the parameters and a place; gives the result.
        parameters: all that decides the result, the defaults of settings included.
        minutes: about how long it takes one core.
        needs: demonstrations that are made, once for all jobs, before it starts.
    """

    experiment: str
    name: str
    run: Callable[[Plain, Place], Plain]
    parameters: Plain
    minutes: float = 1.0
    needs: tuple[Recipe, ...] = ()

    def asked(self) -> Plain:
        """What decides whether a result is still the one that is wanted."""
        return {
            "experiment": self.experiment,
            "job": self.name,
            "run": self.run.__qualname__,
            "parameters": self.parameters,
            "needs": [asdict(recipe) for recipe in self.needs],
        }

    def digest(self) -> str:
        """A hash of what is asked."""
        return sha256(_text(self.asked(), f"the parameters of {self.name}").encode())

    def file(self, work: Path) -> Path:
        """Where the result goes."""
        return work / self.experiment / f"{self.name}.json"


def store_folder(work: Path, recipe: Recipe) -> Path:
    """The shared demonstrations of a recipe."""
    noise = f"-noise{recipe.noise:g}" if recipe.noise else ""
    where = f"-{recipe.map}" if recipe.map else ""
    return work / f"demonstrations-{recipe.world}{where}-{recipe.split}-{recipe.per_task}-seed{recipe.seed}{noise}"


def finished(job: Job, work: Path) -> Plain | None:
    """What is kept of a job that was done as it is asked for now, or None."""
    try:
        kept = json.loads(job.file(work).read_text(encoding="utf-8"))
        return kept if kept["digest"] == job.digest() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def perform(job: Job, work: Path) -> None:
    """Do a job and keep its result; goes on with what an interrupted one left."""
    place = _prepared(job, work)
    begun, used = time.perf_counter(), processor_seconds()
    result = job.run(job.parameters, place)
    kept = {
        **json.loads(_text(job.asked(), "its parameters")),
        "digest": job.digest(),
        "result": result,
        "data": {store_folder(work, recipe).name: data_hash(place.store(recipe)) for recipe in job.needs},
        "environment": environment(),
        "took": {
            "cpu_seconds": round(processor_seconds() - used, 3),
            "seconds": round(time.perf_counter() - begun, 3),
        },
    }
    write(job.file(work), _text(kept, "its result").encode())


def _prepared(job: Job, work: Path) -> Place:
    """The place of a job, without what belongs to another question or to killed writers."""
    place = Place(work, work / job.experiment / job.name)
    mark = place.folder / MARK
    if not mark.exists() or mark.read_text(encoding="utf-8") != job.digest():
        shutil.rmtree(place.folder, ignore_errors=True)
        write(mark, job.digest().encode())
    for part in (*leftovers(place.folder, "*"), *leftovers(job.file(work).parent, job.file(work).name)):
        part.unlink(missing_ok=True)
    return place


def _text(value: Plain, what: str) -> str:
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise RsgError(f"{what} cannot be kept as JSON: {error}") from None


def data_hash(store: Store) -> str:
    """A hash of all demonstrations of a store, the one that training keeps with a run."""
    return sha256("".join(shard.sha256 for shard in store.manifest.shards).encode())


def environment() -> Plain:
    """What a measurement depends on besides the program."""
    return {
        "rsg": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in ("torch", "numpy", "numba")},
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "platform": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    """The model of the CPU, as the system names it."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def processor_seconds() -> float:
    """Processor time of this process so far, and of those that it started and waited for."""
    import resource  # not on Windows

    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in spent)
