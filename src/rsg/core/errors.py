"""The errors that a user may see: one sentence that says what is wrong, where, and what to do."""

from __future__ import annotations

import unicodedata

_WINDOW = 60  # characters of the text shown on each side of a caret


class RsgError(Exception):
    """Anything wrong with what the user gave us. The command line prints it without a traceback and exits with 2."""

    def details(self) -> dict[str, object]:
        """The error as plain values, for `--json`.

        >>> RsgError("no such file: a.txt").details()
        {'type': 'RsgError', 'message': 'no such file: a.txt'}
        """
        return {"type": type(self).__name__, "message": str(self)}


class TaskError(RsgError):
    """A task that is well written but cannot be used as asked: too large, a trace that does not fit it, ..."""


class StoreError(RsgError):
    """A store of demonstrations, or a file of one, that cannot be read or written: damaged, newer, not ours, in use."""


class RunError(RsgError):
    """A training run, or a file of one, that cannot be read or written: damaged, newer, not ours, in use."""


class DemonstrationError(RsgError):
    """A demonstration that does not fit its world; it knows which one, not where that is stored."""

    def __init__(self, problem: str, demonstration: object) -> None:
        super().__init__(problem)
        self.demonstration = demonstration


class ParseError(RsgError):
    """A text that is not a task. `position` counts characters from 0; `str()` shows the place with a caret.

    >>> print(ParseError("expected a term", "a then", 6))
    expected a term
      a then
            ^
    """

    def __init__(self, problem: str, text: str, position: int, suggestion: str | None = None) -> None:
        super().__init__(problem, text, position, suggestion)
        self.problem = problem
        self.text = text
        self.position = position
        self.suggestion = suggestion

    def __str__(self) -> str:
        hint = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        return f"{self.problem}{hint}\n{_with_caret(self.text, self.position)}"

    def details(self) -> dict[str, object]:
        """The error as plain values, for `--json`."""
        return {
            "type": type(self).__name__,
            "message": self.problem,
            "position": self.position,
            "suggestion": self.suggestion,
        }


def _with_caret(text: str, position: int) -> str:
    """The line around `position` (cut to a window when it is long) and a caret under the place."""
    start = max(0, position - _WINDOW)
    end = min(len(text), position + _WINDOW)
    before, after = (_printable(text[start:position]), _printable(text[position:end]))
    left, right = ("…" if start > 0 else ""), ("…" if end < len(text) else "")
    return f"  {left}{before}{after}{right}\n  {' ' * (len(left) + _columns(before))}^"


def _printable(text: str) -> str:
    """The text on one line, with a visible stand-in for what a terminal would not show."""
    return "".join(" " if c.isspace() else c if c.isprintable() else "�" for c in text)


def _columns(text: str) -> int:
    """How many terminal columns the text takes: wide characters two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
