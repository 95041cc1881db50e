"""Training for a person who waits."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rsg.core.errors import RsgError
from rsg.core.modules import named
from rsg.core.progress import is_hushed, progress
from rsg.training.loop import Progress, Tracker
from rsg.training.settings import TrainingSettings


@contextmanager
def training_bar(settings: TrainingSettings, lines: bool = True, tracker: Tracker | None = None) -> Iterator[Tracker]:
    """A bar with the figures people want; in a pipe, one line per look instead, if lines are wanted.

    tracker: gets the figures too.
    """
    lines = lines and not (is_hushed() or sys.stderr.isatty())
    with progress("training", settings.steps, "steps") as advance:
        done = 0

        def track(run: Progress, figures: Mapping[str, float]) -> None:
            nonlocal done
            if tracker:
                tracker(run, figures)
            best = f"held-out {run.best:.3f}" if run.best is not None else ""
            if "loss" in figures:
                advance(run.step - done, f"loss {figures['loss']:.3f}  {best}")
            done = run.step
            if lines and "held_out" in figures:
                told = f"step {run.step:5}/{settings.steps}  loss {figures['loss']:8.4f}"
                told += f"  held-out {figures['held_out']:8.4f}"
                told += "".join(f"  {key} {figures[key]:.3f}" for key in figures if key.startswith("success"))
                print(f"{told}  {run.seconds:6.1f} s of processor time", file=sys.stderr)

        yield track


def named_tracker(name: str) -> Tracker:
    """The function that gets the figures, by where it is: `path/to/file.py:function`, which is run."""
    found: Tracker = named(name, "tracker") if ":" in name else None  # type: ignore[assignment]
    if not callable(found):
        raise RsgError(f"'{name}' is no tracker: name a function of progress and figures, path/to/file.py:function")
    return found
