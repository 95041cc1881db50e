"""The same motion queries for OMPL and for us: `python -m benchmarks.ompl_peer [queries]`.

See `reproductions.motion_peers`. Needs the extra `[ompl]`, and shapely.
"""

from __future__ import annotations

import json
import sys

from benchmarks.harness import keep
from reproductions.motion_peers import compare

if __name__ == "__main__":
    figures = compare(*map(int, sys.argv[1:]))
    print(json.dumps(figures, indent=2))
    print(f"kept in {keep('ompl_peer', figures, 'python -m benchmarks.ompl_peer')}", flush=True)
