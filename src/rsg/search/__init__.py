"""What can be reached: state graphs, the search over world × machine, cost-to-go."""

from rsg.search.cost_to_go import CostToGo, cost_to_go
from rsg.search.goals import GoalFn, Goals, goals_from
from rsg.search.graph import StateGraph, local_graph
from rsg.search.product import ORDERS, Found, ProductSearch, SearchSettings, nodes_ahead
from rsg.search.regions import Rank, Reached, RegionSearch

__all__ = [
    "ORDERS",
    "CostToGo",
    "Found",
    "GoalFn",
    "Goals",
    "ProductSearch",
    "Rank",
    "Reached",
    "RegionSearch",
    "SearchSettings",
    "StateGraph",
    "cost_to_go",
    "goals_from",
    "local_graph",
    "nodes_ahead",
]
