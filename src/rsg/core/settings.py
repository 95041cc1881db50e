"""Settings: the default, the meaning and the limits of each stand in one place, beside its name."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rsg.core.errors import RsgError


def default(
    value: Any,
    meaning: str,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    among: Sequence[str] = (),
) -> Any:
    """A field of `Settings`: what it is unless changed, what it means, and which values make sense; None always does.

    Args:
        value: the usual one.
        meaning: one sentence for people.
        least, most: the smallest and the largest number; above: one that it must exceed.
        among: the words to choose from.
    """
    limits = {"least": least, "above": above, "most": most, "among": tuple(among)}
    return dataclasses.field(default=value, metadata={"meaning": meaning, **limits})


class Settings:
    """The base of frozen dataclasses whose fields are made by `default`; each value is checked when one is made.

    A subclass may give a field another default: its meaning and its limits stay.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Walk(Settings):
    ...     steps: int = default(100, "how far to go", least=1)
    >>> Walk(steps=0)
    Traceback (most recent call last):
    rsg.core.errors.RsgError: steps must be at least 1, not 0
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if problem := _problem(name, value, told(type(self), name)):
                raise RsgError(problem)


def told(kind: type[Settings], name: str) -> Mapping[str, Any]:
    """What `default` was told of a field: by the class itself, or by the nearest one that it inherits from."""
    fields = (vars(one).get("__dataclass_fields__", {}).get(name) for one in kind.__mro__)
    return next((field.metadata for field in fields if field is not None and field.metadata), {})


def meanings(settings: Settings) -> Iterator[tuple[str, Any, str]]:
    """Name, value and meaning of each setting."""
    for name, value in vars(settings).items():
        yield name, value, told(type(settings), name).get("meaning", "")


def _problem(name: str, value: Any, limits: Mapping[str, Any]) -> str:
    """What is wrong with a value, in a sentence."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{name} must be a finite number, not {value}"
    if value is None or not limits:
        return ""
    least, above, most, among = (limits[key] for key in ("least", "above", "most", "among"))
    if among and value not in among:
        return f"{name} is {_choice(among)}, not '{value}'"
    if least is not None and most is not None and not least <= value <= most:
        return f"{name} must be from {least:g} to {most:g}, not {value}"
    if least is not None and value < least:
        return f"{name} must {f'be at least {least:g}' if least else 'not be negative'}, not {value}"
    if above is not None and not value > above:
        return f"{name} must be {f'more than {above:g}' if above else 'positive'}, not {value}"
    if most is not None and value > most:
        return f"{name} must be at most {most:g}, not {value}"
    return ""


def _choice(words: Sequence[str]) -> str:
    """Words to choose from, as people say it."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
