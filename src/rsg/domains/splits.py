"""The splits of the paper's tasks, as its appendix lists them."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from rsg.core.files import shipped
from rsg.domain import Printed

Tasks = tuple[Any, ...]


@cache
def paper_tasks(package: str) -> dict[str, list[Any]]:
    """The tasks that the appendix lists for a world, by split, from `tasks.json` in its folder."""
    tasks: dict[str, list[Any]] = json.loads(shipped(package, "tasks.json"))
    return tasks


@cache
def printed(package: str) -> dict[str, Printed]:
    """What the paper prints of each method there, from `printed.json`: its table of planning with instructions, and
    the appendix's table of computation times, whose hardware is not stated.
    """
    figures: dict[str, dict[str, float]] = json.loads(shipped(package, "printed.json"))
    return {method: Printed(**one) for method, one in figures.items()}


def splits_of(primitive: Tasks, compositional: Tasks, others: Mapping[str, Tasks], custom: Tasks) -> dict[str, Tasks]:
    """The splits of the paper: `train` is primitive and compositional; `validation` the same from other starts."""
    both = primitive + compositional
    splits = {"train": both, "validation": both, "primitive": primitive, "compositional": compositional, **others}
    return splits | ({"custom": custom} if custom else {})
