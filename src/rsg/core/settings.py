"""Settings: the default, the meaning and the limits of each stand in one place, beside its name."""

import dataclasses
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from rsg.core.errors import RsgError, unknown

R = TypeVar("R")
TABLES = ("train", "search")
"""What a file of settings may hold."""


def default(
    value: Any,
    meaning: str,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    among: Sequence[str | type] = (),
) -> Any:
    """A field of `Settings`: what it is unless changed, what it means, and which values make sense.

    None always does, but where there are kinds to choose from.

    Args:
        value: the usual one.
        meaning: one sentence for people.
        least, most: the smallest and the largest number; above: one that it must exceed.
        among: the words to choose from, or the kinds of settings.
    """
    limits = {"least": least, "above": above, "most": most, "among": tuple(among)}
    return dataclasses.field(default=value, metadata={"meaning": meaning, **limits})


class Settings:
    """The base of frozen dataclasses whose fields are made by `default`; each value is checked when one is made.

    A subclass may give a field another default: its meaning and its limits stay.
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if problem := _problem(name, value, told(type(self), name)):
                raise RsgError(problem)


_TOLD: dict[tuple[type, str], Mapping[str, Any]] = {}  # by class and field: settings are made for every plan


def told(kind: type[Settings], name: str) -> Mapping[str, Any]:
    """What `default` was told of a field: by the class itself, or by the nearest one that it inherits from."""
    if (kind, name) not in _TOLD:
        fields = (vars(one).get("__dataclass_fields__", {}).get(name) for one in kind.__mro__)
        _TOLD[kind, name] = next((field.metadata for field in fields if field is not None and field.metadata), {})
    return _TOLD[kind, name]


def meanings(settings: Settings) -> Iterator[tuple[str, Any, str]]:
    """Name, value and meaning of each setting."""
    for name, value in vars(settings).items():
        yield name, value, told(type(settings), name).get("meaning", "")


def named(kind: type, values: Mapping[str, object]) -> dict[str, Any]:
    """Some settings of a dataclass by name, each checked to be one, and of the right type."""
    hints = get_type_hints(kind)
    kinds = {field.name: get_args(hints[field.name]) or (hints[field.name],) for field in dataclasses.fields(kind)}
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key not in kinds:
            raise unknown("setting", key, kinds)
        whole = isinstance(value, int) and not isinstance(value, bool)
        found[key] = float(value) if kinds[key][0] is float and whole else value  # type: ignore[arg-type]
        if type(found[key]) not in kinds[key]:
            found[key] = read_value(key, str(value), kinds[key][0])
    return found


def in_file(kind: type, path: str | Path) -> dict[str, Any]:
    """The settings of training, as a dataclass has them, that a TOML file names: in its table, or in none."""
    return in_table(TABLES[0], path, lambda values: named(kind, values))


def in_table(table: str, path: str | Path, read: Callable[[Mapping[str, object]], R]) -> R:
    """What a table of a TOML file is read as; what is in no table is for training."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise RsgError(f"cannot read the settings in {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RsgError(f"{path} is no TOML file: {error}") from None
    free = {key: value for key, value in values.items() if key not in TABLES}
    try:
        if tables := [key for key, value in free.items() if isinstance(value, dict)]:
            raise unknown("table", tables[0], TABLES)
        return read({**(free if table == TABLES[0] else {}), **values.get(table, {})})
    except RsgError as error:
        raise RsgError(f"{path}: {error}") from None


def read_value(key: str, text: str, kind: Any) -> Any:
    """The value of a setting as it is written."""
    if kind is bool:
        if text.lower() not in ("true", "false", "yes", "no", "on", "off", "1", "0"):
            raise RsgError(f"{key} is on or off, not '{text}'")
        return text.lower() in ("true", "yes", "on", "1")
    try:
        return kind(text)
    except ValueError:
        name = {"int": "a whole number", "float": "a number"}.get(kind.__name__, kind.__name__)
        raise RsgError(f"{key} is {name}, not '{text}'") from None


def _problem(name: str, value: Any, limits: Mapping[str, Any]) -> str:
    """What is wrong with a value, in a sentence."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{name} must be a finite number, not {value}"
    if not limits:
        return ""
    least, above, most, among = limits["least"], limits["above"], limits["most"], limits["among"]
    if among and isinstance(among[0], type):
        kinds = [f"{kind.__name__}(...)" for kind in among]
        return "" if isinstance(value, among) else f"{name} is {_choice(kinds)}, not {value!r}"
    if value is None:
        return ""
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
