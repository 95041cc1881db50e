import os

import numba
import pytest
from hypothesis import settings

from rsg.cli.main import main

for size in ("COLUMNS", "LINES"):  # pytest sets these in its workers: tables and rooms would be small
    os.environ.pop(size, None)
settings.register_profile("uncompiled", max_examples=10, deadline=None)
if numba.config.DISABLE_JIT:  # that pass is for coverage: a test that does not say how many examples it wants has few
    settings.load_profile("uncompiled")


@pytest.fixture
def rsg(capsys):
    """Run the command in this process; gives exit code, stdout, stderr."""

    def run(*words):
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return run


def pytest_terminal_summary(terminalreporter):
    """Say so if nobody looked at the page of the studio, though that was asked for."""
    every = (getattr(one, "nodeid", "") for reports in terminalreporter.stats.values() for one in reports)
    if not any(name.startswith("tests/browser/") for name in every):
        return
    from tests.browser.visit import AXE, CHROMIUM

    if not CHROMIUM:
        terminalreporter.write_line("The page of the studio was NOT tested: there is no chromium.", red=True)
    elif not AXE.exists():
        terminalreporter.write_line("Nobody looked whether everybody can use the studio: `make axe`.", red=True)
