"""Words, batches, actions, rollouts and what is said when something is wrong."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from tests.baselines.tiny import Corridor, Tiny, Track, demonstrations

from rsg.baselines import METHODS, load_baseline, method_named, policy_for, rollout, settings_of_run, train_baseline
from rsg.baselines.common import batch_of, stacked
from rsg.baselines.encoders import look, shape_of
from rsg.baselines.networks import Actions, TaskEncoder, words_of
from rsg.core.errors import RsgError, RunError
from rsg.domains.crafting import CraftingWorld, Sets
from rsg.domains.crafting.vision import SetEncoder, TileEncoder
from rsg.domains.playroom import PlayroomWorld
from rsg.evaluation.planning import Episode, Starts, summary
from rsg.evaluation.policies import evaluate_policy
from rsg.language import machine_of
from rsg.subgoals.classifiers import mapped, tensors
from rsg.training import Run
from rsg.training.settings import restored

DISCRETE, MOVES = {"inputs": 7, "actions": 2}, {"inputs": 1, "reach": [1.0]}


def small(method, shape=DISCRETE, **changes):
    settings = METHODS[method].kind(**{"hidden": 4, **changes})
    return METHODS[method](settings, shape, ["left", "right"], lambda _: Corridor(), ["left", "right"])


def test_words_are_those_of_the_text():
    for text in ("a", "a then (b or c) and d", "(a and b) and c", "(a then b) or c", "put-next(red, blue) then a"):
        assert "".join(words_of(text)) == str(machine_of(text).task).replace(" then ", "then").replace(
            " or ", "or"
        ).replace(" and ", "and")


def test_a_task_reads_the_same_alone_and_among_others():
    encoder = TaskEncoder(["a", "b", "c"], 8)
    texts = ["a", "a then b then c", "b or c", "a"]
    together = encoder(texts)
    assert torch.allclose(together, torch.cat([encoder([text]) for text in texts]), atol=1e-6)
    assert not torch.allclose(encoder(["a then b"]), encoder(["b then a"]))


def test_a_batch_holds_what_its_demonstrations_hold():
    source, demos = demonstrations(None, 2)
    batch = batch_of(demos, lambda _: source.world(""), DISCRETE)
    states = np.concatenate([demo.states[:, 0] for demo in demos])
    assert (batch.seen.argmax(dim=1).numpy() == states).all()
    assert (batch.actions.numpy() == np.concatenate([demo.actions for demo in demos])).all()
    assert [int(one) for one in torch.bincount(batch.owner[batch.moving])] == [len(demo) for demo in demos]
    padded = batch.padded(batch.seen)
    assert padded.shape == (len(demos), max(len(demo) for demo in demos) + 1, 7)
    assert (batch.unpadded(padded) == batch.seen).all()
    assert (padded.sum(dim=(1, 2)) == batch.per_demonstration(torch.ones(len(states)))).all()


def test_sets_of_several_sizes_are_padded():
    worlds = [CraftingWorld(3, 3, objects=2), CraftingWorld(4, 4, objects=5)]
    seen = [world.encode(world.sample(np.random.default_rng(0), 3)) for world in worlds]
    both = mapped(stacked, *seen)
    assert isinstance(both, Sets)
    assert both.objects.shape == (6, 5, 5)
    assert (both.objects[:3, :2] == seen[0].objects).all()
    assert not both.objects[:3, 2:].any()
    encoder = SetEncoder(47, 8)
    alone = torch.cat([encoder(tensors(one, "cpu")) for one in seen])
    assert torch.allclose(encoder(tensors(both, "cpu")), alone, atol=1e-6)


def test_the_order_of_objects_does_not_matter():
    world = CraftingWorld()
    seen = tensors(world.encode(world.sample(np.random.default_rng(1), 5)), "cpu")
    turned = seen._replace(objects=seen.objects.flip(1), inventory=seen.inventory.flip(1))
    encoder = SetEncoder(47, 8)
    assert torch.allclose(encoder(seen), encoder(turned), atol=1e-6)


@pytest.mark.parametrize("world", [CraftingWorld(), PlayroomWorld(), Corridor(), Track()])
def test_shapes_of_worlds(world):
    start = np.zeros(world.state_width) if hasattr(world, "state_width") else world.start(np.random.default_rng(0))
    if isinstance(world, CraftingWorld):
        start = start.astype(np.uint8)
    shape = shape_of(world, start[None])
    assert ("actions" in shape) == hasattr(world, "actions")
    assert ("types" in shape) == isinstance(world, CraftingWorld)


def test_tiles_are_what_is_on_the_picture():
    world = CraftingWorld(3, 4)
    state = world.state({(1, 2): "tree", (0, 3): "axe"}, agent=(2, 0), inventory=["wood"])
    seen = look(world, np.stack([state, world.state({}, agent=(0, 1))]), {"tile": 8})
    assert seen.there.sum(axis=1).tolist() == [4, 1]
    cells = {tuple(cell) for cell in seen.cells[0].tolist()}
    assert cells == {(1, 2), (0, 3), (2, 0), (3, 0)}  # the inventory lies below the map
    assert seen.cells[1, 0].tolist() == [0, 1]


def test_pictures_read_the_same_alone_and_among_others():
    world = CraftingWorld()
    states = world.sample(np.random.default_rng(2), 4)
    encoder = TileEncoder(8, 16, 3)
    condition = torch.randn(4, 3)
    together = encoder(tensors(look(world, states, {"tile": 8}), "cpu"), condition)
    for i in range(4):
        alone = encoder(tensors(look(world, states[i : i + 1], {"tile": 8}), "cpu"), condition[i : i + 1])
        assert torch.allclose(alone[0], together[i], atol=1e-5)


def test_pictures_are_of_crafting_world():
    with pytest.raises(RsgError, match="this world is not read as image"):
        shape_of(Corridor(), np.array([[1]]), "image")


def test_probabilities_of_actions():
    actions = Actions({"inputs": 1, "actions": 3})
    given = torch.tensor([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]])
    assert actions.log_probability(given, torch.tensor([1, 0])).exp() == pytest.approx([1 / 3, 1.0], abs=1e-3)
    assert actions.best(given).tolist()[1] == 0
    drawn = actions.drawn(given.repeat(200, 1), np.random.default_rng(0)).reshape(200, 2)
    assert set(drawn[:, 0]) == {0, 1, 2}
    assert (drawn[:, 1] == 0).mean() > 0.95


def test_probabilities_of_moves():
    actions = Actions({"inputs": 1, "reach": [1.0, 0.5]})
    given = torch.tensor([[0.3, -0.2, 0.1, 0.4]])
    mean, variance = torch.tanh(given[0, :2]) * torch.tensor([1.0, 0.5]), torch.sigmoid(given[0, 2:]) + 1e-3
    taken = torch.tensor([[0.5, 0.1]])
    wanted = torch.distributions.Normal(mean, variance.sqrt()).log_prob(taken[0]).sum()
    assert actions.log_probability(given, taken)[0] == pytest.approx(float(wanted), rel=1e-5)
    assert actions.best(given)[0] == pytest.approx(mean.numpy(), rel=1e-5)
    drawn = actions.drawn(given.repeat(100, 1), np.random.default_rng(0))
    assert (np.abs(drawn) <= [1.0, 0.5]).all()


def test_stopping_must_be_the_most_likely():
    actions = Actions({"inputs": 1, "actions": 2})
    even = torch.zeros(3, 2)  # each action has half of what is left
    assert actions.stops(even, torch.tensor([-1.0, -0.5, 0.0])).tolist() == [False, True, True]
    assert Actions(MOVES).stops(torch.zeros(2, 2), torch.tensor([-0.1, 0.1])).tolist() == [False, True]


class Right:
    """Goes to the right, and stops after some steps."""

    def __init__(self, stop_after=100):
        self.stop_after = stop_after

    def begin(self, world, states, machine):
        return 0

    def act(self, world, states, memory):
        count = len(states)
        return np.ones(count, dtype=int), np.full(count, memory >= self.stop_after), memory + 1


def judged(policy, task, start=2, max_steps=20):
    source, machine = Tiny(), machine_of(task)
    world, terms = source.world(""), [str(term) for term in machine.terms]
    return rollout(policy, world, np.array([[start], [5]]), machine, max_steps, lambda s: source.truth(world, s, terms))


def test_an_episode_ends_when_the_task_is_done():
    acted = judged(Right(), "right")
    assert acted.done.tolist() == [True, True]
    assert acted.steps.tolist() == [4, 1]
    assert acted.states[0, :, 0].tolist() == [2, 3, 4, 5, 6]
    assert not acted.stopped.any()


def test_an_episode_ends_when_the_policy_stops():
    acted = judged(Right(3), "right")
    assert acted.steps.tolist() == [3, 1]
    assert acted.done.tolist() == [False, True]
    assert acted.stopped.tolist() == [True, False]
    assert acted.states[0, -1, 0] == 5  # it stays where it stopped


def test_an_episode_ends_at_the_limit():
    acted = judged(Right(), "left", max_steps=6)
    assert acted.steps.tolist() == [6, 6]
    assert not acted.done.any()


def test_what_is_true_from_the_start_is_not_done():
    assert not judged(Right(), "right", start=6).done[0]


def test_figures_of_a_policy():
    result = evaluate_policy(Tiny(), Starts("train", 5), Right(), max_steps=20)
    assert [row["success"] for row in result["tasks"]] == [0.0, 1.0, 0.0, 0.0]
    assert result["success"] == 0.25
    assert result["episodes"] == 20
    assert result["tasks"][1]["cost_mean"] == pytest.approx(0.1 * result["tasks"][1]["expansions_mean"])


def test_a_branch_that_leads_nowhere_is_not_taken():
    """In thought BC-FSM tries both branches of an `or`, and follows the one that comes to its end."""
    fsm = small("bc-fsm")

    class Network:
        def __call__(self, seen, terms):
            place = seen.argmax(dim=1)
            at_end = torch.where(terms == 1, place == 6, torch.zeros_like(place, dtype=torch.bool))
            sure = torch.where(terms == 1, 1.0, 50.0)  # `left` is surer of itself, and goes the wrong way
            return sure[:, None] * torch.tensor([0.0, 1.0]), torch.where(at_end, 5.0, -50.0)

    fsm.module = Network()
    memory = fsm.begin(Corridor(), np.array([[2], [3]]), machine_of("left or right"))
    assert memory.terms.tolist() == [1, 1]
    acted = rollout(fsm, Corridor(), np.array([[2], [3]]), machine_of("left or right"), 20)
    assert acted.stopped.all()
    assert acted.steps.tolist() == [4, 3]


def test_a_branch_that_ends_early_waits_for_the_others_for_nothing():
    fsm = small("bc-fsm")

    class Network:
        def __call__(self, seen, terms):
            at_end = seen.argmax(dim=1) == 6 * terms
            stop = torch.where(terms == 0, 0.5, 0.2)  # `left` is a little surer that it has come to its end
            return 50.0 * torch.nn.functional.one_hot(terms, 2), torch.where(at_end, stop, -50.0)

    fsm.module = Network()
    starts = np.array([[1], [3], [5]])
    assert fsm.begin(Corridor(), starts, machine_of("left or right")).terms.tolist() == [0, 0, 0]


def test_no_subgoal_stops_before_it_acts():
    """BC-FSM's subgoals are learned so: each serves an action at least, however much it would like to stop."""
    fsm = small("bc-fsm")

    class Network:
        def __call__(self, seen, terms):
            return 50.0 * torch.nn.functional.one_hot(terms, 2), torch.full((len(terms),), 50.0)

    fsm.module = Network()
    acted = rollout(fsm, Corridor(), np.array([[3]]), machine_of("left then right"), 20)
    assert acted.stopped.all()
    assert acted.steps.tolist() == [2]
    assert acted.states[0, :3, 0].tolist() == [3, 2, 3]


def test_an_action_without_effect_is_not_taken():
    one, rng = small("bc"), np.random.default_rng(0)
    given = torch.tensor([[1.0, 0.0]]).repeat(2, 1)
    states = np.array([[0], [3]])  # at the left end nothing is further left
    assert one.choose(Corridor(), states, given, rng).tolist() == [1, 0]


def test_a_move_without_effect_is_not_taken():
    one, rng = small("bc", MOVES), np.random.default_rng(0)
    given = torch.tensor([[-9.0, 0.0]]).repeat(2, 1)
    states = np.array([[0.0], [3.0]])
    first, second = one.choose(Track(), states, given, rng)[:, 0].tolist()
    assert 0 < first < 0.5  # the likeliest of those that lead away, so a short one
    assert second == pytest.approx(-1.0)


def test_without_any_effect_the_likeliest_is_taken():
    class Wall(Corridor):
        def step(self, states, actions):
            return states.copy()

    given = torch.tensor([[0.0, 1.0]])
    assert small("bc").choose(Wall(), np.array([[3]]), given, np.random.default_rng(0)).tolist() == [1]


@pytest.mark.parametrize("method", ["bc", "bc-fsm"])
def test_scores_are_log_probabilities(method):
    """Of all that may be done in a step, the probabilities add up to one."""
    one = small(method)
    source, _ = demonstrations(None, 1)
    demo, _ = source.demonstrate("primitive", 0, np.random.default_rng(0))
    demo = replace(demo, states=demo.states[:2], actions=demo.actions[:1])
    ends = []
    for action in (0, 1):
        after = Corridor().step(demo.states[:1], [action])
        ends.append(replace(demo, states=np.concatenate([demo.states[:1], after]), actions=np.array([action])))
    scores = [one.explain(Corridor(), end, ["left"])[0] for end in ends]
    assert np.exp(scores).sum() < 1  # stopping at once has the rest


def test_others_are_never_the_own_task():
    one = small("bc", gamma=1.0)
    assert one.others("LEFT", np.random.default_rng(0)) == ["right"]
    assert small("bc").others("left", np.random.default_rng(0)) == []


@pytest.mark.parametrize(
    ("method", "changes", "problem"),
    [
        ("bc", {"hidden": 0}, "at least 1"),
        ("bc-fsm", {"observation": "sound"}, "state or image"),
        ("lstm", {"beta": 0.0}, "beta must be positive"),
    ],
)
def test_settings_that_make_no_sense(method, changes, problem):
    with pytest.raises(RsgError, match=problem):
        METHODS[method].kind(**changes)


def test_settings_that_earlier_versions_had(tmp_path):
    kind = METHODS["bc"].kind
    old = {**asdict(kind()), "task_at": "state", "effective": True}
    assert restored(kind, old) == kind()
    with pytest.raises(RsgError, match="task_at=end, which this rsg no longer knows"):
        restored(kind, {**old, "task_at": "end"})
    for name, shape, draw in [("a", DISCRETE, True), ("b", MOVES, False), ("c", DISCRETE, False), ("d", MOVES, True)]:
        settings = {**asdict(METHODS["irl"].kind()), "draw": draw}
        run = Run.create(tmp_path / name, {"method": "irl", "settings": settings, "shape": shape})
        if name in "ab":
            assert settings_of_run(run) == METHODS["irl"].kind()
        else:
            with pytest.raises(RsgError, match="draws moves, or takes the best action"):
                settings_of_run(run)


@pytest.mark.parametrize("method", list(METHODS))
def test_a_term_that_was_never_learned(method):
    _, demos = demonstrations(None, 1)
    with pytest.raises(RsgError, match="never learned the term 'lef'; did you mean left"):
        small(method).explain(Corridor(), demos[0], ["lef"])


def test_a_method_that_there_is_not():
    with pytest.raises(RsgError, match="did you mean bc-fsm"):
        method_named("bc-fms")


@pytest.mark.parametrize(("shape", "world"), [(DISCRETE, Track()), (MOVES, Corridor())])
def test_actions_of_another_kind(shape, world):
    source, demos = demonstrations(world, 1)
    with pytest.raises(RsgError, match="in this world"):
        batch_of(demos, lambda _: source.world(""), shape)


def test_runs_that_cannot_be_used(tmp_path):
    Run.create(tmp_path / "rsg", {"method": "rsg"})
    with pytest.raises(RunError, match="no baseline"):
        load_baseline(tmp_path / "rsg")
    source, demos = demonstrations(None, 4)
    settings = METHODS["lstm"].kind(steps=2, hidden=4, batch=4)
    train_baseline("lstm", demos, lambda _: source.world(""), tmp_path / "lstm", settings, tensorboard=False)
    with pytest.raises(RunError, match="does not act"):
        policy_for(tmp_path / "lstm", "tiny", source.world(""))


def test_figures_have_the_names_of_planning():
    found = evaluate_policy(Tiny(), Starts("train", 1), Right())
    episode = Episode(True, True, 1, 1.0, 0.1)
    assert set(found) == {"split", "per_task", "seed", "tasks", *summary([episode])}
    assert set(found["tasks"][0]) == {"task", *summary([episode])}
