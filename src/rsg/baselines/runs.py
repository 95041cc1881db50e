"""From demonstrations to a trained baseline in one call, and from a run on disk back to the baseline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from rsg.baselines.bc import BehaviourCloning
from rsg.baselines.bc_fsm import BcFsm
from rsg.baselines.common import Baseline, BaselineSettings
from rsg.baselines.encoders import shape_of
from rsg.baselines.gail import Gail
from rsg.baselines.irl import Irl
from rsg.baselines.lstm import Lstm
from rsg.baselines.policies import Policy
from rsg.core.errors import RunError, unknown
from rsg.demos import Demonstration, Store
from rsg.domain import Domain
from rsg.language import machine_of
from rsg.subgoals.learning import RationalSubgoals, WorldOf
from rsg.subgoals.runs import check_device
from rsg.training import Progress, Run, TrainingData
from rsg.training.checkpoint import Which
from rsg.training.loop import Looking, fitted, weights
from rsg.training.origin import check_usable
from rsg.training.settings import restored
from rsg.worlds import EitherWorld

METHODS: dict[str, type[Baseline]] = {method.name: method for method in (BehaviourCloning, BcFsm, Lstm, Irl, Gail)}


@dataclass(frozen=True, eq=False)
class Trained:
    """What `train_baseline` gives: the baseline of the best held-out score, and how training went."""

    method: Any
    progress: Progress


def method_named(name: str) -> type[Baseline]:
    """The baseline of that name."""
    if name not in METHODS:
        raise unknown("method", name, (RationalSubgoals.name, *METHODS))
    return METHODS[name]


def preset(name: str, domain: Domain, **changes: Any) -> BaselineSettings:
    """The settings that a baseline has in a domain, with some of them changed."""
    return method_named(name).kind(**{**domain.presets.get(name, {}), **changes})


def train_baseline(
    method: str | type[Baseline],
    demonstrations: Store | Sequence[Demonstration],
    world_of: WorldOf,
    out: str | Path | None = None,
    settings: BaselineSettings | None = None,
    per_task: int | None = None,
    **beside: Unpack[Looking],
) -> Trained:
    """Train a baseline, or a class of one's own that is one; the arguments are those of `rsg.learn`."""
    kind = method_named(method) if isinstance(method, str) else method
    settings = settings or kind.kind()
    check_device(settings.device)
    data = TrainingData(demonstrations, settings, per_task)
    terms = dict.fromkeys(name for text in data.descriptions for name in machine_of(text).names)
    example = data[int(data.learn[0])]
    world: EitherWorld = world_of(example)
    shape = shape_of(world, example.states, settings.observation)
    made = kind(settings, shape, list(terms), world_of, data.descriptions)
    return Trained(made, fitted(made, data, out, beside))


def settings_of_run(run: Run) -> Any:
    """The settings that a baseline's run was begun with."""
    about = run.about
    if about.get("method") not in METHODS:
        raise RunError(f"{run.folder} is a run of '{about.get('method')}', which is no baseline of this rsg")
    try:
        saved = dict(about["settings"])
        if about["method"] == "irl" and saved.pop("draw", None) is ("reach" in about["shape"]):
            raise RunError("the run draws moves, or takes the best action; an older rsg is needed to use it")
        return restored(METHODS[about["method"]].kind, saved)
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


def baseline_of(folder: str | Path) -> str | None:
    """The method of a baseline's run; None if that is the folder of something else."""
    method = Run(folder).about.get("method") if (Path(folder) / "run.json").exists() else None
    return method if method in METHODS else None


def policy_for(folder: str | Path, domain: Domain, world: EitherWorld) -> Policy:
    """What a baseline learned to do, if it can be used in a world of that domain."""
    found = load_baseline(folder)
    if not hasattr(found, "act"):
        raise RunError(f"{folder} is a run of '{found.name}', which recognises tasks but does not act")
    check_usable(folder, domain, world)
    policy: Policy = found
    return policy
