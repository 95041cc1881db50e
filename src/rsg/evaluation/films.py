"""What happened as an animated picture; below each frame stands which subgoal it is about."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from rsg.core.arrays import Array, Bytes
from rsg.demos import Demonstration, actions_of
from rsg.demos.demonstration import met
from rsg.demos.showing import gif
from rsg.domain import Domain
from rsg.planning import Plan

LEAST = 240  # pixels across, so that the words fit below


def plan_film(source: Domain, world: Any, plan: Plan) -> bytes:
    """A plan as GIF. It rests on the last frame."""
    end = f"{len(plan.actions)} steps: done" if plan.found else "no plan was found"
    return _film(source, world, plan.states, [*_words(world, plan.actions, plan.terms), end])


def demonstration_film(source: Domain, demo: Demonstration, reached: Sequence[tuple[int, str]]) -> bytes:
    """A demonstration as GIF; reached: (step, term) for each subgoal that came true, as `milestones` gives them."""
    world, steps = met(source.world(demo.setting), demo), len(demo)
    ahead = [next((term for step, term in reached if step > now), demo.task) for now in range(steps)]
    return _film(source, world, demo.states, [*_words(world, actions_of(demo), ahead), f"{steps} steps: done"])


def _words(world: Any, actions: Array, terms: Sequence[str]) -> list[str]:
    """What is done in each step, and for which subgoal."""
    names = getattr(world, "actions", None)
    done = [names[action] if names else "move" for action in actions]
    return [f"{n}/{len(done)}  {name}  for {term}" for n, (name, term) in enumerate(zip(done, terms, strict=True), 1)]


def _film(source: Domain, world: Any, states: Array, words: Sequence[str]) -> bytes:
    """Frames with words below; it rests where the subgoal changes, and at the end."""
    frames = [_frame(source, world, state, text) for state, text in zip(states, words, strict=True)]
    abouts = [text.partition("  for ")[2] for text in words[:-1]]
    times = [900 if before != after else 280 for before, after in pairwise(abouts)]
    return gif(frames, [*times, *([280] if abouts else []), 2500])


def _frame(source: Domain, world: Any, state: Array, words: str) -> Bytes:
    """A state with words below it."""
    drawn = source.picture(world, state, source.pixels.get("usual"))
    larger = -(-LEAST // drawn.shape[1])
    picture = Image.fromarray(drawn.repeat(larger, 0).repeat(larger, 1))
    font, width = ImageFont.load_default(14), picture.width
    while len(words) > 10 and font.getlength(words) > width - 16:
        words = f"{words.rstrip('…')[:-1]}…"
    frame = Image.new("RGB", (width, picture.height + 26), "#20242c")
    frame.paste(picture)
    ImageDraw.Draw(frame).text((8, picture.height + 5), words, fill="#f2f2f2", font=font)
    return np.asarray(frame)
