"""Sealed folders: what is noticed, and that those of older versions still open."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg.core.errors import RsgError
from rsg.core.folder import is_sealed, locked, seal
from rsg.demos import Store, check_store
from rsg.domain import find
from rsg.subgoals import learn, load
from rsg.subgoals.building import rebuilt
from rsg.training import Run

OLDER = Path(__file__).parents[1] / "golden" / "older"
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
CONTENT = st.dictionaries(st.sampled_from(["about", "world", "shards"]), PLAIN)


@settings(deadline=None)
@given(CONTENT, st.data())
def test_a_changed_bit_breaks_the_seal(content, data):
    whole = seal(content)
    assert is_sealed(whole)
    assert {key: value for key, value in json.loads(whole).items() if key != "sha256"} == content
    place, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    broken = bytearray(whole)
    broken[place] ^= 1 << bit
    assert not is_sealed(bytes(broken))


def test_a_checksum_that_is_empty_or_of_something_else_is_no_seal():
    whole = seal({"world": "crafting"})
    own, other = (json.loads(data)["sha256"].encode() for data in (whole, seal({"world": "playroom"})))
    for checksum in (b"", own[:-1], own.upper(), other):
        assert not is_sealed(whole.replace(own, checksum))


def test_a_lock_is_held_once_and_given_back(tmp_path):
    with locked(tmp_path, RsgError("busy")), pytest.raises(RsgError, match="busy"), locked(tmp_path, RsgError("busy")):
        pass
    with locked(tmp_path, RsgError("busy")):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(RsgError, match="cannot write to"), locked(tmp_path / "file", RsgError("busy")):
        pass


@pytest.fixture
def older(tmp_path):
    """A store and a run as version 0.1.0 wrote them, with the seals of that time."""
    shutil.copytree(OLDER, tmp_path / "older")
    return tmp_path / "older"


def test_an_older_store_opens_and_grows(older):
    store = Store(older / "store")
    assert [demo.task for demo in store] == ["grab-axe"] * 2 + ["mine-wood"] * 2
    assert check_store(store, find("crafting")).problems == []
    store.append([store[0]])
    assert list(Store(older / "store"))[-1] == store[0]


def test_an_older_run_opens_and_says_the_same(older):
    subgoals, demo = load(older / "run").classifiers, Store(older / "store")[0]
    world = find("crafting").world(demo.setting)
    log_g, _ = subgoals.goals(world, subgoals.terms, demo.states[0])(demo.states)
    assert np.allclose(log_g[-1], [-3.300051967386146, -2.7152560437595428], atol=1e-5)


def test_an_older_run_goes_on(older):
    store, run = Store(older / "store"), Run(older / "run")
    source = find("crafting")
    learned = learn(store, lambda demo: source.world(demo.setting), older / "run", rebuilt(run)[0], tensorboard=False)
    assert (learned.progress.step, learned.progress.done) == (2, "all steps were done")
