"""What is learned: classifiers that tell when a subgoal holds."""

from rsg.subgoals.classifiers import Classifiers as Classifiers
from rsg.subgoals.building import untrained as untrained
from rsg.subgoals.dependencies import discover as discover, kept_dependencies as kept_dependencies
from rsg.subgoals.encoders import EncodedClassifiers as EncodedClassifiers
from rsg.subgoals.learning import RationalSubgoals as RationalSubgoals, RsgSettings as RsgSettings
from rsg.subgoals.objective import Score as Score, score as score
from rsg.subgoals.rationality import Rationality as Rationality
from rsg.subgoals.formulas import Formula as Formula, Literal as Literal
from rsg.subgoals.readings import Reading as Reading, Readings as Readings
from rsg.subgoals.recognition import (
    Recognised as Recognised,
    Recogniser as Recogniser,
    Segmentation as Segmentation,
    propose as propose,
)
from rsg.subgoals.runs import learn as learn, load as load
from rsg.subgoals.sentences import Told as Told, demonstrators as demonstrators, rests_on as rests_on, tell as tell
from rsg.subgoals.subgoals import Subgoals as Subgoals, recognise as recognise, segment as segment
