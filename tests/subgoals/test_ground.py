"""The graph around a demonstration in a continuous world, against a plain count; and what is refused."""

import numpy as np
import pytest
from tests.reference.boxes import four_rooms
from tests.search.test_roadmap import edges_of

from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.search import attach, local_roadmap, roadmap
from rsg.subgoals.ground import ground


def walk(world, steps=12, seed=0, rest=(1.0, 2.0)):
    """A random walk, with something else in its states."""
    rng = stream(seed, "walk")
    states = [np.array([*world.sample(rng, 1)[0], *rest])]
    while not world.free(states[0][None])[0]:
        states = [np.array([*world.sample(rng, 1)[0], *rest])]
    actions = rng.uniform(-world.reach, world.reach, (steps, len(world.reach)))
    for action in actions:
        states.append(world.step(states[-1][None], action[None])[0])
    return np.array(states), actions


def layers(graph, sources, depth):
    """All states within so many edges."""
    found, last = set(sources), set(sources)
    for _ in range(depth):
        last = {end for start, end in edges_of(graph) if start in last} - found
        found |= last
    return found


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_part_of_the_roadmap_around_a_walk(depth):
    world = four_rooms()
    states, actions = walk(world)
    there = ground(world, states, actions, depth, poses=600)
    whole = attach(world, roadmap(world, states[0], 600), states)
    kept = layers(whole, whole.path.tolist(), depth)
    rows = {row.tobytes() for row in whole.states[sorted(kept)]}
    assert {row.tobytes() for row in there.graph.states} == rows
    expected = {(whole.states[a].tobytes(), whole.states[b].tobytes()) for a, b in edges_of(whole) if {a, b} <= kept}
    names = [row.tobytes() for row in there.graph.states]
    assert {(names[a], names[b]) for a, b in edges_of(there.graph)} == expected
    assert np.array_equal(there.graph.states[there.graph.path], states)
    assert np.array_equal(there.graph.edge_end[there.walk.taken], there.graph.path[1:])
    assert np.array_equal(there.walk.each, np.ones(len(actions)))


def test_a_step_that_leads_elsewhere():
    world = four_rooms()
    states, actions = walk(world)
    wrong = actions.copy()
    wrong[3] = -wrong[3]
    with pytest.raises(RsgError, match="step 3 of the demonstration is not one of this world: action"):
        ground(world, states, wrong, 1, poses=100)
    moved = states.copy()
    moved[5:, -1] += 1
    with pytest.raises(RsgError, match="step 4 of the demonstration"):
        ground(world, moved, actions, 1, poses=100)
    with pytest.raises(RsgError, match=r"13 states have actions \[12, 3\] between them, not \[12\]"):
        ground(world, states, actions[:, 0], 1, poses=100)


def test_what_no_graph_can_grow_from():
    world = four_rooms()
    with pytest.raises(RsgError, match="a graph grows from states"):
        local_roadmap(world, np.empty((0, 3)), 1)
    with pytest.raises(RsgError, match="depth must be at least 0"):
        local_roadmap(world, walk(world)[0], -1)
