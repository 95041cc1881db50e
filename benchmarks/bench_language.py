"""How fast tasks are read and machines are built and asked."""

from typing import Any

import numpy as np

from benchmarks.harness import seconds
from rsg.language import Machine, parse, satisfies

LONG = (
    "grab-axe then mine-wood then craft-wood-plank then craft-stick then grab-pickaxe then mine-iron-ore and mine-coal"
    " then craft-iron-ingot then craft-sword then mine-feather then mine-wood then craft-wood-plank then craft-stick"
    " then craft-arrow"
)


def run() -> dict[str, Any]:
    """Milliseconds per call."""
    task = parse(LONG)
    machine = Machine.of(task)
    rng = np.random.default_rng(0)
    trace = np.logical_xor.accumulate(rng.random((50, len(task.terms()))) < 0.2, axis=0)
    ten = parse(" and ".join("abcdefghij"))
    figures = {
        "parse_longest_paper_task_ms": lambda: parse(LONG),
        "machine_of_longest_paper_task_ms": lambda: Machine.of(task),
        "accepts_50_steps_ms": lambda: machine.accepts(trace),
        "satisfies_50_steps_ms": lambda: satisfies(trace, task),
        "machine_of_and_over_10_terms_ms": lambda: Machine.of(ten),
    }
    return {name: round(1000 * seconds(work, repeat=20)["median"], 4) for name, work in figures.items()}
