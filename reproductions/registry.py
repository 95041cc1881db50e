"""All experiments that `rsg reproduce` knows, in the order of their sections.

To add one, write a module of its name with an `EXPERIMENT`: a function that lists its jobs, and one that turns their
results into a section. A job is a function of the module that takes plain JSON and gives plain JSON;
`reproductions.harness.trials` has what most jobs need. What the section says in words is a page of the experiment's
name in `reproductions/pages`. Then name it here. One that is computed from what others have written has no jobs, and
names these in `reads`.
"""

from importlib import import_module

from reproductions.harness.reproduce import Experiment
from rsg.core.errors import unknown

REGISTRY = {  # what each shows, in a line
    "table-1": "the paper's main table: every method in every world, from the jobs of the experiments below",
    "times": "the paper's table of times: training and planning, every method and world",
    "instructions": "plans for instructions in Crafting World: RSG beside the paper's figures, untrained and oracle",
    "searches": "learned subgoals by every order of search, hard and soft; the paper's layers and its learned value",
    "exact-or-sampled": "the exact cost-to-go and the paper's sampled one, with 10 minutes of processor time each",
    "goal-only": "plans when only the goal is named: ours, the paper's algorithm, without dependencies, blind; all 26 "
    "terms",
    "recognition": "which task a trajectory did, where its steps ended, and what it is when it has only begun",
    "image": "subgoals learned from pictures of Crafting World, in other lights and places too",
    "playroom": "subgoals learned in a continuous world: plans, fewer demonstrations, other rooms, recognition",
    "baselines": "IRL, GAIL, BC, BC-FSM and LSTM beside RSG, in both worlds: success by number of subgoals, "
    "recognition, times",
    "data": "few, noisy, wrongly described demonstrations: rules beside networks and BC-FSM, what terms mean elsewhere",
    "rule-books": "not tuned to one rule book: other things, other recipes, words that mean formulas, two "
    "demonstrations of each task",
    "ablations": "one setting changed at a time: classifiers, rules, weights, depth, alignment, negatives",
    "peers": "planners that others wrote beside ours: Fast Downward in Crafting World, OMPL in Playroom",
    "claims": "every claim of the paper that can be tested, with an interval and a verdict: from the sections above",
}


def experiment(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in REGISTRY:
        raise unknown("experiment", name, REGISTRY)
    found: Experiment = import_module(f"reproductions.{name.replace('-', '_')}").EXPERIMENT
    return found
