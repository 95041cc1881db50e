"""A file of a user's, run as a module."""

import sys
from pathlib import Path
from types import ModuleType

from rsg.core.errors import RsgError
from rsg.core.folder import sha256


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
