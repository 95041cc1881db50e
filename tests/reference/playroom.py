"""Playroom once more, on shapely: slow, plain, and without a line of the kernels.

Also a judge of whole plans, which believes nothing but the layout and the numbers that it is given.
"""

import numpy as np
import shapely
from shapely.affinity import rotate, translate
from shapely.geometry import MultiPolygon, Polygon, box

from rsg.language import parse, satisfies

REACH = 1.0
TIE = 1e-9
"""Nearer to a touch than this, rounding decides and no answer is wrong."""


def body(layout, pose):
    """The robot at a pose."""
    x, y, angle = map(float, pose)
    parts = MultiPolygon([Polygon(part) for part in layout.robot])
    return translate(rotate(parts, angle, origin=(0, 0), use_radians=True), x, y)


def bodies(layout, poses):
    """The parts of the robot at many poses, `[N, parts]`: as `body`, in a few calls."""
    cos, sin = np.cos(poses[:, 2])[:, None], np.sin(poses[:, 2])[:, None]
    found = []
    for part in layout.robot:
        x, y = np.array(part).T
        corners = np.stack([poses[:, :1] + cos * x - sin * y, poses[:, 1:2] + sin * x + cos * y], axis=2)
        found.append(shapely.polygons(corners))
    return np.stack(found, axis=1)


def effector(layout, state, number):
    """An effector where it lies in a state."""
    return translate(Polygon(layout.effectors[number].shape), *map(float, state[3 + 2 * number : 5 + 2 * number]))


def obstacles(layout):
    """All that must not be touched: the walls, and the sides of the room as a line around it."""
    outside = box(-1e3, -1e3, 1e3, 1e3).difference(box(0, 0, *layout.size))
    return shapely.union_all([outside, *(Polygon(wall) for wall in layout.walls)])


def clearance(layout, pose, things=None):
    """How far the robot is from what it must not touch; 0 if it touches it, or if its centre is not in the room."""
    if not (0 <= pose[0] <= layout.size[0] and 0 <= pose[1] <= layout.size[1]):
        return 0.0
    return shapely.distance(body(layout, pose), obstacles(layout) if things is None else things)


def along(start, end, count):
    """Poses `[count + 1, 3]` on the straight way; the angle goes the shorter way round."""
    change = np.array(end, dtype=float) - start
    change[2] = (change[2] + np.pi) % (2 * np.pi) - np.pi
    return start + np.linspace(0, 1, count + 1)[:, None] * change


def farthest(layout):
    """The distance of the robot's farthest corner from its centre."""
    return max(np.hypot(x, y) for part in layout.robot for x, y in part)


def travel(layout, start, end):
    """A bound on how far any point of the robot moves."""
    change = along(start, end, 1)[1] - start
    return np.hypot(change[0], change[1]) + abs(change[2]) * farthest(layout)


def motion(layout, start, end, things, resolution=1e-4):
    """True if the motion is surely free, False if it surely is not, None if it comes nearer than the resolution.

    If the robot is farther from everything in the middle of the motion than it moves to either end, it is free.
    """
    half, middle = travel(layout, start, end) / 2, along(start, end, 2)[1]
    distance = clearance(layout, middle, things)
    if distance == 0 or clearance(layout, start, things) == 0 or clearance(layout, end, things) == 0:
        return False
    if distance > half:
        return True
    if half < resolution:
        return None
    parts = [motion(layout, *ends, things, resolution) for ends in ((start, middle), (middle, np.asarray(end)))]
    return False if False in parts else None if None in parts else True


def touching(layout, state, number):
    """Whether the robot touches an effector; None where the two are too near to a touch to tell."""
    robot, thing = body(layout, state[:3]), effector(layout, state, number)
    if shapely.distance(robot, thing) > TIE:
        return False
    return True if shapely.intersects(robot, thing.buffer(-TIE)) else None


def judge_plan(layout, states, actions, task, resolution=0.01):
    """What is wrong with a plan, in a sentence; nothing if it is right.

    No action beyond its limits, every state the sum of the one before and its action, no wall crossed along the way at
    the resolution, effectors left where they are, and the task done in the states, strictly.
    """
    states, actions = np.asarray(states), np.asarray(actions)
    if actions.shape != (len(states) - 1, 3) or not np.isfinite(states).all():
        return f"{len(states)} states do not go with actions {actions.shape}"
    if (states[:, 3:] != states[0, 3:]).any():
        return "an effector moved"
    things = obstacles(layout)
    shapely.prepare(things)
    for step, (state, action, after) in enumerate(zip(states, actions, states[1:], strict=False), 1):
        if not (np.abs(action) <= REACH + TIE).all():
            return f"step {step}: the action {action} is beyond the limits"
        change = along(state[:3], after[:3], 1)[1] - state[:3]
        if np.abs(change - action).max() > TIE:
            return f"step {step}: the action {action} does not lead to the next state"
        count = int(np.ceil(travel(layout, state[:3], after[:3]) / resolution)) + 1
        if shapely.intersects(bodies(layout, along(state[:3], after[:3], count)), things).any():
            return f"step {step}: the robot goes through a wall"
    asked = parse(task)
    numbers = [layout.terms.index(str(term)) for term in asked.terms()]
    holds = [[touching(layout, state, number) is not False for number in numbers] for state in states]
    return "" if satisfies(holds, asked) else f"the states do not do '{task}'"
