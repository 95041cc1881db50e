"""rsg: learn what the steps of a task mean from demonstrations and instructions, then plan with them.

The public names are loaded when first used, so that `import rsg` is quick.
"""

import sys
from importlib import import_module
from typing import Any

from rsg.core.version import __version__

_HOME = {
    "rsg.core.errors": ["ParseError", "RsgError", "RunError", "StoreError", "TaskError"],
    "rsg.search": ["SearchSettings"],
    "rsg.planning": ["Dependencies", "Plan", "plan", "plan_goal", "validate"],
    "rsg.demos": ["Demonstration", "Store"],
    "rsg.domain": ["Domain"],
    "rsg.subgoals": [
        "RsgSettings",
        "discover",
        "learn",
        "load_dependencies",
        "load_subgoals",
        "recognise",
        "segment",
    ],
    "rsg.language": [
        "And",
        "Formula",
        "Machine",
        "Or",
        "Task",
        "Term",
        "Then",
        "parse",
        "satisfies",
        "to_ltlf",
    ],
}
_ROOMS = (
    "language",
    "worlds",
    "search",
    "planning",
    "demos",
    "envs",
    "training",
    "subgoals",
    "baselines",
    "domains",
    "evaluation",
)
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *_ROOMS, *_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"rsg.{name}")
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'rsg' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "gymnasium" in sys.modules:  # who uses Gymnasium finds our environments there; for all others it stays unloaded
    import_module("rsg.envs")
