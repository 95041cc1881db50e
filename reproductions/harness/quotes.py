"""Figures in pages for people, taken from the raw results: a number in a text says where it comes from.

A quote is written `<!--q PATH as FORM-->number<!--/q-->`; readers see the number alone. PATH leads through the summary
of an experiment in `docs/results`, its parts separated by slashes: `instructions/success/untrained, strict/novel/mean`,
or, if it begins with `benchmarks`, through the figures of one in `benchmarks/results`: `benchmarks/ompl_peer/queries`.
FORM is `percent` (of a fraction), a Python format such as `.1f` or `,.0f`, or `text` for what is no number. Of a list,
one figure to each seed, the mean is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from rsg.core.errors import RsgError
from rsg.core.files import replacing
from rsg.evaluation.statistics import hundredths

BENCHMARKS = "benchmarks"
_QUOTE = re.compile(r"<!--q (?P<path>[^>]+?) as (?P<form>\S+?)-->(?P<text>[^<]*)<!--/q-->")


def quoted(text: str, results: Path) -> str:
    """The text with every quoted figure as the results have it now."""

    @cache
    def read(kind: str, name: str) -> Any:
        return _read(results, kind, name)

    def figure(match: re.Match[str]) -> str:
        shown = _shown(match["path"], _found(match["path"], read), match["form"])
        return f"<!--q {match['path']} as {match['form']}-->{shown}<!--/q-->"

    return _QUOTE.sub(figure, text)


def _read(results: Path, kind: str, name: str) -> Any:
    """The summary of an experiment, or the figures of a benchmark."""
    folder, key, command = results, "summary", "rsg reproduce"
    if kind == BENCHMARKS:
        folder, key, command = results.parents[1] / "benchmarks" / "results", "figures", "python -m benchmarks"
    try:
        return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))[key]
    except (OSError, ValueError, KeyError):
        raise RsgError(f"there are no results of '{name}' in {folder}; run {command} {name}") from None


def _found(path: str, read: Callable[[str, str], Any]) -> Any:
    """What is at the end of a path."""
    kind, name, *parts = path.split("/") if path.startswith(f"{BENCHMARKS}/") else ("", *path.split("/"))
    value = read(kind, name)
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
        with replacing(page) as part:
            part.write_text(fresh, encoding="utf-8")
    return fresh != text
