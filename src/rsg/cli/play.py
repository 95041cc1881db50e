"""`rsg play`: a person moves the agent in the terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.cli.world import Kind, MapFile, Seed, WorldName, chosen_map, require_world

if TYPE_CHECKING:
    from rsg.envs.game import Game

_ENTER_SCREEN, _LEAVE_SCREEN, _HOME = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H\x1b[J"


def play(
    name: WorldName,
    task: Annotated[str | None, typer.Option(metavar="TASK", help="What you are asked to do.")] = None,
    kind: Kind = None,
    map_file: MapFile = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Move the agent yourself: arrows or wasd move, space toggles, u undoes, q leaves.

    Shows the map, what the agent holds, which subgoals are true and, with --task, what comes next. In a pipe the keys
    are read from standard input and the last screen is printed: [bold]echo "dd " | rsg play crafting[/bold]
    """
    require_world(name)
    from rsg.envs import CraftingEnv
    from rsg.envs.game import Game

    game = Game(CraftingEnv(map=chosen_map(kind, map_file), task=task), seed)
    if sys.stdin.isatty() and sys.stdout.isatty():
        with _keyboard():
            _loop(game)
    else:
        keys = sys.stdin.read().rstrip("\n")
        for key in keys:
            if not game.press(key):
                break
    if as_json:
        emit(game.summary())
    else:
        console().print(game.screen())


def _loop(game: Game) -> None:
    while True:
        with console().capture() as screen:
            console().print(game.screen())
        sys.stdout.write(_HOME + screen.get().replace("\n", "\r\n"))
        sys.stdout.flush()
        if not all(game.press(key) for key in _read_keys()):
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


def _read_keys() -> list[str]:
    """The keys that have come, one or several; an arrow is three characters, and the end of input is the empty key."""
    typed = os.read(sys.stdin.fileno(), 256).decode(errors="replace")
    return re.findall(r"\x1b[\[O][A-D]|.", typed, re.DOTALL) or [""]
