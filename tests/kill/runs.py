"""Processes to be killed, and what must be true afterwards."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import psutil

from rsg.demos import Store
from rsg.demos.store import MANIFEST

PATIENCE = 120  # seconds; the cores may be busy with other things


@contextmanager
def running(*words, **options):
    """A Python process in a session of its own; whatever is left of the session is killed at the end."""
    command = [sys.executable, *map(str, words)]
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=_hear_ctrl_c, **options)
    try:
        yield process
    finally:
        for member in session(process):
            member.kill()
        process.wait(PATIENCE)
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


def _hear_ctrl_c():
    """A shell lets what it starts in the background ignore Ctrl-C, and so would what the tests start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def session(process):
    """The processes of the session that a process began, itself included, without those that are only a name."""
    members = []
    for other in psutil.process_iter():
        try:
            if os.getsid(other.pid) == process.pid and other.status() != psutil.STATUS_ZOMBIE:
                members.append(other)
        except (psutil.NoSuchProcess, ProcessLookupError):
            continue
    return members


def wait_until(condition, *, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.005)


def kill(process, *, group):
    """Kill a process, or its whole group, as the system does when memory runs out or the power is cut."""
    if group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait(PATIENCE)


def verify(folder, expected, size):
    """Read every committed shard, which verifies its checksum, and compare it with its part of the finished store.

    Workers finish in any order, so that shards may be missing anywhere. Gives the number of episodes that are safe.
    """
    if not (folder / MANIFEST).exists():
        return 0
    store = Store(folder)
    for shard in store.manifest.shards:
        first = shard.index * size
        assert store.read_shard(shard)[0] == expected[first : first + size]
    return len(store)
