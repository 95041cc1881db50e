"""Figures in pages for people, taken from the raw results: each says where it comes from, out of a reader's way.

A page reads as if somebody had typed its figures. A comment at its end tells which of them are the results':

    <!-- figures
    a plan takes {benchmarks/planning/plan_ms as .1f} ms and {instructions/success/novel/mean as percent} % are right
    -->

Each line is a piece of the page, found there once, with `{PATH as FORM}` in the place of each figure; who adds one
writes `?` on the page. PATH leads through the summary of an experiment in `docs/results`, its parts apart by slashes,
or, if it begins with `benchmarks`, through the figures of one in `benchmarks/results`. FORM is `percent` (of a
fraction), a Python format such as `.1f` or `,.0f`, or `text` for what is no number. Of a list, one figure to each
seed, the mean is taken.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rsg.core.errors import RsgError
from rsg.core.folder import write
from rsg.evaluation.statistics import hundredths

BENCHMARKS = "benchmarks"
_SOURCES = re.compile(r"^<!-- figures\n(?P<lines>.*?)^-->$", re.DOTALL | re.MULTILINE)
_SOURCE = re.compile(r"\{([^{}]+?) as (\S+?)\}")
_NUMBER, _TEXT = r"(\?|-?\d[\d,]*(?:\.\d+)?)", r"(\?|[^|\n]+?)"


class Quote(NamedTuple):
    """A figure of a page: where it stands there, and where it comes from."""

    start: int
    end: int
    path: str
    form: str


def quotes(page: str) -> list[Quote]:
    """The figures of a page that are the results', in the order of the page."""
    found: list[Quote] = []
    for sources in _SOURCES.finditer(page):
        for line in sources["lines"].splitlines():
            found += _quotes_of(line, page[: sources.start()])
    return sorted(found)


def _quotes_of(line: str, page: str) -> list[Quote]:
    """The figures that a line of the comment tells of."""
    words, paths, forms = (_SOURCE.split(line)[start::3] for start in range(3))
    between = [r"\s+".join(map(re.escape, re.split(r"\s+", one))) for one in words]
    figures = [_TEXT if form == "text" else _NUMBER for form in forms] + [""]
    matches = list(re.finditer("".join(one + figure for one, figure in zip(between, figures, strict=True)), page))
    if not paths:
        raise RsgError(f"no figure is named, write {{PATH as FORM}} in its place: {line}")
    if len(matches) != 1:
        raise RsgError(f"a page has these words {len(matches)} times, not once, so their figures are not found: {line}")
    spans = map(matches[0].span, range(1, len(paths) + 1))
    return [Quote(*span, path, form) for span, path, form in zip(spans, paths, forms, strict=True)]


def quoted(page: str, results: Path) -> str:
    """The page with every quoted figure as the results have it now."""
    read = cache(_read)
    for start, end, path, form in reversed(quotes(page)):
        page = page[:start] + _shown(path, _found(path, results, read), form) + page[end:]
    return page


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
