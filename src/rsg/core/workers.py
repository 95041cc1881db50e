"""Processes side by side: each ends with its parent, leaves Ctrl-C to it, and takes no other down with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import BaseProcess
from threading import Thread, current_thread, main_thread
from typing import Any

from rsg.core.errors import RsgError

GRACE = 5.0  # seconds that a worker has to tidy up before it is killed


@dataclass(frozen=True)
class Ended:
    """A piece of work that is over.

    Attributes:
        number: its place in the list.
        problem: what went wrong, in a sentence; empty if nothing did.
        details: the traceback, if the problem is none that a user could have caused.
    """

    number: int
    problem: str = ""
    details: str = ""


def side_by_side(work: Sequence[tuple[Callable[..., object], Sequence[Any]]], workers: int) -> Generator[Ended]:
    """Call functions, each with its arguments in a process of its own, so many at a time; tells which one is over.

    What a function returns is dropped: it writes its results to files. Close the generator, or leave it by an error
    or Ctrl-C, and all processes that still run are ended.
    """
    todo = list(enumerate(work))[::-1]
    running: dict[Connection, tuple[int, BaseProcess]] = {}
    try:
        while todo or running:
            with ctrl_c_waits():
                while todo and len(running) < max(1, workers):
                    number, (function, arguments) = todo.pop()
                    ear, process = _start(function, arguments)
                    running[ear] = (number, process)
            heard = wait_for(list(running))
            for ear in [one for one in running if one in heard]:
                number, process = running.pop(ear)
                yield _ended(number, process, ear)
    finally:
        _stop([process for _, process in running.values()])


def _start(function: Callable[..., object], arguments: Sequence[Any]) -> tuple[Connection, BaseProcess]:
    spawn = multiprocessing.get_context("spawn")
    ear, mouth = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_work, args=(mouth, function, tuple(arguments)))
    process.start()
    mouth.close()  # ours; the process has its own, and its end is heard when that closes
    return ear, process


def _work(mouth: Connection, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """What a process does: the work, then one message about how it went."""
    begin_worker()
    try:
        function(*arguments)
        mouth.send(("", ""))
    except RsgError as error:
        mouth.send((str(error), ""))
    except Exception as error:
        mouth.send((f"{type(error).__name__}: {error}", traceback.format_exc()))


def _ended(number: int, process: BaseProcess, ear: Connection) -> Ended:
    try:
        problem, details = ear.recv()
    except EOFError:
        process.join()
        problem, details = f"its process was killed ({_cause(process.exitcode)}), perhaps for want of memory", ""
    ear.close()
    process.join()
    return Ended(number, problem, details)


def _cause(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return signal.Signals(-code).name


def _stop(processes: Sequence[BaseProcess]) -> None:
    """End processes: they are asked, then killed."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(GRACE)
        if process.is_alive():
            process.kill()
            process.join()


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

    def note(number: int, frame: Any) -> None:
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
