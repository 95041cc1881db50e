"""The Gymnasium ids of the worlds that come with rsg; `rsg.envs` calls `register` when it is imported."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from gymnasium.envs import registration

from rsg.domain import Domain
from rsg.envs.tasks import TaskEnv, TaskVectorEnv

MAX_EPISODE_STEPS = 100
IDS = {"CraftingWorld": ("crafting", "Maps"), "Playroom": ("playroom", "Rooms")}


def register() -> None:
    """Let `gymnasium.make` know them."""
    for name in IDS:
        if f"rsg/{name}-v0" not in registration.registry:
            registration.register(
                id=f"rsg/{name}-v0",
                entry_point=f"{__name__}:environment",
                vector_entry_point=f"{__name__}:environments",
                max_episode_steps=MAX_EPISODE_STEPS,
                kwargs={"world": name},
            )


def environment(world: str, **options: Any) -> TaskEnv:
    """One copy: `gymnasium.make("rsg/CraftingWorld-v0", map="river", task="...")`.

    Takes what `TaskEnv` takes but a place, and the world's own options: see its `environment.py`.
    """
    return TaskEnv(_domain(world, options), **options)


def environments(world: str, num_envs: int = 1, **options: Any) -> TaskVectorEnv:
    """Many copies that step in one call: `gymnasium.make_vec("rsg/CraftingWorld-v0", num_envs=1000, ...)`."""
    return TaskVectorEnv(num_envs, _domain(world, options), **options)


def _domain(world: str, options: dict[str, Any]) -> Domain:
    """The domain with its own options, which are taken from those given."""
    folder, name = IDS[world]
    kind: Callable[..., Domain] = getattr(import_module(f"rsg.domains.{folder}.environment"), name)
    own = set(options) - {"task", "observation", "render_mode", "max_episode_steps"}
    return kind(**{option: options.pop(option) for option in own})
