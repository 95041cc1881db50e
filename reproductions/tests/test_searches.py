"""The experiment of searches: all ways, hard and soft, with networks, formulas and values."""

import pytest

from reproductions import searches
from reproductions.harness.jobs import finished, perform, store_folder
from reproductions.harness.results import Results
from reproductions.harness.trials import Size
from rsg.domain import make_demonstrations

SIZE = Size(2, {"compositional": 1, "novel": 1}, 0.1, {"steps": 4, "check_every": 2})


def test_every_job_has_ways_and_splits_of_its_own():
    found = {job.name: job.parameters for job in searches.jobs(SIZE)}
    assert set(found) == {"networks-seed0", "limited-seed0", "formulas-seed0", "values-seed0"}
    assert found["values-seed0"]["ways"] == ["layers", "value"]
    assert set(found["values-seed0"]["starts"]) == {"compositional"}  # V_t knows no other tasks
    assert found["formulas-seed0"]["settings"]["encoder"] == "facts"
    assert found["networks-seed0"]["settings"]["encoder"] == "sets"


@pytest.mark.slow
def test_the_experiment_from_jobs_to_section(tmp_path):
    every = list(searches.jobs(SIZE))
    make_demonstrations(every[0].needs[0], store_folder(tmp_path, every[0].needs[0]))
    results = Results()
    for job in every:
        perform(job, tmp_path)
        results[job.name] = finished(job, tmp_path)["result"]
    formulas = results["formulas-seed0"]["evaluations"]
    assert formulas["compositional deepest soft"]["success"] > 0.5
    assert formulas["compositional optimal hard"]["cost_mean"] <= formulas["compositional deepest hard"]["cost_mean"]
    section = searches.section(SIZE, results)
    for told in searches.TOLD.values():
        assert f"### By {told}" in section.text
    assert section.text.count(", soft |") == sum(len(ways) for ways, _ in searches.ASKED.values())
    kept = section.summary["formulas"]["deepest"]["soft"]["novel"]
    assert set(kept) == {"success", "expansions", "ms", "cost"} or not kept["success"]["mean"]


def test_nothing_is_said_of_what_was_not_measured():
    section = searches.section(SIZE, Results())
    assert section.summary == {}
    assert "### By" not in section.text
    assert not section.pictures
