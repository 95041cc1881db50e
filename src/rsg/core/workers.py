"""Processes that work for this one, on the cores it has: each ends with its parent and leaves Ctrl-C to it."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import resource_tracker
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import TypeVar

from rsg.core.errors import RsgError

T = TypeVar("T")


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


def each_done(work: Callable[[int], T], todo: Iterator[int], workers: int) -> Generator[T]:
    """What comes of the work with each number, in any order; more than one worker are processes of their own."""
    if workers <= 1:
        for index in todo:
            yield work(index)
        return
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=begin_worker)
    try:
        jobs: set[Future[T]] = set()
        while True:
            with ctrl_c_waits():  # a few at a time: a plan of millions of shards must not fill the memory
                few = islice(todo, 4 * workers - len(jobs))
                jobs |= {pool.submit(work, index) for index in few}
            if not jobs:
                break
            done, jobs = wait(jobs, return_when=FIRST_COMPLETED)
            for job in done:
                yield job.result()
    except BrokenProcessPool:
        raise RsgError("a worker was killed, perhaps for want of memory; the same command goes on") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
