"""What the graph around a demonstration cannot show: that there was a much shorter way elsewhere."""

from collections.abc import Mapping

import numpy as np

from rsg.core.arrays import Array
from rsg.language import Machine
from rsg.search import ProductSearch, SearchSettings
from rsg.subgoals.formulas import Formula
from rsg.subgoals.readings import Reading, Readings
from rsg.worlds import World

BUDGET = 6000  # expansions; what takes longer to find is not looked for


def least_cost(world: World, state: Array, machine: Machine, meaning: Mapping[str, Formula], certainty: float) -> float:
    """The least cost (eq. 4) of a task from a state on, if its terms mean that; infinite if it is hard to find."""
    readings = {term: Reading(((meaning[term], 1.0),), 1, 1) for term in machine.names}
    goals = Readings(readings, certainty).goals(world, machine.names, state)
    settings = SearchSettings(order="optimal", budget=BUDGET, threshold=None)
    found = ProductSearch(world, state, machine, goals, settings).run(settings.limits())
    return float(found.cost) if found.ended == "found" else np.inf
