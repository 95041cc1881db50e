"""Somebody who visits a studio with Debian's chromium, and does what a person can do: look, type, press, point."""

import json
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ROOT = Path(__file__).parents[2]
AXE = ROOT / "out/axe/package/axe.min.js"  # `make axe` fetches it
QUIET = ["gpu", "quic", "background-networking", "component-update", "sync"]
SIZES = {"wide": (1440, 900), "phone": (390, 844)}
PARTS = {  # of the page, and what is there once they can be used
    "instruct": "#instruct-plan:enabled",
    "show": "#show-moves button",
    "teach": "#teach-terms tr",
    "review": "#review-timeline .legend li, #review-none:not([hidden])",
    "inside": "#inside .matrix",
}
SECONDS = 60  # that anything may take on a busy machine
ARROWS = {"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight"}


@contextmanager
def chromium():
    """The browser, which tells nobody but the studio anything."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        words = ["--no-sandbox", "--no-first-run", *(f"--disable-{one}" for one in QUIET)]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=words)
        yield browser
        browser.close()


class Visitor:
    """One page.

    `complaints` is what it said to developers, or asked of other hosts than its own; `played` the walk that it plays.
    """

    def __init__(self, browser, address, size="wide", scheme="light", sharp=1):
        width, height = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=sharp
        )
        self.context.set_default_timeout(1000 * SECONDS)
        self.page, self.address, self.complaints = self.context.new_page(), address, []
        self.played = None  # the walk that is seen
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("request", self._asked)

    def _heard(self, message):
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.complaints.append(message.text)

    def _asked(self, request):
        host = urlsplit(request.url).netloc
        if request.url.endswith("/pictures"):
            self.played = request.post_data_json
        if host and host != urlsplit(self.address).netloc:
            self.complaints.append(f"it asks {request.url}")

    def open(self, part):
        """A part of the page, once it can be used."""
        if self.page.url == "about:blank":
            self.page.goto(f"{self.address}#{part}")
        else:
            self.page.click(f"#tab-{part}")
        self.page.wait_for_selector(PARTS[part])
        if part in ("instruct", "show"):
            self.page.wait_for_selector(f"#{part}-stage canvas.stage[style]")  # the start is drawn
        return self

    # What is seen.

    def text(self, selector):
        return self.page.inner_text(selector)

    def texts(self, selector):
        return self.page.locator(selector).all_text_contents()

    @property
    def status(self):
        return self.page.text_content("#status")

    def wait(self, what, *given):
        """Until something is so, in the page's own words."""
        self.page.wait_for_function(what, arg=list(given) or None)

    def hears(self, words):
        """Until the status line has these words in it."""
        until = time.monotonic() + SECONDS
        while words not in self.status:
            assert time.monotonic() < until, f"the page says '{self.status}', not '{words}'"
            self.page.wait_for_timeout(50)

    def faults(self):
        """What axe finds that is serious."""
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("axe.run()")["violations"]
        return [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")]

    def too_wide(self):
        """By how many pixels the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    # What is done.

    def say(self, part, text):
        """Type a task."""
        self.page.fill(f"#{part}-field input", text)

    def plan(self):
        """Ask for a plan; gives whether there is one, once it is on the screen."""
        self.page.evaluate("document.getElementById('instruct-told').replaceChildren()")
        self.page.click("#instruct-plan")
        self.page.wait_for_selector("#instruct-told .tiles, #instruct-told p.bad")
        if not self.page.locator("#instruct-told .tiles").count():
            return False
        self.page.wait_for_selector("#instruct-timeline:not([hidden]) .legend li")
        return True

    def walk(self):
        """Where the visitor is, as the page itself remembers it."""
        return json.loads(self.page.evaluate("sessionStorage.getItem('rsg-studio-walk')"))["walk"]

    def another(self):
        """Take another start to show something from."""
        start = "JSON.parse(sessionStorage.getItem('rsg-studio-walk')).walk"
        before = self.page.evaluate(f"JSON.stringify([{start}.setting, {start}.start])")
        self.page.locator("#show-starts button").first.click()
        self.wait(f"([before]) => JSON.stringify([{start}.setting, {start}.start]) !== before", before)

    def shows(self, domain, task, said):
        """Do a task by keys alone, from a start where that can be done, and describe it."""
        self.say("show", said)
        self.page.set_checked("#show-starts input[type=checkbox]", said == task)
        while not (names := way(domain, *self.seen(domain), task)):
            self.another()
        self.press(domain, names)
        self.page.wait_for_selector("#show-keep:enabled")

    def seen(self, domain):
        """The world and the state that the page shows."""
        there = self.walk()
        world = domain.world(there["setting"])
        if hasattr(world, "meet"):  # a wrapped environment is reset
            return world, world.start(json.loads(there["setting"])["seed"])
        dtype = domain.dtype or domain.start((), np.random.default_rng(0))[1].dtype
        return world, np.array(there["start"], dtype=dtype)

    def press(self, domain, names):
        """Press keys, and wait until the page has counted all moves."""
        before, keys = len(self.walk()["actions"]), keys_of(domain, self.seen(domain)[0])
        self.page.locator("#show-stage canvas").focus()
        for name in names:
            self.page.keyboard.press(keys[name])
        text = moves(before + len(names))
        self.wait("([text]) => document.getElementById('show-count').textContent === text", text)

    def keeps(self):
        """Keep what was done; the next start is there then."""
        self.page.click("#show-keep")
        self.hears("kept: ")
        self.wait("() => document.getElementById('show-count').textContent === '0 moves'")

    def close(self):
        self.context.close()


def keys_of(domain, world):
    """A key for each move: letters and digits as the page lists them, or arrows."""
    from rsg.envs.game import KEYS

    every = {**KEYS, **domain.controls(world).keys}
    return {what: key for key, what in every.items() if len(key) == 1 and key.isprintable()} | ARROWS


def way(domain, world, state, task):
    """The names of moves that do a task, as whoever knows what it means would find them; empty if there are none."""
    if hasattr(world, "actions"):
        found = domain.expert(world, state, task, np.random.default_rng(0))
        return [world.actions[action] for action in found[1]] if found else []
    return _by_trying(domain, world, state, task)


def _by_trying(domain, world, state, term, most=60):
    """The same for a term where moves are vectors and only some have keys: all ways, the shortest first."""
    moves = domain.controls(world).actions
    every, ways, known = np.asarray(state)[None], [[]], set()
    for _ in range(most):
        every = np.repeat(every, len(moves), axis=0)
        ways = [[*one, name] for one in ways for name in moves]
        every = world.step(every, np.tile(np.array(list(moves.values()), dtype=float), (len(every) // len(moves), 1)))
        new = [k for k, one in enumerate(every.round(2)) if one.tobytes() not in known and not known.add(one.tobytes())]
        every, ways = every[new], [ways[k] for k in new]
        if (holds := domain.truth(world, every, [term])[:, 0]).any():
            return ways[int(holds.argmax())]
    return []


def moves(count):
    return f"{count} move{'' if count == 1 else 's'}"
