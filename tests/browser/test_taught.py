"""What takes long: a word taught by ten demonstrations and judged on fifty maps, and a store of any size."""

import time

import numpy as np
import pytest
from tests.browser.visit import Visitor
from tests.studio.conftest import Studio

from rsg.demos import Recipe
from rsg.domain import find, make_demonstrations

pytestmark = pytest.mark.slow
WORD, MEANT, MAPS, FIRST = "fetch-it", "grab-key", 50, 5000
PER_TASK = 400  # demonstrations of each of the paper's 52 tasks to train on


def test_ten_demonstrations_teach_a_word(begin, trained, visit, capsys):
    domain, studio = find("crafting"), begin(trained)
    there = visit(studio).open("show")
    begun = time.monotonic()
    for _ in range(10):
        there.shows(domain, MEANT, WORD)
        there.keeps()
    there.open("teach")
    there.page.click("#teach-train")
    there.page.locator("#teach-done button", has_text=WORD).click()
    took = time.monotonic() - begun
    there.open("instruct")
    assert there.page.input_value("#instruct-field input") == WORD
    there.page.uncheck("#instruct-starts input[type=checkbox]")  # no world knows what the word means
    right, number = [], FIRST
    while len(right) < MAPS:
        number += 1
        with there.page.expect_response("**/start") as started:
            there.page.fill("#instruct-starts input[type=number]", str(number))
            there.page.keyboard.press("Tab")
        scene = started.value.json()
        world, state = domain.world(scene["setting"]), np.array(scene["start"], dtype=np.uint8)
        if domain.expert(world, state, MEANT, np.random.default_rng(0)):  # else nobody can do it there
            right.append(there.plan() and done(domain, there.played))
    with capsys.disabled():
        print(f"\n'{WORD}', shown ten times and learned in {took:.0f} s, is done on {sum(right)} of {MAPS} fresh maps")
    assert sum(right) >= 0.9 * MAPS


def done(domain, played):
    """Whether what the page plays does what was meant, by the rules of the world."""
    world, state = domain.world(played["setting"]), np.array(played["start"], dtype=np.uint8)
    for name in played["actions"]:
        state = world.step(state[None], [world.actions.index(name)])[0]
    return bool(domain.truth(world, state[None], [MEANT])[0, 0])


def test_a_large_store_is_there_at_once(trained, browser, tmp_path, capsys):
    recipe = Recipe("crafting", "train", PER_TASK)
    count = len(make_demonstrations(recipe, tmp_path / "large", workers=2))
    studio = Studio(tmp_path, trained, "--demos", tmp_path / "large")
    there, took = Visitor(browser, studio.address).open("instruct"), []
    for _ in range(3):
        begun = time.monotonic()
        there.open("review")
        there.page.wait_for_selector("#review-stage canvas[style]")
        took.append(time.monotonic() - begun)
        assert there.text("#review-count") == f"{count:,} recordings"
        there.page.reload()
        there.page.click("#tab-instruct")
    studio.close()
    with capsys.disabled():
        print(f"\n{count:,} recordings, list and first one on screen: {', '.join(f'{one:.2f}' for one in took)} s")
    assert min(took) <= 1
