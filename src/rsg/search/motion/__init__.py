"""Worlds of poses: trees, roadmaps, and shorter ways along what they find."""

from rsg.search.motion.roadmap import attach, local_roadmap, roadmap
from rsg.search.motion.shortening import shorten
from rsg.search.motion.space import is_continuous
from rsg.search.motion.trees import Motion, connect

__all__ = ["Motion", "attach", "connect", "is_continuous", "local_roadmap", "roadmap", "shorten"]
