"""All parts of the page in Crafting World, as somebody uses them."""

import pytest
from tests.browser.visit import AXE, PARTS, moves
from tests.studio.conftest import TASK

from rsg.demos import Store
from rsg.demos.corrections import corrections
from rsg.domain import find


def test_instruct(crafting, visit):
    there = visit(crafting).open("instruct")
    there.page.fill("#instruct-field input", "")
    there.page.locator("#instruct-field input").press_sequentially("grab-axe then mine-w")
    assert there.texts("#instruct-field li") == ["mine-wood"]
    there.page.keyboard.press("ArrowDown")
    there.page.keyboard.press("Enter")
    assert there.page.input_value("#instruct-field input").strip() == TASK

    there.say("instruct", "grab-axe then mine-wod")
    there.page.click("#instruct-field .told button")  # what was meant is offered below a caret
    assert there.page.input_value("#instruct-field input") == TASK
    there.wait("() => !document.querySelector('#instruct-field .told').children.length")

    there.page.locator("#instruct-starts button").first.click()
    assert there.plan()
    assert "the plan does what was asked" in there.text("#instruct-told")
    there.hears("grab-axe, then mine-wood")
    assert there.texts("#instruct-timeline .legend b") == ["grab-axe", "mine-wood"]
    assert there.texts("#instruct-machine .node.now") != []
    there.page.keyboard.press("Tab")
    there.page.locator("#instruct-stage .scrub").press("End")
    at, last = there.text("#instruct-stage .count").split(" / ")
    assert at == last == there.text("#instruct-told .tile b >> nth=0")
    assert there.texts("#instruct-machine .node.now") == ["done"]
    there.page.locator("#instruct-timeline .part").nth(1).click()
    assert there.texts("#instruct-machine .node.now") == ["mine-wood"]


def test_only_the_goal_is_named_and_a_map_is_drawn(crafting, visit):
    there = visit(crafting).open("instruct")
    there.page.click("label[for=mode-goal]")
    there.page.select_option("#instruct-goal select", "mine-wood")
    assert there.plan()
    assert "On the way" in there.text("#instruct-told")

    there.page.click("#instruct-stage details summary")
    there.page.click("#instruct-starts summary")
    there.page.locator("#instruct-starts .chip label", has_text="water").click()
    stage = there.page.locator("#instruct-stage canvas.stage")
    there.wait("() => document.querySelector('#instruct-stage .words').textContent")
    before = there.text("#instruct-stage .words")
    stage.focus()
    for key in ("ArrowUp", "ArrowLeft", "Enter"):
        there.page.keyboard.press(key)
    changed = "([before]) => document.querySelector('#instruct-stage .words').textContent !== before"
    there.wait(changed, before)
    there.page.locator("#instruct-starts .chip label", has_text="agent").click()
    before, box = there.text("#instruct-stage .words"), stage.bounding_box()
    stage.click(position={"x": 0.97 * box["width"], "y": 0.03 * box["height"]})
    there.wait(changed, before)


def test_no_plan_says_why_and_a_long_search_is_cancelled(crafting, visit):
    there = visit(crafting).open("instruct")
    there.page.select_option("#instruct-starts select", "large-field")
    there.page.uncheck("#instruct-starts input[type=checkbox]")
    there.say("instruct", " then ".join(["grab-axe then mine-wood then grab-axe"] * 3))
    assert not there.plan()
    assert "No plan" in there.text("#instruct-told")
    there.page.click("#instruct-told button")  # search longer
    there.page.click("#instruct-cancel")
    there.page.wait_for_selector("#instruct-cancel", state="hidden", timeout=2000)
    there.hears("planning was cancelled")
    there.say("instruct", "grab-axe")
    there.page.check("#instruct-starts input[type=checkbox]")
    there.page.locator("#instruct-starts button").first.click()
    assert there.plan()  # nothing is blocked


def test_show_teach_and_plan_with_the_new_word(crafting, visit):
    domain = find("crafting")
    there = visit(crafting).open("show")
    count = len(Store(crafting.demos))
    there.shows(domain, TASK, TASK)
    there.page.wait_for_selector("#show-ranked .number")
    there.page.wait_for_selector("#show-ranked button")
    there.page.wait_for_selector("#show-timeline .legend li")
    there.page.keyboard.press("u")
    there.page.reload()  # nothing is lost
    there.page.wait_for_selector("#show-moves button")
    there.hears("restored")
    done = there.walk()["actions"]
    assert there.text("#show-count") == moves(len(done))
    there.press(domain, ["toggle"])
    there.keeps()
    kept = Store(crafting.demos)
    assert (len(kept), kept[count].task, len(kept[count])) == (count + 1, TASK, len(done) + 1)
    assert domain.truth(domain.world(kept[count].setting), kept[count].states[-1:], ["mine-wood"]).all()

    for _ in range(3):
        there.shows(domain, "grab-axe", "fetch-it")
        there.wait("() => document.getElementById('show-new').textContent.includes('never learned that')")
        there.keeps()
    there.open("teach")
    there.page.click("#teach-train")
    there.page.wait_for_selector("#teach-done button")
    assert "fetch-it" in there.text("#teach-done")
    there.page.locator("#teach-done button", has_text="fetch-it").click()
    there.page.wait_for_selector("#instruct:not([hidden])")
    there.open("instruct")
    assert there.page.input_value("#instruct-field input") == "fetch-it"
    while not there.plan():  # what the word means is not known to the world: it may not be on this map
        there.page.locator("#instruct-starts button").first.click()
    assert "fetch-it" in there.status


def test_review(crafting, visit):
    there = visit(crafting).open("review")
    number = len(Store(crafting.demos))
    assert there.text("#review-count") == f"{number} recordings"
    there.page.fill("#review-filter", "pickaxe")
    there.wait("() => document.getElementById('review-count').textContent.startsWith('4 of')")
    there.page.locator(".row-item").nth(1).click()
    there.wait("() => document.getElementById('review-title').textContent === 'Recording 13'")
    there.page.wait_for_selector(".handle")
    first = there.page.locator(".handle").first
    assert there.page.locator(".handle").count() == 1  # the last subgoal ends where the recording does
    last = int(first.get_attribute("aria-valuemax")) + 1
    first.focus()
    there.page.keyboard.press("Home")
    assert first.get_attribute("aria-valuenow") == "1"
    box, bar = first.bounding_box(), there.page.locator("#review-timeline canvas").bounding_box()
    there.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    there.page.mouse.down()
    there.page.mouse.move(bar["x"] + bar["width"] * 2 / last, box["y"] + 5, steps=3)
    there.page.mouse.up()
    end = int(first.get_attribute("aria-valuenow"))
    assert end != 1
    there.page.click("#review-keep")
    there.hears("is kept")
    [(episode, kept)] = corrections(crafting.demos).items()
    assert kept.ends == (("grab-key", end), ("grab-pickaxe", last))
    assert "corrected" in there.text(".row-item[aria-selected=true]")
    there.page.click("#review-forget")
    there.hears(f"recording {episode} is as it was recorded again")
    assert corrections(crafting.demos) == {}


def test_inside(crafting, visit):
    there = visit(crafting).open("inside")
    assert any("axe is held" in one for one in there.texts("#inside-columns .readings li"))
    there.page.select_option("#inside-term select", "grab-axe")
    there.wait("() => document.querySelector('#inside-heat figcaption').textContent.includes('grab-axe')")
    there.page.select_option("#inside-other", "again")
    there.wait("() => document.querySelectorAll('#inside .matrix').length === 2")
    terms = there.texts("#inside .matrix >> nth=0 >> tbody th")
    row, column = terms.index("mine-wood"), terms.index("grab-axe")
    there.page.locator("#inside .matrix").first.locator("tbody tr").nth(row).locator("td").nth(column).focus()
    assert "grab-axe came before mine-wood" in there.text("#inside .evidence >> nth=0")


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("phone", "dark")])
def test_any_window_will_do_and_axe_finds_nothing_serious(crafting, visit, size, scheme):
    there = visit(crafting, size=size, scheme=scheme)
    for part in PARTS:
        there.open(part)
        if part == "instruct":
            assert there.plan()
        assert there.too_wide() <= 0, part
        if AXE.exists():
            assert there.faults() == [], part
    if not AXE.exists():
        pytest.skip("axe is not there, so nobody looked whether everybody can use the page: make axe")
