"""A demonstration for a person: when each subgoal came true, and the whole as an animated picture."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from rsg.core.arrays import Bytes
from rsg.core.files import replacing
from rsg.demos.demonstration import Demonstration, Demonstrator, met
from rsg.language import parse


def milestones(source: Demonstrator, demo: Demonstration) -> list[tuple[int, str]]:
    """(step, term) for each time a subgoal of the description turned true; none if there is no description."""
    if not demo.task:
        return []
    terms = [str(term) for term in parse(demo.task).terms()]
    true = source.truth(met(source.world(demo.setting), demo), demo.states, terms)
    turned = ~true[:-1] & true[1:]
    return [(int(step) + 1, terms[term]) for step, term in np.argwhere(turned)]


def write_png(picture: Bytes | bytes, path: Path) -> None:
    """Write a picture: `[height, width, 3]`, or a PNG as it is."""
    with replacing(path) as part:
        if isinstance(picture, bytes):
            part.write_bytes(picture)
        else:
            Image.fromarray(picture).save(part, format="PNG")


def gif(pictures: Sequence[Bytes], times: Sequence[int] | None = None) -> bytes:
    """An animation of pictures `[height, width, 3]`, each for so many milliseconds; usually it rests on the last."""
    first, *rest = (Image.fromarray(one).quantize(128, method=Image.Quantize.FASTOCTREE) for one in pictures)
    each = list(times) if times else [250] * len(rest) + [2000]
    data = BytesIO()
    first.save(data, format="GIF", save_all=True, append_images=rest, duration=each, loop=0)
    return data.getvalue()
