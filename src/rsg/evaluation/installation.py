"""Does this installation work, and what could be added to it?"""

import platform
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from rsg.core import extras
from rsg.core.compiled import kept_in
from rsg.core.version import __version__
from rsg.core.workers import cores
from rsg.language import Machine, parse, satisfies

PACKAGES = (
    *("torch", "numpy", "numba", "gymnasium", "lark", "safetensors", "typer", "rich"),
    *("matplotlib", "tensorboard", "filelock"),
)


def examined(thorough: bool, checkout: bool) -> dict[str, Any]:
    """All that was found, as plain values; thorough: packages are imported; checkout: whether extras can be added."""
    packages = {name: _package(name, thorough) for name in PACKAGES}
    checks = {"task language": _error(_language_works), "compiler": _error(_compiler_works)}
    folder = kept_in() if checks["compiler"] is None else None
    return {
        "ok": all(package["error"] is None for package in packages.values()) and not any(checks.values()),
        "rsg": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "packages": packages,
        "checks": checks,
        "threads": {"cores": cores(), "torch": _threads("torch") if thorough else None, "numba": _threads("numba")},
        "compile_cache": {"folder": str(folder) if folder else None, "writable": folder is not None},
        "extras": {
            name: {"what": what, "present": extras.installed(name), "install": extras.command(name)}
            for name, (what, _) in (extras.EXTRAS if checkout else {}).items()
        },
    }


def _package(name: str, thorough: bool) -> dict[str, str | None]:
    """The version of a package, and why it cannot be imported; unless that is thorough, only whether it is there."""
    version = next((found.version for found in metadata.distributions(name=name)), None)
    there = partial(import_module, name) if thorough or find_spec(name) is None else partial(find_spec, name)
    return {"version": version, "error": _error(there)}


def _error(check: Callable[[], object]) -> str | None:
    """The error of a check in one line, or nothing if it passes."""
    try:
        return None if check() else "it gives a wrong answer"
    except Exception as error:  # whatever is broken, the doctor reports it
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _language_works() -> bool:
    task, trace = parse("a then b"), [[0, 0], [1, 0], [1, 1]]
    return satisfies(trace, task) and Machine.of(task).accepts(trace)


def _compiler_works() -> bool:
    from numba import njit

    return bool(njit(lambda x: x + 1)(1) == 2)


def _threads(name: str) -> int | None:
    with suppress(Exception):  # a broken package, which is reported as one
        return int(import_module(name).get_num_threads())
    return None
