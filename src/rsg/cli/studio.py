"""`rsg studio`: a page on this machine to instruct the agent, show it something, correct it, and look inside."""

from pathlib import Path
from typing import Annotated

import typer

from rsg.cli.command import Said, command, option
from rsg.cli.output import console
from rsg.core.errors import RsgError
from rsg.core.extras import EXTRAS, installed
from rsg.core.extras import command as installs
from rsg.core.progress import is_hushed
from rsg.domain import Domain, find, usual

DEMO = Path("out/demo/run")  # what `rsg demo` trained


@command
def studio(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]...", help="Folders of runs; the first is looked at first.")
    ] = None,
    *,
    demos: Path | None = option(None, "The recordings, a store; else one in --out.", metavar="DIR"),
    world: str | None = option(None, "The world, if no run says it.", metavar="WORLD"),
    out: Path = option(Path("out/studio"), "Where what is shown and learned here goes.", metavar="DIR"),
    host: str = option("127.0.0.1", "The name to listen on; with another than this machine's own a token is asked."),
    port: int = option(8800, "The port; if it is taken, the next one that is free.", min=0, max=65535),
    workers: int = option(0, "Processes that plan and learn; 0: one per core.", min=0, max=256),
    browser: bool = option(True, "Open the page in a browser."),
) -> Said:
    """Open a page to instruct the agent, show it something, correct it, and see what it learned.

    Without RUN it takes what [bold]rsg demo[/bold] trained, or trains one while you look. Ctrl-C ends it; what was
    shown and learned is kept in --out. The page asks a service that other programs may ask too: /openapi.json.
    [bold]rsg studio[/bold]
    [bold]rsg studio out/run --demos out/mine[/bold]
    """
    if not installed("studio"):
        raise RsgError(f"the studio needs {' and '.join(EXTRAS['studio'][1])}: {installs('studio')}")
    from rsg.studio.pool import prepare

    prepare()
    domain, named = _about(runs or ([DEMO] if DEMO.exists() and not world else []), world)
    from rsg.studio.serve import studio as served
    from rsg.studio.shelf import Shelf

    out = out.resolve()
    found = served(Shelf(domain, named, out, (demos or out / "demonstrations").resolve()), host, port, workers)
    if not is_hushed():
        console().print(f"the studio is at [bold]{found.address}[/bold]  (Ctrl-C ends it)", soft_wrap=True)
    found.run(browser)
    return Said({"address": found.address, "out": str(out)}, "")


def _about(runs: list[Path], world: str | None) -> tuple[Domain, dict[str, Path]]:
    """The domain of the runs, and their names: those of their folders, with more of the path where these are equal."""
    if not runs:
        return (find(world) if world else usual()), {}
    from rsg.training import Run
    from rsg.training.origin import home

    asked = find(world) if world else None
    homes = [home(Run(run), asked) for run in runs]
    others = {one.name for one in homes} - {homes[0].name}
    if others:
        raise RsgError(f"the runs are of different worlds, {homes[0].name} and {others.pop()}; open them one at a time")
    named: dict[str, Path] = {}
    for run in (one.resolve() for one in runs):
        name = run.name if run.name != "run" else run.parent.name
        named[name if name not in named else f"{run.parent.name}-{name}"] = run
    return homes[0], named
