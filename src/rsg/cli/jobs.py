"""The long jobs of several commands, each with its progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rsg.core.cores import cores
from rsg.core.progress import is_hushed, progress
from rsg.demos import Recipe, Store, make_demonstrations

if TYPE_CHECKING:  # torch takes seconds to load
    from rsg.training import Progress, TrainingSettings

    Watch = Callable[[Progress, Mapping[str, float]], None]


def demonstrate(recipe: Recipe, folder: Path, workers: int = 0) -> Store:
    """Make the demonstrations of a recipe, or those that are missing; 0 workers: one per core."""
    with progress("demonstrating", recipe.episodes(), "episodes") as advance:
        return make_demonstrations(recipe, folder, workers=workers or cores(), advance=advance)


@contextmanager
def training_bar(settings: TrainingSettings) -> Iterator[Watch]:
    """A bar with the figures people want; in a pipe, one line per look instead."""
    with progress("training", settings.steps, "steps") as advance:
        done = 0

        def watch(run: Progress, figures: Mapping[str, float]) -> None:
            nonlocal done
            best = f"held-out {run.best:.3f}" if run.best is not None else ""
            advance(run.step - done, f"loss {figures['loss']:.3f}  {best}")
            done = run.step
            if run.history and run.history[-1]["step"] == run.step and not (is_hushed() or sys.stderr.isatty()):
                print(_line(run, settings.steps), file=sys.stderr)

        yield watch


def _line(run: Progress, steps: int) -> str:
    """The last look at a run."""
    last = run.history[-1]
    extra = "".join(f"  {key} {last[key]:.3f}" for key in last if key.startswith("success"))
    return (
        f"step {run.step:5}/{steps}  loss {last['loss']:8.4f}  held-out {last['held_out']:8.4f}"
        f"{extra}  {run.seconds:6.1f} s of processor time"
    )
