"""The errors that a user may see: one sentence that says what is wrong, where, and what to do."""

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

_WINDOW = 60  # characters of the text shown on each side of a caret


class RsgError(Exception):
    """Anything wrong with what the user gave us. The command line prints it without a traceback and exits with 2.

    >>> import rsg
    >>> try:
    ...     rsg.SearchSettings(budget=0)
    ... except rsg.RsgError as error:
    ...     print(error)
    budget must be at least 1, not 0
    """

    def details(self) -> dict[str, object]:
        """The error as plain values, for `--json`.

        >>> RsgError("no such file: a.txt").details()
        {'type': 'RsgError', 'message': 'no such file: a.txt'}
        """
        return {"type": type(self).__name__, "message": str(self)}


class TaskError(RsgError):
    """A task that is well written but cannot be used as asked: too large, a trace that does not fit it, ...

    >>> import rsg
    >>> try:
    ...     rsg.satisfies([[True]], rsg.parse("a then b"))
    ... except rsg.TaskError as error:
    ...     print(error)
    a trace is a table [steps, 2] of truth values, this one has shape (1, 1)
    """


class StoreError(RsgError):
    """A store of demonstrations, or a file of one, that cannot be read or written: damaged, newer, not ours, in use.

    >>> import rsg
    >>> try:
    ...     rsg.Store("nowhere")
    ... except rsg.StoreError as error:
    ...     print(str(error).partition(":")[0])
    nowhere is not a store of demonstrations
    """


class RunError(RsgError):
    """A training run, or a file of one, that cannot be read or written: damaged, newer, not ours, in use.

    >>> import rsg
    >>> try:
    ...     rsg.load("nowhere")
    ... except rsg.RunError as error:
    ...     print(str(error).partition(":")[0])
    nowhere is not a run
    """


class DemonstrationError(RsgError):
    """A demonstration that does not fit its world; it knows which one, not where that is stored."""

    def __init__(self, problem: str, demonstration: object) -> None:
        super().__init__(problem)
        self.demonstration = demonstration


class ParseError(RsgError):
    """A text that is not a task. `position` counts characters from 0; `str()` shows the place with a caret.

    A `suggestion` is what may have been meant; `pointer` says where more can be found out.

    >>> print(ParseError("expected a term", "a then", 6))
    expected a term
      a then
            ^
    """

    def __init__(
        self, problem: str, text: str, position: int, suggestion: str | None = None, pointer: str = ""
    ) -> None:
        super().__init__(problem, text, position, suggestion, pointer)
        self.problem = problem
        self.text = text
        self.position = position
        self.suggestion = suggestion
        self.pointer = pointer

    def __str__(self) -> str:
        meant = f'"{self.suggestion}"' if " " in (self.suggestion or "") else self.suggestion
        hint = f"; did you mean {meant}?" if meant else ""
        more = f" ({self.pointer})" if self.pointer else ""
        return f"{self.problem}{hint}{more}\n{_with_caret(self.text, self.position)}"

    def details(self) -> dict[str, object]:
        """The error as plain values, for `--json`."""
        return {
            "type": type(self).__name__,
            "message": self.problem,
            "position": self.position,
            "suggestion": self.suggestion,
        }


def meant(name: str, known: Iterable[str]) -> str:
    """What to say of a name that is not known: the nearest one that is, or all of them.

    >>> meant("mine-wod", ["mine-wood", "grab-axe"]), meant("ring-bell", ["mine-wood", "grab-axe"])
    ('did you mean mine-wood?', 'there are: mine-wood, grab-axe')
    """
    known = list(known)
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"


def cause_of(error: BaseException) -> str:
    """Any error in one line: its kind, and what it says."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


def unknown(what: str, name: str, known: Iterable[str]) -> RsgError:
    """The error for a name that nothing has.

    >>> unknown("order", "depest", ["deepest", "optimal"])
    RsgError("there is no order 'depest'; did you mean deepest?")
    """
    return RsgError(f"there is no {what} '{name}'; {meant(name, known)}")


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
