"""Processes that answer for a server: jobs wait their turn, tell how far they are, and end when they are cancelled.

All of it happens in the event loop of the server, so nothing here needs a lock. A process that does not stop when it is
asked to is ended, and another one takes its place.
"""

import asyncio
import multiprocessing
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any, Protocol

from rsg.core.errors import RsgError, cause_of
from rsg.core.workers import begin_worker, ctrl_c_waits

GRACE = 0.5  # seconds that a job has to stop by itself
IDLE = 0.5  # seconds without a job, after which a new process prepares for some
TOLD_EVERY = 0.1  # seconds between two words of how far a job is
KEPT = 500  # jobs that have ended, whose answers can still be asked for
PRELOADED = ["rsg.studio.answers"]  # is imported once, and each process begins with it


def prepare() -> None:
    """Begin to import what processes need, beside whatever is done meanwhile."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with ctrl_c_waits():
        forkserver.ensure_running()


class Busy(RsgError):
    """More work is waiting than will be done soon."""


class Tell(Protocol):
    """Tells how far a job is; gives whether it is to stop."""

    def __call__(self, progress: Mapping[str, Any] | None = None) -> bool: ...  # noqa: D102


class Does(Protocol):
    """What a process has: it does what it is asked, by the name of that."""

    def do(self, kind: str, asked: Mapping[str, Any], tell: Tell) -> Any: ...  # noqa: D102

    def warm(self) -> None: ...  # noqa: D102 - makes the first jobs quick


class Job:
    """Something to do, and what became of it.

    Attributes:
        name: by which it is asked for; kind: what is done; asked: with what.
        state: `waiting`, `running`, `done`, `failed` or `cancelled`.
        progress: what it told last; answer: what came of it; error: why it failed, as plain values.
        faulty: whether that is our fault, not that of whoever asked.
    """

    def __init__(self, kind: str, asked: Mapping[str, Any], seconds: float, long: bool) -> None:
        self.name, self.kind, self.asked = secrets.token_urlsafe(12), kind, asked
        self.seconds, self.long = seconds, long
        self.state, self.faulty, self.finished = "waiting", False, asyncio.Event()
        self.progress: dict[str, Any] = {}
        self.answer: Any = None
        self.error: dict[str, Any] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more is done for it."""
        return self.finished.is_set()

    def end(self, state: str, answer: Any = None, error: dict[str, Any] | None = None, faulty: bool = False) -> None:
        """It is over."""
        self.state, self.answer, self.error, self.faulty = state, answer, error, faulty
        self.asked = {}
        self.finished.set()


class _Worker:
    """A process, and the job that it is at."""

    def __init__(self, process: Any, pipe: Connection, stop: Any) -> None:
        self.process, self.pipe, self.stop = process, pipe, stop
        self.ready, self.number = False, 0
        self.job: Job | None = None
        self.alarm: asyncio.TimerHandle | None = None


class Pool:
    """So many processes.

    Args:
        make: what makes in each process what does the work (`Does`), `module:name`.
        given: with what.
        size: how many processes.
        most_waiting: jobs; one more is refused (`Busy`).
        most_long: long jobs that may run at once: the other processes are left to quick ones.
    """

    def __init__(self, make: str, given: tuple[Any, ...], size: int, most_waiting: int, most_long: int = 1) -> None:
        self._make, self._given, self.size = make, given, size
        self._most_waiting, self._most_long = most_waiting, most_long
        self._context = multiprocessing.get_context("forkserver")
        self._workers: list[_Worker] = []
        self._waiting: deque[Job] = deque()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self.lost, self.closed = 0, False  # how many processes ended by themselves; whether all of them are ended

    async def open(self) -> None:
        """Begin all processes; the first of them imports what they need, and that takes seconds."""
        self._loop = asyncio.get_running_loop()
        prepare()
        for _ in range(self.size):
            self._follow(await asyncio.to_thread(self._begin))

    def close(self) -> None:
        """End all processes, at once."""
        self.closed = True
        for worker in self._workers:
            self._end(worker)
        self._workers = []
        for job in self._jobs.values():
            if not job.ended:
                job.end("cancelled")

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """How many are being done."""
        return sum(worker.job is not None for worker in self._workers)

    @property
    def ready(self) -> int:
        """How many processes could begin a job at once, or are at one."""
        return sum(worker.ready for worker in self._workers)

    def submit(self, kind: str, asked: Mapping[str, Any], seconds: float, long: bool = False) -> Job:
        """Something to be done; it is cancelled after so many seconds of work."""
        if len(self._waiting) >= self._most_waiting:
            raise Busy(f"{self._most_waiting} requests are waiting already; try again in a moment")
        job = Job(kind, asked, seconds, long)
        self._jobs[job.name] = job
        self._waiting.append(job)
        self._hand_out()
        while len(self._jobs) > KEPT + self._most_waiting + self.size and next(iter(self._jobs.values())).ended:
            self._jobs.popitem(last=False)
        return job

    def job(self, name: str) -> Job | None:
        """The job of that name, as long as it is known."""
        return self._jobs.get(name)

    def cancel(self, job: Job) -> None:
        """Stop it: at once if it waits; one that runs is asked to, and its process ended if it does not."""
        if job in self._waiting:
            self._waiting.remove(job)
            job.end("cancelled")
        for worker in self._workers:
            if worker.job is job:
                worker.stop.value = worker.number
                self._set_alarm(worker, GRACE, self._replace)

    def _hand_out(self) -> None:
        """Give jobs to processes that have none."""
        for worker in self._workers:
            if worker.ready and worker.job is None and (job := self._next()):
                worker.job, worker.number = job, worker.number + 1
                job.state = "running"
                self._set_alarm(worker, job.seconds, self._too_long)
                worker.pipe.send((worker.number, job.kind, dict(job.asked)))

    def _next(self) -> Job | None:
        """The job that has waited longest and may begin."""
        long = sum(worker.job is not None and worker.job.long for worker in self._workers)
        for job in self._waiting:
            if not job.long or long < self._most_long:
                self._waiting.remove(job)
                return job
        return None

    def _set_alarm(self, worker: _Worker, seconds: float, then: Callable[[_Worker], Any]) -> None:
        """What is done with a process unless its job has ended by then."""
        if worker.alarm:
            worker.alarm.cancel()
        worker.alarm = self._loop.call_later(seconds, then, worker)

    def _begin(self) -> _Worker:
        """Another process."""
        ours, theirs = self._context.Pipe()
        stop = self._context.Value("q", 0, lock=False)
        process = self._context.Process(target=_work, args=(theirs, stop, self._make, self._given), daemon=True)
        with ctrl_c_waits():
            process.start()
        theirs.close()
        return _Worker(process, ours, stop)

    def _follow(self, worker: _Worker) -> None:
        """Listen to a process."""
        self._workers.append(worker)
        self._loop.add_reader(worker.pipe.fileno(), self._hear, worker)

    def _hear(self, worker: _Worker) -> None:
        """A process has something to say, or is gone."""
        try:
            number, what, told = worker.pipe.recv()
        except (EOFError, OSError):
            self.lost += 1
            self._replace(worker, lost=True)
            return
        if what == "ready":
            worker.ready = True
        elif number == worker.number and (job := worker.job):
            if what == "progress":
                job.progress = told
                return
            if worker.alarm:
                worker.alarm.cancel()
            stopped = worker.stop.value == worker.number
            worker.job = None
            if what == "done":
                job.end("cancelled" if stopped else "done", told)  # the answer may say how far it came
            else:
                job.end("cancelled" if stopped else "failed", error=told, faulty=what == "fault")
        self._hand_out()

    def _replace(self, worker: _Worker, lost: bool = False) -> None:
        """End a process, and begin another one in its place."""
        if worker not in self._workers:
            return
        self._end(worker)
        if job := worker.job:
            told = {"type": "Lost", "message": "the process that did this ended, perhaps for want of memory; try again"}
            job.end("failed" if lost else "cancelled", error=told if lost else None, faulty=lost)
        self._workers.remove(worker)
        self._loop.call_later(0.0 if worker.ready else 1.0, self._begin_again)

    def _begin_again(self) -> None:
        if not self.closed:
            self._follow(self._begin())

    def _too_long(self, worker: _Worker) -> None:
        if worker.job:
            self.cancel(worker.job)

    def _end(self, worker: _Worker) -> None:
        if worker.alarm:
            worker.alarm.cancel()
        with suppress(ValueError, OSError):
            self._loop.remove_reader(worker.pipe.fileno())
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()


def _work(pipe: Connection, stop: Any, make: str, given: tuple[Any, ...]) -> None:
    """What a process does: job after job."""
    begin_worker()
    module, _, name = make.partition(":")
    does: Does = getattr(import_module(module), name)(*given)
    pipe.send((0, "ready", None))
    if not pipe.poll(IDLE):
        does.warm()
    while True:
        try:
            number, kind, asked = pipe.recv()
        except EOFError:
            return
        pipe.send((number, *_done(does, kind, asked, _teller(pipe, stop, number))))


def _teller(pipe: Connection, stop: Any, number: int) -> Tell:
    told = 0.0

    def tell(progress: Mapping[str, Any] | None = None) -> bool:
        nonlocal told
        if progress is not None and time.monotonic() - told > TOLD_EVERY:
            told = time.monotonic()
            pipe.send((number, "progress", dict(progress)))
        return bool(stop.value == number)

    return tell


def _done(does: Does, kind: str, asked: Mapping[str, Any], tell: Tell) -> tuple[str, Any]:
    try:
        return "done", does.do(kind, asked, tell)
    except RsgError as error:
        return "failed", error.details()
    except Exception as error:  # a fault of ours, or of somebody's world: it must not end the process
        return "fault", {"type": "Fault", "message": cause_of(error)}
