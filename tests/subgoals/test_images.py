"""The encoder `image`: how pictures are taken and cut, what the networks make of them, and learning from them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.reference import tiles as reference
from tests.subgoals.test_objective import differences, randomised, relative_error
from tests.training.examples import SOURCE, quick, small_demos, world_of

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.planning import plan
from rsg.subgoals import RationalSubgoals, learn, load_subgoals
from rsg.subgoals import tile_kernels as kernels
from rsg.subgoals.images import FAINT, MARGIN, SIZE, TILE, Camera, ImageClassifiers
from rsg.worlds.crafting.pictures import images

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")  # the hash, uncompiled
TERMS = ("grab-axe", "mine-wood")
DEMOS = small_demos()
FEW = [demo for demo in DEMOS if demo.task in ("grab-axe", "mine-wood", "mine-wood then craft-wood-plank")]


def states_of(count=6):
    demo = max(FEW, key=len)
    return world_of(demo), demo.states[:count]


def shown(pictures):
    out = np.empty(pictures.shape, dtype=np.int8)
    kernels.contrasts(pictures, out)
    return out


# ---- the camera


def test_a_camera_without_noise_shows_what_is_drawn():
    world, states = states_of()
    taken = ImageClassifiers().grow(TERMS).pictures(world, states)
    drawn = images(world, states, TILE)
    assert np.array_equal(taken[:, MARGIN:-MARGIN, MARGIN:-MARGIN], drawn)
    assert len(np.unique(taken[:, :MARGIN].reshape(-1, 3), axis=0)) == 1


@pytest.mark.kernels
def test_the_same_state_looks_the_same_and_others_differ():
    world, states = states_of()
    drawn = images(world, states, TILE)
    camera = Camera(0.2, MARGIN, seed=3)
    taken = camera.take(states, drawn)
    again = camera.take(states[::-1], drawn[::-1])[::-1]
    assert np.array_equal(taken, again)
    assert not np.array_equal(taken, replace(camera, seed=4).take(states, drawn))
    lights = {tuple(picture[0, 0]) for picture in taken}
    assert len(lights) > 1
    assert len({tuple(picture[0, 0]) for picture in replace(camera, still=True).take(states, drawn)}) == 1


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
    usual = shown(Camera().take(states, drawn)).astype(int)
    factor = shown(Camera().take(states, (drawn * 0.8).astype(np.uint8))).astype(int)
    assert np.abs(usual - factor).max() <= 3
    assert (usual == 0).all(axis=-1).mean() > 0.3  # the ground


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(4))
def test_the_grid_is_found_wherever_the_picture_is(seed):
    world, states = SOURCE.start("novel", seed, stream(seed, "grid"))
    states = np.repeat(states[None], 2, axis=0)
    states[:, :2] = stream(seed, "places").integers(2, size=(2, 2))
    rng = stream(seed, "shifts")
    for state in states:
        canvas = Camera().take(state[None], images(world, state[None], TILE))
        moved = np.roll(shown(canvas)[0], rng.integers(-MARGIN, MARGIN + 1, size=2), axis=(0, 1))
        assert kernels.grid(moved, TILE) == reference.grid(moved, TILE)


@pytest.mark.kernels
def test_distinct_tiles_are_those_of_the_reference():
    world, states = states_of(2)
    pictures = shown(Camera(0.2, MARGIN, 1).take(states, images(world, states, TILE)))
    corners, starts, members = kernels.tiles(pictures, TILE)
    cut = [pictures[i, y : y + TILE, x : x + TILE].tobytes() for i, y, x in corners]
    assert len(set(cut)) == len(cut)
    for i, picture in enumerate(pictures):
        for kind, expected in enumerate(reference.groups(picture, TILE)):
            found = {cut[k] for k in members[starts[2 * i + kind] : starts[2 * i + kind + 1]]}
            assert found == {tile.tobytes() for tile in expected}


# ---- the networks


@pytest.mark.kernels
@pytest.mark.parametrize("single", [True, False])
def test_log_odds_are_those_of_the_reference(single):
    world, states = states_of(3)
    model = randomised(ImageClassifiers(5, single).grow(TERMS).double(), stream(0, "networks"))
    model.camera = Camera(0.2, MARGIN, 1)
    found = model.evaluate(world, states, [1, 0])
    pictures = shown(model.pictures(world, states))
    for i, picture in enumerate(pictures):
        for place, t in enumerate((1, 0)):
            for n in range(model.networks):
                parts = (getattr(model, name).detach().numpy()[t, n] for name in ("filters", "bias", "head", "offset"))
                expected = reference.log_odds(picture, TILE, SIZE, *parts, FAINT)
                assert found[i, place, n] == pytest.approx(expected, abs=1e-5)
    if single:
        assert np.array_equal(found[..., 1], -found[..., 0])


def test_gradients_through_the_pixels():
    world, states = states_of(4)
    rng = stream(0, "pixels")
    model = randomised(ImageClassifiers(4).grow(TERMS).double(), rng)
    weights = rng.normal(size=(4, 2, 2))
    model.backward(world, [(states, (0, 1), weights)])
    found, expected = [], []
    for parameter in model.parameters():
        slopes, values = parameter.grad.numpy().ravel(), parameter.data.numpy().reshape(-1)
        entries = np.unique(rng.choice(np.flatnonzero(slopes), 6))

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
    model, larger = ImageClassifiers().grow(TERMS, 2), ImageClassifiers().grow(TERMS[:1], 2)
    larger.grow(TERMS, 2)
    assert larger.terms == TERMS
    assert np.array_equal(model.evaluate(world, states, [0, 1]), larger.evaluate(world, states, [0, 1]))
    assert (model.evaluate(world, states, [0, 1])[..., 0] < 0).all()  # it doubts


def test_pictures_of_a_world_that_only_renders():
    world, states = states_of(2)

    class Plain:
        def render(self, state):
            return world.render(state, TILE)

    model = ImageClassifiers().grow(TERMS)
    assert np.array_equal(model.evaluate(Plain(), states, [0]), model.evaluate(world, states, [0]))


# ---- learning


def train(folder, **changes):
    return learn(FEW, world_of, folder, quick(encoder="image", hidden=8, depth=1, **changes), tensorboard=False)


def test_a_step_varies_the_light_and_what_follows_does_not():
    world, states = states_of()
    model = ImageClassifiers().grow(TERMS)
    clean = model.pictures(world, states)
    looks = []
    for step in range(2):
        with model.varied(stream(step, "step")):
            looks.append(model.pictures(world, states))
            assert np.array_equal(looks[-1], model.pictures(world, states))
    assert not np.array_equal(*looks)
    assert np.array_equal(model.pictures(world, states), clean)


def test_training_sees_other_lights_and_the_held_out_score_does_not(monkeypatch):
    cameras = []
    see = ImageClassifiers.see
    monkeypatch.setattr(ImageClassifiers, "see", lambda self, *args: cameras.append(self.camera) or see(self, *args))
    settings = quick(encoder="image", hidden=4, depth=1, negatives=1)
    model = ImageClassifiers(4, True).grow((*TERMS, "craft-wood-plank"))
    method = RationalSubgoals(model, settings, world_of, sorted({demo.task for demo in FEW}))
    method.held_out_score(FEW[:1], stream(0, "look"))
    assert set(cameras) == {Camera()}
    cameras.clear()
    method.gradients(FEW[:1], stream(0, "step"), 0)
    assert len(set(cameras)) == 1
    assert cameras[0].brightness > 0


def test_a_run_goes_on_bit_for_bit_and_can_be_loaded(tmp_path):
    whole = train(tmp_path / "whole", steps=6, save_every=2)

    class Stop(Exception):
        pass

    def stop(progress, figures):
        if progress.step == 4:
            raise Stop

    settings = quick(encoder="image", hidden=8, depth=1, steps=6, save_every=2)
    with pytest.raises(Stop):
        learn(FEW, world_of, tmp_path / "parts", settings, watch=stop, tensorboard=False)
    parts = train(tmp_path / "parts", steps=6, save_every=2)
    for one, other in zip(whole.subgoals.parameters(), parts.subgoals.parameters(), strict=True):
        assert torch.equal(one, other)
    world, states = states_of()
    loaded = load_subgoals(tmp_path / "whole")
    assert isinstance(loaded, ImageClassifiers)
    assert np.array_equal(loaded.evaluate(world, states, [0]), whole.subgoals.evaluate(world, states, [0]))


def test_a_search_looks_only_a_little_ahead(monkeypatch):
    world, states = states_of()
    asked = []
    model = ImageClassifiers(4, True).grow(TERMS)
    evaluate = ImageClassifiers.evaluate
    monkeypatch.setattr(
        ImageClassifiers, "evaluate", lambda self, w, s, n: asked.append(len(s)) or evaluate(self, w, s, n)
    )
    found = plan(world, states[0], "grab-axe", model.goals)
    assert not found.found or found.states.shape[1] == states.shape[1]
    assert max(asked) <= 4 * model.batch * len(world.actions)
