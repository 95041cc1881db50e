"""All experiments that `rsg reproduce` knows.

To add one, write a module with an `EXPERIMENT`: a function that lists its jobs, one that turns their results into a
section, and a function of the module for each kind of job, which takes plain JSON and gives plain JSON. Then name it
here. `rsg.evaluation.trials` has what most jobs need.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import NamedTuple

from rsg.core.errors import RsgError
from rsg.evaluation.reproduce import Experiment


class Entry(NamedTuple):
    """Where an experiment is written, and what it shows in one line."""

    module: str
    about: str


REGISTRY = {  # in the order of their sections
    "table-1": Entry(
        "rsg.evaluation.table_1",
        "the paper's main table: every method in every world, from the jobs of the experiments below",
    ),
    "times": Entry("rsg.evaluation.times", "the paper's table of times: training and planning, every method and world"),
    "instructions": Entry(
        "rsg.evaluation.instructions",
        "plans for instructions in Crafting World: RSG beside the paper's figures, untrained and oracle",
    ),
    "exact-or-sampled": Entry(
        "rsg.evaluation.exact_or_sampled",
        "the exact cost-to-go and the paper's sampled one, with 10 minutes of processor time each",
    ),
    "goal-only": Entry(
        "rsg.evaluation.goal_only",
        "plans when only the goal is named: ours, the paper's algorithm, without dependencies, blind; all 26 terms",
    ),
    "recognition": Entry(
        "rsg.evaluation.recognition",
        "which task a trajectory did, where its steps ended, and what it is when it has only begun",
    ),
    "image": Entry(
        "rsg.evaluation.image",
        "subgoals learned from pictures of Crafting World, in other lights and places too",
    ),
    "playroom": Entry(
        "rsg.evaluation.playroom",
        "subgoals learned in a continuous world: plans, fewer demonstrations, other rooms, recognition",
    ),
    "baselines": Entry(
        "rsg.evaluation.baselines",
        "IRL, GAIL, BC, BC-FSM and LSTM beside RSG, in both worlds: success by number of subgoals, recognition, times",
    ),
    "demonstrations": Entry(
        "rsg.evaluation.demonstrations",
        "success against the number of demonstrations of each task: RSG beside BC-FSM, in both worlds",
    ),
    "ablations": Entry(
        "rsg.evaluation.ablations",
        "one setting changed at a time: classifiers, rules, weights, depth, alignment, negatives",
    ),
    "peers": Entry(
        "rsg.evaluation.peers",
        "planners that others wrote beside ours: Fast Downward in Crafting World, OMPL in Playroom",
    ),
}


def experiment(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in REGISTRY:
        near = get_close_matches(name, REGISTRY, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(REGISTRY)}"
        raise RsgError(f"there is no experiment '{name}'; {hint}")
    found: Experiment = import_module(REGISTRY[name].module).EXPERIMENT
    return found
