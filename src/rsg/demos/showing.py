"""A demonstration for a person: when each subgoal came true, and the whole as an animated picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rsg.core.arrays import Bytes
from rsg.core.errors import RsgError
from rsg.core.files import replacing
from rsg.demos.benchmark import Benchmark
from rsg.demos.demonstration import Demonstration
from rsg.language import parse


def milestones(source: Benchmark, demo: Demonstration) -> list[tuple[int, str]]:
    """(step, term) for each time a subgoal of the description turned true."""
    terms = [str(term) for term in parse(demo.task).terms()]
    true = source.truth(source.world(demo.setting), demo.states, terms)
    turned = ~true[:-1] & true[1:]
    return [(int(step) + 1, terms[term]) for step, term in np.argwhere(turned)]


def write_gif(pictures: Sequence[Bytes], path: str | Path, seconds_per_step: float = 0.25) -> None:
    """An animation of pictures `[height, width, 3]`; it rests on the last one."""
    path = Path(path)
    if path.suffix.lower() != ".gif":
        raise RsgError(f"cannot write an animation to {path}: the name must end in .gif")
    from PIL import Image

    frames = [Image.fromarray(picture).quantize(128, method=Image.Quantize.FASTOCTREE) for picture in pictures]
    times = [int(1000 * seconds_per_step)] * (len(frames) - 1) + [2000]
    with replacing(path) as part:
        frames[0].save(part, format="GIF", save_all=True, append_images=frames[1:], duration=times, loop=0)


def frames(source: Benchmark, demo: Demonstration) -> list[Any]:
    """The states of a demonstration as pictures."""
    world = source.world(demo.setting)
    return [world.render(state) for state in demo.states]
