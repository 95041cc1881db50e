"""The documentation of the API against the API: thousands of requests made from it, strange ones too."""

import os
import subprocess
import sys

import pytest


def requested(studio, examples, folder):
    """What schemathesis says: no server error, and only answers that the document tells of."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{studio.address}openapi.json"]
    checks = "not_a_server_error,status_code_conformance,content_type_conformance"
    some = ["--max-examples", str(examples), "--phases", "fuzzing", "--checks", checks, "--generation-deterministic"]
    some += ["--exclude-path", "/train", "--request-timeout", "90", "--suppress-health-check", "all", "--no-color"]
    silent = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([*command, *some], capture_output=True, text=True, env=silent, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_no_server_error(studio, tmp_path):
    code, told = requested(studio, 5, tmp_path)
    assert code == 0, told[-5000:]


@pytest.mark.slow
def test_no_server_error_in_ten_thousand_requests(studio, tmp_path):
    code, told = requested(studio, 600, tmp_path)
    assert code == 0, told[-5000:]
