from pathlib import Path

import pytest
from tests.conftest import rsg  # noqa: F401, a fixture

HERE = Path(__file__).parent
QUICK = (
    "test_command",
    "test_layered",
    "test_pddl",
    "test_quotes",
    "test_reproduce",
)  # the harness, kernels on kernels, quotes


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Experiments are run whole, if only briefly: these tests are left to `make test-slow`."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.path.stem not in QUICK:
            item.add_marker(pytest.mark.slow)
