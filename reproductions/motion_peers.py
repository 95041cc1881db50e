"""The same motion queries for OMPL and for us, in the paper's room.

A query is a free start and a free goal pose. OMPL's RRT and RRTConnect run with path simplification, as its users run
them: with our compiled check of whole motions as a callback; with our compiled check of poses, or one on shapely, at
points along each motion. Every path is judged by our check of motions. Needs the extra `[ompl]`, and shapely for one of
the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.harness.extras import require
from rsg.core.random import stream
from rsg.language import Machine, parse
from rsg.search import GraphSearch, Motion, SearchSettings, attach, connect, roadmap, shorten
from rsg.search.motion.shortening import walk
from rsg.search.motion.space import actions_between, differences, prepared, space_of, uniform
from rsg.search.motion.trees import Tree, grow, reach_for
from rsg.worlds.playroom import PlayroomWorld, geometry

Floats = NDArray[np.float64]
Solve = Callable[[Floats, Floats, int], Floats | None]
"""From a start state, a goal pose and a number to the corners of a path `[N, 3]`, or None."""

WORLD = PlayroomWorld()
SPACE = space_of(WORLD)
LIMIT = 20.0  # seconds
STEP = 0.05  # between the points at which OMPL checks a motion pose by pose
REACHED = Machine.of(parse("reached"))


def compare(count: int = 200, shapely: bool = True) -> dict[str, Any]:
    """Success, time and length of each planner over the same queries; shapely's checks take by far the longest."""
    require("ompl")
    from ompl import geometric, util

    util.setLogLevel(util.LOG_ERROR)
    queries = [(WORLD.start(stream(i, "peer")), WORLD.start(stream(i, "goal"))[:3]) for i in range(count)]
    planners: dict[str, Solve] = {
        "rsg RRT-Connect": _ours(connect),
        "rsg RRT-Connect, not shortened": _ours(connect, shortened=False),
        "rsg RRT": _ours(rrt),
        "rsg roadmap": _on_roadmap,
        "OMPL RRTConnect, compiled motions": Peer(geometric.RRTConnect, motions=True).solve,
        "OMPL RRTConnect, compiled motions, not simplified": Peer(
            geometric.RRTConnect, motions=True, simplified=False
        ).solve,
        "OMPL RRT, compiled motions": Peer(geometric.RRT, motions=True).solve,
        "OMPL RRTConnect, compiled poses": Peer(geometric.RRTConnect, _compiled_free).solve,
    }
    if shapely:
        planners["OMPL RRTConnect, shapely poses"] = Peer(geometric.RRTConnect, _shapely_free()).solve
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
    found = GraphSearch(graph, REACHED, lambda _: values, SearchSettings(budget=None)).run()
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


def _shapely_free() -> Callable[[Any], bool]:
    """What somebody writes who has shapely at hand."""
    import shapely
    from shapely import affinity

    layout = WORLD.layout
    walls = shapely.union_all([shapely.Polygon(wall) for wall in layout.walls])
    room = shapely.box(0, 0, *layout.size)
    robot = shapely.union_all([shapely.Polygon(part) for part in layout.robot])
    shapely.prepare(walls)
    shapely.prepare(room)

    def free(state: Any) -> bool:
        turned = affinity.rotate(robot, state.getYaw(), origin=(0, 0), use_radians=True)
        body = affinity.translate(turned, state.getX(), state.getY())
        return bool(room.contains_properly(body) and not walls.intersects(body))

    return free


class Peer:
    """An OMPL planner with a check of poses, or with our check of motions."""

    def __init__(
        self,
        planner: Any,
        free: Callable[[Any], bool] = _compiled_free,
        motions: bool = False,
        simplified: bool = True,
    ) -> None:
        from ompl import base

        self._planner, self._free, self._motions, self._simplified = planner, free, motions, simplified
        self._space = base.SE2StateSpace()
        bounds = base.RealVectorBounds(2)
        bounds.setLow(0)
        bounds.setHigh(float(WORLD.layout.size[0]))
        self._space.setBounds(bounds)

    def solve(self, start: Floats, goal: Floats, number: int) -> Floats | None:  # noqa: ARG002, its seeds are its own
        """The corners of a path."""
        from ompl import base, geometric

        setup = geometric.SimpleSetup(self._space)
        information = setup.getSpaceInformation()
        setup.setStateValidityChecker(self._free)
        if self._motions:
            information.setMotionValidator(_motions()(information))
        else:
            information.setStateValidityCheckingResolution(STEP / self._space.getMaximumExtent())
        setup.setPlanner(self._planner(information))
        setup.setStartAndGoalStates(self._state(start), self._state(goal))
        setup.solve(base.timedPlannerTerminationCondition(LIMIT))  # given a number, it waits for a clock at the end
        if not setup.haveExactSolutionPath():
            return None
        if self._simplified:
            setup.simplifySolution()
        states = setup.getSolutionPath().getStates()
        return np.array([[state.getX(), state.getY(), state.getYaw()] for state in states])

    def _state(self, pose: Floats) -> Any:
        state = self._space.allocState()
        state.setX(pose[0])
        state.setY(pose[1])
        state.setYaw(pose[2])
        return state


def _measured(solve: Solve, queries: list[tuple[Floats, Floats]]) -> dict[str, float | None]:
    """Figures over the queries; the first one is asked once more before, for what is compiled on the way."""
    solve(*queries[0], 0)
    rows = []
    for number, (start, goal) in enumerate(queries):
        wall, cpu = time.perf_counter(), time.thread_time()
        corners = solve(start, goal, number)
        times = time.perf_counter() - wall, time.thread_time() - cpu
        rows.append([*times, *_judged(start, goal, corners)])
    wall, cpu, good, actions, strides, length = np.array(rows).T
    done = good > 0
    return {
        "success": float(done.mean()),
        "ms_median": round(1000 * float(np.median(wall)), 3),
        "ms_mean": round(1000 * float(wall.mean()), 3),
        "cpu_ms_median": round(1000 * float(np.median(cpu)), 3),
        "cpu_ms_mean": round(1000 * float(cpu.mean()), 3),
        "actions_mean": _mean(actions[done]),
        "actions_in_full_strides_mean": _mean(strides[done]),
        "pose_length_mean": _mean(length[done]),
    }


def _mean(values: Floats) -> float | None:
    """Over the paths that are right; None if none is."""
    return round(float(values.mean()), 3) if len(values) else None


def _judged(start: Floats, goal: Floats, corners: Floats | None) -> tuple[float, float, float, float]:
    """Whether a path is right; its actions, each piece split evenly, and in full strides; its length in numbers."""
    if corners is None or not np.allclose(corners[[0, -1]], [start[:3], goal]):
        return 0.0, 0.0, 0.0, 0.0
    pieces = differences(SPACE, corners[:-1], corners[1:])
    rows = np.concatenate([corners[:-1], np.tile(start[3:], (len(corners) - 1, 1))], axis=1)
    right = WORLD.clear(rows, corners[1:]).all()
    actions = sum(actions_between(SPACE, a, b) for a, b in pairwise(corners))
    walked, tables = prepared(walk, WORLD, start)
    out, chain = np.empty((1000, 3)), np.empty((1000, 3))
    strides = walked(tables, SPACE, np.ascontiguousarray(corners), len(corners), out, chain) - 1
    return float(right), float(actions), float(strides), float(np.sqrt((pieces**2).sum(axis=1)).sum())
