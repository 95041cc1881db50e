"""The extras: packages that some commands need and that are not installed by default."""

from importlib.util import find_spec

EXTRAS = {  # extra: what it brings, the modules that show it is there
    "formats": ("demonstrations of Minari, LeRobot and robomimic", ("minari", "pyarrow", "h5py")),
    "onnx": ("networks for programs without rsg, as ONNX", ("onnx", "onnxruntime", "onnxscript")),
    "studio": ("the page of rsg studio, and its service", ("fastapi", "uvicorn")),
    "environments": ("MiniGrid and Overcooked, worlds that others wrote", ("minigrid", "overcooked_ai_py")),
    "ogbench": ("OGBench and change points, for a benchmark", ("ogbench", "ruptures")),
    "ompl": ("OMPL motion planners, as a peer", ("ompl",)),
    "pddl": ("Fast Downward, as a peer", ("unified_planning", "up_fast_downward")),
    "dev": ("tests, linters, docs", ("pytest", "hypothesis", "mypy", "mkdocs")),
}


def installed(name: str) -> bool:
    """Whether an extra is there."""
    return all(map(there, EXTRAS[name][1]))


def there(module: str) -> bool:
    """Whether a package can be imported."""
    return find_spec(module) is not None


def command(*names: str) -> str:
    """What installs extras.

    >>> command("pddl", "ompl")
    "pip install -c constraints.txt -e '.[pddl,ompl]'"
    """
    return f"pip install -c constraints.txt -e '.[{','.join(names)}]'"
