import json
import math
from dataclasses import replace
from itertools import pairwise

import pytest

from reproductions import exact_or_sampled, instructions
from reproductions.harness.figures import bars
from reproductions.harness.jobs import Job, Place, finished, perform, store_folder
from reproductions.harness.reproduce import Experiment, Reproduction, outlook
from reproductions.harness.results import Results
from reproductions.harness.tables import HEAD, Rate, mean_of, percent, t_cdf, t_quantile, table, with_section
from reproductions.harness.trials import EVALUATION_SEED, Size, evaluation, oracle_job, search_in, settings_of
from reproductions.registry import REGISTRY, experiment
from reproductions.tests import toy
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domain import find, make_demonstrations

QUICKLY = {"steps": 4, "check_every": 2, "save_every": 2}
TINY = Size(2, {"compositional": 1, "novel": 1, "untrained": 1}, 0.1, QUICKLY, quick=True, seeds=2)


@pytest.mark.parametrize(
    ("probability", "freedom", "value"),
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 4, 2.776),
        (0.95, 5, 2.015),
        (0.995, 10, 3.169),
        (0.975, 29, 2.045),
        (0.975, 120, 1.980),
        (0.9, 1, 3.078),
        (0.5, 7, 0.0),
        (0.025, 4, -2.776),
    ],
)
def test_quantiles_of_students_t(probability, freedom, value):
    assert t_quantile(probability, freedom) == pytest.approx(value, abs=6e-4)
    assert t_cdf(t_quantile(probability, freedom), freedom) == pytest.approx(probability, abs=1e-12)


def test_bad_quantiles():
    for probability, freedom in ((0.0, 3), (1.0, 3), (0.9, 0)):
        with pytest.raises(ValueError, match="degree of freedom"):
            t_quantile(probability, freedom)


def test_the_mean_and_its_interval():
    mean = mean_of([1.0, 2.0, 3.0, 4.0])
    half = 3.182446 * math.sqrt(5 / 3 / 4)
    assert (mean.mean, mean.least, mean.most, mean.count) == (2.5, 1.0, 4.0, 4)
    assert (mean.low, mean.high) == (pytest.approx(2.5 - half, abs=1e-5), pytest.approx(2.5 + half, abs=1e-5))
    assert mean_of([3.0]).low is None
    with pytest.raises(ValueError, match="nothing"):
        mean_of([])


def test_rates_over_seeds_and_pooled():
    rate = Rate((9, 10), (10, 10))
    assert rate.over_seeds.mean == 0.95
    assert rate.plain()["episodes"] == 20
    assert rate.pooled == pytest.approx((0.764, 0.991), abs=1e-3)
    assert percent(rate) == "95.0 (31.5 to 100.0)"  # an interval does not leave 0 to 100
    assert percent(Rate((9,), (10,))) == "90.0"
    assert percent(None) == "–"


def test_a_bar_in_a_cell_stays_in_the_cell():
    assert table(["a", "b"], [["x|y", "1"]]).splitlines()[2] == r"| x\|y | 1 |"


def test_sections_are_replaced_without_touching_others():
    text = with_section("", "b", "two", ["a", "b", "c"])
    assert text.startswith(HEAD)
    text = with_section(text, "c", "three", ["a", "b", "c"])
    text = with_section(text, "a", "one", ["a", "b", "c"])
    assert [text.index(word) for word in ("one", "two", "three")] == sorted(map(text.index, ("one", "two", "three")))
    own = text.replace("two", "two\n\n  odd   spaces\t\n").replace("<!-- end b -->", "<!-- end b -->\nmy own words")
    changed = with_section(own, "a", "another one")
    assert changed == own.replace("one", "another one")
    assert with_section(changed, "a", "one") == own
    assert with_section("no newline", "z", "zett") == "no newline\n\n<!-- begin z -->\nzett\n<!-- end z -->\n"


@pytest.mark.parametrize("text", ["<!-- begin a -->", "<!-- end a --> <!-- begin a -->", "<!-- begin a -->\n" * 2])
def test_broken_marks_are_an_error(text):
    with pytest.raises(RsgError, match=r"R.md needs one '<!-- begin a -->' with '<!-- end a -->' after it"):
        with_section(text, "a", "new", where="R.md")


def test_unknown_experiments():
    assert experiment("instructions").name == "instructions"
    with pytest.raises(RsgError, match="did you mean exact-or-sampled"):
        experiment("exact-and-sampled")
    with pytest.raises(RsgError, match="there are: table-1, times, instructions"):
        experiment("xyz")
    with pytest.raises(RsgError, match="seeds must be at least 1"):
        toy.EXPERIMENT.size(0, quick=False)
    assert toy.EXPERIMENT.size(None, quick=True) == Size(seeds=1, quick=True)


def test_every_entry_has_an_experiment_of_its_name():
    for name in REGISTRY:
        assert experiment(name).name == name


# --- jobs ---


def walk(tmp_path, **changes):
    return Job("toy", "walk", toy.walk, {"seed": 1, "steps": 3, "wait": 0, "trouble": "", **changes})


def test_a_job_is_kept_until_it_is_asked_for_something_else(tmp_path):
    job = walk(tmp_path)
    assert finished(job, tmp_path) is None
    perform(job, tmp_path)
    kept = finished(job, tmp_path)
    assert len(kept["result"]["path"]) == 4
    assert {"rsg", "python", "torch", "numpy", "numba", "processor", "cores", "platform"} == set(kept["environment"])
    assert set(kept["took"]) == {"cpu_seconds", "seconds"}
    other = walk(tmp_path, steps=2)
    assert finished(other, tmp_path) is None
    perform(other, tmp_path)  # the longer walk in the folder is not gone on with
    assert len(finished(other, tmp_path)["result"]["path"]) == 3
    assert finished(job, tmp_path) is None
    assert finished(replace(other, run=toy.jobs), tmp_path) is None
    assert finished(replace(other, minutes=99), tmp_path) is not None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"digest": 3}', "null"])
def test_a_result_that_cannot_be_read_is_no_result(tmp_path, text):
    job = walk(tmp_path)
    job.file(tmp_path).parent.mkdir(parents=True)
    job.file(tmp_path).write_text(text)
    assert finished(job, tmp_path) is None
    perform(job, tmp_path)
    assert finished(job, tmp_path) is not None


def not_plain(parameters, place):
    del place
    return {"value": math.nan if parameters["nan"] else {1, 2}}


@pytest.mark.parametrize("nan", [True, False])
def test_a_result_is_plain_json(tmp_path, nan):
    job = Job("toy", "odd", not_plain, {"nan": nan})
    with pytest.raises(RsgError, match="its result cannot be kept as JSON"):
        perform(job, tmp_path)
    assert finished(job, tmp_path) is None


def test_what_killed_writers_left_is_removed(tmp_path):
    job = walk(tmp_path)
    perform(job, tmp_path)
    stray = [tmp_path / "toy" / ".walk.json.abc.json", tmp_path / "toy" / "walk" / ".job.json.abc.json"]
    for path in stray:
        path.touch()
    perform(job, tmp_path)
    assert not any(path.exists() for path in stray)


# --- the harness ---


def made(tmp_path, seeds=4):
    return Reproduction(toy.EXPERIMENT, Size(seeds=seeds), tmp_path / "work")


def complete(reproduction, workers=2):
    reproduction.demonstrate(workers)
    reproduction.run(workers)


def test_only_what_is_missing_is_run(tmp_path):
    work, told = tmp_path / "work", []
    first = made(tmp_path, seeds=2)
    assert outlook([first], 2) == "2 jobs, 0 done; about 1 minute on 2 workers"
    complete(first)
    more = made(tmp_path, seeds=3)
    assert outlook([more], 1) == "3 jobs, 2 done; about 1 minute on 1 worker"
    assert more.recipes() == []  # seed 0 has had its demonstrations
    more.run(2, lambda ended: told.append((ended.job.name, ended.problem)))
    assert told == [("walk-seed2", "")]
    assert [toy.begun(work, seed) for seed in range(3)] == [1, 1, 1]
    more.run(2)
    assert [toy.begun(work, seed) for seed in range(3)] == [1, 1, 1]
    assert outlook([more], 2) == "3 jobs, 3 done"


def test_jobs_that_experiments_share_are_run_once(tmp_path):
    """An experiment may be made of jobs of another one; they have its name in front."""
    shared = Experiment("tour", Size(seeds=2), Size(), toy.jobs, toy.section)
    tour, toys = (Reproduction(one, Size(seeds=2), tmp_path / "work") for one in (shared, toy.EXPERIMENT))
    assert outlook([tour, toys], 2) == "2 jobs, 0 done; about 1 minute on 2 workers"
    complete(tour)
    assert list(tour.kept()) == ["toy/walk-seed0", "toy/walk-seed1"]
    assert outlook([tour, toys], 2) == "2 jobs, 2 done"
    complete(toys)
    assert toy.begun(tmp_path / "work", 0) == 1
    with toys.alone(), pytest.raises(RsgError, match="another rsg reproduce works in"):
        tour.run(1)


def test_results_on_disk(tmp_path):
    reproduction = made(tmp_path)
    complete(reproduction)
    out = tmp_path / "docs" / "RESULTS.md"
    out.parent.mkdir()
    out.write_text("# Mine\n\n<!-- begin other -->\nkept\n<!-- end other -->\n")
    summary = reproduction.write(out, ["toy", "other"])
    text = out.read_text()
    assert text.index("<!-- begin toy -->") < text.index("<!-- begin other -->\nkept\n<!-- end other -->\n")
    assert "## A toy\n" in text
    assert "![Walks](results/toy-walks.png)" in text
    assert "- Command: `rsg reproduce toy`; seeds 0 to 3; 4 jobs" in text
    assert "Data: demonstrations-crafting-goal-only-1-seed0, sha256 `" in text
    assert (out.parent / "results" / "toy-walks.png").read_bytes().startswith(b"\x89PNG")
    raw = json.loads((out.parent / "results" / "toy.json").read_text())
    assert raw["summary"] == summary
    assert "jobs" not in raw  # their figures stay in the work folder
    kept = reproduction.kept()
    assert list(kept) == [f"walk-seed{seed}" for seed in range(4)]
    assert kept["walk-seed2"]["result"]["path"][-1] == summary["ends"]["walk-seed2"]
    assert raw["seeds"] == [0, 1, 2, 3]
    assert len(raw["environments"]) == 1
    assert len(raw["data"]["demonstrations-crafting-goal-only-1-seed0"]) == 64
    reproduction.write(out, ["toy", "other"])
    assert out.read_text() == text


def test_a_report_of_unfinished_and_quick_runs_says_so(tmp_path):
    with pytest.raises(RsgError, match="no job of toy is finished"):
        made(tmp_path).write(tmp_path / "R.md")
    assert not (tmp_path / "R.md").exists()
    complete(made(tmp_path, seeds=1))
    made(tmp_path).write(tmp_path / "R.md")
    assert "**Unfinished: 1 of 4 jobs.**" in (tmp_path / "R.md").read_text()
    Reproduction(toy.EXPERIMENT, Size(seeds=1, quick=True), tmp_path / "work").write(tmp_path / "Q.md")
    text = (tmp_path / "Q.md").read_text()
    assert "## A toy (quick run)" in text
    assert "`rsg reproduce toy --quick`; seed 0; 1 job" in text


def test_failing_jobs_are_named_and_the_others_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_TROUBLE", json.dumps({0: "user", 1: "bug", 2: "kill", 4: "exit"}))
    reproduction = made(tmp_path, seeds=5)
    reproduction.demonstrate(1)
    with pytest.raises(RsgError) as error:
        reproduction.run(2)
    text = str(error.value)
    assert text.startswith("4 of 5 jobs failed: ")
    assert "; and 1 more. What is finished is kept in" in text
    assert list(reproduction.kept()) == ["walk-seed3"]
    log = tmp_path / "work" / "toy" / "walk-seed1.log"
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("user", "1 of 2 jobs failed: toy/walk-seed1: the walker has no shoes; buy some. "),
        ("bug", "toy/walk-seed1: KeyError: 'shoes' (see "),
        ("kill", "toy/walk-seed1: its process was killed (SIGKILL), perhaps for want of memory. "),
        ("exit", "toy/walk-seed1: its process was killed (exit code 3)"),
    ],
)
def test_what_failing_jobs_say(tmp_path, monkeypatch, trouble, words):
    monkeypatch.setenv("TOY_TROUBLE", json.dumps({1: trouble}))
    with pytest.raises(RsgError) as error:
        complete(made(tmp_path, seeds=2))
    assert words in str(error.value)
    assert str(error.value).endswith("; the same command does the rest")


def test_two_at_once_are_refused(tmp_path):
    with made(tmp_path).alone(), pytest.raises(RsgError, match="another rsg reproduce works in"):
        made(tmp_path).run(1)


def test_results_that_cannot_be_read_are_not_overwritten(tmp_path):
    complete(made(tmp_path, seeds=1))
    (tmp_path / "R.md").write_bytes(b"\xff\xfe")
    with pytest.raises(RsgError, match=r"cannot read .*R.md"):
        made(tmp_path, seeds=1).write(tmp_path / "R.md")
    assert not (tmp_path / "results").exists()
    (tmp_path / "file").touch()
    with pytest.raises(RsgError, match="cannot write to"):
        Reproduction(toy.EXPERIMENT, Size(), tmp_path / "file").run(1)


# --- the experiments ---


def done_here(job, work):
    """A job in this process, with its demonstrations."""
    for recipe in job.needs:
        make_demonstrations(recipe, store_folder(work, recipe))
    perform(job, work)
    return finished(job, work)["result"]


def test_the_jobs_of_instructions(tmp_path):
    jobs = list(instructions.jobs(TINY))
    assert [job.name for job in jobs[:4]] == ["rsg-seed0", "separate-seed0", "untrained-seed0", "oracle-seed0"]
    assert jobs[0].parameters["settings"]["seed"] == 0
    assert jobs[4].needs[0].seed == 1
    asked = jobs[4].parameters["evaluations"]
    assert {one["seed"] for one in asked.values()} == {EVALUATION_SEED + 1}
    results = Results({job.name: done_here(job, tmp_path) for job in jobs[:4]})
    assert results["rsg-seed0"]["training"]["steps"] == 4
    section = instructions.section(Size(), results)
    assert "| **RSG, the paper** | 99.6 | 97.8 | – |" in section.text
    oracle = section.summary["success"]["oracle (the truth), strict"]
    assert (oracle["novel"]["episodes"], oracle["novel, not trained on"]["episodes"]) == (12, 11)
    for name, picture in section.pictures.items():
        picture.draw(tmp_path / f"{name}.png")
    json.dumps(section.summary, allow_nan=False)
    partial = instructions.section(Size(), Results({"oracle-seed0": results["oracle-seed0"]}))
    assert "| RSG, one classifier per term, lenient" not in partial.text
    assert "| oracle (the truth), strict | " in partial.text
    assert "held-out" not in partial.pictures


def test_plans_do_not_depend_on_what_order_is_usual(monkeypatch):
    """Figures stay those of the order that they are told with."""

    def expansions():
        asked = {"world": "crafting", "evaluations": {"novel": evaluation("novel", 1, 0)}}
        return oracle_job(asked, None)["evaluations"]["novel"]["expansions_mean"]

    found = expansions()
    monkeypatch.setattr("rsg.search.product.search.ORDER", "optimal")
    assert expansions() == found
    rooms, _ = find("playroom").start_of("novel", 0, stream(0, "rooms"))
    assert search_in(rooms).planner.order is None  # there the roadmap has an order of its own


def test_the_full_size_is_what_was_promised():
    jobs = {job.name: job for job in instructions.jobs(instructions.EXPERIMENT.size(1, quick=False))}
    asked = {name: job.parameters["evaluations"] for name, job in jobs.items()}
    main = {"compositional": 150, "novel": 100}
    assert {name: one["per_task"] for name, one in asked["rsg-seed0"].items()} == main
    assert {name: one["per_task"] for name, one in asked["separate-seed0"].items()} == {
        **main,
        "compositional-with-i": 150,
        "novel-with-i": 100,
    }
    assert asked["rsg-seed0"]["novel"]["budget"] == 5000
    assert jobs["rsg-seed0"].parameters["settings"]["single"]
    assert not jobs["separate-seed0"].parameters["settings"]["single"]
    assert jobs["rsg-seed0"].needs[0].per_task == 400
    assert exact_or_sampled.FULL["seconds"] == 600


def test_a_setting_that_is_missing_is_one_sentence():
    with pytest.raises(RsgError, match="no setting 'colour'"):
        settings_of(0, colour="red")


@pytest.mark.slow
def test_the_jobs_of_exact_or_sampled(tmp_path, monkeypatch):
    sizes = Size(2, {"compositional": 1, "novel": 1, "curve": 1, "seconds": 1.0})
    monkeypatch.setattr(exact_or_sampled, "MARKS", 3.0)
    monkeypatch.setattr(exact_or_sampled, "OFTEN", {"check_every": 3, "save_every": 3, "held_out": 4, "batch": 4})
    jobs = list(exact_or_sampled.jobs(replace(sizes, quick=True)))
    assert [job.name for job in jobs] == ["exact-seed0", "sampled-seed0"]
    results = Results({job.name: done_here(job, tmp_path) for job in jobs})
    for one in results.values():
        history = one["training"]["history"]
        times = [row["cpu_seconds"] for row in history if "success_novel" in row]
        assert all(later >= exact_or_sampled.MARKS * earlier for earlier, later in pairwise(times))
        assert len(times) > 1
        assert one["training"]["cpu_seconds"] >= 1.0
        assert one["training"]["ended"] == "it went as far as it may"
        assert all(row["step_ms"] > 0 for row in history[:-1])  # the last look may come right after another
    section = exact_or_sampled.section(Size(), results)
    assert set(section.summary) == {"exact", "sampled"}
    section.pictures["success"].draw(tmp_path / "curve.png")
    partial = exact_or_sampled.section(Size(), Results({"exact-seed0": results["exact-seed0"]}))
    assert "| sampled" not in partial.text


def test_the_schemes_differ_in_nothing_else():
    exact, sampled = (job.parameters for job in exact_or_sampled.jobs(replace(exact_or_sampled.FULL, seeds=1)))
    assert (exact.pop("kind"), sampled.pop("kind")) == ("rsg", "sampled")
    assert exact == sampled
    assert exact["seconds"] == 600


def test_rates_are_drawn_with_intervals_the_same_each_time(tmp_path):
    groups = {"novel": {"a": Rate((9, 10), (10, 10)), "b": Rate((3,), (10,)), "c": None}}
    for name in ("one.png", "two.png"):
        bars("Rates", groups, {"novel": 97.8}).draw(tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_a_place_knows_its_folders(tmp_path):
    place = Place(tmp_path, tmp_path / "a" / "b")
    assert place.run == tmp_path / "a" / "b" / "run"
    with pytest.raises(RsgError):
        place.store(toy.RECIPE)
