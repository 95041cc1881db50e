"""Kernels without counted references, kernels for kernels, and kernels made from templates."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import rsg
from rsg.core.compiled import inlined, inner, specialised

ROOT = Path(__file__).parents[2]
UNCOUNTED = ("bare", "inner", "inlined")
MAKES = {"arange", "copy", "concatenate", "empty", "empty_like", "full", "ones", "zeros", "zeros_like"}
KERNEL = """
import numpy as np
from given import scaled
from rsg.core.compiled import specialised

def total(x):
    sum = 0.0
    for i in range(len(x)):
        sum += hook(x, i)
    return sum

print(specialised(total, hook=scaled)(np.arange(4.0)))
"""
HOOK = """
import numba
from neighbour import times

@numba.njit
def scaled(x, i):
    return times(x[i])
"""


def hook(x, i):
    """What templates call."""


def template(x):
    total = 0.0
    for i in range(len(x)):
        total += hook(x, i)
    return total


@numba.njit
def makes_an_array(x, i):
    return np.full(3, x[i]).sum()


@inner
def twice(x, i):
    return 2 * x[i]


@inlined
def three_times(x, i):
    return 3 * x[i]


@pytest.mark.parametrize(("given", "factor"), [(makes_an_array, 3), (twice, 2), (three_times, 3)])
def test_a_template_with_a_hook_of_anyones(given, factor):
    assert specialised(template, hook=given)(np.arange(4.0)) == 6 * factor
    assert specialised(template, inline=True, makes_arrays=True, hook=given)(np.arange(4.0)) == 6 * factor


@pytest.mark.parametrize("kernel", [twice, three_times])
def test_what_is_for_kernels_says_so_to_python(kernel):
    specialised(template, hook=kernel)(np.arange(2.0))
    with pytest.raises(TypeError, match="Python cannot call it: make it `bare`"):
        kernel(np.arange(2.0), 0)


def test_a_kernel_is_made_anew_when_a_neighbour_of_its_hook_changes(tmp_path):
    """The kernel itself is kept on disk, and numba does not look into the files that hooks call functions of."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (tmp_path / "made.py").write_text(KERNEL)
    (hooks / "given.py").write_text(HOOK)
    for factor in (2, 3):
        (hooks / "neighbour.py").write_text(f"import numba\n\n@numba.njit\ndef times(x):\n    return {factor} * x\n")
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONDONTWRITEBYTECODE": "1"}
        paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(hooks), *sys.path])}
        run = [sys.executable, "made.py"]
        said = subprocess.run(run, cwd=tmp_path, env=env | paths, capture_output=True, text=True, check=True).stdout
        assert float(said) == 6.0 * factor


def kernels():
    """Every kernel of the project: its file, its decorator, its syntax tree."""
    for file in [*Path(rsg.__file__).parent.rglob("*.py"), *(ROOT / "reproductions").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Name) and decorator.id in ("compiled", *UNCOUNTED):
                        yield file, decorator.id, node


def called(node):
    calls = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
    return {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}


def test_bare_kernels_are_given_no_new_arrays():
    """Nobody would let go of them. A kernel that makes arrays and gives something back may give them back."""
    every = list(kernels())
    makers = {node.name for _, kind, node in every if kind == "compiled" and called(node) & MAKES}
    makers = {name for name in makers if any(node.name == name and gives(node) for _, _, node in every)}
    wrong = [
        f"{file}: {node.name}"
        for file, kind, node in every
        if kind in UNCOUNTED and called(node) & (makers | MAKES) - {"copy"}
    ]
    assert makers
    assert not wrong


def gives(node):
    """Whether a function gives back more than nothing or a number of some kind."""
    told = ast.unparse(node.returns) if node.returns else "Any"
    return told not in ("None", "int", "float", "bool")
