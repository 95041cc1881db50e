"""Reads the imports of a source tree and says which ones break the house's rules."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

# core ← language, worlds ← search ← planning ← demos ← domain ← envs, training ← subgoals ← baselines ← domains ←
# evaluation ← studio ← cli
FLOORS = [
    {"core"},
    {"language", "worlds"},
    {"search"},
    {"planning"},
    {"demos"},
    {"domain"},  # one file
    {"envs", "training"},
    {"subgoals"},
    {"baselines"},
    {"domains"},
    {"evaluation"},
    {"studio"},
    {"cli"},
]  # `reproductions/` stands on top of all: no room imports it
OUTSIDE = ("__init__.py", "__main__.py")  # the package's own open every room
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def complaints(package: Path) -> list[str]:
    """One sentence for each import under `package` that goes against the direction, and for each cycle."""
    found = []
    uses: dict[str, set[str]] = {}
    for file in sorted(package.rglob("*.py")):
        where = file.relative_to(package)
        if where.name in OUTSIDE and len(where.parts) == 1:
            continue
        room = where.parts[0].removesuffix(".py")
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
    try:
        TopologicalSorter(_modules(package)).prepare()
    except CycleError as error:
        found.append(f"modules import each other: {' → '.join(error.args[1])}")
    return found


def strangers(package: Path) -> list[str]:
    """One sentence for each file of a general room that names a concrete domain: a folder of `domains`."""
    homes = package / "domains"
    names = re.compile("|".join(sorted(one.name for one in homes.iterdir() if (one / "__init__.py").exists())), re.I)
    files = (file for file in sorted(package.rglob("*.py")) if homes not in file.parents)
    return [
        f"{file.relative_to(package)}: names '{found[0]}', which is a domain"
        for file in files
        if (found := names.search(file.read_text()))
    ]


def _modules(package: Path) -> dict[str, set[str]]:
    """By module, which others it imports, anywhere in it; one that is imported from a package counts itself."""
    files = {_module(file, package): file for file in package.rglob("*.py")}
    imports = {}
    for name, file in files.items():
        found = _imported(file)
        imports[name] = {one if one in files else one.rpartition(".")[0] for one in found} & set(files) - {name}
    return imports


def _module(file: Path, package: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


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
