"""The ways through the house that CONTRIBUTING.md shows: short, without going back, and along what is there."""

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WAY = re.compile(r"^\*\*(\w+)\*\*: from .*\n\n((?:\d+\. .*\n(?:   .*\n)*)+)", re.MULTILINE)
STOP = re.compile(r"^(\d+)\. `([\w/]+\.py)` `([\w.]+)`: \S")
WAYS = dict(WAY.findall((ROOT / "CONTRIBUTING.md").read_text()))


def test_there_are_two_ways():
    assert list(WAYS) == ["Learn", "Plan"]


@pytest.mark.parametrize("way", WAYS)
def test_a_way_is_short_and_never_goes_back(way):
    stops = [STOP.match(line) for line in WAYS[way].splitlines() if not line.startswith("   ")]
    assert None not in stops
    assert [int(stop[1]) for stop in stops] == list(range(1, len(stops) + 1))
    assert len(stops) <= 15
    files = [stop[2] for stop in stops]
    assert len(files) == len(set(files))


@pytest.mark.parametrize(
    ("file", "name"), sorted({stop for way in WAYS.values() for stop in re.findall(r"`([\w/]+\.py)` `([\w.]+)`", way)})
)
def test_every_stop_is_there(file, name):
    """The name is defined in the very file that is said to hold it."""
    module = import_module(f"rsg.{file.removesuffix('.py').replace('/', '.')}")
    found = attrgetter(name)(module)
    assert getattr(found, "py_func", found).__module__ == module.__name__
