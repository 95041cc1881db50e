"""Pictures of learning in Playroom, mostly with classifiers that know the truth."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domain import find
from rsg.domains.playroom import PlayroomWorld, load_layout, truth
from rsg.domains.playroom import learned as pictures
from rsg.domains.playroom.learned import floor_plan, heat_picture, heats
from rsg.evaluation.timeline import draw_on_floor, parts
from rsg.language import parse
from rsg.planning import Part
from rsg.subgoals import Classifiers, Segmentation

WORLD = PlayroomWorld()
STATE = WORLD.start(stream(3, "world"))
XS = np.linspace(0.25, 19.75, 40)


class Knowing(Classifiers):
    """Log-odds of 5 where a subgoal really holds, and of -5 elsewhere."""

    def __init__(self, terms=WORLD.layout.terms, margin=0.0):
        super().__init__(single=True)
        self.terms = tuple(terms)
        self.margin = margin

    def margins_at(self, world, numbers, state):
        return np.full(len(numbers), self.margin)

    def evaluate(self, world, states, numbers):
        odds = np.where(truth(world, states, [self.terms[i] for i in numbers]), 5.0, -5.0)[..., None]
        return np.concatenate([odds, -odds], axis=-1)


class Fading(Knowing):
    """Log-odds that fall with the distance to the bell: even ones 2.5 away from it, farther than it can be touched."""

    def evaluate(self, world, states, numbers):
        odds = 2.5 - np.hypot(*(states[:, :2] - states[:, 5:7]).T)[:, None, None]
        return np.concatenate([odds, -odds], axis=-1)


@pytest.fixture
def coarse(monkeypatch):
    monkeypatch.setattr(pictures, "FINE", 20)
    monkeypatch.setattr(pictures, "CLOSE", 12)


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def near(picture, color, by=40):
    """How many pixels are about of that colour."""
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(picture - wanted).max(axis=2) < by).sum())


def test_heat_is_what_the_classifier_says_there():
    terms = WORLD.layout.terms
    for term, heat in zip(terms, heats(Knowing(margin=2.0), WORLD, STATE, terms, (XS, XS, [0.7])), strict=True):
        assert heat.response.shape == heat.holds.shape == heat.free.shape == (40, 40)
        for row, column in [(0, 0), (5, 30), (20, 7), (33, 33), *np.argwhere(heat.holds)]:
            state = STATE.copy()
            state[:3] = XS[column], XS[row], 0.7
            free = WORLD.free(state[None])[0]
            holds = free and truth(WORLD, state[None], [term])[0, 0]
            assert (heat.free[row, column], heat.holds[row, column]) == (free, holds)
            assert heat.response[row, column] == pytest.approx(1 / (1 + np.exp(-5 if holds else 5)) if free else 0)
            assert heat.sure[row, column] == ((5 if holds else -5) - 2 if free else -np.inf)


def test_the_best_orientation_counts():
    angles = [0.0, 0.9, 2.0]
    both = heats(Knowing(), WORLD, STATE, ["ring-bell"], (XS, XS, angles))[0]
    each = [heats(Knowing(), WORLD, STATE, ["ring-bell"], (XS, XS, [angle]))[0] for angle in angles]
    assert (both.response == np.max([one.response for one in each], axis=0)).all()
    assert (both.free == np.any([one.free for one in each], axis=0)).all()
    assert both.holds.sum() > each[0].holds.sum() > 0


def test_the_picture_has_a_row_for_each_term(coarse):
    every = pixels(BytesIO(heat_picture(Knowing(), WORLD, STATE)))
    two = pixels(BytesIO(heat_picture(Knowing(["ring-bell", "touch-monkey"]), WORLD, STATE)))
    assert every.shape[1] == two.shape[1]
    rows = (every.shape[0] - two.shape[0]) / 4
    assert rows == pytest.approx(110 * 2.2, abs=2)
    for color in (pictures.TRUE, pictures.HEAT[-1], pictures.WALL, pictures.BLOCKED):
        assert near(two, color) > 100


def test_a_margin_moves_the_line_of_planners(coarse):
    lax, strict = (  # the second is more than any log-odds: planners take nothing for true
        pixels(BytesIO(heat_picture(Fading(["ring-bell"], margin), WORLD, STATE))) for margin in (0.0, 6.0)
    )
    assert near(lax, pictures.PLANNED, 25) > near(strict, pictures.PLANNED, 25) + 50
    assert (np.abs(lax - strict).max(axis=2) > 0).mean() < 0.05


def test_subgoals_of_another_room():
    with pytest.raises(RsgError, match="of another room; they know mine-wood"):
        heat_picture(Knowing(["mine-wood"]), WORLD, STATE)
    with pytest.raises(RsgError, match="not states of a Playroom with 12 effectors"):
        heat_picture(Knowing(), PlayroomWorld(load_layout("twelve")), STATE)


def trail(steps=8):
    """Straight to the right."""
    world = PlayroomWorld(load_layout("paper"))
    states = np.repeat(STATE[None], steps + 1, axis=0)
    states[:, :3] = np.stack([2 + 0.8 * np.arange(steps + 1), np.full(steps + 1, 13.0), np.zeros(steps + 1)], axis=1)
    return world, states, np.diff(states[:, :3], axis=0)


def hex_of(number):
    return "#{:02x}{:02x}{:02x}".format(*pictures.rgb(number))


def test_a_floor_plan_has_the_colours_of_the_parts():
    world, states, _ = trail()
    served = [Part("ring-bell", 0, 4), Part("touch-monkey", 4, 8)]
    both = floor_plan(world, states, served, 2, 600).astype(int)
    one = floor_plan(world, states, [Part("ring-bell", 0, 8)], 1, 600).astype(int)
    assert near(both, hex_of(1), 8) > near(one, hex_of(1), 8) + 200  # a disc with a number, and a line
    open_end = floor_plan(world, states, served, 1, 600).astype(int)
    assert near(both, hex_of(1), 8) > near(open_end, hex_of(1), 8) + 100
    middle = (np.array([2 + 0.8 * 6 + 0.5, 20.5 - 13]) * 600 / 21).astype(int)  # where it is after six steps
    assert (np.abs(both - one).max(axis=2) > 20)[middle[1] - 20 : middle[1] + 20, middle[0] - 20 : middle[0] + 20].any()


@pytest.mark.parametrize("now", [None, "touch-monkey"])
def test_a_segmentation_on_a_slide(tmp_path, now):
    world, states, actions = trail()
    ends = (("ring-bell", 4), ("touch-monkey", 8))[: 1 if now else 2]
    found = Segmentation(
        parse("ring-bell then touch-monkey"), -1.0, ("ring-bell",) * 4 + ("touch-monkey",) * 4, ends, now
    )
    floor = find("playroom").trail(world, states, parts(found), len(ends))
    draw_on_floor(tmp_path / "steps.png", world, actions, found, floor, "a note")
    drawn = pixels(tmp_path / "steps.png")
    assert drawn.shape == (1080, 1920, 3)
    assert near(drawn, hex_of(0), 8) > 5000
    assert (near(drawn, hex_of(1), 8) > 5000) == (now is None)  # one that goes on is paler
    with pytest.raises(RsgError, match=r"must end in \.png"):
        draw_on_floor(tmp_path / "steps.gif", world, actions, found, floor)


def test_many_steps_in_a_wide_room(tmp_path):
    world = PlayroomWorld(load_layout("twelve"))
    start = world.start(stream(0, "wide"))
    states = np.repeat(start[None], 91, axis=0)
    terms = tuple(world.layout.terms[i // 10] for i in range(90))
    ends = tuple((world.layout.terms[i], 10 * i + 10) for i in range(9))
    found = Segmentation(parse(" then ".join(world.layout.terms[:9])), -1.0, terms, ends)
    floor = floor_plan(world, states, parts(found), 9)
    draw_on_floor(tmp_path / "steps.png", world, np.zeros((90, 3)), found, floor, "a note " * 50)
    assert pixels(tmp_path / "steps.png").shape == (1080, 1920, 3)
