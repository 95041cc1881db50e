"""`rsg reproduce ablations`: what is changed, what is measured of a run, and what is said."""

from dataclasses import replace

import pytest
from tests.subgoals.oracle import CRAFTING, TrueClassifiers

from reproductions.ablations import CURVE, FULL, OURS, QUESTIONS, VARIANTS, jobs, judged, section
from reproductions.harness.jobs import finished, perform, store_folder
from reproductions.harness.results import Results
from reproductions.harness.trials import Size
from rsg.demos import Recipe, Store
from rsg.domain import make_demonstrations
from rsg.domains.crafting import CraftingWorld
from rsg.subgoals import RsgSettings, untrained

QUICKLY = {"steps": 2, "check_every": 2, "curriculum": 1}
TINY = Size(2, {"compositional": 1, "novel": 1, "judged": 1, "sweeps": False}, 1.0, QUICKLY, quick=True)


def test_no_two_variants_are_the_same_and_none_has_two_meanings():
    assert len({tuple(sorted(row.changes.items())) for row in VARIANTS.values()}) == len(VARIANTS)
    for question in QUESTIONS:
        assert all(row.changes == VARIANTS[name].changes for name, row in question.rows.items())


def test_each_variant_changes_settings_and_ours_changes_none():
    for job in jobs(replace(FULL, seeds=2)):
        name, seed = job.name.rpartition("-seed")[::2]
        if name.startswith(CURVE):
            continue
        settings, kind = RsgSettings(**job.parameters["settings"]), job.parameters["kind"]
        assert settings.seed == int(seed)
        assert ((settings, kind) == (RsgSettings(encoder="sets", seed=int(seed)), "rsg")) == (name == OURS)
        asked = {**vars(settings), "kind": kind}
        assert all(asked[key] == value for key, value in VARIANTS[name].changes.items())


def test_variants_of_a_seed_share_demonstrations_and_starts():
    by_seed = {}
    for job in jobs(replace(FULL, seeds=2)):
        if "evaluations" in job.parameters:
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
    assert all(share == {"true": 1.0, "false": 1.0, "not_yet": 0.0} for share in shares.values())


def test_who_doubts_everything_is_right_where_nothing_is_true(store):
    shares = judged(CRAFTING, untrained(CRAFTING.vocabulary, CraftingWorld()), store, 2, 0)
    assert all(share["false"] > 0.9 for share in shares.values())
    assert sum(share["true"] < 0.1 for share in shares.values()) > 20
    assert all(share["true"] + share["not_yet"] == pytest.approx(1.0) for share in shares.values() if share["true"] < 1)


def test_a_job_and_its_section(tmp_path):
    job = next(one for one in jobs(TINY) if one.name.startswith("alignment-expectation"))
    make_demonstrations(job.needs[0], store_folder(tmp_path, job.needs[0]))
    perform(job, tmp_path)
    result = finished(job, tmp_path)["result"]
    assert result["training"]["steps"] == 2
    told = section(TINY, Results({job.name: result, "ours-seed0": result}))
    assert "### Alignments: the best, all, or by chance" in told.text
    assert told.text.count("| ours |") == 1
    assert told.summary["alignment-expectation"]["success"]["novel"]["episodes"] == 12
    told.pictures["success"].draw(tmp_path / "success.png")
    assert (tmp_path / "success.png").stat().st_size > 1000
    assert section(TINY, Results()).pictures == {}


def test_what_is_learned_on_the_way(tmp_path):
    two = [one for one in jobs(TINY) if one.name.startswith(f"{CURVE}two")]
    make_demonstrations(two[0].needs[0], store_folder(tmp_path, two[0].needs[0]))
    perform(two[0], tmp_path)
    result = finished(two[0], tmp_path)["result"]
    assert [row["step"] for row in result["curve"]] == [2]
    assert set(result["curve"][0]) == {"step", "true", "false", "not_yet"}
    late = {"curve": [{**result["curve"][0], "step": 400, "true": 0.5}]}
    told = section(TINY, Results({"curve-two-seed0": late, "curve-two-seed1": late}))
    assert "| G and I apart, 400 steps | 50.0 |" in told.text
    assert told.summary["curves"]["G and I apart"]["400"]["true"] == 0.5
    told.pictures["curves"].draw(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000
