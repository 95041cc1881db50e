"""Layouts: what people can write, what is refused and with which sentence."""

import json
import math

import numpy as np
import pytest

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.playroom import SHIPPED, Effector, Layout, LayoutError, PlayroomWorld, load_layout, save_layout
from rsg.domains.playroom.layout import bar, box
from rsg.domains.playroom.layout_files import read_layout, write_layout

SQUARE = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
GOOD = {
    "room": [10, 8],
    "walls": [{"from": [5, 0], "to": [5, 3], "thickness": 0.5}, [[1, 6], [2, 6], [1.5, 7]]],
    "robot": [[[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]],
    "effectors": [
        {"name": "ball", "size": 1, "term": "play-with-ball"},
        {"name": "bell", "shape": [[-0.5, -0.5], [0.5, -0.5], [0, 0.5]], "position": [3, 4]},
        {"name": "mat", "size": [2, 0.5]},
    ],
    "start": [8, 6, 0],
}


def changed(**parts):
    return {**GOOD, **parts}


def read(values):
    return read_layout(json.dumps(values), "room.json")


def test_a_layout_as_people_write_it():
    layout = read(GOOD)
    assert layout.size == (10.0, 8.0)
    assert layout.walls == (bar((5, 0), (5, 3), 0.5), ((1, 6), (2, 6), (1.5, 7)))
    assert layout.terms == ("play-with-ball", "touch-bell", "touch-mat")
    assert [effector.position for effector in layout.effectors] == [None, (3, 4), None]
    assert layout.effectors[2].shape == box(2, 0.5)
    assert layout.start == (8, 6, 0)


@pytest.mark.parametrize("name", SHIPPED)
def test_layouts_survive_writing(name, tmp_path):
    for layout in (load_layout(name), read(GOOD)):
        assert read_layout(write_layout(layout)) == layout
        save_layout(layout, tmp_path / "my.json")
        assert load_layout(tmp_path / "my.json") == layout
        assert hash(load_layout(str(tmp_path / "my.json"))) == hash(layout)


def test_the_papers_room():
    """20 by 20, six walls of thickness 0.5 on the two middle lines, four passages of 3."""
    layout = load_layout("paper")
    assert layout.size == (20, 20)
    spans = sorted((min(x), max(x), min(y), max(y)) for x, y in (zip(*wall, strict=True) for wall in layout.walls))
    across = [(0, 5, 9.75, 10.25), (8, 16, 9.75, 10.25), (19, 20, 9.75, 10.25)]
    upright = [(9.75, 10.25, 0, 4), (9.75, 10.25, 7, 13), (9.75, 10.25, 16, 20)]
    assert spans == sorted(across + upright)
    assert layout.robot == (((-1, -0.5), (1, -0.5), (1, 0.5), (-1, 0.5)), ((-0.5, 0.5), (0.5, 0.5), (0, 1)))
    assert dict(zip((e.name for e in layout.effectors), layout.terms, strict=True)) == {
        "ball": "play-with-ball",
        "bell": "ring-bell",
        "light-switch": "turn-on-light",
        "music-on": "turn-on-music",
        "music-off": "turn-off-music",
        "monkey": "touch-monkey",
    }


def test_the_narrow_passage_is_a_fifth_wider_than_the_robot():
    layout = load_layout("narrow")
    ys = sorted(y for wall in layout.walls for _, y in wall)
    robot = [y for part in layout.robot for _, y in part]
    assert ys[4] - ys[3] == pytest.approx(max(robot) - min(robot) + 0.2)
    assert len(load_layout("twelve").effectors) == 12
    assert any(len({x for x, _ in wall}) == 4 for wall in load_layout("rotated-bars").walls)


def test_bars_go_in_any_direction():
    corners = np.array(bar((1, 1), (4, 5), 2))
    assert np.allclose(sorted(corners.tolist()), sorted([[1.8, 0.4], [4.8, 4.4], [3.2, 5.6], [0.2, 1.6]]))


def test_clockwise_is_as_good():

    for robot in (SQUARE, SQUARE[::-1]):
        shape = read(changed(robot=[robot], start=None)).shapes.robot
        assert (shape.corners["offset"] == 1).all()


STAR = [[math.cos(4 * math.pi * i / 5), math.sin(4 * math.pi * i / 5)] for i in range(5)]
BALL = GOOD["effectors"][0]
PROBLEMS = [
    ([], "the layout must be an object"),
    ({}, "the layout has no 'room'"),
    (changed(wals=[]), "the layout has an unknown key 'wals'; did you mean walls?"),
    (changed(room=[10]), r"the size of the room must be 2 numbers \[x, y\], not \[10\]"),
    (changed(room=[10, 0]), "a room has a width and a height above 0, not 10 and 0"),
    (changed(room=[math.nan, 3]), "the size of the room must be finite numbers, not nan, 3.0"),
    (changed(room=[math.inf, 3]), "must be finite numbers, not inf"),
    (changed(room=[True, 3]), "the size of the room must be 2 numbers"),
    (changed(room="10x8"), "the size of the room must be 2 numbers"),
    (changed(robot=[]), "the layout has no robot"),
    (changed(robot={}), "'robot' must be a list"),
    (changed(effectors=[]), "the layout has no effectors"),
    (changed(robot=[SQUARE[:2]]), "part 1 of the robot must be a polygon: a list of at least three corners"),
    (changed(robot=["box"]), "part 1 of the robot must be a polygon"),
    (changed(robot=[[[0, 0], [1, 0], ["a", 1]]]), "corner 3 of part 1 of the robot must be 2 numbers"),
    (
        changed(robot=[[[0, 0], [4, 0], [1, 1], [0, 4]]]),
        "part 1 of the robot is not convex: cut it into convex polygons",
    ),
    (changed(walls=[[[0, 0], [4, 4], [4, 0], [0, 4]]]), "wall 1 is not convex"),
    (changed(robot=[STAR]), "part 1 of the robot is not convex"),
    (
        changed(robot=[[[0, 0], [1, 0], [2, 0], [1, 1]]]),
        "corner 2 of part 1 of the robot is in one line with its neighbours",
    ),
    (changed(robot=[[[0, 0], [1, 0], [1, 0], [1, 1]]]), "in one line with its neighbours, or the same"),
    (changed(robot=[[[0, 0], [1, 0], [2, 0]]]), "in one line"),
    (changed(walls=[[[0, 0], [1, math.nan], [1, 1]]]), "corner 2 of wall 1 must be finite numbers, not 1.0, nan"),
    (changed(walls=[{"from": [1, 1], "to": [2, 2]}]), "wall 1 has no 'thickness'"),
    (changed(walls=[{"from": [1, 1], "to": [1, 1], "thickness": 1}]), "wall 1: a bar goes from one point to another"),
    (changed(walls=[{"from": [1, 1], "to": [1, 2], "thickness": 0}]), "wall 1: a bar .* thickness above 0"),
    (
        changed(walls=[{"from": [1, 1], "to": [1, 2], "thickness": math.nan}]),
        "'thickness' of wall 1 must be a finite number, not NaN",
    ),
    (changed(effectors=[BALL, BALL]), "two effectors have the name 'ball'; give each its own"),
    (
        changed(effectors=[BALL, {"name": "bat", "size": 1, "term": "Play_With_Ball"}]),
        "two terms have the name 'play-with-ball'",
    ),
    (changed(effectors=[{"size": 1}]), "effector 1 has no 'name'"),
    (changed(effectors=[{"name": "ball"}]), "effector 1 must have either a 'size' or a 'shape'"),
    (changed(effectors=[{"name": "ball", "size": 1, "shape": SQUARE}]), "either a 'size' or a 'shape'"),
    (changed(effectors=[{"name": "ball", "size": -1}]), "the size of effector 1 must be above 0"),
    (changed(effectors=[{"name": "red ball", "size": 1}]), "'red ball' cannot be the name of an effector"),
    (changed(effectors=[{"name": 3, "size": 1}]), "3 cannot be the name of an effector"),
    (changed(effectors=[{"name": "ball", "size": 1, "term": "hit it"}]), "'hit it' cannot be the term of the ball"),
    (changed(effectors=[{"name": "ball", "size": 1, "color": "red"}]), "effector 1 has an unknown key 'color'"),
    (changed(effectors=[{**BALL, "position": [3]}]), "the position of the ball must be 2 numbers"),
    (
        changed(effectors=[{**BALL, "position": [5, 3]}]),
        r"the ball at \(5, 3\) overlaps a wall or a side of the room; move one of them",
    ),
    (changed(effectors=[{**BALL, "position": [0.2, 4]}]), r"the ball at \(0.2, 4\) overlaps a wall or a side"),
    (changed(effectors=[{**BALL, "position": [30, 4]}]), r"the ball at \(30, 4\) overlaps a wall or a side"),
    (
        changed(effectors=[{**BALL, "position": [3, 3]}, {"name": "bell", "size": 1, "position": [3.5, 3.5]}]),
        r"the ball at \(3, 3\) overlaps the bell",
    ),
    (changed(start=[5, 2, 0]), r"the robot starts at \(5, 2, 0\), where it touches a wall or a side"),
    (changed(start=[0.1, 2, 0]), "where it touches a wall or a side"),
    (
        changed(effectors=[{**BALL, "position": [2, 2]}], start=[2, 2, 0]),
        r"the robot starts at \(2, 2, 0\), where it touches the ball; move one of them",
    ),
    (changed(start=[5, 2]), r"the start of the robot must be 3 numbers \[x, y, angle\]"),
    (changed(start=[5, 2, math.nan]), "the start of the robot must be finite numbers"),
]


@pytest.mark.parametrize(("values", "problem"), PROBLEMS, ids=[problem[:30] for _, problem in PROBLEMS])
def test_what_cannot_be_is_said_in_a_sentence(values, problem):
    with pytest.raises(LayoutError, match=f"^room.json: .*{problem}"):
        read(values)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"room": [1, 2],\n  oops}', "room.json, line 2, column 3: this is not JSON"),
        ("", "room.json, line 1, column 1: this is not JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_not_json(text, problem):
    with pytest.raises(LayoutError, match=problem):
        read_layout(text, "room.json")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    for source, problem in {
        str(tmp_path / "none.json"): "cannot read the layout .*none.json: No such file",
        str(tmp_path / "binary.json"): "it is not a text file",
        str(tmp_path): "Is a directory",
        "twelf": "there is no layout 'twelf'; did you mean twelve?",
        "xyz": "there is no layout 'xyz'; there are: paper, rotated-bars, narrow, twelve",
    }.items():
        with pytest.raises(LayoutError, match=problem):
            load_layout(source)


def test_layouts_can_be_made_in_python():
    layout = Layout(
        np.array([4, 4]), np.array([SQUARE]), [Effector("ball", box(0.5, 0.5))], walls=[np.array(SQUARE[:3])]
    )
    assert layout.terms == ("touch-ball",)
    with pytest.raises(LayoutError, match="part 1 of the robot is not convex"):
        Layout((4, 4), [STAR], [Effector("ball", box(1, 1))])
    with pytest.raises(LayoutError, match="wall 1 must be a polygon"):
        Layout((4, 4), [SQUARE], [Effector("ball", box(1, 1))], walls=[3])


def test_a_room_without_room_is_an_error_and_no_hang():
    full = Layout((2, 2), [SQUARE], [Effector("ball", box(0.5, 0.5))])
    with pytest.raises(RsgError, match="no free place for the robot was found"):
        PlayroomWorld(full).start(stream(0))
    crowded = Layout((4, 4), [box(0.1, 0.1)], [Effector(f"ball-{i}", box(1.5, 1.5)) for i in range(9)])
    with pytest.raises(RsgError, match="no free places for the effectors were found"):
        PlayroomWorld(crowded).start(stream(0))
