"""What there is to say of a run that was just trained."""

import os
import sys
from pathlib import Path
from shutil import which

from rsg.baselines.jobs import RSG, Job
from rsg.core.words import quantity
from rsg.domain import Domain
from rsg.subgoals import Reading
from rsg.subgoals.runs import BY_FACTS
from rsg.training import Run
from rsg.training.origin import OfRecordings


def how_read(out: Path) -> str:
    """A line on what the terms were learned by: formulas, a network, or both; nothing of a baseline."""
    about = Run(out).about
    shape, terms = about.get("shape", {}), about.get("terms", [])
    if about.get("method") != RSG:
        return ""
    if not (found := shape.get("readings")):
        return f"the network '{about['settings']['encoder']}' learned what {quantity(len(terms), 'term')} mean\n"
    several = [term for term, one in found.items() if Reading.restored(one).open]
    rest = shape.get("network", {}).get("terms", [])
    told = f"{len(found)} of {quantity(len(found) + len(rest), 'term')} were read as formulas over facts"
    told += f"; a network knows {', '.join(rest)}" if rest else ""
    return told + (f"; open: {', '.join(several)}" if several else "") + "\n"


def next_commands(job: Job, out: Path, name: str) -> list[str]:
    """Commands that show what was learned; name: how the user named the world."""
    domain, read = job.domain, job.method == RSG
    plans = read and not isinstance(domain, OfRecordings)
    judged = domain.has("truth") and bool(domain.reported)
    used, world = f"{name}{domain.place_words}", f" --world {name}" if ":" in name else ""
    pictures = [key for key, one in domain.pictures.items() if one.learned]
    commands = {
        f"eval {used} --subgoals {out} --split {''.join(domain.reported[-1:])}": judged and job.method != "lstm",
        f"readings {out}{world}": read and getattr(job.settings, "encoder", "") in BY_FACTS,
        f"plan {used} --goal TERM --subgoals {out}": plans,
        **{f"world {used} --subgoals {out} --{key} {key}.png": plans for key in pictures},
        f"report {out}{world}": plans and judged,
        f"recognise {out} --demos {job.store.folder}": read and not plans,
        f"deps {out}{world}": read,
        f"recognise {out} --demos DIR --candidates train{world}": job.method == "lstm",
        f"info {out}": True,
    }
    return [f"rsg {words}" for words, wanted in commands.items() if wanted]


def tour(domain: Domain, run: Path, split: str) -> list[str]:
    """Commands for somebody who has just seen the first run, each as the user can call it."""
    (task, goal), world = domain.examples, domain.found_as or domain.name
    named = f" --world {world}" if ":" in world else ""
    commands = (
        f"plan {world} '{task}' --subgoals {run}",
        f"plan {world} --goal {goal} --subgoals {run}",
        f"readings {run}{named}",
        f"deps {run}{named}",
        f"eval {world} --subgoals {run} --split {split} --per-task 100",
        f"info {run}",
        "train --help",
        f"play {world} --task '{task}'",
    )
    return [f"{_called()} {words}" for words in commands]


def _called() -> str:
    """How the user can call rsg again: by its name if the shell finds it, else as it was called."""
    called = sys.argv[0]
    if which("rsg") is not None or Path(called).name != "rsg":
        return "rsg"
    near = os.path.relpath(called)
    return called if near.startswith("..") else near
