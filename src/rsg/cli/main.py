"""The command line as a whole: which commands there are, and what happens when one fails."""

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from rsg.cli.command import lazily
from rsg.cli.output import complain
from rsg.cli.slips import UsageError, about_usage, show_traceback, unexpected
from rsg.core.blame import blamed
from rsg.core.errors import RsgError
from rsg.core.version import __version__

DONE, BAD_INPUT, INTERRUPTED = 0, 2, 130  # 1: nothing was found

COMMANDS = {
    "demo": "Make demonstrations, learn subgoals from them, plan with them, write a report.",
    "task": "Read a task and show what it means.",
    "domains": "List the worlds that there are, and what is known of each.",
    "world": "Show a world at a random start, at a place that you name, or from a file of your own.",
    "play": "Move yourself with the keyboard; u undoes, r starts again, q leaves.",
    "demos": "Make, look at, check, mend and exchange demonstrations.",
    "train": "Learn what the terms of the descriptions mean; or train a baseline.",
    "readings": "Say what each term means, how sure that is, and what would settle what is open.",
    "info": "Say what a run is: its settings, its data, what it learned, how far it is.",
    "deps": "Say which subgoals help which, as the demonstrations of a run show it.",
    "export": "Write the network of a run as an ONNX file, for programs without rsg.",
    "report": "Plan with what a run learned, and write one HTML page.",
    "plan": "Plan for an instruction, or for a goal only, and show the steps.",
    "recognise": "Say which task a trajectory did, and where each step ended.",
    "segment": "Say where each subgoal of many recordings begins and ends, in the formats of others.",
    "eval": "Plan from many starts, replay every plan, and report success.",
    "reproduce": "Run an experiment of the paper and write its section of the results.",
    "studio": "Open a page to instruct the agent, show it something, and look inside.",
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


@app.callback(invoke_without_command=True)
def _options(version: Annotated[bool, typer.Option("--version", help="Say the version.")] = False) -> None:
    if version:
        print(f"rsg {__version__}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; a user's mistake is one message, never a traceback."""
    _mend_streams()
    sys.set_int_max_str_digits(0)  # an exact count of instructions may be long
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(words: list[str]) -> int:
    """The exit code of a command; what went wrong is said."""
    as_json = "--json" in words
    try:
        code: int = app(words, prog_name="rsg", standalone_mode=False) or DONE
        sys.stdout.flush()
        if code == INTERRUPTED:  # how typer answers Ctrl-C
            raise KeyboardInterrupt
        return code
    except (typer.Abort, KeyboardInterrupt):
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except SystemExit:  # how typer answers a reader, `head` for example, that has seen enough
        return DONE
    except UsageError as error:
        if message := about_usage(error, words):
            complain(RsgError(message), as_json)
        else:  # no command at all: that shows the help
            error.show()
    except RsgError as error:
        show_traceback(error)
        complain(error, as_json)
    except Exception as error:
        show_traceback(error)
        if isinstance(error, OSError) and error.filename is None and not blamed(error):
            print(f"error: cannot write the output: {error.strerror or error}", file=sys.stderr)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains about it once more
        else:
            complain(unexpected(error), as_json)
    return BAD_INPUT


def _mend_streams() -> None:
    """A closed stream takes everything; one that cannot show a character shows a stand-in."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, for the whole run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
