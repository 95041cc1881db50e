"""Processes that work for this one, on the cores it has: each ends with its parent and leaves Ctrl-C to it."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from threading import Thread, current_thread, main_thread
from types import FrameType


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin_worker() -> None:
    """A worker leaves Ctrl-C to its parent, ends in order when asked, and at once when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()


@contextmanager
def ctrl_c_noted() -> Iterator[Callable[[], bool]]:
    """Ctrl-C is only noted; gives the function that tells whether it was pressed. The second one is heard at once."""
    if current_thread() is not main_thread():  # only there does Python hear Ctrl-C
        yield lambda: False
        return
    pressed: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if pressed:
            signal.default_int_handler(number, frame)
        pressed.append(number)

    handler = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def ctrl_c_waits() -> Iterator[None]:
    """Hold Ctrl-C back; a worker started in here is deaf to it from its first moment on."""
    resource_tracker.ensure_running()  # starting it would undo the mask
    with ctrl_c_noted() as pressed:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # workers inherit this
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    if pressed():
        signal.raise_signal(signal.SIGINT)
