"""`rsg reproduce image`: a job with each camera, and what is said of it."""

from rsg.demos import make_demonstrations
from rsg.evaluation import image
from rsg.evaluation.image import CAMERAS, UNTRAINED, Sizes, draw_seen, jobs, section
from rsg.evaluation.jobs import finished, perform, store_folder
from rsg.evaluation.reproduce import Extent
from rsg.subgoals.images import PRESET

TINY = Sizes(1, 1, 1, 1, {"steps": 2, "check_every": 2, "curriculum": 1, "hidden": 4}, budget=2)


def test_training_is_that_of_the_command():
    for job in jobs(Extent(3)):
        settings = job.parameters["settings"]
        assert settings["encoder"] == "image"
        assert all(settings[key] == value for key, value in PRESET.items())


def test_a_job_and_its_section(tmp_path, monkeypatch):
    monkeypatch.setattr(image, "QUICK", TINY)
    (job,) = jobs(Extent(1, quick=True))
    make_demonstrations(job.needs[0], store_folder(tmp_path, job.needs[0]))
    perform(job, tmp_path)
    result = finished(job, tmp_path)["result"]
    assert set(result["evaluations"]) == {*CAMERAS, UNTRAINED}
    told = section(Extent(1, quick=True), {job.name: result})
    assert "| **RSG, the paper** | 82.0 | 78.2 | – | – |" in told.text
    assert all(f"| {name} |" in told.text for name in (*CAMERAS, UNTRAINED))
    assert told.summary["success"]["both"]["novel"]["episodes"] == 12
    told.pictures["success"].draw(tmp_path / "success.png")
    assert (tmp_path / "success.png").stat().st_size > 1000
    assert section(Extent(1), {}).pictures == {}


def test_what_the_cameras_see(tmp_path):
    from matplotlib.image import imread

    draw_seen(tmp_path / "seen.png")
    drawn = imread(tmp_path / "seen.png")
    quarters = [drawn[:, i * drawn.shape[1] // 4 : (i + 1) * drawn.shape[1] // 4] for i in range(4)]
    assert len({quarter.tobytes() for quarter in quarters}) == 4
