"""Fast Downward, the planner for PDDL that others are measured by, called through unified-planning.

Needs the extra `[pddl]`.
"""

import re
import time
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar

from reproductions.harness.extras import require
from reproductions.harness.jobs import processor_seconds
from reproductions.pddl import Pddl, to_actions
from rsg.core.errors import RsgError

CONFIGURATIONS = {  # for its engine in unified-planning: A* with the heuristic LM-cut, with none, LAMA's first plan
    "optimal": {"fast_downward_search_config": "astar(lmcut())"},
    "blind": {"fast_downward_search_config": "astar(blind())"},
    "satisficing": {"fast_downward_alias": "lama-first"},
}
PACKAGES = ("unified-planning", "up-fast-downward", "fast-downward.translate")
_Number = TypeVar("_Number", int, float)
_GRACE = 5.0  # a call may take so many times the limit of the search on the clock, where other programs run too


class Answer(NamedTuple):
    """What Fast Downward says.

    Attributes:
        ended: `found`, `exhausted` (there is no plan), `time` or `memory`.
        actions: of the world, if a plan was found.
        steps: of the plan, as it prints its cost.
        search_seconds: as it prints them: processor time of the search alone, without translation.
        expansions: states expanded, as it prints it.
        own_seconds: on the clock for Fast Downward itself: its start, translation, search.
        seconds: on the clock for the whole call: unified-planning's reading and writing, Fast Downward, the plan read;
            cpu_seconds: the same, in processor time of all processes together.
    """

    ended: str
    actions: list[int] | None
    steps: int | None
    search_seconds: float | None
    expansions: int | None
    own_seconds: float
    seconds: float
    cpu_seconds: float


@lru_cache(maxsize=1)
def _read(texts: Pddl) -> tuple[Any, float, float]:
    """The problem as unified-planning has it, seconds on the clock and of processor time for its reader, once made."""
    reader = _reader()
    begun, used = time.perf_counter(), processor_seconds()
    problem = reader.parse_problem_string(*texts)
    return problem, time.perf_counter() - begun, processor_seconds() - used


@cache
def _reader() -> Any:
    require("pddl")
    from unified_planning.io import PDDLReader

    return PDDLReader()


def ask(texts: Pddl, configuration: Mapping[str, str], limit: float) -> Answer:
    """Have a problem solved, with one of `CONFIGURATIONS`; the search may take `limit` seconds of processor time.

    A problem that is asked again right away is not read again; what reading took counts all the same.
    """
    problem, read_seconds, read_cpu = _read(texts)
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    get_environment().credits_stream = None
    begun, used = time.perf_counter(), processor_seconds()
    parameters = {**configuration, "fast_downward_search_time_limit": f"{max(1, round(limit))}s"}
    with OneshotPlanner(name="fast-downward", params=parameters) as planner:
        result = planner.solve(problem, timeout=_GRACE * limit)
    seconds, cpu = time.perf_counter() - begun, processor_seconds() - used
    printed = "".join(message.message for message in result.log_messages or [])
    ended, actions = "found", None
    if result.plan is not None:
        actions = to_actions([(one.action.name, *map(str, one.actual_parameters)) for one in result.plan.actions])
    else:
        ended = ending(result.status.name, "fast_downward_search_config" in configuration)
    return Answer(
        ended,
        actions,
        _printed(r"Plan cost: (\d+)", printed, int),
        _printed(r"\] Search time: ([\d.e+-]+)s", printed, float),
        _printed(r"\] Expanded (\d+) state", printed, int),
        round(float(result.metrics["engine_internal_time"]), 4),
        round(read_seconds + seconds, 4),
        round(read_cpu + cpu, 4),
    )


def versions() -> dict[str, str]:
    """Of all that an answer depends on."""
    return {package: version(package) for package in PACKAGES}


def ending(status: str, exact: bool) -> str:
    """Why there is no plan; a search that is exact gives up only when nothing is left."""
    known = {"TIMEOUT": "time", "MEMOUT": "memory", "UNSOLVABLE_PROVEN": "exhausted"}
    if exact:
        known["UNSOLVABLE_INCOMPLETELY"] = "exhausted"
    if status not in known:
        raise RsgError(f"Fast Downward failed: {status}")
    return known[status]


def _printed(pattern: str, text: str, kind: Callable[[str], _Number]) -> _Number | None:
    """The last number of its kind."""
    found = re.findall(pattern, text)
    return kind(found[-1]) if found else None
