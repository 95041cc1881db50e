"""Plans carried out where things go wrong: what was done is known, and the rest is planned for again."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.boxes import CompiledBoxWorld

import rsg
from rsg.core.errors import RsgError
from rsg.language import Machine, parse
from rsg.planning import Happened, carry_out
from rsg.search import Auto, SearchSettings, goals_from

TERMS = ("take-key", "open-door", "leave")


class House:
    """A floor of five by five: a key at (0, 4), a door at (4, 4), the way out at (0, 0). A state: x, y, key, door."""

    actions = ("up", "down", "left", "right", "use")

    def step(self, states, actions):
        after = states.copy()
        for axis, more, less in ((0, 3, 2), (1, 1, 0)):
            moved = states[:, axis] + (actions == more) - (actions == less)
            after[:, axis] = np.clip(moved, 0, 4)
        use = actions == 4
        after[:, 2] |= use & (states[:, :2] == (0, 4)).all(axis=1)
        after[:, 3] |= use & (states[:, :2] == (4, 4)).all(axis=1) & (states[:, 2] == 1)
        return after

    def encode(self, states):
        return states


def truth(states, terms):
    held = {"take-key": states[:, 2] == 1, "open-door": states[:, 3] == 1}
    held |= {"leave": (states[:, :2] == 0).all(axis=1), "be-right": states[:, 0] == 4}
    return np.stack([held[term] for term in terms], axis=1)


def meant(world, terms, state):
    return goals_from(lambda states: truth(states, terms))


class Slippery(gymnasium.Env):
    """The real house: now and then somebody pushes, or the key slips out of the hand."""

    action_space = gymnasium.spaces.Discrete(5)
    observation_space = gymnasium.spaces.Box(0, 4, (4,), np.int64)

    def __init__(self, slip=0.0, lose=0.0, seed=0, ends=None):
        self.slip, self.lose, self.ends, self.rng = slip, lose, ends, np.random.default_rng(seed)

    def reset(self, *, seed=None, options=None):
        self.state, self.steps = np.array([2, 2, 0, 0]), 0
        return self.state, {}

    def step(self, action):
        assert isinstance(action, int)
        if self.rng.random() < self.slip:
            action = self.rng.integers(4)
        self.state = House().step(self.state[None], np.array([action]))[0]
        if self.rng.random() < self.lose:
            self.state[2] = 0
        self.steps += 1
        return self.state, 0.0, self.steps == self.ends, False, {}


class Model(House):
    def read(self, env):
        return env.unwrapped.state


def going(task, env=None, world=None, **options):
    env = env or Slippery()
    env.reset()
    made = rsg.plan(world or Model(), env.unwrapped.state, task, meant)
    return rsg.execute(env, made, **options), made


def test_all_goes_as_planned():
    done, made = going("take-key then open-door then leave", max_steps=100)
    assert (done.ended, done.done, done.reason, done.replans) == ("done", True, "", ())
    assert done.actions.tolist() == made.actions.tolist()
    assert (done.states == made.states).all()
    assert [term for term, _ in done.came] == ["take-key", "open-door", "leave"]
    assert [step for _, step in done.came] == [part.end for part in made.parts]


@pytest.mark.parametrize(
    "task", ["take-key then open-door then leave", "take-key and be-right then leave or open-door"]
)
@pytest.mark.parametrize("seed", range(5))
def test_it_arrives_however_it_is_pushed(seed, task):
    done, _ = going(task, Slippery(0.3, 0.05, seed))
    assert done.done
    machine = Machine.of(parse(task))
    assert machine.accepts(truth(done.states, machine.names), machine.names)  # judged by somebody else
    assert len(done.replans) > 0
    assert len(done.states) == len(done.actions) + 1
    assert not going(task, Slippery(0.3, 0.05, seed), replan=False)[0].done
    assert (done.seconds > 0) == bool(done.replans)


def test_it_goes_on_with_what_is_left():
    """The key is lost after the door was opened: nobody fetches it again."""

    class Loses(Slippery):
        def step(self, action):
            told = super().step(action)
            if self.state[3] and self.state[2]:
                self.state[2] = 0
            return told

    done, _ = going("take-key then open-door then leave", Loses())
    assert done.done
    assert len(done.replans) == 1
    assert [term for term, _ in done.came] == ["take-key", "open-door", "leave"]
    assert done.states[-1].tolist() == [0, 0, 0, 1]


def test_a_subgoal_that_was_begun_and_came_true_by_itself():
    """`be-right` comes true while it must still become false for what follows: it is left once that is so."""

    class Carried(Slippery):
        def step(self, action):
            told = super().step(action)
            if self.steps == 1:
                self.state[:] = (4, 4, 1, 1)  # all at once: the door is open where the key is taken
            elif self.steps == 3:
                self.state[3] = 0
            return told

    done, _ = going("take-key then open-door", Carried())
    assert (done.ended, done.plan.reason) == ("no plan", done.plan.reason)
    env = Carried()
    env.reset()
    made = rsg.plan(Model(), env.state, "take-key then be-right", meant)
    done = rsg.execute(env, made)
    assert done.done
    machine = Machine.of(parse("take-key then be-right"))
    assert machine.accepts(truth(done.states, machine.names), machine.names)


def test_limits_and_ends():
    task = "take-key then open-door then leave"
    assert going(task, Slippery(0.9), max_steps=5)[0].ended == "steps"
    few, _ = going(task, Slippery(0.9), max_replans=2)
    assert (few.ended, len(few.replans)) == ("replans", 2)
    assert few.reason.endswith("more often than the limit of 2")
    cut, _ = going(task, Slippery(ends=3))
    assert (cut.ended, len(cut.actions)) == ("terminated", 3)
    limited = gymnasium.wrappers.TimeLimit(Slippery(), 4)
    assert going(task, limited)[0].ended == "truncated"
    assert going(task, Slippery(ends=len(going(task)[1].actions)))[0].done  # it ends because it is done
    stopped, _ = going(task, Slippery(0.9), replan=False)
    assert stopped.ended == "unexpected"
    assert len(stopped.actions) == 1 or stopped.replans == ()


def test_another_start_than_planned_for():
    env = Slippery()
    env.reset()
    made = rsg.plan(Model(), np.array([0, 0, 0, 0]), "take-key then open-door", meant)
    done = rsg.execute(env, made)
    assert done.done
    assert done.replans[0] == 0


def test_a_plan_for_a_goal_is_carried_out():
    shown = []
    for x in range(5):
        for y in range(5):
            start = np.array([x, y, 0, 0])
            for task in ("take-key", "take-key then open-door"):
                made = rsg.plan(Model(), start, task, meant)
                shown.append(rsg.Demonstration(made.states, made.actions, task))
    subgoals = rsg.learn(shown, Model())
    env = Slippery(0.3)
    env.reset()
    made = subgoals.plan_goal(Model(), env.state, "open-door")
    done = rsg.execute(env, made)
    assert done.done
    assert done.states[-1, 3] == 1
    assert str(done.task) == "take-key then open-door"


def test_no_plan_is_told():
    done, _ = going("open-door then be-right and leave", world=Model(), max_steps=3)
    assert done.ended in ("steps", "done")
    env = Slippery()
    env.reset()
    none = rsg.plan(Model(), env.state, "take-key", meant, {"budget": 1})
    told = rsg.execute(env, none)
    assert (told.ended, told.done, len(told.actions)) == ("no plan", False, 0)
    assert "the budget of 1 expansions ended" in told.reason


def test_slips_are_sentences():
    env = Slippery()
    env.reset()
    made = rsg.plan(House(), env.state, "take-key", meant)
    with pytest.raises(RsgError, match="give state=, a function of the environment, or write a method read"):
        rsg.execute(env, made)
    assert rsg.execute(env, made, state=lambda env: env.state).done
    with pytest.raises(RsgError, match="a row \\[W\\] of House"):
        rsg.execute(env, made, state=lambda env: env.state[None])
    with pytest.raises(RsgError, match="takes a plan"):
        rsg.execute(env, made.actions)
    bare = rsg.Plan(task=made.task, states=made.states, actions=made.actions, expansions=0)
    with pytest.raises(RsgError, match="does not say what it was made from"):
        rsg.execute(env, bare, state=lambda env: env.state)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(
        ["take-key then open-door", "take-key and be-right", "be-right then take-key then be-right",
         "leave or open-door", "take-key then be-right and leave", "be-right then leave then be-right"]
    ),
    st.integers(0, 10_000),
    st.sampled_from(["deepest", "optimal"]),
)  # fmt: skip
def test_what_is_done_does_the_task(task, seed, order):
    """Whoever is moved to random states does the task all the same, judged by the machine of all states."""
    rng = np.random.default_rng(seed)
    start = np.array([*rng.integers(0, 5, 2), *rng.integers(0, 2, 2)])
    made = rsg.plan(House(), start, task, meant, SearchSettings(Auto(order)))

    def act(action):
        state = now[0] = House().step(now[0][None], np.array([action]))[0]
        if rng.random() < 0.3:
            now[0] = state = np.array([*rng.integers(0, 5, 2), *rng.integers(0, 2, 2)])
        return Happened(action, state)

    now = [start]
    done = carry_out(made, start, act, 100, 200)
    machine = Machine.of(parse(task))
    holds = truth(done.states, machine.names)
    reached = [machine.accepts(holds[: n + 1], machine.names) for n in range(len(holds))]
    assert done.done == reached[-1]
    assert not any(reached[:-1])
    assert done.done or done.ended in ("no plan", "replans", "steps")


def test_goals_that_were_begun_have_a_compiled_form():
    """What kernels are told is what Python is told: columns of distinct terms, and begun ones are always fresh."""
    from rsg.core.compiled import bare
    from rsg.search import begun

    @bare
    def kernel(tables, states, i, k):
        return -1.0 * states[i, k], -0.5 * tables[0]

    class Compiled:
        compiled = (kernel, (np.array([2.0])[0],))
        batch = 7

        def __call__(self, states):
            return -1.0 * states[:, :2], np.full((len(states), 2), -1.0)

    goals = begun(lambda world, terms, state: Compiled(), 2)(None, ("a", "b", "b", "a"), None)
    states = np.arange(12.0).reshape(3, 4)
    log_g, log_i = goals(states)
    ask, tables = goals.compiled
    told = np.array([[ask(tables, states, i, k) for k in range(4)] for i in range(3)])
    assert (told[..., 0] == log_g).all()
    assert (told[..., 1] == log_i).all()
    assert (log_i[:, 2:] == 0).all()
    assert goals.batch == 7
    assert not hasattr(goals, "bold")


class Pushed:
    """A point among walls that the wind moves now and then."""

    def __init__(self, world, place, seed, wind):
        self.world, self.place, self.rng, self.wind = (
            world,
            np.array(place, dtype=float),
            np.random.default_rng(seed),
            wind,
        )

    def step(self, action):
        if self.rng.random() < self.wind:
            action = self.rng.uniform(-1, 1, 2)
        self.place = self.world.step(self.place[None], np.asarray(action)[None])[0]
        return self.place, 0.0, False, False, {}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("wind", [0.0, 0.2])
def test_in_a_continuous_world_it_arrives_although_it_is_pushed(seed, wind):
    world = CompiledBoxWorld([10, 10], boxes=[[[4, 0], [5, 7]]])
    corners = {"left": (1, 1), "right": (9, 1)}

    def there(_, terms, __):
        return goals_from(lambda states: np.stack([(abs(states - corners[t]) < 1).all(axis=1) for t in terms], axis=1))

    made = rsg.plan(world, np.array([2.0, 8.0]), "left then right", there, SearchSettings(seed=seed))
    env = Pushed(world, made.states[0], seed, wind)
    done = rsg.execute(env, made, state=lambda env: env.place)
    assert done.done, done.reason
    assert [term for term, _ in done.came] == ["left", "right"]
    assert (abs(env.place - corners["right"]) < 1).all()
    assert bool(done.replans) == bool(wind)
    after = world.step(done.states[:-1], done.actions)
    assert wind or np.allclose(after, done.states[1:])
