"""The paper's claims: verdicts that follow from intervals and turn with them; figures that others have written."""

import json
import math

import pytest

from reproductions import claims
from reproductions.claim_list import CLAIMS
from reproductions.claim_parts import (
    UNMEASURED,
    Claim,
    Figures,
    Lacking,
    agrees,
    alike,
    between,
    both,
    count,
    figure,
    given,
    larger,
    level,
    more,
    never,
    no_worse,
    nodes,
    ranked,
    seconds,
    widening,
)
from reproductions.harness import reproduce
from reproductions.harness.reproduce import Reproduction
from reproductions.harness.results import Results
from reproductions.harness.tables import Rate
from reproductions.harness.trials import Size
from reproductions.harness.verdicts import (
    BETTER,
    CONFIRMED,
    CONTRADICTED,
    POINTS,
    RULES,
    UNTOLD,
    Span,
    ahead,
    always,
    difference,
    faster,
    rate,
    reached,
    some,
    together,
    within,
)
from rsg.core.errors import RsgError
from rsg.core.folder import sha256


def rates(*successes, of=1000):
    return Rate(tuple(round(of * one) for one in successes), (of,) * len(successes)).plain()


# --- rules ---


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.81, 0.99, BETTER),
        (0.78, 0.84, CONFIRMED),
        (0.78, 0.9, UNTOLD),
        (0.7, 0.84, UNTOLD),
        (0.6, 0.74, CONTRADICTED),
    ],
)
def test_a_figure_beside_the_printed_one(low, high, verdict):
    assert reached(Span((low + high) / 2, low, high), 0.8) == verdict


def test_the_edges_of_rules():
    assert reached(Span(0.8, 0.8, 0.85), 0.8) == CONFIRMED  # as good as printed is not better
    assert ahead(Span(0.1, 0.0, 0.2)) == UNTOLD
    assert ahead(Span(0.0, -0.04, 0.04), -POINTS) == CONFIRMED
    assert within(Span(0.0, -0.05, 0.05), -0.05, 0.05) == CONFIRMED
    assert within(Span(0.06, 0.04, 0.08), -0.05, 0.05) == UNTOLD
    assert [faster(Span(one, one, one), 100.0) for one in (9.9, 10.0, 500.0, 1000.0, 1001.0)] == [
        *(BETTER, UNTOLD, UNTOLD, UNTOLD, CONTRADICTED)
    ]
    assert [always(5, 0), always(5, 1), always(0, 0)] == [CONFIRMED, CONTRADICTED, UNTOLD]


@pytest.mark.parametrize("rule", [ahead, lambda span: within(span, 0, 1), lambda span: reached(span, 0.1)])
def test_a_single_seed_tells_nothing(rule):
    assert rule(Span.of([0.5])) == UNTOLD


def test_verdicts_together():
    assert together([CONFIRMED, UNTOLD, CONTRADICTED]) == CONTRADICTED
    assert together([BETTER, UNTOLD]) == together([]) == UNTOLD
    assert some([CONTRADICTED, CONFIRMED]) == CONFIRMED
    assert some([CONTRADICTED, CONTRADICTED]) == CONTRADICTED


def test_no_interval_is_narrower_than_that_of_the_episodes():
    sure = rate(rates(1.0, 1.0, 1.0, of=10))
    assert sure.high == 1.0
    assert sure.low == pytest.approx(0.886, abs=1e-3)
    same = difference(rates(0.5, 0.5, of=20), rates(0.25, 0.25, of=20))
    assert same.mean == 0.25
    assert same.low < 0.1
    assert same.high > 0.4
    assert difference(rates(1.0, 0.2, 0.9), rates(0.0, 0.1, 0.0)).high == 1.0  # no difference of rates is larger
    paired = difference(rates(0.2, 0.5, 0.8), rates(0.1, 0.4, 0.7))  # seeds differ more than methods
    assert paired.low > 0


# --- parts ---


def told(part, **results):
    return part(Figures(Results(results)))


@pytest.mark.parametrize(
    ("part", "ours", "theirs", "verdict"),
    [
        (figure("a/x", 0.7), rates(0.9, 0.91, 0.92), None, BETTER),
        (figure("a/x", 0.99), rates(0.9, 0.91, 0.92), None, CONTRADICTED),
        (level("a/x", 0.7), rates(0.9, 0.91, 0.92), None, CONTRADICTED),
        (level("a/x", 0.91), rates(0.9, 0.91, 0.92), None, CONFIRMED),
        (between("a/x", 0.0, 0.4), rates(0.5, 0.51), None, CONTRADICTED),
        (more("a/x", "a/y"), rates(0.9, 0.91), rates(0.5, 0.51), CONFIRMED),
        (more("a/x", "a/y"), rates(0.5, 0.51), rates(0.9, 0.91), CONTRADICTED),
        (alike("a/x", "a/y"), rates(0.9, 0.91), rates(0.91, 0.92), CONFIRMED),
        (alike("a/x", "a/y"), rates(0.9, 0.91), rates(0.5, 0.51), CONTRADICTED),
        (no_worse("a/x", "a/y"), rates(0.9, 0.91), rates(0.5, 0.51), CONFIRMED),
        (no_worse("a/x", "a/y"), rates(0.5, 0.51), rates(0.9, 0.91), CONTRADICTED),
        (count("a/x", "a/y"), [6, 7, 6], [1, 1, 2], CONFIRMED),
        (larger("a/x", "a/y"), [6.0, 7.0], [0.6, 0.7], CONFIRMED),
        (larger("a/x", "a/y"), [0.6, 0.7], [6.0, 7.0], CONTRADICTED),
        (seconds("a/x", 60.0), [1.0, 1.1], None, BETTER),
        (seconds("a/x", 60.0, 1e-3), [700_000.0, 700_001.0], None, CONTRADICTED),
        (nodes("a/x", 4000), [3900, 4000, 4100], None, CONFIRMED),
        (nodes("a/x", 4000), [390, 400, 410], None, CONTRADICTED),
        (nodes("a/x", 4000), [3900, None], None, UNTOLD),
        (nodes("a/x", 4000), [None, None], None, CONTRADICTED),
        (agrees("a/x", "a/y"), 9, 9, CONFIRMED),
        (agrees("a/x", "a/y"), 8, 9, CONTRADICTED),
        (never("a/x", "a/y"), 1, 9, CONTRADICTED),
        (ranked("a/x", "a/y"), [1, 2, 1], 100, CONFIRMED),
        (ranked("a/x", "a/y"), [49, 43, 48], 55, CONTRADICTED),
        (
            given("a/x"),
            {"value": 2.0, "low": None, "high": None, "text": "2.00 times", "verdict": UNTOLD},
            None,
            UNTOLD,
        ),
    ],
)
def test_parts_turn_with_the_figures(part, ours, theirs, verdict):
    assert told(part, a={"x": ours, "y": theirs}).verdict == verdict


def test_a_margin_that_widens():
    part = widening("a/SPLIT/x", "a/SPLIT/y")
    near = {"x": rates(0.9, 0.8), "y": rates(0.8, 0.7)}
    far = {"x": rates(0.9, 0.8), "y": rates(0.3, 0.21)}
    assert told(part, a={"compositional": near, "novel": far}).verdict == CONFIRMED
    assert told(part, a={"compositional": far, "novel": near}).verdict == CONTRADICTED


def test_times_of_episodes_are_the_mean_of_both_splits():
    found = told(seconds("a/episode_ms", 60.0, 1e-3), a={"episode_ms": [1.0, 3.0, 5.0, 7.0]})
    assert math.log(1000 * found.span.mean) == pytest.approx(math.log(3) / 2 + math.log(5) / 2)


def test_what_is_not_there_is_not_judged():
    for path in ("b/x", "a/z", "a/x/y", "a/none"):
        with pytest.raises(Lacking):
            Figures(Results({"a": {"x": 1, "none": None}})).at(path)
    claim = Claim("it works", "success", {"": both(figure, "a/SPLIT", printed=[0.5, 0.4])})
    whole = {"compositional": rates(0.9, 0.91), "novel": rates(0.9, 0.91)}
    found = claim.judged(Figures(Results({"a": whole})))
    assert (found["verdict"], found["ours"]) == (BETTER, "90.5 (84.1 to 96.9) / 90.5 (84.1 to 96.9)")
    assert found["parts"][""][0]["low"] == pytest.approx(0.841, abs=1e-3)
    half = claim.judged(Figures(Results({"a": {"novel": rates(0.9, 0.91)}})))
    assert half["verdict"] == UNMEASURED
    assert half["ours"].startswith(f"{UNMEASURED} / 90.5")


# --- the section ---


def test_every_claim_has_a_name_of_its_own_and_reads_what_is_declared():
    names = [key for some in CLAIMS.values() for key in some]
    assert len(names) == len(set(names)) > 60
    asked = set()

    class Asked(Figures):
        def at(self, path):
            asked.add(path.partition("/")[0])
            raise Lacking(path)

    for group in CLAIMS.values():
        for claim in group.values():
            assert claim.judged(Asked(Results()))["verdict"] == UNMEASURED
    assert asked == set(claims.READS)


STALE: tuple[str, ...] = ()
"""Sections of docs/RESULTS.md that are older than what claims ask of them; none, once these have been run again."""


def test_every_path_is_one_that_the_results_have(pytestconfig):
    """No claim asks for what no section writes: a slip in a path would else stay "not measured" for ever."""
    told = reproduce.written(pytestconfig.rootpath / "docs" / "results", claims.READS)
    lacking = set()

    class Asked(Figures):
        def at(self, path):
            try:
                return super().at(path)
            except Lacking:
                lacking.add(path)
                raise

    figures = Asked(Results({name: one["summary"] for name, one in told.items()}))
    for group in CLAIMS.values():
        for claim in group.values():
            claim.judged(figures)
    assert {path for path in lacking if path.partition("/")[0] not in STALE} == set()


def written(folder, name, summary, quick=False):
    figures = {"summary": summary, "environments": [], "quick": quick, "seeds": [0, 1], "data": {}}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(figures))


def test_a_section_is_computed_from_what_others_have_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = Reproduction(claims.EXPERIMENT, Size(), "work")
    folder = tmp_path / "docs" / "results"
    written(folder, "peers", {"costs": {"equal": 3, "problems": 4}})
    summary = made.write("docs/RESULTS.md")
    assert summary["optimal"]["verdict"] == CONTRADICTED
    assert summary["verdicts"] == {**dict.fromkeys(RULES, 0), CONTRADICTED: 1, UNMEASURED: summary["of"] - 1}
    text = (tmp_path / "docs" / "RESULTS.md").read_text()
    assert "computed from the figures of the sections peers, with their seeds" in text
    assert "| **contradicted** |" in text
    kept = json.loads((folder / "claims.json").read_text())
    assert kept["data"] == {"results/peers.json": sha256((folder / "peers.json").read_bytes())}
    assert not kept["quick"]
    written(folder, "peers", {"costs": {"equal": 4, "problems": 4}}, quick=True)
    assert made.write("docs/RESULTS.md")["optimal"]["verdict"] == CONFIRMED
    assert "(quick run)" in (tmp_path / "docs" / "RESULTS.md").read_text()


def test_without_any_results_it_says_what_it_needs(tmp_path):
    with pytest.raises(RsgError, match=r"claims is computed from results of instructions, searches, .* none of them"):
        Reproduction(claims.EXPERIMENT, Size(), tmp_path).write(tmp_path / "R.md")


def test_the_claims_in_the_docs_are_of_the_results_in_the_docs(pytestconfig):
    """Whoever writes a section anew runs `rsg reproduce claims` after it."""
    folder = pytestconfig.rootpath / "docs" / "results"
    data = json.loads((folder / "claims.json").read_text())["data"]
    assert data == reproduce.read_from(reproduce.written(folder, claims.READS), folder)["data"]
