"""The encoder `image`: how pictures are taken and cut, what the networks make of them, and learning from them."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.reference import tiles as reference
from tests.subgoals.test_objective import differences, randomised, relative_error
from tests.training.examples import SOURCE, quick, small_demos, world_of

from reproductions.camera import Camera
from rsg.core.errors import RsgError, RunError
from rsg.core.random import stream
from rsg.domains.crafting import tile_kernels as kernels
from rsg.domains.crafting.images import ALIKE, GAIN, MARGIN, NUMBERS, TILE, ImageClassifiers
from rsg.domains.crafting.pictures import images
from rsg.planning import plan
from rsg.subgoals import learn, load

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled
TERMS = ("grab-axe", "mine-wood")
DEMOS = small_demos()
FEW = [demo for demo in DEMOS if demo.task in ("grab-axe", "mine-wood", "mine-wood then craft-wood-plank")]


def states_of(count=6):
    demo = max(FEW, key=len)
    return world_of(demo), demo.states[:count]


def knowing(states=6, single=False):
    """Classifiers that know the looks of some states of a demonstration."""
    model = ImageClassifiers(single)
    model.meet(*states_of(states))
    return model.grow(TERMS)


def shown(pictures):
    out = np.empty(pictures.shape, dtype=np.int8)
    kernels.contrasts(pictures, out)
    return out


# ---- the camera


def test_a_camera_without_noise_shows_what_is_drawn():
    world, states = states_of()
    taken = ImageClassifiers().pictures(world, states)
    drawn = images(world, states, TILE)
    assert np.array_equal(taken[:, MARGIN:-MARGIN, MARGIN:-MARGIN], drawn)
    assert len(np.unique(taken[:, :MARGIN].reshape(-1, 3), axis=0)) == 1


@pytest.mark.kernels
def test_the_same_state_looks_the_same_and_others_differ():
    world, states = states_of()
    drawn = images(world, states, TILE)
    camera = Camera(0.2, MARGIN, seed=3)
    taken = camera(states, drawn)
    again = camera(states[::-1], drawn[::-1])[::-1]
    assert np.array_equal(taken, again)
    assert not np.array_equal(taken, replace(camera, seed=4)(states, drawn))
    assert len({tuple(picture[0, 0]) for picture in taken}) > 1


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"brightness": 1.0}, "less than 1, not 1.0"),
        ({"brightness": -0.1}, "brightness is at least 0"),
        ({"shift": 5}, "shifted by 0 to 4 pixels, not 5"),
        ({"shift": -1}, "shifted by 0 to 4 pixels"),
    ],
)
def test_cameras_that_there_are_not(settings, problem):
    with pytest.raises(RsgError, match=problem):
        Camera(**settings)


# ---- tiles


@pytest.mark.kernels
def test_contrast_takes_the_light_away():
    world, states = states_of()
    drawn = images(world, states, TILE)
    usual = shown(Camera()(states, drawn)).astype(int)
    factor = shown(Camera()(states, (drawn * 0.8).astype(np.uint8))).astype(int)
    assert np.abs(usual - factor).max() <= 3
    assert (usual == 0).all(axis=-1).mean() > 0.3  # the ground


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(4))
def test_the_grid_is_found_wherever_the_picture_is(seed):
    world, states = SOURCE.start_of("novel", seed, stream(seed, "grid"))
    states = np.repeat(states[None], 2, axis=0)
    states[:, :2] = stream(seed, "places").integers(2, size=(2, 2))
    rng = stream(seed, "shifts")
    for state in states:
        canvas = Camera()(state[None], images(world, state[None], TILE))
        moved = np.roll(shown(canvas)[0], rng.integers(-MARGIN, MARGIN + 1, size=2), axis=(0, 1))
        assert kernels.grid(moved, TILE) == reference.grid(moved, TILE)


@pytest.mark.kernels
def test_distinct_tiles_are_those_of_the_reference():
    world, states = states_of(2)
    pictures = shown(Camera(0.2, MARGIN, 1)(states, images(world, states, TILE)))
    corners, pairs = kernels.tiles(pictures, TILE)
    cut = [pictures[i, y : y + TILE, x : x + TILE] for i, y, x in corners]
    assert len({tile.tobytes() for tile in cut}) == len(cut)
    for i, picture in enumerate(pictures):
        found = [cut[k].tobytes() for k in pairs[pairs[:, 0] == i, 1]]
        assert len(found) == len(set(found))
        assert set(found) == {tile.tobytes() for tile in reference.tiles(picture, TILE)}
    out = np.empty((len(corners), NUMBERS))
    kernels.cut(pictures, corners, TILE, out)
    assert np.allclose(out, [reference.numbers(tile) for tile in cut])
    assert set(out[:, -1]) == {0, 1}  # the inventory has a ground of its own


# ---- looks


def test_looks_are_learned_once_and_none_is_like_another():
    model = knowing()
    known = model.looks.numpy().copy()
    assert 5 < len(known) < 30
    assert min(np.linalg.norm(one - other) for k, one in enumerate(known) for other in known[:k]) > ALIKE
    model.meet(*states_of())
    assert np.array_equal(model.looks, known)


def test_another_light_and_place_leave_looks_as_they_are():
    world, states = states_of(20)
    model = knowing(20)
    clean = model.see(world, states)
    model.camera = Camera(0.2, MARGIN, seed=1)
    assert torch.equal(model.see(world, states), clean)


def test_what_nobody_has_seen_has_no_look():
    world, states = states_of()
    model = ImageClassifiers().grow(TERMS)
    assert model.see(world, states).shape == (len(states), 0)
    model.meet(world, states[:1])
    held = next(i for i in range(len(states)) if len(knowing(i + 1).looks) > len(model.looks))
    old, new = model.see(world, states[[0, held]])
    assert (old > 0).all()
    assert not (new > 0).all()
    unlike = [reference.look(one, model.looks.numpy()) for one in knowing(held + 1).looks.numpy()[len(model.looks) :]]
    assert None in unlike


def test_new_looks_leave_what_was_learned_as_it_is():
    world, states = states_of()
    model = ImageClassifiers()
    model.meet(world, states[:1])
    randomised(model.grow(TERMS), stream(0, "looks"))
    before, count = model.weights.detach().clone(), len(model.looks)
    model.meet(world, states)
    assert len(model.looks) > count
    assert torch.equal(model.weights[..., :count], before)
    assert not model.weights[..., count:].any()
    assert model.shape == {"looks": len(model.looks)}
    assert model.grow([*TERMS, "craft-bed"]).weights.shape == (3, 2, len(model.looks))


# ---- the classifiers


@pytest.mark.kernels
@pytest.mark.parametrize("single", [True, False])
def test_log_odds_are_those_of_the_reference(single):
    world, states = states_of(3)
    model = randomised(knowing(2, single).double(), stream(0, "networks"))
    model.camera = Camera(0.2, MARGIN, 1)
    found = model.evaluate(world, states, [1, 0])
    weights, offset = GAIN * model.weights.detach().numpy(), model.offset.detach().numpy()
    for i, picture in enumerate(shown(model.pictures(world, states))):
        for place, t in enumerate((1, 0)):
            for n in range(model.networks):
                expected = reference.log_odds(picture, TILE, model.looks.numpy(), weights[t, n], offset[t, n])
                assert found[i, place, n] == pytest.approx(expected, abs=1e-5)
    if single:
        assert np.array_equal(found[..., 1], -found[..., 0])


def test_gradients_through_the_pixels():
    world, states = states_of(4)
    rng = stream(0, "pixels")
    model = randomised(knowing().double(), rng)
    weights = rng.normal(size=(4, 2, 2))
    model.backward(world, [(states, (0, 1), weights)])
    found, expected = [], []
    for parameter in model.parameters():
        slopes, values = parameter.grad.numpy().ravel(), parameter.data.numpy().reshape(-1)
        entries = np.flatnonzero(slopes)

        def total(x, values=values):
            values[:] = x
            return float((model.evaluate(world, states, (0, 1)) * weights).sum())

        before = values.copy()
        differs, smooth = differences(total, values, entries)
        values[:] = before
        found += slopes[entries][smooth].tolist()
        expected += differs[smooth].tolist()
    assert len(found) >= 15
    assert relative_error(np.array(found), np.array(expected)) <= 1e-6


def test_new_terms_leave_the_old_ones_as_they_are():
    world, states = states_of()
    model = randomised(knowing(), stream(0, "terms"))
    before = model.evaluate(world, states, [0, 1])
    model.grow(["craft-bed"], 2)
    assert np.array_equal(model.evaluate(world, states, [0, 1]), before)
    assert (model.evaluate(world, states, [2])[..., 0] < 0).all()  # it doubts


def test_pictures_of_a_world_that_only_renders():
    world, states = states_of(2)

    class Plain:
        def render(self, state):
            return world.render(state, TILE)

    model = randomised(knowing(), stream(0, "render"))
    assert np.array_equal(model.evaluate(Plain(), states, [0]), model.evaluate(world, states, [0]))


# ---- learning


def train(folder, **changes):
    return learn(FEW, world_of, folder, quick(encoder="image", depth=1, **changes), tensorboard=False)


def test_a_run_goes_on_bit_for_bit_and_can_be_loaded(tmp_path):
    whole = train(tmp_path / "whole", steps=6, save_every=2)

    class Stop(Exception):
        pass

    def stop(progress, figures):
        if progress.step == 4:
            raise Stop

    settings = quick(encoder="image", depth=1, steps=6, save_every=2)
    with pytest.raises(Stop):
        learn(FEW, world_of, tmp_path / "parts", settings, tracker=stop, tensorboard=False)
    parts = train(tmp_path / "parts", steps=6, save_every=2)
    for one, other in zip(whole.classifiers.parameters(), parts.classifiers.parameters(), strict=True):
        assert torch.equal(one, other)
    world, states = states_of()
    loaded = load(tmp_path / "whole").classifiers
    assert isinstance(loaded, ImageClassifiers)
    assert np.array_equal(loaded.evaluate(world, states, [0]), whole.classifiers.evaluate(world, states, [0]))


def test_a_search_looks_only_a_little_ahead(monkeypatch):
    world, states = states_of()
    asked = []
    model = knowing(single=True)
    evaluate = ImageClassifiers.evaluate
    monkeypatch.setattr(
        ImageClassifiers, "evaluate", lambda self, w, s, n: asked.append(len(s)) or evaluate(self, w, s, n)
    )
    found = plan(world, states[0], "grab-axe", model.goals)
    assert not found.found or found.states.shape[1] == states.shape[1]
    assert max(asked) <= 4 * model.batch * len(world.actions)


def test_a_run_that_begins_with_another_one_gets_to_know_new_looks(tmp_path):
    begun = learn(FEW[:1], world_of, None, quick(encoder="image", depth=1, steps=2))
    first = begun.classifiers
    known = len(first.looks)
    learn(
        FEW,
        world_of,
        tmp_path / "more",
        quick(encoder="image", depth=1, steps=2),
        start=begun,
        tensorboard=False,
    )
    more = load(tmp_path / "more").classifiers
    assert len(more.looks) > known == len(first.looks)
    assert torch.equal(more.looks[:known], first.looks)


def test_a_run_from_before_there_were_looks_must_be_trained_again(tmp_path):
    train(tmp_path, steps=2)
    about = json.loads((tmp_path / "run.json").read_text())
    about["shape"] = {}
    (tmp_path / "run.json").write_text(json.dumps(about))
    with pytest.raises(RunError, match="train again into another folder"):
        load(tmp_path)
