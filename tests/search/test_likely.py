"""Where subgoals are likely true, found by asking their classifiers."""

import numpy as np
import pytest
from tests.reference.boxes import Touching, four_rooms

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.language import Machine, parse
from rsg.search import Hard, asked
from rsg.search.motion.query import WANTED, Query, likely_poses
from rsg.search.motion.space import rows_of

world = four_rooms()
state = np.array([3.0, 3.0, 0.0, 15.3, 16.2, 4.1, 15.7, 10.0, 10.0])


def look(meaning, terms, count=1000, seed=0):
    poses = world.sample(stream(seed, "look"), count)
    poses = poses[world.free(poses)]
    machine = Machine.of(parse(" then ".join(terms)))
    query = Query(world, state, machine, meaning.goal_fn(world, terms, state), Hard())
    log_g, _ = query.asked(rows_of(poses, state))
    return poses, log_g, likely_poses(query, poses, log_g, stream(seed, "likely"))


def test_poses_where_terms_hold_are_taken_as_they_are():
    meaning, terms = Touching(world, 3.0), ["touch-0", "touch-1"]
    poses, _, found = look(meaning, terms, 4000)
    known = {pose.tobytes() for pose in poses}
    for k, term in enumerate(terms):
        assert len(found[k]) == WANTED
        assert {pose.tobytes() for pose in found[k]} <= known
        assert meaning.truth(rows_of(found[k], state), [term]).all()


@pytest.mark.parametrize("seed", range(5))
def test_thin_goals_are_approached(seed):
    """A thousandth of the room at most: no pose is there to begin with."""
    meaning, terms = Touching(world, 0.05, 20.0), ["touch-0", "touch-1"]
    _, log_g, found = look(meaning, terms, 300, seed)
    for k, term in enumerate(terms):
        away = meaning.away(rows_of(found[k], state), [term])[:, 0]
        assert away[0] <= 0.05 < np.sort(-log_g[:, k])[0] / 20 + 0.05
        assert (np.diff(away) >= 0).all()  # the most likely first
        assert world.free(rows_of(found[k], state)).all()
        assert ((found[k] >= world.low) & (found[k] <= world.high)).all()


def test_what_is_impossible_everywhere_has_no_likely_poses():
    meaning = Touching(world, 0.5)  # the middle of the room is in a wall
    found = look(meaning, ["touch-2", "touch-0"], 200)[2]
    assert len(found[0]) == 0


def test_numbers_that_no_search_can_use_are_an_error():
    for log_g, log_i in ((np.zeros((2, 2)), np.zeros((2, 1))), (np.full((2, 1), np.nan), np.zeros((2, 1)))):
        with pytest.raises(RsgError, match=r"goals must give log G and log I of shape \(2, 1\) without NaN"):
            asked(lambda states, g=log_g, i=log_i: (g, i), np.zeros((2, 3)), 1)
