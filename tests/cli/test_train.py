"""`rsg train` and `rsg info`, and the subgoals of a run in `rsg plan` and `rsg eval`."""

import hashlib
import json
import os
import shutil
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from tests.training.examples import as_words, bits, fingerprint, outcome, small_demos, small_store

from rsg.demos import Demonstration, Store
from rsg.demos.store import write_shard
from rsg.domain import find
from rsg.subgoals import load
from rsg.training import Run, Saved, writing

DEMOS = small_demos()
SIMPLE = [demo for demo in DEMOS if demo.task in ("grab-axe", "grab-key", "mine-wood")]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with stores of demonstrations; `store` is the usual one."""
    home = tmp_path_factory.mktemp("train")
    small_store(home / "store")
    small_store(home / "simple", SIMPLE)
    return home


@pytest.fixture(scope="module")
def folder(home):
    """A finished run on a few terms, made once; tests that change it take a copy."""
    from rsg.cli.main import main

    with pytest.raises(SystemExit) as stop:
        main(["train", "crafting", "--out", str(home / "run"), "--demos", str(home / "simple"), "--json", *as_words()])
    assert stop.value.code == 0
    return home / "run"


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of the run that may be damaged."""
    return shutil.copytree(folder, tmp_path / "copy")


def reseal(folder, change):
    """Change what `run.json` says, with the checksum that goes with it."""
    content = json.loads((folder / "run.json").read_text())
    change(content)
    content["sha256"] = ""
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    (folder / "run.json").write_text(json.dumps(content).replace('"sha256": ""', f'"sha256": "{digest}"'))


def refused(rsg, watched, words, *parts):
    """One sentence on stderr, exit code 2, and nothing that was there is touched."""
    before = fingerprint(watched)
    code, out, err = rsg(*map(str, words))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for part in parts:
        assert str(part) in err
    after = fingerprint(watched)
    assert {name: after.get(name) for name in before} == before


# ---- training


def test_train_for_a_person(rsg, home, tmp_path):
    run = tmp_path / "run"
    code, out, err = rsg("train", "crafting", "--out", str(run), "--demos", str(home / "store"), *as_words())
    assert code == 0
    assert "12 steps, all steps were done; best held-out score" in out
    assert "the network 'sets' learned what 26 terms mean" in out
    assert f"rsg eval crafting --subgoals {run} --split novel" in out
    assert f"rsg info {run}" in out
    lines = err.splitlines()
    assert [line.split()[1] for line in lines] == ["4/12", "8/12", "12/12"]
    assert all("loss" in line and "held-out" in line for line in lines)
    assert list((run / "tensorboard").iterdir())
    code, out, err = rsg("info", str(run))
    assert (code, err) == (0, "")
    for part in ("step 12 of 12 (all steps were done)", str(home / "store"), "terms  26: grab-pickaxe", "history"):
        assert part in out
    assert "hidden           16   (default 128)" in out
    assert "weight           1.0\n" in out


def test_train_for_a_machine(rsg, home, tmp_path):
    run = tmp_path / "run"
    words = ["--out", str(run), "--demos", str(home / "store"), "--json", *as_words()]
    code, out, err = rsg("train", "crafting", *words)
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert (values["run"], values["step"], values["ended"]) == (str(run), 12, "all steps were done")
    assert values["cpu_seconds"] > 0
    code, out, _ = rsg("info", str(run), "--json")
    about = json.loads(out)
    assert about["settings"]["hidden"] == 16
    assert about["source"] == {
        "world": "crafting",
        "demos": str(home / "store"),
        "per_task": None,
        "from": None,
        "setting": Store(home / "store")[0].setting,
    }
    assert [row["step"] for row in about["checkpoints"]["last"]["history"]] == [4, 8, 12]
    assert about["checkpoints"]["best"]["best"] == values["held_out"]


def test_without_demonstrations_they_are_made_beside_the_run(rsg, tmp_path):
    words = ["--out", str(tmp_path / "run"), "--per-task", "1", "--seed", "3", "--json", *as_words(steps=2)]
    code, _, err = rsg("train", "crafting", *words)
    assert (code, err) == (0, "")
    store = Store(tmp_path / "run-demos")
    assert (len(store), store.manifest.recipe["seed"]) == (52, 3)
    assert Run(tmp_path / "run").about["settings"]["seed"] == 3


def test_seed_and_encoder_and_per_task(rsg, home, tmp_path):
    words = ["--demos", str(home / "store"), "--json", *as_words(steps=1), "--per-task", "2", "--encoder", "seen"]
    assert rsg("train", "crafting", "--out", str(tmp_path / "run"), "--seed", "5", *words)[0] == 0
    about = Run(tmp_path / "run").about
    assert (about["settings"]["seed"], about["settings"]["encoder"], about["source"]["per_task"]) == (5, "seen", 2)
    assert rsg("train", "crafting", "--out", str(tmp_path / "run"), "--resume", "--json")[0] == 0


def test_watching_tasks_whose_terms_are_not_learned(rsg, home, tmp_path):
    words = ["train", "crafting", "--out", tmp_path / "run", "--demos", home / "simple", "--watch", "1"]
    refused(rsg, home, [*words, *as_words(steps=4, check_every=4)], "never learned the term")


def test_watching_success(rsg, home, tmp_path):
    for name, more in (("plain", []), ("watched", ["--watch", "1"])):
        words = ["--out", str(tmp_path / name), "--demos", str(home / "store"), *more]
        code, _, err = rsg("train", "crafting", *words, *as_words(steps=4))
        assert code == 0
        assert ("success_compositional 0." in err) == bool(more)
    watched, plain = outcome(tmp_path / "watched"), outcome(tmp_path / "plain")
    assert watched["best"][0] == plain["best"][0]


def test_a_tracker_gets_the_figures_and_changes_nothing(rsg, home, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "told = []\ndef track(progress, figures):\n    told.append((progress.step, 'held_out' in figures))\n"
        "def fails(progress, figures):\n    figures['nothing']\n"
    )
    words = ["train", "crafting", "--demos", home / "simple", *as_words()]
    assert rsg(*words, "--out", "run", "--tracker", "mine.py:track")[0] == 0
    told = next(module for name, module in sys.modules.items() if name.startswith("rsg_domain_mine")).told
    assert [step for step, _ in told] == list(range(1, 13))
    assert told[-1][1]
    assert outcome(tmp_path / "run") == outcome(folder)
    sentence = f"error: fails failed: KeyError: 'nothing' ({tmp_path / 'mine.py'}, line 5)"
    assert sentence in rsg(*words, "--out", "other", "--tracker", "mine.py:fails")[2]


# ---- going on


def test_resume_goes_on_where_it_stopped(rsg, home, folder, tmp_path):
    run = tmp_path / "run"

    @contextmanager
    def interrupting(settings, tracker):
        def watch(progress, figures):
            if progress.step == 5:
                os.kill(os.getpid(), 2)

        yield watch

    words = ["train", "crafting", "--out", str(run)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rsg.cli.train.training_bar", interrupting)
        code, out, err = rsg(*words, "--demos", str(home / "simple"), *as_words())
    assert (code, out) == (130, "")
    assert f"interrupted at step 6; all is saved. To go on: rsg train crafting --out {run} --resume\n" in err
    assert Run(run).steps["last"] == 6
    code, out, _ = rsg("info", str(run))
    assert "step 6 of 12 (not finished: rsg train ... --resume goes on)" in out
    assert rsg(*words, "--resume", "--json")[0] == 0
    assert outcome(run) == outcome(folder)
    code, out, _ = rsg(*words, "--resume", "--json")  # there is nothing left to do
    assert (code, json.loads(out)["step"]) == (0, 12)
    assert outcome(run) == outcome(folder)


def test_resume_with_the_demonstrations_in_another_place(rsg, home, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "run")
    shutil.copytree(home / "simple", tmp_path / "moved")
    words = ["train", "crafting", "--out", str(tmp_path / "run"), "--resume", "--json"]
    assert rsg(*words, "--demos", str(tmp_path / "moved"))[0] == 0


def test_from_goes_on_with_new_demonstrations_and_new_terms(rsg, home, folder, tmp_path):
    words = ["--demos", str(home / "store"), "--from", str(folder), "--json"]
    barely = as_words(steps=1, rate=1e-12, rate_end=1e-12)
    code, _, err = rsg("train", "crafting", "--out", str(tmp_path / "run"), *words, *barely)
    assert (code, err) == (0, "")
    old, new = load(folder).classifiers, load(tmp_path / "run").classifiers
    known = len(old.terms)
    assert new.terms[:known] == old.terms
    assert len(new.terms) == 26
    for name, value in old.state_dict().items():
        assert np.allclose(new.state_dict()[name][:known], value, rtol=0, atol=1e-9)
    assert Run(tmp_path / "run").about["source"]["from"] == str(folder)
    assert "begun with what" in rsg("info", str(tmp_path / "run"))[1]


def test_from_keeps_the_shape_of_what_was_learned(rsg, home, folder, tmp_path):
    """Sixteen hidden units, though the usual number is another."""
    words = ["--demos", str(home / "simple"), "--from", str(folder), "--json", "--set", "steps=1", "--set", "batch=4"]
    assert rsg("train", "crafting", "--out", str(tmp_path / "run"), *words)[0] == 0
    assert load(tmp_path / "run").classifiers.hidden == 16


def test_from_is_not_needed_any_more_once_there_is_a_checkpoint(rsg, home, copy, tmp_path):
    words = ["train", "crafting", "--out", str(tmp_path / "run"), "--json"]
    assert rsg(*words, "--demos", str(home / "store"), "--from", str(copy), *as_words(steps=2))[0] == 0
    before = outcome(tmp_path / "run")
    shutil.rmtree(copy)
    code, out, _ = rsg(*words, "--resume")
    assert (code, outcome(tmp_path / "run")) == (0, before), out


# ---- what is learned is used


def test_plan_and_eval_with_a_run(rsg, folder):
    code, out, _ = rsg(
        "plan", "crafting", "grab-axe then mine-wood", "--subgoals", str(folder), "--json", "--seed", "2"
    )
    assert code in (0, 1)
    assert json.loads(out)["subgoals"] == str(folder)


def test_eval_with_a_run(rsg, home, tmp_path):
    words = ["--out", str(tmp_path / "run"), "--demos", str(home / "store"), "--json", *as_words(steps=1)]
    assert rsg("train", "crafting", *words)[0] == 0
    code, out, _ = rsg("eval", "crafting", "--subgoals", str(tmp_path / "run"), "--per-task", "1", "--json")
    assert code == 0
    assert json.loads(out)["episodes"] == 12


def test_eval_with_flat_subgoals_on_larger_maps(rsg, home, tmp_path):
    """The novel tasks take place on other maps than the training tasks: either it works, or it is one sentence."""
    words = ["--out", str(tmp_path / "run"), "--demos", str(home / "store"), "--json", *as_words(steps=1)]
    assert rsg("train", "crafting", *words, "--encoder", "seen")[0] == 0
    code, _, err = rsg("eval", "crafting", "--subgoals", str(tmp_path / "run"), "--per-task", "1")
    assert code == 0 or (code == 2 and err.count("\n") == 1)


def test_a_term_that_was_never_learned(rsg, folder):
    words = ["plan", "crafting", "grab-axe then mine-coal", "--subgoals", folder]
    refused(rsg, folder, words, "these subgoals never learned the term 'mine-coal'; ")
    refused(rsg, folder, ["eval", "crafting", "--subgoals", folder, "--per-task", "1"], "never learned the term")


# ---- demonstrations that cannot be used


def changed(demo, **values):
    parts = {"states": demo.states, "actions": demo.actions, "task": demo.task, "setting": demo.setting}
    return Demonstration(**{**parts, **values})


def wrong_action(demo):
    actions = demo.actions.copy()
    actions[0] = (actions[0] + 1) % 4
    return changed(demo, actions=actions)


BAD = {
    "another width": (lambda demo: changed(demo, states=demo.states[:, :-1]), "not states of a 6×6 Crafting World"),
    "a wrong action": (wrong_action, "leads elsewhere"),
    "no setting": (lambda demo: changed(demo, setting=""), "this is not a setting of Crafting World"),
    "too many subgoals": (
        lambda demo: changed(demo, task=" then ".join(["grab-axe"] * 40)),
        "one per subgoal; and so on, 30 in all; remove them, or mend their descriptions",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_demonstrations_that_do_not_fit(rsg, tmp_path, kind):
    change, problem = BAD[kind]
    small_store(tmp_path / "store", [change(demo) for demo in SIMPLE])
    words = ["train", "crafting", "--out", tmp_path / "run", "--demos", tmp_path / "store", *as_words()]
    refused(rsg, tmp_path, words, problem)


def test_a_description_that_is_no_task(rsg, tmp_path):
    small_store(tmp_path / "store", [changed(demo, task="grab-axe then") for demo in SIMPLE])
    code, _, err = rsg("train", "crafting", "--out", str(tmp_path / "run"), "--demos", str(tmp_path / "store"))
    assert code == 2
    assert "  grab-axe then\n               ^" in err
    assert not (tmp_path / "run").exists()


def test_demonstrations_of_another_world(rsg, tmp_path):
    small_store(tmp_path / "store", SIMPLE, world="kitchen")
    words = ["train", "crafting", "--out", tmp_path / "run", "--demos", tmp_path / "store"]
    refused(rsg, tmp_path, words, f"{tmp_path / 'store'} holds demonstrations of 'kitchen', not of 'crafting'")
    assert not (tmp_path / "run").exists()


def test_an_empty_store(rsg, tmp_path):
    Store.create(tmp_path / "store", "crafting")
    words = ["train", "crafting", "--out", tmp_path / "run", "--demos", tmp_path / "store"]
    refused(rsg, tmp_path, words, "there are no demonstrations to learn from", tmp_path / "store")
    assert not (tmp_path / "run").exists()


def test_a_trajectory_of_one_state(rsg, tmp_path):
    store = Store.create(tmp_path / "store", "crafting")
    lonely = object.__new__(Demonstration)  # nobody can make one
    for name, value in {"states": DEMOS[0].states[:1], "actions": DEMOS[0].actions[:0]}.items():
        object.__setattr__(lonely, name, value)
    object.__setattr__(lonely, "task", "grab-axe")
    object.__setattr__(lonely, "setting", DEMOS[0].setting)
    store.commit(write_shard(store.folder, 0, [DEMOS[0], lonely]))
    words = ["train", "crafting", "--out", tmp_path / "run", "--demos", tmp_path / "store"]
    refused(rsg, tmp_path, words, "shard-00000.npz is damaged: 1 of its episodes cannot be read")
    assert not (tmp_path / "run").exists()


def test_a_damaged_store(rsg, tmp_path):
    store = small_store(tmp_path / "store", SIMPLE)
    shard = store.folder / store.manifest.shards[0].file
    shard.write_bytes(shard.read_bytes()[:-9])
    words = ["train", "crafting", "--out", tmp_path / "run", "--demos", tmp_path / "store"]
    refused(rsg, tmp_path, words, "is damaged: its checksum differs")
    assert not (tmp_path / "run").exists()


# ---- words that cannot be used


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--set", "stepz=3"], "there is no setting 'stepz'; did you mean steps?"),
        (["--set", "steps=many"], "steps is a whole number, not 'many'"),
        (["--set", "steps"], "a setting is written key=value, not 'steps'"),
        (["--set", "single=maybe"], "single is on or off"),
        (["--seed", "-1"], "seed must not be negative, not -1"),
        (["--per-task", "0"], "per-task must be at least 1, not 0"),
        (["--per-task", "-2"], "per-task must be at least 1, not -2"),
        (["--encoder", "set"], "there is no encoder 'set'; did you mean sets?"),
        (["--encoder", "mine"], "there is no encoder 'mine'"),
        (["--set", "encoder=mine"], "there is no encoder 'mine'"),
        (["--set", "device=abacus"], "abacus"),
        (["--set", "device=cuda:9"], "cuda:9"),
        (["--watch", "-1"], "Invalid value for '--watch'"),
        (["--tracker", "mlflow"], "'mlflow' is no tracker: name a function of progress and figures, path/to/file.py"),
        (["--tracker", "nowhere.py:f"], "there is no file"),
        (["--tracker", "json:nothing"], "json has nothing of the name 'nothing'"),
        (["--tracker", "json:__name__"], "'json:__name__' is no tracker"),
        (["--tracker", "no_such:f"], "the tracker 'no_such:f' cannot be loaded: ModuleNotFoundError"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else None,
)
def test_bad_words_are_one_sentence(rsg, home, tmp_path, words, problem):
    shutil.copytree(home / "simple", tmp_path / "store")
    base = ["train", "crafting", "--out", tmp_path / "run", "--demos", tmp_path / "store"]
    refused(rsg, tmp_path, [*base, *words], problem)
    assert not (tmp_path / "run").exists()


def test_a_rate_that_is_too_high(rsg, home, tmp_path):
    words = ["train", "crafting", "--out", tmp_path / "run", "--demos", home / "simple", *as_words(rate=1e30)]
    refused(rsg, home, words, "the loss is", "try a lower rate (--set rate=...)")


@pytest.mark.parametrize(
    "words", [["--per-task", "0"], ["--encoder", "mine"], ["--from", "nowhere"], ["--set", "device=abacus"]], ids=str
)
def test_bad_words_are_noticed_before_demonstrations_are_made(rsg, tmp_path, monkeypatch, words):
    monkeypatch.setattr("rsg.baselines.jobs.fill_with_bar", lambda *_, **__: pytest.fail("made them"))
    refused(rsg, tmp_path, ["train", "crafting", "--out", tmp_path / "run", *words])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("encoder", [[], ["--encoder", "seen"]])
def test_subgoals_of_another_world_are_no_beginning(rsg, folder, tmp_path, encoder):
    words = ["train", "playroom", "--out", tmp_path / "run", "--from", folder, *encoder]
    refused(rsg, tmp_path, words, f"{folder} was trained in 'crafting' and cannot be used in 'playroom'")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_used(rsg, home, folder, tmp_path):
    demos = ["--demos", home / "simple"]
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("mine")
    train = ["train", "crafting", *as_words(), *demos, "--out"]
    refused(rsg, home, [*train, folder], f"{folder} already holds a run; add --resume to go on with it")
    refused(rsg, tmp_path, [*train, tmp_path / "file"], "is a file, not a folder")
    refused(rsg, tmp_path, [*train, tmp_path / "file" / "run"], "cannot write")
    refused(rsg, tmp_path, [*train, tmp_path / "full"], "is not empty; choose another folder")
    refused(rsg, tmp_path, [*train[:-3], "--demos", tmp_path / "none", "--out", tmp_path / "run"], "is not a store")
    refused(rsg, home, [*train[:-3], "--demos", folder, "--out", tmp_path / "run"], "not a store of demonstrations")
    refused(rsg, home, ["train", "mars", *demos, "--out", tmp_path / "run"], "there is no world 'mars'")
    refused(rsg, home, ["info", home / "store"], "is a store of demonstrations", "not a run")
    refused(rsg, home, ["info", tmp_path / "none"], "there is no folder")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "words", [["--set", "steps=3"], ["--seed", "1"], ["--seed", "0"], ["--encoder", "seen"], ["--per-task", "3"],
              ["--per-task", "0"], ["--from", "other"]], ids=str,
)  # fmt: skip
def test_resume_takes_no_other_settings(rsg, home, folder, words):
    problem = "a run goes on with what it was begun with: with --resume give only --out and --demos"
    refused(rsg, home, ["train", "crafting", "--out", folder, "--resume", *words], problem)


def test_resume_when_the_demonstrations_are_others(rsg, home, folder, copy, tmp_path):
    words = ["train", "crafting", "--resume", "--out"]
    refused(rsg, home, [*words, folder, "--demos", home / "store"], f"{folder} was trained on other demonstrations")
    shutil.copytree(home / "simple", tmp_path / "more")
    Store(tmp_path / "more").append(SIMPLE[:3])
    refused(rsg, home, [*words, folder, "--demos", tmp_path / "more"], "was trained on other demonstrations")
    refused(rsg, home, [*words, tmp_path / "none"], "there is no folder")
    reseal(copy, lambda content: content["about"]["source"].update(demos=str(tmp_path / "gone")))
    refused(rsg, copy, [*words, copy], tmp_path / "gone")
    reseal(copy, lambda content: content["about"].update(source={}))
    refused(rsg, copy, [*words, copy], "--demos")


# ---- runs that cannot be used


def cut_tensors(folder):
    for path in folder.glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-100])


def cut_json(folder):
    path = folder / "run.json"
    path.write_bytes(path.read_bytes()[:-100])


def newer(folder):
    reseal(folder, lambda content: content.update(version=2))


def not_ours(folder):
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "model.bin").write_bytes(b"something else")


def another_method(folder):
    reseal(folder, lambda content: content["about"].update(method="gail"))


def another_kind(folder):
    """A run of something that has no settings like ours."""
    shutil.rmtree(folder)
    Run.create(folder, {"method": "gail"})


def later_settings(folder):
    reseal(folder, lambda content: content["about"]["settings"].update(warmth=3))


def no_terms(folder):
    reseal(folder, lambda content: content["about"].pop("terms"))


def other_weights(folder):
    import torch

    with writing(folder) as run:
        saved = Saved({"module.head": torch.ones(3)}, run.load("best").notes)
        run.save({"best": saved, "last": saved})


BROKEN = {
    cut_tensors: "is damaged: its checksum differs",
    cut_json: "run.json is damaged",
    newer: "has format 2, this rsg reads up to 1; update rsg",
    not_ours: "is not a run: it has no run.json",
    another_method: "",
    another_kind: "",
    later_settings: "a setting 'warmth' that this rsg does not know; update rsg",
    no_terms: "",
    other_weights: "",
}


@pytest.mark.parametrize("damage", BROKEN, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("command", ["eval", "plan", "info", "from", "resume"])
def test_a_run_that_cannot_be_used(rsg, home, copy, tmp_path, damage, command):
    damage(copy)
    words = {
        "eval": ["eval", "crafting", "--per-task", "1", "--subgoals", copy],
        "plan": ["plan", "crafting", "grab-axe", "--subgoals", copy],
        "info": ["info", copy],
        "from": ["train", "crafting", "--demos", home / "simple", "--out", tmp_path / "new", "--from", copy],
        "resume": ["train", "crafting", "--out", copy, "--resume"],
    }[command]
    harmless = {another_method, another_kind, later_settings, no_terms, other_weights}
    if command == "info" and damage in harmless:
        assert rsg(*map(str, words))[0] == 0
        return
    refused(rsg, tmp_path, words, BROKEN[damage])
    assert not (tmp_path / "new").exists()


def test_a_run_without_a_checkpoint(rsg, copy, home, tmp_path):
    about = Run(copy).about
    shutil.rmtree(copy)
    Run.create(copy, about)
    refused(rsg, copy, ["eval", "crafting", "--subgoals", copy], "has no checkpoint yet; train for some steps first")
    code, out, _ = rsg("info", str(copy))
    assert (code, "no checkpoint yet" in out) == (0, True)
    assert rsg("train", "crafting", "--out", str(copy), "--resume", "--json")[0] == 0
    assert bits(load(copy).classifiers.state_dict())


def test_all_settings_are_listed(rsg):
    from rsg.subgoals import RsgSettings

    code, out, _ = rsg("train", "crafting", "--out", "nowhere", "--set", "help")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines()} == set(vars(RsgSettings()))


def test_a_folder_that_is_in_use_is_noticed_before_demonstrations_are_made(rsg, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    refused(rsg, tmp_path, ["train", "crafting", "--out", tmp_path / "run"], "is not empty")
    assert not (tmp_path / "run-demos").exists()


def test_each_world_has_its_usual_encoder_and_settings(folder):
    from rsg.baselines.jobs import Asked
    from rsg.subgoals import RsgSettings
    from rsg.subgoals.building import network_named

    assert Asked().settings(find("crafting")) == RsgSettings()
    room = Asked(seed=3, changes=["steps=7"]).settings(find("playroom"))
    assert (room.encoder, room.steps, room.seed) == ("relative", 7, 3)
    assert room.depth == network_named("relative").preset["depth"] != RsgSettings().depth
    assert Asked(begin=folder).settings(find("crafting")).hidden == load(folder).classifiers.hidden
