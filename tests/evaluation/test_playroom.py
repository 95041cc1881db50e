"""`rsg reproduce playroom`: its jobs, and what is said of them."""

import pytest

from rsg.demos import make_demonstrations
from rsg.evaluation import playroom
from rsg.evaluation.jobs import finished, perform, store_folder
from rsg.evaluation.playroom import COMPARED, MAIN, METHODS, ROOMS, TWELVE, TWELVE_NOVEL, Sizes, jobs, section
from rsg.evaluation.reproduce import Extent
from rsg.language import parse
from rsg.subgoals.runs import PRESETS
from rsg.worlds.playroom import load_layout

CHANGES = {"steps": 2, "check_every": 2, "curriculum": 1, "hidden": 4, "held_out": 2, "batch": 4}
TINY = Sizes(1, 1, 1, 1, 1, (1,), 1, CHANGES)


def test_training_is_that_of_the_command():
    for job in jobs(Extent(2)):
        if "settings" in job.parameters:
            settings = job.parameters["settings"]
            assert all(settings[key] == value for key, value in PRESETS[settings["encoder"]].items())


def test_main_rows_have_all_seeds():
    names = [job.name for job in jobs(Extent(5))]
    assert len(set(names)) == len(names)
    for method in (MAIN, "point-400", "untrained", "oracle"):
        assert [f"{method}-seed{seed}" in names for seed in range(5)] == [True] * 5
    assert sum(name.startswith("sampled-400") for name in names) == COMPARED


def test_no_two_rooms_share_demonstrations(tmp_path):
    recipes = {recipe for job in jobs(Extent(2)) for recipe in job.needs}
    assert len({store_folder(tmp_path, recipe) for recipe in recipes}) == len(recipes)


def test_all_twelve_terms_are_trained_and_other_tasks_are_planned():
    terms = {str(term) for text in TWELVE for term in parse(text).terms()}
    assert terms == set(load_layout("twelve").terms)
    assert not set(TWELVE) & set(TWELVE_NOVEL)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Those of a network, of networks that learned nothing, and of another room."""
    work = tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(playroom, "QUICK", TINY)
        listed = {job.name: job for job in jobs(Extent(1, quick=True))}
        found = {}
        for name in (f"{MAIN}-seed0", "sampled-400-seed0", "relative-1-seed0", "untrained-seed0", "twelve-seed0"):
            for recipe in listed[name].needs:
                make_demonstrations(recipe, store_folder(work, recipe))
            perform(listed[name], work)
            found[name] = finished(listed[name], work)["result"]
        return found, section(Extent(1, quick=True), found)


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
    assert told.summary["success"]["untrained"]["novel"]["episodes"] == 8
    assert 0 <= told.summary["watched"][MAIN]["recognition"]["train"]["ideal"]["mean"] <= 1
    for name, picture in told.pictures.items():
        picture.draw(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_a_section_of_nothing():
    assert "| oracle (the truth) | – | – | – | – |" in section(Extent(1), {}).text
