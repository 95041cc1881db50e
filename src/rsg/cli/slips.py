"""What is said when a command fails: of words that make no command, and of errors that nobody expected."""

import os
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from tempfile import NamedTemporaryFile

import typer

from rsg.cli.command import world_in
from rsg.core.blame import blamed, foreign
from rsg.core.errors import RsgError, cause_of
from rsg.core.version import __version__

UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]  # typer brings its own copy of click
CONNECTIVES = ("then", "or", "and", ">", "|", "&")


def about_usage(error: typer.BadParameter, words: Sequence[str]) -> str:
    """What is wrong with the words of a command, and what may have been meant; empty if there were none."""
    name, told = getattr(error, "option_name", ""), error.format_message()
    metavar = getattr(getattr(error, "param", None), "metavar", None)
    if foreign_one := _foreign_option(name, words):
        return foreign_one
    if name and (near := get_close_matches(name, getattr(error, "possibilities", None) or (), n=1)):
        return f"No such option: {name}; did you mean {near[0]}?"
    if told.startswith("Missing argument") and metavar == "WORLD":
        from rsg.domain import installed

        *first, command = error.ctx.command_path.split() if error.ctx else ["rsg"]
        example = " ".join([*first, command, next(iter(installed())), *words[len(first) :]])
        return f"say which world: {', '.join(installed())} or path/to/file.py:name; for example: {example}"
    if told.startswith("Missing argument") and metavar in ("RUN", "DIR"):
        what = (
            "a run, as rsg train --out RUN makes one" if metavar == "RUN" else "demonstrations, as rsg demos make does"
        )
        return f"say which folder: that of {what}"
    return told + _unquoted(told, words)


def _unquoted(told: str, words: Sequence[str]) -> str:
    """A hint for somebody who forgot the quotes around a task."""
    if not told.startswith("Got unexpected extra argument") or not {*words} & {*CONNECTIVES}:
        return ""
    extra = told[told.index("(", len("Got unexpected extra argument(s)")) + 1 : -1].split()
    first = next((n for n in range(len(words)) if [*words[n : n + len(extra)]] == extra), 0)
    if not first or words[first - 1].startswith("-"):
        return "; put a task of several words in quotes"
    before, task, after = words[: first - 1], words[first - 1 : first + len(extra)], words[first + len(extra) :]
    quoted = '"' + " ".join(task) + '"'
    return f"; put the task in quotes: {' '.join(['rsg', *before, quoted, *after])}"


def _foreign_option(name: str, words: Sequence[str]) -> str:
    """What to say of an option that the world named has not, but another one has; nothing if none has it."""
    from rsg.domain import installed

    here, others = world_in(words), [one for other in installed() if (one := world_in([other]))]
    placing = [one.name for one in others if one.place_option and name in one.place_option.names]
    having = placing + [one.name for one in others if name in [f"--{key}" for key in one.pictures]]
    if not name or not here or not having:
        return ""
    own = f", which has {here.place_option.names[0]}" if placing and here.place_option else ""
    return f"{name} is for {' and '.join(having)}, not for {here.name}{own}"


def unexpected(error: Exception) -> RsgError:
    """The sentence for an error that nobody expected: whose it is, and where to see all of it."""
    if blame := blamed(error):
        return RsgError(f"{blame}; RSG_TRACEBACK=1 shows how it came to that")
    if isinstance(error, OSError) and error.filename is not None:
        return RsgError(f"cannot use {error.filename}: {error.strerror or error}")
    with NamedTemporaryFile("w", prefix="rsg-traceback-", suffix=".txt", delete=False, encoding="utf-8") as kept:
        kept.write(f"rsg {__version__}, Python {sys.version}\nrsg {' '.join(sys.argv[1:])}\n\n")
        traceback.print_exception(error, file=kept)
    perhaps = "; if your own world may be the cause, rsg.worlds.check(world) says what it lacks" if foreign() else ""
    return RsgError(
        f"rsg itself made a mistake ({cause_of(error)}); please report it with what is in {kept.name}{perhaps}"
    )


def show_traceback(error: BaseException) -> None:
    """For people who look for a mistake: with RSG_TRACEBACK=1, where an error came from."""
    if os.environ.get("RSG_TRACEBACK", "0") not in ("", "0"):
        traceback.print_exception(error)
