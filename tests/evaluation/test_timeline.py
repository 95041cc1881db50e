"""The timeline of an alignment: as text of 80 columns, and as a picture."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from tests.reference.search import TableWorld

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.evaluation.timeline import MAPS_IN_A_ROW, SLIDE, WIDTH, draw_timeline, parts, signs, timeline_text
from rsg.language import parse
from rsg.planning import Part
from rsg.subgoals import Segmentation


def alignment(*lengths, term="term", open_end=False):
    """A chain of subgoals that take so many steps each."""
    names = [f"{term}-{number}" for number in range(len(lengths))]
    served = tuple(name for name, length in zip(names, lengths, strict=True) for _ in range(length))
    ends = tuple(zip(names, np.cumsum(lengths).tolist(), strict=True))
    task = parse(" then ".join(names))
    return (
        Segmentation(task, -1.0, served, ends[:-1], names[-1]) if open_end else Segmentation(task, -1.0, served, ends)
    )


def test_a_small_timeline():
    text = timeline_text(alignment(2, 1), "urt").plain
    assert text == "  step     1  2  3\n  term-0  █████◆ .\n  term-1   .  . ██◆\n  action   u  r  t\n"
    text = timeline_text(alignment(2, 1, open_end=True), "urt").plain
    assert text.splitlines()[2] == "  term-1   .  . ██"


def test_a_subgoal_that_comes_twice_has_two_rows():
    found = Segmentation(parse("a then b then a"), -1.0, ("a", "b", "a"), (("a", 1), ("b", 2), ("a", 3)))
    assert parts(found) == [Part("a", 0, 1), Part("b", 1, 2), Part("a", 2, 3)]
    rows = timeline_text(found, "xyz").plain.splitlines()
    assert [row.split()[0] for row in rows] == ["step", "a", "b", "a", "action"]


@pytest.mark.parametrize("seed", range(30))
def test_all_steps_are_there_within_80_columns(seed):
    rng = stream(seed, "timeline")
    lengths = rng.integers(1, 40, size=rng.integers(1, 9)).tolist()
    found = alignment(*lengths, term="t" * int(rng.integers(1, 50)), open_end=bool(seed % 2))
    text = timeline_text(found, ["x"] * sum(lengths)).plain
    lines = text.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert not any(line != line.rstrip() for line in lines)
    numbers = [int(word) for line in lines if line.startswith("  step ") for word in line.split()[1:]]
    assert numbers == list(range(1, sum(lengths) + 1))
    assert text.count("◆") == len(found.ends)
    assert sum(line.split()[1:].count("x") for line in lines if line.startswith("  action ")) == sum(lengths)
    cell = max(3, len(str(sum(lengths))) + 1)
    filled = text.count("█") + text.count("◆")
    open_cells = 0 if found.now is None else 1  # the place of the mark that is not there
    assert abs(filled + open_cells - cell * sum(lengths)) <= len([line for line in lines if "step " in line])


def test_letters_tell_actions_apart():
    world = SimpleNamespace(actions=["up", "down", "left", "right", "toggle"])
    assert signs(world, np.arange(5))[0] == ["u", "d", "l", "r", "t"]
    world = SimpleNamespace(actions=[f"action {number}" for number in range(20)])
    assert len(set(signs(world, np.arange(20))[0])) == 20


def drawn(path, found):
    """The size of the picture of an alignment, in a world of its own."""
    steps = len(found.terms)
    world = TableWorld([[1], [0]], [1.0])
    states = world.rows[np.arange(steps + 1) % 2]
    draw_timeline(path, world, states, np.zeros(steps, dtype=np.int64), found, "a note")
    with Image.open(path) as picture:
        return picture.size


@pytest.mark.parametrize(
    "found",
    [alignment(1), alignment(3, 2, 4), alignment(2, 2, open_end=True), alignment(60, 70), alignment(700)],
    ids=["one step", "three subgoals", "unfinished", "many steps", "very many steps"],
)
def test_a_picture_is_a_slide(tmp_path, found):
    assert drawn(tmp_path / "timeline.png", found) == (1920, 150 * SLIDE)


def test_a_picture_of_many_subgoals_grows(tmp_path):
    width, height = drawn(tmp_path / "timeline.png", alignment(*[2] * (2 * MAPS_IN_A_ROW), term="a-long-name"))
    assert width == 1920
    assert height > 150 * SLIDE


def test_a_picture_is_a_png(tmp_path):
    with pytest.raises(RsgError, match=r"cannot write a picture to .*\.jpg: the name must end in \.png"):
        drawn(tmp_path / "timeline.jpg", alignment(1))
    assert list(tmp_path.iterdir()) == []
