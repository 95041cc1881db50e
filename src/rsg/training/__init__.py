"""How anything is fitted: one loop for every method."""

from typing import TYPE_CHECKING

from rsg.core.lazy import lazy
from rsg.training.checkpoint import Run, Saved, writing
from rsg.training.data import TrainingData
from rsg.training.settings import TrainingSettings, changed

__all__ = [
    "Method",
    "Progress",
    "Run",
    "Saved",
    "Tracker",
    "TrainingData",
    "TrainingSettings",
    "changed",
    "fit",
    "writing",
]

if TYPE_CHECKING:
    from rsg.training.loop import Method, Progress, Tracker, fit
else:
    __getattr__ = lazy(__name__, {"loop": "Method Progress Tracker fit"})
