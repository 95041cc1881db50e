"""What somebody meant who wrote a task nearly right: `Grab an axe, then mine wood`."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from rsg.language.tree import CONNECTIVES

ALIKE = 0.75  # how alike two words are that are taken for the same one
CLOSE = 0.7  # how much of a term and of what was written must be the same
MAX_WORDS = 60  # of a text: a longer one gets no hint
MAX_CHUNK = 8  # of what may name one term
FILLERS = frozenset(
    [
        *("a", "an", "the", "some", "any", "my", "your", "its", "it", "them", "you", "i", "we"),
        *("to", "of", "go", "do", "is", "please", "first", "next", "now", "finally", "afterwards"),
    ]
)
_SIGNS = {",": "then", ";": "then", ".": "then", ">": "then", "->": "then", "|": "or", "/": "or", "&": "and"}
_CALL = re.compile(r"(?<=\w)\(([^()]*)\)")  # the arguments of a term


def meant_task(text: str, vocabulary: Iterable[str]) -> str | None:
    """The task over the terms of a vocabulary that a text is nearest to; None if some part of it is near to none.

    >>> meant_task("Grab an axe, then mine wood", ["grab-axe", "mine-wood", "mine-coal"])
    'grab-axe then mine-wood'
    """
    words = {term: _words(term) for term in map(str, vocabulary)}
    spread = _CALL.sub(lambda found: f" {found[1].replace(',', ' ')} ", text)
    tokens = re.findall(r"->|[A-Za-z0-9]+|[()&|>,;./]", spread)
    fillers = FILLERS.difference(*words.values())
    if not words or len(tokens) > MAX_WORDS:
        return None
    found: list[str] = []
    chunk: list[str] = []
    for token in (*tokens, ""):
        word = token.lower()
        joins = word if word in CONNECTIVES else _SIGNS.get(word)
        if token and not joins and token not in "()":
            chunk.append(word)
            continue
        terms = _terms([one for one in chunk if one not in fillers], words)
        if terms is None:
            return None
        found += [word for term in terms for word in (term, "then")][:-1]
        chunk = []
        found += [joins or token] if token else []
    return _tidy(found) or None


def _tidy(parts: Sequence[str]) -> str:
    """Parts of a task as one text; of several connectives in a row the last one counts."""
    kept = [
        one for one, after in pairwise((*parts, "")) if not (one in CONNECTIVES and after in (*CONNECTIVES, "", ")"))
    ]
    while kept and kept[0] in CONNECTIVES:
        kept.pop(0)
    return " ".join(kept).replace("( ", "(").replace(" )", ")")


def _terms(chunk: list[str], words: dict[str, list[str]]) -> list[str] | None:
    """The term that some words name, or the terms if it takes several of them; None if there are none."""
    ends: list[tuple[float, list[str]] | None] = [(0.0, [])]  # the best for the last words: for none of them, one, ...
    for left in range(1, len(chunk) + 1):
        found = []
        for count in range(1, min(left, MAX_CHUNK) + 1):
            if rest := ends[left - count]:
                piece = chunk[len(chunk) - left :][:count]
                likeness, term = max((_likeness(piece, words[term]), term) for term in words)
                found += [(likeness * count + rest[0], [term, *rest[1]])] if likeness >= CLOSE else []
        ends.append(max(found, default=None))
    return ends[-1][1] if ends[-1] else None


def _likeness(written: Sequence[str], term: Sequence[str]) -> float:
    """How much of both is the same, from 0 to 1."""
    same = sum(max((_alike(word, one) for one in written), default=0.0) for word in term)
    return 2 * same / (len(written) + len(term))


@lru_cache(10_000)
def _alike(a: str, b: str) -> float:
    """How alike two words are; 0 if they are not taken for the same one."""
    if a == b:
        return 1.0
    alike = SequenceMatcher(None, a, b).ratio()
    return alike if alike >= ALIKE else 0.0


def _words(term: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", term.lower())
