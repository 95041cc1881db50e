"""What is learned: classifiers that tell when a subgoal holds."""

from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.dependencies import discover, kept_dependencies, load_dependencies
from rsg.subgoals.encoders import EncodedClassifiers
from rsg.subgoals.learning import RationalSubgoals, RsgSettings
from rsg.subgoals.objective import Score, score
from rsg.subgoals.rationality import Rationality
from rsg.subgoals.recognition import Recognised, Recogniser, Segmentation, propose, recognise, segment
from rsg.subgoals.runs import Learned, learn, load_subgoals, untrained
from rsg.subgoals.sets import SetClassifiers

__all__ = [
    "Classifiers",
    "EncodedClassifiers",
    "Learned",
    "RationalSubgoals",
    "Rationality",
    "Recognised",
    "Recogniser",
    "RsgSettings",
    "Score",
    "Segmentation",
    "SetClassifiers",
    "discover",
    "kept_dependencies",
    "learn",
    "load_dependencies",
    "load_subgoals",
    "propose",
    "recognise",
    "score",
    "segment",
    "untrained",
]
