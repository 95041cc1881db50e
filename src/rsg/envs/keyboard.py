"""A game at a terminal: keys one by one, and a screen of our own."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rsg.envs.game import Game

_ENTER_SCREEN, _LEAVE_SCREEN, _HOME = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H\x1b[J"


def play(game: Game, drawn: Callable[[], str]) -> None:
    """Until the person leaves; drawn: the game as the terminal shows it. In a pipe, all keys that come out of it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        all(game.press(key) for key in _keys(sys.stdin.read().rstrip("\n")))
        return
    with _keyboard():
        while True:
            sys.stdout.write(_HOME + drawn().replace("\n", "\r\n"))
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
