"""The paper's search by layers: what it finds, what it leaves out, and that a learned value leads it."""

from math import inf

import numpy as np
import pytest
from tests.reference.search import ByteWorld, TableGoals, TableWorld, best_plan_cost, plan_cost

from reproductions.paper.layered import LayeredSearch, Layers, by_layers
from reproductions.paper.random_tasks import sample_task
from rsg.core.random import stream
from rsg.language import Machine, parse
from rsg.search import Hard, Limits, Logs, SearchSettings, Soft, cost_to_go, local_graph


def random_case(rng, make_world, states=40):
    after = rng.integers(states, size=(states, 3))
    world = make_world(after, rng.choice([0.1, 0.25, 0.5], size=3))
    machine = Machine.of(sample_task("abcd", 2, rng))
    log_g, log_i = (np.log(rng.random((states, len(machine.terms)))) for _ in range(2))
    log_g[rng.random(log_g.shape) < 0.5] = -inf
    return world, machine, log_g, log_i


def search(world, machine, log_g, log_i, layers, hard=False):
    transitions = Hard() if hard else Soft()
    made = LayeredSearch(world, world.rows[0], machine, TableGoals(world, log_g, log_i), transitions)
    made.layers = layers
    return made


@pytest.mark.parametrize("make_world", [ByteWorld, TableWorld])
def test_enough_layers_find_the_least_cost_and_fewer_a_plan_that_holds(make_world):
    rng = stream(0, "layers")
    found = 0
    for _ in range(20):
        case = random_case(rng, make_world)
        least = best_plan_cost(case[0], 0, *case[1:])
        whole = search(*case, Layers(40, 0, 0)).run()
        assert whole.cost == pytest.approx(least, abs=1e-9)
        narrow = search(*case, Layers(2, 6, 3)).run()
        assert narrow.cost >= least - 1e-9
        assert narrow.expansions <= whole.expansions
        if narrow.actions is not None:
            found += 1
            assert plan_cost(case[0], *case[1:], narrow) == pytest.approx(narrow.cost, abs=1e-9)
    assert found > 5


def test_exhausted_means_that_all_was_tried():
    """On a ring where two steps at once are dear: every state is opened twice, and expanded once."""
    world = ByteWorld((np.arange(6)[:, None] + [1, 2]) % 6, [1.0, 5.0])
    case = world, Machine.of(parse("a")), np.full((6, 1), -inf), np.zeros((6, 1))
    for layers, ended in (
        (Layers(4, 0, 1), "exhausted"),
        (Layers(3, 0, 1), "budget"),
        (Layers(1, 9, 2), "exhausted"),
        (Layers(1, 9, 1), "budget"),  # though what the beam left out came in again
    ):
        assert search(*case, layers, hard=True).run().ended == ended


def test_a_search_goes_on_where_its_budget_ended():
    rng = stream(1, "layers")
    for _ in range(10):
        case = random_case(rng, ByteWorld)
        whole, parts = search(*case, Layers(4, 4, 4)).run(), search(*case, Layers(4, 4, 4))
        for budget in range(5, whole.expansions, 7):
            stopped = parts.run(Limits(budget))
            assert (stopped.ended, stopped.expansions) == ("budget", budget)
        last = parts.run()
        assert (last.cost, last.expansions, last.ended) == (whole.cost, whole.expansions, whole.ended)


def test_a_value_leads_a_narrow_beam_to_cheaper_plans():
    """The true cost-to-go in the place of V_t: a beam of one is then as good as all states."""
    rng = stream(2, "layers")
    led, blind = [], []
    for _ in range(30):
        world, machine, log_g, log_i = random_case(rng, TableWorld)
        ahead = cost_to_go(local_graph(world, world.rows, depth=0), machine, Logs(log_g, log_i)).cost
        ahead = np.where(np.isfinite(ahead), ahead, 1e6)
        value = lambda states, world=world, ahead=ahead: ahead[world.numbers(states)]  # noqa: E731
        led.append(search(world, machine, log_g, log_i, Layers(0, 30, 2, value)).run().cost)
        blind.append(search(world, machine, log_g, log_i, Layers(0, 30, 2)).run().cost)
    led, blind = np.minimum(led, 99), np.minimum(blind, 99)
    assert led.mean() < blind.mean()


def test_limits_of_nodes_leave_out_what_they_should():
    """States that enter a node, or expansions at each: with enough of both nothing is left out."""
    rng = stream(3, "layers")
    for _ in range(10):
        case = random_case(rng, ByteWorld)
        nodes, whole = case[1].nodes - 2, search(*case, Layers(4, 4, 4)).run()
        for layers in (Layers(4, 4, 4, each=10_000), Layers(4, 4, 4, enter=40)):
            same = search(*case, layers).run()
            assert (same.cost, same.expansions, same.ended) == (whole.cost, whole.expansions, whole.ended)
        few = search(*case, Layers(4, 4, 4, each=3)).run()
        assert few.expansions <= 3 * nodes
        one = search(*case, Layers(1, 0, 0, enter=1)).run()
        assert one.expansions <= nodes
        assert "exhausted" not in (few.ended, one.ended)


def test_a_soft_search_is_led_by_the_value_of_its_task():
    """A planner for evaluations: tasks of the training set have a value, others are searched for without one."""
    asked = []

    class Told:
        def goals(self, world, machine, state):
            if str(machine.task) != "a":
                return None
            return lambda states: (asked.append(len(states)), (None, -np.zeros((len(states), 1))))[1]

    world = ByteWorld((np.arange(6)[:, None] + [1, 2]) % 6, [1.0, 5.0])
    log_g = np.full((6, 2), -inf)
    log_g[[3, 5], [0, 1]] = 0.0
    for task, led in (("a", True), ("a then b", False)):
        machine, asked[:] = Machine.of(parse(task)), []
        goal_fn = lambda world, terms, state: TableGoals(world, log_g[:, : len(terms)], np.zeros((6, len(terms))))  # noqa: E731
        made = by_layers(Layers(1, 9, 2), Told())(world, world.rows[0], machine, goal_fn, SearchSettings())
        assert made.found
        assert bool(asked) == led
