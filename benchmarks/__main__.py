"""`python -m benchmarks [NAME ...]`: run the benchmarks, all or the named ones, and keep their figures as JSON."""

import json
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.harness import keep, pieces_of

KNOWN = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def main() -> None:
    """Run what was asked for."""
    names = sys.argv[1:] or KNOWN
    for name in names:
        if name not in KNOWN:
            sys.exit(f"error: no benchmark '{name}'; there are: {', '.join(KNOWN)}")
    for name in names:
        figures = import_module(f"benchmarks.bench_{name}").run()
        print(f"{name}: {json.dumps(figures, indent=2)}\nkept in {keep(name, figures)}", flush=True)
        pieces_of(name).unlink(missing_ok=True)


main()
