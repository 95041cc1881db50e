import subprocess
import sys

from rsg.core.random import stream


def test_names_give_independent_streams():
    draws = {name: stream(0, *name).integers(2**60) for name in [(), ("a",), ("b",), ("a", 0), ("a", 1)]}
    assert len(set(draws.values())) == len(draws)


def test_the_same_in_another_process_and_hash_seed():
    script = "from rsg.core.random import stream; print(stream(7, 'maps', 3).integers(2**60))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{stream(7, 'maps', 3).integers(2**60)}\n"}
