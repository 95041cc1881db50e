"""Throw random and mutated texts at the parser: only a tree or a ParseError may come out, in bounded time and memory.

`python -m benchmarks.fuzz_parser [COUNT] [SEED]` runs on all cores and keeps the figures in benchmarks/results/.
"""

import os
import random
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from benchmarks.harness import keep
from rsg.core.errors import ParseError
from rsg.language import parse

SEEDS = (
    "grab-axe then mine-wood then (craft-boat or craft-bowl)",
    "mine-potato and (grab-pickaxe then mine-coal) then craft-cooked-potato",
    "put-next(red-box, grey-door) then open(purple-door)",
    "a>b|c&d",
    "A THEN b Or (c AND d_e)",
)
PIECES = (
    *("then", "or", "and", "THEN", "(", ")", "((", "))", ">", "|", "&", ",", "-", "_", " ", "\t", "\n", "a", "B", "0"),
    *("mine-wood", "f(", "f(x)", "f(x,y)", "then(", "\x00", "\x1b[0m", "é", "ß", "İ", "木", "🪓", "\u202e", "\ufeff"),
    *("\ud800", "\u0301", "%s", "$END", "'", '"', "\\", "--", "then-", "-then", "_or", "٣", "Ⅷ", "ﬁ"),
)


def example(rng: random.Random) -> str:
    """One text: mostly near-tasks, some noise, now and then something huge."""
    kind = rng.random()
    if kind < 0.45:  # a real task with a few letters changed
        text = rng.choice(SEEDS)
        for _ in range(rng.randint(1, 4)):
            i, j = sorted(rng.randint(0, len(text)) for _ in range(2))
            text = rng.choice([text[:i] + rng.choice(PIECES) + text[i:], text[:i] + text[j:], text[:j] + text[i:]])
        return text
    if kind < 0.9:
        return rng.choice(["", " "]).join(rng.choice(PIECES) for _ in range(rng.randint(0, 15)))
    if kind < 0.9999:
        return "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randint(0, 30)))
    return rng.choice(
        [
            "(" * 10_000,
            "(" * 10_000 + "a" + ")" * 10_000,
            "a then " * 14_000 + "b",
            "(a or b) and " * 7_000 + "c",
            "(a then (b or " * 5_000,
            "x" * 100_000,
            "f(" + "a," * 49_000 + "b)",
            "\x00" * 100_000,
            "a " * 50_000,
            "🪓" * 100_000,
        ]
    )


def fuzz(count: int, seed: int) -> dict[str, Any]:
    """Parse `count` examples. Anything but a tree that prints and parses back, or a ParseError, is raised."""
    rng = random.Random(seed)
    trees = errors = 0
    slowest = 0.0
    for number in range(count):
        text = example(rng)
        start = time.process_time()
        try:
            tree = parse(text)
        except ParseError as error:
            slowest = max(slowest, time.process_time() - start)
            errors += 1
            if not 0 <= error.position <= len(text) or "^" not in str(error):
                raise AssertionError(f"a useless message for {text!r} (seed {seed}, number {number})") from error
            continue
        except BaseException as error:
            raise AssertionError(f"{type(error).__name__} for {text[:200]!r} (seed {seed}, number {number})") from error
        slowest = max(slowest, time.process_time() - start)
        trees += 1
        if len(text) < 1000 and parse(str(tree)) != tree:
            raise AssertionError(f"printed and read again, {text!r} is another task (seed {seed}, number {number})")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"inputs": count, "trees": trees, "errors": errors, "slowest_s": slowest, "peak_memory_mb": memory}


def main() -> None:
    """Split the count over the cores."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    slices = 20
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(fuzz, count // slices, seed * 1000 + i) for i in range(slices)]
        parts = []
        for job in jobs:
            parts.append(job.result())
            print(f"\r{sum(p['inputs'] for p in parts):,} of {count:,} inputs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    total = {key: sum(part[key] for part in parts) for key in ("inputs", "trees", "errors")}
    worst = {key: round(max(part[key] for part in parts), 3) for key in ("slowest_s", "peak_memory_mb")}
    figures = {"seed": seed, **total, **worst}
    print(figures, f"kept in {keep('fuzz_parser', figures)}", sep="\n")


if __name__ == "__main__":
    main()
