"""`rsg reproduce image`: a job with each camera, and what is said of it."""

from dataclasses import asdict, replace

from reproductions.harness.jobs import finished, perform, store_folder
from reproductions.harness.results import Results
from reproductions.harness.trials import SPLITS, Size
from reproductions.image import FULL, NAMES, draw_seen, jobs, section
from rsg.domain import make_demonstrations
from rsg.subgoals import RsgSettings

QUICKLY = {"steps": 2, "check_every": 2, "curriculum": 1}
TINY = Size(1, {"compositional": 1, "novel": 1, "budget": 2}, 1.0, QUICKLY, quick=True)


def test_training_is_that_of_the_command():
    for job in jobs(replace(FULL, seeds=3)):
        settings = job.parameters["settings"]
        assert settings == asdict(RsgSettings(encoder="image", seed=settings["seed"]))


def test_a_job_and_its_section(tmp_path):
    (job,) = jobs(TINY)
    make_demonstrations(job.needs[0], store_folder(tmp_path, job.needs[0]))
    perform(job, tmp_path)
    result = finished(job, tmp_path)["result"]
    assert set(result["evaluations"]) == {f"{split}-{name}" for split in SPLITS for name in NAMES}
    told = section(TINY, Results({job.name: result}))
    assert "| **RSG, the paper** | 82.0 | 78.2 | – | – |" in told.text
    assert all(f"| {name} |" in told.text for name in NAMES.values())
    assert told.summary["success"]["both"]["novel"]["episodes"] == 12
    told.pictures["success"].draw(tmp_path / "success.png")
    assert (tmp_path / "success.png").stat().st_size > 1000
    assert section(TINY, Results()).pictures == {}


def test_what_the_cameras_see(tmp_path):
    from matplotlib.image import imread

    draw_seen(tmp_path / "seen.png")
    drawn = imread(tmp_path / "seen.png")
    quarters = [drawn[:, i * drawn.shape[1] // 4 : (i + 1) * drawn.shape[1] // 4] for i in range(4)]
    assert len({quarter.tobytes() for quarter in quarters}) == 4
