"""How well and how fast recordings are cut into segments: ends against the truth, on seeds that nothing was tuned on.

A true end is the first state, after the one before it, in which the world's own truth says that the term holds; a
recording of a task with a choice has several ways that end with it, and the nearest counts. Recordings in which no such
way ends with the last state (a term came true in passing, and nobody took notice) are counted, and not judged.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rsg
from rsg.demos import Demonstration, Recipe, Store
from rsg.domain import find, make_demonstrations
from rsg.language import machine_of
from rsg.subgoals.segmenting import segment_store
from rsg.worlds import Recorded, recorded

EXAMPLES = Path(__file__).parents[1] / "examples"
SEED, TEST = 31, 1031
BINS = 10  # of confidences
Ends = tuple[tuple[str, int], ...]
Truth = Callable[[Demonstration, Sequence[str]], Any]
"""Which terms hold in the states of a demonstration, `[T + 1, terms]`."""


def true_ends(demo: Demonstration, truth: Truth) -> set[Ends]:
    """The ends of each way through the task on which everything comes true in order, and the last at the end."""
    machine = machine_of(demo.task)
    holds = truth(demo, machine.names)

    def ways(node: int, state: int) -> Iterator[Ends]:
        for after in machine.successors(node).tolist():
            if after == machine.nodes - 1:
                yield from [()] if state == len(demo) else []
                continue
            term = machine.term_of[after]
            for end in (np.flatnonzero(holds[state + 1 :, term]) + state + 1)[:1].tolist():
                yield from (((machine.names[term], end), *rest) for rest in ways(after, end))

    return set(ways(0, 0))


def judged(
    demos: Sequence[Demonstration], found: Sequence[tuple[Ends, Sequence[float]]], truth: Truth
) -> dict[str, Any]:
    """The share of ends that are exact, and within one step; of inner ends too; and how far confidences are off."""
    rows: list[tuple[bool, bool, bool, float]] = []  # inner, exact, near, confidence
    passing = 0
    for demo, (ends, sure) in zip(demos, found, strict=True):
        ways = true_ends(demo, truth)
        if not ways:
            passing += 1
            continue
        best = max(ways, key=lambda way: _same(way, ends))
        if [term for term, _ in best] != [term for term, _ in ends]:
            rows += [(end < len(demo), False, False, 1.0) for _, end in best]
            continue
        apart = [abs(end - other) for (_, end), (_, other) in zip(best, ends, strict=True)]
        rows += [(end < len(demo), d == 0, d <= 1, s) for (_, end), d, s in zip(best, apart, sure, strict=True)]
    inner, exact, near, sure = (np.array(column) for column in zip(*rows, strict=True))
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    off = sum((bins == k).mean() * abs(sure[bins == k].mean() - exact[bins == k].mean()) for k in set(bins.tolist()))
    return {
        "recordings": len(demos),
        "not_judged": passing,
        "ends": len(rows),
        "exact": round(float(exact.mean()), 4),
        "within_one": round(float(near.mean()), 4),
        "inner_ends": int(inner.sum()),
        "inner_exact": round(float(exact[inner].mean()), 4),
        "inner_within_one": round(float(near[inner].mean()), 4),
        "calibration_error": round(float(off), 4),
    }


def _same(one: Ends, other: Ends) -> int:
    """How many ends agree; of other lengths none."""
    return sum(a == b for a, b in zip(one, other, strict=True)) if len(one) == len(other) else -1


def cut(subgoals: rsg.Subgoals, demos: Sequence[Demonstration], world: Any) -> list[tuple[Ends, Sequence[float]]]:
    """Where each recording ends, one after the other, in a world."""
    found = [subgoals.segment(demo, world=world) for demo in demos]
    return [(one.ends, one.sure) for one in found]


def in_domain(folder: Path, name: str, per_task: int, noises: Sequence[float], count: int) -> dict[str, Any]:
    """Novel tasks of a domain, cut by what was learned from its training tasks."""
    domain: Any = find(name)
    make = partial(make_demonstrations, domain=domain)
    shown = make(Recipe(name, "train", per_task, SEED), folder / "train")
    rsg.learn(shown, domain, folder / "run", dict(domain.presets.get("rsg", {})))
    each = -(-count // len(domain.tasks("novel")))
    figures: dict[str, Any] = {"learned from": len(shown)}
    for noise in noises:
        store = make(Recipe(name, "novel", each, TEST, noise), folder / f"novel-{noise}")
        warm = segment_store(
            folder / "run", make(Recipe(name, "novel", 1, 1), folder / "warm"), domain, folder / "parts"
        )
        assert len(list(warm)) == len(domain.tasks("novel"))
        begun, used = time.perf_counter(), time.process_time()
        labels = list(segment_store(folder / "run", store, domain, folder / f"parts-{noise}", workers=1))
        took = {"seconds": round(time.perf_counter() - begun, 2), "cpu_seconds": round(time.process_time() - used, 2)}
        demos = list(store)
        found = [(tuple((s.term, s.end) for s in one.segments), [s.sure for s in one.segments]) for one in labels]
        truth = lambda demo, terms: domain.truth(domain.world(demo.setting), demo.states, terms)  # noqa: E731
        seen = Store.create(folder / f"seen-{noise}", name)
        seen.append(Demonstration(demo.states, None, demo.task, demo.setting) for demo in demos)
        again = list(segment_store(folder / "run", seen, domain, folder / f"parts-seen-{noise}", workers=1))
        same = np.mean([one.segments == other.segments for one, other in zip(labels, again, strict=True)])
        key = f"noise {noise:g}"
        figures[key] = {**judged(demos, found, truth), **took, "same_without_actions": round(float(same), 4)}
        print(name, key, figures[key], flush=True)
    return figures


def of_doorkey() -> dict[str, Any]:
    """MiniGrid's DoorKey: cut are the 200 recordings that were learned from, and 200 fresh ones of the whole task."""
    import gymnasium
    from doorkey import shown, truth
    from minigrid_model import MiniGrid

    env = gymnasium.make("MiniGrid-DoorKey-8x8-v0")
    env.reset(seed=0)
    world, whole = MiniGrid(env), "pick-up-key then open-door then reach-goal"
    tasks = ([whole] * 14 + ["pick-up-key", "open-door", "reach-goal"] * 2) * 10

    def drawn(first: int, texts: Sequence[str]) -> list[Demonstration]:
        demos = []
        for number, text in enumerate(texts):
            env.reset(seed=first + number)
            demos.append(shown(world, world.state(env), text))
        return demos

    mine, fresh = drawn(1000 * SEED, tasks), drawn(1000 * TEST, [whole] * 200)
    parts = {"agent": 3, "carrying": 3, "grid": world.shape}
    return _fitted(mine, fresh, world, recorded(mine, parts), lambda demo, terms: truth(world, demo.states, terms))


def of_taxi() -> dict[str, Any]:
    """Gymnasium's Taxi, as it is wrapped in the examples."""
    from taxi import IN_TAXI, rides, taxi

    world = taxi()
    mine, fresh = rides(world, 200, SEED), rides(world, 200, TEST)

    def truth(demo: Demonstration, terms: Sequence[str]) -> Any:
        seen = np.asarray(world.encode(demo.states)["taxi"])  # type: ignore[index, call-overload]
        meaning = {"pick-up": seen[:, 2] == IN_TAXI, "drop-off": seen[:, 2] == seen[:, 3]}
        return np.stack([meaning[term] for term in terms], axis=1)

    rows = [
        Demonstration(np.asarray(world.encode(demo.states)["taxi"]), demo.actions, demo.task)  # type: ignore[index, call-overload]
        for demo in (*mine, *fresh)
    ]
    alone = _one(
        rows[:200],
        rows[200:],
        recorded(rows, {"taxi": 4}),
        lambda demo, terms: _taxi_holds(demo.states, terms, IN_TAXI),
    )
    return {"with its world": _one(mine, fresh, world, truth), "without": alone}


def _taxi_holds(seen: Any, terms: Sequence[str], in_taxi: int) -> Any:
    meaning = {"pick-up": seen[:, 2] == in_taxi, "drop-off": seen[:, 2] == seen[:, 3]}
    return np.stack([meaning[term] for term in terms], axis=1)


def _fitted(
    mine: Sequence[Demonstration], fresh: Sequence[Demonstration], world: Any, alone: Recorded, truth: Truth
) -> dict[str, Any]:
    """What comes of recordings with their world, and without it."""
    return {"with its world": _one(mine, fresh, world, truth), "without": _one(mine, fresh, alone, truth)}


def _one(mine: Sequence[Demonstration], fresh: Sequence[Demonstration], world: Any, truth: Truth) -> dict[str, Any]:
    used = time.process_time()
    subgoals = rsg.learn(mine, world, settings={"seed": SEED})
    found = cut(subgoals, mine, world)
    took = round(time.process_time() - used, 2)
    figures = {"the same": {**judged(mine, found, truth), "cpu_seconds": took}}
    figures["fresh"] = judged(fresh, cut(subgoals, fresh, world), truth)
    figures["means"] = [told.means for told in subgoals.tell(world)]
    print(figures, flush=True)
    return figures


def of_playroom_alone(folder: Path) -> dict[str, Any]:
    """Playroom's recordings, where nobody knows its walls, its robot, nor what its numbers are."""
    domain: Any = find("playroom")
    truth = lambda demo, terms: domain.truth(domain.world(demo.setting), demo.states, terms)  # noqa: E731
    mine = [Demonstration(demo.states, None, demo.task, demo.setting) for demo in Store(folder / "train")]
    fresh = list(Store(folder / "novel-0.0"))
    world = recorded(mine)
    subgoals = rsg.learn(mine, world, settings={"seed": SEED})
    return judged(fresh, cut(subgoals, fresh, world), truth)


def run() -> dict[str, Any]:
    """All of it."""
    sys.path.insert(0, str(EXAMPLES))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        return {
            "crafting": in_domain(folder / "crafting", "crafting", 20, (0.0, 0.2), 1000),
            "playroom": in_domain(folder / "playroom", "playroom", 60, (0.0,), 160),
            "playroom without its world": of_playroom_alone(folder / "playroom"),
            "doorkey": of_doorkey(),
            "taxi": of_taxi(),
        }
