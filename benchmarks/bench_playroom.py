"""How fast Playroom judges poses and motions, steps, and is demonstrated. CPU time of one core unless said otherwise.

The paper's training set, 14 × 400 demonstrations, is made on all cores; its CPU time is that of all of them together.
"""

import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import rsg.envs  # noqa: F401, registers the ids
from benchmarks.harness import seconds
from rsg.core.random import stream
from rsg.demos import Recipe, check_store
from rsg.demos.checking import statistics
from rsg.domain import find, make_demonstrations
from rsg.domains.playroom import SHIPPED, PlayroomWorld, load_layout, truth

ID = "rsg/Playroom-v0"
TASK = "turn-on-music then play-with-ball"


def run() -> dict[str, Any]:
    """Rates per second."""
    rooms = {name: _batches(PlayroomWorld(load_layout(name))) for name in SHIPPED}
    return {**rooms, **_single(), **_vector(), "demonstrations": _demonstrations()}


def _rate(work: Any, amount: int, repeat: int = 15) -> int:
    return round(amount / seconds(work, repeat)["cpu"])


def _batches(world: PlayroomWorld, count: int = 20_000) -> dict[str, float]:
    """Poses anywhere in the room; motions from free poses: single actions, and to another free pose anywhere."""
    rng = stream(0, "bench")
    anywhere = world.sample(rng, count)
    anywhere[:, :3] = rng.uniform(world.low, world.high, (count, 3))
    states = world.sample(rng, count)
    actions = rng.uniform(-1, 1, (count, 3))
    far = rng.permutation(states[:, :3])
    return {
        "walls": len(world.layout.walls),
        "share_of_free_poses": round(float(world.free(anywhere).mean()), 3),
        "pose_checks_per_s": _rate(lambda: world.free(anywhere), count),
        "motion_checks_of_one_action_per_s": _rate(lambda: world.clear(states, states[:, :3] + actions), count),
        "motion_checks_across_the_room_per_s": _rate(lambda: world.clear(states, far), count),
        "batched_steps_per_s": _rate(lambda: world.step(states, actions), count),
        "truth_of_all_terms_states_per_s": _rate(lambda: truth(world, states), count),
        "encoded_states_per_s": _rate(lambda: world.encode(states), count),
        "starts_per_s": _rate(lambda: [world.start(rng) for _ in range(200)], 200, 3),
        "pictures_per_s": _rate(lambda: [world.render(state) for state in states[:5]], 5, 3),
    }


def _single(steps: int = 2000) -> dict[str, float]:
    actions = np.random.default_rng(0).uniform(-1, 1, (steps, 3)).astype(np.float32)
    env = gymnasium.make(ID, task=TASK).unwrapped
    env.reset(seed=0)

    def play() -> None:
        for action in actions:
            env.step(action)

    return {"single_env_steps_per_s": _rate(play, steps, 3)}


def _vector(copies: int = 1024, steps: int = 50) -> dict[str, float]:
    envs = gymnasium.make_vec(ID, num_envs=copies, task=TASK)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (steps, copies, 3)).astype(np.float32)

    def play() -> None:
        for row in actions:
            envs.step(row)

    return {"vector_env_steps_per_s": _rate(play, steps * copies, 3)}


def _demonstrations(per_task: int = 400) -> dict[str, Any]:
    """The training set; kernels are compiled before the clock starts."""
    with tempfile.TemporaryDirectory() as folder:
        make_demonstrations(Recipe("playroom", "train", 1), Path(folder, "warm"))
        workers, start, used = os.cpu_count() or 1, time.perf_counter(), _cpu_of_children()
        store = make_demonstrations(Recipe("playroom", "train", per_task), Path(folder, "train"), workers)
        figures = {
            "workers": workers,
            "make_train_s": round(time.perf_counter() - start, 1),
            "make_train_cpu_s": round(_cpu_of_children() - used, 1),
            "episodes": len(store),
            "steps": store.steps,
        }
        start = time.process_time()
        assert check_store(store, find("playroom")).ok
        return {**figures, "check_cpu_s": round(time.process_time() - start, 2), "tasks": statistics(store)}


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
