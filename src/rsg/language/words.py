"""Tasks said in words, where the words of the terms are known: `pick up the key, then open the doors`.

Articles, plurals and case are forgiven; connectives and parentheses stay what they are; a comma may stand before a
connective, `and` before `then`, and a full stop at the end. What is said is translated into the strict form, which the
grammar reads.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import accumulate
from typing import NamedTuple

from rsg.core.errors import ParseError
from rsg.language.hints import FILLERS
from rsg.language.tree import CONNECTIVES, NAME, Task, Term

MAX_PHRASE = 30  # words that may name one term
ARTICLES = frozenset(["a", "an", "the"])
Words = Iterable[str | Term] | Mapping[str, str | Term]
"""A vocabulary, whose terms are said by their own words; or which term each phrase names."""

Read = Callable[[str], str | Task | None]
"""What a phrase between connectives means, such as `pick up the key`: a term, or a task; None if nothing."""

_TOKEN = re.compile(rf"(?!(?i:{'|'.join(CONNECTIVES)})\(){NAME}\([^()]*\)|{NAME}|\S")


class Token(NamedTuple):
    """A part of a text, and where it begins there."""

    text: str
    start: int

    @property
    def joins(self) -> bool:
        """Whether it is a connective."""
        return self.text.lower() in CONNECTIVES

    @property
    def speaks(self) -> bool:
        """Whether it may be a part of a phrase: a word, or a term with its arguments."""
        return bool(re.match("[A-Za-z0-9]", self.text))


class Translation(NamedTuple):
    """A task in the strict form, where its parts stand there and in what was said, and what could not be translated."""

    text: str
    here: list[int]
    said: list[int]
    problem: ParseError | None

    def place(self, position: int) -> int:
        """Where in what was said a place of the strict form comes from."""
        return self.said[bisect_right(self.here, position) - 1]


class Phrases:
    """Which term is meant by which words.

    >>> Phrases(["pick-up-key", "open-door"]).named(["Pick", "up", "the", "keys"])
    ['pick-up-key']
    """

    def __init__(self, words: Words | None = None, read: Read | None = None) -> None:
        own = dict(words) if isinstance(words, Mapping) else {str(term): term for term in words or ()}
        self.terms = sorted({str(term) for term in own.values()})
        self.read, self.free = read or (lambda _: None), words is None
        said = {*((phrase, str(term)) for phrase, term in own.items()), *((term, term) for term in self.terms)}
        self._known = [(_words(phrase), term) for phrase, term in sorted(said)]
        self._by_form: list[dict[tuple[str, ...], set[str]]] = [defaultdict(set) for _ in _FORMS]
        for form, found in zip(_FORMS, self._by_form, strict=True):
            for phrase, term in self._known:
                found[form(phrase)].add(term)

    def named(self, said: Sequence[str]) -> list[str]:
        """The terms that a phrase may name: one, if all is well."""
        phrase = _words(" ".join(said))
        for form, found in zip(_FORMS, self._by_form, strict=True):
            if terms := found.get(form(phrase)):
                return sorted(terms)
        return [term for term in self.terms if "(" in term and _tells(_stems(phrase), term)]

    def begun(self, said: Sequence[str]) -> list[str]:
        """The terms that a phrase would name if more were said."""
        heard = set(_stems(_words(" ".join(said))))
        return sorted({term for phrase, term in self._known if heard and heard <= set(_stems(phrase))})


def translate(text: str, phrases: Phrases) -> Translation:
    """What was said, for the grammar; as far as the first phrase that names no term, or several."""
    tokens = [Token(found[0], found.start()) for found in _TOKEN.finditer(text)]
    if len(tokens) > 1 and tokens[-1].text == ".":
        tokens.pop()
    parts, problem, i, wanted = list[Token](), None, 0, True
    while i < len(tokens) and problem is None:
        token, count = tokens[i], 1
        if not token.speaks or (token.joins and not wanted):
            following = tokens[i + 1].text.lower() if i + 1 < len(tokens) else ""
            spare = following in (CONNECTIVES if token.text == "," else ["then"] if token.text.lower() == "and" else [])
            if not spare:  # a comma before a connective, `and` before `then`
                parts.append(token)
                wanted = token.text != ")"
        elif wanted:
            try:
                term, count = _spoken(text, tokens[i : i + MAX_PHRASE], phrases)
            except ParseError as error:
                term, problem = token.text, error
            parts.append(Token(term, token.start))
            wanted = False
        else:  # nothing joins it: the grammar says so
            break
        i += count
    parts += tokens[i:]
    here = [0, *accumulate(len(part.text) + 1 for part in parts)]
    return Translation(" ".join(part.text for part in parts), here, [part.start for part in parts], problem)


def _spoken(text: str, tokens: list[Token], phrases: Phrases) -> tuple[str, int]:
    """The term that the first words name, as many of them as can be, and how many these are."""
    silent = next((n for n, token in enumerate(tokens) if not token.speaks), len(tokens))
    joins = [n for n, token in enumerate(tokens[:silent]) if token.joins]
    ends = sorted({silent, *joins, *(n + 1 for n in joins)} - {0}, reverse=True)  # a term may be `rock-and-roll`
    alone = next((n for n in joins if n > 0), silent)
    meant = phrases.read(" ".join(token.text for token in tokens[:alone]))
    if meant is not None:
        return (str(meant) if isinstance(meant, str | Term) else f"({meant})"), alone
    if phrases.free and alone == 1:
        return tokens[0].text, 1
    for count in (*ends, *range(alone - 1, 0, -1)):
        terms = phrases.named([token.text for token in tokens[:count]])
        if len(terms) == 1:
            return terms[0], count
        if terms:
            raise _unclear(text, tokens[:count], terms)
    said = [token.text for token in tokens[:alone]]
    if tokens[0].joins:
        raise ParseError(f"expected a term or '(', but found {tokens[0].text!r}", text, tokens[0].start)
    begun = phrases.begun(said)
    if len(begun) > 1:
        raise _unclear(text, tokens[:alone], begun)
    near = [*begun, *get_close_matches("-".join(said).lower(), phrases.terms, n=1)]
    what = "term" if alone == 1 else "words"
    raise ParseError(f"unknown {what} '{' '.join(said)}'", text, tokens[0].start, next(iter(near), None))


def _unclear(text: str, tokens: list[Token], terms: list[str]) -> ParseError:
    said = " ".join(token.text for token in tokens)
    return ParseError(f"'{said}' may be {' or '.join(terms)}; say which", text, tokens[0].start)


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+", text.lower()))


def _bare(words: Sequence[str]) -> tuple[str, ...]:
    """Without articles."""
    return tuple(word for word in words if word not in ARTICLES) or tuple(words)


def _stems(words: Sequence[str]) -> tuple[str, ...]:
    """Without articles, and one thing in the place of many."""
    return tuple(map(_one, _bare(words)))


def _one(word: str) -> str:
    """
    >>> [_one(word) for word in ("keys", "boxes", "berries", "glass", "bus")]
    ['key', 'box', 'berry', 'glass', 'bus']
    """
    if len(word) < 4 or word.endswith("ss"):
        return word
    for ending, instead in (("ies", "y"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word


_FORMS: tuple[Callable[[Sequence[str]], tuple[str, ...]], ...] = (tuple, _bare, _stems)  # the first that fits counts


def _tells(heard: tuple[str, ...], term: str) -> bool:
    """Whether words name a term with arguments: these in their order, the words of its name before and between them.

    >>> _tells(("put", "red", "box", "next", "to", "grey", "door"), "put-next(red-box, grey-door)")
    True
    """
    name, *arguments = (_stems(_words(part)) for part in re.split("[(,]", term))
    rest, at = list[str](), 0
    for argument in arguments:
        found = [i for i in range(at, len(heard)) if heard[i : i + len(argument)] == argument]
        if not found:
            return False
        rest += heard[at : found[0]]
        at = found[0] + len(argument)
    spare = FILLERS.difference(name)
    return tuple(word for word in (*rest, *heard[at:]) if word not in spare) == name
