"""Training for a person who waits."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rsg.core.progress import is_hushed, progress
from rsg.training.loop import Progress, Watch
from rsg.training.settings import TrainingSettings


@contextmanager
def training_bar(settings: TrainingSettings, lines: bool = True) -> Iterator[Watch]:
    """A bar with the figures people want; in a pipe, one line per look instead, if lines are wanted."""
    lines = lines and not (is_hushed() or sys.stderr.isatty())
    with progress("training", settings.steps, "steps") as advance:
        done = 0

        def watch(run: Progress, figures: Mapping[str, float]) -> None:
            nonlocal done
            best = f"held-out {run.best:.3f}" if run.best is not None else ""
            advance(run.step - done, f"loss {figures['loss']:.3f}  {best}")
            done = run.step
            if lines and run.history and run.history[-1]["step"] == run.step:
                last = run.history[-1]
                told = f"step {run.step:5}/{settings.steps}  loss {last['loss']:8.4f}  held-out {last['held_out']:8.4f}"
                told += "".join(f"  {key} {last[key]:.3f}" for key in last if key.startswith("success"))
                print(f"{told}  {run.seconds:6.1f} s of processor time", file=sys.stderr)

        yield watch
