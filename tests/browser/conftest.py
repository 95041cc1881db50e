"""Studios of three domains, and a browser that is there for the tests of one file at a time."""

from shutil import copytree

import pytest
from tests.browser.visit import CHROMIUM, Visitor, chromium
from tests.studio.conftest import Studio, begin, trained  # noqa: F401 - fixtures


@pytest.fixture(scope="module")  # playwright has an event loop while it runs, which other tests could not stand
def browser():
    if not CHROMIUM:
        pytest.skip("there is no chromium here")
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser):
    """Opens pages; none of them may have complained."""
    opened = []

    def go(studio, **how):
        opened.append(Visitor(browser, studio.address, **how))
        return opened[-1]

    yield go
    for one in opened:
        one.close()
    assert [said for one in opened for said in one.complaints] == []


@pytest.fixture(scope="session")
def crafting(trained, tmp_path_factory):  # noqa: F811
    """A studio of Crafting World with two runs and their recordings."""
    folder = tmp_path_factory.mktemp("crafting")
    second = copytree(trained, folder / "again")
    demos = copytree(trained.parent / "shown", folder / "mine")
    found = Studio(folder, trained, second, "--demos", demos)
    found.demos = demos
    yield found
    found.close()
