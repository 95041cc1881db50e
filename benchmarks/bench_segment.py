"""How well and how fast recordings are cut into segments: ends against the truth, on seeds that nothing was tuned on.

A true end is the first state, after the one before it, in which the world's own truth says that the term holds; a
recording of a task with a choice has several ways that end with it, and the nearest counts. Recordings in which no such
way ends with the last state (a term came true in passing, and nobody took notice) are counted, and not judged.
"""

import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rsg
from benchmarks.harness import in_pieces, pieces_of, together
from rsg.demos import Demonstration, Recipe, Store
from rsg.demos.labels import Labels
from rsg.domain import find, make_demonstrations
from rsg.language import machine_of
from rsg.subgoals.segmenting import segment_store
from rsg.worlds import EitherWorld, recorded

EXAMPLES = Path(__file__).parents[1] / "examples"
FOLDER = pieces_of("segment").with_suffix("")  # what was made and learned, for a run that goes on
SEED, TEST = 31, 1031
ALONE = (31, 32, 33)  # seeds of Playroom without its world
SIZES = {"crafting": (20, 1000), "playroom": (60, 160)}  # learned from, of each task; cut
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


def novel(name: str, noise: float = 0.0) -> dict[str, Any]:
    """Novel tasks of a domain, cut by what was learned from its training tasks; with their actions and without."""
    folder, (per_task, count), domain = FOLDER / name, SIZES[name], find(name)
    make = partial(make_demonstrations, domain=domain)
    rsg.learn(shown(name), domain, folder / "run", dict(domain.presets.get("rsg", {})))
    each = -(-count // len(domain.tasks("novel")))
    store = make(Recipe(name, "novel", each, TEST, noise), folder / f"novel-{noise}")
    labelled(folder, make(Recipe(name, "novel", 1, 1), folder / "warm"))
    begun, used = time.perf_counter(), time.process_time()
    labels = labelled(folder, store)
    took = {"seconds": round(time.perf_counter() - begun, 2), "cpu_seconds": round(time.process_time() - used, 2)}
    shutil.rmtree(folder / "seen", ignore_errors=True)
    seen = Store.create(folder / "seen", name)
    seen.append(Demonstration(demo.states, None, demo.task, demo.setting) for demo in store)
    again = labelled(folder, seen)
    same = np.mean([one.segments == other.segments for one, other in zip(labels, again, strict=True)])
    return {
        **{"learned_from": per_task, **judged(list(store), _ends(labels), partial(in_domain, domain)), **took},
        "same_without_actions": round(float(same), 4),
    }


def shown(name: str) -> Store:
    """What is learned from in a domain."""
    return make_demonstrations(Recipe(name, "train", SIZES[name][0], SEED), FOLDER / name / "train", domain=find(name))


def labelled(folder: Path, store: Store) -> list[Any]:
    """The labels of a store by a run, made anew."""
    shutil.rmtree(folder / "parts", ignore_errors=True)
    return list(segment_store(folder / "run", store, find(store.manifest.world), folder / "parts", workers=1))


def in_domain(domain: Any, demo: Demonstration, terms: Sequence[str]) -> Any:
    """The truth of a domain."""
    return domain.truth(domain.world(demo.setting), demo.states, terms)


def _ends(labels: Sequence[Any]) -> list[tuple[Ends, Sequence[float]]]:
    return [(tuple((s.term, s.end) for s in one.segments), [s.sure for s in one.segments]) for one in labels]


def playroom_alone(seed: int) -> dict[str, Any]:
    """Playroom's recordings, where nobody knows its walls, its robot, nor what its numbers are."""
    (per_task, count), domain = SIZES["playroom"], find("playroom")
    each = -(-count // len(domain.tasks("novel")))
    recipes = [Recipe("playroom", "train", per_task, seed), Recipe("playroom", "novel", each, seed + TEST - SEED)]
    places = [FOLDER / f"playroom-{seed}" / which for which in ("mine", "fresh")]
    mine, fresh = (
        [
            Demonstration(demo.states, None, demo.task, demo.setting)
            for demo in make_demonstrations(*both, domain=domain)
        ]
        for both in zip(recipes, places, strict=True)
    )
    world = recorded(mine)
    subgoals = rsg.learn(mine, world, settings={"seed": seed})
    told = judged(fresh, cut(subgoals, fresh, world), partial(in_domain, domain))
    return {**told, "means": [one.means for one in subgoals.tell(world)]}


class Elsewhere:
    """200 recordings of a world that others wrote, and 200 fresh ones: cut by the command, and in Python.

    Args:
        name: where files go.
        model: the line that makes the world, of a module of the examples.
        parts: what the numbers of a recorded row are.
    """

    def __init__(self, name: str, model: str, parts: dict[str, Any]) -> None:
        self.folder, self.model, self.parts = FOLDER / name, model, parts
        self.folder.mkdir(parents=True, exist_ok=True)

    def fitted(self, mine: Sequence[Demonstration], truth: Truth, simulated: bool) -> dict[str, Any]:
        """What `rsg segment --fit` makes of recordings; simulated: with their world."""
        shutil.rmtree(self.folder / "shown", ignore_errors=True)
        Store.create(self.folder / "shown", "own").append(mine)
        (self.folder / "place.py").write_text(f"import sys\nsys.path.insert(0, {str(EXAMPLES)!r})\n{self.model}\n")
        words = ["--fit", str(self.folder / "shown"), "--out", str(self.folder / "labels.jsonl"), "--workers", "1"]
        words += ["--world", f"{self.folder / 'place.py'}:Place"] if simulated else []
        (self.folder / "labels.jsonl").unlink(missing_ok=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "rsg", "segment", *words], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        labels = list(Labels([self.folder / "labels.jsonl"]))
        return {**judged(mine, _ends(labels), truth), "cpu_seconds": round(used, 1)}

    def fresh(
        self, mine: Sequence[Demonstration], fresh: Sequence[Demonstration], truth: Truth, world: EitherWorld | None
    ) -> dict[str, Any]:
        """Fresh recordings, cut by what was learned from others; world: None if it is withheld."""
        where = world or recorded(mine, self.parts)
        subgoals = rsg.learn(mine, where, settings={"seed": SEED})
        told = judged(fresh, cut(subgoals, fresh, where), truth)
        return {**told, "means": [one.means for one in subgoals.tell(where)]}


def doorkey() -> dict[str, Callable[[], Any]]:
    """MiniGrid's DoorKey; a state is a row of 198 numbers."""
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

    line = "import gymnasium\nfrom minigrid_model import MiniGrid\nenv = gymnasium.make('MiniGrid-DoorKey-8x8-v0')\n"
    line += "env.reset(seed=0)\nPlace = MiniGrid(env)"
    place = Elsewhere("doorkey", line, {"agent": 3, "carrying": 3, "grid": world.shape})
    mine, fresh = kept("doorkey", lambda: [drawn(1000 * SEED, tasks), drawn(1000 * TEST, [whole] * 200)])
    judge: Truth = lambda demo, terms: truth(world, demo.states, terms)  # noqa: E731
    return {
        "fit with its world": lambda: place.fitted(mine, judge, True),
        "fit without": lambda: place.fitted(mine, judge, False),
        "fresh with its world": lambda: place.fresh(mine, fresh, judge, world),
        "fresh without": lambda: place.fresh(mine, fresh, judge, None),
    }


def taxi() -> dict[str, Callable[[], Any]]:
    """Gymnasium's Taxi, as the examples wrap it; without it, rows of the four numbers that its page tells of."""
    from taxi import IN_TAXI, rides, taxi

    world = taxi()

    def seen(demos: Sequence[Demonstration]) -> list[Demonstration]:
        rows: Any = [world.encode(demo.states) for demo in demos]
        pairs = zip(demos, rows, strict=True)
        return [Demonstration(np.asarray(row["taxi"]), demo.actions, demo.task) for demo, row in pairs]

    def holds(rows: Any, terms: Sequence[str]) -> Any:
        meaning = {"pick-up": rows[:, 2] == IN_TAXI, "drop-off": rows[:, 2] == rows[:, 3]}
        return np.stack([meaning[term] for term in terms], axis=1)

    place = Elsewhere("taxi", "from taxi import taxi\nPlace = taxi()", {"taxi": 4})
    mine, fresh = kept("taxi", lambda: [rides(world, 200, SEED), rides(world, 200, TEST)])
    for demo in (*mine, *fresh):
        world.meet(demo)
    alone: Truth = lambda demo, terms: holds(demo.states, terms)  # noqa: E731
    judge: Truth = lambda demo, terms: holds(np.asarray(world.encode(demo.states)["taxi"]), terms)  # type: ignore[index,call-overload]  # noqa: E731
    return {
        "fit with its world": lambda: place.fitted(mine, judge, True),
        "fit without": lambda: place.fitted(seen(mine), alone, False),
        "fresh with its world": lambda: place.fresh(mine, fresh, judge, world),
        "fresh without": lambda: place.fresh(seen(mine), seen(fresh), alone, None),
    }


def kept(name: str, draw: Callable[[], list[list[Demonstration]]]) -> list[list[Demonstration]]:
    """Recordings for learning and fresh ones, drawn once."""
    places = [FOLDER / name / which for which in ("mine", "fresh")]
    if not (FOLDER / name / "drawn").exists():
        for place, demos in zip(places, draw(), strict=True):
            shutil.rmtree(place, ignore_errors=True)
            Store.create(place, "own").append(demos)
        (FOLDER / name / "drawn").touch()
    return [list(Store(place)) for place in places]


def run() -> dict[str, Any]:
    """All of it."""
    sys.path.insert(0, str(EXAMPLES))
    pieces: dict[str, Callable[[], Any]] = {
        "crafting/noise 0": lambda: novel("crafting"),
        "crafting/noise 0.2": lambda: novel("crafting", 0.2),
        "playroom/noise 0": lambda: novel("playroom"),
    }
    pieces |= {f"playroom/without its world/{seed}": partial(playroom_alone, seed) for seed in ALONE}
    pieces |= {f"doorkey/{piece}": measure for piece, measure in doorkey().items()}
    pieces |= {f"taxi/{piece}": measure for piece, measure in taxi().items()}
    figures = in_pieces("segment", pieces)
    figures["playroom"]["without its world"] = together(figures["playroom"]["without its world"])
    shutil.rmtree(FOLDER, ignore_errors=True)
    return figures
