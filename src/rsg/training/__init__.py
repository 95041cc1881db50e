"""How anything is fitted: one loop for every method."""

from rsg.training.checkpoint import Run, Saved, writing
from rsg.training.data import TrainingData
from rsg.training.loop import Method, Progress, fit
from rsg.training.settings import TrainingSettings, changed

__all__ = ["Method", "Progress", "Run", "Saved", "TrainingData", "TrainingSettings", "changed", "fit", "writing"]
