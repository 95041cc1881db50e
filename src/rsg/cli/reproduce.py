"""`rsg reproduce`: finds the experiments in a checkout of the repository, and hands over to them."""

import sys
from importlib import import_module
from pathlib import Path

import typer

from rsg.core.errors import RsgError

FOLDER = "reproductions"
SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
"""Every word, `--help` too, is for the experiments."""
HOLDS = Path(FOLDER) / "harness" / "command.py"


def reproduce(context: typer.Context) -> None:
    """Run an experiment of the paper and write its section of the results, with figures and plots.

    For example: [bold]rsg reproduce table-1 --quick[/bold]; experiments live in a checkout of the repository.
    """
    root = str(checkout())
    if root not in sys.path:
        sys.path.insert(0, root)  # processes that are started inherit it
    command = import_module(".".join(HOLDS.with_suffix("").parts)).command()
    with command.make_context(context.info_name, context.args, context.parent) as inner:
        command.invoke(inner)


def checkout() -> Path:
    """The folder that holds the experiments: the one that this source is in, or else where we are or above it."""
    here = Path.cwd()
    for folder in (Path(__file__).parents[3], here, *here.parents):
        if (folder / HOLDS).is_file():
            return folder
    raise RsgError(
        f"experiments are not part of the installed package: run this in a checkout of the repository, which has the "
        f"folder {FOLDER}/"
    )
