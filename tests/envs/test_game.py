import pytest

from rsg.core.errors import RsgError
from rsg.domain import Domain, find
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.domain import Crafting
from rsg.envs.game import Game


class Given(Crafting):
    """Crafting World, always in the same state."""

    def __init__(self, world, state):
        super().__init__()
        self._given = world, state

    def start(self, terms, rng, goal=False):
        return self._given


def forest(task=None):
    world = CraftingWorld(1, 3)
    return Game(Given(world, world.state({(0, 1): "axe", (0, 2): "tree"}, agent=(0, 0))), task)


def test_a_person_does_a_task():
    game = forest("grab-axe then mine-wood")
    assert game.next_subgoals == ["grab-axe"]
    assert all(game.press(key) for key in ("d", " ", "\x1b[C"))
    assert game.next_subgoals == ["mine-wood"]
    assert game.press("e")
    assert game.finished
    assert game.holding == ["grab-axe", "mine-wood"]
    assert game.summary() | {"inventory": []} == {
        **{"height": 1, "width": 3, "capacity": 6, "agent": [0, 2], "inventory": []},
        "task": "grab-axe then mine-wood",
        "done": True,
        "steps": 4,
        "actions": ["right", "toggle", "right", "toggle"],
        "subgoals": ["grab-axe", "mine-wood"],
        "next": [],
        "map": "inventory: wood, axe\nagent: 0 2\nmap:\n..T\n",
    }
    assert "done   in 4 steps" in game.screen().plain


def test_undo_restart_and_leaving():
    game = forest("grab-axe then mine-wood")
    for key in "d d ":
        game.press(key)
    assert game.finished
    assert game.press("U")
    assert (len(game.actions), game.finished, game.next_subgoals) == (3, False, ["mine-wood"])
    game.press("r")
    assert (game.actions, game.holding) == ([], [])
    game.press("u")
    game.press("?")
    assert game.actions == []
    assert not game.press("q")


def test_a_new_map_each_time():
    game = Game(find("crafting").at("field"), seed=1)
    first = game.state.copy()
    game.press("n")
    assert (game.state != first).any()
    assert (Game(find("crafting").at("field"), seed=1).state == first).all()
    assert "no subgoal yet" in game.screen().plain


def test_a_subgoal_that_holds_from_the_start_cannot_be_done():
    world = CraftingWorld(1, 2)
    game = Game(Given(world, world.state({}, inventory=["axe"])), "grab-axe")
    assert game.next_subgoals == []
    assert "(restart: r)" in game.screen().plain


class Lamp:
    """A world that nobody knows more of: one lamp, and two actions that have no arrows."""

    actions = ("push", "wait")

    def step(self, states, actions):
        return states ^ (actions[:, None] == 0)

    def encode(self, states):
        return states

    def sample(self, rng, count):
        return rng.integers(1, size=(count, 1))


class Bare(Domain):
    name = "lamp"

    def world(self, setting=""):
        return Lamp()


def test_a_domain_with_only_a_world_is_played_with_digits():
    game = Game(Bare())
    assert game.press("1")
    assert (game.actions, game.state.tolist()) == (["push"], [1])
    assert "1 push   2 wait" in game.screen().plain
    assert game.summary()["state"] == [1]
    with pytest.raises(RsgError, match="lamp has no truth"):
        Game(Bare(), "light-up")
