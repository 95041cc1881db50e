"""The studio as a service: how soon it plans, how many clients it stands, and a store of the paper's size.

What is asked goes over HTTP to a studio in processes of its own, as `rsg studio` begins it, with the run of `rsg demo`.
"""

import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread
from typing import Any
from urllib.parse import urlsplit

import numpy as np

CLIENTS, SECONDS = 50, 60
PLANS = 500
EVERY = 0.5  # seconds between two looks at the memory
PER_TASK = 400  # demonstrations of each of the paper's 52 tasks to train on

Walk = dict[str, Any]


def run() -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory() as folder:
        _rsg(folder, "demo", "--quick")
        starts = [_until_first_plan(folder) for _ in range(4)][1:]
        with _studio(folder) as studio:
            asked = _novel(studio)
            figures = {"first_plan_seconds": starts, "plans": _one_by_one(studio, asked)}
            print(figures, flush=True)
            figures["clients"] = _many(studio, asked)
            print(figures["clients"], flush=True)
        _rsg(folder, "demos", "make", "crafting", "--per-task", str(PER_TASK), "--out", "large")
        figures["store"] = _large(folder)
    return figures


class Asking:
    """One client: a connection that stays open."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.there = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)

    def __call__(self, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the answer."""
        method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
        self.there.request(method, path, data, {"content-type": "application/json"})
        answer = self.there.getresponse()
        read = answer.read()
        return answer.status, json.loads(read) if read[:1] in b"{[" else read

    def told(self, path: str, body: Any = None) -> Any:
        """The answer, which must be one."""
        status, answer = self(path, body)
        assert status == 200, answer
        return answer


@contextmanager
def _studio(folder: str, *words: str) -> Iterator[Asking]:
    process = _begun(folder, *words)
    try:
        studio = Asking(_address(process))
        while not studio.told("/health")["ok"]:
            time.sleep(0.05)
        studio.told("/about")
        yield studio
    finally:
        process.terminate()
        process.wait()


def _begun(folder: str, *words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "rsg", "studio", "--no-browser", "--port", "0", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().split()[4]


def _rsg(folder: str, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "rsg", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _until_first_plan(folder: str) -> float:
    """Seconds from the command until the first plan is answered, with what the page asks on the way."""
    begun = time.perf_counter()
    process = _begun(folder)
    studio = Asking(_address(process))
    studio.told("/")
    about = studio.told("/about")
    scene = studio.told("/start", {"task": about["example"]["task"], "seed": 1})
    assert studio.told("/plan", {**_walk(scene), "task": about["example"]["task"]})["found"]
    studio.told("/pictures", _walk(scene))
    took = time.perf_counter() - begun
    process.terminate()
    process.wait()
    return round(took, 2)


def _walk(scene: Any) -> Walk:
    return {key: scene[key] for key in ("setting", "start", "actions")}


def _novel(studio: Asking) -> list[Walk]:
    """What is asked: each novel task from several starts."""
    tasks = studio.told("/about")["splits"]["novel"]
    pairs = [(task, seed) for seed in range(10) for task in tasks]
    return [{**_walk(studio.told("/start", {"task": task, "seed": seed})), "task": task} for task, seed in pairs]


def _one_by_one(studio: Asking, asked: list[Walk]) -> dict[str, Any]:
    for body in asked[:20]:
        studio.told("/plan", body)
    took, found = [], 0
    for number in range(PLANS):
        begun = time.perf_counter()
        answer = studio.told("/plan", asked[number % len(asked)])
        took.append(1000 * (time.perf_counter() - begun))
        found += answer["found"]
    return {"requests": PLANS, "found": found, **_percentiles(took)}


def _percentiles(took: list[float]) -> dict[str, float]:
    return {f"p{k}_ms": round(float(np.percentile(took, k)), 1) for k in (50, 95, 99)}


def _many(studio: Asking, asked: list[Walk]) -> dict[str, Any]:
    """So many clients that ask one plan after the other."""
    took: list[float] = []
    statuses: dict[int, int] = {}
    memory: list[float] = []
    together, until = Barrier(CLIENTS + 1), [0.0]

    def ask(number: int) -> None:
        client, turn = Asking(studio.address), number
        together.wait()
        while time.perf_counter() < until[0]:
            begun = time.perf_counter()
            status, _ = client("/plan", asked[turn % len(asked)])
            took.append(1000 * (time.perf_counter() - begun))
            statuses[status] = statuses.get(status, 0) + 1
            turn += CLIENTS

    threads = [Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    until[0] = time.perf_counter() + SECONDS
    together.wait()
    while time.perf_counter() < until[0]:
        memory.append(_megabytes())
        time.sleep(EVERY)
    for thread in threads:
        thread.join()
    tenth = max(1, len(memory) // 10)
    return {
        "clients": CLIENTS,
        "seconds": SECONDS,
        "statuses": {str(status): count for status, count in statuses.items()},
        "requests_per_second": round(len(took) / SECONDS, 1),
        **_percentiles(took),
        "mb_after_a_tenth": round(memory[tenth]),
        "mb_at_the_end": round(memory[-1]),
    }


def _large(folder: str) -> dict[str, Any]:
    """How soon the list of a large store is there, and its first recording."""
    with _studio(folder, "--demos", "large") as studio:
        begun = time.perf_counter()
        rows = studio.told("/demos?limit=50")
        listed = time.perf_counter() - begun
        demo = studio.told("/demos/0")
        cut = studio.told("/segment", {"episode": 0})
        drawn = studio.told("/pictures", {"episode": 0})
        assert demo["steps"] == cut["steps"] == len(drawn["pictures"]) - 1
        whole = time.perf_counter() - begun
        for offset in range(0, rows["count"], 1000):
            studio.told(f"/demos?limit=500&offset={offset}&filter=then")
        figures = {"recordings": rows["count"], "list_seconds": listed, "first_recording_seconds": whole}
        return {name: round(value, 2) for name, value in figures.items()} | {"mb": round(_megabytes())}


def _megabytes() -> float:
    """What all processes of the studio take; what they share is counted once."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = status.read_bytes()
            if b"rsg.studio" in words or b"rsg\0studio" in words:
                lines = (status.parent / "smaps_rollup").read_text().splitlines()
                total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):  # it has just ended
            continue
    return total / 1024
