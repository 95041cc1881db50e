"""The same motion queries for OMPL and for us: `python -m benchmarks.ompl_peer [queries]`.

See `reproductions.motion_peers`; here OMPL checks poses with shapely too. Needs the extra `[ompl]`, and shapely.
"""

import json
import sys
from typing import Any

import shapely
from shapely import affinity

from benchmarks.harness import keep
from reproductions.motion_peers import WORLD, Free, compare


def shapely_free() -> Free:
    """What somebody writes who has shapely at hand."""
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


if __name__ == "__main__":
    figures = compare(*map(int, sys.argv[1:]), checks={"shapely poses": shapely_free()})
    print(json.dumps(figures, indent=2))
    print(f"kept in {keep('ompl_peer', figures, 'python -m benchmarks.ompl_peer')}", flush=True)
