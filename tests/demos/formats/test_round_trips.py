"""store → format → store: nothing changes, for every dtype and shape that a store allows; else it is said."""

import json
import os
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rsg.core.errors import StoreError
from rsg.demos import Demonstration, Store
from rsg.demos import store as store_module
from rsg.demos.importing import export_to, import_from, world_of_source

TARGETS = {
    "npz": "out.npz",
    "jsonl": "out.jsonl",
    "lerobot": "out",
    "robomimic": "out.hdf5",
    "minari": "minari:ours/out-v0",
}
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


def target_in(folder, name):
    target = TARGETS[name]
    if name == "minari":
        os.environ["MINARI_DATASETS_PATH"] = str(folder)
        return target
    return f"{folder}/{target}"


@pytest.fixture(autouse=True)
def _minari(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))


def stored(folder, *batches, world="höhle"):
    store = Store.create(folder, world)
    for demos in batches:
        store.append(demos)
    return store


def there_and_back(store, target):
    export_to(target, store)
    assert world_of_source(target) == store.manifest.world
    return list(import_from(target))


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@st.composite
def stores(draw):
    """Episodes of one kind of states and actions, of any lengths and widths."""
    states, acted = draw(st.sampled_from(DTYPES)), draw(st.sampled_from([None, *DTYPES]))
    action_width = draw(st.sampled_from([None, None, 0, 1, 2, 5]))
    numbers = {"allow_nan": False} | ({} if draw(st.booleans()) else {"allow_infinity": False})

    def array(dtype, shape):
        kind = np.dtype(dtype)
        return draw(
            arrays.arrays(kind, shape, elements=arrays.from_dtype(kind, **(numbers if kind.kind == "f" else {})))
        )

    demos = []
    for _ in range(draw(st.integers(1, 5))):
        steps, width = draw(st.integers(1, 4)), draw(st.integers(0, 4))
        shape = (steps,) if action_width is None else (steps, action_width)
        actions = None if acted is None else array(acted, shape)
        task = draw(st.sampled_from(["", "a", "a then b", "pick-up(red-key) or c"]))
        demos.append(Demonstration(array(states, (steps + 1, width)), actions, task, draw(texts)))
    return demos


@pytest.mark.parametrize("name", TARGETS)
def test_everything_comes_back(name):
    @settings(max_examples=40 if name == "minari" else 80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(stores())
    def check(demos):
        with TemporaryDirectory() as folder:
            store = stored(f"{folder}/store", demos)
            infinite = any(
                np.isinf(v).any()
                for demo in demos
                for v in (demo.states, demo.actions)
                if v is not None and v.dtype.kind == "f"
            )
            if name == "jsonl" and infinite:
                with pytest.raises(StoreError, match="JSON cannot hold NaN or infinity"):
                    export_to(target_in(folder, name), store)
            else:
                assert there_and_back(store, target_in(folder, name)) == demos

    check()


@pytest.mark.parametrize("name", TARGETS)
def test_many_shards_come_back_in_order(name, tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "SHARD_EPISODES", 7)
    demos = [
        Demonstration(np.arange(n, n + 3 * (n % 5 + 2)).reshape(-1, 3) % 100, np.arange(n % 5 + 1), f"t{n % 3}", str(n))
        for n in range(50)
    ]
    store = stored(tmp_path / "store", demos)
    assert len(store.manifest.shards) == 8
    assert there_and_back(store, target_in(tmp_path, name)) == demos


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_format_cannot_hold_is_one_sentence(name, tmp_path):
    target, rows, two = target_in(tmp_path, name), np.zeros((3, 2)), np.arange(2)

    def refused(problem, *batches):
        with pytest.raises(StoreError, match=problem) as caught:
            export_to(target, stored(tmp_path / f"s{len(list(tmp_path.iterdir()))}", *batches))
        assert "\n" not in str(caught.value)

    refused("holds no demonstrations to export")
    nan = rows.copy()
    nan[1, 0] = np.nan
    refused("NaN", [Demonstration(rows, two, "a"), Demonstration(nan, two, "a")])
    if name != "jsonl":  # whose lines may be of different kinds
        refused(
            "one kind of states and actions",
            [Demonstration(rows, two, "a")],
            [Demonstration(two[:, None], two[:1], "a")],
        )
        refused("one kind of states and actions", [Demonstration(rows, two, "a"), Demonstration(rows, None, "a")])
    if name != "npz":
        refused("cannot hold", [Demonstration(rows.astype(np.longdouble), two, "a")])
    if name in ("lerobot", "robomimic"):
        refused("cannot write", [Demonstration(rows, two, "a", "\ud800")])  # no UTF-8
    assert not any(name in path.name for path in tmp_path.rglob("*out*"))
    assert not any(path.name.startswith((".out", ".rsg")) for path in tmp_path.rglob("*"))


def test_long_doubles_and_odd_texts_stay_in_npz(tmp_path):
    demos = [Demonstration(np.ones((2, 1), np.longdouble) / 3, np.ones(1, np.longdouble) / 7, "a", "\ud800")]
    assert there_and_back(stored(tmp_path / "store", demos), str(tmp_path / "out.npz")) == demos


def test_json_lines_may_be_of_different_kinds(tmp_path):
    first = Demonstration(np.zeros((2, 3), np.uint8), np.zeros((1, 2), np.float32), "a")
    second = Demonstration(np.full((3, 1), 2**63 + 1, np.uint64), np.array([True, False]), "")
    third = Demonstration(np.zeros((3, 1), np.float16), None, "b")
    store = stored(tmp_path / "store", [first], [second], [third])
    assert there_and_back(store, str(tmp_path / "out.jsonl")) == [first, second, third]


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "minari"])
def test_what_is_there_is_left_alone(name, tmp_path):
    target = target_in(tmp_path, name)
    store = stored(tmp_path / "store", [Demonstration(np.zeros((2, 1)), np.zeros(1), "a")])
    export_to(target, store)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(StoreError, match=f"{target} exists already"):
        export_to(target, store)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_line_of_json_can_be_read_by_anybody(tmp_path):
    export_to(
        str(tmp_path / "o.jsonl"), stored(tmp_path / "s", [Demonstration(np.zeros((2, 1), int), np.array([3]), "a")])
    )
    (line,) = (tmp_path / "o.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "world": "höhle",
        "task": "a",
        "setting": "",
        "dtypes": {"states": "int64", "actions": "int64"},
        "states": [[0], [0]],
        "actions": [3],
    }
