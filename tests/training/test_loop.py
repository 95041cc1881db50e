"""The training loop, with a method that is small enough to be followed by hand."""

import json
import math
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.training.examples import fingerprint, outcome
from torch import nn

from rsg.core.errors import RsgError, RunError
from rsg.demos import Demonstration
from rsg.training import Run, TrainingData, TrainingSettings, fit, writing
from rsg.training.loop import rate_at, weights

SETTINGS = TrainingSettings(steps=20, batch=4, rate=0.1, rate_end=0.01, curriculum=0, check_every=5, save_every=3)
DEMOS = [Demonstration(np.full((3, 2), i, dtype=float), np.zeros(2, int), "ab"[i % 2]) for i in range(40)]


class Line:
    """Fits a line; its loss depends on the batch and on chance.

    Args:
        settings: of the loop.
        scores: the held-out scores, in the place of its own.
        before: called before each batch with the number of batches so far.
    """

    name = "line"

    def __init__(self, settings=SETTINGS, scores=(), before=lambda number: None):
        self.settings, self.module = settings, nn.Linear(2, 1)
        self.scores, self.before, self.batches = list(scores), before, []
        with torch.no_grad():
            for parameter in self.module.parameters():
                parameter.fill_(0.5)

    def gradients(self, demos, rng, step):
        self.before(len(self.batches))
        self.batches.append([int(demo.states[0, 0]) for demo in demos])
        seen = torch.as_tensor(np.stack([demo.states[0] for demo in demos]), dtype=torch.float32) / 40
        loss = ((self.module(seen) - float(rng.normal())) ** 2).mean()
        loss.backward()
        return {"loss": loss.item(), "chance": float(rng.random())}

    def held_out_score(self, demos, rng):
        if self.scores:
            return self.scores.pop(0)
        return -float(self.module.weight.detach().abs().sum()) - float(rng.random())

    def about(self):
        return {"size": 2}


def run(folder, settings=SETTINGS, demos=DEMOS, tracker=None, reports=(), pace=None, **more):
    """Train a line; gives how it went."""
    looking = {"tracker": tracker, "reports": reports, "pace": pace, "tensorboard": False}
    return fit(Line(settings, **more), TrainingData(demos, settings), folder, **looking)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run leaves that nobody disturbed."""
    folder = tmp_path_factory.mktemp("loop") / "run"
    assert run(folder).done == "all steps were done"
    return outcome(folder)


# ---- the same again


def test_the_same_seed_gives_the_same_bits(tmp_path, whole):
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002, nobody's chance but the run's own counts
    run(tmp_path / "again")
    assert outcome(tmp_path / "again") == whole
    run(tmp_path / "other", replace(SETTINGS, seed=1))
    assert outcome(tmp_path / "other") != whole


@pytest.mark.parametrize("at", [0, 1, 4, 7, 19])
def test_an_error_in_the_middle_costs_no_more_than_a_few_steps(tmp_path, whole, at):
    def fail(number):
        if number == at:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(tmp_path / "run", before=fail)
    started = []
    assert run(tmp_path / "run", before=started.append).step == 20
    assert len(started) <= 20 - at + 3  # it saves at every third step, and at every better score
    assert outcome(tmp_path / "run") == whole


def test_stopping_again_and_again(tmp_path, whole):
    """Ctrl-C ends each session after one more step."""
    for step in range(1, 21):
        progress = run(tmp_path / "run", before=lambda number: signal.raise_signal(signal.SIGINT))
        assert progress.step == Run(tmp_path / "run").steps["last"] == step
        assert bool(progress.done) == (step == 20)
    assert outcome(tmp_path / "run") == whole
    progress = run(tmp_path / "run", before=lambda number: pytest.fail("it was done"))
    assert (progress.step, progress.done) == (20, "all steps were done")
    assert outcome(tmp_path / "run") == whole


def test_ctrl_c_is_as_before_when_training_is_over(tmp_path):
    handler = signal.getsignal(signal.SIGINT)
    run(tmp_path / "run")
    assert signal.getsignal(signal.SIGINT) is handler

    def twice(number):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "other", before=twice)
    assert signal.getsignal(signal.SIGINT) is handler


def test_training_in_another_thread(tmp_path, whole):
    thread = threading.Thread(target=run, args=(tmp_path / "run",))
    thread.start()
    thread.join()
    assert outcome(tmp_path / "run") == whole


def test_torch_gets_its_threads_back(tmp_path):
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        seen = []
        run(tmp_path / "run", before=lambda number: seen.append(torch.get_num_threads()))
        assert set(seen) == {1}
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)


# ---- the held-out score decides


def test_the_best_checkpoint_is_that_of_the_best_held_out_score(tmp_path):
    kept = {}

    def report(step, method):
        kept[step] = {name: value.clone() for name, value in method.module.state_dict().items()}
        return {}

    progress = run(tmp_path / "run", scores=[-3.0, -1.0, -2.0, -1.0], reports=[report])
    assert (progress.best, progress.best_step, progress.stale) == (-1.0, 10, 2)  # an equal score is not better
    assert [row["held_out"] for row in progress.history] == [-3.0, -1.0, -2.0, -1.0]
    stored = Run(tmp_path / "run")
    assert stored.steps == {"last": 20, "best": 10}
    for which, step in stored.steps.items():
        assert all(torch.equal(value, kept[step][name]) for name, value in weights(stored.load(which)).items())


@pytest.mark.parametrize(("patience", "end"), [(1, 15), (2, 20), (5, 35)])
def test_patience_ends_training(tmp_path, patience, end):
    settings = replace(SETTINGS, steps=100, patience=patience)
    progress = run(tmp_path / "run", settings, scores=[-3.0, -1.0, *[-2.0] * 20])
    assert progress.step == end
    assert progress.done == "the held-out score has not risen since step 10"
    assert Run(tmp_path / "run").steps == {"last": end, "best": 10}


def test_patience_begins_after_the_curriculum(tmp_path):
    settings = replace(SETTINGS, steps=100, patience=2, curriculum=30)
    progress = run(tmp_path / "run", settings, scores=[-1.0, *[-2.0] * 20])
    assert (progress.step, progress.best_step) == (40, 5)


def test_the_last_step_is_always_looked_at(tmp_path):
    progress = run(tmp_path / "run", replace(SETTINGS, steps=7, check_every=50))
    assert [row["step"] for row in progress.history] == [7]
    assert Run(tmp_path / "run").steps == {"last": 7, "best": 7}


def test_a_budget_of_time_ends_training_with_something_learned(tmp_path):
    settings = replace(SETTINGS, steps=10_000, check_every=5000)
    progress = run(tmp_path / "run", settings, pace=lambda now: now.seconds / 0.01)
    assert progress.step < 5000
    assert progress.done == "it went as far as it may"
    assert progress.best is not None
    assert set(Run(tmp_path / "run").steps) == {"last", "best"}


@pytest.mark.parametrize("asked", range(1, 7))
def test_training_never_ends_without_a_look_whenever_the_time_is_over(tmp_path, asked):
    shares = iter([0.0] * asked + [1.0] * 20)
    progress = run(tmp_path / "run", replace(SETTINGS, steps=10_000, check_every=5000), pace=lambda _: next(shares))
    assert progress.best_step == progress.step
    assert set(Run(tmp_path / "run").steps) == {"last", "best"}


def test_the_score_is_the_mean_over_all_that_is_held_out(tmp_path):
    settings = replace(SETTINGS, steps=5, batch=3)  # four are held out: a batch of three, and one of one
    progress = run(tmp_path / "run", settings, scores=[-1.0, -5.0])
    assert progress.best == pytest.approx(-2.0)


# ---- what is reported


def test_reports_are_only_reported(tmp_path, whole):
    def report(step, method):
        torch.manual_seed(step)
        torch.rand(3)
        return {"success": step / 100, "other": 1.0}

    tracked = []
    run(tmp_path / "run", reports=[report], tracker=lambda progress, figures: tracked.append((progress.step, *figures)))
    looks = dict.fromkeys((5, 10, 15, 20), ("held_out", "success", "other", "cpu_seconds"))
    assert tracked == [(step, "loss", "chance", *looks.get(step, ())) for step in range(1, 21)]
    found = outcome(tmp_path / "run")
    for which in whole:
        assert found[which][0] == whole[which][0]  # all tensors
        history = found[which][1]["history"]
        assert [row.pop("success") for row in history] == [row["step"] / 100 for row in history]
        assert {row.pop("other") for row in history} == {1.0}
        assert found[which][1] == whole[which][1]


def test_curves_for_tensorboard(tmp_path, whole):
    fit(Line(), TrainingData(DEMOS, SETTINGS), tmp_path / "run", reports=[lambda step, method: {"success": 0.5}])
    assert list((tmp_path / "run" / "tensorboard").glob("events.*"))
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    curves = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    assert {"loss", "held_out", "success", "cpu_seconds"} <= set(curves.Tags()["scalars"])
    assert [point.step for point in curves.Scalars("held_out")] == [5, 10, 15, 20]
    assert outcome(tmp_path / "run")["last"][0] == whole["last"][0]
    run(tmp_path / "plain")
    assert not (tmp_path / "plain" / "tensorboard").exists()


def test_a_tracker_that_is_none(tmp_path):
    with pytest.raises(RsgError, match="tracker is a function of progress and figures, not 'mlflow'"):
        run(tmp_path / "run", tracker="mlflow")


def test_what_a_run_says_of_itself(tmp_path):
    fit(Line(), TrainingData(DEMOS, SETTINGS), tmp_path / "run", tensorboard=False, source={"demos": "mine"})
    about = Run(tmp_path / "run").about
    assert (about["method"], about["size"], about["source"]) == ("line", 2, {"demos": "mine"})
    assert about["settings"] == json.loads(json.dumps(vars(SETTINGS)))
    assert about["data"] == TrainingData(DEMOS, SETTINGS).fingerprint
    notes = Run(tmp_path / "run").load("last").notes
    assert notes["seconds"] > 0
    assert set(notes["history"][0]) == {"step", "loss", "chance", "held_out"}


def test_the_rate_falls_along_a_cosine():
    assert rate_at(SETTINGS, 0.0) == pytest.approx(0.1)
    assert rate_at(SETTINGS, 0.25) == pytest.approx(0.055 + 0.045 / math.sqrt(2))
    assert rate_at(SETTINGS, 0.5) == pytest.approx(0.055)
    assert rate_at(SETTINGS, 1.0) == pytest.approx(0.01)
    rates = [rate_at(SETTINGS, step / 20) for step in range(21)]
    assert rates == sorted(rates, reverse=True)


def test_the_rate_falls_with_the_pace(tmp_path):
    """Whichever is further: with the pace of 20 steps, 10,000 are trained as 20 are."""
    paces = {"steps": (20, None), "pace": (10_000, lambda now: now.step / 20), "slow": (20, lambda _: 0)}
    for name, (steps, pace) in paces.items():
        run(tmp_path / name, replace(SETTINGS, steps=steps), pace=pace)
    wanted = Run(tmp_path / "steps").load("last").tensors
    for name in ("pace", "slow"):
        found = Run(tmp_path / name).load("last").tensors
        assert all(torch.equal(found[key], wanted[key]) for key in wanted)


# ---- what is refused


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number(tmp_path, loss, monkeypatch):
    gradients = Line.gradients

    def broken(self, demos, rng, step):
        figures = gradients(self, demos, rng, step)
        return {**figures, "loss": loss} if len(self.batches) == 12 else figures

    monkeypatch.setattr(Line, "gradients", broken)
    with pytest.raises(RunError, match=rf"the loss is {loss} at step 11; try a lower rate \(--set rate=...\)"):
        run(tmp_path / "run")
    saved = Run(tmp_path / "run").load("last")
    assert saved.notes["step"] < 12
    assert all(value.isfinite().all() for value in saved.tensors.values())


@pytest.mark.parametrize("score", [math.nan, -math.inf])
def test_a_held_out_score_that_is_no_number(tmp_path, score):
    with pytest.raises(RunError, match=rf"the held-out score is {score} at step 10; try a lower rate"):
        run(tmp_path / "run", scores=[-1.0, score])
    assert Run(tmp_path / "run").steps["best"] == 5


def refused(folder, problem, **more):
    before = fingerprint(folder)
    with pytest.raises(RsgError) as caught:
        run(folder, **more)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert fingerprint(folder) == before


def test_a_run_goes_on_with_what_it_was_begun_with(tmp_path):
    folder = tmp_path / "run"
    run(folder, before=lambda number: signal.raise_signal(signal.SIGINT))
    refused(folder, f"{folder} was begun with rate=0.1; a run goes on with", settings=replace(SETTINGS, rate=0.2))
    refused(folder, f"{folder} was trained on other demonstrations", demos=DEMOS[1:])


def test_a_run_of_something_else(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    run(folder)
    with monkeypatch.context() as patch:
        patch.setattr(Line, "name", "circle")
        refused(folder, "was begun with another method")
    with monkeypatch.context() as patch:
        patch.setattr(Line, "about", lambda self: {"size": 3})
        refused(folder, "was begun with another size")


def test_a_run_that_has_more_settings(tmp_path):
    """Such as one of a later version."""
    about = {"method": "line", "settings": {**vars(SETTINGS), "warmth": 3}, "size": 2}
    Run.create(tmp_path / "run", {**about, "data": TrainingData(DEMOS, SETTINGS).fingerprint})
    refused(tmp_path / "run", "warmth")


def test_two_trainers_in_one_folder(tmp_path):
    Run.create(tmp_path / "run", {"method": "line"})
    with writing(tmp_path / "run"):
        refused(tmp_path / "run", "another process is training in")
