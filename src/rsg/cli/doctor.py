"""`rsg doctor`: does this installation work, and what could be added to it?"""

import platform
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from rich.markup import escape
from rich.table import Table

from rsg.cli.command import Said, command, option
from rsg.cli.reproduce import checkout
from rsg.core import extras
from rsg.core.errors import RsgError
from rsg.core.version import __version__
from rsg.core.workers import cores

PACKAGES = (
    *("torch", "numpy", "numba", "gymnasium", "lark", "safetensors", "typer", "rich"),
    *("matplotlib", "minari", "tensorboard", "filelock"),
)


@command
def doctor(
    thorough: bool = option(False, "Also import every package, which takes some seconds.", "--thorough"),
) -> Said:
    """Check the installation: Python, packages, threads, compile cache, extras. Exit code 0 if the core works."""
    packages = {name: _package(name, thorough) for name in PACKAGES}
    checks = {"task language": _error(_language_works), "compiler": _error(_compiler_works)}
    folder = _kept_in() if checks["compiler"] is None else None
    report = {
        "ok": all(package["error"] is None for package in packages.values()) and not any(checks.values()),
        "rsg": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "packages": packages,
        "checks": checks,
        "threads": {"cores": cores(), "torch": _threads("torch") if thorough else None, "numba": _threads("numba")},
        "compile_cache": {"folder": folder, "writable": folder is not None},
        "extras": {
            name: {"what": what, "present": extras.installed(name), "install": extras.command(name)}
            for name, (what, _) in (extras.EXTRAS if _in_checkout() else {}).items()
        },
    }
    return Said(report, _show(report), 0 if report["ok"] else 1)


def _show(report: dict[str, Any]) -> Iterator[Any]:
    """The report as a person reads it: what works first, what is missing with the command that adds it."""
    yield f"[bold]rsg {report['rsg']}[/bold] on Python {report['python']}, {report['platform']}"
    rows = [(name, one["version"] or "missing", one["error"]) for name, one in report["packages"].items()]
    rows += [(name, "fails" if error else "works", error) for name, error in report["checks"].items()]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, state, error in rows:
        table.add_row("[red]✗[/red]" if error else "[green]✓[/green]", name, state, escape(error or ""))
    yield table
    threads, cache = report["threads"], report["compile_cache"]
    used = [f"{name} uses {threads[name]}" for name in ("torch", "numba") if threads[name] is not None]
    yield f"threads        {threads['cores']} cores; {', '.join(used)}"
    none = (
        "[yellow]none: each start compiles for a minute; set NUMBA_CACHE_DIR to a folder that can be written[/yellow]"
    )
    yield f"compile cache  {escape(cache['folder']) + ' (writable)' if cache['writable'] else none}"
    if report["extras"]:
        yield "extras"
    for name, extra in report["extras"].items():
        state = "[green]present[/green]" if extra["present"] else f"missing: {escape(extra['install'])}"
        yield f"  {name:9} {extra['what']:33} {state}"
    again = "make clean demo" if _in_checkout() else "pip install --force-reinstall, in a new environment"
    works = "[green]The core works.[/green]"
    yield works if report["ok"] else f"[red]The core does not work.[/red] Try: {again}"


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
    from rsg.language import Machine, parse, satisfies

    task, trace = parse("a then b"), [[0, 0], [1, 0], [1, 1]]
    return satisfies(trace, task) and Machine.of(task).accepts(trace)


def _compiler_works() -> bool:
    from numba import njit

    return bool(njit(lambda x: x + 1)(1) == 2)


def _kept_in() -> str | None:
    from rsg.core.compiled import kept_in

    return str(folder) if (folder := kept_in()) else None


def _threads(name: str) -> int | None:
    with suppress(Exception):  # a broken package, which is reported as one
        return int(import_module(name).get_num_threads())
    return None


def _in_checkout() -> bool:
    """Whether there is a checkout of the repository, which is what extras are for."""
    with suppress(RsgError):
        return checkout().is_dir()
    return False
