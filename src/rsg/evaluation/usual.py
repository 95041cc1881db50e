"""What is usual, to tell people what is not."""

from rsg.domain import Domain
from rsg.subgoals.settings import RsgSettings


def usual_settings(method: str, place: Domain) -> dict[str, object]:
    """The settings that a method has there unless they are changed; nothing of one that nobody knows."""
    suits = place.presets.get(method, {})
    if method == "rsg" and suits.get("encoder", "auto") == "auto":
        return vars(RsgSettings(**suits))
    from rsg.baselines import METHODS  # which loads torch
    from rsg.baselines.jobs import Asked

    return vars(Asked(method).settings(place)) if method in ("rsg", *METHODS) else {}
