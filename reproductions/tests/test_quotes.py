"""Figures in pages for people are those of the results."""

import json
import re
from pathlib import Path

import pytest

from reproductions.harness.printed import PAPER
from reproductions.harness.quotes import pages, quoted, quotes, refresh
from rsg.core.errors import RsgError

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def results(tmp_path):
    summary = {"success": {"ours, strict": {"mean": 0.99951}}, "seconds": [1.26, 4012.0], "paper": "17 h", "sure": True}
    (tmp_path / "toy.json").write_text(json.dumps({"summary": summary}))
    return tmp_path


def page_of(*lines, figures=()):
    """A page, and where its figures come from."""
    return "\n".join([*lines, "", "<!-- figures", *figures, "-->", ""])


def quote(path, form, text="?"):
    """A page with one figure."""
    return page_of(f"Ours takes {text} s.", figures=[f"Ours takes {{{path} as {form}}} s."])


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
    expected = quote(path, form, number)
    for before in ("?", "77", "1,234.5"):
        assert quoted(quote(path, form, before), results) == expected
    assert quoted(expected, results) == expected


def test_a_piece_of_a_page_may_have_many_figures_and_go_over_lines(results):
    figures = ["a row | {toy/seconds/0 as .1f} / {toy/paper as text} |", "takes {toy/seconds/1 as ,.0f} s in all"]
    page = page_of("| a row | ? / ? |", "It takes 7 s", "  in all.", figures=figures)
    assert quoted(page, results) == page_of("| a row | 1.3 / 17 h |", "It takes 4,012 s", "  in all.", figures=figures)


@pytest.mark.parametrize(("line", "times"), [("It took {toy/paper as text}.", 0), ("takes {toy/paper as text} s", 2)])
def test_a_piece_that_is_not_on_the_page_once(results, line, times):
    page = page_of("It takes 1 s.", "That takes 2 s.", figures=[line])
    with pytest.raises(RsgError, match=f"has these words {times} times.*{re.escape(line)}"):
        quoted(page, results)


def test_a_page_without_figures_stays(results):
    assert quoted("It takes 1 s.\n", results) == "It takes 1 s.\n"
    with pytest.raises(RsgError, match=r"no figure is named, write \{PATH as FORM\}"):
        quoted(page_of("It takes 1 s.", figures=["It takes"]), results)


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
    page.write_text(quote("toy/seconds/0", ".1f"))
    assert refresh(page, results)
    assert page.read_text() == quote("toy/seconds/0", ".1f", "1.3")
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
    "recordings.md": {"0.1", "5 %"},
    "segments.md": {"0.5", "0.6", "100,000", "20 %"},  # versions of LeRobot, and what was asked
    "README.md": {"17 h", "4,700 ms", "4,700", "5,000", "3.11"},
    "baselines.md": {"5,000"},
    "crafting.md": {"0.1"},
    "goals.md": {"0.9", "2,000"},
    "index.md": {"3.11"},
    "language.md": {"100,000", "65,536", "1,048,576"},
    "learning.md": {"2,000"},
    "choices.md": {
        *("0.001", "0.0001", "0.00001", "0.01", "0.015", "0.02", "0.1", "0.2", "0.3", "0.5", "0.9", "0.95", "1.5"),
        *("1,000", "1,200", "2,000", "2,400", "5,000", "7,000", "25,000", "31,000"),
    },
    "paper.md": {
        *("95 %", "70 %", "40 %", "5 %", "99.6 to 75 %", "1,020 s", "4.70 s", "1,944 s", "0.43 s"),
        *("2.4 times", "4.5 times", "1,020", "4.70", "1,944", "0.43", "2.4", "4.5"),
        *("4,311", "19,220", "25,000", "5,000", "2,000", "0.001", "0.01", "0.1", "0.2", "0.5"),
    },
    "planning.md": {
        *("0.5", "5,000", "10,000", "25,000", "50,000", "100,000", "1,000", "1,000,000"),
        *("5 %", "15 ms", "60 ms"),  # what we want, which the page says
    },
    "playroom.md": {"95 %", "0.1", "5,000"},
    "your-own-world.md": {"2.0"},
}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "RESULTS.md"], ids=lambda page: page.name)
def test_every_figure_is_quoted(page):
    """Nobody typed a measured number: what looks like one is a quote, code, the paper's, or a setting."""
    text = page.read_text(encoding="utf-8")
    for start, end, _, _ in reversed(quotes(text)):
        text = f"{text[:start]}…{text[end:]}"
    for left_out in (r"```.*?```", r"<!-- figures.*?-->", r"`[^`]*`", r"\]\([^)]*\)"):
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
