"""`rsg reproduce playroom`: its jobs, and what is said of them."""

from dataclasses import replace

import pytest

from reproductions.harness.jobs import finished, perform, store_folder
from reproductions.harness.results import Results
from reproductions.harness.trials import Size
from reproductions.playroom import COMPARED, FULL, MAIN, METHODS, ROOMS, TWELVE, TWELVE_NOVEL, jobs, section
from reproductions.points import PRESET
from rsg.domain import make_demonstrations
from rsg.domains.playroom import load_layout
from rsg.language import parse
from rsg.subgoals.building import network_named

CHANGES = {"steps": 2, "check_every": 2, "curriculum": 1, "hidden": 4, "held_out": 2, "batch": 4}
COUNTS = {"compositional": 1, "novel": 1, "few": 1, "watched": 1, "elsewhere": 1, "fewer": (1,)}
TINY = Size(1, COUNTS, 1.0, CHANGES, quick=True)


def test_training_is_that_of_the_command():
    presets = {"relative": network_named("relative").preset, "point": PRESET}
    assert presets["relative"]
    for job in jobs(replace(FULL, seeds=2)):
        if "settings" in job.parameters:
            settings = job.parameters["settings"]
            assert all(settings[key] == value for key, value in presets[settings["encoder"]].items())


def test_main_rows_have_all_seeds():
    names = [job.name for job in jobs(replace(FULL, seeds=5))]
    assert len(set(names)) == len(names)
    for method in (MAIN, "point-400", "untrained", "oracle"):
        assert [f"{method}-seed{seed}" in names for seed in range(5)] == [True] * 5
    assert sum(name.startswith("sampled-400") for name in names) == COMPARED


def test_no_two_rooms_share_demonstrations(tmp_path):
    recipes = {recipe for job in jobs(replace(FULL, seeds=2)) for recipe in job.needs}
    assert len({store_folder(tmp_path, recipe) for recipe in recipes}) == len(recipes)


def test_all_twelve_terms_are_trained_and_other_tasks_are_planned():
    terms = {str(term) for text in TWELVE for term in parse(text).terms()}
    assert terms == set(load_layout("twelve").terms)
    assert not set(TWELVE) & set(TWELVE_NOVEL)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Those of a network, of networks that learned nothing, and of another room."""
    work = tmp_path_factory.mktemp("work")
    listed = {job.name: job for job in jobs(TINY)}
    found = Results()
    for name in (
        f"{MAIN}-seed0",
        "soft-400-seed0",
        "trees-400-seed0",
        "sampled-400-seed0",
        "relative-1-seed0",
        "untrained-seed0",
        "twelve-seed0",
    ):
        for recipe in listed[name].needs:
            make_demonstrations(recipe, store_folder(work, recipe))
        perform(listed[name], work)
        found[name] = finished(listed[name], work)["result"]
    return found, section(TINY, found)


def test_a_job_says_all_that_is_told(results):
    found, _ = results
    main = found[f"{MAIN}-seed0"]
    assert main["training"]["steps"] == 2
    assert {split: one["episodes"] for split, one in main["evaluations"].items()} == {"compositional": 8, "novel": 8}
    assert main["segmentation"]["novel"]["ends"] >= 8
    assert main["recognition"]["train"]["trajectories"] == 13  # one description is in both splits
    assert found["twelve-seed0"]["evaluations"]["custom"]["episodes"] == len(TWELVE_NOVEL)


def test_the_section(results, tmp_path):
    _, told = results
    assert "| **RSG, the paper** | 82.0 | 78.2 | – | – |" in told.text
    assert all(label in told.text for label in METHODS.values())
    assert all(f"| {room} |" in told.text for room in ROOMS)
    for method in ("untrained", "soft-400", "trees-400"):
        assert told.summary["success"][method]["novel"]["episodes"] == 8
    assert 0 <= told.summary["watched"][MAIN]["recognition"]["train"]["ideal"]["mean"] <= 1
    for name, picture in told.pictures.items():
        picture.draw(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_a_section_of_nothing():
    assert "| oracle (the truth) | – | – | – | – |" in section(replace(FULL, seeds=1), Results()).text
