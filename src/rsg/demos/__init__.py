"""What was shown: demonstrations, the store that never loses one, and the benchmarks that make them."""

from rsg.demos.benchmark import Benchmark, benchmark
from rsg.demos.checking import check_store
from rsg.demos.demonstration import Demonstration
from rsg.demos.making import Recipe, make_demonstrations
from rsg.demos.store import Store, repair

__all__ = [
    "Benchmark",
    "Demonstration",
    "Recipe",
    "Store",
    "benchmark",
    "check_store",
    "make_demonstrations",
    "repair",
]
