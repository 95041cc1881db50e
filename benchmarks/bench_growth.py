"""How time and memory grow: with the side of maps, the terms of instructions, the vocabulary, the demonstrations."""

import os
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import rsg
from benchmarks.bench_large import LARGE, NOVEL, SOURCE, Case, instruction, kept, within
from benchmarks.harness import in_pieces, peak_mb
from benchmarks.many_words import learned_words
from rsg.core.random import stream
from rsg.demos import Recipe, Store
from rsg.domain import make_demonstrations
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.maps import objects_for
from rsg.domains.crafting.starts import KIND, KINDS
from rsg.language import Machine, parse
from rsg.planning import plan
from rsg.search import Product, SearchSettings

SEEDS = range(300, 305)  # nothing was chosen by them
EACH = 3  # instructions of each seed
SIDES = (6, 12, 25, 50, 100)
TERMS = (1, 2, 4, 8, 15, 30)
ROOM = 12  # in the hands, for instructions that are that long: with the usual six none can be
WORDS = (26, 60, 125, 250)
DEMONSTRATIONS = (1_000, 10_000, 100_000)
MADE = 100_000  # at most; more are the same several times over
MB = 2**20


def run() -> dict[str, Any]:
    """Every table, with the exponent that fits best for each of its figures."""
    pieces: dict[str, Callable[[], Any]] = {f"side/{side}": partial(_side, side) for side in SIDES}
    pieces |= {f"terms/{terms}": partial(_terms, terms) for terms in TERMS}
    pieces |= {f"words/{words}": partial(_alone, learned_words, words) for words in WORDS}
    pieces |= {f"demonstrations/{count}": partial(_alone, _demonstrations, count) for count in DEMONSTRATIONS}
    return {name: {**table, "exponents": exponents(table)} for name, table in in_pieces("growth", pieces).items()}


def exponents(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """For each figure the exponent b of the a·sizeᵇ that fits best, on a logarithmic scale."""
    fitted = {}
    for name in next(iter(table.values())):
        known = {float(size): row[name] for size, row in table.items() if row.get(name, 0) > 0}
        fitted[name] = round(float(np.polyfit(*np.log([list(known), list(known.values())]), 1)[0]), 2)
    return fitted


# Maps and instructions.


def _side(side: int, terms: int = 4) -> dict[str, float]:
    """Instructions of four terms on maps of a side, an object to fifty cells but at least twelve."""
    return _planned([_case(seed, n, terms, side, max(12, side * side // 50)) for seed in SEEDS for n in range(EACH)])


def _terms(terms: int, side: int = 20) -> dict[str, float]:
    """Instructions of so many terms on 20×20 maps with thirty objects, for hands that hold twelve things."""
    return _planned([_case(seed, n, terms, side, 30, ROOM) for seed in SEEDS for n in range(EACH)])


def _case(seed: int, number: int, terms: int, side: int, objects: int, room: int = 6) -> Case:
    """An instruction on an open field: what it needs lies there once, all other objects are of other kinds."""
    rng = stream(seed, "growth", terms, side, number)
    names = instruction(rng, terms, room)
    needs = objects_for(names)
    blocks = ("door", "barrier", "switch")
    world = CraftingWorld(side, side, room, objects)
    kinds = {thing.name: thing.kind for thing in world.rules.things}
    others = [name for name in KINDS[KIND].scattered if name not in needs and kinds[name] not in blocks]
    lying = [*needs, *rng.choice(others, size=objects - len(needs)).tolist()]
    agent, *places = (divmod(cell, side) for cell in rng.permutation(side * side)[: objects + 1].tolist())
    state = world.state(dict(zip(places, lying, strict=True)), agent)
    return Case(seed, world, state, Machine.of(parse(" then ".join(names))))


def _planned(cases: Sequence[Case]) -> dict[str, float]:
    """What plans take, and the most memory that their arrays take."""
    most = []
    for case in cases:
        tracemalloc.start()
        plan(case.world, case.state, case.machine, SOURCE.true_goals, SearchSettings(Product(NOVEL), budget=LARGE))
        most.append(tracemalloc.get_traced_memory()[1] / MB)
        tracemalloc.stop()
    return {**within(kept(list(cases), NOVEL, LARGE), LARGE), "mb_median": round(float(np.median(most)), 3)}


# Demonstrations.


def _demonstrations(count: int) -> dict[str, float]:
    """Making so many, reading them one after the other, and learning from all of them: CPU seconds, megabytes.

    No more than `MADE` are made; a larger store has these several times over.
    """
    per_task = -(-min(count, MADE) // len(SOURCE.tasks("train")))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_demonstrations(Recipe("crafting", "train", 1), place / "few")  # compiles
        rsg.learn(Store(place / "few"), "crafting", per_task=1)
        figures = {"program_mb": peak_mb()}
        begun = time.process_time()
        store = make_demonstrations(Recipe("crafting", "train", per_task), place / "made")
        if count <= MADE:
            figures["make_s"] = time.process_time() - begun
        else:
            several = Store.create(place / "several", "crafting")
            for _ in range(count // MADE):
                several.append(store)
            store = several
        figures |= {"stored": len(store), "disk_mb": sum(file.stat().st_size for file in store.folder.iterdir()) / MB}
        begun = time.process_time()
        assert sum(len(demo) for demo in store) == store.steps
        figures |= {"read_s": time.process_time() - begun, "read_mb": peak_mb()}
        begun = time.process_time()
        rsg.learn(store, "crafting")
        figures |= {"learn_s": time.process_time() - begun, "learn_mb": peak_mb()}
    return {name: round(figure, 3) for name, figure in figures.items()}


def _alone(work: Callable[[int], dict[str, float]], size: int) -> dict[str, float]:
    """What a process of its own measures, which has no memory of others."""
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, size).result()
