import numpy as np
import pytest

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domains.crafting import STANDARD, CraftingWorld, Rulebook, Thing
from rsg.domains.crafting.pictures import atlas, image_shape, images, sheet, strip_rows
from rsg.domains.crafting.sprites import FLOOR, SPRITES, sprite

SIZES = [(1, 1, 1), (1, 1, 5), (6, 6, 6), (3, 7, 10), (12, 4, 2), (7, 7, 8)]
OTHER = Rulebook(
    things=(*(Thing(f"stone-{i}", "place", chr(97 + i)) for i in range(20)), Thing("gate", "door", "+")),
    rules=(),
)


@pytest.mark.parametrize("cell", [4, 8, 13, 32])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_shapes(sizes, cell):
    world = CraftingWorld(*sizes)
    states = world.sample(stream(0, "pictures", *sizes), 3)
    pictures = images(world, states, cell)
    height, width, capacity = sizes
    rows = -(-capacity // width)
    assert pictures.dtype == np.uint8
    assert pictures.shape == (3, (height + rows) * cell, width * cell, 3)
    assert pictures.shape[1:] == image_shape(world, cell)
    assert strip_rows(world) == rows


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_batch_is_its_states_one_by_one(sizes):
    world = CraftingWorld(*sizes)
    states = world.sample(stream(1, "pictures", *sizes), 5)
    for state, picture in zip(states, images(world, states, 8), strict=True):
        assert np.array_equal(world.render(state, 8), picture)
    assert world.render(states[0]).shape == image_shape(world, 32)


def test_no_states_give_no_pictures():
    world = CraftingWorld()
    assert images(world, world.sample(stream(0), 0), 8).shape == (0, *image_shape(world, 8))


def tile(picture, y, x, cell):
    return picture[y * cell : (y + 1) * cell, x * cell : (x + 1) * cell]


@pytest.mark.parametrize("cell", [8, 32])
def test_every_tile_is_where_it_belongs(cell):
    """The picture of a state, put together by hand from the pictures of single things."""
    world = CraftingWorld(3, 4, 6)
    tiles = atlas(STANDARD, cell)
    for state in world.sample(stream(2, "pictures"), 10):
        picture = world.render(state, cell)
        for y in range(3):
            for x in range(4):
                look = int((y, x) == (state[0], state[1]))
                assert np.array_equal(tile(picture, y, x, cell), tiles[look, world.cells(state)[y, x]])
        held = [*state[2:8], 0, 0]  # two rows of four, six of them slots
        for slot, code in enumerate(held):
            assert np.array_equal(tile(picture, 3 + slot // 4, slot % 4, cell), tiles[2, code])


@pytest.mark.parametrize("cell", [4, 8, 32])
def test_the_agent_is_visible_on_everything(cell):
    tiles = atlas(STANDARD, cell)
    for code, name in enumerate(STANDARD.names):
        assert (tiles[0, code] != tiles[1, code]).any(), name
    world = CraftingWorld(1, 2)
    here, there = world.state({}, agent=(0, 0)), world.state({}, agent=(0, 1))
    assert (world.render(here, cell) != world.render(there, cell)).any()


@pytest.mark.parametrize("look", [0, 1, 2], ids=["on the floor", "under the agent", "in the inventory"])
@pytest.mark.parametrize("cell", [8, 32])
def test_every_code_has_a_picture_of_its_own(cell, look):
    tiles = atlas(STANDARD, cell)[look].astype(int)
    assert len(tiles) == 50  # bare floor, 47 types, an open door, a switch that is on
    for i in range(len(tiles)):
        for j in range(i):
            apart = np.abs(tiles[i] - tiles[j]).mean()
            assert apart > 1, (STANDARD.names[i], STANDARD.names[j], apart)


def test_every_code_is_drawn_by_hand():
    assert set(STANDARD.names[1:]) <= set(SPRITES)
    assert "agent" in SPRITES


@pytest.mark.parametrize("cell", [4, 8, 32])
def test_undrawn_things_get_patterns_of_their_own(cell):
    assert not set(OTHER.names) & set(SPRITES)
    tiles = atlas(OTHER, cell)
    assert len({picture.tobytes() for picture in tiles[0]}) == len(OTHER.names) == 23
    world = CraftingWorld(2, 2, rules=OTHER)
    assert world.render(world.state({(0, 0): "stone-3", (1, 1): "gate-open"}), cell).shape == image_shape(world, cell)


def test_a_pattern_depends_on_the_name_alone():
    turned = Rulebook(OTHER.things[::-1], ())
    ours, theirs = atlas(OTHER, 8)[0], atlas(turned, 8)[0]
    for name in OTHER.names:
        assert np.array_equal(ours[OTHER.code(name)], theirs[turned.code(name)])


@pytest.mark.parametrize("cell", [3, 0, -8])
def test_cells_that_are_too_small_are_refused(cell):
    world = CraftingWorld()
    with pytest.raises(RsgError, match=f"a cell is drawn with 4 to 256 pixels, not {cell}"):
        images(world, world.sample(stream(0), 1), cell)
    with pytest.raises(RsgError, match="drawn with 4 to 256 pixels"):
        world.render(world.state({}), cell)
    with pytest.raises(ValueError, match="at least 4 pixels"):
        sprite("tree", cell)


@pytest.mark.parametrize(("cell", "columns"), [(48, 10), (8, 7), (8, 49), (8, 60)])
def test_the_sheet_holds_every_sprite_in_order(cell, columns):
    page = sheet(STANDARD, cell, columns)
    rows = -(-49 // columns)
    assert page.shape == (rows * cell, columns * cell, 3)
    tiles = atlas(STANDARD, cell)[0]
    for i in range(49):
        assert np.array_equal(tile(page, i // columns, i % columns, cell), tiles[1 + i])
    for i in range(49, rows * columns):
        assert (tile(page, i // columns, i % columns, cell) == FLOOR).all()


def test_tiles_are_shared_and_cannot_be_painted_over():
    assert np.shares_memory(atlas(STANDARD, 8), atlas(STANDARD, 8))
    with pytest.raises(ValueError, match="read-only"):
        atlas(STANDARD, 8)[0, 0, 0] = 0
    picture = CraftingWorld().render(CraftingWorld().state({}), 8)
    picture[:] = 0  # a picture is the caller's own
    assert atlas(STANDARD, 8)[0, 0].max() > 0
