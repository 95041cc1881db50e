"""Beside Fast Downward on growing maps: the order `optimal` and A* with LM-cut, the default and LAMA's first plan.

Goals are single terms on maps that hold what is needed, hands are empty. Times are processor time: of Fast Downward its
own search alone, without translation and start; of ours the whole call. Fast Downward is called by itself: through
unified-planning, which reads the texts and writes them again, a problem of 20×20 takes minutes. Needs the extra
`[pddl]`.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_goals import true_dependencies
from benchmarks.harness import in_pieces
from reproductions.fast_downward import CONFIGURATIONS
from reproductions.pddl import Pddl, to_pddl
from reproductions.peers import cheapest, is_right, open_field
from rsg.domain import find
from rsg.planning import Plan, plan_goal

SIZES = (10, 20, 30)
GOALS = ("mine-wood", "craft-wood-plank")
SEEDS = range(3)
LIMIT = 60.0  # seconds of each search
PAIRS = {"optimal": "optimal", "default": "satisficing"}  # what of ours is beside what of theirs


def run() -> dict[str, Any]:
    """For each size and pair: solved, median time, steps and the median of their time over ours."""
    asked = [(size, seed, term) for size in SIZES for seed in SEEDS for term in GOALS]
    pieces = {f"{size}/{term} {seed}": partial(_beside, size, seed, term) for size, seed, term in asked}
    return {
        f"{size} {name}": _together([row[name] for row in rows.values()])
        for size, rows in in_pieces("fast_downward", pieces).items()
        for name in PAIRS
    }


def _beside(size: int, seed: int, term: str) -> dict[str, dict[str, float]]:
    """One problem for each pair: seconds and steps, ours and theirs."""
    problem = open_field(term, size, seed)
    texts = to_pddl(problem.world, problem.state, problem.term)
    goals, known = find("crafting").true_goals, true_dependencies()
    ours: dict[str, Callable[..., Plan]] = {
        "optimal": partial(cheapest, problem, time_limit=LIMIT),
        "default": partial(plan_goal, problem.world, problem.state, term, goals, known),
    }
    rows: dict[str, dict[str, float]] = {}
    for name, configuration in PAIRS.items():
        theirs_s, theirs_steps = _asked(texts, CONFIGURATIONS[configuration])
        ours[name]()  # compiles the kernels, or loads them
        begun = time.process_time()
        made = ours[name]()
        spent = time.process_time() - begun
        assert not made.found or is_right(problem, made.actions.tolist())
        told = (spent, len(made.actions) if made.found else None, theirs_s, theirs_steps)
        rows[name] = dict(zip(("ours_s", "ours_steps", "theirs_s", "theirs_steps"), told, strict=True))  # type: ignore[arg-type]
    return rows


def _asked(texts: Pddl, how: Mapping[str, str]) -> tuple[float | None, int | None]:
    """The seconds of Fast Downward's search and the steps of its plan, as it prints them."""
    driver = files("up_fast_downward") / "downward" / "fast-downward.py"
    alias, search = how.get("fast_downward_alias"), how.get("fast_downward_search_config")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts._asdict().items():
            Path(folder, f"{name}.pddl").write_text(text, encoding="utf-8")
        command = [sys.executable, str(driver), "--search-time-limit", f"{LIMIT:.0f}s"]
        command += [*(["--alias", alias] if alias else []), "domain.pddl", "problem.pddl"]
        command += ["--search", search] if search else []
        printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    seconds, steps = (
        re.findall(pattern, printed) for pattern in (r"\] Search time: ([\d.e+-]+)s", r"Plan cost: (\d+)")
    )
    return (float(seconds[-1]) if seconds else None, int(steps[-1]) if steps else None)


def _together(rows: list[dict[str, float]]) -> dict[str, float]:
    """Figures of the same kind of problems; what was not solved by both is counted, and left out of the rest."""
    table = {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}
    both = np.isfinite(table["ours_steps"]) & np.isfinite(table["theirs_steps"])
    ratio = table["theirs_s"][both] / table["ours_s"][both]
    figures = {
        "problems": len(rows),
        "solved_by_us": int(np.isfinite(table["ours_steps"]).sum()),
        "solved_by_them": int(np.isfinite(table["theirs_steps"]).sum()),
    }
    if not both.any():
        return figures
    return figures | {
        "ours_ms_median": round(1000 * float(np.median(table["ours_s"][both])), 3),
        "theirs_ms_median": round(1000 * float(np.median(table["theirs_s"][both])), 3),
        "ratio_median": round(float(np.median(ratio)), 1),
        "ratio_least": round(float(ratio.min()), 2),
        "ratio_of_means": round(float(table["theirs_s"][both].mean() / table["ours_s"][both].mean()), 2),
        "ours_steps": round(float(table["ours_steps"][both].mean()), 2),
        "theirs_steps": round(float(table["theirs_steps"][both].mean()), 2),
    }
