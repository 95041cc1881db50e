"""The training loop, for every method: batches in, gradient steps, held-out score, checkpoints out.

Training never sees the truth: it stops on the score of held-out demonstrations. Everything random follows from the
seed and the number of the step, so that a run that was interrupted goes on bit for bit.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypedDict, Unpack

import numpy as np
import torch
from torch import Tensor, nn

from rsg.core.errors import DemonstrationError, RsgError, RunError
from rsg.core.random import stream
from rsg.core.workers import ctrl_c_noted
from rsg.demos import Demonstration
from rsg.training.checkpoint import Run, Saved, writing
from rsg.training.data import TrainingData
from rsg.training.settings import TrainingSettings, restored

BETAS = (0.9, 0.98)  # Adam's: early gradients are large, and a longer memory of them slows learning down


class Method(Protocol):
    """What the loop asks of a method, ours and each baseline.

    It may offer `after_step(rate, share)`, called after a gradient step with its rate and the share of training over.
    """

    @property
    def name(self) -> str:
        """The word for it, kept with its runs."""

    @property
    def settings(self) -> TrainingSettings:
        """How it is trained."""

    @property
    def module(self) -> nn.Module:
        """What is trained."""

    def gradients(self, demos: Sequence[Demonstration], rng: np.random.Generator, step: int) -> Mapping[str, float]:
        """Add the gradients of the batch of a step to the module's parameters; gives figures, `loss` among them."""

    def held_out_score(self, demos: Sequence[Demonstration], rng: np.random.Generator) -> float:
        """How well demonstrations are explained that were never trained on, on average; more is better."""

    def about(self) -> dict[str, Any]:
        """What it takes to build the method again, as plain JSON."""


Report = Callable[[int, Method], Mapping[str, float]]
"""A callback at each look at the held-out score: figures that are only reported, never used."""


@dataclass
class Progress:
    """Where a run is. It is saved with each checkpoint."""

    step: int = 0  # steps done
    best: float | None = None  # the best held-out score
    best_step: int = 0  # when it was reached
    stale: int = 0  # looks since then
    history: list[dict[str, float]] = field(default_factory=list)  # for each look, its step and figures
    seconds: float = 0.0  # of processor time spent on training, over all sessions
    done: str = ""  # why training ended, empty while it goes on


Tracker = Callable[[Progress, Mapping[str, float]], None]
"""Gets the figures of training as they come, after each step; at each look `held_out`, `cpu_seconds` and what is
reported are among them. Where there are no steps, since formulas say it all, it is called once, with `cpu_seconds`."""
Pace = Callable[[Progress], float]
"""How much of training is over, from 0 to 1."""


class Looking(TypedDict, total=False):
    """What `fit` takes besides."""

    tracker: Tracker | None  # gets the figures as they come
    tensorboard: bool  # whether the tracker that is built in gets them too: curves in the folder
    reports: Sequence[Report]  # callbacks whose figures are kept beside the held-out score
    source: Mapping[str, Any] | None  # where the demonstrations come from, kept for people to read
    # how much of training is over, if that is not the share of the steps that were done: the rate falls with it, and
    # training ends at 1
    pace: Pace | None
    seconds: float  # of processor time that were spent before


def fit(method: Method, data: TrainingData, folder: str | Path, **looking: Unpack[Looking]) -> Progress:
    """Train until the held-out score no longer rises or the steps are done; goes on where the folder's run stopped.

    Args:
        method: what is trained.
        data: what it is trained on.
        folder: of the run; one that has checkpoints is resumed.
        looking: see `Looking`.

    Ctrl-C ends training after the current step, with a checkpoint: `done` is then empty.
    """
    settings, pace = method.settings, looking.get("pace")
    about = about_of(method, data)
    if not (Path(folder) / "run.json").exists():
        Run.create(folder, {**about, "source": dict(looking.get("source") or {})})
    with writing(folder) as run, one_thread(), ctrl_c_noted() as interrupted, _tracking(folder, looking) as track:
        _check_same(run, about, type(settings))
        if not list(method.module.parameters()):
            return _nothing_to_fit(method, run, looking.get("seconds", 0.0), track)
        optimizer = torch.optim.Adam(method.module.parameters(), betas=BETAS, fused=settings.device == "cpu")
        progress = Progress(seconds=looking.get("seconds", 0.0))
        if "last" in run.steps:
            progress = _restored(run.load("last"), method, optimizer.state)
        while not progress.done:
            begun = time.process_time() - progress.seconds
            with telling_which(data):
                figures = _step(method, data, optimizer, progress, pace)
                progress.step += 1
                progress.seconds = time.process_time() - begun
                looks = progress.step % settings.check_every == 0 or bool(_ended(settings, progress, pace))
                better = looks and _look(method, data, progress, figures)
            progress.seconds = time.process_time() - begun
            if looks:
                figures = _reported(method, progress, looking.get("reports", ()))
            progress.done = _ended(settings, progress, pace) if looks else ""  # a clock may have struck since
            stop = interrupted()
            if better or progress.done or stop or progress.step % settings.save_every == 0:
                saved = _saved(method, optimizer, progress)
                run.save({"last": saved, "best": saved} if better else {"last": saved})
            track(progress, figures)
            if stop:
                break
    return progress


def about_of(method: Method, data: TrainingData) -> dict[str, Any]:
    """What a run says of itself: what is trained, how, and on what."""
    return {"method": method.name, "settings": asdict(method.settings), "data": data.fingerprint, **method.about()}


def _nothing_to_fit(method: Method, run: Run, seconds: float, track: Tracker) -> Progress:
    """A module without parameters is as it should be: it is kept, and that is all."""
    if "last" in run.steps:
        return _restored(run.load("last"), method, {})
    progress = Progress(seconds=seconds, done="there was nothing to fit")
    saved = Saved(weights_of(method.module), asdict(progress))
    run.save({"last": saved, "best": saved})
    track(progress, {"cpu_seconds": seconds})
    return progress


def fitted(method: Method, data: TrainingData, out: str | Path | None, looking: Looking) -> Progress:
    """As `fit`; the module ends with the weights of the best held-out score. Without a folder nothing is kept."""
    some: Any = {key: value for key, value in looking.items() if key in Looking.__annotations__}
    with TemporaryDirectory() as scratch:
        folder = out or Path(scratch) / "run"
        some["tensorboard"] = out is not None and looking.get("tensorboard", True)
        progress = fit(method, data, folder, **some)
        run = Run(folder)
        if "best" in run.steps:
            method.module.load_state_dict(weights(run.load("best")))
    return progress


@contextmanager
def telling_which(data: TrainingData) -> Iterator[None]:
    """An error of a demonstration tells the number of its episode."""
    try:
        yield
    except DemonstrationError as error:
        number = data.number_of(error.demonstration)  # type: ignore[arg-type]
        raise RsgError(f"episode {number} does not fit its world: {error}") from None


def _step(
    method: Method, data: TrainingData, optimizer: torch.optim.Adam, progress: Progress, pace: Pace | None
) -> Mapping[str, float]:
    """One gradient step."""
    settings, step, share = method.settings, progress.step, _share(method.settings, progress, pace)
    optimizer.param_groups[0]["lr"] = rate = rate_at(settings, share)
    optimizer.zero_grad(set_to_none=True)
    figures = method.gradients(data.batch(step), stream(settings.seed, "step", step), step)
    if not math.isfinite(figures["loss"]):
        raise RunError(f"the loss is {figures['loss']} at step {step}; try a lower rate (--set rate=...)")
    optimizer.step()
    if hasattr(method, "after_step"):
        method.after_step(rate, share)
    torch.autograd.graph.increment_version(list(method.module.parameters()))  # a fused step leaves no trace of itself
    return figures


def rate_at(settings: TrainingSettings, share: float) -> float:
    """The learning rate when a share of training is over: half a cosine from `rate` to `rate_end`."""
    return settings.rate_end + (settings.rate - settings.rate_end) * (1 + math.cos(math.pi * share)) / 2


def _share(settings: TrainingSettings, progress: Progress, pace: Pace | None) -> float:
    """How much of training is over: by the steps or by the pace, whichever is further."""
    steps = progress.step / settings.steps
    return steps if pace is None else min(1.0, max(steps, pace(progress)))


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


def _reported(method: Method, progress: Progress, reports: Sequence[Report]) -> Mapping[str, float]:
    """The figures of a look, with those that are only looked at."""
    for report in reports:
        progress.history[-1].update(report(progress.step, method))
    return {key: value for key, value in progress.history[-1].items() if key != "step"} | {
        "cpu_seconds": progress.seconds
    }


def _ended(settings: TrainingSettings, progress: Progress, pace: Pace | None) -> str:
    """Why training is over, or nothing."""
    if progress.step >= settings.steps:
        return "all steps were done"
    if progress.stale >= settings.patience:
        return f"the held-out score has not risen since step {progress.best_step}"
    return "it went as far as it may" if _share(settings, progress, pace) >= 1 else ""


def _saved(method: Method, optimizer: torch.optim.Adam, progress: Progress) -> Saved:
    """Everything that the next step depends on."""
    tensors = weights_of(method.module)
    for name, parameter in method.module.named_parameters():
        for key, value in optimizer.state[parameter].items():
            tensors[f"adam.{name}.{key}"] = value
    return Saved(tensors, asdict(progress))


def weights_of(module: nn.Module) -> dict[str, Tensor]:
    """What is learned, by the names of a checkpoint."""
    return {f"module.{name}": value for name, value in module.state_dict().items()}


def _restored(saved: Saved, method: Method, memory: dict[Any, Any]) -> Progress:
    """What was learned is taken over, and what the optimizer remembers, into `memory`; gives how far it was."""
    try:
        method.module.load_state_dict(weights(saved))
    except RuntimeError:
        raise RunError("the checkpoint has other weights than the run says; train again into another folder") from None
    for name, parameter in method.module.named_parameters():
        prefix = f"adam.{name}."
        state = {key.removeprefix(prefix): value for key, value in saved.tensors.items() if key.startswith(prefix)}
        memory[parameter] = {
            key: value if key == "step" else value.to(parameter.device) for key, value in state.items()
        }
    return Progress(**saved.notes)


def weights(saved: Saved) -> dict[str, Tensor]:
    """The module's part of a checkpoint."""
    return {key.removeprefix("module."): value for key, value in saved.tensors.items() if key.startswith("module.")}


def _check_same(run: Run, about: dict[str, Any], kind: type[TrainingSettings]) -> None:
    """A run goes on with what it was begun with, or not at all."""
    had = run.about
    had["settings"] = asdict(restored(kind, had.get("settings", {})))
    for key, value in about.items():
        if had.get(key) == value:
            continue
        if key == "data":
            raise RunError(
                f"{run.folder} was trained on other demonstrations; give the same, or use --from for new ones"
            )
        if key == "settings":
            first = next(name for name in value if had[key][name] != value[name])
            raise RunError(f"{run.folder} was begun with {first}={had[key][first]}; a run goes on with its settings")
        raise RunError(f"{run.folder} was begun with another {key}; choose another folder")


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Torch on one thread: several take longer for small tensors, and their sums may come out differently."""
    threads = torch.get_num_threads()
    if not wanted or threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def _tracking(folder: str | Path, looking: Looking) -> Iterator[Tracker]:
    """Whoever gets the figures, as one."""
    with ExitStack() as stack:
        trackers = [one] if (one := looking.get("tracker")) else []
        if trackers and not callable(trackers[0]):
            raise RsgError(f"tracker is a function of progress and figures, not {trackers[0]!r}")
        if looking.get("tensorboard", True):
            trackers.append(stack.enter_context(_tensorboard(folder)))

        def track(progress: Progress, figures: Mapping[str, float]) -> None:
            for tracker in trackers:
                tracker(progress, figures)

        yield track


@contextmanager
def _tensorboard(folder: str | Path) -> Iterator[Tracker]:
    """The tracker that is built in: curves for TensorBoard, with a point for each look."""
    from torch.utils.tensorboard import SummaryWriter

    def track(progress: Progress, figures: Mapping[str, float]) -> None:
        for name, value in figures.items() if "cpu_seconds" in figures else ():
            writer.add_scalar(name, value, progress.step)

    with closing(SummaryWriter(str(Path(folder) / "tensorboard"))) as writer:
        yield track
