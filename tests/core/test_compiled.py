"""Kernels without counted references, kernels for kernels, and kernels made from templates."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import rsg
from rsg.core.compiled import compiled, inlined, inner, specialised

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
    assert specialised(template, compiled, hook=given)(np.arange(4.0)) == 6 * factor


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


def somewhere_else(tmp_path, code, **more):
    """What code says where neither the package nor the home folder can be written: files are in the place of both."""
    package = shutil.copytree(Path(rsg.__file__).parent, tmp_path / "rsg", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    paths = {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home")}
    env = {**os.environ, **paths, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(tmp_path / "tmp"), **more}
    (tmp_path / "tmp").mkdir()
    env.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, *code], capture_output=True, text=True, env={**env, **more}, cwd=tmp_path)
    return done.returncode, done.stdout, done.stderr


KEPT = "from rsg.search.kernels import heap; from rsg.core.compiled import kept_in; print(kept_in())"


@pytest.mark.parametrize("named", [False, True])
def test_kernels_are_kept_in_a_temporary_folder_if_need_be(tmp_path, named):
    more = {"NUMBA_CACHE_DIR": str(tmp_path / "home" / "cache")} if named else {}
    code, out, err = somewhere_else(tmp_path, ["-c", KEPT], **more)
    assert code == 0
    assert err.count("\n") == 1
    assert err.startswith(
        "compiled kernels cannot be kept beside the source nor in your home folder; they are kept in "
    )
    folder = Path(out.strip())
    assert folder.parent == tmp_path / "tmp"
    assert (folder.stat().st_mode & 0o777) == 0o700


def test_somebody_elses_folder_is_not_used_for_kernels(tmp_path):
    trap = (
        'import os, tempfile; d = f"{tempfile.gettempdir()}/rsg-kernels-{os.getuid()}"; os.mkdir(d); os.chmod(d, 0o777)'
    )
    code, out, _ = somewhere_else(tmp_path, ["-c", f"{trap}\n{KEPT}\nassert str(kept_in()) != d"])
    assert code == 0
    assert (Path(out.strip()).stat().st_mode & 0o777) == 0o700


def test_the_command_runs_on_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "nowhere").write_text("")
    nowhere = {"TMPDIR": str(tmp_path / "nowhere")}
    code = "import tempfile, sys; tempfile.tempdir = sys.argv.pop(1); from rsg.cli.main import main; main(sys.argv[1:])"
    done = somewhere_else(tmp_path, ["-c", code, nowhere["TMPDIR"], "doctor"])
    assert done[0] == 0
    assert "compile cache  none: each start compiles" in done[1]
    assert done[2].count("\n") == 1
    assert "set NUMBA_CACHE_DIR to a folder" in done[2]
