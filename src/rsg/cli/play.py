"""`rsg play`: a person moves the agent in the terminal."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rsg.cli.command import Place, Said, command, option
from rsg.cli.options import Seed, WorldName
from rsg.cli.output import console
from rsg.domain import find
from rsg.envs.game import Game

_ENTER_SCREEN, _LEAVE_SCREEN, _HOME = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H\x1b[J"


@command
def play(
    name: WorldName,
    place: Place,
    seed: Seed = 0,
    task: str | None = option(None, "What you are asked to do.", metavar="TASK"),
) -> Said:
    """Move yourself: u undoes, r starts again, n somewhere else, q leaves; the other keys are shown below the world.

    Shows the world, which subgoals are true and, with --task, what comes next. In a pipe the keys are read from
    standard input and the last screen is printed:
    [bold]rsg play {world} --task "{task}"[/bold]
    [bold]echo "dd " | rsg play {world} --task {goal}[/bold]
    """
    game = Game(find(name).at(place), task, seed)
    if sys.stdin.isatty() and sys.stdout.isatty():
        with _keyboard():
            _loop(game)
    else:
        all(game.press(key) for key in _keys(sys.stdin.read().rstrip("\n")))
    return Said(game.summary(), [_screen(game)])


def _screen(game: Game) -> Any:
    return game.screen(colours=console().color_system is not None)


def _loop(game: Game) -> None:
    while True:
        with console().capture() as screen:
            console().print(_screen(game))
        sys.stdout.write(_HOME + screen.get().replace("\n", "\r\n"))
        sys.stdout.flush()
        typed = os.read(sys.stdin.fileno(), 256).decode(errors="replace")
        if not all(game.press(key) for key in _keys(typed) or [""]):  # the end of input is the empty key
            return


@contextmanager
def _keyboard() -> Iterator[None]:
    """Keys one by one and a screen of our own; the terminal is put back however this ends."""
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    sys.stdout.write(_ENTER_SCREEN)
    try:
        yield
    finally:
        sys.stdout.write(_LEAVE_SCREEN)
        sys.stdout.flush()
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _keys(typed: str) -> list[str]:
    """The keys that were typed; an arrow is three characters."""
    return re.findall(r"\x1b[\[O][A-D]|.", typed, re.DOTALL)
