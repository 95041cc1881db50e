"""What is learned: classifiers that tell when a subgoal holds."""

from typing import TYPE_CHECKING

from rsg.core.lazy import lazy

if TYPE_CHECKING:
    from rsg.subgoals.classifiers import Classifiers as Classifiers
    from rsg.subgoals.building import untrained as untrained
    from rsg.subgoals.dependencies import discover as discover, kept_dependencies as kept_dependencies
    from rsg.subgoals.encoders import EncodedClassifiers as EncodedClassifiers
    from rsg.subgoals.exporting import Exported as Exported
    from rsg.subgoals.learning import RationalSubgoals as RationalSubgoals
    from rsg.subgoals.settings import RsgSettings as RsgSettings
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

_HOMES = {
    "classifiers": "Classifiers",
    "building": "untrained",
    "dependencies": "discover kept_dependencies",
    "encoders": "EncodedClassifiers",
    "exporting": "Exported",
    "learning": "RationalSubgoals",
    "objective": "Score score",
    "rationality": "Rationality",
    "formulas": "Formula Literal",
    "readings": "Reading Readings",
    "recognition": "Recognised Recogniser Segmentation propose",
    "runs": "learn load",
    "sentences": "Told demonstrators rests_on tell",
    "subgoals": "Subgoals recognise segment",
    "settings": "RsgSettings",
}

if not TYPE_CHECKING:
    __all__ = [name for names in _HOMES.values() for name in names.split()]
    __getattr__ = lazy(__name__, _HOMES)
