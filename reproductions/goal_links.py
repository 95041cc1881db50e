"""Are the learned links between subgoals those of the rule table? The check, and its part of the section."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproductions.harness.jobs import Plain
from reproductions.harness.tables import page, table
from reproductions.paper.geometric_threshold import geometric_mean
from rsg.demos import Demonstration
from rsg.domain import Domain, find
from rsg.domains.crafting import VOCABULARY
from rsg.domains.crafting.starts import leading_to, ways
from rsg.language import machine_of
from rsg.planning import Dependencies

MATRICES = {"conditional": "conditional matrix", "matrix": "the paper's matrix d"}
THRESHOLDS = {"half": "G ≥ 1/2", "paper": "the paper's (geometric mean)"}
CUTS = {"half": None, "paper": geometric_mean}
OURS = "half"
PREREQUISITES = "prerequisites"

Truth = Mapping[str, NDArray[np.int64]]
"""What really came before what, for the terms that a description mentions, as counts `[T, T]` of demonstrations.

`before`: o2 came true before o1; `together`: both did; `mentioned`: o1 did, and the description mentions o2 too.
"""


class Pair(NamedTuple):
    """A true prerequisite of a term and a false link, which is to rank below it."""

    term: str
    true: str
    false: str


def pairs(texts: Sequence[str]) -> list[Pair]:
    """All pairs of which both are described together with the term in one of the texts.

    A false link is a term that does not lead to it, not even through others.
    """
    beside: dict[str, set[str]] = {term: set() for term in VOCABULARY}
    for text in texts:
        terms = set(machine_of(text).names)
        for term in terms:
            beside[term] |= terms - {term}
    return [
        Pair(term, true, false)
        for term in VOCABULARY
        for true in sorted(frozenset.union(*ways(term)) & beside[term])
        for false in sorted(beside[term] - set(leading_to(term)))
    ]


def true_orders(demonstrations: Iterable[Demonstration], source: Domain) -> Truth:
    """What the truth says of demonstrations of several subgoals."""
    terms = list(source.vocabulary)
    before, together, mentioned = np.zeros((3, len(terms), len(terms)), dtype=np.int64)
    for demo in demonstrations:
        own = [terms.index(name) for name in machine_of(demo.task).names]
        if len(own) == 1:
            continue
        holds = source.truth(source.world(demo.setting), demo.states, [terms[k] for k in own])
        first = np.where(holds.any(axis=0), holds.argmax(axis=0), len(holds))
        for k, when in zip(own, first.tolist(), strict=True):
            if when < len(holds):
                mentioned[k, own] += 1
                together[k, own] += first < len(holds)
                before[k, own] += first < when
    return {"before": before, "together": together, "mentioned": mentioned}


def checked(found: Dependencies, truth: Truth) -> Plain:
    """What differs from the rule table: by matrix the pairs that rank wrongly, with the reason; and prerequisites."""
    wrong: Plain = {name: [] for name in MATRICES}
    for pair in pairs(find("crafting").tasks("train")):
        row, true, false = map(found.number, pair)
        for name in MATRICES:
            values = getattr(found, name)
            if values[row, true] <= values[row, false]:
                wrong[name].append({**pair._asdict(), "why": reason(pair, found, truth, name)})
    return {**wrong, PREREQUISITES: differences(found)}


def reason(pair: Pair, found: Dependencies, truth: Truth, name: str) -> str:
    """Why a false link ranks so high in a matrix: demonstrations cannot tell, or have it so, or classifiers err."""
    row, true, false = map(found.number, pair)
    if not truth["together"][row, true]:
        return "cannot be told: no demonstration shows the true one together with the term"
    if truth["before"][row, false] == truth["mentioned"][row, false]:
        return "cannot be told: the false one comes first in all demonstrations that could show otherwise"
    really = getattr(replace(found, before=truth["before"], together=truth["together"]), name)
    if really[row, true] <= really[row, false]:
        return "so it is in the demonstrations"
    return f"classifiers err: by the truth {really[row, true]:.2f} and {really[row, false]:.2f}"


def differences(found: Dependencies) -> list[str]:
    """The terms whose learned prerequisites are not those of the rule table, in words."""
    listed = []
    for term, alternatives in zip(found.terms, found.prerequisites, strict=True):
        learned = {frozenset(found.terms[number] for number in one) for one in alternatives}
        if learned != set(ways(term)):
            listed.append(f"{term} needs {_words(ways(term))}, learned was {_words(learned)}")
    return listed


def _words(alternatives: Iterable[Iterable[str]]) -> str:
    return " or ".join(sorted(" and ".join(sorted(one)) or "nothing" for one in alternatives))


def links_section(results: Mapping[int, Plain]) -> tuple[str, Plain]:
    """The text about the links and its figures, from what `checked` gave by threshold for each seed."""
    compared = len(pairs(find("crafting").tasks("train")))
    counts = {
        threshold: {key: [len(one[threshold][key]) for one in results.values()] for key in (*MATRICES, PREREQUISITES)}
        for threshold in THRESHOLDS
    }
    rows = [
        [label, *(" / ".join(map(str, seeds)) for seeds in counts[threshold].values())]
        for threshold, label in THRESHOLDS.items()
    ]
    wrong, wrongly = dict[tuple[str, ...], list[int]](), dict[str, list[int]]()
    for seed, one in results.items():
        for name, label in MATRICES.items():
            for pair in one[OURS][name]:
                key = (pair["term"], pair["true"], pair["false"], label, pair["why"])
                wrong.setdefault(key, []).append(seed)
        for words in one[OURS][PREREQUISITES]:
            wrongly.setdefault(words, []).append(seed)
    head = ["term", "true prerequisite", "false link", "by", "why", "seeds"]
    pairs_table = table(head, [[*key, ", ".join(map(str, seeds))] for key, seeds in wrong.items()]) if wrong else ""
    text = page(
        "goal-links",
        compared=compared,
        counts=table(["threshold of discovery", *MATRICES.values(), "prerequisites that differ"], rows),
        wrong=pairs_table,
        prerequisites=wrongly,
    )
    listed = [dict(zip(("term", "true", "false", "matrix", "why"), key, strict=True)) for key in wrong]
    return text, {"compared": compared, "counts": counts, "wrong": listed, "prerequisites": wrongly}
