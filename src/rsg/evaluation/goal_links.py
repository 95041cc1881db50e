"""Are the learned links between subgoals those of the rule table? The check, and its part of the section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rsg.demos import Benchmark, Demonstration, benchmark
from rsg.evaluation.goal_starts import leading_to, ways
from rsg.evaluation.jobs import Plain
from rsg.evaluation.tables import table
from rsg.language import machine_of
from rsg.planning import Dependencies
from rsg.worlds.crafting import VOCABULARY

Floats = NDArray[np.float64]
MATRICES = {"conditional": "conditional matrix", "matrix": "the paper's matrix d"}
THRESHOLDS = {"calibrated": "calibrated", "half": "G ≥ 1/2", "paper": "the paper's (geometric mean)"}


def true_orders(demonstrations: Iterable[Demonstration], source: Benchmark) -> Plain:
    """What really came before what, for the terms that a description mentions, as counts `[T, T]` of demonstrations.

    `before`: o2 came true before o1; `together`: both came true; `mentioned`: o1 came true, and the description
    mentions o2 too.
    """
    terms = list(source.vocabulary)
    before, together, mentioned = np.zeros((3, len(terms), len(terms)), dtype=np.int64)
    for demo in demonstrations:
        own = [terms.index(str(term)) for term in machine_of(demo.task).terms]
        if len(own) == 1:
            continue
        holds = source.truth(source.world(demo.setting), demo.states, [terms[k] for k in own])
        first = np.where(holds.any(axis=0), holds.argmax(axis=0), len(holds))
        for k, when in zip(own, first.tolist(), strict=True):
            if when < len(holds):
                mentioned[k, own] += 1
                together[k, own] += first < len(holds)
                before[k, own] += first < when
    return {"before": before.tolist(), "together": together.tolist(), "mentioned": mentioned.tolist()}


def kept(found: Dependencies) -> Plain:
    """Of what was discovered all that is checked, as plain JSON."""
    plain = found.plain()
    return {key: plain[key] for key in ("terms", "before", "together", "prerequisites", "thresholds")}


def restored(plain: Plain) -> Dependencies:
    """From what `kept` gave; what held when is not known any more."""
    before, together = (np.array(plain[key], dtype=np.int64) for key in ("before", "together"))
    return Dependencies(
        terms=tuple(plain["terms"]),
        before=before,
        together=together,
        achieved=np.zeros(len(before), dtype=np.int64),
        held=np.zeros_like(before),
        prerequisites=tuple(tuple(map(tuple, several)) for several in plain["prerequisites"]),
        thresholds=np.array(plain["thresholds"]),
    )


class Wrong(NamedTuple):
    """A false link that does not rank below a true prerequisite in the row of a term."""

    term: str
    true: str
    false: str


def described_together(texts: Sequence[str]) -> dict[str, set[str]]:
    """For each term those that some description mentions beside it."""
    found: dict[str, set[str]] = {term: set() for term in VOCABULARY}
    for text in texts:
        terms = {str(term) for term in machine_of(text).terms}
        for term in terms:
            found[term] |= terms - {term}
    return found


def ranked_wrongly(values: Floats, terms: Sequence[str], beside: Mapping[str, set[str]]) -> tuple[int, list[Wrong]]:
    """How many pairs of a true prerequisite and a false link were compared, and those in which the false one wins.

    Args:
        values: `[T, T]` a row to each term.
        terms: in the order of rows and columns.
        beside: which terms are described together. Both of a pair must be described with the row's term; a false link
            is a term that does not lead to it, not even through others.
    """
    compared, wrong = 0, []
    place = {term: number for number, term in enumerate(terms)}
    for term in terms:
        row = values[place[term]]
        true = sorted(frozenset.union(*ways(term)) & beside[term])
        false = sorted(beside[term] - set(leading_to(term)))
        compared += len(true) * len(false)
        wrong += [Wrong(term, p, f) for p in true for f in false if row[place[p]] <= row[place[f]]]
    return compared, wrong


def reason(pair: Wrong, found: Dependencies, truth: Mapping[str, Any], name: str) -> str:
    """Why a false link ranks so high in a matrix: demonstrations cannot tell, or have it so, or classifiers err."""
    row, true, false = map(found.number, pair)
    before, together, mentioned = (np.array(truth[key]) for key in ("before", "together", "mentioned"))
    if not together[row, true]:
        return "cannot be told: no demonstration shows the true one together with the term"
    if before[row, false] == mentioned[row, false]:
        return "cannot be told: the false one comes first in all demonstrations that could show otherwise"
    really = getattr(replace(found, before=before, together=together), name)
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
    """The text about the links and its figures, from the results of each seed."""
    found = {
        threshold: {seed: restored(one["dependencies"][threshold]) for seed, one in results.items()}
        for threshold in THRESHOLDS
    }
    beside = described_together(benchmark("crafting").tasks("train"))
    rows, counted, compared = [], Plain(), 0
    for threshold, label in THRESHOLDS.items():
        cells = []
        for name in MATRICES:
            checks = [ranked_wrongly(getattr(one, name), one.terms, beside) for one in found[threshold].values()]
            compared = checks[0][0]
            cells.append([len(wrong) for _, wrong in checks])
        cells.append([len(differences(one)) for one in found[threshold].values()])
        counted[threshold] = dict(zip((*MATRICES, "prerequisites"), cells, strict=True))
        rows.append([label, *(" / ".join(map(str, several)) for several in cells)])
    listed = _listed(found["calibrated"], results, beside)
    wrongly: dict[str, list[int]] = {}
    for seed, one in found["calibrated"].items():
        for words in differences(one):
            wrongly.setdefault(words, []).append(seed)
    text = [
        f"Learned links and the rule table. In the rows of all terms together, {compared} pairs of a true prerequisite "
        "and a false link are compared, both described together with the row's term in a training task; a false link "
        "is a term that does not lead to it, not even through others. The false one must rank below. Pairs that rank "
        "wrongly, and terms (of 26) whose learned prerequisites differ from the rule table, a figure to each seed:",
        table(["threshold of discovery", *MATRICES.values(), "prerequisites that differ"], rows),
        _wrong_text(listed),
        _differences_text(wrongly),
    ]
    summary = {"compared": compared, "counts": counted, "wrong": listed, "prerequisites": wrongly}
    return "\n\n".join(part for part in text if part), summary


def _listed(
    found: Mapping[int, Dependencies], results: Mapping[int, Plain], beside: Mapping[str, set[str]]
) -> list[Plain]:
    """All pairs that rank wrongly, with the seeds, and how often which came first in these together."""
    rows: dict[tuple[str, Wrong, str], Plain] = {}
    for name in MATRICES:
        for seed, one in found.items():
            for pair in ranked_wrongly(getattr(one, name), one.terms, beside)[1]:
                why = reason(pair, one, results[seed]["truth"], name)
                row = rows.setdefault(
                    (name, pair, why),
                    {"matrix": name, **pair._asdict(), "why": why, "seeds": [], "first": [[0, 0], [0, 0]]},
                )
                row["seeds"].append(seed)
                at = one.number(pair.term)
                for counts, link in zip(row["first"], (one.number(pair.true), one.number(pair.false)), strict=True):
                    counts[0] += int(one.before[at, link])
                    counts[1] += int(one.together[at, link])
    return list(rows.values())


def _wrong_text(listed: Sequence[Plain]) -> str:
    """The pairs that rank wrongly, as a table."""
    if not listed:
        return ""
    head = ["term", "true prerequisite", "false link", "by", "true one first", "false one first", "seeds", "why"]
    rows = [
        [
            *(row[key] for key in ("term", "true", "false")),
            MATRICES[row["matrix"]],
            *("never together" if not of else f"{done} of {of}" for done, of in row["first"]),
            ", ".join(map(str, row["seeds"])),
            row["why"],
        ]
        for row in listed
    ]
    return "\n\n".join(
        [
            "Which pairs (calibrated threshold), how often the two came before the term in demonstrations that show "
            "both, and why. *Cannot be told*: no demonstration shows the true prerequisite together with the term; or "
            "in none whose description mentions term and false link does the false link come later, or not at all.",
            table(head, rows),
        ]
    )


def _differences_text(wrongly: Mapping[str, Sequence[int]]) -> str:
    if not wrongly:
        return "The learned prerequisites are those of the rule table, for all 26 terms and all seeds."
    lines = [
        f"- {words} ({'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))})"
        for words, seeds in wrongly.items()
    ]
    return "\n".join(["Learned prerequisites that differ from the rule table (calibrated threshold):", "", *lines])
