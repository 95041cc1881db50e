"""Success against the number of demonstrations."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from reproductions import baselines, demonstrations
from reproductions.harness import trials
from reproductions.harness.reproduce import Reproduction
from reproductions.harness.results import Results, stem
from reproductions.harness.trials import SPLITS

FULL = replace(demonstrations.FULL, seeds=2)


def evaluation(success):
    row = {"task": "any", "episodes": 400, "success": success, "success_lenient": success}
    return {"tasks": [row]}


def results_of(extent, tmp_path):
    """As if more demonstrations were better, by the names that the harness gives."""
    found = Results()
    reproduction = Reproduction(demonstrations.EXPERIMENT, extent, tmp_path)
    for job in reproduction.jobs:
        success = job.parameters.get("per_task", 400) / 400
        found[reproduction.name_of(job)] = {"evaluations": dict.fromkeys(SPLITS, evaluation(success))}
    return found


def test_each_method_with_fewer_and_with_all(tmp_path):
    section = demonstrations.section(FULL, results_of(FULL, tmp_path))
    means = ("1.2", "5.0", "25.0", "100.0")
    assert f"| RSG | {' | '.join(f'{mean} ({mean} to {mean})' for mean in means)} |" in section.text
    assert section.summary["success"]["playroom"]["bc-fsm"]["100"]["novel"]["mean"] == pytest.approx(0.25)
    section.pictures["success"].draw(tmp_path / "lines.png")
    assert (tmp_path / "lines.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_of_what_is_there(tmp_path):
    whole = results_of(FULL, tmp_path)
    some = Results({name: one for name, one in whole.items() if "playroom-rsg" in name})
    section = demonstrations.section(FULL, some)
    assert section.summary["success"]["playroom"]["rsg"]["400"]["novel"]["mean"] == 1.0
    assert not any(row for rows in section.summary["success"]["crafting"].values() for row in rows.values())
    section.pictures["success"].draw(tmp_path / "lines.png")


@pytest.mark.parametrize("quick", [True, False])
def test_the_jobs_with_all_are_those_of_the_baselines(quick):
    jobs = list(demonstrations.jobs(demonstrations.EXPERIMENT.size(1, quick)))
    shared = [job.digest() for job in jobs if job.experiment == baselines.NAME]
    assert len(shared) == 4
    assert set(shared) <= {job.digest() for job in baselines.jobs(baselines.EXPERIMENT.size(1, quick))}
    own = [job for job in jobs if job.experiment == demonstrations.NAME]
    assert len(own) == 4 * (1 if quick else 3)
    assert all(stem(job.name).endswith(f"-{job.parameters['per_task']}") for job in own)


@pytest.mark.parametrize("method", ["rsg", "bc-fsm"])
def test_training_gets_so_many_of_each_task(method, monkeypatch, tmp_path):
    class Asked(Exception):
        pass

    def train(*asked, per_task=None, **_):
        raise Asked(per_task or asked[5])

    monkeypatch.setattr(trials, "learn", train)
    monkeypatch.setattr(baselines, "train_baseline", train)
    jobs = {job.name: job for job in demonstrations.jobs(FULL)}
    job = jobs[f"crafting-{method}-20-seed0"]
    with pytest.raises(Asked, match=r"^20$"):
        job.run(job.parameters, SimpleNamespace(run=tmp_path, store=lambda recipe: None))
