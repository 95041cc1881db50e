"""The Gymnasium face. Importing this room registers the ids, so that `gymnasium.make("rsg/CraftingWorld-v0")` works."""

from gymnasium.envs.registration import register, registry

from rsg.envs.crafting import CraftingEnv as CraftingEnv, CraftingVectorEnv as CraftingVectorEnv
from rsg.envs.playroom import PlayroomEnv as PlayroomEnv, PlayroomVectorEnv as PlayroomVectorEnv


MAX_EPISODE_STEPS = 100

for _name, _entry in (("CraftingWorld", "crafting:Crafting"), ("Playroom", "playroom:Playroom")):
    if f"rsg/{_name}-v0" not in registry:
        register(
            id=f"rsg/{_name}-v0",
            entry_point=f"rsg.envs.{_entry}Env",
            vector_entry_point=f"rsg.envs.{_entry}VectorEnv",
            max_episode_steps=MAX_EPISODE_STEPS,
        )
