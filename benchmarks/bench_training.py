"""Training in Crafting World on one core: the parts of a step, and how time and memory grow with the demonstrations."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (25, 100, 400)  # demonstrations of each of the 52 tasks: 1 ×, 4 ×, 16 ×


def run() -> dict[str, Any]:
    """All tables; about four minutes. Each row is measured in a process of its own."""
    folder = Path(tempfile.mkdtemp())
    try:
        stores = {size: _make(folder / str(size), size) for size in SIZES}
        largest = stores[SIZES[-1]]
        parts = {
            "compiled": _child(largest, steps=60, again=60),
            "compiled, hidden=32": _child(largest, steps=60, again=60, hidden=32),
            "general path": _child(largest, steps=10, again=10, fast=False),
            "flat": _child(largest, steps=20, again=20, encoder="flat"),
        }
        ratio = parts["general path"]["step_cpu_ms"] / parts["compiled"]["step_cpu_ms"]
        growth = {f"{size} per task": _child(store, steps=40) for size, store in stores.items()}
        rows = list(growth.values())
        return {
            "about": "batch 32, 5 negatives, depth 4, one core; in `step` the graphs are there already, "
            "elsewhere they are built on the way",
            "step": parts,
            "general_path_is_slower_by": round(ratio, 1),
            "growth": growth,
            "exponent of preparation over demonstrations": _exponent([row["prepare_cpu_s"] for row in rows]),
            "exponent of step time over demonstrations": _exponent([row["step_cpu_ms"] for row in rows]),
            "memory": {  # one look at each demonstration: every graph is built, as many are kept as the cache holds
                f"cache_mb={cache}": _child(largest, steps=-(-52 * SIZES[-1] // 32), cache_mb=cache)
                for cache in (16, 64, 512)
            },
        }
    finally:
        shutil.rmtree(folder)


def _make(folder: Path, per_task: int) -> Path:
    from rsg.demos import Recipe
    from rsg.domain import make_demonstrations

    make_demonstrations(Recipe("crafting", "train", per_task), folder, os.cpu_count() or 1)
    return folder


def _exponent(y: list[float]) -> float:
    return round(float(np.polyfit(np.log(SIZES), np.log(y), 1)[0]), 2)


def _child(store: Path, steps: int, again: int = 0, **settings: Any) -> dict[str, Any]:
    """Measure in a process of its own, twice: the first run compiles."""
    words = [
        sys.executable,
        "-m",
        "benchmarks.bench_training",
        str(store),
        str(steps),
        str(again),
        json.dumps(settings),
    ]
    subprocess.run([*words[:4], "2", "2", words[6]], capture_output=True, check=True)
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


class Clock:
    """CPU seconds spent in some functions."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The function, on the clock."""

        def run(*arguments: Any, **more: Any) -> Any:
            start = time.process_time()
            result = work(*arguments, **more)
            self.spent[name] += time.process_time() - start
            return result

        return run


def measure(folder: str, steps: int, again: int, changes: dict[str, Any]) -> dict[str, Any]:
    """The figures of one training run: `steps` steps, then, if wanted, the first `again` of them once more."""
    import torch

    import rsg.subgoals.learning as learning
    import rsg.training.data as kept
    from rsg.core.random import stream
    from rsg.demos import Store
    from rsg.domain import find
    from rsg.domains.crafting.sets import SetClassifiers
    from rsg.subgoals.building import build, shape_of
    from rsg.training import TrainingData

    SetClassifiers.fast = changes.pop("fast", True)
    kept.CACHE = changes.pop("cache_mb", 512) * 2**20

    source: Any = find("crafting")
    settings = learning.RsgSettings(**{"encoder": "sets", "curriculum": 0, "batch": 32, **changes})
    before, start = _memory(), time.process_time()
    data = TrainingData(Store(folder), settings)
    prepared, filled = time.process_time() - start, _memory()
    example = data[0]
    world = source.world(example.setting)
    shape = shape_of(settings, world.encode(example.states[:1]), world)
    module = build(settings, source.vocabulary, shape)
    method = learning.RationalSubgoals(module, settings, lambda demo: source.world(demo.setting), data.descriptions)
    optimizer = torch.optim.Adam(module.parameters(), lr=settings.rate, fused=True)
    clock, spent = Clock(), []
    watched = ((method, "score", "score"), (method, "ground", "graphs"), (module, "evaluate", "forward"))
    for owner, name, part in watched:
        setattr(owner, name, clock.timed(part, getattr(owner, name)))
    module.backward = clock.timed("backward", module.backward)  # type: ignore[method-assign]
    optimizer.step = clock.timed("optimiser", optimizer.step)  # type: ignore[method-assign]
    torch.set_num_threads(1)
    for step in range(-2, steps + again):
        if step in (0, steps):  # what came before only warms up, or builds the graphs
            clock.spent.clear()
            spent.clear()
        start, number = time.process_time(), step % steps
        optimizer.zero_grad(set_to_none=True)
        method.gradients(data.batch(number), stream(0, "step", number), number)
        optimizer.step()
        torch.autograd.graph.increment_version(list(module.parameters()))
        spent.append(time.process_time() - start)
    total = sum(spent)
    parts = {name: round(1000 * seconds / len(spent), 2) for name, seconds in sorted(clock.spent.items())}
    parts["rest"] = round(1000 * (total - sum(clock.spent.values())) / len(spent), 2)
    return {
        "episodes": len(data),
        "prepare_cpu_s": round(prepared, 3),
        "step_cpu_ms": round(1000 * total / len(spent), 2),
        "parts_cpu_ms": parts,
        "graphs_kept": len(method.grounds_kept),
        "memory_before_mb": before,
        "memory_prepared_mb": filled,
        "memory_peak_mb": _memory(),
    }


def _memory() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4]))))
