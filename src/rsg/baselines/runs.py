"""From demonstrations to a trained baseline in one call, and from a run on disk back to the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rsg.baselines.bc import BehaviourCloning
from rsg.baselines.bc_fsm import BcFsm
from rsg.baselines.encoders import shape_of
from rsg.baselines.gail import Gail
from rsg.baselines.irl import Irl
from rsg.baselines.lstm import Lstm
from rsg.baselines.method import Baseline, BaselineSettings
from rsg.core.errors import RsgError, RunError
from rsg.demos import Demonstration, Store
from rsg.language import machine_of
from rsg.subgoals.learning import RationalSubgoals, WorldOf
from rsg.subgoals.runs import check_device
from rsg.training import Progress, Run, TrainingData, fit
from rsg.training.checkpoint import Which
from rsg.training.loop import Report, Watch, weights
from rsg.training.settings import restored

METHODS: dict[str, type[Baseline]] = {method.name: method for method in (BehaviourCloning, BcFsm, Lstm, Irl, Gail)}

PRESETS: dict[tuple[str, str], dict[str, Any]] = {
    ("irl", "playroom"): {"steps": 2400, "warm_up": 0.3, "draw": False},
    ("lstm", "playroom"): {"steps": 2000},
}
"""The settings that learn best, by method and world, where they are not the usual ones."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What `train_baseline` gives: the baseline of the best held-out score, and how training went."""

    method: Any
    progress: Progress


def method_named(name: str) -> type[Baseline]:
    """The baseline of that name."""
    if name not in METHODS:
        there = (RationalSubgoals.name, *METHODS)
        near = get_close_matches(name, there, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(there)}"
        raise RsgError(f"there is no method '{name}'; {hint}")
    return METHODS[name]


def preset(name: str, world: str, **changes: Any) -> BaselineSettings:
    """The settings that a baseline has in a world, with some of them changed."""
    return method_named(name).kind(**{**PRESETS.get((name, world), {}), **changes})


def train_baseline(
    name: str,
    demonstrations: Store | Sequence[Demonstration],
    world_of: WorldOf,
    out: str | Path | None = None,
    settings: BaselineSettings | None = None,
    per_task: int | None = None,
    watch: Watch | None = None,
    reports: Sequence[Report] = (),
    tensorboard: bool = True,
    source: dict[str, Any] | None = None,
) -> Trained:
    """Train a baseline; the arguments are those of `rsg.learn`."""
    kind = method_named(name)
    settings = settings or kind.kind()
    check_device(settings.device)
    data = TrainingData(demonstrations, settings, per_task)
    terms = dict.fromkeys(str(term) for text in data.descriptions for term in machine_of(text).terms)
    example = data[int(data.learn[0])]
    world: Any = world_of(example)
    shape = shape_of(world, example.states, settings.observation)
    method = kind(settings, shape, list(terms), world_of, data.descriptions)
    with TemporaryDirectory() as scratch:
        folder = out or Path(scratch) / "run"
        progress = fit(method, data, folder, watch, reports, tensorboard and out is not None, source)
        run = Run(folder)
        if run.has("best"):
            method.module.load_state_dict(weights(run.load("best")))
    return Trained(method, progress)


def settings_of_run(run: Run) -> Any:
    """The settings that a baseline's run was begun with."""
    about = run.about
    if about.get("method") not in METHODS:
        raise RunError(f"{run.folder} is a run of '{about.get('method')}', which is no baseline of this rsg")
    try:
        return restored(METHODS[about["method"]].kind, about["settings"])
    except (KeyError, TypeError):
        raise RunError(f"{run.folder} does not say what it learned; train again into another folder") from None


def load_baseline(folder: str | Path, which: Which = "best") -> Any:
    """The baseline of a run, ready to act."""
    run = Run(folder)
    about, settings = run.about, replace(settings_of_run(run), device="cpu")
    try:
        method = METHODS[about["method"]](settings, about["shape"], about["terms"])
        method.module.load_state_dict(weights(run.load(which)))
    except (KeyError, TypeError, RuntimeError):
        raise RunError(f"{folder} does not fit what it says it learned; train again into another folder") from None
    return method
