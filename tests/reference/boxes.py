"""A point among boxes: the simplest continuous world, in any number of dimensions, some of which may be angles.

A square that does not turn is a point among fattened walls, so this is all that tests of motion planning need.
"""

import numpy as np

from rsg.core.compiled import compiled


class BoxWorld:
    """A point moves among closed boxes; what else is in the state is in nobody's way.

    Args:
        size: `[D]` the largest value of each number of a pose; the least is 0.
        boxes: `[B, 2, D]` the corners of each box.
        periodic: `[D]` which numbers come round again.
        reach: `[D]` how far an action goes.
        cost: of an action.
    """

    def __init__(self, size, boxes=(), periodic=None, reach=None, cost=0.1):
        self.high = np.asarray(size, dtype=np.float64)
        self.low = np.zeros_like(self.high)
        self.period = self.high * (np.zeros(len(size)) if periodic is None else np.asarray(periodic))
        self.reach = np.ones_like(self.high) if reach is None else np.asarray(reach, dtype=np.float64)
        self.boxes = np.array(boxes, dtype=np.float64).reshape(-1, 2, len(size))
        self.cost = cost

    @property
    def tables(self):
        return self.high, self.period, self.boxes

    def step(self, states, actions):
        ends = np.array(states)
        poses = ends[:, : len(self.high)]
        poses += np.clip(actions, -self.reach, self.reach)
        turning = self.period > 0
        poses[:, turning] %= self.period[turning]
        return np.where(self.clear(states, poses)[:, None], ends, states)

    def free(self, states):
        return self.clear(states, np.asarray(states)[:, : len(self.high)])

    def clear(self, states, ends):
        starts = np.ascontiguousarray(np.asarray(states)[:, : len(self.high)])
        return all_clear(self.tables, starts, np.ascontiguousarray(ends))

    def encode(self, states):
        return np.asarray(states)

    def render(self, state):
        return np.zeros((1, 1, 3), dtype=np.uint8)

    def sample(self, rng, count):
        return rng.random((count, len(self.high))) * self.high


class CompiledBoxWorld(BoxWorld):
    """The same, with its motions as a kernel."""

    @property
    def compiled_motion(self):
        return segment_clear, self.tables


@compiled
def segment_clear(tables, start, end):
    """Whether the straight way from start to end, the shorter way round, stays inside and outside of all boxes."""
    size, period, boxes = tables
    count = len(size)
    way = np.empty(count)
    for d in range(count):
        way[d] = end[d] - start[d]
        if period[d] > 0:
            way[d] -= period[d] * np.round(way[d] / period[d])
        elif not (0 <= start[d] <= size[d] and 0 <= end[d] <= size[d]):
            return False
        if not np.isfinite(way[d]):
            return False
    for box in range(len(boxes)):
        for code in range(3**count):  # each periodic number may have gone round once, either way
            first, last, rest, real = 0.0, 1.0, code, True
            for d in range(count):
                shift = (rest % 3 - 1) * period[d]
                real = real and (period[d] > 0 or rest % 3 == 1)
                rest //= 3
                least, most = boxes[box, 0, d] + shift - start[d], boxes[box, 1, d] + shift - start[d]
                if way[d] == 0:
                    if least > 0 or most < 0:
                        last = -1.0
                else:
                    one, other = least / way[d], most / way[d]
                    first, last = max(first, min(one, other)), min(last, max(one, other))
            if real and first <= last:
                return False
    return True


@compiled
def all_clear(tables, starts, ends):
    clear = np.empty(len(starts), dtype=np.bool_)
    for i in range(len(starts)):
        clear[i] = segment_clear(tables, starts[i], ends[i])
    return clear


def four_rooms(kind=CompiledBoxWorld, margin=0.9, turning=True):
    """The plan of the Playroom for a square robot that does not mind its angle."""
    walls = [
        [[0, 9.75], [5, 10.25]],
        [[8, 9.75], [16, 10.25]],
        [[19, 9.75], [20, 10.25]],
        [[9.75, 0], [10.25, 4]],
        [[9.75, 7], [10.25, 13]],
        [[9.75, 16], [10.25, 20]],
    ]
    boxes = np.array(walls) + np.array([[[-margin], [margin]]]).reshape(1, 2, 1)
    if not turning:
        return kind([20.0, 20.0], boxes)
    turn = np.broadcast_to([[[0.0], [2 * np.pi]]], (len(walls), 2, 1))
    return kind([20.0, 20.0, 2 * np.pi], np.concatenate([boxes, turn], axis=2), [False, False, True])


class Touching:
    """Terms `touch-0`, `touch-1`, ...: the point is near a place `[2]` that the rest of the state tells, by number.

    Args:
        world: a BoxWorld.
        radius: how near.
        sharpness: of the classifiers: None for certain ones, or how fast log odds grow towards the place.
    """

    def __init__(self, world, radius=1.0, sharpness=None):
        self.size, self.radius, self.sharpness = len(world.low), radius, sharpness

    def away(self, states, terms):
        places = [self.size + 2 * int(term.removeprefix("touch-")) for term in terms]
        return np.stack([np.hypot(*(states[:, :2] - states[:, at : at + 2]).T) for at in places], axis=1)

    def truth(self, states, terms):
        return self.away(np.asarray(states), terms) <= self.radius

    def goal_fn(self, world, terms, state):
        def goals(states):
            if self.sharpness is None:
                holds = self.truth(states, terms)
                return np.where(holds, 0.0, -np.inf), np.where(holds, -np.inf, 0.0)
            odds = self.sharpness * (self.radius - self.away(states, terms))
            return -np.logaddexp(0, -odds), -np.logaddexp(0, odds)

        return goals
