"""From text to tree: `parse("grab-axe then (craft-boat or craft-bowl)")`.

`then` (or `>`) binds loosest, `or` (`|`) next, `and` (`&`) tightest; parentheses override.
"""

from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from functools import cache

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, UnexpectedToken

from rsg.core.errors import ParseError, TaskError
from rsg.language.hints import meant_task
from rsg.language.tree import CONNECTIVES, NAME, And, Or, Task, Term, Then
from rsg.language.words import Phrases, Read, Words, translate

MAX_CHARACTERS = 100_000
"""The longest text that is read: it bounds the time and memory of any input."""

# `then(` is a connective and a parenthesis, `pick-up(` a term with arguments: a name is never a bare connective.
_END_OF_WORD = "(?![A-Za-z0-9_-])"
_A_NAME = f"(?!(?i:{'|'.join(CONNECTIVES)}){_END_OF_WORD}){NAME}"
_GRAMMAR = rf"""
?start: sequence
?sequence: choice (_THEN choice)*
?choice: unordered (_OR unordered)*
?unordered: atom (_AND atom)*
?atom: term | "(" sequence ")"
term: NAME | CALL "(" NAME ("," NAME)* ")"

_THEN: /then{_END_OF_WORD}/i | ">"
_OR: /or{_END_OF_WORD}/i | "|"
_AND: /and{_END_OF_WORD}/i | "&"
CALL.2: /{_A_NAME}(?=\()/
NAME.1: /{_A_NAME}/
%ignore /\s+/
"""


def parse(
    text: str, vocabulary: Iterable[str | Term] | None = None, words: Words | None = None, read: Read | None = None
) -> Task:
    """The task that `text` describes; a `ParseError` points at the first place that is wrong.

    Args:
        text: terms joined by `then`, `or` and `and`, with parentheses.
        vocabulary: all terms: any other is an error too, and errors suggest what may have been meant.
        words: the same, or which term each phrase names; then terms may be said in words, with articles, plurals and
            capitals, a comma before a connective and `and` before `then`. What is written strictly means what it
            always does.
        read: says which term a phrase between connectives names, or None; then it is looked up in `words`.

    >>> parse("Grab_Axe > (craft-boat | craft-bowl)")
    Then(Term('grab-axe'), Or(Term('craft-boat'), Term('craft-bowl')))
    >>> str(parse("(a and b) and (c then d)"))
    '(a and b) and (c then d)'
    >>> str(parse("Pick up the key, then open the doors", words=["pick-up-key", "open-door"]))
    'pick-up-key then open-door'
    >>> str(parse("fetch it then rest", read={"fetch it": "fetch-ball"}.get))
    'fetch-ball then rest'
    """
    if not isinstance(text, str):
        raise TaskError(f"a task is parsed from a text, not from {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise ParseError(f"the task has {len(text):,} characters, at most {MAX_CHARACTERS:,} are read", text, 0)
    if words is not None or read is not None:
        return _in_words(text, Phrases(words, read), words is None)
    known = None if vocabulary is None else {str(term) for term in vocabulary}
    task = _strict(text, known or set())
    if known is not None:
        _check_vocabulary(task, known, text)
    return task


def _strict(text: str, known: set[str]) -> Task:
    try:
        return _parser().parse(text)  # type: ignore[return-value]
    except UnexpectedInput as error:
        raise _explain(error, text, known) from None
    except TaskError as error:
        raise ParseError(str(error), text, 0) from None


def _in_words(text: str, phrases: Phrases, free: bool) -> Task:
    """A task that may be said in words; free: whether terms may be others than those of a vocabulary."""
    known = set(phrases.terms)
    with suppress(ParseError):
        strict = None if free else _strict(text, known)
        if strict is not None and {str(term) for term in strict.terms()} <= known:
            return strict
    said = translate(text, phrases)
    try:
        task, problem = _strict(said.text, known), said.problem
    except ParseError as error:
        at_end = error.position >= len(said.text)
        place = len(text.rstrip()) if at_end else said.place(error.position)
        problem = said.problem
        if problem is None or place < problem.position:
            problem = ParseError(error.problem, text, place)
    if problem is None:
        return task
    problem.suggestion = problem.suggestion or _meant(text, known)
    raise problem


class _Build(Transformer[Token, Task]):
    """Builds the tree while the parser reduces, so that no recursion follows the nesting of the text."""

    def sequence(self, parts: list[Task]) -> Task:
        return Then(tuple(parts))

    def choice(self, parts: list[Task]) -> Task:
        return Or(tuple(parts))

    def unordered(self, parts: list[Task]) -> Task:
        return And(tuple(parts))

    def term(self, names: list[Token]) -> Task:
        return Term(str(names[0]), tuple(map(str, names[1:])))


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", transformer=_Build())


def _explain(error: UnexpectedInput, text: str, known: set[str]) -> ParseError:
    """The parser's complaint in a user's words."""
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        position, found = len(text.rstrip()), "the text ends"
    else:
        position = error.pos_in_stream or 0
        found = f"found {str(error.token) if isinstance(error, UnexpectedToken) else text[position]!r}"
    expected = error.expected if isinstance(error, UnexpectedToken) else error.allowed  # type: ignore[attr-defined]
    problem = f"expected {_wanted(set(expected or ()), text[:position])}, but {found}"
    return ParseError(problem, text, position, _meant(text, known))


def _meant(text: str, known: set[str]) -> str | None:
    """A task over known terms that may have been meant."""
    meant = meant_task(text, sorted(known))
    try:
        if meant is None or not {str(term) for term in _parser().parse(meant).terms()} <= known:  # type: ignore[attr-defined]
            return None
        return meant
    except (UnexpectedInput, TaskError):
        return None


def _wanted(expected: set[str], before: str) -> str:
    """What may stand here: the grammar's own answer does not know which parentheses are open."""
    if "COMMA" in expected:
        return "',' or ')'"
    if "LPAR" in expected:
        return "a term or '('"
    if "NAME" in expected:
        return "an argument (a name such as red-box)"
    close = "')'" if before.count("(") > before.count(")") else "the end of the task"
    return f"'then', 'or', 'and' or {close}"


def _check_vocabulary(task: Task, known: set[str], text: str) -> None:
    """Point at the first term that is not known, and name the nearest one that is."""
    for term in task.terms():
        if str(term) not in known:
            near = get_close_matches(str(term), sorted(known), n=1)
            meant = near[0] if near else _meant(text, known)
            raise ParseError(f"unknown term '{term}'", text, _place(term, text), meant)


def _place(term: Term, text: str) -> int:
    """Where the term stands in the text: the parser forgets it, and only an error asks."""
    names = (token for token in _parser().lex(text) if token.type in ("NAME", "CALL"))
    return next((t.start_pos or 0 for t in names if str(t).lower().replace("_", "-") == term.name), 0)
