import numpy as np
import pytest

from rsg.core.errors import RsgError
from rsg.language import Machine, parse
from rsg.language.drawing import draw, layout

BRANCHES = "grab-key or (grab-axe then mine-wood then craft-boat) then grab-pickaxe"


def test_svg_is_the_same_every_time(tmp_path):
    machine = Machine.of(parse(BRANCHES))
    draw(machine, tmp_path / "a.svg")
    draw(machine, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.svg").read_text().count("<path") > machine.nodes + machine.edges


@pytest.mark.parametrize("ending", ["png", "pdf", "PNG"])
def test_other_formats(tmp_path, ending):
    draw(Machine.of(parse("a then b")), tmp_path / f"machine.{ending}")
    assert (tmp_path / f"machine.{ending}").stat().st_size > 1000


@pytest.mark.parametrize("text", [BRANCHES, "a and b and c", "a or (b then c or d) then e", "a"])
def test_no_two_boxes_overlap_and_edges_go_right(text):
    machine = Machine.of(parse(text))
    widths = np.full(machine.nodes, 1.0)
    x, y, routes = layout(machine, widths)
    places = set(zip(x.round(6), y.round(6), strict=True))
    assert len(places) == machine.nodes
    assert len(routes) == machine.edges
    for source, points, target in routes:
        assert (np.diff([x[source], *(p[0] for p in points), x[target]]) > 0).all()
        assert not places & {(round(px, 6), round(py, 6)) for px, py in points}


def test_what_cannot_be_drawn_is_said(tmp_path):
    with pytest.raises(RsgError, match=r"must end in \.svg, \.png, \.pdf"):
        draw(Machine.of(parse("a")), tmp_path / "machine.jpg")
    with pytest.raises(RsgError, match="at most 500 are drawn"):
        draw(Machine.of(parse(" and ".join("abcdefghij"))), tmp_path / "machine.svg")
    assert list(tmp_path.iterdir()) == []
