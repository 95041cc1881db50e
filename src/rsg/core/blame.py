"""Whose mistake an error is that nobody expected: of a world that somebody else wrote, or ours."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

from rsg.core.errors import RsgError, cause_of

_OURS = Path(__file__).resolve().parents[1]
_THEIRS: set[Path] = set()  # files and folders of worlds that others wrote


def theirs(where: str) -> None:
    """Say that somebody else wrote a file and those beside it, or a module that is loaded and its whole package."""
    top = sys.modules.get(where.partition(".")[0])
    files = getattr(top, "__path__", [getattr(top, "__file__", None)]) if top else [Path(where).parent]
    _THEIRS.update({Path(file).resolve() for file in files if file} - {_OURS})


def foreign() -> bool:
    """Whether there is code of somebody else's."""
    return bool(_THEIRS)


def place_of(error: BaseException) -> str:
    """Where an error happened, if that is not in code of ours or of an installed package: ` (file, line)`."""
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    others = [
        f" ({file}, line {n})" for file, n in lines if _OURS not in Path(file).parents and "site-packages" not in file
    ]
    return others[-1] if others else ""


def blamed(error: BaseException) -> RsgError | None:
    """The error in one sentence that names the method and the line, if it happened in somebody else's code."""
    lines = [(frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    called = [(code, line) for code, line in lines if _is_theirs(code)]
    if not called:
        return None
    method, (code, line) = called[0][0].co_qualname, called[-1]
    return RsgError(f"{method} failed: {cause_of(error)} ({code.co_filename}, line {line})")


def _is_theirs(code: CodeType) -> bool:
    path = Path(code.co_filename).resolve()
    roots = [root for root in _THEIRS if path == root or root in path.parents]
    installed = "site-packages" in path.parts
    return _OURS not in path.parents and any(not installed or "site-packages" in root.parts for root in roots)


@contextmanager
def telling_whose() -> Iterator[None]:
    """A mistake in somebody else's code is one sentence, also where only the sentence can be handed on."""
    try:
        yield
    except RsgError:
        raise
    except Exception as error:
        if blame := blamed(error):
            raise blame from error
        raise
