"""The settings of a training run: frozen, saved with the model, changed on the command line by `--set key=value`."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from rsg.core.errors import RsgError
from rsg.core.settings import Settings, default, named

S = TypeVar("S", bound="TrainingSettings")


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """What every method shares; the fields say what each means."""

    GONE: ClassVar[Mapping[str, Any]] = {"budget_seconds": 0.0, "cache_mb": 512}
    """Settings that older runs have, with the one value that this version can still go on with; ... is any."""

    seed: int = default(0, "where chance comes from", least=0)
    steps: int = default(200, "gradient steps at most", least=1)
    batch: int = default(32, "demonstrations per step", least=1)
    rate: float = default(0.015, "Adam's learning rate at the start; it falls along a cosine", above=0)
    rate_end: float = default(1e-4, "what it falls to at the last step", above=0)
    curriculum: int = default(
        60, "steps at the start that see only demonstrations of single-term tasks, if there are any", least=0
    )
    held_out: int = default(
        128,
        "demonstrations (at most a tenth of all) that are never trained on; their score decides when to stop",
        least=0,
    )
    check_every: int = default(20, "steps between two looks at the held-out score", least=1)
    patience: int = default(
        6, "looks without a better held-out score, after the curriculum, before training stops", least=1
    )
    save_every: int = default(50, "steps between two checkpoints; a killed run loses at most so many", least=1)
    device: str = default("cpu", "of the networks, as torch names it")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rate_end > self.rate:
            raise RsgError(f"the rate falls from rate to rate_end; got {self.rate} and {self.rate_end}")


def changed(settings: S, changes: Sequence[str]) -> S:
    """Settings with some values changed, each written as `key=value`.

    >>> changed(TrainingSettings(), ["steps=10", "rate=0.001"]).steps
    10
    """
    for change in changes:
        if "=" not in change:
            raise RsgError(f"a setting is written key=value, not '{change}'")
    pairs = (change.split("=", 1) for change in changes)
    values = {key.strip().replace("-", "_"): text.strip() for key, text in pairs}
    return dataclasses.replace(settings, **named(type(settings), values))


def restored(kind: type[S], values: Mapping[str, Any]) -> S:
    """Settings as they were saved; what this version adds takes its default.

    What it does not know is an error, unless it is `GONE` and had a value that can still be used.
    """
    known = {field.name for field in dataclasses.fields(kind)}
    for key, value in values.items():
        if kind.GONE.get(key, ...) not in (..., value):
            raise RsgError(
                f"the run has {key}={value}, which this rsg no longer knows; an older one is needed to use it"
            )
        if key not in known and key not in kind.GONE:
            raise RsgError(f"the run has a setting '{key}' that this rsg does not know; update rsg to use it")
    return kind(**{key: value for key, value in values.items() if key in known})
