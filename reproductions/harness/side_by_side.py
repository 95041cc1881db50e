"""Jobs side by side: each in a process of its own, which takes no other down with it."""

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from reproductions.harness.jobs import Job, perform
from rsg.core.errors import RsgError
from rsg.core.workers import begin_worker, ctrl_c_waits

GRACE = 5.0  # seconds that a worker has to tidy up before it is killed


@dataclass(frozen=True)
class Ended:
    """A job that is over.

    Attributes:
        job: which.
        problem: what went wrong, in a sentence; empty if nothing did.
        details: the traceback, if the problem is none that a user could have caused.
    """

    job: Job
    problem: str = ""
    details: str = ""


def side_by_side(jobs: Sequence[Job], work: Path, workers: int) -> Generator[Ended]:
    """Do jobs in a work folder, each in a process of its own, so many at a time; tells which one is over.

    Close the generator, or leave it by an error or Ctrl-C, and all processes that still run are ended.
    """
    todo = list(jobs)[::-1]
    running: dict[Connection, tuple[Job, BaseProcess]] = {}
    try:
        while todo or running:
            with ctrl_c_waits():
                while todo and len(running) < max(1, workers):
                    job = todo.pop()
                    ear, process = _start(job, work)
                    running[ear] = (job, process)
            heard = wait_for(list(running))
            for ear in [one for one in running if one in heard]:
                job, process = running.pop(ear)
                yield Ended(job, *_heard(process, ear))
    finally:
        _stop([process for _, process in running.values()])


def _start(job: Job, work: Path) -> tuple[Connection, BaseProcess]:
    spawn = multiprocessing.get_context("spawn")
    ear, mouth = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_work, args=(mouth, job, work))
    process.start()
    mouth.close()  # ours; the process has its own, and its end is heard when that closes
    return ear, process


def _work(mouth: Connection, job: Job, work: Path) -> None:
    """What a process does: the job, then one message about how it went. Jobs share the cores: none takes two."""
    begin_worker()
    os.environ["OMP_NUM_THREADS"] = "1"  # if torch is not loaded yet
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    try:
        perform(job, work)
        mouth.send(("", ""))
    except RsgError as error:
        mouth.send((str(error), ""))
    except Exception as error:
        mouth.send((f"{type(error).__name__}: {error}", traceback.format_exc()))


def _heard(process: BaseProcess, ear: Connection) -> tuple[str, str]:
    """The message of a process that is over, or what ended it before it could send one."""
    with ear:
        try:
            problem, details = ear.recv()
        except EOFError:
            process.join()
            code = process.exitcode or 0
            cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            problem, details = f"its process was killed ({cause}), perhaps for want of memory", ""
    process.join()
    return problem, details


def _stop(processes: Sequence[BaseProcess]) -> None:
    """End processes: they are asked, then killed."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(GRACE)
        if process.is_alive():
            process.kill()
            process.join()
