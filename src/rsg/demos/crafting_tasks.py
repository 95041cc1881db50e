"""The tasks of Crafting World as data: descriptions, maps, and what the agent holds at the start (paper, appendix)."""

from __future__ import annotations

from dataclasses import dataclass

from rsg.worlds.crafting import VOCABULARY
from rsg.worlds.crafting.goal_starts import rules_for

Items = tuple[str, ...]

TRAINING_MAPS = ("smithy", "garden", "field", "switch-field")
FULL_MAPS = ("full-field", "full-switch-field")


@dataclass(frozen=True)
class TaskSpec:
    """One task of a benchmark.

    Attributes:
        text: the description.
        maps: kinds of maps; one that can hold what the task needs is drawn for each episode. Or one map file.
        given: what the agent holds at the start: one of these, before random items are added.
    """

    text: str
    maps: tuple[str, ...] = TRAINING_MAPS
    given: tuple[Items, ...] = ((),)

    def __str__(self) -> str:
        return self.text


def _primitive(term: str) -> TaskSpec:
    """A single subgoal with all that one of its rules needs in the hands."""
    return TaskSpec(term, given=tuple((*rule.tools, *rule.uses) for rule in rules_for(term)) or ((),))


PRIMITIVE = tuple(_primitive(term) for term in VOCABULARY)

# What the subgoals need and the task does not itself provide.
COMPOSITIONAL = tuple(
    TaskSpec(text, given=(tuple(given.split()),))
    for text, given in {
        "grab-pickaxe": "",
        "grab-axe": "",
        "grab-key": "",
        "toggle-switch": "",
        "mine-wood then craft-wood-plank": "axe",
        "craft-wood-plank then craft-stick": "wood",
        "craft-iron-ingot or craft-gold-ingot then craft-shears": "iron-ore gold-ore coal",
        "mine-wool and craft-wood-plank then craft-bed": "shears wood",
        "craft-wood-plank then craft-boat": "wood",
        "craft-iron-ingot and craft-stick then craft-sword": "iron-ore coal wood-plank",
        "mine-feather and craft-stick then craft-arrow": "sword wood-plank",
        "mine-potato and mine-coal then craft-cooked-potato": "pickaxe",
        "mine-iron-ore and mine-coal then craft-iron-ingot": "pickaxe",
        "mine-gold-ore and mine-coal then craft-gold-ingot": "pickaxe",
        "craft-wood-plank or craft-iron-ingot then craft-bowl": "wood iron-ore coal",
        "craft-bowl and mine-beetroot then craft-beetroot-soup": "wood-plank",
        "mine-sugar-cane then craft-paper": "",
        "grab-pickaxe then mine-gold-ore": "",
        "grab-pickaxe then mine-iron-ore": "",
        "grab-pickaxe or grab-axe then mine-sugar-cane": "",
        "grab-pickaxe then mine-coal": "",
        "grab-axe then mine-wood": "",
        "craft-sword then mine-feather": "stick iron-ingot",
        "craft-shears or craft-sword then mine-wool": "iron-ingot gold-ingot stick",
        "grab-axe or mine-coal then mine-potato": "pickaxe",
        "grab-axe or grab-pickaxe then mine-beetroot": "",
    }.items()
)

_BOAT = "grab-axe then mine-wood then craft-wood-plank then craft-boat"
_IRON = "mine-iron-ore and mine-coal then craft-iron-ingot"

NOVEL = (
    TaskSpec("mine-sugar-cane then craft-paper", FULL_MAPS),
    TaskSpec("mine-potato and (grab-pickaxe then mine-coal) then craft-cooked-potato", FULL_MAPS),
    TaskSpec(
        "mine-beetroot and (grab-axe then mine-wood then craft-wood-plank then craft-bowl) then craft-beetroot-soup",
        FULL_MAPS,
    ),
    TaskSpec(
        f"grab-axe then mine-wood then craft-wood-plank then grab-pickaxe then {_IRON}"
        " then craft-shears then mine-wool then craft-bed",
        FULL_MAPS,
    ),
    TaskSpec(
        f"grab-axe then mine-wood then craft-wood-plank then craft-stick then grab-pickaxe then {_IRON}"
        " then craft-sword then mine-feather then mine-wood then craft-wood-plank then craft-stick then craft-arrow",
        FULL_MAPS,
    ),
    TaskSpec("grab-key then grab-axe", ("key-door",)),
    TaskSpec("toggle-switch then mine-beetroot", ("switch-door",)),
    TaskSpec(f"{_BOAT} then mine-sugar-cane", ("river",)),
    TaskSpec(f"{_BOAT} then grab-pickaxe", ("river",)),
    TaskSpec(f"grab-key then {_BOAT} then mine-potato", ("river-and-room",)),
    TaskSpec(f"grab-key or ({_BOAT}) then grab-pickaxe then mine-gold-ore", ("key-or-boat",)),
    TaskSpec(f"{_BOAT} then grab-key or toggle-switch then grab-pickaxe then {_IRON}", ("islands",)),
)

_LARGE = ("large-field",)
GOAL_ONLY = (
    TaskSpec("grab-axe then mine-wood", _LARGE),
    TaskSpec("mine-sugar-cane then craft-paper", _LARGE),
    TaskSpec("mine-beetroot and craft-bowl then craft-beetroot-soup", _LARGE, (("wood-plank",),)),
    TaskSpec("craft-wood-plank and mine-wool then craft-bed", _LARGE, (("wood", "shears"),)),
    TaskSpec("grab-pickaxe then mine-gold-ore and mine-coal then craft-gold-ingot", _LARGE),
    TaskSpec(_BOAT, _LARGE),
    TaskSpec("(grab-pickaxe then mine-coal) and mine-potato then craft-cooked-potato", _LARGE),
    TaskSpec("grab-pickaxe then mine-coal and mine-iron-ore then craft-iron-ingot then craft-shears", ("bands",)),
)
