"""How long a first use takes: commands with no kernels kept, and again with those that they left.

`BEFORE=FOLDER python -m benchmarks cold` measures an older checkout in that folder as well, in turns with this one:

    git worktree add ../before 339cca1
    BEFORE=../before python -m benchmarks cold
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

START = ["--seed", "2"]
TASK = "grab-axe then mine-wood"
COMMANDS = {  # the last two plan with what the demo learned
    "crafting": ["plan", "crafting", TASK, *START],
    "crafting, goal only": ["plan", "crafting", "--goal", "craft-boat", *START],
    "playroom": ["plan", "playroom", "turn-on-music then play-with-ball", *START],
    "playroom, goal only": ["plan", "playroom", "--goal", "turn-on-music", *START],
    "demo": ["demo", "--out", "demo"],
    "crafting, learned": ["plan", "crafting", TASK, *START, "--subgoals", "demo/run"],
    "first goal after the demo": ["plan", "crafting", "--goal", "craft-boat", *START, "--subgoals", "demo/run"],
}
LEFT = {"first goal after the demo": "demo"}  # whose kernels are there already
WARM = [name for name in COMMANDS if name not in ("demo", "playroom, goal only")]


def run() -> dict[str, Any]:
    """For each checkout and command: wall and processor seconds, and how many kernels it left."""
    root = Path(__file__).parents[1]
    checkouts = {"now": root, **({"before": Path(os.environ["BEFORE"]).resolve()} if "BEFORE" in os.environ else {})}
    figures: dict[str, Any] = {name: {} for name in checkouts}
    with tempfile.TemporaryDirectory() as folder:
        for name, words in COMMANDS.items():
            for checkout, source in checkouts.items():
                place = Path(folder, checkout)
                kept = place / f"kernels of {LEFT.get(name, name)}"
                cold = _timed(source, place, kept, words)
                warm = {"warm": _timed(source, place, kept, words)} if name in WARM else {}
                figures[checkout][name] = {"cold": cold, **warm}
                print(checkout, name, figures[checkout][name], flush=True)
    return figures


def _timed(source: Path, place: Path, kept: Path, words: list[str]) -> dict[str, Any]:
    """A command in a process of its own, with one thread, and only the kernels that are kept in a folder."""
    place.mkdir(exist_ok=True)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1"}
    begun, used = time.perf_counter(), _used()
    command = [sys.executable, "-c", "from rsg.cli.main import main; main()", *words]
    subprocess.run(command, cwd=place, env=env, stdout=subprocess.DEVNULL, check=True)
    wall, cpu = time.perf_counter() - begun, _used() - used
    kernels = sum(1 for _ in kept.rglob("*.nbc"))
    return {"seconds": round(wall, 1), "cpu_seconds": round(cpu, 1), "kernels": kernels}


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
