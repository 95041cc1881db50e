"""Worlds that others wrote, judged by themselves on starts that nobody showed: MiniGrid, Taxi and Overcooked.

Nothing was chosen with these seeds. Seconds are of processor time. It takes hours, and goes on where it was stopped.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import rsg
from benchmarks.harness import in_pieces

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))
SEEDS, STARTS, AT_ONCE = (200, 201, 202), 200, 10
PICTURE_SEEDS = (203, 204, 205)  # those before showed that a picture must show what is carried
MINIGRID = {"DoorKey-8x8": ("reach-goal", 5000), "UnlockPickup": ("pick-up-box", 12_000)}  # what is done last, budget


def symbols(name: str, seed: int) -> dict[str, float]:
    """Success by term, with the batched model."""
    import doorkey

    return doorkey.run(f"MiniGrid-{name}-v0", MINIGRID[name][0], seed, STARTS, MINIGRID[name][1])


def readings(seed: int) -> dict[str, Any]:
    """What is told to be open before and after, and where the term holds at last."""
    import doorkey_readings

    before, after, share = doorkey_readings.run(seed)
    return {"open": list(before), "open after": list(after), "true states": share}


def taxi(rides: int, seed: int) -> float:
    """Delivered passengers."""
    import taxi

    return taxi.run(rides, seed, STARTS)["success"]


def overcooked(seed: int) -> float:
    """Soups that were paid for."""
    import overcooked

    return overcooked.run(seed, STARTS)


@contextmanager
def clocked(clock: dict[str, float], name: str, owner: Any, *methods: str) -> Iterator[None]:
    """The seconds of some methods are counted, those of methods that they call only once."""

    def timed(method: Any) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            begun, before = time.process_time(), clock[name]
            told = method(*given, **named)
            clock[name] = before + time.process_time() - begun
            return told

        return called

    with patch.multiple(owner, **{method: timed(getattr(owner, method)) for method in methods}):
        yield


def shares(plan: Callable[[], Any], env: Any, subgoals: Any) -> dict[str, float]:
    """What plans in a wrapped environment spend their time on."""
    clock = {"environment": 0.0, "network": 0.0}
    begun = time.process_time()
    room = env.unwrapped
    with (
        clocked(clock, "environment", type(room), "step"),
        clocked(clock, "environment", type(room.grid), "encode", "render"),
        clocked(clock, "network", type(subgoals.classifiers), "evaluate"),
    ):
        plan()
    spent = time.process_time() - begun
    return {name: seconds / spent for name, seconds in clock.items()} | {"ourselves": 1 - sum(clock.values()) / spent}


def wrapped(name: str, seed: int) -> dict[str, Any]:
    """What was learned in the batched model, planned with in the environment itself: success, seconds and shares."""
    from doorkey import shown
    from doorkey_pictures import FAR, LAST, judged, made
    from minigrid_model import MiniGrid

    env, demonstrations = made(name), []
    model, last = MiniGrid(env), LAST[name]
    tasks = [f"pick-up-key then open-door then {last}"] * 14 + ["pick-up-key", "open-door", last] * 2
    for number, task in enumerate(tasks):
        env.reset(seed=1000 * seed + number)
        demonstrations.append(shown(model, model.state(env), task))

    def seen(env: Any) -> dict[str, Any]:
        return {part: rows[0] for part, rows in model.encode(model.state(env)[None]).items()}

    env.unwrapped.gen_obs = dict  # as in `doorkey_pictures`
    world = rsg.worlds.wrap(env, key=model.state, observe=seen, names=MiniGrid.columns)
    subgoals, told = rsg.learn(demonstrations, model, settings={"seed": seed}), list[tuple[bool, float]]()
    starts = range(FAR * (seed + 1), FAR * (seed + 1) + STARTS // 4)
    spent = shares(lambda: told.extend(judged(subgoals, world, name, starts)), world.env, subgoals)
    return together([{"right": [right for right, _ in told], "seconds": [seconds for _, seconds in told], **spent}])


def pictures(name: str, seed: int, part: int) -> dict[str, Any]:
    """The same from pictures, for some of the starts; what was learned is kept in `out/`."""
    from doorkey_pictures import FAR, judged, walks
    from doorkey_pictures import wrapped as world_of

    run, world, told = ROOT / "out" / f"pictures-{name}-{seed}", world_of(name), list[tuple[bool, float]]()
    if not run.exists():
        settings = {"seed": seed, "encoder": "pictures", "steps": 300}
        rsg.learn(walks(world, name, seed), world, settings=settings).save(run)
    subgoals, first = rsg.load(run, world), FAR * (seed + 1) + AT_ONCE * part
    starts = range(first, first + AT_ONCE)
    spent = shares(lambda: told.extend(judged(subgoals, world, name, starts)), world.env, subgoals)
    return {"right": [right for right, _ in told], "seconds": [seconds for _, seconds in told], **spent}


def together(parts: list[dict[str, Any]]) -> dict[str, float]:
    """Success, the median of the seconds, and the shares, of all parts."""
    told = {name: [one[name] for one in parts] for name in parts[0]}
    right, seconds = (np.concatenate(told.pop(name)) for name in ("right", "seconds"))
    shares = {name: float(np.mean(of)) for name, of in told.items()}
    return {"starts": len(right), "right": float(right.mean()), "seconds": float(np.median(seconds)), **shares}


def networks(starts: int = 20) -> dict[str, float]:
    """Plans per second with the network `seen` in DoorKey, compiled and with torch."""
    import doorkey
    import gymnasium
    from minigrid_model import MiniGrid

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
    subgoals, told = rsg.learn(shown, world, settings={"encoder": "seen", "hidden": 32, "steps": 60}), {}
    for name, evaluate in {"torch": Classifiers.evaluate, "compiled": SeenClassifiers.evaluate}.items():
        with patch.object(SeenClassifiers, "evaluate", evaluate):
            subgoals.plan(world, first[0], "pick-up-key then open-door")
            begun = time.process_time()
            for state in first:
                subgoals.plan(world, state, "pick-up-key then open-door")
            told[name] = starts / (time.process_time() - begun)
    return told


def run() -> dict[str, Any]:
    """All of it."""
    pieces: dict[str, Callable[[], Any]] = {}
    for seed in SEEDS:
        pieces |= {f"taxi/{rides}/{seed}": lambda s=seed, n=rides: taxi(n, s) for rides in (20, 5)}
        pieces[f"overcooked/{seed}"] = lambda s=seed: overcooked(s)
        pieces[f"wrapped/DoorKey-8x8/{seed}"] = lambda s=seed: wrapped("DoorKey-8x8", s)
        pieces[f"readings/{seed}"] = lambda s=seed: readings(s)
    every = {f"{name}/{seed}": (name, seed) for name in MINIGRID for seed in SEEDS}
    for name in MINIGRID:
        for seed in PICTURE_SEEDS:
            for part in range(STARTS // AT_ONCE):
                pieces[f"pictures/{name}/{seed}/{part}"] = lambda one=(name, seed), n=part: pictures(*one, n)
    pieces |= {f"symbols/{at}": lambda one=one: symbols(*one) for at, one in every.items()}
    return summary(in_pieces("other_worlds", {**pieces, "networks": networks}))


def summary(figures: dict[str, Any]) -> dict[str, Any]:
    """Pieces put together: of each figure a list, one to each seed."""
    if figures.keys() - {str(seed) for seed in SEEDS + PICTURE_SEEDS}:
        return {name: summary(of) if isinstance(of, dict) else of for name, of in figures.items()}
    every = [_of_seed(of) for of in figures.values()]
    return {name: [one[name] for one in every] for name in every[0]}


def _of_seed(told: Any) -> dict[str, Any]:
    if not isinstance(told, dict):
        return {"right": told}
    return together(list(told.values())) if told.keys() <= set(map(str, range(STARTS))) else told
