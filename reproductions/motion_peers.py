"""The same motion queries for OMPL and for us, in the paper's room.

A query is a free start and a free goal pose. OMPL's RRT and RRTConnect run with path simplification, as its users run
them: with our compiled check of whole motions as a callback, or with a check of poses at points along each motion.
Every path is judged by our check of motions. Needs the extra `[ompl]`.
"""

import time
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.harness.extras import require
from rsg.core.random import stream
from rsg.domains.playroom import PlayroomWorld, geometry
from rsg.language import Machine, parse
from rsg.search import GraphSearch, Motion, Product, attach, connect, roadmap, shorten
from rsg.search.motion.space import actions_between, differences, prepared, space_of, uniform
from rsg.search.motion.trees import Tree, grow, reach_for

Floats = NDArray[np.float64]
Solve = Callable[[Floats, Floats, int], Floats | None]
"""From a start state, a goal pose and a number to the corners of a path `[N, 3]`, or None."""
Free = Callable[[Any], bool]
"""Whether a pose, as OMPL has it, is free."""

WORLD = PlayroomWorld()
SPACE = space_of(WORLD)
LIMIT = 20.0  # seconds
STEP = 0.05  # between the points at which OMPL checks a motion pose by pose
REACHED = Machine.of(parse("reached"))


def compare(count: int = 200, checks: Mapping[str, Free] | None = None) -> dict[str, Any]:
    """Success, time and length of each planner over the same queries; `checks` of poses have a row of their name."""
    require("ompl")
    from ompl import geometric, util

    util.setLogLevel(util.LOG_ERROR)
    queries = [(WORLD.start(stream(i, "peer")), WORLD.start(stream(i, "goal"))[:3]) for i in range(count)]
    planners: dict[str, Solve] = {
        "rsg RRT-Connect": _ours(connect),
        "rsg RRT-Connect, not shortened": _ours(connect, shortened=False),
        "rsg RRT": _ours(rrt),
        "rsg roadmap": _on_roadmap,
        "OMPL RRTConnect, compiled motions": _ompl(geometric.RRTConnect),
        "OMPL RRTConnect, compiled motions, not simplified": _ompl(geometric.RRTConnect, simplified=False),
        "OMPL RRT, compiled motions": _ompl(geometric.RRT),
        "OMPL RRTConnect, compiled poses": _ompl(geometric.RRTConnect, _compiled_free),
    }
    for name, free in (checks or {}).items():
        planners[f"OMPL RRTConnect, {name}"] = _ompl(geometric.RRTConnect, free)
    figures: dict[str, Any] = {name: _measured(solve, queries) for name, solve in planners.items()}
    made = {"construction_ms": roadmap_ms(WORLD, WORLD.start(stream(0)))}
    return {"queries": count, **figures, "rsg roadmap": {**made, **figures["rsg roadmap"]}}


def roadmap_ms(world: Any, state: Any) -> float:
    """Milliseconds for a roadmap, after another one for what is compiled on the way."""
    roadmap(world, state, seed=1)
    start = time.perf_counter()
    roadmap(world, state, seed=2)
    return round(1000 * (time.perf_counter() - start), 1)


def _ours(plan: Callable[..., Any], shortened: bool = True) -> Solve:
    def solve(start: Floats, goal: Floats, number: int) -> Floats | None:
        rng = stream(number, "plan")
        found = plan(WORLD, start, goal, rng, time_limit=LIMIT)
        if not found.found:
            return None
        return shorten(WORLD, start, found.poses, rng) if shortened else found.poses

    return solve


def rrt(world: Any, state: Floats, goal: Floats, rng: np.random.Generator, time_limit: float) -> Motion:
    """One tree from the state `[W]` to the pose `goal` `[D]`, which is every tenth sample; both are free."""
    space, tree, used = space_of(world), Tree.at(state[None, : len(goal)]), 0
    chain = np.empty((64, len(goal)))
    kernel, tables = prepared(grow, world, state, reach_for=reach_for)
    late = time.perf_counter() + time_limit
    while used == 0 or time.perf_counter() < late:
        samples = uniform(space, rng, 128)
        samples[::10] = goal
        used += len(samples)
        tree = tree.with_room(len(samples) * len(chain))
        kernel(tables, space, tree, samples, 10, chain)
        end = int(tree.size[0]) - 1
        if np.array_equal(tree.poses[end], goal):
            return Motion(tree.poses[tree.way_to(end)], used, "found")
    return Motion(np.empty((0, len(goal))), used, "time")


def _on_roadmap(start: Floats, goal: Floats, number: int) -> Floats | None:
    given = np.stack([start, np.concatenate([goal, start[3:]])])
    graph = attach(WORLD, roadmap(WORLD, start), given, trajectory=False)
    there = np.full((len(graph.states), 1), -np.inf)
    there[1] = 0.0
    values = there, np.where(there == 0, -np.inf, 0.0)
    found = GraphSearch(graph, REACHED, lambda _: values, Product()).run()
    if found.states is None:
        return None
    return shorten(WORLD, start, found.states[:, :3], stream(number, "plan"))


@cache
def _motions() -> Any:
    """Our compiled check of whole motions, as a class for OMPL."""
    from ompl import base

    kernel, tables = WORLD.compiled_motion
    ends = np.empty((2, 3))

    class Motions(base.MotionValidator):  # type: ignore[misc]
        """Asks the kernel."""

        def checkMotion(self, *states: Any) -> bool:
            """Whether all of a straight motion is free."""
            for end, state in zip(ends, states, strict=False):
                end[:] = state.getX(), state.getY(), state.getYaw()
            return bool(kernel(tables, ends[0], ends[1]))

    return Motions


def _compiled_free(state: Any) -> bool:
    return bool(geometry.pose_free(WORLD.layout.shapes, state.getX(), state.getY(), state.getYaw()))


def _ompl(planner: Any, free: Free | None = None, simplified: bool = True) -> Solve:
    """An OMPL planner with a check of poses, or with our check of motions."""
    from ompl import base, geometric

    space, bounds = base.SE2StateSpace(), base.RealVectorBounds(2)
    bounds.setLow(0)
    bounds.setHigh(float(WORLD.layout.size[0]))
    space.setBounds(bounds)

    def state_of(pose: Floats) -> Any:
        state = space.allocState()
        state.setX(pose[0])
        state.setY(pose[1])
        state.setYaw(pose[2])
        return state

    def solve(start: Floats, goal: Floats, number: int) -> Floats | None:
        del number  # its seeds are its own
        setup = geometric.SimpleSetup(space)
        information = setup.getSpaceInformation()
        setup.setStateValidityChecker(free or _compiled_free)
        if free is None:
            information.setMotionValidator(_motions()(information))
        else:
            information.setStateValidityCheckingResolution(STEP / space.getMaximumExtent())
        setup.setPlanner(planner(information))
        setup.setStartAndGoalStates(state_of(start), state_of(goal))
        setup.solve(base.timedPlannerTerminationCondition(LIMIT))  # given a number, it waits for a clock at the end
        if not setup.haveExactSolutionPath():
            return None
        if simplified:
            setup.simplifySolution()
        states = setup.getSolutionPath().getStates()
        return np.array([[state.getX(), state.getY(), state.getYaw()] for state in states])

    return solve


def _measured(solve: Solve, queries: list[tuple[Floats, Floats]]) -> dict[str, float | None]:
    """Figures over the queries; the first one is asked once more before, for what is compiled on the way."""
    solve(*queries[0], 0)
    seconds, paths = [], []
    for number, (start, goal) in enumerate(queries):
        begun = time.perf_counter()
        corners = solve(start, goal, number)
        seconds.append(time.perf_counter() - begun)
        paths.append(judged(start, goal, corners))
    right = [path for path in paths if path is not None]
    actions, lengths = np.mean(right, axis=0).round(3).tolist() if right else (None, None)
    return {
        "success": len(right) / len(paths),
        "ms_median": round(1000 * float(np.median(seconds)), 3),
        "actions_mean": actions,
        "pose_length_mean": lengths,
    }


def judged(start: Floats, goal: Floats, corners: Floats | None) -> tuple[float, float] | None:
    """The actions of a path, each piece split evenly, and its length in numbers; None if it is not right."""
    if corners is None or not np.allclose(corners[[0, -1]], [start[:3], goal]):
        return None
    pieces = differences(SPACE, corners[:-1], corners[1:])
    rows = np.concatenate([corners[:-1], np.tile(start[3:], (len(corners) - 1, 1))], axis=1)
    if not WORLD.clear(rows, corners[1:]).all():
        return None
    actions = sum(actions_between(SPACE, a, b) for a, b in pairwise(corners))
    return float(actions), float(np.sqrt((pieces**2).sum(axis=1)).sum())
