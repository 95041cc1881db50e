"""What is learned: classifiers that tell when a subgoal holds."""

from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.sets import SetClassifiers

__all__ = ["Classifiers", "SetClassifiers"]
