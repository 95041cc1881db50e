import asyncio
import os
import time

import pytest

from rsg.studio.pool import Busy, Pool


def within(work, size=2, most_waiting=3, **more):
    """Run something with a pool."""

    async def run():
        pool = Pool("tests.studio.work:Works", ("",), size, most_waiting, **more)
        try:
            await pool.open()
            return await work(pool)
        finally:
            pool.close()

    return asyncio.run(run())


async def done(job, seconds=20):
    await asyncio.wait_for(job.finished.wait(), seconds)
    return job


async def until(condition, seconds=20):
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("that never came true")


def test_jobs_are_done_and_errors_told():
    async def work(pool):
        jobs = [pool.submit("add", {"a": 1, "b": 2}, 9), pool.submit("fail", {}, 9), pool.submit("crash", {}, 9)]
        added, failed, crashed = [await done(job) for job in jobs]
        assert (added.state, added.answer) == ("done", 3)
        assert (failed.state, failed.error["message"], failed.faulty) == ("failed", "that makes no sense", False)
        assert (crashed.state, crashed.error["message"], crashed.faulty) == (
            "failed",
            "ZeroDivisionError: a fault",
            True,
        )
        assert pool.job(added.name) is added
        assert pool.job("nothing") is None

    within(work)


def test_a_running_job_tells_how_far_it_is_and_stops_when_it_is_told_to():
    async def work(pool):
        job = pool.submit("count", {}, 60)
        await until(lambda: job.progress.get("number", 0) > 0)
        begun = time.monotonic()
        pool.cancel(job)
        await done(job)
        assert time.monotonic() - begun < 1
        assert job.state == "cancelled"
        assert job.answer > 0  # how far it came
        assert pool.lost == 0

    within(work)


def test_a_deaf_job_is_ended_with_its_process_and_another_one_takes_its_place():
    async def work(pool):
        before = (await done(pool.submit("who", {}, 9))).answer
        job = pool.submit("deaf", {"seconds": 60}, 60)
        await until(lambda: job.state == "running")
        begun = time.monotonic()
        pool.cancel(job)
        await done(job)
        assert time.monotonic() - begun < 1
        assert (job.state, job.answer) == ("cancelled", None)
        after = (await done(pool.submit("who", {}, 9))).answer
        assert before != after
        with pytest.raises(ProcessLookupError):
            os.kill(before, 0)

    within(work, size=1)


def test_a_job_that_takes_too_long_is_cancelled():
    async def work(pool):
        job = await done(pool.submit("count", {}, 0.3))
        assert job.state == "cancelled"

    within(work, size=1)


def test_a_job_that_waits_is_cancelled_at_once():
    async def work(pool):
        first, second = pool.submit("count", {}, 60), pool.submit("add", {"a": 1, "b": 1}, 60)
        pool.cancel(second)
        assert second.state == "cancelled"
        pool.cancel(first)
        await done(first)

    within(work, size=1)


def test_a_process_that_dies_is_replaced_and_its_job_says_so():
    async def work(pool):
        lost = await done(pool.submit("die", {}, 9))
        assert (lost.state, lost.error["type"], lost.faulty) == ("failed", "Lost", True)
        assert (await done(pool.submit("add", {"a": 2, "b": 2}, 9))).answer == 4
        assert pool.lost == 1

    within(work, size=1)


def test_too_much_is_refused_and_nothing_starves():
    async def work(pool):
        long = [pool.submit("count", {}, 60, long=True) for _ in range(3)]
        await until(lambda: long[0].state == "running")
        assert (await done(pool.submit("add", {"a": 1, "b": 1}, 9))).answer == 2  # one process is left to quick ones
        assert [job.state for job in long] == ["running", "waiting", "waiting"]
        pool.submit("deaf", {"seconds": 0.2}, 9)
        pool.submit("deaf", {"seconds": 0.2}, 9)
        with pytest.raises(Busy, match="3 requests are waiting already"):
            pool.submit("deaf", {"seconds": 0.2}, 9)
        for job in long:
            pool.cancel(job)

    within(work)


def test_answers_are_kept_for_a_while_not_for_ever():
    async def work(pool):
        first = await done(pool.submit("add", {"a": 0, "b": 0}, 9))
        for number in range(600):
            await done(pool.submit("add", {"a": number, "b": 0}, 9))
        assert pool.job(first.name) is None

    within(work)


def test_all_processes_end_with_the_pool():
    async def work(pool):
        jobs = [pool.submit("who", {}, 9) for _ in range(3)]
        return {(await done(job)).answer for job in jobs}

    for number in within(work):
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
