"""What a user names by where it is: `path/to/file.py:name`, which is run, or `package.module:name`."""

import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from rsg.core.blame import theirs
from rsg.core.errors import RsgError, cause_of
from rsg.core.folder import sha256

_OURS = Path(__file__).resolve().parents[1]


def named(name: str, what: str) -> Any:
    """What has that name; what: the word for it."""
    where, _, attribute = name.rpartition(":")
    where = str(Path(where).resolve()) if where.endswith(".py") else where
    module = loading(
        f"the {what} '{name}'", lambda: run_file(Path(where)) if where.endswith(".py") else import_module(where)
    )
    if not hasattr(module, attribute):
        raise RsgError(f"{where} has nothing of the name '{attribute}'")
    theirs(where)
    return getattr(module, attribute)


def loading(what: str, load: Callable[[], Any]) -> Any:
    """What is loaded; whatever goes wrong in somebody's code is one sentence."""
    try:
        return load()
    except RsgError:
        raise
    except (Exception, SystemExit) as error:
        files = [(Path(one.filename), one.lineno) for one in traceback.extract_tb(error.__traceback__)]
        places = [
            f" ({file}, line {n})" for file, n in files if _OURS not in file.parents and "importlib" not in str(file)
        ]
        raise RsgError(f"{what} cannot be loaded: {cause_of(error)}{places[-1] if places else ''}") from None


def run_file(path: Path) -> ModuleType:
    """A file as a module, under a name that it can be found by again."""
    if not path.is_file():
        raise RsgError(f"there is no file {path}")
    name = f"rsg_domain_{path.stem}_{sha256(str(path).encode())[:8]}"
    module = sys.modules[name] = ModuleType(name)
    vars(module)["__file__"] = str(path)
    sys.path.insert(0, str(path.parent))  # as when it is run: what lies beside it can be imported
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(path.parent))
    return module
