"""Environments that others wrote, as worlds: `wrap(env)`."""

from rsg.worlds.wrapping.front import wrap
from rsg.worlds.wrapping.wrapped import Wrapped

__all__ = ["Wrapped", "wrap"]
