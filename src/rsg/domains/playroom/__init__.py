"""Playroom, the continuous world of the paper: a robot among walls, and things that it can touch."""

from rsg.domains.playroom.layout import Effector as Effector, Layout as Layout, LayoutError as LayoutError
from rsg.domains.playroom.layout_files import SHIPPED as SHIPPED, load_layout as load_layout, save_layout as save_layout
from rsg.domains.playroom.truth import TrueGoals as TrueGoals, truth as truth
from rsg.domains.playroom.world import PlayroomWorld as PlayroomWorld
