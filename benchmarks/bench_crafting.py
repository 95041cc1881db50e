"""How fast Crafting World steps: batches, one Gymnasium environment, many in one call. One core."""

from typing import Any

import gymnasium
import numpy as np

import rsg.envs  # noqa: F401, registers the ids
from benchmarks.harness import seconds
from rsg.core.random import stream
from rsg.domains.crafting import CraftingWorld, truth
from rsg.domains.crafting.maps import KINDS, sample_map
from rsg.domains.crafting.pictures import images

ID = "rsg/CraftingWorld-v0"
TASK = "grab-axe then mine-wood then craft-wood-plank"


def run() -> dict[str, Any]:
    """Rates per second; each is the median of several runs."""
    return {**_batches(), **_single(), **_vector(), **_maps()}


def walk(world: CraftingWorld, states: Any, steps: int, rng: np.random.Generator) -> Any:
    """States after some random steps: typical of what search and learning see."""
    for _ in range(steps):
        states = world.step(states, rng.integers(5, size=len(states)))
    return states


def _batches(count: int = 4096) -> dict[str, float]:
    """Random walks from maps of all 6×6 kinds with at most 23 objects, in batches of 4096."""
    kinds = [name for name, kind in KINDS.items() if len(kind.template) == 6]
    maps = [sample_map(kinds[i % len(kinds)], stream(i, "bench"))[1] for i in range(count)]
    world = CraftingWorld(objects=23)
    rng = np.random.default_rng(0)
    states = walk(world, np.array(maps), 20, rng)
    actions = rng.integers(5, size=count)
    work = {
        "batched_steps_per_s": (lambda: world.step(states, actions), count),
        "successors_per_s": (lambda: world.successors(states), 5 * count),
        "encoded_states_per_s": (lambda: world.encode(states), count),
        "truth_of_26_terms_states_per_s": (lambda: truth(world, states), count),
        "images_8px_per_s": (lambda: images(world, states, 8), count),
    }
    figures = {name: amount / seconds(call, repeat=50)["median"] for name, (call, amount) in work.items()}
    return {"bytes_per_state_6x6": world.state_width} | {name: round(rate) for name, rate in figures.items()}


def _single(steps: int = 20_000) -> dict[str, float]:
    actions = np.random.default_rng(0).integers(5, size=steps).tolist()
    figures = {}
    for name, setting in (("", {}), ("_with_task", {"task": TASK}), ("_image", {"observation": "image"})):
        env = gymnasium.make(ID, **setting).unwrapped
        env.reset(seed=0)

        def play(env: Any = env) -> None:
            for action in actions:
                env.step(action)

        figures[f"single_env_steps_per_s{name}"] = round(steps / seconds(play, repeat=3)["median"])
    return figures


def _vector(copies: int = 4096, steps: int = 100) -> dict[str, float]:
    figures = {}
    actions = np.random.default_rng(0).integers(5, size=(steps, copies))
    for name, setting in (
        ("", {"max_episode_steps": None}),
        ("_with_task", {"max_episode_steps": None, "task": TASK}),
        ("_new_map_every_100_steps", {}),
    ):
        envs = gymnasium.make_vec(ID, num_envs=copies, **setting)
        envs.reset(seed=0)

        def play(envs: Any = envs) -> None:
            for row in actions:
                envs.step(row)

        figures[f"vector_env_steps_per_s{name}"] = round(steps * copies / seconds(play, repeat=3)["median"])
    return figures


def _maps(count: int = 500) -> dict[str, float]:
    spent = seconds(lambda: [sample_map("full-field", stream(i, "bench")) for i in range(count)], repeat=3)
    return {"random_maps_per_s": round(count / spent["median"])}
