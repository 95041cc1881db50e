"""What is seen of worlds that others wrote: success from symbols and pictures, readings, what compiled networks gain.

Run as `python -m benchmarks.other_worlds_seen [pictures]`; it needs MiniGrid. These seeds were never looked at while
anything was chosen. It writes `benchmarks/results/other_worlds_seen.json`.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))
SEEDS = (200, 201, 202)
RESULTS = ROOT / "benchmarks" / "results" / "other_worlds_seen.json"


def symbols(starts: int = 200) -> dict[str, object]:
    """Success from symbols by environment and seed."""
    import doorkey

    worlds = {"MiniGrid-DoorKey-8x8-v0": ("reach-goal", 5000), "MiniGrid-UnlockPickup-v0": ("pick-up-box", 12_000)}
    return {
        name: {seed: doorkey.run(name, last, seed, starts, budget) for seed in SEEDS}
        for name, (last, budget) in worlds.items()
    }


def readings() -> dict[int, object]:
    """What is told to be open before and after, and where the term holds at last."""
    import doorkey_readings

    return {seed: doorkey_readings.run(seed) for seed in SEEDS}


def networks(starts: int = 20) -> dict[str, float]:
    """Plans per second with the network `seen` in DoorKey, compiled and with torch."""
    import doorkey
    import gymnasium
    from minigrid_model import MiniGrid

    import rsg
    from rsg.subgoals.classifiers import Classifiers
    from rsg.subgoals.seeing import SeenClassifiers

    env = gymnasium.make("MiniGrid-DoorKey-8x8-v0")
    env.reset(seed=0)
    world, first = MiniGrid(env), []
    for seed in range(starts):
        env.reset(seed=seed)
        first.append(world.state(env))
    tasks = ["pick-up-key", "open-door"] * 4
    shown = [doorkey.shown(world, state, task) for state, task in zip(first, tasks, strict=False)]
    subgoals = rsg.learn(shown, world, settings={"encoder": "seen", "hidden": 32, "steps": 60})
    own, told = SeenClassifiers.evaluate, {}
    for name, evaluate in (("torch", Classifiers.evaluate), ("compiled", own)):
        SeenClassifiers.evaluate = evaluate  # type: ignore[method-assign]
        subgoals.plan(world, first[0], "pick-up-key then open-door")
        begun = time.perf_counter()
        for state in first:
            subgoals.plan(world, state, "pick-up-key then open-door")
        told[name] = starts / (time.perf_counter() - begun)
    SeenClassifiers.evaluate = own  # type: ignore[method-assign]
    return told


def pictures(starts: int = 200) -> dict[int, object]:
    """Success from pictures."""
    import doorkey_pictures

    return {seed: doorkey_pictures.run(seed, starts) for seed in SEEDS}


def main() -> None:
    """Measure, and write."""
    told = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    parts = (pictures,) if "pictures" in sys.argv else (networks, readings, symbols)
    for part in parts:
        told[part.__name__] = part()
        RESULTS.write_text(json.dumps(told, indent=1, default=float) + "\n")
    print(np.round(time.process_time()), "seconds of processor time")


if __name__ == "__main__":
    main()
