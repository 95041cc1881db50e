"""A tracker of one's own: figures of training, as they come, as lines of JSON.

rsg train WORLD --out RUN --tracker examples/tracking.py:to_lines
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import rsg
from rsg.training import Progress
from rsg.worlds.corridor import Corridor


def to_lines(progress: Progress, figures: Mapping[str, float], path: Path = Path("out/figures.jsonl")) -> None:
    """A line for each look at the held-out score; without the `if`, for each step."""
    if "held_out" in figures:
        with path.open("a") as file:
            file.write(json.dumps({"step": progress.step, **figures}) + "\n")


if __name__ == "__main__":
    shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    settings = {"encoder": "seen", "steps": 120, "curriculum": 40, "check_every": 40, "batch": 9}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "figures.jsonl"
        rsg.learn(shown, Corridor(), settings=settings, tracker=partial(to_lines, path=path))
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        print(f"step {line['step']}: loss {line['loss']:.2f}, held-out {line['held_out']:.2f}")
    print("the last line has", *lines[-1])
