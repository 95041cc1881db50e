"""`rsg export`: what a run learned, for programs without rsg."""

from collections.abc import Iterator
from pathlib import Path

from rich.markup import escape

from rsg.cli.command import Said, command, option
from rsg.cli.options import Home, RunFolder
from rsg.cli.output import to_write
from rsg.core.errors import RunError
from rsg.demos.importing import open_store
from rsg.domain import find
from rsg.subgoals import Exported, load
from rsg.training import Run
from rsg.training.origin import home


@command
def export(
    folder: RunFolder,
    *,
    onnx: Path = option(..., "The file to write.", metavar="FILE.onnx", callback=to_write(".onnx")),
    demos: Path | None = option(None, "Try it on these recordings, not on those of training.", metavar="SOURCE"),
    world: Home = None,
) -> Said:
    """Write the network of a run as an ONNX file, and try it with onnxruntime.

    What goes in is what the world shows of states; out come log_g and log_i, [N, terms]: how likely each subgoal is
    true, and yet to be done, as logarithms. What the terms and inputs are called stands in the file. Terms that are
    formulas have no network: [bold]rsg readings[/bold] says them. For example:
    [bold]rsg train {world} --encoder seen --out out/run[/bold]
    [bold]rsg export out/run --onnx run.onnx[/bold]
    """
    domain = home(Run(folder), find(world) if world else None)
    subgoals = load(folder, domain)
    states, there = None, None
    if demos:
        shown = open_store(demos, domain.name)[0]
        states, there = shown.states, domain.world(shown.setting)
    try:
        found = subgoals.to_onnx(onnx, states, there)
    except RunError as error:  # nobody knows what it was shown
        raise RunError(f"{error}: rsg export {folder} --onnx {onnx} --demos SOURCE") from None
    return Said({"run": str(folder), "onnx": str(onnx), **found._asdict()}, _show(found), written=[onnx])


def _show(found: Exported) -> Iterator[str]:
    """What goes in, what comes out, and what is not there."""
    for name, part in found.inputs.items():
        yield escape(f"in   {name}  {part['dtype']}[{', '.join(map(str, ('N', *part['shape'])))}]")
    yield escape(f"out  log_g, log_i  float32[N, {len(found.terms)}]: {', '.join(found.terms)}")
    if found.formulas:
        yield escape(f"left out: {', '.join(found.formulas)}, as formulas say what they mean")
    yield f"tried with onnxruntime: at most {found.off:.1g} off"
