"""How well recordings of OGBench's scene are cut without a simulator, beside simpler ways to cut them.

Learned from 250 recordings (and from the first 50 of them), judged on 150 fresh ones, on three seeds that nothing was
tuned on; the same with noise of 5 % of its standard deviation on every number. Recordings are of two kinds: `cut`,
where the next skill begins as soon as an outcome holds, and `drifting`, with the oracles as they are, which lift the
hand and go to a pose by chance before they hand over. An end is where an outcome was first seen, in both; for what
drifts, it is told besides how near ends are to where it was handed over. Only inner ends count: the last one is given.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import rsg
from benchmarks.harness import in_pieces, pieces_of, together
from benchmarks.ogbench_peers import Markov, change_points, equal_parts, with_changes
from benchmarks.ogbench_scene import Take, takes
from rsg.core.arrays import Array
from rsg.worlds import recorded

SEEDS = (101, 102, 103)
LEARNED, FRESH, FEW = 250, 150, 50
NOISE = 0.05  # of the standard deviation of each number
MOVED = range(-4, 5)  # steps by which all ends of a peer may be moved
KINDS = {"cut": False, "drifting": True}
Case = tuple[list[Take], list[Take]]
"""Recordings to learn from, and fresh ones."""
Ends = Callable[[Take], Sequence[int]]
"""Gives the inner ends of a recording, as somebody cuts it."""


def case(seed: int, kind: str, some: int = LEARNED, noise: float = 0.0, fresh: int = FRESH) -> Case:
    """Recordings of a seed, with noise on every number."""
    made = takes(pieces_of("ogbench").with_suffix(""), seed, KINDS[kind], LEARNED + fresh)
    if noise:
        rng = np.random.default_rng([seed, KINDS[kind], 1])
        spread = noise * np.concatenate([one.demo.states for one in made[:LEARNED]]).std(axis=0)
        noisy = [one.demo.states + spread * rng.standard_normal(one.demo.states.shape) for one in made]
        demos = [rsg.Demonstration(states, None, one.demo.task) for one, states in zip(made, noisy, strict=True)]
        made = [one._replace(demo=demo) for one, demo in zip(made, demos, strict=True)]
    return made[:some], made[LEARNED:]


def terms_of(take: Take) -> list[str]:
    """What was done, in order."""
    return take.demo.task.split(" then ")


def judged(fresh: Sequence[Take], found: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Which share of the inner ends is exact, and within one and three steps."""
    apart, handed = list[int](), list[int]()
    for take, ends in zip(fresh, found, strict=True):
        inner = len(take.ends) - 1
        ends = list(ends) if len(ends) == inner else [-1000] * inner
        apart += [abs(one - other) for one, other in zip(take.ends[:-1], ends, strict=True)]
        handed += [abs(one - other) for one, other in zip(take.handed[:-1], ends, strict=True)]
    off, over = np.array(apart), np.array(handed)
    shares = {"exact": off == 0, "within_one": off <= 1, "within_three": off <= 3, "handed_within_one": over <= 1}
    return {"ends": len(off), **{name: round(float(one.mean()), 4) for name, one in shares.items()}}


def by_rsg(mine: Sequence[Take], fresh: Sequence[Take], seed: int) -> dict[str, Any]:
    """As `rsg segment --fit` does it: no setting but the seed."""
    begun, shown = time.process_time(), [one.demo for one in mine]
    world = recorded(shown)
    subgoals = rsg.learn(shown, world, settings={"seed": seed})
    learned = time.process_time() - begun
    found = [[end for _, end in subgoals.segment(one.demo, world=world).ends][:-1] for one in fresh]
    told = {one.term: one.means for one in subgoals.tell(world)}
    return {**judged(fresh, found), "cpu_seconds": round(learned, 1), "means": told}


def scaled(mine: Sequence[Take]) -> Callable[[Take], Array]:
    """Gives the numbers of a recording, of which each varies by 1."""
    every = np.concatenate([one.demo.states for one in mine])
    usual, spread = every.mean(axis=0), np.maximum(every.std(axis=0), 1e-9)
    return lambda take: (take.demo.states - usual) / spread


def by_equal_parts(mine: Sequence[Take]) -> Ends:  # noqa: ARG001
    """All terms take as long."""
    return lambda take: equal_parts(take.demo.states, terms_of(take))


def by_change_points(kernel: str, changes: bool, mine: Sequence[Take]) -> Ends:
    """`ruptures`, which is told how many ends there are; of numbers, or of numbers and how they change."""
    numbers = scaled(mine)
    seen = (lambda take: with_changes(numbers(take))) if changes else numbers
    return lambda take: change_points(seen(take), terms_of(take), kernel)


def by_markov(mine: Sequence[Take]) -> Ends:
    """A hidden Markov model of numbers and how they change, which is told the order."""
    numbers = scaled(mine)
    model = Markov.learned([(with_changes(numbers(one)), terms_of(one)) for one in mine])
    return lambda take: model.ends(with_changes(numbers(take)), terms_of(take))


PEERS: dict[str, Callable[[Sequence[Take]], Ends]] = {
    "equal parts": by_equal_parts,
    "change points, linear": partial(by_change_points, "linear", False),
    "change points, rbf": partial(by_change_points, "rbf", False),
    "change points, rbf with changes": partial(by_change_points, "rbf", True),
    "hidden Markov": by_markov,
}


def by_peer(peer: str, mine: Sequence[Take], fresh: Sequence[Take], seed: int) -> dict[str, Any]:  # noqa: ARG001
    """Another way to cut; all its ends are moved by as many steps as suits the recordings it learned from best.

    Only for that it is told their true ends, so that nobody is worse off for what an end means to them.
    """
    ends_of = PEERS[peer](mine)
    known = [ends_of(one) for one in mine]
    by = max(MOVED, key=lambda by: judged(mine, [[end + by for end in ends] for ends in known])["within_one"])
    return {**judged(fresh, [[end + by for end in ends_of(one)] for one in fresh]), "moved_by": by}


METHODS: dict[str, Callable[..., dict[str, Any]]] = {"rsg": by_rsg, **{one: partial(by_peer, one) for one in PEERS}}
CASES: dict[str, dict[str, Any]] = {"250": {}, "50": {"some": FEW}, "noise": {"noise": NOISE}}


def pieces() -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Everything that is measured."""
    for seed in SEEDS:
        for kind in KINDS:
            for name, how in CASES.items():
                for method, measure in METHODS.items():
                    yield (
                        f"{kind}/{name}/{method}/{seed}",
                        lambda m=measure, s=seed, k=kind, h=how: m(*case(s, k, **h), s),  # type: ignore[misc]
                    )


def run() -> dict[str, Any]:
    """All of it: for each kind, case and method the figures, one to each seed."""
    return {
        kind: {
            name: {method: together(by_seed) for method, by_seed in methods.items()} for name, methods in cases.items()
        }
        for kind, cases in in_pieces("ogbench", dict(pieces())).items()
    }
