import http.client
import json
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

import rsg
from rsg.demos import Recipe
from rsg.domain import make_demonstrations

TASK = "grab-axe then mine-wood"


class Studio:
    """A studio in a process of its own, as a user begins it."""

    def __init__(self, folder, *words):
        command = [sys.executable, "-m", "rsg", "studio", "--no-browser", "--port", "0", *map(str, words)]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        line = self.process.stdout.readline()
        if "the studio is at" not in line:
            told = line + self.process.stdout.read()
            self.close()
            raise AssertionError(told)
        self.address = line.split()[4]
        self.host = urlsplit(self.address).netloc

    def ask(self, method, path, body=None, headers=None, host=None):
        """Status, headers and what was answered; body: plain values, or bytes as they are."""
        there = http.client.HTTPConnection(self.host, timeout=120)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {"content-type": "application/json", "host": host or self.host, **(headers or {})}
        there.request(method, path, data, given)
        answer = there.getresponse()
        read = answer.read()
        there.close()
        kind = answer.headers.get("content-type", "")
        return answer.status, answer.headers, json.loads(read) if "json" in kind else read.decode()

    def get(self, path):
        status, _, answer = self.ask("GET", path)
        assert status == 200, answer
        return answer

    def post(self, path, body, method="POST", status=200):
        found, _, answer = self.ask(method, path, body)
        assert found == status, answer
        return answer

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        told = self.process.communicate(timeout=30)[0]
        return self.process.returncode, told


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A run that knows a few terms."""
    folder = tmp_path_factory.mktemp("studio")
    tasks = (TASK, "grab-axe", "mine-wood", "grab-key then grab-pickaxe", "mine-sugar-cane")
    store = make_demonstrations(Recipe("crafting", "custom", 4, tasks=tasks), folder / "shown")
    rsg.learn(store, "crafting", folder / "run")
    return folder / "run"


@pytest.fixture
def begin(tmp_path):
    """Begins studios; they are ended with the test."""
    begun = []

    def start(*words, folder=tmp_path):
        begun.append(Studio(folder, *words))
        return begun[-1]

    yield start
    for one in begun:
        one.close()


@pytest.fixture(scope="session")
def studio(trained, tmp_path_factory):
    """One that many tests ask."""
    found = Studio(tmp_path_factory.mktemp("at"), trained, "--demos", trained.parent / "shown")
    yield found
    found.close()


def walk_of(scene):
    return {key: scene[key] for key in ("setting", "start", "actions")}
