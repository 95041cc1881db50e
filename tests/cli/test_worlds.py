import io
import json
import os
import pty
import select
import sys
import time
from pathlib import Path

import pytest

from rsg.domains.crafting.text import read_map


def test_world_for_a_person_and_a_machine(rsg, tmp_path):
    code, out, err = rsg("world", "crafting", "--kind", "islands", "--seed", "3")
    assert (code, err) == (0, "")
    assert "@ agent" in out
    assert "~ water" in out
    assert rsg("world", "crafting", "--kind", "islands", "--seed", "3")[1] == out
    assert rsg("world", "crafting", "--map", "islands", "--seed", "3")[1] == out
    code, out, err = rsg("world", "crafting", "--kind", "islands", "--seed", "3", "--json")
    assert (code, err) == (0, "")
    values = json.loads(out)
    assert (values["height"], values["kind"], values["inventory"]) == (6, "islands", [])
    assert read_map(values["map"])[0].width == 6


def test_world_writes_what_it_is_asked_for(rsg, tmp_path):
    names = [str(tmp_path / name) for name in ("map.png", "sprites.png", "map.txt")]
    code, out, _ = rsg("world", "crafting", "--png", names[0], "--sprites", names[1], "--save", names[2])
    assert code == 0
    assert out.count("written to") == 3
    assert Path(names[0]).read_bytes().startswith(b"\x89PNG")
    code, again, _ = rsg("world", "crafting", "--map", names[2])
    assert code == 0
    assert again.split("\n\nwritten")[0].strip() in out


def test_kinds_are_listed(rsg):
    code, out, _ = rsg("world", "crafting", "--list")
    assert code == 0
    assert "key-or-boat" in out
    assert "islands" in json.loads(rsg("world", "crafting", "--list", "--json")[1])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["world", "mars"], "there is no world 'mars'; there are: crafting, playroom"),
        (["world", "crafting", "--kind", "iland"], "did you mean islands?"),
        (["world", "crafting", "--kind", "my.map"], "cannot read the map my.map: No such file"),
        (["world", "crafting", "--map", "missing.txt"], "cannot read the map missing.txt: No such file"),
        (["world", "crafting", "--png", "/dev/null/map.png"], "cannot write"),
        (["world", "crafting", "--cell", "1", "--png", "x.png"], "drawn with 4 to 256 pixels"),
        (["play", "crafting", "--task", "mine-wod"], "did you mean mine-wood?"),
    ],
)
def test_bad_input_is_one_sentence(rsg, words, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = rsg(*words)
    assert (code, out) == (2, "")
    assert problem in err
    assert err.count("error:") == 1


def test_a_wrong_map_file_says_line_and_column(rsg, tmp_path):
    (tmp_path / "my.txt").write_text("; mine\ninventory: axe\nmap:\n@..\n.$.\n")
    code, _, err = rsg("world", "crafting", "--map", str(tmp_path / "my.txt"))
    assert code == 2
    assert "my.txt, line 5, column 2: no object has the symbol '$'" in err
    (tmp_path / "my.txt").write_bytes(b"\xff\xfe\x00")
    assert "it is not a text file" in rsg("world", "crafting", "--map", str(tmp_path / "my.txt"))[2]


def test_play_in_a_pipe(rsg, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("dd q ignored"))
    code, out, err = rsg("play", "crafting", "--kind", "garden", "--seed", "4", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["actions"] == ["right", "right", "toggle"]
    monkeypatch.setattr("sys.stdin", io.StringIO("dd\n"))
    code, out, _ = rsg("play", "crafting", "--task", "grab-axe")
    assert code == 0
    assert "steps  2" in out


def test_play_in_a_terminal(tmp_path):
    """A person at a real terminal: arrows, toggle, the task done, leave; the terminal is as before."""
    (tmp_path / "my.txt").write_text("map:\n@aT\n")
    command = ["-m", "rsg", "play", "crafting", "--map", "my.txt", "--task", "grab-axe then mine-wood"]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="40")
        os.execv(sys.executable, [sys.executable, *command])
    seen = ""

    def wait_for(text, seconds=60):
        nonlocal seen
        end = time.monotonic() + seconds
        while text not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    seen += os.read(terminal, 65536).decode(errors="replace")
                except OSError:  # the program has ended
                    break
        assert text in seen, seen[-2000:]
        seen = seen[seen.index(text) + len(text) :]

    wait_for("next")
    wait_for("grab-axe")
    for keys, shown in (("\x1b[C", "steps  1"), (" ", "steps  2"), ("\x1b[C ", "in 4 steps")):  # two at once, too
        os.write(terminal, keys.encode())
        wait_for(shown)
    os.write(terminal, b"q")
    wait_for("\x1b[?1049l")
    wait_for("in 4 steps")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_one_seed_is_one_map_in_every_command(rsg, monkeypatch):
    shown = json.loads(rsg("world", "crafting", "--kind", "islands", "--seed", "3", "--json")[1])["map"]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert json.loads(rsg("play", "crafting", "--kind", "islands", "--seed", "3", "--json")[1])["map"] == shown


def test_a_negative_seed_is_one_sentence(rsg):
    for words in (["world", "crafting"], ["play", "crafting"], ["plan", "crafting", "grab-axe"]):
        code, out, err = rsg(*words, "--seed", "-1")
        assert (code, out) == (2, "")
        assert "a seed is a whole number from 0 up, not -1" in err
