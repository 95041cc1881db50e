"""How fast the paper's training set is made, stored and read: 52 × 400 demonstrations on two cores."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rsg.demos import Recipe, Store, check_store
from rsg.demos.checking import statistics
from rsg.domain import find, make_demonstrations

READ = """
import resource, sys, time
from rsg.demos import Store
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
store = Store(sys.argv[1])
start = time.perf_counter()
steps = sum(len(demo) for demo in store)
spent = time.perf_counter() - start
print(steps / spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, base / 1024)
"""


def run() -> dict[str, Any]:
    """Seconds, rates and memory; kernels are compiled before the clock starts."""
    folder = Path(tempfile.mkdtemp())
    try:
        make_demonstrations(Recipe("crafting", "train", 1), folder / "warm")
        figures: dict[str, Any] = {"workers": os.cpu_count()}
        start = time.perf_counter()
        store = make_demonstrations(Recipe("crafting", "train", 400), folder / "train", os.cpu_count() or 1)
        figures["make_train_s"] = round(time.perf_counter() - start, 2)
        figures |= {"episodes": len(store), "steps": store.steps}
        figures["megabytes"] = round(sum(path.stat().st_size for path in (folder / "train").iterdir()) / 1e6, 1)
        start = time.perf_counter()
        assert check_store(store, find("crafting")).ok
        figures["check_s"] = round(time.perf_counter() - start, 2)
        read = [sys.executable, "-c", READ]
        out = subprocess.run([*read, str(folder / "train")], capture_output=True, text=True, check=True).stdout.split()
        figures["read_steps_per_s"] = round(float(out[0]))
        # The same demonstrations ten times over: memory must not follow the size of the store.
        large = Store.create(folder / "large", "crafting")
        for _ in range(10):
            large.append(store)
        out = subprocess.run([*read, str(folder / "large")], capture_output=True, text=True, check=True).stdout.split()
        figures["read_10x_steps_per_s"] = round(float(out[0]))
        figures["read_10x_peak_memory_mb"] = round(float(out[1]))
        figures["memory_before_reading_mb"] = round(float(out[2]))
        figures["tasks"] = {
            split: statistics(make_demonstrations(Recipe("crafting", split, 50), folder / split, os.cpu_count() or 1))
            for split in ("primitive", "compositional", "novel", "goal-only")
        }
        return figures
    finally:
        shutil.rmtree(folder)
