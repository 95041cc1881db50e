"""What can be reached: state graphs, the search over world × machine, cost-to-go."""

from rsg.search.around import local_graph
from rsg.search.cost_to_go import CostToGo, Logs, cost_to_go
from rsg.search.driving import Between, Limits, after, best, drive
from rsg.search.goals import GoalFn, Goals, asked, goals_from
from rsg.search.graph import Edges, StateGraph
from rsg.search.motion import Motion, attach, connect, is_continuous, local_roadmap, roadmap, shorten
from rsg.search.motion.roadmap_search import RoadmapSearch
from rsg.search.motion.tree_search import TreeSearch
from rsg.search.product.explored import Explored
from rsg.search.product.on_graph import GraphSearch
from rsg.search.product.regions import Rank, Reached, RegionSearch
from rsg.search.product.search import ProductSearch, nodes_ahead
from rsg.search.product.settings import ORDERS, Found, SearchSettings

__all__ = [
    "ORDERS",
    "Between",
    "CostToGo",
    "Edges",
    "Explored",
    "Found",
    "GoalFn",
    "Goals",
    "GraphSearch",
    "Limits",
    "Logs",
    "Motion",
    "ProductSearch",
    "Rank",
    "Reached",
    "RegionSearch",
    "RoadmapSearch",
    "SearchSettings",
    "StateGraph",
    "TreeSearch",
    "after",
    "asked",
    "attach",
    "best",
    "connect",
    "cost_to_go",
    "drive",
    "goals_from",
    "is_continuous",
    "local_graph",
    "local_roadmap",
    "nodes_ahead",
    "roadmap",
    "shorten",
]
