"""`rsg reproduce ablations`: what is changed, what is measured of a run, and what is said."""

import pytest
from tests.subgoals.oracle import CRAFTING, TrueClassifiers

from rsg.demos import Recipe, Store, make_demonstrations
from rsg.evaluation import ablations
from rsg.evaluation.ablations import CHANGES, Sizes, jobs, judged
from rsg.evaluation.ablations_section import OURS, QUESTIONS, section
from rsg.evaluation.jobs import finished, perform, store_folder
from rsg.evaluation.reproduce import Extent
from rsg.subgoals import RsgSettings, untrained

TINY = Sizes(2, 1, 1, 1, {"steps": 2, "check_every": 2, "curriculum": 1})


def test_every_variant_is_asked_about_and_none_is_invented():
    asked = {name for question in QUESTIONS for name in question.rows}
    assert asked == set(CHANGES)
    assert len({tuple(sorted(changes.items())) for changes in CHANGES.values()}) == len(CHANGES)


def test_each_variant_changes_settings_and_ours_changes_none():
    for job in jobs(Extent(2)):
        name, seed = job.name.rpartition("-seed")[::2]
        settings = RsgSettings(**job.parameters["settings"])
        assert settings.seed == int(seed)
        assert (settings == RsgSettings(seed=int(seed))) == (name == OURS)
        assert all(getattr(settings, key) == value for key, value in CHANGES[name].items())


def test_variants_of_a_seed_share_demonstrations_and_starts():
    by_seed = {}
    for job in jobs(Extent(2)):
        by_seed.setdefault(job.name[-1], set()).add((str(job.needs), str(job.parameters["evaluations"])))
    assert [len(kinds) for kinds in by_seed.values()] == [1, 1]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    recipe = Recipe("crafting", "train", 2, 0)
    folder = store_folder(tmp_path_factory.mktemp("ablations"), recipe)
    make_demonstrations(recipe, folder)
    return Store(folder)


def test_who_knows_the_truth_is_always_right(store):
    shares = judged(CRAFTING, TrueClassifiers(), store, 2, 0)
    assert set(shares) == set(CRAFTING.vocabulary)
    assert all(share == {"true": 1.0, "false": 1.0} for share in shares.values())


def test_who_doubts_everything_is_right_where_nothing_is_true(store):
    shares = judged(CRAFTING, untrained(CRAFTING.vocabulary), store, 2, 0)
    assert all(share["false"] > 0.9 for share in shares.values())
    assert sum(share["true"] < 0.1 for share in shares.values()) > 20


def test_a_job_and_its_section(tmp_path, monkeypatch):
    monkeypatch.setattr(ablations, "QUICK", TINY)
    job = next(one for one in jobs(Extent(1, quick=True)) if one.name.startswith("alignment-expectation"))
    make_demonstrations(job.needs[0], store_folder(tmp_path, job.needs[0]))
    perform(job, tmp_path)
    result = finished(job, tmp_path)["result"]
    assert result["training"]["steps"] == 2
    told = section(Extent(1, quick=True), {job.name: result, "ours-seed0": result})
    assert "### Alignments: the best, all, or by chance" in told.text
    assert told.text.count("| ours |") == 1
    assert told.summary["alignment-expectation"]["success"]["novel"]["episodes"] == 12
    told.pictures["success"].draw(tmp_path / "success.png")
    assert (tmp_path / "success.png").stat().st_size > 1000
    assert section(Extent(1), {}).pictures == {}
