"""`rsg info`: look at a run."""

from functools import partial
from pathlib import Path
from typing import Any

from rsg.baselines import METHODS
from rsg.cli.command import Said, command
from rsg.cli.options import RunFolder
from rsg.cli.output import console
from rsg.cli.train import RSG, usual_settings
from rsg.training import Run


@command
def info(folder: RunFolder) -> Said:
    """Say what a run is: its settings, its data, what it learned, how far it is."""
    run = Run(folder)
    about = run.about
    checkpoints = {which: run.load(which).notes for which in run.steps}
    values = {"run": str(folder), **about, "checkpoints": checkpoints}
    return Said(values, partial(_show, folder, about, checkpoints.get("last")))


def _show(folder: Path, about: dict[str, Any], state: dict[str, Any] | None) -> None:
    out = console()
    settings, origin = about.get("settings", {}), about.get("source", {})
    out.print(f"[bold]{folder}[/bold]  method {about.get('method', 'unknown')}")
    if state:
        ended = state["done"] or "not finished: rsg train ... --resume goes on"
        out.print(f"step {state['step']} of {settings.get('steps')} ({ended}), {state['seconds']:.1f} s CPU")
        if state["best"] is not None:
            out.print(f"best held-out score {state['best']:.4f} at step {state['best_step']}")
    else:
        out.print("no checkpoint yet")
    out.print(f"data   {origin.get('demos', 'given in memory')}, sha256 {about.get('data', '')[:16]}…")
    if origin.get("from"):
        out.print(f"begun with what {origin['from']} had learned")
    out.print(f"terms  {len(about.get('terms', []))}: {', '.join(about.get('terms', []))}\n")
    out.print("[bold]settings[/bold]  (change them with --set key=value)")
    method = about.get("method", RSG)
    usual = vars(usual_settings(method, origin.get("world", ""))) if method in (RSG, *METHODS) else {}
    for key, value in settings.items():
        note = "" if usual.get(key) == value else f"   [yellow](default {usual.get(key)})[/yellow]"
        out.print(f"  {key:16} {value}{note}")
    if state and state["history"]:
        out.print("\n[bold]history[/bold]")
        for row in state["history"]:
            rest = "  ".join(f"{key} {value:.4f}" for key, value in row.items() if key != "step")
            out.print(f"  step {int(row['step']):5}  {rest}")
