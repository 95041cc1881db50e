"""`rsg doctor`: does this installation work, and what could be added to it?"""

from __future__ import annotations

import os
import platform
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import typer

from rsg.cli.output import AsJson, console, emit
from rsg.core import extras
from rsg.core.cores import cores
from rsg.core.version import __version__

CORE = (
    "torch",
    "numpy",
    "numba",
    "gymnasium",
    "lark",
    "safetensors",
    "typer",
    "rich",
    "matplotlib",
    "minari",
    "tensorboard",
    "pydantic",
)


def doctor(as_json: AsJson = False) -> None:
    """Check the installation: Python, packages, threads, compile cache, extras. Exit code 0 if the core works."""
    report = examine()
    if as_json:
        emit(report)
    else:
        show(report)
    raise typer.Exit(0 if report["ok"] else 1)


def examine() -> dict[str, Any]:
    """Everything that `rsg doctor` knows, as plain values."""
    packages = {name: _package(name) for name in CORE}
    checks = {"task language": _try(_check_language), "compiler": _try(_check_compiler)}
    works = all(p["error"] is None for p in packages.values()) and all(error is None for error in checks.values())
    return {
        "ok": works,
        "rsg": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "packages": packages,
        "checks": checks,
        "threads": {"cores": _cores(), "torch": _threads("torch"), "numba": _threads("numba")},
        "compile_cache": _compile_cache(),
        "extras": {name: _extra(name) for name in extras.EXTRAS},
    }


def show(report: dict[str, Any]) -> None:
    """The report as a person reads it: what works first, what is missing with the command that adds it."""
    from rich.table import Table

    out = console()
    out.print(f"[bold]rsg {report['rsg']}[/bold] on Python {report['python']}, {report['platform']}")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, package in report["packages"].items():
        table.add_row(_mark(package["error"]), name, package["version"] or "missing", package["error"] or "")
    for name, error in report["checks"].items():
        table.add_row(_mark(error), name, "works" if error is None else "fails", error or "")
    out.print(table)
    threads = report["threads"]
    out.print(f"threads        {threads['cores']} cores; torch uses {threads['torch']}, numba {threads['numba']}")
    cache = report["compile_cache"]
    out.print(f"compile cache  {cache['folder']} ({'writable' if cache['writable'] else 'not writable: slow starts'})")
    out.print("extras")
    for name, extra in report["extras"].items():
        state = "[green]present[/green]" if extra["present"] else f"missing: {_plain(extra['install'])}"
        out.print(f"  {name:9} {extra['what']:33} {state}")
    verdict = (
        "[green]The core works.[/green]" if report["ok"] else "[red]The core does not work.[/red] Try: make clean demo"
    )
    out.print(verdict)


def _package(name: str) -> dict[str, str | None]:
    error = _try(lambda: import_module(name))
    try:
        version: str | None = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = None
    return {"version": version, "error": error}


def _extra(name: str) -> dict[str, object]:
    return {"what": extras.EXTRAS[name][0], "present": extras.installed(name), "install": extras.command(name)}


def _try(check: Any) -> str | None:
    """The error of a check in one line, or nothing if it passes."""
    try:
        check()
    except Exception as error:  # whatever is broken, the doctor reports it
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return None


def _check_language() -> None:
    from rsg.language import Machine, parse, satisfies

    task = parse("a then b")
    trace = [[0, 0], [1, 0], [1, 1]]
    if not (satisfies(trace, task) and Machine.of(task).accepts(trace)):
        raise RuntimeError("the task language gives a wrong answer")


def _check_compiler() -> None:
    import numba

    if numba.njit(lambda x: x + 1)(1) != 2:
        raise RuntimeError("compiled code gives a wrong answer")


def _cores() -> int:
    return cores()


def _threads(name: str) -> int | None:
    try:
        module = import_module(name)
        return int(module.get_num_threads())
    except Exception:  # already reported as a broken package
        return None


def _compile_cache() -> dict[str, object]:
    """Where numba keeps compiled kernels: NUMBA_CACHE_DIR if set, else beside the code."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(sys.modules["rsg"].__file__ or ".").parent)
    return {"folder": str(folder), "writable": os.access(folder, os.W_OK)}


def _mark(error: str | None) -> str:
    return "[green]✓[/green]" if error is None else "[red]✗[/red]"


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
