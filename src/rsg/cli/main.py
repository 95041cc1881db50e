"""The command line as a whole: which commands there are, and what happens when one fails."""

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from rsg.cli.command import lazily
from rsg.cli.output import complain
from rsg.core.errors import RsgError
from rsg.core.version import __version__

UsageError: type[typer.BadParameter] = typer.BadParameter.__mro__[1]  # typer brings its own copy of click
DONE, NOTHING_FOUND, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

COMMANDS = {
    "demo": "Make demonstrations, learn subgoals from them, plan with them, write a report.",
    "task": "Read a task and show what it means.",
    "world": "Show a world: a random map or room, or one of your own from a text file.",
    "play": "Move yourself: arrows or wasd move, u undoes, r starts again, q leaves.",
    "demos": "Make, look at, check, mend and exchange demonstrations.",
    "train": "Learn what the terms of the descriptions mean; or train a baseline.",
    "readings": "Say what each term means, how sure that is, and what would settle what is open.",
    "info": "Say what a run is: its settings, its data, what it learned, how far it is.",
    "deps": "Say which subgoals help which, as the demonstrations of a run show it.",
    "report": "Plan for both splits with what a run learned, and write one HTML page.",
    "plan": "Plan for an instruction, or for a goal only, and show the steps.",
    "recognise": "Say which task a trajectory did, and where each step ended.",
    "eval": "Plan from many starts, replay every plan, and report success.",
    "reproduce": "Run an experiment of the paper and write its section of the results.",
    "doctor": "Check the installation: Python, packages, threads, compile cache, extras.",
}
app = typer.Typer(
    name="rsg",
    cls=lazily(COMMANDS),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn what the steps of a task mean from demonstrations and plain instructions, then plan with them.",
    epilog="Start with [bold]rsg demo[/bold]. Exit codes: 0 done, 1 nothing found, 2 bad input.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rsg {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    del version  # the callback has answered


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; a user's mistake is one message, never a traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    _mend_streams()
    as_json = "--json" in words
    sys.set_int_max_str_digits(0)  # an exact count of instructions may be long
    try:
        code = app(words, prog_name="rsg", standalone_mode=False) or DONE
        sys.stdout.flush()
        if code == INTERRUPTED:  # how typer answers Ctrl-C
            raise KeyboardInterrupt
    except RsgError as error:
        complain(error, as_json)
        code = BAD_INPUT
    except UsageError as error:
        if message := error.format_message():
            complain(RsgError(message), as_json)
        else:  # no command at all: that shows the help
            error.show()
        code = BAD_INPUT
    except (typer.Abort, KeyboardInterrupt):
        print("\ninterrupted", file=sys.stderr)
        code = INTERRUPTED
    except SystemExit:  # how typer answers a reader, `head` for example, that has seen enough
        code = DONE
    except OSError as error:
        print(f"error: cannot write the output: {error.strerror or error}", file=sys.stderr)
        code = BAD_INPUT
        _close_stdout()
    sys.exit(code)


def _mend_streams() -> None:
    """A closed stream takes everything; one that cannot show a character shows a stand-in."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, for the whole run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _close_stdout() -> None:
    """Keep Python from complaining once more about a standard output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
