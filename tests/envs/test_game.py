from rsg.envs import CraftingEnv
from rsg.envs.game import Game
from rsg.worlds.crafting import CraftingWorld


def forest(task=None):
    world = CraftingWorld(1, 3)
    state = world.state({(0, 1): "axe", (0, 2): "tree"}, agent=(0, 0))
    return Game(CraftingEnv(map=(world, state), task=task))


def test_a_person_does_a_task():
    game = forest("grab-axe then mine-wood")
    assert game.next_subgoals == ["grab-axe"]
    assert all(game.press(key) for key in ("d", " ", "\x1b[C"))
    assert game.next_subgoals == ["mine-wood"]
    assert game.press("e")
    assert game.finished
    assert game.holding == ["grab-axe", "mine-wood"]
    assert game.summary() == {
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
    game = Game(CraftingEnv(map="field"), seed=1)
    first = game.state.copy()
    game.press("n")
    assert (game.state != first).any()
    assert (Game(CraftingEnv(map="field"), seed=1).state == first).all()
    assert "no subgoal yet" in game.screen().plain


def test_a_subgoal_that_holds_from_the_start_cannot_be_done():
    world = CraftingWorld(1, 2)
    game = Game(CraftingEnv(map=(world, world.state({}, inventory=["axe"])), task="grab-axe"))
    assert game.next_subgoals == []
    assert "(restart: r)" in game.screen().plain
