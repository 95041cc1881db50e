"""Learning from end to end, in both worlds: the same bits again, every option, and never a look at the truth."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.subgoals.test_objective import differences, randomised, relative_error
from tests.training.examples import (
    SOURCE,
    bits,
    fingerprint,
    outcome,
    quick,
    room_demos,
    room_of,
    room_quick,
    small_demos,
    small_store,
    train,
    world_of,
)

from rsg.core.errors import RsgError, RunError
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.domain import Crafting
from rsg.domains.crafting.sets import SetClassifiers
from rsg.domains.playroom import PlayroomWorld, load_layout
from rsg.evaluation import Starts, evaluate_planning
from rsg.language import machine_of
from rsg.subgoals import RationalSubgoals, Subgoals, learn, load, untrained
from rsg.subgoals.building import build, shape_of
from rsg.subgoals.learning import figures_of
from rsg.training import Run, TrainingData

DEMOS = small_demos()
FEW = DEMOS[::5]
FEW_TASKS = ("grab-axe", "mine-wood", "mine-wood then craft-wood-plank")


@pytest.fixture(autouse=True)
def one_thread():
    """Networks as small as these are slower on several."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def objective(subgoals, settings, demos):
    """Minus the loss over some demonstrations, with the same negatives each time."""
    method = RationalSubgoals(subgoals, settings, world_of, sorted({demo.task for demo in demos}))
    return method.held_out_score(demos, stream(0, "objective"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A quick run."""
    folder = tmp_path_factory.mktemp("learning") / "run"
    train(folder)
    return folder


# ---- what is learned


def test_subgoals_are_learned(tmp_path):
    """Some seconds, six demonstrations of each task: then plans do what was asked, strictly, on new maps."""
    settings = quick(steps=150, batch=32, curriculum=50, check_every=50, hidden=64)
    learned = learn(DEMOS, world_of, tmp_path / "run", settings, tensorboard=False)
    scores = [row["held_out"] for row in learned.progress.history]
    assert scores[-1] == max(scores) > scores[0]
    assert evaluate_planning(SOURCE, Starts("compositional", 2), learned)["success"] >= 0.85
    best = load(tmp_path / "run").classifiers
    assert evaluate_planning(SOURCE, Starts("novel", 2), best.goals)["success"] >= 0.75
    assert (
        evaluate_planning(SOURCE, Starts("novel", 2), untrained(SOURCE.vocabulary, CraftingWorld()).goals)["success"]
        < 0.2
    )


OPTIONS = [
    {},
    {"single": True},
    {"single": False},
    {"depth": 2},
    {"negatives": 0},
    {"curriculum": 0},
    {"gamma": 0.0},
    {"alpha": 0.5, "weight": 2.0, "beta": 2.0},
    {"encoder": "seen"},
]


@pytest.mark.parametrize("changes", OPTIONS, ids=lambda changes: " ".join(f"{k}={v}" for k, v in changes.items()))
def test_every_option_runs_and_lowers_the_loss(changes):
    demos = [demo for demo in DEMOS if demo.task in FEW_TASKS]
    settings = quick(**{"steps": 20, "rate": 0.02, "negatives": 2, "hidden": 8, **changes})
    nothing = replace(settings, steps=1, rate=1e-9, rate_end=1e-9)
    before, after = (learn(demos, world_of, None, values) for values in (nothing, settings))
    assert objective(after.classifiers, settings, demos) > objective(before.classifiers, settings, demos) + 0.1
    assert all(np.isfinite(list(row.values())).all() for row in after.progress.history)


def losses(settings, fast=True):
    """The loss of each step."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SetClassifiers, "fast", fast)
        learn(DEMOS, world_of, None, settings, tracker=lambda _, figures: found.append(figures["loss"]))
    return found


def test_the_general_path_learns_the_same():
    """Ordinary torch in the place of the compiled form: the same loss to single precision."""
    one, other = (losses(quick(steps=6, check_every=6), fast) for fast in (True, False))
    assert one != other  # they are two computations
    np.testing.assert_allclose(one, other, rtol=2e-5)


def test_with_one_classifier_i_is_the_contrary_of_g():
    learned = train(single=True).classifiers
    states = DEMOS[0].states
    odds = learned.evaluate(world_of(DEMOS[0]), states, [0, 1, 2])
    assert np.array_equal(odds[..., 1], -odds[..., 0])


def assert_slopes(module, loss, rng, least):
    """The gradients of the parameters are those of the loss by finite differences, in a few entries of each."""
    found, expected = [], []
    for parameter in module.parameters():
        slopes, values = parameter.grad.numpy().ravel(), parameter.data.numpy().reshape(-1)
        entries = np.unique(rng.choice(np.flatnonzero(slopes), 4))

        def at(x, values=values):
            values[:] = x
            return loss()

        before = values.copy()
        differs, smooth = differences(at, values, entries)
        values[:] = before
        found += slopes[entries][smooth].tolist()
        expected += differs[smooth].tolist()
    assert len(found) >= least
    assert relative_error(np.array(found), np.array(expected)) <= 1e-6


# ---- the same again


def test_the_same_seed_gives_the_same_bits(tmp_path, folder):
    torch.manual_seed(77)
    train(tmp_path / "again")
    assert outcome(tmp_path / "again") == outcome(folder)
    train(tmp_path / "other", seed=1)
    assert outcome(tmp_path / "other") != outcome(folder)


def test_a_store_and_a_list_give_the_same_bits(tmp_path, folder):
    learn(small_store(tmp_path / "store"), world_of, tmp_path / "run", quick(), tensorboard=False)
    assert outcome(tmp_path / "run") == outcome(folder)


def in_room(**changes):
    return (room_demos(), room_of), room_quick(**changes)


CASES = {
    "crafting": lambda: ((DEMOS, world_of), quick()),
    "relative": lambda: in_room(),
    "seen": lambda: in_room(encoder="seen"),
}


@pytest.mark.parametrize(("kind", "at"), [("crafting", 1), ("crafting", 5), *((kind, 11) for kind in CASES)])
def test_a_run_goes_on_bit_for_bit(tmp_path, kind, at):
    def stop(progress, figures):
        if progress.step == at:
            raise ZeroDivisionError

    where, settings = CASES[kind]()
    whole = learn(*where, tmp_path / "whole", settings, tensorboard=False)
    with pytest.raises(ZeroDivisionError):
        learn(*where, tmp_path / "run", settings, tracker=stop, tensorboard=False)
    again = learn(*where, tmp_path / "run", settings, tensorboard=False)
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")
    demo, loaded = where[0][-1], load(tmp_path / "run").classifiers
    odds = [one.evaluate(where[1](demo), demo.states, [0, 1]) for one in (whole.classifiers, again.classifiers, loaded)]
    assert np.array_equal(odds[0], odds[1])
    assert np.array_equal(odds[0], odds[2])


@pytest.mark.parametrize("kind", ["crafting", "relative"])
def test_the_gradient_of_the_loss(kind):
    """Score and contrast, through the network, against finite differences."""
    (demos, where), settings = CASES[kind]()
    tasks = list(dict.fromkeys(demo.task for demo in demos if "then" in demo.task))[:3]
    demos = [min((demo for demo in demos if demo.task == task), key=len) for task in tasks]
    settings = replace(settings, depth=1, gamma=0.3, hidden=6)
    terms = list(dict.fromkeys(name for task in tasks for name in machine_of(task).names))
    world, rng = where(demos[0]), stream(0, "gradient")
    module = build(settings, terms, shape_of(settings, world.encode(demos[0].states[:1]), world)).double()
    randomised(module, rng).fast = False
    method = RationalSubgoals(module, settings, where, tasks)

    def loss():
        negatives = stream(0, "negatives")
        return figures_of([method.explain(demo, method.candidates(demo, negatives)) for demo in demos], 0.3)["loss"]

    figures = method.gradients(demos, stream(0, "negatives"), 0)
    assert figures["loss"] == pytest.approx(loss(), abs=1e-12)
    assert_slopes(module, loss, rng, 8)


def test_new_terms_leave_old_ones_as_they_are_in_playroom():
    demos = room_demos()
    world, settings = room_of(demos[0]), room_quick()
    shape = shape_of(settings, world.encode(demos[0].states[:1]), world)
    few, many = build(settings, ["ring-bell"], shape), build(settings, ["ring-bell", "touch-monkey"], shape)
    before = few.evaluate(world, demos[-1].states, [0])
    few.grow(["touch-monkey"], settings.seed)
    assert np.array_equal(few.evaluate(world, demos[-1].states, [0]), before)
    assert bits(few.state_dict()) == bits(many.state_dict())


def test_the_encoder_of_playroom_elsewhere():
    with pytest.raises(RsgError, match="sees a robot among things, as in Playroom; use --encoder seen"):
        learn(DEMOS, world_of, None, quick(encoder="relative"))
    learned = learn(room_demos(), room_of, None, room_quick(steps=1)).classifiers
    other = PlayroomWorld(load_layout("twelve"))
    count = len(other.layout.effectors)
    with pytest.raises(RsgError, match=f"learned in a room with 6 effectors, this one has {count}"):
        learned.evaluate(other, other.sample(stream(0, "small"), 1), [0])


def test_a_small_cache_of_graphs_changes_nothing(monkeypatch):
    method, plenty = (
        RationalSubgoals(untrained(SOURCE.vocabulary, CraftingWorld()), quick(), world_of, ["grab-axe", "mine-wood"])
        for _ in range(2)
    )
    for demo in DEMOS[:60]:
        plenty.ground(demo)
    monkeypatch.setattr("rsg.training.data.CACHE", 50_000)
    for demo in DEMOS[:60]:
        one, other = method.ground(demo), plenty.grounds_kept[demo]
        assert np.array_equal(one.graph.states, other.graph.states)
        assert np.array_equal(one.walk.taken, other.walk.taken)
        assert method.grounds_kept.bytes == sum(ground.size_bytes for ground in method.grounds_kept.values())
        assert method.grounds_kept.bytes <= 50_000 or len(method.grounds_kept) == 1
    assert 1 <= len(method.grounds_kept) < len(plenty.grounds_kept) == 60


# ---- never the truth


def test_training_never_sees_the_truth(tmp_path, folder, monkeypatch):
    def forbidden(*arguments, **more):
        pytest.fail("training asked for the truth")

    modules = [
        sys.modules[f"rsg.{name}"] for name in ("domains.crafting", "domains.crafting.truth", "domains.crafting.domain")
    ]
    for module in modules:
        for name in ("truth", "TrueGoals", "goals", "expert"):
            if callable(getattr(module, name, None)):
                monkeypatch.setattr(module, name, forbidden)
    monkeypatch.setattr("rsg.domains.crafting.kernels.truth_rows", forbidden)
    for name in ("truth", "true_goals", "start", "demonstrate"):
        monkeypatch.setattr(Crafting, name, forbidden)
    train(tmp_path / "run")
    assert outcome(tmp_path / "run") == outcome(folder)
    assert load(tmp_path / "run").classifiers.terms


def test_reports_are_only_reported(tmp_path, folder):
    def report(step, method):
        rate = evaluate_planning(SOURCE, Starts("primitive", 1), method.module.goals)["success"]
        return {"success": rate}

    learn(DEMOS, world_of, tmp_path / "run", quick(), reports=[report], tensorboard=False)
    found, plain = outcome(tmp_path / "run"), outcome(folder)
    assert {which: part[0] for which, part in found.items()} == {which: part[0] for which, part in plain.items()}
    assert all("success" in row for row in found["last"][1]["history"])


# ---- from one run to the next


def test_new_demonstrations_and_new_terms(tmp_path):
    old = [demo for demo in DEMOS if demo.task in ("grab-axe", "grab-key", "mine-wood")]
    new = [demo for demo in DEMOS if "grab-pickaxe" in demo.task or demo.task == "mine-wood"]
    first = train(tmp_path / "first", old).classifiers
    before = bits(first.state_dict())
    learned = learn(
        new,
        world_of,
        tmp_path / "second",
        quick(steps=1, rate=1e-12, rate_end=1e-12),
        start=Subgoals(first),
        tensorboard=False,
    ).classifiers
    known = len(load(tmp_path / "first").classifiers.terms)
    assert learned.terms[:known] == load(tmp_path / "first").classifiers.terms
    assert set(learned.terms) > {"grab-axe", "grab-key", "mine-wood", "grab-pickaxe"}
    for name, value in load(tmp_path / "first").classifiers.state_dict().items():
        grown = learned.state_dict()[name]
        assert len(grown) > len(value)
        torch.testing.assert_close(grown[:known], value, rtol=0, atol=1e-9)
        fresh = SetClassifiers(16, single=learned.single).grow(learned.terms[known:]).state_dict()[name]
        torch.testing.assert_close(grown[known:], fresh, rtol=0, atol=1e-9)
    assert bits(first.state_dict()) == before  # what was begun with is left as it was
    second = load(tmp_path / "second").classifiers
    assert bits(second.state_dict()) == bits(learned.state_dict())


def test_a_run_that_began_with_another_goes_on_bit_for_bit(tmp_path, folder):
    def go_on(out, tracker=None):
        start = load(folder).classifiers
        learn(FEW, world_of, out, quick(seed=3), start=Subgoals(start), tracker=tracker, tensorboard=False)

    def stop(progress, figures):
        if progress.step == 7:
            raise ZeroDivisionError

    go_on(tmp_path / "whole")
    with pytest.raises(ZeroDivisionError):
        go_on(tmp_path / "run", stop)
    go_on(tmp_path / "run")
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


@pytest.mark.parametrize("changes", [{"hidden": 8}, {"single": False}, {"encoder": "seen"}], ids=str)
def test_a_start_that_does_not_fit_the_settings(tmp_path, folder, changes):
    """A run must be loadable afterwards: either it is refused, or it goes on as what it is."""
    start = load(folder).classifiers
    try:
        learn(FEW, world_of, tmp_path / "run", quick(steps=2, **changes), start=Subgoals(start), tensorboard=False)
    except RsgError:
        assert not (tmp_path / "run").exists()
    else:
        load(tmp_path / "run")


def test_the_best_or_the_last(folder):
    run = Run(folder)
    for which in ("best", "last"):
        loaded = load(folder, which=which).classifiers
        assert not loaded.training
        for name, value in run.load(which).tensors.items():
            if name.startswith("module."):
                assert torch.equal(loaded.state_dict()[name.removeprefix("module.")], value)


# ---- what is refused


def test_a_term_that_was_never_learned(tmp_path):
    demos = [demo for demo in DEMOS if demo.task in ("grab-axe", "mine-wood")]
    learned = train(None, demos, steps=1).classifiers
    world = world_of(demos[0])
    with pytest.raises(RsgError, match="never learned the term 'mine-wool'; did you mean mine-wood"):
        learned.goals(world, ["mine-wool"], demos[0].states[0])
    with pytest.raises(RsgError, match="there are: grab-axe, mine-wood"):
        learned.goals(world, ["toggle-switch"], demos[0].states[0])


def changed(demo, **values):
    parts = {"states": demo.states, "actions": demo.actions, "task": demo.task, "setting": demo.setting}
    return Demonstration(**{**parts, **values})


def with_one(broken, number=30):
    return [*DEMOS[:number], broken, *DEMOS[number + 1 :]]


def refused(demos, *parts, **changes):
    settings = quick(curriculum=0, batch=64, held_out=0, **changes)  # all are seen in the first steps
    with pytest.raises(RsgError) as caught:
        learn(demos, world_of, None, settings)
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


def test_states_of_another_width():
    refused([changed(demo, states=demo.states[:, :-1]) for demo in DEMOS], "not states of a 6×6 Crafting World")
    refused(with_one(changed(DEMOS[30], states=DEMOS[30].states[:, :-1])), "not states of a", "episode 30")


def test_a_step_that_does_not_follow_from_its_action():
    demo = DEMOS[30]
    actions = demo.actions.copy()
    actions[1] = (actions[1] + 1) % 4
    refused(with_one(changed(demo, actions=actions)), "step 1", "leads elsewhere", "episode 30")
    actions[1] = 99
    refused(with_one(changed(demo, actions=actions)), "step 1", "episode 30")


def test_actions_that_are_vectors():
    refused([changed(demo, actions=demo.actions[:, None].astype(float)) for demo in DEMOS], "actions")


def test_demonstrations_without_the_setting_of_their_world():
    refused([changed(demo, setting="") for demo in DEMOS], "this is not a setting of Crafting World: ''")


def test_a_huge_rate(tmp_path):
    with pytest.raises(RunError, match=r"the loss is (nan|inf) at step \d+; try a lower rate"):
        train(tmp_path / "run", rate=1e30)
    for which in Run(tmp_path / "run").steps:
        assert all(value.isfinite().all() for value in Run(tmp_path / "run").load(which).tensors.values())


def test_other_demonstrations_do_not_go_into_a_run(tmp_path, folder):
    before = fingerprint(folder)
    for demos, changes in [(FEW, {}), (DEMOS, {"rate": 0.5}), (DEMOS, {"seed": 1})]:
        with pytest.raises(RunError):
            train(folder, demos, **changes)
    with pytest.raises(RunError, match="other demonstrations"):
        learn(DEMOS, world_of, folder, quick(), per_task=2, tensorboard=False)
    assert fingerprint(folder) == before


@pytest.mark.parametrize("device", ["cuda:7", "meta", "abacus"])
def test_a_device_that_is_not_there(tmp_path, device):
    with pytest.raises(RsgError, match=device):
        train(tmp_path / "run", device=device)
    assert not (tmp_path / "run").exists()


def test_the_same_task_in_other_words_is_no_negative():
    """A demonstration is not compared with its own task, however that is written."""
    demos = [changed(demo, task=task) for demo, task in zip(DEMOS[:2], ("grab-pickaxe", "GRAB_PICKAXE"), strict=True)]
    data = TrainingData(demos, quick())
    method = RationalSubgoals(untrained(["grab-pickaxe"], CraftingWorld()), quick(), world_of, data.descriptions)
    candidates = method.candidates(demos[0], stream(0, "negatives"))
    assert [str(machine.task) for machine in candidates] == ["grab-pickaxe"]
