"""Jobs side by side: each in a process of its own, which takes no other down with it."""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import BaseProcess
from typing import Any

from rsg.core.errors import RsgError
from rsg.core.workers import begin_worker, ctrl_c_waits

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
