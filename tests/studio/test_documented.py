"""The documentation of the API against the API: thousands of requests made from it, strange ones too."""

import os
import subprocess
import sys

import pytest

EXAMPLES = 60  # of each operation; `make test-slow` makes 10,000 requests


def requested(studio, examples):
    """What schemathesis says: no server error, and only answers that the document tells of."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{studio.address}openapi.json"]
    checks = "not_a_server_error,status_code_conformance,content_type_conformance"
    some = ["--max-examples", str(examples), "--phases", "fuzzing", "--checks", checks, "--generation-deterministic"]
    some += ["--exclude-path", "/train", "--request-timeout", "90", "--suppress-health-check", "all", "--no-color"]
    done = subprocess.run(
        [*command, *some], capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"}
    )
    return done.returncode, done.stdout + done.stderr


def test_no_server_error(studio):
    code, told = requested(studio, 5)
    assert code == 0, told[-5000:]


@pytest.mark.slow
def test_no_server_error_in_ten_thousand_requests(studio):
    code, told = requested(studio, 600)
    assert code == 0, told[-5000:]
