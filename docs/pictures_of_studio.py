"""Draws the pictures of the studio, and the tour of the README: `python -m docs.pictures_of_studio`.

Debian's chromium goes through the page as a visitor would; what is seen is what the page shows.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib import get_data_path
from PIL import Image, ImageDraw, ImageFont
from tests.browser.visit import Visitor, chromium
from tests.studio.conftest import Studio

import rsg
from rsg.demos import Recipe
from rsg.domain import Domain, find, make_demonstrations

IMAGES = Path(__file__).parent / "images"
DOORKEY = "examples/doorkey_wrapped.py:DoorKey"
TASK = "grab-axe then mine-wood then (craft-boat or craft-bowl)"
COLOURS = 128
TOUR = 820, 100  # pixels of a frame's width; the most steps of a walk that are shown in it
PATIENCE = 1.5  # how much longer each frame is seen than it takes to find one's way
CAPTION = 34  # pixels of its height


@contextmanager
def studio(domain: Domain, recipe: Recipe, settings: dict[str, Any], *words: object) -> Iterator[Studio]:
    """One with a run that learned from a recipe."""
    with TemporaryDirectory() as folder:
        store = make_demonstrations(recipe, Path(folder) / "shown", domain=domain)
        rsg.learn(store, domain, Path(folder) / "first", settings=settings)
        found = Studio(folder, Path(folder) / "first", "--demos", Path(folder) / "shown", *words)
        yield found
        found.close()


def still(there: Visitor, name: str) -> None:
    """The page as it is, whole."""
    there.page.wait_for_timeout(600)
    path = IMAGES / f"studio-{name}.png"
    there.page.screenshot(path=path, full_page=True)
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)


class Film:
    """Frames of a page, each with what is being done."""

    def __init__(self, there: Visitor) -> None:
        self.there, self.frames, self.seconds, self.said = there, list[Image.Image](), list[float](), ""
        self.font = ImageFont.truetype(Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", 17)

    def take(self, seconds: float, said: str | None = None) -> None:
        """One more, to be seen for so long."""
        self.said = said or self.said
        self.there.page.wait_for_timeout(250)
        path = IMAGES / "frame.png"
        self.there.page.screenshot(path=path)
        seen = Image.open(path).convert("RGB")
        seen = seen.resize((TOUR[0], round(seen.height * TOUR[0] / seen.width)), Image.Resampling.LANCZOS)
        path.unlink()
        frame = Image.new("RGB", (seen.width, seen.height + CAPTION), "#1d2733")
        frame.paste(seen, (0, CAPTION))
        ImageDraw.Draw(frame).text((12, 7), self.said, "white", self.font)
        self.frames.append(frame)
        self.seconds.append(seconds)

    def play(self, part: str, seconds: float) -> None:
        """What is planned, step by step."""
        steps = int(self.there.text(f"#{part}-stage .count").split(" / ")[1])
        for step in np.unique(np.linspace(1, steps, min(steps, 8)).round().astype(int)):
            self.there.page.locator(f"#{part}-stage .scrub").fill(str(step))
            self.take(seconds)

    def save(self, path: Path) -> None:
        """As an animated picture, whose colours are those of all frames."""
        shades = Image.new("RGB", (TOUR[0], sum(one.height for one in self.frames[::6])))
        for number, frame in enumerate(self.frames[::6]):
            shades.paste(frame, (0, number * frame.height))
        palette = shades.quantize(COLOURS)
        first, *others = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in self.frames]
        times = [round(1000 * PATIENCE * one) for one in self.seconds]
        first.save(path, save_all=True, append_images=others, duration=times, loop=0, optimize=True)
        print(f"{path.name}: {len(self.frames)} frames, {sum(times) / 1000:.0f} s, {path.stat().st_size / 1e6:.1f} MB")


def crafting(there: Visitor) -> None:
    """Four of the parts, in Crafting World."""
    there.open("instruct").say("instruct", TASK)
    there.page.locator("#instruct-starts button").first.click()
    there.plan()
    there.page.locator("#instruct-timeline .part").nth(1).click()
    still(there, "instruct")
    there.open("show").shows(find("crafting"), "grab-axe then mine-wood", "grab-axe then mine-wood")
    there.page.wait_for_selector("#show-ranked button")
    still(there, "show")
    there.keeps()
    there.open("teach").page.click("#teach-train")
    there.page.wait_for_selector("#teach-done button")
    still(there, "teach")
    there.open("review").page.fill("#review-filter", "craft-bowl")
    there.wait("() => document.getElementById('review-count').textContent.includes(' of ')")
    there.page.locator(".row-item").nth(1).click()
    there.page.wait_for_timeout(1500)
    there.page.locator("#review-stage .scrub").fill("6")
    still(there, "review")


def tour(there: Visitor) -> None:
    """Two minutes: plans for what nobody showed, a word taught, a boundary moved, a look inside."""
    film, page, domain = Film(there), there.page, find("crafting")
    there.open("instruct")
    page.fill("#instruct-field input", "")
    film.take(3, "Instruct: say what you want, in words that were learned from demonstrations")
    for words in ("grab-axe then mi", "ne-wood then craft-bo", "at"):
        page.locator("#instruct-field input").press_sequentially(words)
        film.take(1.2)
    page.keyboard.press("Escape")
    page.locator("#instruct-starts button").first.click()
    page.wait_for_timeout(500)
    there.plan()
    film.take(3, "A plan makes one subgoal true after the other; here it plays")
    film.play("instruct", 0.9)
    page.click("label[for=mode-goal]")
    page.select_option("#instruct-goal select", "craft-bed")
    there.plan()
    film.take(4, "Only the goal: the subgoals on the way are found")
    film.play("instruct", 0.9)
    there.open("show").say("show", "fetch-it")
    film.take(4, "Show: a word that nobody knows. Do it with the keys, and say what it was")
    for number in range(10):
        there.shows(domain, "grab-key", "fetch-it")
        film.take(3 if number == 0 else 1, f"Show: demonstration {number + 1} of 10")
        there.keeps()
    there.open("teach")
    film.take(3, "Teach: train a new run with what was shown")
    page.click("#teach-train")
    page.wait_for_selector("#teach-done button")
    page.locator("#teach-done").scroll_into_view_if_needed()
    film.take(5, "Teach: what the new word means, from ten demonstrations")
    page.locator("#teach-done button", has_text="fetch-it").click()
    there.open("instruct")
    while not there.plan():
        page.locator("#instruct-starts button").first.click()
    film.take(2, "And plan with it at once, on a map that nobody showed")
    film.play("instruct", 0.8)
    there.open("review").page.fill("#review-filter", "craft-bowl")
    there.wait("() => document.getElementById('review-count').textContent.includes(' of ')")
    page.locator(".row-item").nth(1).click()
    page.wait_for_timeout(1500)
    film.take(5, "Review: where each recording was cut into subgoals, and how sure that is")
    page.locator(".handle").first.focus()
    for key in ("ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
        film.take(2, "Review: move an end that is wrong, keep that, and train again")
    there.open("inside")
    film.take(5, "Inside: where a word holds, what words mean, which subgoal helps which")
    page.locator("#inside-columns").scroll_into_view_if_needed()
    film.take(5)
    film.save(IMAGES / "studio-tour.gif")


def playroom(there: Visitor) -> None:
    """Where a network thinks that a word holds."""
    there.open("inside").page.select_option("#inside-term select", "ring-bell")
    there.page.wait_for_timeout(1500)
    still(there, "playroom")


def doorkey(there: Visitor) -> None:
    """An environment of another package."""
    there.open("instruct").say("instruct", "pick-up-key then open-door then reach-goal")
    there.plan()
    there.page.locator("#instruct-timeline .part").nth(1).click()
    still(there, "doorkey")


def main() -> None:
    """All of them, or those that are named."""
    six = find("playroom").vocabulary
    every: list[tuple[Domain, Recipe, dict[str, Any], tuple[object, ...], list[Callable[[Visitor], None]]]] = [
        (find("crafting"), Recipe("crafting", "train", 1), {}, (), [crafting, tour]),
        (find("playroom", tasks=six), Recipe("playroom", "custom", 10, tasks=six), {"steps": 150}, (), [playroom]),
        (find(DOORKEY), Recipe("DoorKey", "train", 4), {}, ("--world", Path(DOORKEY).resolve()), [doorkey]),
    ]
    with chromium() as browser:
        for domain, recipe, settings, words, draws in every:
            for draw in draws:  # each begins with what was learned, and no more
                if sys.argv[1:] and draw.__name__ not in sys.argv[1:]:
                    continue
                with studio(domain, recipe, settings, *words) as found:
                    there = Visitor(browser, found.address)
                    there.page.emulate_media(reduced_motion="reduce")
                    draw(there)
                    there.close()
                    print(f"drew {draw.__name__}", flush=True)


if __name__ == "__main__":
    main()
