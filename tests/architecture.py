"""Reads the imports of a source tree and says which ones break the house's rules."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

# core ← language, worlds ← search ← planning ← demos ← envs, training ← subgoals ← baselines ← evaluation ← studio, cli
FLOORS = [
    {"core"},
    {"language", "worlds"},
    {"search"},
    {"planning"},
    {"demos"},
    {"envs", "training"},
    {"subgoals"},
    {"baselines"},
    {"evaluation"},
    {"studio", "cli"},
]  # `reproductions/` stands on top of all: no room imports it
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def complaints(package: Path) -> list[str]:
    """One sentence for each import under `package` that goes against the direction, and for each cycle of rooms."""
    found = []
    uses: dict[str, set[str]] = {}
    for file in sorted(package.rglob("*.py")):
        where = file.relative_to(package)
        if len(where.parts) == 1:  # the package's own __init__ opens every room
            continue
        room = where.parts[0]
        if room not in FLOOR:
            found.append(f"{where}: the house has no room '{room}'")
            continue
        if any(name.split(".")[0] == "reproductions" for name in _imported(file)):
            found.append(f"{where}: '{room}' must not import experiments")
        for other in _rooms_imported(file, package.name):
            uses.setdefault(room, set()).add(other)
            if other not in FLOOR:
                found.append(f"{where}: imports '{other}', which is not a room")
            elif other != room and FLOOR[other] >= FLOOR[room]:
                found.append(f"{where}: '{room}' must not import '{other}'")
    try:
        TopologicalSorter({room: others - {room} for room, others in uses.items()}).prepare()
    except CycleError as error:
        found.append(f"rooms import each other: {' → '.join(error.args[1])}")
    return found


def _rooms_imported(file: Path, package: str) -> set[str]:
    names = _imported(file)
    rooms = {name for name in names if name.startswith("a relative import")}
    return rooms | {name.split(".")[1] for name in names if name.startswith(f"{package}.")}


def _imported(file: Path) -> set[str]:
    """All that a file imports, anywhere in it, by its full name."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            relative = f"a relative import in line {node.lineno}"
            names |= {relative if node.level else f"{node.module}.{alias.name}" for alias in node.names}
    return names
