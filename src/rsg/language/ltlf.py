"""Every task is also an LTLf formula, the form in which other tools take it."""

from dataclasses import dataclass
from functools import cache

from rsg.core.errors import TaskError
from rsg.language.tree import And, Or, Task, Term, Then

MAX_SYMBOLS = 100_000
"""The longest formula that is printed; an `or` or `and` early in a task repeats all that follows it."""

MAX_STEPS = 100
"""The longest instruction that is written as a formula: each step nests one level deeper."""


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """An LTLf formula. Compared by identity, so that what shares parts stays small.

    `kind` is one of: `term` (with `term`), `last`, `not`, `and`, `or`, `finally`.

    >>> from rsg.language import parse
    >>> str(to_ltlf(parse("a then b")))
    '¬a ∧ F(a ∧ ¬b ∧ F(b ∧ last))'
    """

    kind: str
    parts: "tuple[Formula, ...]" = ()
    term: Term | None = None

    def __str__(self) -> str:
        if _size(self) > MAX_SYMBOLS:
            raise TaskError(f"the formula has {_size(self):,} symbols when written out, more than {MAX_SYMBOLS:,}")
        return _text(self)


def to_ltlf(task: Task) -> Formula:
    """The formula that holds in the first state of a trace just when the trace does the task.

    >>> from rsg.language import parse
    >>> print(to_ltlf(parse("a then b")))
    ¬a ∧ F(a ∧ ¬b ∧ F(b ∧ last))
    """
    if _steps(task) > MAX_STEPS:
        raise TaskError(f"a formula is written for tasks of at most {MAX_STEPS} steps, this one has {_steps(task):,}")
    return _then(task, Formula("last"))


def _steps(task: Task) -> int:
    """The length of the longest linear instruction."""
    if isinstance(task, Term):
        return 1
    assert isinstance(task, (Then, Or, And))
    lengths = map(_steps, task.parts)
    return max(lengths) if isinstance(task, Or) else sum(lengths)


def _then(task: Task, goal: Formula) -> Formula:
    """The formula of: do the task, and in its last state `goal` holds."""
    if isinstance(task, Term):
        here = Formula("term", term=task)
        reached = Formula("finally", (_and(here, goal),))
        return _and(Formula("not", (here,)), reached)
    if isinstance(task, Or):
        return Formula("or", tuple(_then(part, goal) for part in task.parts))
    if isinstance(task, Then):
        for part in reversed(task.parts):
            goal = _then(part, goal)
        return goal
    assert isinstance(task, And)
    return _any_order(task.parts, goal)


def _any_order(parts: tuple[Task, ...], goal: Formula) -> Formula:
    """One disjunct per part that may come first; what is left is shared between the orders that leave the same."""

    @cache
    def rest(left: frozenset[int]) -> Formula:
        if not left:
            return goal
        first = tuple(_then(parts[i], rest(left - {i})) for i in sorted(left))
        return first[0] if len(first) == 1 else Formula("or", first)

    return rest(frozenset(range(len(parts))))


def _and(*parts: Formula) -> Formula:
    """A flat conjunction: ¬a ∧ (b ∧ c) is ¬a ∧ b ∧ c."""
    flat = tuple(p for part in parts for p in (part.parts if part.kind == "and" else (part,)))
    return Formula("and", flat)


@cache
def _size(formula: Formula) -> int:
    return 1 + sum(map(_size, formula.parts))


def _text(formula: Formula) -> str:
    match formula:
        case Formula("term"):
            return str(formula.term)
        case Formula("not", (part,)):
            return f"¬{_text(part)}"
        case Formula("finally", (part,)):
            return f"F({_text(part)})"
        case Formula("and" | "or" as kind, parts):
            sign = " ∧ " if kind == "and" else " ∨ "
            return sign.join(f"({_text(p)})" if p.kind in ("and", "or") and p.kind != kind else _text(p) for p in parts)
    return formula.kind
