"""What was shown: demonstrations, the store that never loses one, and the benchmarks that make them."""

from rsg.demos.benchmark import Benchmark as Benchmark, benchmark as benchmark
from rsg.demos.checking import check_store as check_store
from rsg.demos.demonstration import Demonstration as Demonstration
from rsg.demos.making import Recipe as Recipe, make_demonstrations as make_demonstrations
from rsg.demos.store import Store as Store, repair as repair
