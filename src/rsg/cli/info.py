"""`rsg info`: look at a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rsg.cli.command import Said, command
from rsg.cli.options import RunFolder
from rsg.domain import Domain, find, installed
from rsg.evaluation.usual import usual_settings
from rsg.training import Run
from rsg.worlds import Recorded


@command
def info(folder: RunFolder) -> Said:
    """Say what a run is: its settings, its data, what it learned, how far it is."""
    run = Run(folder)
    about = run.about
    checkpoints = {which: run.notes(which) for which in run.steps}
    values = {"run": str(folder), **about, "checkpoints": checkpoints}
    return Said(values, _show(folder, about, checkpoints.get("last")))


def _show(folder: Path, about: dict[str, Any], state: dict[str, Any] | None) -> Iterator[str]:
    settings, origin = about.get("settings", {}), about.get("source", {})
    yield f"[bold]{folder}[/bold]  method {about.get('method', 'unknown')}"
    if state:
        ended = state["done"] or "not finished: rsg train ... --resume goes on"
        yield f"step {state['step']} of {settings.get('steps')} ({ended}), {state['seconds']:.1f} s CPU"
        if state["best"] is not None:
            yield f"best held-out score {state['best']:.4f} at step {state['best_step']}"
    else:
        yield "no checkpoint yet"
    yield f"data   {origin.get('demos', 'given in memory')}, sha256 {about.get('data', '')[:16]}…"
    if "recorded" in origin:
        yield f"world  {Recorded(**origin['recorded']).assumes}"
    if origin.get("from"):
        yield f"begun with what {origin['from']} had learned"
    yield f"terms  {len(about.get('terms', []))}: {', '.join(about.get('terms', []))}\n"
    yield "[bold]settings[/bold]  (change them with --set key=value)"
    method = about.get("method", "rsg")
    place = find(origin["world"]) if origin.get("world") in installed() else Domain()
    usual = usual_settings(method, place)
    for key, value in settings.items():
        note = "" if usual.get(key) == value else f"   [yellow](default {usual.get(key)})[/yellow]"
        yield f"  {key:16} {value}{note}"
    if state and state["history"]:
        yield "\n[bold]history[/bold]"
        for row in state["history"]:
            rest = "  ".join(f"{key} {value:.4f}" for key, value in row.items() if key != "step")
            yield f"  step {int(row['step']):5}  {rest}"
