"""The extras: packages that some commands need and that are not installed by default."""

from __future__ import annotations

from importlib.util import find_spec

from rsg.core.errors import RsgError

EXTRAS = {  # extra: what it brings, the modules that show it is there
    "ompl": ("OMPL motion planners, as a peer", ("ompl",)),
    "pddl": ("Fast Downward, as a peer", ("unified_planning", "up_fast_downward")),
    "dev": ("tests, linters, docs", ("pytest", "hypothesis", "mypy", "mkdocs")),
}


def installed(name: str) -> bool:
    """Whether an extra is there."""
    return all(find_spec(module) is not None for module in EXTRAS[name][1])


def command(*names: str) -> str:
    """What installs extras.

    >>> command("pddl", "ompl")
    "pip install -c constraints.txt -e '.[pddl,ompl]'"
    """
    return f"pip install -c constraints.txt -e '.[{','.join(names)}]'"


def lacking(*names: str) -> str:
    """What is missing of some extras and how to install it, in a sentence; empty if all are there."""
    missing = [name for name in names if not installed(name)]
    if not missing:
        return ""
    brings = " and ".join(EXTRAS[name][0].partition(",")[0] for name in missing)
    are = "are" if len(missing) > 1 or brings.endswith("s") else "is"
    return f"{brings} {are} not installed; install with: {command(*missing)}"


def require(*names: str) -> None:
    """An error that says how to install what is missing of some extras."""
    if problem := lacking(*names):
        raise RsgError(problem)
