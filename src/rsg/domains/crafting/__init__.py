"""Crafting World, the grid world of the paper: rules, maps, pictures."""

from rsg.domains.crafting.rules import STANDARD, Rule, Rulebook, Thing
from rsg.domains.crafting.truth import VOCABULARY, truth
from rsg.domains.crafting.world import ACTIONS, CraftingWorld, Sets

__all__ = ["ACTIONS", "STANDARD", "VOCABULARY", "CraftingWorld", "Rule", "Rulebook", "Sets", "Thing", "truth"]
