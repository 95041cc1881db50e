"""Figures in pages for people are those of the results."""

import json
import re
from pathlib import Path

import pytest

from reproductions.harness.printed import PAPER
from reproductions.harness.quotes import pages, quoted, refresh
from rsg.core.errors import RsgError

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def results(tmp_path):
    summary = {"success": {"ours, strict": {"mean": 0.99951}}, "seconds": [1.26, 4012.0], "paper": "17 h", "sure": True}
    (tmp_path / "toy.json").write_text(json.dumps({"summary": summary}))
    return tmp_path


def quote(path, form, text="?"):
    return f"<!--q {path} as {form}-->{text}<!--/q-->"


@pytest.mark.parametrize(
    ("path", "form", "number"),
    [
        ("toy/success/ours, strict/mean", "percent", "99.95"),
        ("toy/seconds/0", ".1f", "1.3"),
        ("toy/seconds/1", ",.0f", "4,012"),
        ("toy/seconds", ".2f", "2006.63"),
        ("toy/paper", "text", "17 h"),
    ],
)
def test_a_quote_is_what_the_results_say(results, path, form, number):
    text = f"Ours does {quote(path, form)} %, *{quote(path, form, '77')}*."
    expected = text.replace(">?<", f">{number}<").replace(">77<", f">{number}<")
    assert quoted(text, results) == expected
    assert quoted(expected, results) == expected


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("toy/success/theirs/mean", "'theirs' is not there"),
        ("toy/seconds/2", "'2' is not there"),
        ("toy/seconds/first", "'first' is not there"),
        ("toy/paper", "is no number"),
        ("toy/sure", "is no number"),
        ("other/seconds", "run rsg reproduce other"),
    ],
)
def test_a_quote_that_leads_nowhere(results, path, problem):
    with pytest.raises(RsgError, match=problem):
        quoted(quote(path, ".1f"), results)


def test_figures_of_benchmarks_can_be_quoted(tmp_path):
    folder = tmp_path / "benchmarks" / "results"
    folder.mkdir(parents=True)
    (folder / "speed.json").write_text(json.dumps({"figures": {"rooms": {"checks, s": 2_500_000.0}}}))
    text = quote("benchmarks/speed/rooms/checks, s", ",.0f")
    assert quoted(text, tmp_path / "docs" / "results") == text.replace("?", "2,500,000")
    with pytest.raises(RsgError, match="run python -m benchmarks weight"):
        quoted(quote("benchmarks/weight/kg", ".1f"), tmp_path / "docs" / "results")


def test_a_number_is_no_text(results):
    with pytest.raises(RsgError, match="is no text"):
        quoted(quote("toy/seconds/0", "text"), results)


def test_a_page_is_written_only_if_a_figure_changed(results, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"It takes {quote('toy/seconds/0', '.1f')} s.")
    assert refresh(page, results)
    assert page.read_text() == f"It takes {quote('toy/seconds/0', '.1f', '1.3')} s."
    before = page.stat().st_mtime_ns
    assert not refresh(page, results)
    assert page.stat().st_mtime_ns == before


def test_the_readme_quotes_too(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for page in (docs / "a.md", tmp_path / "README.md", tmp_path / "OTHER.md"):
        page.write_text("")
    assert pages(docs) == [docs / "a.md", tmp_path / "README.md"]
    assert pages(tmp_path) == [tmp_path / "OTHER.md", tmp_path / "README.md"]  # no docs: it stands beside them


PAGES = pages(DOCS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_pages_quote_the_results_as_they_are(page):
    text = page.read_text(encoding="utf-8")
    assert quoted(text, DOCS / "results") == text


UNITS = r"%|ms|µs|s|seconds?|minutes?|min|hours?|h|[KMG]B|times|million|per second"
MEASURED = re.compile(rf"(?<![\w.-])\d[\d,.]*(?:\s*(?:/|to|and|–|-)\s*\d[\d,.]*)*\s*(?:{UNITS})(?!\w)")
EXACT = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)+(?![\w.])")  # decimals and thousands
THE_PAPERS = {f"{one:.1f}" for told in PAPER.values() for pair in told.values() for one in pair}
NOT_OURS = {  # more figures of the paper, limits and settings: what is asked rather than found
    "README.md": {"17 h", "4,700 ms", "4,700", "3.11"},
    "crafting.md": {"0.1"},
    "goals.md": {"0.9", "2,000"},
    "language.md": {"100,000", "65,536", "1,048,576"},
    "learning.md": {"2,000"},
    "paper.md": {
        *("17 hours", "4.7 s", "70 %", "32 minutes", "0.43 s", "99.6 to 75 %", "100 times"),
        *("4.7", "0.43", "4,311", "19,220", "5,000", "0.1", "0.01", "0.001"),
    },
    "planning.md": {"0.5"},
    "playroom.md": {"95 %", "0.1", "5,000"},
}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "RESULTS.md"], ids=lambda page: page.name)
def test_every_figure_is_quoted(page):
    """Nobody typed a measured number: what looks like one is a quote, code, the paper's, or a setting."""
    text = page.read_text(encoding="utf-8")
    for left_out in (r"```.*?```", r"<!--q .*?<!--/q-->", r"`[^`]*`", r"\]\([^)]*\)"):
        text = re.sub(left_out, "…", text, flags=re.DOTALL)
    found = {" ".join(match.group().split()) for form in (MEASURED, EXACT) for match in form.finditer(text)}
    assert found - NOT_OURS.get(page.name, set()) - THE_PAPERS == set()


def test_what_looks_like_a_figure():
    for text in ("in 12 ms", "(99.6 %)", "1,600 s.", "82.0 / 78.2 %", "2 to 3 times", "0.2 GB"):
        assert MEASURED.search(text), text
    for text in ("99.6", "(19,220)", "82.0 / 78.2,"):
        assert EXACT.search(text), text
    for text in ("400 demonstrations", "version v1.0", "x86", "step 12 shows"):
        assert not MEASURED.search(text), text
        assert not EXACT.search(text), text
