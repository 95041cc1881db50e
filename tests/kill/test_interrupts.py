"""Ctrl-C, and the end of a worker: one message, nothing lost, and the same command goes on."""

import fcntl
import os
import signal
import subprocess
import termios
import time

import psutil
import pytest
from tests.demos.examples import contents
from tests.kill.runs import PATIENCE, running, session, wait_until

from rsg.demos import Recipe, Store, check_store
from rsg.demos.store import MANIFEST
from rsg.domain import find, make_demonstrations

WORDS = ("-m", "rsg", "demos", "make", "crafting", "--per-task", "144", "--workers", "2", "--out")
RECIPE = Recipe("crafting", "train", 144)  # twenty shards: long enough to be interrupted, on a busy machine too
TOTAL = 52 * 144
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

# Makes its standard input the terminal of its session, then becomes the program in its arguments.
AT_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a run that nobody disturbed."""
    return contents(make_demonstrations(RECIPE, tmp_path_factory.mktemp("interrupts") / "whole").folder)


def shards(folder):
    return len(Store(folder).manifest.shards) if (folder / MANIFEST).exists() else 0


def wait_for_shards(folder, process):
    wait_until(lambda: shards(folder) or process.poll() is not None, what="there is a shard")


def workers(process):
    """The processes that make shards."""
    children = psutil.Process(process.pid).children() if process.poll() is None else []
    return [child for child in children if "--multiprocessing-fork" in child.cmdline()]


def check_interrupted(text, folder, whole, code):
    assert code == 130
    assert "Traceback" not in text
    assert "KeyboardInterrupt" not in text
    store = Store(folder)
    sentence = f"{len(store):,} of {TOTAL:,} demonstrations are safe in {folder}; the same command goes on from there."
    assert sentence in text
    assert 0 < len(store) < TOTAL
    assert [name for name in contents(folder) if name.startswith(".")] == []
    report = check_store(store, find("crafting"))
    assert report.episodes == len(store)
    assert (report.problems, report.complete) == ([], False)
    assert contents(make_demonstrations(RECIPE, folder).folder) == whole


def test_ctrl_c_says_how_much_is_safe_and_the_same_command_goes_on(tmp_path, whole):
    folder = tmp_path / "store"
    with running(*WORDS, folder, **PIPES) as process:
        wait_for_shards(folder, process)
        os.killpg(process.pid, signal.SIGINT)
        out, text = process.communicate(timeout=PATIENCE)
        assert out == ""
        wait_until(lambda: not session(process), what="no process is left")
    check_interrupted(text, folder, whole, process.returncode)


@pytest.mark.slow
def test_ctrl_c_at_a_terminal(tmp_path, whole):
    folder = tmp_path / "store"
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, b"\x28\x00\xc8\x00\x00\x00\x00\x00")  # 40 lines of 200 columns
    try:
        with running("-c", AT_TERMINAL, *WORDS, folder, stdin=theirs, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            wait_for_shards(folder, process)
            os.write(ours, b"\x03")
            text = b""
            while b"interrupted" not in text:
                text += os.read(ours, 10_000)
            code = process.wait(PATIENCE)
        text = text.decode(errors="replace").replace("\r", "")
        assert "demonstrating" in text  # the bar
        check_interrupted(text, folder, whole, code)
    finally:
        os.close(ours)


@pytest.mark.slow
def test_ctrl_c_while_workers_start_is_quiet(tmp_path):
    tries = 40
    for number in range(tries):
        folder = tmp_path / str(number)
        with running(*WORDS, folder, **PIPES) as process:
            wait_until(lambda: workers(process) or process.poll() is not None, what="workers start")
            if number:
                time.sleep(number / tries)  # from their first moment to their first shard
            os.killpg(process.pid, signal.SIGINT)
            _, text = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        safe = f"{len(Store(folder)):,} of {TOTAL:,} demonstrations are safe in {folder}"
        assert text == f"\n{safe}; the same command goes on from there.\n\ninterrupted\n"


def test_a_killed_worker_is_one_sentence(tmp_path, whole):
    folder = tmp_path / "store"
    with running(*WORDS, folder, **PIPES) as process:
        wait_for_shards(folder, process)
        workers(process)[0].kill()
        _, text = process.communicate(timeout=PATIENCE)
        wait_until(lambda: not session(process), what="the other worker is gone")
    assert (process.returncode, text) == (
        2,
        "error: a worker was killed, perhaps for want of memory; the same command goes on\n",
    )
    assert 0 < len(Store(folder)) < TOTAL
    assert contents(make_demonstrations(RECIPE, folder).folder) == whole
