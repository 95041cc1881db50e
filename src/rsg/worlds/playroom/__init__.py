"""Playroom, the continuous world of the paper: a robot among walls, and things that it can touch."""

from rsg.worlds.playroom.layout import Effector, Layout, LayoutError
from rsg.worlds.playroom.layout_files import SHIPPED, load_layout, save_layout
from rsg.worlds.playroom.truth import TrueGoals, truth
from rsg.worlds.playroom.world import PlayroomWorld

__all__ = [
    "SHIPPED",
    "Effector",
    "Layout",
    "LayoutError",
    "PlayroomWorld",
    "TrueGoals",
    "load_layout",
    "save_layout",
    "truth",
]
