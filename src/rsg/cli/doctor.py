"""`rsg doctor`: does this installation work, and what could be added to it?"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from rsg.cli.command import Said, command, option
from rsg.cli.reproduce import checkout
from rsg.core.errors import RsgError
from rsg.evaluation.installation import examined


@command
def doctor(
    thorough: bool = option(False, "Also import every package, which takes some seconds.", "--thorough"),
) -> Said:
    """Check the installation: Python, packages, threads, compile cache, extras. Exit code 0 if the core works."""
    report = examined(thorough, _in_checkout())
    return Said(report, _show(report), 0 if report["ok"] else 1)


def _show(report: dict[str, Any]) -> Iterator[RenderableType]:
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
    none = "[yellow]none: each start compiles anew; set NUMBA_CACHE_DIR to a folder that can be written[/yellow]"
    yield f"compile cache  {escape(cache['folder']) + ' (writable)' if cache['writable'] else none}"
    if report["extras"]:
        yield "extras"
    for name, extra in report["extras"].items():
        state = "[green]present[/green]" if extra["present"] else f"missing: {escape(extra['install'])}"
        yield f"  {name:9} {extra['what']:33} {state}"
    again = "make clean demo" if _in_checkout() else "pip install --force-reinstall, in a new environment"
    works = "[green]The core works.[/green]"
    yield works if report["ok"] else f"[red]The core does not work.[/red] Try: {again}"


def _in_checkout() -> bool:
    """Whether there is a checkout of the repository, which is what extras are for."""
    with suppress(RsgError):
        return checkout().is_dir()
    return False
