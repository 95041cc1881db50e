"""How fast demonstrations go out to each format and come in again, and how much memory that takes, by their number.

10^5 takes long: `python -m benchmarks.bench_formats 100000 [FORMAT ...]` adds it to what is kept, format by format.
`cut` is one of them: short recordings are imported from JSON lines, cut by what was learned from a few of them, without
a simulator, and written with their labels.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import rsg
from benchmarks.harness import RESULTS, keep
from rsg.demos import Demonstration, Store
from rsg.demos.labels import Labels
from rsg.worlds import recorded
from rsg.worlds.corridor import Corridor

COUNTS = (1_000, 10_000)
TARGETS = {
    "npz": "out.npz",
    "jsonl": "out.jsonl",
    "lerobot": "out",
    "robomimic": "out.hdf5",
    "minari": "minari:out-v0",
}
STEPS, WIDTH, MOVES, TASKS = 25, 20, 7, 50
RUN = """
import sys, time
from contextlib import suppress
from pathlib import Path
from rsg.cli.main import main
from rsg.demos import Store
from rsg.demos.formats import Options
from rsg.demos.importing import export_to, import_into, label_to
from rsg.demos.labels import Labels
what, source, target, *more = sys.argv[1:]

def peak():  # of this process alone; what getrusage says may be its parent's
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

begun, used, before = time.perf_counter(), time.process_time(), peak()
if what == "export":
    export_to(target, Store(source))
elif what == "import":
    import_into(Path(target), source, "arm")
elif what == "label":
    label_to(target, Labels([Path(more[0])]), Store(source), source, Options())
else:
    with suppress(SystemExit):
        main(["segment", more[0], "--demos", source, "--out", target, "--workers", "1", "--json"])
print(time.perf_counter() - begun, peak(), before, time.process_time() - used)
"""


def run(counts: tuple[int, ...] = COUNTS) -> dict[str, Any]:
    """Seconds and megabytes of each format, each direction in a process of its own."""
    figures: dict[str, Any] = {"steps": STEPS, "state": WIDTH, "action": MOVES}
    return figures | {str(count): dict(_each(count)) for count in counts}


def _each(count: int, names: Sequence[str] = (*TARGETS, "cut")) -> Iterator[tuple[str, dict[str, Any]]]:
    """The figures of each format for so many demonstrations."""
    folder = Path(tempfile.mkdtemp())
    try:
        if {*names} != {"cut"}:
            _fill(Store.create(folder / "store", "arm"), count)
        for name in names:
            yield name, _cut(folder, count) if name == "cut" else _measured(folder, name)
    finally:
        shutil.rmtree(folder)


def _cut(folder: Path, count: int) -> dict[str, Any]:
    """Short recordings imported, cut and written with their labels: processor time and memory of each."""
    shown = [rsg.Demonstration(states, None, task) for states, _, task in Corridor().walks()]
    rsg.learn(shown, recorded(shown), folder / "run")
    lines = [json.dumps({"states": one.states.tolist(), "actions": None, "task": one.task}) + "\n" for one in shown]
    with (folder / "short.jsonl").open("w") as file:
        file.writelines(lines[number % len(lines)] for number in range(count))
    short, cut = str(folder / "short"), str(folder / "cut.jsonl")
    steps = {"import": _timed(folder, "import", str(folder / "short.jsonl"), short)}
    steps["segment"] = _timed(folder, "segment", short, cut, str(folder / "run"))
    assert sum(bool(one.segments) for one in Labels([Path(cut)])) == count
    steps["label for lerobot"] = _timed(folder, "label", short, str(folder / "labelled"), cut)
    return {name: {"cpu_s": round(used, 1), "peak_mb": round(peak)} for name, (_, peak, _, used) in steps.items()}


def _fill(store: Store, count: int) -> None:
    """As a robot's arm has them: numbers with a fraction, of a few dozen steps."""

    def demos() -> Any:
        rng = np.random.default_rng(0)
        for number in range(count):
            states = rng.normal(size=(STEPS + 1, WIDTH)).astype(np.float32)
            actions = rng.normal(size=(STEPS, MOVES)).astype(np.float32)
            yield Demonstration(states, actions, f"reach-{number % TASKS} then grasp")

    store.append(demos())


def _measured(folder: Path, name: str) -> dict[str, float]:
    """Out and in again; what came in is compared with what went out."""
    target = TARGETS[name] if name == "minari" else str(folder / TARGETS[name])
    out = _timed(folder, "export", str(folder / "store"), target)
    size = sum(path.stat().st_size for path in _written(folder, name))
    back = _timed(folder, "import", target, str(folder / "back"))
    pairs = zip(Store(folder / "store"), Store(folder / "back"), strict=True)
    assert all(one == other for one, other in pairs), name
    shutil.rmtree(folder / "back")
    for path in _written(folder, name):
        path.unlink()
    return {
        "export_s": round(out[0], 2),
        "export_peak_mb": round(out[1]),
        "import_s": round(back[0], 2),
        "import_peak_mb": round(back[1]),
        "begin_mb": round(back[2]),
        "file_mb": round(size / 1e6, 1),
    }


def _written(folder: Path, name: str) -> list[Path]:
    """The files of a format."""
    root = folder / ("minari" if name == "minari" else TARGETS[name])
    return [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else [root]


def _timed(folder: Path, *words: str) -> list[float]:
    command = [sys.executable, "-W", "ignore", "-c", RUN, *words]
    env = {**os.environ, "MINARI_DATASETS_PATH": str(folder / "minari")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return [float(word) for word in done.stdout.split()[-4:]]


def main() -> None:
    """Measure the number that is given, and add to what is kept after each format."""
    path = RESULTS / "formats.json"
    count, *names = sys.argv[1:]
    for name, figures in _each(int(count), names or (*TARGETS, "cut")):
        kept = json.loads(path.read_text())["figures"] if path.exists() else {}
        kept[count] = {**kept.get(count, {}), name: figures}
        print(name, figures, keep("formats", kept), flush=True)


if __name__ == "__main__":
    main()
