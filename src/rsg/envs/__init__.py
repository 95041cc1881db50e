"""The Gymnasium face. Importing this room registers the ids, so that `gymnasium.make("rsg/CraftingWorld-v0")` works."""

from gymnasium.envs.registration import register, registry

from rsg.envs.crafting import CraftingEnv, CraftingVectorEnv

__all__ = ["CraftingEnv", "CraftingVectorEnv"]

MAX_EPISODE_STEPS = 100

if "rsg/CraftingWorld-v0" not in registry:
    register(
        id="rsg/CraftingWorld-v0",
        entry_point="rsg.envs.crafting:CraftingEnv",
        vector_entry_point="rsg.envs.crafting:CraftingVectorEnv",
        max_episode_steps=MAX_EPISODE_STEPS,
    )
