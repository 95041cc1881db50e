"""Crafting World, the grid world of the paper: rules, maps, pictures."""

from rsg.worlds.crafting.rules import STANDARD, Rule, Rulebook, Thing
from rsg.worlds.crafting.truth import VOCABULARY, truth
from rsg.worlds.crafting.world import ACTIONS, CraftingWorld, Sets

__all__ = ["ACTIONS", "STANDARD", "VOCABULARY", "CraftingWorld", "Rule", "Rulebook", "Sets", "Thing", "truth"]
