"""Networks for whatever a world shows: learned in tiny worlds, looking at few things, compiled as they are in torch."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rsg
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.search.goals import every
from rsg.subgoals.building import build, network_for, shape_of
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.settings import RsgSettings

SIZE, GOALS = 6, {"warm-up": (1, 4), "cool-down": (4, 0)}


class Yard:
    """A walker among six by six places, with a stove and a fan. What it shows is left to others."""

    actions = ("up", "down", "left", "right")
    moves = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])

    def step(self, states, actions):
        return np.clip(states + self.moves[actions], 0, SIZE - 1)

    def sample(self, rng, count):
        return rng.integers(SIZE, size=(count, 2))


class Numbers(Yard):
    """Where the walker is, in odd units, and a number that says nothing."""

    def encode(self, states):
        noise = np.sin(37.3 * states[:, 0] + 91.7 * states[:, 1])
        return np.stack([1000 + 250.5 * states[:, 0], 0.001 * states[:, 1] + 0.0005, noise], axis=1)


class Grid(Yard):
    """Symbols: what the walker stands on is hidden."""

    spaces = {"yard": "symbols"}  # noqa: RUF012
    columns = {"yard": {"thing": ["floor", "stove", "fan", "walker"]}}  # noqa: RUF012

    def encode(self, states):
        grid = np.zeros((len(states), SIZE, SIZE), dtype=np.int64)
        for number, place in enumerate(GOALS.values(), 1):
            grid[:, *place] = number
        grid[np.arange(len(states)), states[:, 0], states[:, 1]] = 3
        return {"yard": grid}


class Things(Yard):
    """Stove and fan, each with its place as the walker sees it, in no order; none is far off."""

    columns = {"things": ("kind", "below", "beside")}  # noqa: RUF012

    def encode(self, states):
        rows = [[np.full(len(states), n + 1.0), *(np.array(at) - states).T] for n, at in enumerate(GOALS.values())]
        return {"things": np.stack([np.stack(row, axis=1) for row in rows], axis=1) * [1, 0.3, 0.3]}


class Pictures(Yard):
    """A photograph, five pixels to a place."""

    COLOURS = np.array([[30, 60, 20], [200, 40, 30], [60, 90, 220], [240, 230, 90]], dtype=np.uint8)

    def encode(self, states):
        colours = self.COLOURS[Grid().encode(states)["yard"]]
        return colours.repeat(5, axis=1).repeat(5, axis=2)


def shown(world, count=16):
    """Shortest ways to one place, or to one after the other."""
    demos, rng = [], stream(0, "yard")
    for number in range(count):
        task = ("warm-up", "cool-down", "warm-up then cool-down")[number % 3]
        rows, actions = [world.sample(rng, 1)[0]], []
        for term in task.split(" then "):
            while (away := np.array(GOALS[term]) - rows[-1]).any() or not actions:
                axis = int(abs(away[1]) > abs(away[0]))
                actions.append(2 * axis + int(away[axis] > 0))
                rows.append(world.step(rows[-1][None], actions[-1:])[0])
        demos.append(rsg.Demonstration(np.stack(rows), np.array(actions), task))
    return demos


def everywhere():
    return np.stack(np.meshgrid(range(SIZE), range(SIZE), indexing="ij"), axis=-1).reshape(-1, 2)


QUICK = {"steps": 200, "hidden": 32, "curriculum": 40, "batch": 8, "negatives": 2, "patience": 20}
SAID = {
    Numbers: "'seen' learns what each term means, and sees seen (3 numbers)",
    Things: "'seen' learns what each term means, and sees things (2 things)",
    Pictures: "'pictures' learns what each term means, and sees seen (picture, 30 × 30)",
}


@pytest.mark.parametrize("world", [Numbers(), Grid(), Things(), Pictures()], ids=lambda one: type(one).__name__)
def test_each_kind_is_learned_and_saved(world, tmp_path, capsys):
    encoder = {"encoder": "pictures" if isinstance(world, Pictures) else "seen"}
    learned = rsg.learn(shown(world, 30), world, tmp_path / "run", settings={**QUICK, **encoder}, tensorboard=False)
    states, loaded = everywhere(), rsg.load(tmp_path / "run", world)
    for number, (term, place) in enumerate(GOALS.items()):
        here = (states == place).all(axis=1)
        odds = learned.classifiers.evaluate(world, states, learned.classifiers.numbers([term]))[:, 0, 0]
        assert odds[here].max() > np.quantile(odds[~here], 0.9), (number, term)
        again = loaded.classifiers.evaluate(world, states, loaded.classifiers.numbers([term]))[:, 0, 0]
        assert np.array_equal(odds, again)
    assert learned.classifiers.things_seen() > 0
    assert learned.classifiers.looks_at("warm-up", world)


@pytest.mark.parametrize("kind", SAID, ids=lambda one: one.__name__)
def test_the_network_is_chosen_by_what_is_shown_and_said(kind, capsys):
    class Hidden(kind):
        spaces = {"things": "things"}  # noqa: RUF012

        def encode(self, states):
            seen = super().encode(states)
            return {"things": seen["things"] + [0, 0.01, 0.01]} if kind is Things else seen

        fact_names, facts = (), lambda self, states: np.zeros((len(states), 0), dtype=bool)

    rsg.learn(shown(Hidden(), 3), Hidden(), settings={"steps": 1, "hidden": 4})
    assert SAID[kind] in capsys.readouterr().err


class Mixed(Yard):
    """All but pictures, as it lies in its states or copied; and in what shapes numbers may come."""

    def __init__(self, copied):
        self.copied = copied

    spaces = {"speeds": "numbers"}  # noqa: RUF012

    def encode(self, states):
        parts = {
            "dial": states[:, 0],
            "speeds": states[:, 1:5].reshape(-1, 2, 2),
            "board": states[:, 5:17].reshape(-1, 3, 2, 2),
            "bag": states[:, 17:26].reshape(-1, 3, 3),
        }
        return {
            name: part.astype(np.float32) if self.copied and name == "dial" else part for name, part in parts.items()
        }

    def sample(self, rng, count):
        return rng.integers(0, 4, size=(count, 26))


def networks(world, seed, single, hidden=5):
    """Classifiers of two terms with random weights, that have met some states."""
    how, rng = RsgSettings(encoder="seen", hidden=hidden, single=single), stream(seed, "seeing")
    states = world.sample(rng, 30)
    made = build(how, [], shape_of(how, world.encode(states), world))
    made.meet(world, states)
    made.grow(["one", "other"], seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.as_tensor(rng.normal(0, 0.5, tuple(parameter.shape))))
    return made, world.sample(rng, 40) + (rng.random((40, 26)) < 0.05) * 3  # some symbols that were never met


@pytest.mark.kernels
@pytest.mark.parametrize("single", [True, False], ids=["single", "separate"])
@given(seed=st.integers(0, 2**20))
@settings(deadline=None, max_examples=15)
def test_the_compiled_form_says_what_torch_says(single, seed):
    for world in (Mixed(False), Mixed(True)):
        made, states = networks(world, seed, single)
        expected = Classifiers.evaluate(made, world, states, [1, 0])
        assert np.allclose(made.evaluate(world, states, [1, 0]), expected, atol=1e-4)
        form = made.compiled(world, [1, 0], True, states[0])
        assert (form is None) == world.copied
        if form:
            log_g, log_i = every(form, states, 2)
            assert np.allclose(np.exp(log_g), 1 / (1 + np.exp(-expected[..., 0])), atol=1e-4)
            assert np.allclose(np.exp(log_i), 1 / (1 + np.exp(-expected[..., 1])), atol=1e-4)


def test_numbers_are_normalised_by_what_was_met():
    made, _ = networks(Mixed(False), 0, True)
    states = Mixed(False).sample(stream(1, "met"), 500)
    seen = made.see(Mixed(False), states)[""].numpy()
    assert np.allclose(seen.mean(axis=0), 0, atol=0.5)
    assert np.allclose(seen.std(axis=0), 1, atol=0.4)
    before = made.see(Mixed(False), states)[""]
    made.meet(Mixed(False), states * 50)  # terms know what they looked at
    assert torch.equal(made.see(Mixed(False), states)[""], before)


class Weather(Numbers):
    """A third number has nothing to do with anything; it stays as it is."""

    def step(self, states, actions):
        return np.concatenate([super().step(states[:, :2], actions), states[:, 2:]], axis=1)

    def encode(self, states):
        return np.concatenate([super().encode(states)[:, :2], states[:, 2:] / 7], axis=1)

    def sample(self, rng, count):
        return rng.integers([SIZE, SIZE, 500], size=(count, 3))


def test_what_is_not_needed_is_looked_at_less():
    demos, rng = [], stream(1, "weather")
    for demo in shown(Numbers(), 30):
        weather = np.full((len(demo.states), 1), rng.integers(500))
        demos.append(rsg.Demonstration(np.concatenate([demo.states, weather], axis=1), demo.actions, demo.task))
    learned = rsg.learn(demos, Weather(), settings={**QUICK, "encoder": "seen"})
    looks = dict(learned.classifiers.looks_at("warm-up", Weather()))
    assert looks.get("seen 2", 0) < min(looks["seen 0"], looks["seen 1"])


def test_what_does_not_fit_is_told():
    made, states = networks(Mixed(False), 0, True)

    class Less(Mixed):
        def encode(self, states):
            return {"dial": super().encode(states)["dial"], "speeds": np.zeros((len(states), 7))}

    with pytest.raises(RsgError, match="where 'speeds' is numbers"):
        made.evaluate(Less(False), states, [0])


def test_a_world_that_names_a_network_has_it():
    class Other(Numbers):
        network = "mine"

    assert network_for(Other(), everywhere()) == "mine"
    assert network_for(Pictures(), everywhere()) == "pictures"
    assert network_for(Numbers(), everywhere()) == "seen"
