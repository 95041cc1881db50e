"""What can be reached: state graphs, the search over world × machine, cost-to-go."""

from rsg.search.cost_to_go import CostToGo, cost_to_go
from rsg.search.goals import GoalFn, Goals, goals_from
from rsg.search.graph import StateGraph, local_graph
from rsg.search.motion import Motion, connect, is_continuous, rrt
from rsg.search.product import ORDERS, Found, ProductSearch, SearchSettings, nodes_ahead
from rsg.search.regions import Rank, Reached, RegionSearch
from rsg.search.roadmap import attach, local_roadmap, roadmap
from rsg.search.roadmap_search import RoadmapSearch
from rsg.search.shortening import shorten
from rsg.search.tree_search import TreeSearch

__all__ = [
    "ORDERS",
    "CostToGo",
    "Found",
    "GoalFn",
    "Goals",
    "Motion",
    "ProductSearch",
    "Rank",
    "Reached",
    "RegionSearch",
    "RoadmapSearch",
    "SearchSettings",
    "StateGraph",
    "TreeSearch",
    "attach",
    "connect",
    "cost_to_go",
    "goals_from",
    "is_continuous",
    "local_graph",
    "local_roadmap",
    "nodes_ahead",
    "roadmap",
    "rrt",
    "shorten",
]
