"""Max-entropy IRL: the planner against every path of a small world, and the choices around a demonstration."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.baselines.tiny import Corridor, Track, demonstrations

from rsg.baselines import METHODS, IrlSettings, rollout, train_baseline
from rsg.baselines.irl import by_choice, joined, soft_values, surroundings
from rsg.core.errors import DemonstrationError, RsgError
from rsg.language import machine_of

SIDE, ACTIONS = 4, ((-1, 0), (1, 0), (0, -1), (0, 1))


def grid():
    """Where each of four moves leads from each cell of a 4×4 world, `[16, 4]`; one into a wall stays."""
    after = np.empty((SIDE * SIDE, len(ACTIONS)), dtype=np.int64)
    for cell, (choice, (down, right)) in product(range(SIDE * SIDE), enumerate(ACTIONS)):
        row, column = np.clip([cell // SIDE + down, cell % SIDE + right], 0, SIDE - 1)
        after[cell, choice] = row * SIDE + column
    return torch.as_tensor(after)


def paths(after, start, steps):
    """All cells that each path of so many steps comes to, `[paths, steps]`."""
    found = []
    for choices in product(range(after.shape[1]), repeat=steps):
        cells = [start]
        for choice in choices:
            cells.append(int(after[cells[-1], choice]))
        found.append(cells[1:])
    return np.array(found)


@given(seed=st.integers(0, 2**16), start=st.integers(0, 15), steps=st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_partition_function_and_gradient_are_those_of_brute_force(seed, start, steps):
    after, rng = grid(), np.random.default_rng(seed)
    reward = torch.as_tensor(rng.normal(size=16)).requires_grad_()
    nothing = torch.zeros(16, dtype=torch.float64)
    values = soft_values(reward, after, nothing, nothing > 0, 1.0, steps)
    log_z = values[start] + steps * np.log(4)  # a value is a mean, not a sum
    ways = paths(after, start, steps)
    worth = reward.detach().numpy()[ways].sum(axis=1)
    assert float(log_z.detach()) == pytest.approx(np.logaddexp.reduce(worth))
    log_z.backward()
    counts = np.zeros(16)  # how often each cell is come to, under the max-entropy distribution of paths
    for way, chance in zip(ways, np.exp(worth - np.logaddexp.reduce(worth)), strict=True):
        np.add.at(counts, way, chance)
    assert reward.grad.numpy() == pytest.approx(counts)


def test_the_gradient_of_a_demonstration_is_its_counts_minus_those_expected():
    """Of the likelihood of a whole path under the policy softmax(Q) that changes with the steps left."""
    after, steps, path = grid(), 4, [5, 6, 7, 11, 15]
    reward = torch.as_tensor(np.random.default_rng(0).normal(size=16)).requires_grad_()
    nothing = torch.zeros(16, dtype=torch.float64)
    log = torch.zeros(())
    for t in range(steps):
        ahead = soft_values(reward, after, nothing, nothing > 0, 1.0, steps - t - 1)
        q = by_choice(reward + ahead, after)[path[t]]
        log = log + q.log_softmax(dim=0)[int((after[path[t]] == path[t + 1]).nonzero()[0])]
    log.backward()
    ways = paths(after, path[0], steps)
    worth = reward.detach().numpy()[ways].sum(axis=1)
    wanted = np.bincount(path[1:], minlength=16).astype(float)
    for way, chance in zip(ways, np.exp(worth - np.logaddexp.reduce(worth)), strict=True):
        np.add.at(wanted, way, -chance)
    assert reward.grad.numpy() == pytest.approx(wanted)


def test_fixed_values_stay_and_missing_choices_are_never_taken():
    after = torch.tensor([[1, -1], [0, 2], [-1, -1]])
    beyond = torch.tensor([0.0, 0.0, 7.0])
    values = soft_values(torch.zeros(3), after, beyond, torch.tensor([False, False, True]), 0.5, 29)
    q = by_choice(0.5 * values, after)
    assert q[0].softmax(dim=0).tolist() == [1.0, 0.0]
    assert float(q[1, 1]) == pytest.approx(3.5)
    assert float(q[0, 0]) == pytest.approx(0.5 * float(torch.logsumexp(q[1], dim=0) - np.log(2)))


def uniform(count):
    return np.random.default_rng(0).uniform(-1, 1, size=(count, 1))


@pytest.mark.parametrize("world", [Corridor(), Track()])
def test_the_nodes_around_a_demonstration(world):
    source, demos = demonstrations(world, 1)
    parts = [surroundings(source.world(""), demo, 3, uniform, np.asarray) for demo in demos]
    for demo, part in zip(demos, parts, strict=True):
        steps = len(demo)
        assert (part.seen[part.state[: steps + 1]] == demo.states).all()
        assert (part.after[np.arange(steps), part.chosen[:-1]] == np.arange(1, steps + 1)).all()
        for node, choice in np.argwhere(part.after >= 0):
            end = part.after[node, choice]
            assert node <= steps  # off the path there are no choices
            assert part.since[end] == node + 1
            here, there = (part.seen[part.state[one]] for one in (node, end))
            assert (np.abs(there - here) <= 1 + 1e-9).all()
            if isinstance(world, Corridor):
                assert there == world.step(here[None], [choice])[0]
    whole = joined(parts)
    moving = whole.chosen >= 0
    assert len(whole.chosen[moving]) == sum(len(demo) for demo in demos) == len(whole.path) - len(demos)
    first = len(parts[0].state)
    second, known = whole.after[first : first + len(parts[1].after)].numpy(), parts[1].after >= 0
    assert (second[known] - first == parts[1].after[known]).all()
    assert (second[~known] == -1).all()
    assert (whole.after[whole.path[moving], whole.chosen[moving]] == whole.path[1:][moving[:-1]]).all()


def test_a_blocked_move_is_no_choice():
    world = Track()
    _, demos = demonstrations(world, 1)
    part = surroundings(world, demos[1], 40, uniform, np.asarray)
    last = len(demos[1])  # at the right end, where about half of the moves lead nowhere
    possible = (part.after[last, 1:] >= 0).sum()
    assert 5 < possible < 40
    ends = part.seen[part.state[part.after[last][part.after[last] >= 0]]]
    assert (ends != demos[1].states[-1]).all()


def test_the_policy_chooses_among_demonstrated_moves():
    source, demos = demonstrations(Track(), 4)
    settings = IrlSettings(steps=3, hidden=8, batch=4, held_out=4, check_every=3, curriculum=0)
    method = train_baseline("irl", demos, lambda demo: source.world(""), None, settings).method
    made = np.concatenate([demo.actions for demo in demos])
    taken = rollout(method, source.world(""), np.full((5, 1), 2.0), machine_of(demos[0].task), 10).actions
    assert np.isin(taken, made).all()


def test_each_description_is_compared_with_the_same_moves():
    source, demos = demonstrations(Track(), 4)
    settings = IrlSettings(steps=2, hidden=8, batch=4, held_out=4, check_every=2, curriculum=0)
    method = train_baseline("irl", demos, lambda demo: source.world(""), None, settings).method
    left, right, again = method.explain(source.world(""), demos[0], ["left", "right", "left"])
    assert left == again != right


def test_the_demonstration_with_a_move_out_of_reach_is_the_one_that_is_named():
    world = Track()
    _, demos = demonstrations(world, 1)
    far = replace(demos[2], actions=demos[2].actions * 3)

    class Strict(Track):
        def step(self, states, actions):
            if (np.abs(actions) > self.reach).any():
                raise RsgError("too far")
            return super().step(states, actions)

    with pytest.raises(DemonstrationError, match="too far") as raised:
        surroundings(Strict(), far, 2, uniform, np.asarray)
    assert raised.value.demonstration is far


@pytest.mark.parametrize(
    ("method", "changes", "problem"),
    [
        ("irl", {"discount": 2.0}, "from 0 to 1"),
        ("irl", {"tried": 0}, "at least 1"),
    ],
)
def test_settings_that_make_no_sense(method, changes, problem):
    with pytest.raises(RsgError, match=problem):
        METHODS[method].kind(**changes)
