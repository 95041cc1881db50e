"""The settings of a training run: frozen, saved with the model, changed on the command line by `--set key=value`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar, get_type_hints

from rsg.core.errors import RsgError

S = TypeVar("S", bound="TrainingSettings")


@dataclass(frozen=True)
class TrainingSettings:
    """What every method shares.

    Attributes:
        seed: where chance comes from.
        steps: gradient steps at most.
        batch: demonstrations per step.
        rate: Adam's learning rate at the start; it falls along a cosine.
        rate_end: what it falls to at the last step.
        curriculum: steps at the start that see only demonstrations of single-term tasks, if there are any.
        held_out: demonstrations (at most a tenth of all) that are never trained on; their score decides when to stop.
        check_every: steps between two looks at the held-out score.
        patience: looks without a better held-out score, after the curriculum, before training stops.
        save_every: steps between two checkpoints; a killed run loses at most so many.
        budget_seconds: of processor time after which training ends; 0: no limit. The rate then falls with the time
            spent, so that no two runs are alike.
        device: of the networks, as torch names it.
        cache_mb: megabytes of demonstrations and of state graphs that are kept in memory, each.
    """

    seed: int = 0
    steps: int = 200
    batch: int = 32
    rate: float = 0.015
    rate_end: float = 1e-4
    curriculum: int = 60
    held_out: int = 128
    check_every: int = 20
    patience: int = 6
    save_every: int = 50
    budget_seconds: float = 0.0
    device: str = "cpu"
    cache_mb: int = 512

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float) and not math.isfinite(value):
                raise RsgError(f"{name} must be a finite number, not {value}")
        for name in ("steps", "batch", "check_every", "patience", "save_every", "cache_mb"):
            if getattr(self, name) < 1:
                raise RsgError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("seed", "curriculum", "held_out", "budget_seconds"):
            if getattr(self, name) < 0:
                raise RsgError(f"{name} must not be negative, not {getattr(self, name)}")
        if not 0 < self.rate_end <= self.rate:
            raise RsgError(f"the rate falls from rate to rate_end, both positive; got {self.rate} and {self.rate_end}")


def changed(settings: S, changes: Sequence[str]) -> S:
    """Settings with some values changed, each written as `key=value`.

    >>> changed(TrainingSettings(), ["steps=10", "rate=0.001"]).steps
    10
    """
    kinds = get_type_hints(type(settings))
    values: dict[str, Any] = {}
    for change in changes:
        key, equals, text = change.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise RsgError(f"a setting is written key=value, not '{change}'")
        if key not in kinds:
            near = get_close_matches(key, kinds, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(kinds)}"
            raise RsgError(f"there is no setting '{key}'; {hint}")
        values[key] = _read(key, text.strip(), kinds[key])
    return dataclasses.replace(settings, **values)


def restored(kind: type[S], values: Mapping[str, Any]) -> S:
    """Settings as they were saved; what this version does not know is an error, what it adds takes its default."""
    unknown = [key for key in values if key not in get_type_hints(kind)]
    if unknown:
        raise RsgError(f"the run has a setting '{unknown[0]}' that this rsg does not know; update rsg to use it")
    return kind(**values)


def _read(key: str, text: str, kind: Any) -> Any:
    if kind is bool:
        if text.lower() not in ("true", "false", "yes", "no", "on", "off", "1", "0"):
            raise RsgError(f"{key} is on or off, not '{text}'")
        return text.lower() in ("true", "yes", "on", "1")
    try:
        return kind(text)
    except ValueError:
        name = {"int": "a whole number", "float": "a number"}.get(kind.__name__, kind.__name__)
        raise RsgError(f"{key} is {name}, not '{text}'") from None
