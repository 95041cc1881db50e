"""Is a store what it says? Checksums, replay of every trajectory, and the meaning of every description."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rsg.core.errors import RsgError
from rsg.core.progress import Advance
from rsg.demos.demonstration import Demonstration, Demonstrator, met
from rsg.demos.store import Store
from rsg.language import machine_of
from rsg.worlds import EitherWorld

MAX_PROBLEMS = 20


@dataclass
class Report:
    """What a check found."""

    episodes: int = 0  # how many were looked at
    steps: int = 0  # how many they have
    without_actions: int = 0  # episodes that could not be replayed
    without_task: int = 0  # episodes that could not be judged
    replayed: bool = True  # whether the world was there to replay them
    judged: bool = True  # whether its truth was
    complete: bool = True  # whether everything planned has been made
    problems: list[str] = field(default_factory=list)  # what is wrong, the first few

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check_store(
    store: Store, source: Demonstrator | None, advance: Advance | None = None, judged: bool = True
) -> Report:
    """Verify every checksum, replay every trajectory, and judge it by its description and the truth.

    A store of a world that nobody knows (`source` is None) is only verified; without a truth nothing is `judged`.
    """
    report = Report(replayed=source is not None, judged=judged and source is not None)
    report.complete = store.manifest.complete
    first = 0
    for shard in store.manifest.shards:
        try:
            demos, _ = store.read_shard(shard)
            report.episodes += len(demos)
            report.steps += sum(map(len, demos))
            report.without_actions += sum(demo.actions is None for demo in demos)
            report.without_task += sum(not demo.task for demo in demos)
            for number, demo in enumerate(demos, first):
                if source and (problem := _problem(source, demo, report.judged)):
                    report.problems.append(f"{store.folder / shard.file}, episode {number}: {problem}")
        except RsgError as error:
            report.problems.append(str(error))
        first += shard.episodes
        if advance:
            advance(shard.episodes)
    del report.problems[MAX_PROBLEMS:]
    return report


def _problem(source: Demonstrator, demo: Demonstration, judged: bool) -> str:
    """Why a demonstration is not what it says; empty if it is."""
    try:
        world: EitherWorld = met(source.world(demo.setting), demo)
        actions = demo.actions
        same = np.array([True])
        if actions is not None:
            same = (world.step(demo.states[:-1], actions) == demo.states[1:]).all(axis=1)
    except (RsgError, ValueError) as error:
        return f"cannot be replayed: {error}"
    if not same.all():
        step = int(np.argmin(same))
        return f"the world does not go from state {step} to state {step + 1} by that action"
    if not judged or not demo.task:
        return ""
    try:
        machine = machine_of(demo.task)
        done = machine.accepts(source.truth(world, demo.states, machine.names), machine.names)
    except RsgError as error:  # the world knows its own terms
        return f"its task cannot be judged: {error}"
    return "" if done else f"the trajectory does not do '{demo.task}'"


def statistics(store: Store) -> list[dict[str, Any]]:
    """For each description: episodes, steps (mean, least, most), and the share of starts that were drawn again."""
    lengths: dict[str, list[int]] = defaultdict(list)
    drawn: dict[str, int] = defaultdict(int)
    for shard in store.manifest.shards:
        for demo, draws in zip(*store.read_shard(shard), strict=True):
            lengths[demo.task].append(len(demo))
            drawn[demo.task] += draws
    return [
        {
            "task": task,
            "episodes": len(steps),
            "steps_mean": round(sum(steps) / len(steps), 2),
            "steps_min": min(steps),
            "steps_max": max(steps),
            "redrawn": round(1 - len(steps) / drawn[task], 4),
        }
        for task, steps in lengths.items()
    ]
