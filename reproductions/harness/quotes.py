"""Figures in pages for people, taken from the raw results: a number in a text says where it comes from.

A quote is written `<!--q PATH as FORM-->number<!--/q-->`; readers see the number alone. PATH leads through the summary
of an experiment in `docs/results`, its parts separated by slashes: `instructions/success/untrained, strict/novel/mean`,
or, if it begins with `benchmarks`, through the figures of one in `benchmarks/results`: `benchmarks/ompl_peer/queries`.
FORM is `percent` (of a fraction), a Python format such as `.1f` or `,.0f`, or `text` for what is no number. Of a list,
one figure to each seed, the mean is taken.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from rsg.core.errors import RsgError
from rsg.core.folder import write
from rsg.evaluation.statistics import hundredths

BENCHMARKS = "benchmarks"
_QUOTE = re.compile(r"<!--q (?P<path>[^>]+?) as (?P<form>\S+?)-->(?P<text>[^<]*)<!--/q-->")


def quoted(text: str, results: Path) -> str:
    """The text with every quoted figure as the results have it now."""
    read = cache(_read)

    def figure(match: re.Match[str]) -> str:
        path, form = match["path"], match["form"]
        return f"<!--q {path} as {form}-->{_shown(path, _found(path, results, read), form)}<!--/q-->"

    return _QUOTE.sub(figure, text)


def _read(folder: Path, name: str, key: str, command: str) -> Any:
    """The summary of an experiment, or the figures of a benchmark."""
    try:
        return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, KeyError):
        raise RsgError(f"there are no results of '{name}' in {folder}; run {command} {name}") from None


def _found(path: str, results: Path, read: Callable[..., Any]) -> Any:
    """What is at the end of a path."""
    name, *parts = path.split("/")
    if name == BENCHMARKS:
        name, *parts = parts
        value = read(results.parents[1] / BENCHMARKS / "results", name, "figures", "python -m benchmarks")
    else:
        value = read(results, name, "summary", "rsg reproduce")
    for part in parts:
        try:
            value = value[int(part) if isinstance(value, list) else part]
        except (KeyError, ValueError, IndexError, TypeError):
            raise RsgError(f"the results have no '{path}': '{part}' is not there") from None
    return value


def _shown(path: str, value: Any, form: str) -> str:
    """A value as readers see it."""
    if form == "text" and isinstance(value, str):
        return value
    numbers = value if isinstance(value, list) and value else [value]
    if form == "text" or any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        raise RsgError(f"'{path}' of the results is no {'text' if form == 'text' else 'number'}")
    mean = sum(numbers) / len(numbers)
    return hundredths(mean) if form == "percent" else format(mean, form)


def pages(docs: Path) -> list[Path]:
    """The pages that may quote results: those of a folder, and the README above it."""
    readme = docs.absolute().parent / "README.md"
    return [*sorted(docs.glob("*.md")), *([readme] if docs.absolute().name == "docs" and readme.exists() else [])]


def refresh(page: Path, results: Path) -> bool:
    """Bring the figures of a page up to date; whether any has changed."""
    text = page.read_text(encoding="utf-8")
    fresh = quoted(text, results)
    if fresh != text:
        write(page, fresh.encode())
    return fresh != text
