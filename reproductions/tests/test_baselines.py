"""`rsg reproduce baselines`: its jobs, and what is said of them."""

from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from reproductions.baselines import FULL, IMAGE, by_subgoals, jobs, section
from reproductions.harness.jobs import finished, perform, store_folder
from reproductions.harness.printed import PAPER
from reproductions.harness.results import Results
from reproductions.harness.trials import EVALUATION_SEED, Size
from rsg.baselines import METHODS, preset
from rsg.domain import find, make_demonstrations
from rsg.evaluation.planning import Episode
from rsg.evaluation.policies import Examples, episode_film
from rsg.evaluation.report import LABELS, ORACLE, PICTURES, RSG

CHANGES = {"steps": 2, "check_every": 2, "curriculum": 1, "hidden": 4, "held_out": 2, "batch": 4}
COUNTS = {"primitive": 1, "crafting": 1, "playroom": 1, "recognised": 1}
TINY = Size(1, COUNTS, 1.0, CHANGES, quick=True)
ALL = replace(FULL, seeds=3)


def test_training_is_that_of_the_command_on_shared_demonstrations(tmp_path):
    listed = {job.name: job for job in jobs(ALL)}
    for world in ("crafting", "playroom"):
        for method in METHODS:
            settings = listed[f"{world}-{method}-seed2"].parameters["settings"]
            assert settings == {**vars(preset(method, find(world))), "seed": 2}
            (recipe,) = listed[f"{world}-{method}-seed2"].needs
            assert store_folder(tmp_path, recipe).name == f"demonstrations-{world}-train-400-seed2"
        assert f"{world}-{ORACLE}-seed2" in listed
    pictures = listed[f"crafting-{PICTURES}-seed0"].parameters["settings"]
    assert all(pictures[key] == value for key, value in IMAGE.items())
    assert f"playroom-{PICTURES}-seed0" not in listed


def test_starts_are_the_same_for_all_and_those_of_all_experiments():
    for job in jobs(ALL):
        seed = int(job.name[-1])
        asked = job.parameters["evaluations"]
        assert all(one["seed"] == EVALUATION_SEED + seed for one in asked.values())
        assert all(asked[split]["per_task"] >= 20 for split in ("compositional", "novel"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Those of RSG, a policy, a policy that sees pictures, and the LSTM."""
    work = tmp_path_factory.mktemp("work")
    listed = {job.name: job for job in jobs(TINY)}
    found = Results()
    for method in (RSG, "bc", "lstm"):
        job = listed[f"crafting-{method}-seed0"]
        job.parameters["evaluations"].pop("primitive", None)
        make_demonstrations(job.needs[0], store_folder(work, job.needs[0]))
        perform(job, work)
        found[job.name] = finished(job, work)["result"]
    return found, section(TINY, found)


def test_a_job_says_all_that_is_told(results):
    found, _ = results
    for method in (RSG, "bc"):
        one = found[f"crafting-{method}-seed0"]
        assert one["training"]["steps"] == 2
        assert {split: of["episodes"] for split, of in one["evaluations"].items()} == {"compositional": 26, "novel": 12}
    lstm = found["crafting-lstm-seed0"]
    assert "evaluations" not in lstm
    assert lstm["recognition"]["novel"]["trajectories"] == 12


def test_the_section(results, tmp_path):
    _, told = results
    assert f"| RSG | {PAPER['crafting'][RSG][0]} |" in told.text
    assert f"| BC | {PAPER['crafting']['bc'][0]} |" in told.text
    assert told.summary["success"]["crafting"]["bc"]["novel"]["strict"]["episodes"] == 12
    assert "lstm" not in told.summary["success"]["crafting"]
    assert set(told.summary["recognition"]["crafting"]) == {RSG, "lstm", "bc"}
    told.pictures["subgoals"].draw(tmp_path / "subgoals.png")
    assert (tmp_path / "subgoals.png").stat().st_size > 1000
    assert section(TINY, Results()).pictures == {}


def test_success_by_the_number_of_subgoals():
    def evaluations(*rows):
        return {"evaluations": {"novel": {"tasks": [dict(zip(("task", "episodes", "success"), row, strict=True))
                                                    for row in rows]}}}  # fmt: skip

    one, two = "ring-bell", "ring-bell then push-car"
    results = Results(
        {
            "playroom-bc-seed0": evaluations((one, 4, 0.5), (two, 4, 0.25), (two, 4, 0.75)),
            "playroom-bc-seed1": evaluations((one, 4, 1.0), (two, 4, 0.0), (two, 4, 0.0)),
            "playroom-bc-fsm-seed0": evaluations((one, 4, 0.0)),
        }
    )
    found = by_subgoals(results.of("playroom-bc"))
    assert {count: (one.successes, one.trials) for count, one in found.items()} == {
        1: ((2, 4), (4, 4)),
        2: ((4, 0), (8, 8)),
    }


def test_one_thing_changed_is_beside_the_first_seed_as_usual():
    def evaluations(*successes):
        rows = [{"task": "ring-bell", "episodes": 4, "success": one, "success_lenient": one}
                for one in successes]  # fmt: skip
        return {"evaluations": {split: {"tasks": rows[i : i + 1], "plan_ms_mean": 1.0}
                                for i, split in enumerate(("compositional", "novel"))}}  # fmt: skip

    told = section(
        ALL,
        Results(
            {
                "playroom-bc-seed0": evaluations(0.5, 0.25),
                "playroom-bc-seed1": evaluations(1.0, 1.0),
                "playroom-bc-any-action-seed0": evaluations(0.25, 0.0),
            }
        ),
    )
    assert "| BC may take actions without effect (the paper's) | 50.0 | 25.0 | 25.0 | 0.0 |" in told.text
    assert told.summary["changed"]["playroom"]["bc-any-action"] == {"compositional": [0.5, 0.25], "novel": [0.25, 0.0]}
    names = [job.name for job in jobs(ALL)]
    assert "crafting-gail-no-cloning-seed0" in names
    assert not any(name.startswith("playroom-gail-no-cloning") for name in names)
    assert not any(name.endswith("any-action-seed1") for name in names)


def test_recognition_is_told_with_the_bonus_and_without_it_for_all_methods():
    found = {
        "novel": {"right": 1, "plain": 2, "trajectories": 4},
        "train": {"right": 3, "plain": 0, "trajectories": 4},
    }
    told = section(ALL, Results({"playroom-lstm-seed0": {"recognition": found}}))
    assert "| LSTM | 75.0 | 0.0 | 25.0 | 50.0 |" in told.text
    assert told.summary["recognition"]["playroom"]["lstm"]["novel"]["plain"]["seeds"] == [0.5]


def acted(task, start, steps, success):
    return task, start, np.zeros(steps, dtype=int), Episode(success, success, steps, 1.0, 0.1)


def test_examples_are_a_good_and_a_failed_episode_of_several_subgoals():
    source = find("crafting")
    texts = source.tasks("compositional")
    long = next(number for number, text in enumerate(texts) if "then" in text)
    single = next(number for number, text in enumerate(texts) if "then" not in text and "and" not in text)
    kept = Examples(source)
    for one in (acted(single, 0, 9, True), acted(long, 1, 3, True), acted(long, 2, 9, True), acted(long, 3, 99, False)):
        kept.see(*one)
    assert {kind: one["start"] for kind, one in kept.found.items()} == {"good": 2, "failed": 3}
    data = episode_film(source, kept.found["good"], 0)
    with Image.open(BytesIO(data)) as film:
        assert film.n_frames >= 1
    assert len(data) < 300_000
    assert len(kept.found["failed"]["actions"]) < 99


def test_every_method_has_a_name():
    assert set(LABELS) >= {*METHODS, RSG, ORACLE, PICTURES}
