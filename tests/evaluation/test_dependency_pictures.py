from dataclasses import replace

import numpy as np
import pytest

from rsg.core.errors import RsgError
from rsg.evaluation.dependency_pictures import draw_dependencies
from rsg.planning import Dependencies


def some(size):
    """Each subgoal needs the one before it, the third either of the first two; the last was never shown."""
    before = np.diag(np.arange(1, size), -1)
    needs = (((),), ((0,),), ((0,), (1,)), *(((k - 1,),) for k in range(3, size)))[:size]
    terms = tuple(f"subgoal-{k}" for k in range(size))
    return Dependencies(terms, before, 2 * before, np.arange(size), before, needs, np.full(size, 0.5))


def pixels(path):
    from PIL import Image

    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


@pytest.mark.parametrize("size", [1, 3])
def test_a_picture_of_any_size(tmp_path, size):
    draw_dependencies(tmp_path / "deps.png", some(size), "what came before what")
    height, width, _ = pixels(tmp_path / "deps.png").shape
    assert width > height > 600
    assert [path.name for path in tmp_path.iterdir()] == ["deps.png"]


def test_prerequisites_are_framed(tmp_path):
    framed = []
    for needs in (some(6).prerequisites, (((),),) * 6):
        draw_dependencies(tmp_path / "deps.png", replace(some(6), prerequisites=needs), "")
        framed.append((pixels(tmp_path / "deps.png") == (0xE4, 0x57, 0x2E)).all(axis=2).sum())
    assert framed[0] > 3 * framed[1] > 0


def test_only_png(tmp_path):
    with pytest.raises(RsgError, match=r"the name must end in \.png"):
        draw_dependencies(tmp_path / "deps.svg", some(3), "")
