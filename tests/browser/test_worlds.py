"""The same page in other worlds: a continuous one, and an environment that another package brought."""

import pytest

from rsg.demos import Store
from rsg.demos.corrections import corrections

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "term", "last"), [("playroom", "ring-bell", "play-with-ball"), ("doorkey", "pick-up-key", "open-door")]
)
def test_another_world(name, term, last, request, visit):
    studio = request.getfixturevalue(name)
    count = len(Store(studio.demos))
    there = visit(studio).open("instruct")
    there.say("instruct", term)
    assert there.plan()
    assert "Played in the true world, the plan does what was asked" in there.text("#instruct-told")

    there.open("show").shows(studio.domain, term, term)
    there.page.wait_for_selector("#show-ranked button")
    there.page.wait_for_selector("#show-timeline .legend li")
    there.keeps()
    kept = Store(studio.demos)[count]
    world = studio.domain.world(kept.setting)
    assert kept.task == term
    assert studio.domain.truth(world, kept.states[-1:], [term]).all()

    there.open("review")
    there.page.locator("#review-list .pages").press("End")
    there.wait("([title]) => document.getElementById('review-title').textContent === title", f"Recording {count}")
    there.page.wait_for_selector("#review-timeline .legend li")
    there.say("review", f"{term} or {last}")
    there.page.wait_for_selector("#review-keep:enabled")
    there.page.click("#review-keep")
    there.hears("is kept")
    assert corrections(studio.demos)[count].task == f"{term} or {last}"

    there.open("inside")
    if name == "playroom":
        there.page.select_option("#inside-term select", term)
        there.wait("([term]) => document.querySelector('#inside-heat figcaption').textContent.includes(term)", term)
    else:
        assert any(term in one for one in there.texts("#inside-columns .readings li"))
    assert there.texts("#inside .matrix tbody th") != []


def test_a_wrapped_environment_is_taught_a_word(doorkey, visit):
    there = visit(doorkey).open("show")
    for _ in range(3):
        there.shows(doorkey.domain, "pick-up-key", "take-it")
        there.keeps()
    there.open("teach")
    there.page.click("#teach-train")
    there.page.locator("#teach-done button", has_text="take-it").click()
    assert there.open("instruct").plan()
