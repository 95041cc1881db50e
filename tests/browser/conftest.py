"""Studios of three domains, and a browser that is there for the tests of one file at a time."""

from shutil import copytree

import pytest
from tests.browser.visit import CHROMIUM, ROOT, Visitor, chromium
from tests.studio.conftest import Studio, begin, trained  # noqa: F401 - fixtures

import rsg
from rsg.demos import Recipe
from rsg.domain import find, make_demonstrations

DOORKEY = f"{ROOT / 'examples/doorkey_wrapped.py'}:DoorKey"


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
    found = Studio(folder, trained, second, "--demos", demos, "--workers", 1)
    found.demos = demos
    yield found
    found.close()


@pytest.fixture(scope="session")
def playroom(tmp_path_factory):
    """A studio of Playroom, whose networks learned a little."""
    recipe = Recipe("playroom", "custom", 6, tasks=("ring-bell", "play-with-ball", "ring-bell then play-with-ball"))
    found = _of(find("playroom", tasks=recipe.tasks), recipe, tmp_path_factory.mktemp("playroom"), {"steps": 40})
    yield found
    found.close()


@pytest.fixture(scope="session")
def doorkey(tmp_path_factory):
    """A studio of an environment of another package, wrapped."""
    pytest.importorskip("minigrid")
    folder = tmp_path_factory.mktemp("doorkey")
    found = _of(find(DOORKEY), Recipe("DoorKey", "train", 4), folder, {}, "--world", DOORKEY)
    yield found
    found.close()


def _of(domain, recipe, folder, settings, *words):
    store = make_demonstrations(recipe, folder / "mine", domain=domain)
    rsg.learn(store, domain, folder / "run", settings=settings)
    found = Studio(folder, folder / "run", "--demos", folder / "mine", *words)
    found.demos, found.domain = folder / "mine", domain
    return found
