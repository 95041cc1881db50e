"""States around a trajectory and the actions between them."""

from rsg.search.graph.around import local_graph
from rsg.search.graph.edges import Edges, StateGraph

__all__ = ["Edges", "StateGraph", "local_graph"]
