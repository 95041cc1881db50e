"""What experiments with peers need and is not installed by default."""

from rsg.core.errors import RsgError
from rsg.core.extras import EXTRAS, command, installed


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
