"""The syntax tree of a task: `Term`, `Then`, `Or`, `And`. Frozen, hashable, printed with the fewest parentheses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from rsg.core.errors import TaskError

MAX_DEPTH = 100
"""How deep connectives may be nested: far beyond any instruction, and safe for every recursion over a tree."""

CONNECTIVES = ("then", "or", "and")
NAME = "[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*"  # spelt out: ignoring case would let in letters such as the dotted İ


class Task:
    """What an agent is asked to do. Make one with `rsg.parse`, or from its parts: `Then((Term("a"), Term("b")))`.

    >>> from rsg.language import parse
    >>> task = parse("a then (b or c)")
    >>> str(task), [str(term) for term in task.terms()]
    ('a then b or c', ['a', 'b', 'c'])
    """

    __slots__ = ()
    binding: ClassVar[int]  # how tightly the connective binds; a looser part inside a tighter one needs parentheses
    depth: int

    def terms(self) -> "tuple[Term, ...]":
        """The distinct terms, in the order of their first appearance.

        >>> Then((Term("mine-wood"), Or((Term("craft-boat"), Term("mine-wood"))))).terms()
        (Term('mine-wood'), Term('craft-boat'))
        """
        return tuple(dict.fromkeys(self._leaves()))

    def _leaves(self) -> "Iterator[Term]":
        raise TypeError(f"{type(self).__name__} is not a Term, Then, Or or And")


@dataclass(frozen=True, slots=True, repr=False)
class Term(Task):
    """The name of one subgoal, with optional arguments. Case, `-` and `_` are alike; it is kept in lower case with `-`.

    >>> Term("Mine_Wood") == Term("mine-wood")
    True
    >>> print(Term("put-next", ("red-box", "grey-door")))
    put-next(red-box, grey-door)
    """

    name: str
    arguments: tuple[str, ...] = ()
    depth: ClassVar[int] = 0  # type: ignore[misc]
    binding: ClassVar[int] = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _canonical(self.name, "a term"))
        object.__setattr__(self, "arguments", tuple(_canonical(a, "an argument") for a in self.arguments))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})" if self.arguments else self.name

    def __repr__(self) -> str:
        return f"Term({str(self)!r})"

    def _leaves(self) -> "Iterator[Term]":
        yield self


@dataclass(frozen=True, slots=True, repr=False)
class _Chain(Task):
    """Two or more parts under one connective."""

    parts: tuple[Task, ...]
    depth: int = field(init=False, compare=False)
    word: ClassVar[str]
    associative: ClassVar[bool] = True

    def __post_init__(self) -> None:
        parts: list[Task] = []
        for part in self.parts:
            if not isinstance(part, Task):
                raise TaskError(f"a part of '{self.word}' must be a task, not {type(part).__name__}")
            nested = part.parts if self.associative and isinstance(part, type(self)) else (part,)
            parts.extend(nested)
        if len(parts) < 2:
            raise TaskError(f"'{self.word}' joins at least two tasks, got {len(parts)}")
        depth = 1 + max(part.depth for part in parts)
        if depth > MAX_DEPTH:
            raise TaskError(f"connectives are nested more than {MAX_DEPTH} levels deep")
        object.__setattr__(self, "parts", tuple(parts))
        object.__setattr__(self, "depth", depth)

    def __str__(self) -> str:
        # A part that binds no tighter than this chain needs parentheses; an `and` within an `and` is one of these.
        return f" {self.word} ".join(f"({p})" if p.binding <= self.binding else str(p) for p in self.parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    def _leaves(self) -> Iterator[Term]:
        for part in self.parts:
            yield from part._leaves()


class Then(_Chain):
    """The parts one after the other. Associative: a chain within a chain is one chain.

    >>> str(Then((Term("grab-axe"), Term("mine-wood"))))
    'grab-axe then mine-wood'
    """

    __slots__ = ()
    word = "then"
    binding = 0


class Or(_Chain):
    """One of the parts. Associative.

    >>> str(Or((Term("craft-boat"), Term("craft-bowl"))))
    'craft-boat or craft-bowl'
    """

    __slots__ = ()
    word = "or"
    binding = 1


class And(_Chain):
    """All parts, in any order. Not associative: `(a and b) and c` forbids c between a and b.

    >>> str(And((Term("mine-wood"), Term("mine-coal"))))
    'mine-wood and mine-coal'
    """

    __slots__ = ()
    word = "and"
    binding = 2
    associative = False


def _canonical(name: str, what: str) -> str:
    """The one spelling of a name, or an error that says which names there can be."""
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise TaskError(f"{name!r} cannot be {what}: use letters, digits and single hyphens, as in mine-wood")
    if name.lower() in CONNECTIVES:
        raise TaskError(f"{name!r} cannot be {what}: it is a connective")
    return name.lower().replace("_", "-")
