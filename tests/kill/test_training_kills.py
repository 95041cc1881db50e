"""Training that is killed or interrupted at any moment goes on to the very bits of a run that was not."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.kill.runs import PATIENCE, kill, running, wait_until
from tests.training.examples import as_words, outcome, small_store

from rsg.cli.main import main
from rsg.training import Run

SETTINGS = {"steps": 40, "batch": 16, "save_every": 5, "check_every": 10, "curriculum": 10}
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with demonstrations, and with a run in `whole` that nobody disturbed."""
    home = tmp_path_factory.mktemp("kills")
    small_store(home / "store")
    command = [sys.executable, *map(str, words(home, home / "whole"))]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE, env=hash_seed(1))
    assert Run(home / "whole").steps["last"] == 40
    return home


def hash_seed(number):
    """Another order of everything that Python hashes."""
    return {**os.environ, "PYTHONHASHSEED": str(number)}


def words(home, folder):
    """What begins a run, or goes on with it."""
    begun = (folder / "run.json").exists()
    more = ["--resume"] if begun else ["--demos", home / "store", *as_words(**SETTINGS)]
    return ["-m", "rsg", "train", "crafting", "--out", folder, *more]


def step_of(folder):
    """The step of the last checkpoint, -1 if there is no run yet."""
    return Run(folder).steps.get("last", 0) if (folder / "run.json").exists() else -1


def trains(folder, process, beyond):
    """Wait until a checkpoint is newer than `beyond`, or the process has ended."""
    wait_until(lambda: step_of(folder) > beyond or process.poll() is not None, what="it trains")


def finish(home, folder):
    """Go on to the end in this process, where nothing has to be loaded."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words(home, folder)[2:]])
    assert stop.value.code == 0
    assert outcome(folder) == outcome(home / "whole")


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_training_survives_kills(home, tmp_path, kills):
    rng, folder = random.Random(kills), tmp_path / "run"
    hits, steps = 0, set()
    while hits < kills:
        with running(*words(home, folder), env=hash_seed(rng.randrange(1000)), **PIPES) as process:
            trains(folder, process, rng.choice([-1, step_of(folder)]))
            time.sleep(rng.uniform(0, 0.4))
            if process.poll() is None:
                kill(process, group=False)
                hits += 1
                steps.add(step_of(folder))
                continue
            _, error = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, error
        assert outcome(folder) == outcome(home / "whole")
        shutil.rmtree(folder)  # it was done too soon: once more from the beginning
    assert len(steps) > 1 or kills == 1
    finish(home, folder)
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".") and path.name != ".lock"]


def test_ctrl_c_saves_and_says_how_to_go_on(home, tmp_path):
    """Once at the first moment of the run, once in its midst."""
    folder = tmp_path / "run"
    for beyond in (-1, 5):
        with running(*words(home, folder), env=hash_seed(beyond + 9), **PIPES) as process:
            trains(folder, process, beyond)
            os.killpg(process.pid, signal.SIGINT)
            out, text = process.communicate(timeout=PATIENCE)
        step = step_of(folder)
        assert (process.returncode, out) == (130, ""), text
        assert "Traceback" not in text
        again = f"interrupted at step {step}; all is saved. To go on: rsg train crafting --out {folder} --resume\n"
        assert again in text or (beyond, step) == (-1, 0)
        assert text.endswith("\ninterrupted\n")
        assert beyond < step < 40
    finish(home, folder)
