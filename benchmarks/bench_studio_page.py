"""How soon the page of the studio shows something: the first plan, and a store of the paper's size.

`studio` measures the same of the service alone; here it is seen in a Debian chromium that runs already.
"""

import subprocess
import tempfile
import time
from typing import Any

from tests.browser.visit import Visitor, chromium

from benchmarks.bench_studio import PER_TASK, _address, _begun, _rsg

TIMES = 4  # of which the first, which finds nothing in the disk's cache, is not told


def run() -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        _rsg(folder, "demo", "--quick")
        plans = [_first_plan(browser, folder) for _ in range(TIMES)][1:]
        _rsg(folder, "demos", "make", "crafting", "--per-task", str(PER_TASK), "--out", "large")
        return {"first_plan_seconds": plans, "large_store_seconds": _large(browser, folder)}


def _first_plan(browser: Any, folder: str) -> float:
    """Seconds from the command until a plan is on the screen."""
    begun = time.perf_counter()
    process = _begun(folder)
    there = Visitor(browser, _address(process)).open("instruct")
    assert there.plan()
    took = time.perf_counter() - begun
    _end(there, process)
    return round(took, 2)


def _large(browser: Any, folder: str) -> list[float]:
    """Seconds until the list and the first recording of a store are on the screen, each in a studio of its own."""
    took = []
    for _ in range(TIMES - 1):
        process = _begun(folder, "--demos", "large")
        there = Visitor(browser, _address(process)).open("instruct")
        there.plan()
        begun = time.perf_counter()
        there.open("review").page.wait_for_selector("#review-stage canvas[style]")
        took.append(round(time.perf_counter() - begun, 2))
        _end(there, process)
    return took


def _end(there: Visitor, process: "subprocess.Popen[str]") -> None:
    there.close()
    process.terminate()
    process.wait()
