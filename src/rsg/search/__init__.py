"""What can be reached: state graphs, the search over world × machine, cost-to-go."""

from rsg.search.cost_to_go import CostToGo as CostToGo, Logs as Logs, cost_to_go as cost_to_go
from rsg.search.driving import Between as Between, Limits as Limits, after as after, drive as drive
from rsg.search.goals import (
    HALF as HALF,
    GoalFn as GoalFn,
    Goals as Goals,
    asked as asked,
    begun as begun,
    goals_from as goals_from,
    goals_in as goals_in,
    instead as instead,
    sees_to as sees_to,
)
from rsg.search.graph import Edges as Edges, StateGraph as StateGraph, chain as chain, local_graph as local_graph
from rsg.search.motion.roadmap import attach as attach, local_roadmap as local_roadmap, roadmap as roadmap
from rsg.search.motion.roadmap_search import RoadmapSearch as RoadmapSearch
from rsg.search.motion.shortening import shorten as shorten
from rsg.search.motion.tree_search import TreeSearch as TreeSearch
from rsg.search.motion.trees import Motion as Motion, connect as connect
from rsg.search.product.explored import Explored as Explored
from rsg.search.product.on_graph import GraphSearch as GraphSearch
from rsg.search.product.regions import Rank as Rank, Reached as Reached, RegionSearch as RegionSearch
from rsg.search.product.search import ProductSearch as ProductSearch, nodes_ahead as nodes_ahead
from rsg.search.product.settings import (
    ORDER as ORDER,
    ORDERS as ORDERS,
    PLANNERS as PLANNERS,
    Auto as Auto,
    Found as Found,
    Hard as Hard,
    Planner as Planner,
    Product as Product,
    Roadmap as Roadmap,
    SearchSettings as SearchSettings,
    Soft as Soft,
    Trees as Trees,
    best as best,
    search_settings as search_settings,
)
from rsg.worlds import is_continuous as is_continuous
