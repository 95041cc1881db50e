"""What every benchmark shares: timing, the machine it ran on, and where the figures are kept."""

import json
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reproductions.harness.jobs import environment
from reproductions.harness.quotes import pages, refresh
from rsg.core.files import replacing

RESULTS = Path(__file__).parent / "results"


def seconds(work: Callable[[], object], repeat: int = 5) -> dict[str, float]:
    """Median and best wall time and best CPU time of one call, in seconds, after one call to warm up."""
    work()
    walls, cpus = [], []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"median": sorted(walls)[len(walls) // 2], "best": min(walls), "cpu": min(cpus)}


def peak_mb() -> float:
    """The most memory that this process has had, in megabytes; elsewhere than on Linux, also that of who started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line[:6] == "VmHWM:") / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def keep(name: str, figures: dict[str, Any], command: str | None = None) -> Path:
    """Write the figures and the machine they were measured on to `benchmarks/results/<name>.json`.

    Pages of the docs and the README, if they quote them, are brought up to date.
    """
    path = RESULTS / f"{name}.json"
    command = command or f"python -m benchmarks {name}"
    record = {"benchmark": name, "command": command, "machine": environment(), "figures": figures}
    with replacing(path) as part:
        part.write_text(json.dumps(record, indent=2) + "\n")
    root = RESULTS.parents[1]
    for page in pages(root / "docs"):
        if refresh(page, root / "docs" / "results"):
            print(f"figures in {page.relative_to(root)} were brought up to date")
    return path.relative_to(RESULTS.parent.parent)


def in_pieces(name: str, pieces: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """What each piece measures, as nested as the slashes in their names say.

    Each is kept in `out/` as soon as it is measured: a run that was stopped goes on where it was.
    """
    path = pieces_of(name)
    path.parent.mkdir(exist_ok=True)
    measured = json.loads(path.read_text()) if path.exists() else {}
    for piece, measure in pieces.items():
        if piece not in measured:
            measured[piece] = measure()
            print(f"{piece}: {json.dumps(measured[piece])}", flush=True)
            with replacing(path) as part:
                part.write_text(json.dumps(measured))
    return _nested(measured)


def together(by_seed: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of several seeds as lists, one to each."""
    every = list(by_seed.values())
    return {name: [one[name] for one in every] for name in every[0]}


def pieces_of(name: str) -> Path:
    """Where the pieces of a benchmark are kept until it is done."""
    return RESULTS.parents[1] / "out" / f"{name}.json"


def _nested(pieces: Mapping[str, Any]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for piece, told in pieces.items():
        *above, last = piece.split("/")
        inner = figures
        for one in above:
            inner = inner.setdefault(one, {})
        inner[last] = told
    return figures
