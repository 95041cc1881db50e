import numpy as np
import pytest

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.playroom import SHIPPED, PlayroomWorld, load_layout
from rsg.domains.playroom.drawings import DRAWINGS
from rsg.domains.playroom.layout_files import read_layout, write_layout
from rsg.domains.playroom.pictures import BODY, FLOOR, MARGIN, NOSE, WALL, Trail, outline, picture
from rsg.domains.playroom.terminal import letters, terminal_view

PAPER = PlayroomWorld()
STATE = PAPER.state((5, 5, 0), {"ball": (14, 14)})


def color_at(image, world, x, y):
    """The pixel of a place in the room."""
    scale = max(image.shape) / (max(world.layout.size) + 2 * MARGIN)
    return tuple(image[int((world.layout.size[1] + MARGIN - y) * scale), int((x + MARGIN) * scale)].tolist())


@pytest.mark.parametrize("pixels", [32, 210, 480])
@pytest.mark.parametrize("name", SHIPPED)
def test_pictures_have_the_shape_of_the_room(name, pixels):
    world = PlayroomWorld(load_layout(name))
    image = world.render(world.start(stream(0)), pixels)
    width, height = world.layout.size
    assert image.dtype == np.uint8
    assert image.shape[1] == pixels
    assert image.shape[0] == round(pixels * (height + 2 * MARGIN) / (width + 2 * MARGIN))


def test_everything_is_where_it_belongs():
    image = PAPER.render(STATE)
    assert color_at(image, PAPER, 5, 5) == BODY
    assert color_at(image, PAPER, 5, 5.7) == NOSE
    assert color_at(image, PAPER, 10, 2) == WALL
    assert color_at(image, PAPER, 10, 5.5) == FLOOR
    assert color_at(image, PAPER, -0.3, 5) == WALL
    turned = STATE.copy()
    turned[2] = -np.pi / 2
    image = PAPER.render(turned)
    assert color_at(image, PAPER, 5.7, 5) == NOSE
    assert color_at(image, PAPER, 5, 5.85) == BODY


def test_the_outline_is_the_robot_at_its_pose():
    body, nose = outline(PAPER, np.array([5, 5, np.pi / 2]))
    assert np.allclose(body, [[5.5, 4], [5.5, 6], [4.5, 6], [4.5, 4]])
    assert np.allclose(nose[2], [4, 5])


def test_every_effector_has_its_own_look():
    tiles = []
    for name in DRAWINGS:
        world = PAPER
        image = world.render(world.state((5, 5, 0), {name: (14.5, 14.5)}, seed=5), 840)
        scale = 840 / 21
        row, column = int((20.5 - 14.5) * scale), int(15 * scale)
        tiles.append(image[row - 14 : row + 14, column - 14 : column + 14].astype(int))
    for i, tile in enumerate(tiles):
        assert (np.abs(tile - FLOOR).max(axis=2) > 40).mean() > 0.3
        assert all(np.abs(tile - other).mean() > 10 for other in tiles[:i])


def test_trails_and_links_are_drawn():
    plain = picture(PAPER, STATE, 210)
    trail = np.stack([STATE] * 8)
    trail[:, 0] = np.linspace(5, 8, 8)
    with_trail = picture(PAPER, STATE, 210, Trail(trail))
    assert (with_trail != plain).any(axis=2).mean() > 0.005
    assert np.array_equal(with_trail, picture(PAPER, STATE, 210, Trail(trail[:, :3])))
    marked = picture(PAPER, STATE, 210, Trail(trail, [(7, "ring-bell")]))
    assert (marked != with_trail).any()
    poses = np.array([[2, 2, 0], [2, 8, 0], [8, 8, 0.0]])
    linked = picture(PAPER, STATE, 210, links=(poses, np.array([[0, 1], [1, 2]])))
    assert color_at(linked, PAPER, 2, 5) != FLOOR
    assert color_at(linked, PAPER, 3, 5) == FLOOR
    large = picture(PAPER, STATE, 480, Trail(trail, [(7, "ring-bell")]))
    assert large.shape == (480, 480, 3)


def test_pictures_that_cannot_be():
    for pixels in (31, 5000):
        with pytest.raises(RsgError, match="has 32 to 4096 pixels"):
            PAPER.render(STATE, pixels)
    with pytest.raises(RsgError, match="x is nan"):
        PAPER.render(STATE * np.nan)


def test_the_same_state_gives_the_same_picture():
    assert np.array_equal(PAPER.render(STATE), PAPER.render(STATE.copy()))


def test_a_chart_for_terminals_without_colours():
    lines = terminal_view(PAPER, STATE, 84, colours=False).plain.splitlines()
    at = lambda x, y: lines[int((20.5 - y) * 2)][int((x + 0.5) * 4)]  # noqa: E731, four characters a unit, two lines
    assert (at(5, 5), at(5, 5.7), at(14, 14), at(10, 2), at(2, 2)) == ("@", "o", "B", "#", " ")
    assert {at(x, 10.1) for x in np.arange(8.5, 15.5, 0.25)} == {"#"}  # a thin wall has no holes
    assert {at(x, 10.1) for x in np.arange(5.5, 7.5, 0.25)} == {" "}  # a door has
    coarse = terminal_view(PAPER, STATE, 64, colours=False).plain.splitlines()
    assert any("#" * 20 in line for line in coarse[1:-3])  # the wall is thinner than a line, and lies between two
    assert lines[-1] == "robot at (5.00, 5.00), angle 0.00"
    coloured = terminal_view(PAPER, STATE, 84).plain.splitlines()
    assert [len(line) for line in coloured] == [len(line) for line in lines]
    assert sum(line.count("B") for line in coloured[:-2]) == 1


def test_letters_are_not_used_twice():
    assert letters(["ball", "bell", "b", "bb"]) == ["B", "E", "A", "C"]


def test_a_tall_room_fits_too():
    tall = PlayroomWorld(read_layout(write_layout(PAPER.layout).replace("[20.0, 20.0]", "[20.0, 31.0]")))
    lines = terminal_view(tall, tall.start(stream(0)), 64, colours=False).plain.splitlines()
    assert len(lines) == 32 + 2
    assert len(lines[0]) == 42


def test_the_layout_at_a_state_starts_there():
    fixed = PlayroomWorld(read_layout(write_layout(PAPER.layout_at(STATE))))
    assert np.array_equal(fixed.start(stream(7)), STATE)
    assert PAPER.told(STATE)["pose"] == [5, 5, 0]
    assert PAPER.told(STATE)["places"]["ball"] == [14, 14]
