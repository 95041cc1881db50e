"""The tables that are made of jobs of other experiments."""

import pytest

from reproductions import table_1, times
from reproductions.harness.results import Results, stem
from reproductions.harness.trials import SPLITS, Size
from reproductions.registry import experiment

TASKS = {"crafting": "grab-key then grab-axe", "playroom": "ring-bell then touch-monkey"}


def evaluation(world, success, split):
    row = {"task": TASKS[world], "episodes": 10, "success": success, "success_lenient": min(1.0, success + 0.1)}
    return {"tasks": [row], "plan_ms_mean": {"compositional": 1.0, "novel": 3.0}[split]}


def results_of(success):
    """As if each job of the table had that success, by method."""
    found = Results()
    for column in table_1.COLUMNS:
        for method, cell in column.cells.items():
            for seed in range(2):
                both = {split + cell.more: evaluation(column.world, success[method], split) for split in SPLITS}
                name = f"{cell.jobs}-seed{seed}"
                one = found.setdefault(name, {"evaluations": {}, "training": {"cpu_seconds": 60.0, "steps": 90}})
                one["evaluations"].update(both)
    return found


SUCCESS = {
    "RSG": 0.9,
    table_1.FORMULAS: 0.8,
    "IRL": 0.3,
    "GAIL": 0.2,
    "BC": 0.1,
    "BC-FSM": 0.4,
    "RSG, untrained": 0.0,
    table_1.ORACLE: 1.0,
}


def test_every_method_in_every_world(tmp_path):
    section = table_1.section(Size(seeds=2), results_of(SUCCESS))
    lines = section.text.splitlines()
    papers = ("99.6", "97.8", "82.0", "78.2", "82.0", "78.2")
    seen = {method: f"| {method} | {' | '.join(told)} |" for method, told in table_1.SEES.items()}
    assert f"{seen['RSG']} {' | '.join(f'**90.0** ({paper})' for paper in papers)} |" in lines
    assert f"{seen[table_1.FORMULAS]} 80.0 | 80.0 | – | – | – | – |" in lines
    assert (
        f"{seen['BC-FSM']} 40.0 (5.2) | 40.0 (0.3) | 40.0 (38.2) | 40.0 (31.5) | 40.0 (38.2) | 40.0 (31.5) |" in lines
    )
    assert f"{seen['GAIL']} 20.0 (19.2) | 20.0 (1.0) | – | – | 20.0 | 20.0 |" in lines
    assert f"{seen[table_1.ORACLE]} 100.0 | 100.0 | – | – | 100.0 | 100.0 |" in lines
    assert section.summary["strict"]["Playroom"]["IRL"]["novel"]["mean"] == pytest.approx(0.3)
    assert section.summary["lenient"]["Playroom"]["IRL"]["novel"]["mean"] == pytest.approx(0.4)
    section.pictures["success"].draw(tmp_path / "table.png")
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")


def test_what_did_not_learn_is_never_bold():
    some = Results({name: one for name, one in results_of(SUCCESS).items() if "untrained" in name})
    assert "**" not in table_1.section(Size(seeds=2), some).text


def test_what_each_method_costs():
    lstm = {"baselines/crafting-lstm-seed0": {"training": {"cpu_seconds": 30.0, "steps": 900}, "recognition": {}}}
    section = times.section(Size(seeds=2), Results(results_of(SUCCESS) | lstm))
    assert "| LSTM | 24 s | 1.00 s | 4,800 s | 30 s | – | – |" in section.text
    assert (
        "| BC | 18 s | 20.00 s (20.00 to 20.00) | 2,700 s | 60 s (60 to 60) | 162 ms | 2.0 ms (2.0 to 2.0) |"
        in section.text
    )
    assert section.summary["costs"]["Playroom"]["RSG"]["training_seconds"] == [60.0, 60.0]


@pytest.mark.parametrize("quick", [True, False])
def test_all_cells_have_jobs(quick):
    """Names of jobs in other modules are what the cells say."""
    jobs = experiment("table-1").jobs(Size(seeds=1, quick=quick))
    there = {f"{job.experiment}/{stem(job.name)}" for job in jobs}
    assert there == {cell.jobs for column in table_1.COLUMNS for cell in column.cells.values()}
    timed = {(job.experiment, job.name): job.digest() for job in experiment("times").jobs(Size(seeds=1, quick=quick))}
    table = {(job.experiment, job.name): job.digest() for job in jobs}
    more = {("baselines", "crafting-lstm-seed0"), ("baselines", "playroom-lstm-seed0")}
    assert (timed.keys() - table.keys(), timed | table) == (more, timed)


def test_a_report_of_what_is_there():
    some = Results({name: one for name, one in results_of(SUCCESS).items() if name.startswith("playroom")})
    text = table_1.section(Size(seeds=2), some).text
    assert "| – (99.6) | – (97.8) | – (82.0) | – (78.2) | **90.0** (82.0) | **90.0** (78.2) |" in text
    assert "### Playroom" in times.section(Size(seeds=2), some).text
