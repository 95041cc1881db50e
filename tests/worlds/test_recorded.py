"""A world made of recordings: what is guessed of it, what is learned in it, and what is refused."""

import pickle

import numpy as np
import pytest

import rsg
from rsg.core.errors import RsgError
from rsg.search import chain
from rsg.training.origin import OfRecordings
from rsg.worlds import Recorded, recorded
from rsg.worlds.corridor import Corridor
from rsg.worlds.recorded import USUAL, grid_in, pairs_in, places_in, still_in


def seen():
    """What is seen in the corridor, without what was done."""
    return [rsg.Demonstration(states, None, task) for states, _, task in Corridor().walks()]


def test_terms_mean_the_same_without_a_model_and_without_actions():
    shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    known = rsg.learn(shown, Corridor())
    alone = rsg.learn(seen(), recorded(seen()))
    assert [one.means for one in alone.tell()] == [one.means for one in known.tell()]


def test_recordings_that_were_never_met_are_segmented_and_recognised():
    model, every = Corridor(), seen()
    subgoals = rsg.learn(every, recorded(every))
    states = [np.array([3, 0, 0])]
    for action in [0, 0, 0, 2, *[1] * 8, 2]:
        states.append(model.step(states[-1][None], np.array([action]))[0])
    new = rsg.Demonstration(np.array(states), None, "light-lamp then read-book")
    assert subgoals.segment(new).ends == (("light-lamp", 4), ("read-book", 13))
    tasks = ["read-book", new.task, "light-lamp"]
    assert str(subgoals.recognise(new, tasks)[0].task) == new.task


def test_a_run_knows_its_world_again(tmp_path):
    every = seen()
    rsg.learn(every, recorded(every), tmp_path / "run")
    again = rsg.load(tmp_path / "run")
    assert again.segment(every[2]).ends == (("light-lamp", 2),)


def test_nothing_is_planned():
    every = seen()
    world = recorded(every)
    subgoals = rsg.learn(every, world)
    with pytest.raises(RsgError, match="made of recordings"):
        subgoals.plan(world, every[0].states[0], "light-lamp then read-book")


def test_a_chain_goes_on_or_loses_a_step():
    states = np.array([[0, 0], [0, 1], [0, 1], [5, 5]])
    graph = chain(states, 0.5)
    edges = {(one, other) for one, other in zip(graph.edge_source.tolist(), graph.edge_end.tolist(), strict=True)}
    assert graph.states[graph.path].tolist() == states.tolist()
    assert edges == {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)}
    assert set(graph.edge_cost.tolist()) == {0.5}


def test_a_recording_costs_no_more_if_it_was_sampled_more_often():
    rng = np.random.default_rng(0)
    often = [rsg.Demonstration(rng.normal(size=(10 * USUAL + 1, 2)), None, "a")]
    seldom = [rsg.Demonstration(rng.normal(size=(USUAL + 1, 2)), None, "a")]
    assert recorded(often).cost_of_step == pytest.approx(recorded(seldom).cost_of_step / 10)


def test_a_square_grid_of_cells_is_found_and_nothing_else():
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(1, 4, (300, 25)), rng.integers(7, 9, (300, 25))], axis=2).reshape(300, -1)
    head = rng.integers(20, 30, (300, 3))
    assert grid_in(np.concatenate([head, cells], axis=1)) == {"row": (3,), "grid": (5, 5, 2)}
    assert grid_in(cells) == {"grid": (5, 5, 2)}
    assert grid_in(rng.integers(0, 5, (300, 53))) is None


def test_the_robots_own_numbers_are_those_that_move_and_noise_does_not_hide_them():
    rng = np.random.default_rng(0)

    def recording():
        robot, thing, far = rng.uniform(0, 10, (20, 1)), rng.uniform(0, 10), rng.uniform(500, 900)
        return np.concatenate([robot, np.tile([thing, far], (20, 1))], axis=1)

    rows = [recording() for _ in range(50)]
    assert pairs_in(rows) == [[1, 0]]
    spread = np.concatenate(rows).std(axis=0)
    assert pairs_in([one + 0.05 * spread * rng.normal(size=one.shape) for one in rows]) == [[1, 0]]


def test_parts_that_are_named_are_shown_as_they_are():
    world = recorded([rsg.Demonstration(np.zeros((3, 20)), None, "a")], {"hand": 2, "map": (3, 3, 2)})
    shown = world.encode(np.arange(40.0).reshape(2, 20))
    assert {name: part.shape for name, part in shown.items()} == {"hand": (2, 2), "map": (2, 3, 3, 2)}
    assert "look like" not in world.assumes


def on_a_rail(rng, drifts, noise=0.0):
    """A hand that lifts a lever or pushes a slide, or both, and the states in which each was done."""
    skills = {"lift": (2.0, 1), "push": (7.0, 2)}
    named = list(rng.permutation(list(skills))[: rng.integers(1, 3)])
    row, rows, ends = np.array([rng.uniform(0, 9), 0.0, 0.0]), [], []
    for name in named:
        place, thing = skills[name]
        while abs(row[0] - place) > 0.01:
            rows.append(row.copy())
            row[0] += np.clip(place - row[0], -0.8, 0.8)
        for _ in range(4):
            rows.append(row.copy())
            row[thing] += 0.25
        ends.append(len(rows))
        for _ in range(rng.integers(3, 9) if drifts else 0):
            rows.append(row.copy())
            row[0] = np.clip(row[0] + rng.uniform(-0.8, 0.8), 0, 9)
    states = np.array([*rows, row])
    return rsg.Demonstration(states + noise * rng.normal(size=states.shape), None, " then ".join(named)), ends


@pytest.mark.parametrize("drifts", [False, True])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_ends_are_found_by_marks_whether_recordings_end_at_once_or_drift_on(drifts, noise):
    rng = np.random.default_rng(0)
    shown = [on_a_rail(rng, drifts, noise) for _ in range(60)]
    world = recorded([demo for demo, _ in shown])
    subgoals = rsg.learn([demo for demo, _ in shown], world)
    assert subgoals.readings.keys() == {"lift", "push"}
    assert all("state[1]>=" in one.means or "state[2]>=" in one.means for one in subgoals.tell())
    fresh = [on_a_rail(rng, drifts, noise) for _ in range(40)]
    found = [subgoals.segment(demo).ends for demo, _ in fresh]
    apart = [abs(ends[0] - one[0][1]) for one, (_, ends) in zip(found, fresh, strict=True) if len(ends) > 1]
    assert len(apart) >= 10
    assert np.mean(np.array(apart) <= 1) >= 0.95


def test_marks_are_facts_and_are_known_again():
    rows = np.array([[0.5, 1.0, 0.0], [1.5, 1.0, 1.0], [2.5, 1.0, 1.0]])
    world = recorded([rsg.Demonstration(rows, None, "a")], {"hand": 2, "light": 1}, {"hand": ("x", "y")})
    assert world.fact_names == ("hand[x]>=1", "hand[x]>=2", "light[0]>=0.5")
    assert world.facts(rows).tolist() == [[False, False, False], [True, False, True], [True, True, True]]
    again = pickle.loads(pickle.dumps(OfRecordings(world))).world()
    assert again.fact_names == Recorded(**again.plain()).fact_names == world.fact_names


def test_what_rests_or_trembles_most_of_the_time_is_a_thing():
    rng = np.random.default_rng(0)
    robot = np.cumsum(rng.uniform(0.1, 0.2, 400))
    lever = np.repeat([0.0, 1.0, 0.0, 1.0], 100)
    rows = np.stack([robot, lever, np.full(400, 3.0)], axis=1)
    assert still_in([rows]) == [None, 0.5, None]
    trembling = still_in([rows + 0.03 * rng.normal(size=rows.shape) * [0, 1, 0]])
    assert trembling[0] is None
    assert trembling[1] == pytest.approx(0.5, abs=0.1)
    world = Recorded(3, still=[None, 0.5, None])
    assert np.flatnonzero(world.moves(rows)).tolist() == [99, 199, 299]
    assert still_in([rows[:2]]) == [None] * 3


def in_a_room(rng):
    """A robot that goes to a post, or to both, and turns as it likes; a post is reached where it is nearer than 1.5."""
    robot, posts = np.array([*rng.uniform(0, 20, 2), rng.uniform(-3, 3)]), rng.uniform(0, 20, (2, 2))
    order = rng.permutation(2)[: rng.integers(1, 3)]
    rows, ends = [np.append(robot, posts)], []
    for post in order:
        near = False
        while not near:
            way = posts[post] + rng.normal(0, 0.3, 2) - robot[:2]
            robot = robot + np.append(min(1.0, 1 / np.hypot(*way)) * way, 0.7)
            robot[2] -= 2 * np.pi * (robot[2] > np.pi)
            rows.append(np.append(robot, posts))
            near = np.hypot(*(posts[post] - robot[:2])) < 1.5
        ends.append(len(rows) - 1)
    return rsg.Demonstration(np.array(rows), None, " then ".join(["see-cat", "see-dog"][post] for post in order)), ends


@pytest.mark.parametrize("parts", [None, {"robot": 3, "cat": 2, "dog": 2}])
def test_terms_may_be_about_how_near_the_robot_is_to_a_thing(parts):
    rng = np.random.default_rng(0)
    shown = [in_a_room(rng) for _ in range(80)]
    world = recorded([demo for demo, _ in shown], parts, {"robot": ("x", "y", "angle")} if parts else None)
    assert world.places[0] == [[0, 1], [3, 4]]
    assert world.still == [None] * 7  # an angle leaps as it turns, and is no thing's
    subgoals = rsg.learn([demo for demo, _ in shown], world)
    told = {one.term: one.means for one in subgoals.tell(world)}
    robot, dog = ("robot[x,y]", "dog[0,1]") if parts else ("state[0,1]", "state[5,6]")
    assert told["see-dog"].startswith(f"see-dog holds where {robot} to {dog}<1.")
    fresh = [in_a_room(rng) for _ in range(60)]
    found = [[end for _, end in subgoals.segment(demo, world=world).ends] for demo, _ in fresh]
    apart = np.concatenate([np.subtract(one, ends) for one, (_, ends) in zip(found, fresh, strict=True)])
    assert np.mean(np.abs(apart) <= 1) >= 0.97
    again = pickle.loads(pickle.dumps(OfRecordings(world))).world()
    rows = fresh[0][0].states
    np.testing.assert_array_equal(again.facts(rows), world.facts(rows))


def test_places_are_of_one_part_of_several_values_and_of_about_the_same_range():
    rng = np.random.default_rng(0)
    walk = rng.uniform(0, 9, (40, 30, 2))
    rest = np.repeat(rng.uniform(0, 9, (40, 1, 3)), 30, axis=1)
    rows = [*np.concatenate([walk, rest], axis=2)]
    assert places_in(rows, [5]) == [[[0, 1], [2, 3]], [[0, 1], [3, 4]]]
    assert places_in(rows, [2, 2, 1]) == [[[0, 1], [2, 3]]]
    assert places_in([row * [1, 1, 2, 2, 2] for row in rows], [5]) == []
    assert places_in([np.concatenate([row[:, :2], 9 * (row[:, 2:] > 4)], axis=1) for row in rows], [5]) == []


def test_recordings_of_another_width_are_told_in_the_same_words_however_long_they_are():
    said = set()
    for steps in (2, 5):
        with pytest.raises(RsgError) as error:
            Recorded(3).encode(np.zeros((steps, 4)))
        said.add(str(error.value))
    assert said == {"this world was made of recordings whose states have 3 numbers, not 4"}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: recorded([]), "no recordings"),
        (lambda: recorded("out/mine"), "rsg.Store"),
        (lambda: recorded(seen(), {"hand": 2}), "take 2 numbers, but the recordings have 3"),
        (lambda: recorded([*seen(), rsg.Demonstration(np.zeros((2, 5)), None, "a")]), "3 numbers in some"),
        (lambda: Recorded(3).encode(np.zeros((2, 4))), "whose states have 3 numbers, not 4"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(make, sentence):
    with pytest.raises(RsgError, match=sentence):
        make()


def test_other_processes_are_given_the_same_world():
    domain = OfRecordings(recorded(seen()), "corridor")
    again = pickle.loads(pickle.dumps(domain))
    assert again.name == "corridor"
    assert again.world().plain() == domain.world().plain()
