"""`rsg reproduce` under kills and Ctrl-C: what is finished is kept, and the same command comes to the same figures."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.kill.runs import PATIENCE, kill, running, session, wait_until

from reproductions.tests import toy

ROOT = Path(__file__).parents[2]
RUN = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from rsg.cli.main import main
from reproductions.registry import REGISTRY
from reproductions.tests import toy
REGISTRY["toy"], sys.modules["reproductions.toy"] = "a toy", toy
print("ready", flush=True)
main(["reproduce", "toy", "--workers", "2", "--work", sys.argv[1] + "/work", "--out", sys.argv[1] + "/R.md"])
"""
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


@pytest.fixture(autouse=True)
def slow_walks(monkeypatch):
    """Each of the four jobs takes about a second."""
    monkeypatch.setenv("TOY_STEPS", "25")
    monkeypatch.setenv("TOY_WAIT", "0.04")


def figures(folder):
    """All that was written, without what the clock says."""
    raw = json.loads((folder / "results" / "toy.json").read_text())
    lines = [line for line in (folder / "R.md").read_text().splitlines() if "processor time" not in line]
    return raw, lines, (folder / "results" / "toy-walks.png").read_bytes()


def finish(folder):
    with running("-c", RUN, folder, **PIPES) as process:
        _, text = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, text


def results(folder):
    return sorted(path.name for path in (folder / "work" / "toy").glob("walk-*.json"))


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])])
def test_killed_at_any_moment_it_comes_to_the_same_figures(tmp_path, kills):
    started = time.monotonic()
    finish(tmp_path / "whole")
    longest, whole = time.monotonic() - started, figures(tmp_path / "whole")
    rng, done, number = random.Random(3), 0, 0
    while done < kills:
        folder = tmp_path / str(number)
        killed = 0
        while done < kills and killed < 3:
            with running("-c", RUN, folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                assert process.stdout.readline() == b"ready\n"
                time.sleep(rng.uniform(0, 0.6 * longest))
                if process.poll() is not None:
                    break
                safe = results(folder)
                kill(process, group=rng.random() < 0.5)
                wait_until(lambda process=process: not session(process), what="the workers have followed")
            assert set(safe) <= set(results(folder))
            done, killed = done + 1, killed + 1
        finish(folder)
        assert figures(folder) == whole
        assert not [path for path in folder.rglob(".*") if path.name != ".lock"]
        number += 1


def test_a_killed_job_goes_on_and_finished_ones_are_not_run_again(tmp_path):
    with running("-c", RUN, tmp_path, **PIPES) as process:
        wait_until(lambda: len(results(tmp_path)) == 2, what="two jobs are done")
        kill(process, group=True)
    finish(tmp_path)
    counts = [toy.begun(tmp_path / "work", seed) for seed in range(4)]
    assert sorted(counts[:2]) == [1, 1]
    assert max(counts) <= 2


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    with running("-c", RUN, tmp_path, **PIPES) as process:
        wait_until(lambda: results(tmp_path), what="a job is done")
        os.killpg(process.pid, signal.SIGINT)
        _, text = process.communicate(timeout=PATIENCE)
        wait_until(lambda: not session(process), what="no process is left")
    assert process.returncode == 130
    assert "Traceback" not in text
    kept = len(results(tmp_path))
    assert f"\n{kept} of 4 jobs are finished in {tmp_path}/work; the same command goes on.\n\ninterrupted\n" in text
    assert 0 < kept < 4
    finish(tmp_path)
    finish(tmp_path / "whole")
    assert figures(tmp_path)[0] == figures(tmp_path / "whole")[0]


def test_a_killed_worker_is_one_sentence_and_the_others_go_on(tmp_path):
    with running("-c", RUN, tmp_path, **PIPES) as process:
        wait_until(lambda: toy.begun(tmp_path / "work", 1), what="a job has begun")
        worker = next(one for one in session(process) if "--multiprocessing-fork" in one.cmdline())
        worker.kill()
        _, text = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "Traceback" not in text
    assert "error: 1 of 4 jobs failed: toy/walk-seed" in text
    assert "its process was killed (SIGKILL), perhaps for want of memory. What is finished is kept" in text
    assert len(results(tmp_path)) == 3
    finish(tmp_path)
