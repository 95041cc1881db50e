import subprocess
import sys

import pytest

import rsg


def test_every_public_name_loads():
    for name in rsg.__all__:
        assert getattr(rsg, name) is not None
        assert name in dir(rsg)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = rsg.nonsense


@pytest.mark.parametrize("code", ["import rsg", "import rsg.cli.main"])
def test_importing_loads_nothing_heavy(code):
    heavy = {"torch", "numpy", "numba", "matplotlib", "gymnasium", "lark", "minari"}
    script = f"{code}; import sys; print(*({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(("arguments", "limit"), [(["-c", "import rsg"], 0.3), (["-m", "rsg", "--help"], 0.5)])
def test_starting_is_quick(arguments, limit):
    """CPU seconds of the best of five starts: the wall clock also measures what else the machine does."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
    )
    command = [sys.executable, "-c", script, sys.executable, *arguments]
    seconds = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(5)]
    assert min(seconds) <= limit
