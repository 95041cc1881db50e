"""A studio that is killed while somebody uses it: nothing is lost, and the page says what happened."""

import signal

import pytest
from tests.studio.conftest import TASK

from rsg.demos import Store
from rsg.domain import find

pytestmark = pytest.mark.slow


@pytest.fixture
def again(begin, tmp_path, trained):
    """Begins a studio, always at the same address."""
    port = []

    def start():
        words = ["--port", port[0]] if port else []
        found = begin(trained, "--out", tmp_path / "out", *words)
        port[:] = [found.host.rpartition(":")[2]]
        return found

    return start


def back(there):
    """Wait until the page has found the studio again."""
    there.page.wait_for_selector("#gone", state="hidden")


def test_killed_while_it_saves(again, visit, tmp_path):
    studio = again()
    there = visit(studio).open("show")
    there.shows(find("crafting"), TASK, TASK)
    done = there.walk()["actions"]
    studio.process.send_signal(signal.SIGSTOP)  # it has heard, and will not answer
    there.page.click("#show-keep")
    studio.end(signal.SIGKILL)
    there.page.wait_for_selector("#gone:not([hidden])")
    assert "what you did here is kept" in there.text("#gone")
    again()
    back(there)
    assert there.walk()["actions"] == done
    there.page.wait_for_selector("#show-keep:enabled")
    there.keeps()
    kept = Store(tmp_path / "out/demonstrations")
    assert [(one.task, len(one)) for one in kept] == [(TASK, len(done))]


def test_killed_while_it_trains(again, visit):
    studio = again()
    there = visit(studio).open("teach")
    there.page.check("#teach-network")
    there.page.fill("#teach-name", "cut")
    there.page.click("#teach-train")
    there.wait("() => document.getElementById('teach-step').textContent.startsWith('step ')")
    studio.end(signal.SIGKILL)
    there.page.wait_for_selector("#gone:not([hidden])")
    again()
    back(there)
    there.hears("training was cut off before it was done: cut")
    there.page.uncheck("#teach-network")
    there.page.fill("#teach-name", "cut")
    there.page.click("#teach-train")
    there.page.wait_for_selector("#teach-done button")
    there.hears("cut is trained and chosen")
