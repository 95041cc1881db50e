"""rsg: learn what the steps of a task mean from demonstrations and instructions, then plan with them.

The public names are loaded when first used, so that `import rsg` is quick; a type checker sees all of them at once.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from rsg.core.version import __version__ as __version__

# fmt: off
if TYPE_CHECKING:
    from rsg import (
        baselines as baselines, demos as demos, domains as domains, envs as envs, evaluation as evaluation,
        language as language, planning as planning, search as search, subgoals as subgoals, training as training,
        worlds as worlds,
    )
    from rsg.core.errors import (
        ParseError as ParseError, RsgError as RsgError, RunError as RunError, StoreError as StoreError,
        TaskError as TaskError,
    )
    from rsg.demos import Demonstration as Demonstration, Store as Store, demonstrate as demonstrate
    from rsg.domain import Domain as Domain
    from rsg.envs import Recorder as Recorder
    from rsg.language import (
        And as And, Formula as Formula, Machine as Machine, Or as Or, Task as Task, Term as Term, Then as Then,
        parse as parse, satisfies as satisfies, to_ltlf as to_ltlf,
    )
    from rsg.planning import (
        Dependencies as Dependencies, Plan as Plan, execute as execute, plan as plan, plan_goal as plan_goal,
        validate as validate,
    )
    from rsg.search import SearchSettings as SearchSettings
    from rsg.subgoals import (
        RsgSettings as RsgSettings, Subgoals as Subgoals, learn as learn, load as load, recognise as recognise,
        segment as segment,
    )
# fmt: on

_ROOMS = {
    *("baselines", "demos", "domains", "envs", "evaluation", "language"),
    *("planning", "search", "subgoals", "training", "worlds"),
}
_HOMES = {
    "rsg.core.errors": "ParseError RsgError RunError StoreError TaskError",
    "rsg.demos": "Demonstration Store demonstrate",
    "rsg.domain": "Domain",
    "rsg.envs": "Recorder",
    "rsg.language": "And Formula Machine Or Task Term Then parse satisfies to_ltlf",
    "rsg.planning": "Dependencies Plan execute plan plan_goal validate",
    "rsg.search": "SearchSettings",
    "rsg.subgoals": "RsgSettings Subgoals learn load recognise segment",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
_GONE = {
    "load_subgoals": "rsg.load(folder)",
    "load_dependencies": "rsg.load(folder).dependencies",
    "discover": "subgoals.dependencies, or subgoals.discover(demonstrations)",
}

if not TYPE_CHECKING:
    __all__ = ["__version__", *_ROOMS, *_HOME]

    def __getattr__(name):
        if name in _ROOMS:
            return import_module(f"rsg.{name}")
        if name in _HOME:
            value = globals()[name] = getattr(import_module(_HOME[name]), name)
            return value
        instead = f"; it is now {_GONE[name]}" if name in _GONE else ""
        raise AttributeError(f"module 'rsg' has no attribute '{name}'{instead}")

    def __dir__():
        return sorted({*globals(), *__all__})


if "gymnasium" in sys.modules:  # who uses Gymnasium finds our environments there; for all others it stays unloaded
    import_module("rsg.envs")
