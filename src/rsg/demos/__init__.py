"""What was shown: demonstrations, the store that never loses one, and the benchmarks that make them."""

from rsg.demos.demonstration import Demonstration
from rsg.demos.store import Store, repair

__all__ = ["Demonstration", "Store", "repair"]
