"""The training loop, for every method: batches in, gradient steps, held-out score, checkpoints out.

Training never sees the truth: it stops on the score of held-out demonstrations. Everything random follows from the
seed and the number of the step, so that a run that was interrupted goes on bit for bit.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from rsg.core.errors import DemonstrationError, RsgError, RunError
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.training.checkpoint import Run, Saved, writing
from rsg.training.data import TrainingData
from rsg.training.settings import TrainingSettings

BETAS = (0.9, 0.98)  # Adam's: early gradients are large, and a longer memory of them slows learning down


class Method(Protocol):
    """What the loop asks of a method, ours and each baseline."""

    @property
    def name(self) -> str:
        """The word for it, kept with its runs."""
        ...

    @property
    def settings(self) -> TrainingSettings:
        """How it is trained."""
        ...

    @property
    def module(self) -> nn.Module:
        """What is trained."""
        ...

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """Add the gradients of the batch of a step to the module's parameters; gives figures, `loss` among them."""
        ...

    def held_out_score(self, demos: Sequence[Demonstration], rng: np.random.Generator) -> float:
        """How well demonstrations are explained that were never trained on, on average; more is better."""
        ...

    def about(self) -> dict[str, Any]:
        """What it takes to build the method again, as plain JSON."""
        ...


Report = Callable[[int, Method], Mapping[str, float]]
"""A callback at each look at the held-out score: figures that are only reported, never used."""


@dataclass
class Progress:
    """Where a run is. It is saved with each checkpoint.

    Attributes:
        step: steps done.
        best: the best held-out score; best_step: when it was reached; stale: looks since then.
        history: for each look, its step and figures.
        seconds: of processor time spent on training, over all sessions.
        done: why training ended, empty while it goes on.
    """

    step: int = 0
    best: float | None = None
    best_step: int = 0
    stale: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    seconds: float = 0.0
    done: str = ""


Draw = Callable[[Mapping[str, float]], None]
Watch = Callable[[Progress, Mapping[str, float]], None]
"""Called after each step with its figures: for a progress bar."""


def fit(
    method: Method,
    data: TrainingData,
    folder: str | Path,
    watch: Watch | None = None,
    reports: Sequence[Report] = (),
    tensorboard: bool = True,
    source: Mapping[str, Any] | None = None,
) -> Progress:
    """Train until the held-out score no longer rises or the steps are done; goes on where the folder's run stopped.

    Args:
        method: what is trained.
        data: what it is trained on.
        folder: of the run; one that has checkpoints is resumed.
        watch: called after each step.
        reports: callbacks whose figures are kept beside the held-out score.
        tensorboard: whether to write curves for TensorBoard into the folder.
        source: where the demonstrations come from, kept for people to read.

    Ctrl-C ends training after the current step, with a checkpoint: `done` is then empty.
    """
    settings = method.settings
    about = {"method": method.name, "settings": asdict(settings), "data": data.fingerprint, **method.about()}
    if not (Path(folder) / "run.json").exists():
        Run.create(folder, {**about, "source": dict(source or {})})
    with writing(folder) as run, one_thread(), _ctrl_c_waits() as interrupted, _curves(folder, tensorboard) as draw:
        _check_same(run, about)
        optimizer = torch.optim.Adam(method.module.parameters(), betas=BETAS, fused=settings.device == "cpu")
        progress = Progress()
        if run.has("last"):
            progress = _restore(run.load("last"), method, optimizer)
        while not progress.done:
            begun = time.process_time() - progress.seconds
            with _telling_which(data):
                figures = _step(method, data, optimizer, progress)
                progress.step += 1
                progress.seconds = time.process_time() - begun
                looks = progress.step % settings.check_every == 0 or bool(_ended(settings, progress))
                better = looks and _look(method, data, progress, figures)
            progress.seconds = time.process_time() - begun
            if looks:
                _report(method, progress, reports, draw)
            progress.done = _ended(settings, progress)
            stop = interrupted()
            if better or progress.done or stop or progress.step % settings.save_every == 0:
                saved = _saved(method, optimizer, progress)
                run.save({"last": saved, "best": saved} if better else {"last": saved})
            if watch:
                watch(progress, figures)
            if stop:
                break
    return progress


@contextmanager
def _telling_which(data: TrainingData) -> Iterator[None]:
    """An error of a demonstration tells the number of its episode."""
    try:
        yield
    except DemonstrationError as error:
        number = data.number_of(error.demonstration)  # type: ignore[arg-type]
        raise RsgError(f"episode {number} does not fit its world: {error}") from None


def _step(method: Method, data: TrainingData, optimizer: torch.optim.Adam, progress: Progress) -> Mapping[str, float]:
    """One gradient step."""
    settings, step = method.settings, progress.step
    optimizer.param_groups[0]["lr"] = rate_at(settings, step, progress.seconds)
    optimizer.zero_grad(set_to_none=True)
    figures = method.gradients(data.batch(step), stream(settings.seed, "step", step), step)
    if not math.isfinite(figures["loss"]):
        raise RunError(f"the loss is {figures['loss']} at step {step}; try a lower rate (--set rate=...)")
    optimizer.step()
    torch.autograd.graph.increment_version(list(method.module.parameters()))  # a fused step leaves no trace of itself
    return figures


def rate_at(settings: TrainingSettings, step: int, seconds: float = 0.0) -> float:
    """The learning rate: half a cosine from `rate` to `rate_end`, over the steps or the budget of processor time."""
    share = step / settings.steps
    if settings.budget_seconds:
        share = min(1.0, max(share, seconds / settings.budget_seconds))
    return settings.rate_end + (settings.rate - settings.rate_end) * (1 + math.cos(math.pi * share)) / 2


def _look(method: Method, data: TrainingData, progress: Progress, figures: Mapping[str, float]) -> bool:
    """Measure the held-out score and keep it; whether it is the best so far."""
    batches = data.held_out_batches()
    rng = stream(method.settings.seed, "held-out-score")  # the same at each look: scores can be compared
    scores = [method.held_out_score(batch, rng) for batch in batches]
    score = float(np.average(scores, weights=[len(batch) for batch in batches]))
    if not math.isfinite(score):
        raise RunError(f"the held-out score is {score} at step {progress.step}; try a lower rate (--set rate=...)")
    progress.history.append({"step": progress.step, **figures, "held_out": score})
    if progress.best is None or score > progress.best:
        progress.best, progress.best_step, progress.stale = score, progress.step, 0
        return True
    progress.stale += progress.step > method.settings.curriculum
    return False


def _report(method: Method, progress: Progress, reports: Sequence[Report], draw: Draw) -> None:
    """Figures that are only looked at."""
    for report in reports:
        progress.history[-1].update(report(progress.step, method))
    draw({**progress.history[-1], "cpu_seconds": progress.seconds})


def _ended(settings: TrainingSettings, progress: Progress) -> str:
    """Why training is over, or nothing."""
    if progress.step >= settings.steps:
        return "all steps were done"
    if progress.stale >= settings.patience:
        return f"the held-out score has not risen since step {progress.best_step}"
    if settings.budget_seconds and progress.seconds >= settings.budget_seconds:
        return f"the budget of {settings.budget_seconds:g} s of processor time was used up"
    return ""


def _saved(method: Method, optimizer: torch.optim.Adam, progress: Progress) -> Saved:
    """Everything that the next step depends on."""
    tensors = {f"module.{name}": value for name, value in method.module.state_dict().items()}
    for name, parameter in method.module.named_parameters():
        for key, value in optimizer.state[parameter].items():
            tensors[f"adam.{name}.{key}"] = value
    return Saved(tensors, asdict(progress))


def _restore(saved: Saved, method: Method, optimizer: torch.optim.Adam) -> Progress:
    try:
        method.module.load_state_dict(weights(saved))
    except RuntimeError:
        raise RunError("the checkpoint has other weights than the run says; train again into another folder") from None
    for name, parameter in method.module.named_parameters():
        prefix = f"adam.{name}."
        state = {key.removeprefix(prefix): value for key, value in saved.tensors.items() if key.startswith(prefix)}
        optimizer.state[parameter] = {
            key: value if key == "step" else value.to(parameter.device) for key, value in state.items()
        }
    return Progress(**saved.notes)


def weights(saved: Saved) -> dict[str, Tensor]:
    """The module's part of a checkpoint."""
    return {key.removeprefix("module."): value for key, value in saved.tensors.items() if key.startswith("module.")}


def _check_same(run: Run, about: dict[str, Any]) -> None:
    """A run goes on with what it was begun with, or not at all."""
    had = run.about
    for key, value in about.items():
        if had.get(key) == value:
            continue
        if key == "data":
            raise RunError(
                f"{run.folder} was trained on other demonstrations; give the same, or use --from for new ones"
            )
        if key == "settings":
            then = had.get(key, {})
            first = next(name for name in {**value, **then} if then.get(name) != value.get(name))
            raise RunError(f"{run.folder} was begun with {first}={then.get(first)}; a run goes on with its settings")
        raise RunError(f"{run.folder} was begun with another {key}; choose another folder")


@contextmanager
def one_thread() -> Iterator[None]:
    """Small tensors are slower on several threads, and sums may come out differently."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _ctrl_c_waits() -> Iterator[Callable[[], bool]]:
    """Ctrl-C is only noted; gives the function that tells whether it was pressed. The second one is heard at once."""
    pressed: list[int] = []
    if current_thread() is not main_thread():  # only there does Python hear Ctrl-C
        yield lambda: False
        return

    def note(number: int, frame: Any) -> None:
        if pressed:
            signal.default_int_handler(number, frame)
        pressed.append(number)

    handler = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def _curves(folder: str | Path, wanted: bool) -> Iterator[Draw]:
    """Curves for TensorBoard: gives the function that adds a point to each."""
    if not wanted:
        yield lambda _: None
        return
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(Path(folder) / "tensorboard"))

    def draw(figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            if name != "step":
                writer.add_scalar(name, value, int(figures["step"]))

    try:
        yield draw
    finally:
        writer.close()
