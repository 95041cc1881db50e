"""A kill at any moment loses nothing that was safe, and the same command goes on to the same bytes."""

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.demos.examples import contents, demonstration
from tests.kill.runs import PATIENCE, kill, running, session, verify, wait_until

from rsg.demos import Store
from rsg.demos.store import MANIFEST

ROOT = Path(__file__).parents[2]

MAKE_SMALL = """
import sys
import rsg.demos.making as making
import rsg.domain as domain
import rsg.demos.store as store
making.SHARD_EPISODES = store.SHARD_EPISODES = 7
print("ready", flush=True)
domain.make_demonstrations(making.Recipe("crafting", "goal-only", 8), sys.argv[1])
"""

APPEND = """
import sys
sys.path.insert(0, sys.argv[2])
from tests.demos.examples import demonstration
from rsg.demos import Store
from rsg.demos.store import MANIFEST
from pathlib import Path
folder = Path(sys.argv[1])
print("ready", flush=True)
store = Store(folder) if (folder / MANIFEST).exists() else Store.create(folder, "own")
while len(store) < 300:
    store.append([demonstration(number) for number in range(len(store), len(store) + 3)])
    print(len(store), flush=True)
"""


@pytest.mark.parametrize("name", ["make", "append", "repair"])
def test_a_kill_at_every_single_file_operation(tmp_path, name):
    words = [sys.executable, "-m", "tests.kill.moments", name, tmp_path]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 15


def rounds(kills, seed, folder, attempt, whole):
    """Attempt until that many kills have hit; whenever an attempt gets to the end, compare and start anew.

    `attempt` gets the folder and a random generator, and says whether it was killed before the end.
    """
    rng = random.Random(seed)
    hits = 0
    while True:
        if attempt(folder, rng if hits < kills else None):
            hits += 1
            continue
        assert contents(folder) == whole
        if hits >= kills:
            return
        shutil.rmtree(folder)


@pytest.mark.parametrize("kills", [1, pytest.param(60, marks=pytest.mark.slow)])
def test_making_with_workers_survives_kills(tmp_path, kills):
    words = ("-m", "rsg", "demos", "make", "crafting", "--per-task", 24, "--workers", 2, "--out")
    subprocess.run([sys.executable, *map(str, words), tmp_path / "whole"], check=True, timeout=PATIENCE)
    expected = list(Store(tmp_path / "whole"))
    begun = []

    def attempt(folder, rng):
        with running(*words, folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            begun.append(process)
            if rng:
                wait_until(lambda: (folder / MANIFEST).exists() or process.poll() is not None, what="it begins")
                time.sleep(rng.uniform(0, 2.5))
            was_killed = rng is not None and process.poll() is None
            if was_killed:
                kill(process, group=rng.random() < 0.5)
                verify(folder, expected, 400)
            else:
                _, error = process.communicate(timeout=PATIENCE)
                assert process.returncode == 0, error
            wait_until(lambda: not session(process), what="its workers are gone")
        return was_killed

    rounds(kills, 1, tmp_path / "store", attempt, contents(tmp_path / "whole"))
    assert len(begun) > kills


@pytest.mark.slow
def test_making_small_shards_survives_kills(tmp_path):
    kills, started = 70, time.monotonic()
    subprocess.run([sys.executable, "-c", MAKE_SMALL, tmp_path / "whole"], check=True, timeout=PATIENCE)
    expected, whole = list(Store(tmp_path / "whole")), contents(tmp_path / "whole")
    longest = min(time.monotonic() - started, 0.5)

    def attempt(folder, rng):
        with running("-c", MAKE_SMALL, folder, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            if rng:
                time.sleep(rng.uniform(0, longest))
            was_killed = rng is not None and process.poll() is None
            if was_killed:
                kill(process, group=False)
                verify(folder, expected, 7)
            else:
                assert process.wait(PATIENCE) == 0
        return was_killed

    rounds(kills, 2, tmp_path / "store", attempt, whole)


@pytest.mark.parametrize("kills", [1, pytest.param(70, marks=pytest.mark.slow)])
def test_appending_survives_kills_and_what_was_reported_is_safe(tmp_path, kills):
    words = ("-c", APPEND)
    subprocess.run([sys.executable, *words, tmp_path / "whole", ROOT], check=True, timeout=PATIENCE)
    expected = list(map(demonstration, range(300)))

    def attempt(folder, rng):
        with running(*words, folder, ROOT, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            if rng:
                time.sleep(rng.uniform(0, 0.3))
            was_killed = rng is not None and process.poll() is None
            if was_killed:
                kill(process, group=False)
            reported = process.stdout.read().split(b"\n")[:-1]
            safe = verify(folder, expected, 3)
            assert safe >= int(reported[-1] if reported else 0)
            assert was_killed or process.wait(PATIENCE) == 0
        return was_killed

    rounds(kills, 3, tmp_path / "store", attempt, contents(tmp_path / "whole"))
