"""`rsg reproduce claims`: every claim of the paper that can be tested here, with an interval and a verdict.

It runs nothing: figures are those that the other experiments have written.
"""

from collections import Counter
from collections.abc import Sequence

from reproductions.claim_list import CLAIMS
from reproductions.claim_parts import UNMEASURED, Figures
from reproductions.harness.jobs import Job, Plain
from reproductions.harness.reproduce import Experiment, Section
from reproductions.harness.results import Results
from reproductions.harness.tables import page, table
from reproductions.harness.trials import SPLITS, Size
from reproductions.harness.verdicts import FACTOR, HARDWARE, POINTS, RULES
from rsg.core.random import stream
from rsg.domain import find
from rsg.domains.crafting.sets import OVERALL
from rsg.language import machine_of
from rsg.training.data import least_steps

NAME = "claims"
READS = ("instructions", "searches", "goal-only", "recognition", "image", "playroom", "baselines", "ablations", "peers")


def jobs(size: Size) -> list[Job]:
    """None."""
    del size
    return []


def section(size: Size, results: Results) -> Section:
    """A table for each part of the paper."""
    del size
    figures = Figures(results)
    found = {group: {key: claim.judged(figures) for key, claim in some.items()} for group, some in CLAIMS.items()}
    every: Plain = {key: one for some in found.values() for key, one in some.items()}
    own = {key: one for key, one in every.items() if not one["beyond"]}
    counted = Counter(one["verdict"] for one in own.values())
    verdicts = {word: counted[word] for word in (*RULES, UNMEASURED)}
    text = page(
        NAME,
        groups={group: _table(some) for group, some in found.items()},
        rules=RULES,
        counted=verdicts,
        points=f"{100 * POINTS:.0f}",
        factor=FACTOR,
        hardware=f"{HARDWARE:.0f}",
        of=len(own),
    )
    summary = {**every, "of": len(own), "verdicts": verdicts, "counts": counts()}
    return Section("The paper's claims, judged", text, summary)


def _table(some: Plain) -> str:
    rows = [[one["says"], one["compared"], one["ours"], f"**{one['verdict']}**"] for one in some.values()]
    return table(["the paper says", "compared", "ours", ""], rows)


def counts() -> Plain:
    """What can be counted in the worlds, without a measurement."""
    crafting, playroom = find("crafting"), find("playroom")
    rules = crafting.start_of("novel", 0, stream(0, NAME))[0].rules
    return {
        "types": len(rules.things),
        "rules": len(rules.rules),
        "overall": len(OVERALL),
        "subgoals": {split: _subgoals(crafting.tasks(split)) for split in SPLITS},
        **{split: len(crafting.tasks(split)) for split in ("primitive", "compositional", "novel", "goal-only")},
        "playroom": {split: len(playroom.tasks(split)) for split in ("primitive", "compositional", "novel")},
    }


def _subgoals(tasks: Sequence[str]) -> float:
    """How many subgoals tasks need, in the mean."""
    return sum(least_steps(machine_of(text)) for text in tasks) / len(tasks)


EXPERIMENT = Experiment(NAME, Size(), Size(), jobs, section, reads=READS)
