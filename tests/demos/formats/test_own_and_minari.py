"""Minari in and out, `.npz` and `.jsonl` in: nothing changes on the way, and every mistake is one sentence."""

import json
import os
import subprocess
import sys
import textwrap

import gymnasium as gym
import minari
import numpy as np
import pytest
from minari.data_collector import EpisodeBuffer

from rsg.core.errors import RsgError, StoreError
from rsg.demos import Demonstration, Store
from rsg.demos import store as store_module
from rsg.demos.formats import Options
from rsg.demos.importing import Import, export_to, import_from, world_of_source

TASKS = ("grab-axe", "grab-axe then (mine-wood or mine-coal)", "a and b then pick-up(grey-key)")


def imported(source, dtype=None, **options):
    """All demonstrations of a source, as a list."""
    return list(import_from(source, Import(Options(dtype=dtype, **options))))


def import_minari(dataset_id, **options):
    return imported(f"minari:{dataset_id}", **options)


def export_minari(store, dataset_id):
    export_to(f"minari:{dataset_id}", store)
    return len(store)


def minari_world(dataset_id):
    return world_of_source(f"minari:{dataset_id}")


@pytest.fixture(autouse=True)
def datasets(tmp_path, monkeypatch):
    """Minari's folder."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    return tmp_path / "minari"


def made(count, widths=(20, 33), dtype="uint8", action_dtype="int64", action_width=0, seed=0):
    """Synthetic demonstrations of about 12 steps."""
    rng = np.random.default_rng(seed)
    demos = []
    for number in range(count):
        steps, width = int(rng.integers(1, 24)), widths[number % len(widths)]
        states = rng.integers(0, 100, (steps + 1, width)).astype(dtype)
        if np.dtype(action_dtype).kind == "f":
            actions = rng.normal(size=(steps, action_width) if action_width else steps).astype(action_dtype)
        else:
            actions = rng.integers(0, 4, steps).astype(action_dtype)
        setting = json.dumps({"map": number, "name": "höhle"}) if number % 3 else ""
        demos.append(Demonstration(states, actions, TASKS[number % 3], setting))
    return demos


def stored(tmp_path, demos, name="store"):
    store = Store.create(tmp_path / name, "crafting")
    store.append(demos)
    return store


def sentence(caught):
    """The message, which must be one line."""
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    return text


# Minari, out and in


def test_a_thousand_episodes_come_back_from_minari_unchanged(tmp_path, datasets):
    demos = made(1000)
    assert export_minari(stored(tmp_path, demos), "rsg/thousand-v0") == 1000
    back = import_minari("rsg/thousand-v0")
    assert back == demos  # arrays, dtypes, tasks and settings
    assert {demo.states.shape[1] for demo in back} == {20, 33}
    assert minari_world("rsg/thousand-v0") == "crafting"
    assert sorted(os.listdir(datasets)) == ["rsg"]  # nothing temporary is left
    assert list(minari.list_local_datasets()) == ["rsg/thousand-v0"]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize(("action_dtype", "action_width"), [("uint8", 0), ("int64", 0), ("float32", 3), ("float64", 0)])
def test_every_dtype_comes_back(tmp_path, dtype, action_dtype, action_width):
    demos = made(4, dtype=dtype, action_dtype=action_dtype, action_width=action_width)
    export_minari(stored(tmp_path, demos), "kinds-v0")
    assert (imported("minari:kinds-v0")) == demos


def test_extreme_numbers_and_long_texts_come_back(tmp_path):
    ends = np.iinfo(np.int64)
    states = np.array([[ends.min, ends.max], [0, -1]])
    task = " then ".join(["grab-axe"] * 7000)
    demos = [
        Demonstration(states, np.array([-3]), task, "x" * 200_000),
        Demonstration(states[:, :0], np.array([70]), "b"),
    ]
    export_minari(stored(tmp_path, demos), "extreme-v0")
    assert (import_minari("extreme-v0")) == demos
    space = minari.load_dataset("extreme-v0").action_space
    assert (space.start, space.start + space.n - 1) == (-3, 70)


def test_the_export_opens_with_minari_alone(tmp_path):
    demos = made(30)
    export_minari(stored(tmp_path, demos), "alone-v0")
    expected = [[demo.task, demo.setting, demo.states.shape[1], len(demo), int(demo.states.sum())] for demo in demos]
    (tmp_path / "expected.json").write_text(json.dumps(expected))
    script = """
        import json, sys
        import minari, numpy as np
        dataset = minari.load_dataset("alone-v0")
        expected = json.load(open(sys.argv[1]))
        assert dataset.total_episodes == len(expected) and dataset.total_steps == sum(row[3] for row in expected)
        assert dataset.storage.metadata["rsg"] == {"world": "crafting", "state_dtype": "uint8", "action_dtype": "int64"}
        assert (dataset.observation_space.shape, dataset.observation_space.dtype) == ((33,), np.uint8)
        assert dataset.observation_space.low.max() == 0 and dataset.observation_space.high.min() == 255
        assert dataset.action_space.n == 5
        metadata = list(dataset.storage.get_episode_metadata(range(len(expected))))
        for row, about, episode in zip(expected, metadata, dataset.iterate_episodes(), strict=True):
            found = [about["task"], about["setting"], int(about["state_width"]), len(episode)]
            assert found + [int(episode.observations.sum())] == row, (found, row)
            assert episode.observations.shape == (row[3] + 1, 33)
            assert all(observation in dataset.observation_space for observation in episode.observations)
            assert all(action in dataset.action_space for action in episode.actions)
            assert episode.rewards.tolist() == [0.0] * (row[3] - 1) + [1.0]
            assert episode.terminations.tolist() == [False] * (row[3] - 1) + [True]
            assert not episode.truncations.any()
            repr(episode)
        assert not any(name.split(".")[0] == "rsg" for name in sys.modules)
        print("fine")
    """
    command = [sys.executable, "-W", "error::UserWarning", "-c", textwrap.dedent(script), tmp_path / "expected.json"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (run.stdout, run.stderr) == ("fine\n", "")


def test_an_existing_dataset_is_left_alone(tmp_path, datasets):
    export_minari(stored(tmp_path, made(3)), "mine-v0")
    before = {path: path.read_bytes() for path in datasets.rglob("*") if path.is_file()}
    with pytest.raises(StoreError) as caught:
        export_minari(stored(tmp_path, made(5, seed=1), "other"), "mine-v0")
    assert "'mine-v0' exists already" in sentence(caught)
    assert "`minari delete mine-v0`" in sentence(caught)
    assert {path: path.read_bytes() for path in datasets.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("dataset_id", ["no-version", "", "../up-v0", "/etc/x-v0", "a b-v0", "x-v0\n", "x-v"])
def test_a_bad_id_is_one_sentence(tmp_path, dataset_id):
    store = stored(tmp_path, made(1))
    for use in (lambda: export_minari(store, dataset_id), lambda: import_minari(dataset_id)):
        with pytest.raises(StoreError, match=r"is not a Minari id; write it like name-v0"):
            use()


def test_a_failing_export_leaves_nothing(tmp_path, datasets, monkeypatch):
    monkeypatch.setattr(store_module, "SHARD_EPISODES", 2)
    store = stored(tmp_path, made(6))
    read = store.read_shard
    reads = []

    def failing(shard):
        reads.append(shard.index)
        if (
            len(reads) == 6
        ):  # three while looking for the spaces, one for the first demonstration, the first, the second
            raise OSError(28, "No space left on device")
        return read(shard)

    monkeypatch.setattr(store, "read_shard", failing)
    with pytest.raises(StoreError) as caught:
        export_minari(store, "group/half-v0")
    assert "cannot write Minari dataset 'group/half-v0'" in sentence(caught)
    assert "No space left" in sentence(caught)
    assert list(datasets.iterdir()) == []


def test_what_minari_cannot_hold_is_one_sentence(tmp_path):
    with pytest.raises(StoreError, match=r"holds no demonstrations to export"):
        export_minari(stored(tmp_path, []), "empty-v0")
    mixed = stored(tmp_path, made(2), "mixed")
    mixed.append(made(2, dtype="float32"))
    with pytest.raises(
        StoreError, match=r"one kind of states and actions, .*mixed has float32 states .* and uint8 states"
    ):
        export_minari(mixed, "mixed-v0")
    with pytest.raises(RsgError, match="must not contain a null character"):
        Demonstration(np.zeros((2, 1)), np.zeros(1), "a", "x\0y")


# Minari datasets of others


def foreign(observations=None, space=None, about=None, episodes=2, data_format=None, **extra):
    """A dataset made with Minari alone."""
    observations = np.arange(8.0).reshape(4, 2) if observations is None else observations
    space = space or gym.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    end = np.array([False, False, True])
    parts = {"rewards": end * 1.0, "terminations": end, "truncations": end & False, **extra}
    buffers = [EpisodeBuffer(observations=observations, actions=np.arange(3), **parts) for _ in range(episodes)]
    with pytest.warns(UserWarning, match=r"is set to None|env_spec is None"):
        dataset = minari.create_dataset_from_buffers(
            "foreign-v0", buffers, observation_space=space, action_space=gym.spaces.Discrete(3), data_format=data_format
        )
    if about is not None:
        dataset.storage.update_episode_metadata(about)
    return dataset


@pytest.mark.parametrize("key", ["task", "mission", "instruction"])
@pytest.mark.parametrize("place", ["metadata", "options", "infos"])
def test_the_task_of_a_foreign_dataset_is_found(key, place):
    if place == "metadata":
        foreign(about=[{key: "a then b"}] * 2)
    elif place == "options":
        foreign(options={key: "a then b"})
    else:
        foreign(infos={key: ["a then b"] * 4})
    demos = import_minari("foreign-v0")
    assert demos == [Demonstration(np.arange(8.0).reshape(4, 2), np.arange(3), "a then b")] * 2
    assert minari_world("foreign-v0") is None


def test_a_foreign_dataset_without_tasks_comes_without_descriptions():
    dataset, notes = foreign(infos={"speed": [1.0] * 4}), []
    assert [demo.task for demo in import_minari("foreign-v0", note=notes.append)] == ["", ""]
    assert notes == ["2 of 2 recordings have come without a description"]
    with pytest.raises(StoreError, match="'foreign-v0', episode 0 has no text 'goal' in its metadata, options, infos"):
        import_minari("foreign-v0", task_key="goal")
    dataset.storage.update_episode_metadata([{"goal": "a"}, {"goal": "b"}])
    assert [demo.task for demo in import_minari("foreign-v0", task_key="goal")] == ["a", "b"]


def test_a_foreign_task_that_does_not_parse_has_a_caret():
    foreign(about=[{"task": "a"}, {"mission": "go to the ball"}])
    source = import_from("minari:foreign-v0")
    assert next(source).task == "a"
    with pytest.raises(StoreError) as caught:
        next(source)
    first, line, caret = str(caught.value).split("\n")
    assert first.startswith("Minari dataset 'foreign-v0', episode 1: the task is not understood: expected 'then'")
    assert line[caret.index("^")] == "t"


def test_observations_of_several_dimensions_become_rows():
    images = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    foreign(images, gym.spaces.Box(0, 255, (5, 3), np.uint8), [{"task": "a"}] * 2)
    assert np.array_equal(import_minari("foreign-v0")[0].states, images.reshape(4, 15))


def grid(**more):
    """A dataset as MiniGrid's are: a small picture of symbols, a direction, a mission in words."""
    parts = gym.spaces.Dict(
        {
            "image": gym.spaces.Box(0, 255, (2, 2, 3), np.uint8),
            "direction": gym.spaces.Discrete(4),
            "mission": gym.spaces.Text(99, charset="abcdefghijklmnopqrstuvwxyz "),
            "camera": gym.spaces.Box(0, 255, (64, 64, 3), np.uint8),
        }
    )
    seen = {
        "image": np.arange(48, dtype=np.uint8).reshape(4, 2, 2, 3),
        "direction": np.arange(4),
        "mission": ["go-there"] * 4,
        "camera": np.zeros((4, 64, 64, 3), np.uint8),
    }
    return foreign(seen, parts, **more)


def test_dict_observations_become_rows_and_what_is_left_out_is_said():
    grid()
    notes = []
    first = import_minari("foreign-v0", note=notes.append)[0]
    assert first.task == "go-there"
    assert np.array_equal(first.states, np.hstack([np.arange(4)[:, None], np.arange(48).reshape(4, 12)]))
    (note,) = notes
    assert note.startswith(
        "a state is made of direction int64[], image uint8[2, 2, 3]; left out: camera uint8[64, 64, 3]"
    )
    assert "mission (Text)" in note
    assert "--state-keys" in note
    chosen = import_minari("foreign-v0", state_keys=("image", "direction"), dtype="uint8")[0]
    assert chosen.states.dtype == np.uint8
    assert chosen.states[1].tolist() == [*range(12, 24), 1]
    with pytest.raises(StoreError, match=r"has no numbers 'imige' for --state-keys; did you mean image\?"):
        import_minari("foreign-v0", state_keys=("imige",))
    assert import_minari("foreign-v0", task_key="mission", state_keys=("direction",))[1].task == "go-there"


def test_nested_observations_have_paths():
    parts = gym.spaces.Dict({"robot": gym.spaces.Dict({"pose": gym.spaces.Box(-1, 1, (2,), np.float32)})})
    pose = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2)
    foreign({"robot": {"pose": pose}}, parts)
    assert np.array_equal(import_minari("foreign-v0", state_keys=("robot/pose",))[0].states, pose)


def test_an_arrow_dataset_is_read_too():
    foreign(about=[{"task": "a"}] * 2, data_format="arrow")
    assert import_minari("foreign-v0") == [Demonstration(np.arange(8.0).reshape(4, 2), np.arange(3), "a")] * 2


def test_a_foreign_episode_of_the_wrong_length_is_named():
    foreign(np.zeros((3, 2)), about=[{"task": "a"}] * 2)
    with pytest.raises(StoreError, match=r"'foreign-v0', episode 0: .* got 3 states and 3 actions"):
        import_minari("foreign-v0")[0]


def test_missing_empty_and_damaged_minari_datasets_are_one_sentence(tmp_path, datasets):
    with pytest.raises(StoreError) as caught:
        imported("minari:absent-v0")
    assert "no Minari dataset 'absent-v0'" in sentence(caught)
    foreign(episodes=0)
    with pytest.raises(StoreError, match=r"'foreign-v0' holds no episodes"):
        import_minari("foreign-v0")
    export_minari(stored(tmp_path, made(3)), "broken-v0")
    (datasets / "broken-v0/data/main_data.hdf5").write_bytes(b"not HDF5")
    with pytest.raises(StoreError) as caught:
        (import_minari("broken-v0"))
    assert "cannot read Minari dataset 'broken-v0'" in sentence(caught)
    (datasets / "broken-v0/data/metadata.json").write_text("{}")
    with pytest.raises(StoreError) as caught:
        import_minari("broken-v0")
    assert "cannot open Minari dataset 'broken-v0'" in sentence(caught)


# .npz


def npz(tmp_path, demos, **changes):
    """The demonstrations as a user would save them, with some arrays changed; None leaves one out."""
    arrays = {
        "states": np.concatenate([demo.states for demo in demos]),
        "actions": np.concatenate([demo.actions for demo in demos]),
        "lengths": np.array([len(demo) for demo in demos]),
        "tasks": np.array([demo.task for demo in demos]),
        "settings": np.array([demo.setting for demo in demos]),
        **changes,
    }
    path = tmp_path / "own.npz"
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_npz_comes_in_as_it_is(tmp_path):
    for demos in (made(5, widths=(4,)), made(5, (4,), "float32", "float32", 2), made(1, widths=(3,))):
        assert (imported(npz(tmp_path, demos))) == demos
    bare = imported(str(npz(tmp_path, demos, settings=None)))
    assert [demo.setting for demo in bare] == [""]


THREE = [Demonstration(np.arange(2.0 * (n + 1)).reshape(n + 1, 2), np.arange(n), "a then b") for n in (2, 3, 4)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tasks": None}, "has no array 'tasks'; it needs states, actions, lengths and tasks"),
        (
            {"lengths": np.array([2, 3, 5])},
            "episode 2: 'actions' ends before it is whole; .* 10 actions .* there are 9",
        ),
        ({"lengths": np.array([2, 3, 3])}, "episode 2: 'actions' goes on after this last one"),
        ({"lengths": np.array([2, 0, 7])}, "episode 1: its length is 0, it needs at least one action"),
        ({"lengths": np.array([2, -3, 10])}, "episode 1: its length is -3"),
        ({"lengths": np.array([2.0, 3.0, 4.0])}, "'lengths' must be whole numbers in 1 dimensions, not float64"),
        ({"lengths": np.zeros(0, int)}, "'lengths' is empty"),
        (
            {"states": np.zeros((9, 2))},
            r"episode 2: 'states' ends .* asks for 12 states .* are 9 \(n actions go with n \+ 1",
        ),
        ({"states": np.zeros((4, 2))}, "episode 1: 'states' ends before it is whole"),
        ({"states": np.zeros((13, 2))}, "episode 2: 'states' goes on after this last one"),
        ({"states": np.zeros(12)}, r"'states' must be numbers in 2 dimensions, not float64 of shape \[12\]"),
        ({"states": np.full((12, 2), "x")}, "'states' must be numbers"),
        ({"actions": np.zeros((9, 1, 1))}, "'actions' must be numbers in 1 or 2 dimensions"),
        ({"tasks": np.array(["a", "b"])}, "episode 2: 'tasks' ends before it is whole"),
        ({"tasks": np.array([1, 2, 3])}, "'tasks' must be texts in 1 dimensions, not int64"),
        (
            {"tasks": np.array(["a", "b", "c"], dtype=object)},
            "not a readable .npz file of numbers and texts: .*would need pickle",
        ),
        ({"settings": np.array([""] * 4)}, "episode 2: 'settings' goes on after this last one"),
    ],
)
def test_an_npz_that_does_not_fit_is_one_sentence(tmp_path, changes, message):
    with pytest.raises(StoreError, match=f"own.npz.*{message}") as caught:
        imported(npz(tmp_path, THREE, **changes))
    sentence(caught)


def test_an_npz_task_that_does_not_parse_has_a_caret(tmp_path):
    source = import_from(npz(tmp_path, THREE, tasks=np.array(["a", "a then", "b"])))
    next(source)
    with pytest.raises(StoreError) as caught:
        next(source)
    assert "own.npz, episode 1: the task is not understood" in str(caught.value)
    assert str(caught.value).endswith("\n  a then\n        ^")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", b"plain text", b"\x80\x04K\x01."])
def test_a_file_that_is_no_npz_is_one_sentence(tmp_path, content):
    (tmp_path / "own.npz").write_bytes(content)
    with pytest.raises(StoreError, match=r"own.npz is not a readable .npz file") as caught:
        imported(tmp_path / "own.npz")
    sentence(caught)


def test_a_single_array_is_no_npz(tmp_path):
    with (tmp_path / "own.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(StoreError, match=r"own.npz is not a readable .npz file"):
        imported(tmp_path / "own.npz")


# .jsonl


def jsonl(tmp_path, *lines):
    path = tmp_path / "own.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return path


GOOD = {"states": [[0, 1], [2, 3], [4, 5]], "actions": [0, 1], "task": "a then b"}


def test_jsonl_comes_in_line_by_line(tmp_path):
    first, second = Demonstration(np.arange(6).reshape(3, 2), np.arange(2), "a then b"), made(1, dtype="int64")[0]
    wide = {"states": second.states.tolist(), "actions": second.actions.tolist(), "task": second.task, "setting": "ä"}
    path = jsonl(tmp_path, "", GOOD, "  ", wide, "")
    assert (imported(path)) == [first, Demonstration(second.states, second.actions, second.task, "ä")]
    path.rename(tmp_path / "own.JSON")
    assert len(imported(tmp_path / "own.JSON")) == 2
    source = import_from(jsonl(tmp_path, GOOD, "broken"))  # what comes before an error is there before it
    assert next(source) == first
    with pytest.raises(StoreError, match=r"line 2 is not JSON"):
        next(source)


def test_the_first_line_of_a_jsonl_decides_the_dtypes(tmp_path):
    half = {**GOOD, "states": [[0.5], [1], [2]], "actions": [[0.5], [1]]}
    whole = {**GOOD, "states": [[1], [2], [3]], "actions": [[1], [2]]}
    assert [d.states.dtype.name + d.actions.dtype.name for d in imported(jsonl(tmp_path, half, whole))] == [
        "float64float64"
    ] * 2
    with pytest.raises(StoreError, match=r"own.jsonl, line 2: action 0 has 0.5, which int64 cannot hold exactly"):
        (imported(jsonl(tmp_path, whole, half)))
    with pytest.raises(
        StoreError, match=r"line 2: state 0 has 0.5, which int64 cannot hold exactly; choose another dtype"
    ):
        (imported(jsonl(tmp_path, GOOD, {**half, "actions": [0, 1]})))
    path = jsonl(tmp_path, GOOD, {**half, "actions": [0, 1]})
    assert {demo.states.dtype.name for demo in imported(path, "float64")} == {"float64"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON: "),
        ("[" * 200_000, "is not JSON: "),
        ('{"states": "\\ud8', "is not JSON: "),
        ([GOOD], "must be an object with the keys states, actions and task, it is a list"),
        ({}, r"it is the keys \(none\)"),
        ({"states": [[1], [2]], "actions": [0]}, "keys states, actions and task, it is the keys states, actions"),
        ({**GOOD, "task": 3}, "'task' must be text, not 3"),
        ({**GOOD, "setting": {"a": 1}}, "'setting' must be text, not "),
        ({**GOOD, "states": [[1], [2, 3]]}, "'states' has rows of different lengths"),
        ({**GOOD, "states": [["x"], ["y"]]}, "'states' must be a list of numbers"),
        ({**GOOD, "states": [[None, 1]] * 3}, "'states' must be a list of numbers"),
        ({**GOOD, "states": [[10**40, 1]] * 3}, "'states' must be a list of numbers"),
        ({**GOOD, "states": 7}, "'states' must be a list of numbers"),
        ({**GOOD, "states": [1, 2, 3]}, r"a demonstration has states \[T \+ 1, W\]"),
        ({**GOOD, "states": []}, r"a demonstration has states \[T \+ 1, W\]"),
        ({**GOOD, "states": [[1], [2]]}, "got 2 states and 2 actions"),
        ({**GOOD, "states": [[1]], "actions": []}, "got 1 states and 0 actions"),
        ({**GOOD, "actions": "up"}, "'actions' must be a list of numbers"),
    ],
)
def test_a_wrong_line_is_one_sentence(tmp_path, line, message):
    with pytest.raises(StoreError, match=f"own.jsonl, line 3.*{message}") as caught:
        (imported(jsonl(tmp_path, GOOD, "", line)))
    sentence(caught)


def test_a_jsonl_task_that_does_not_parse_has_a_caret(tmp_path):
    with pytest.raises(StoreError) as caught:
        (imported(jsonl(tmp_path, {**GOOD, "task": "a then or b"})))
    assert str(caught.value).startswith(f"{tmp_path / 'own.jsonl'}, line 1: the task is not understood: ")
    assert str(caught.value).endswith("\n  a then or b\n         ^")


def test_a_jsonl_without_lines_or_text_is_one_sentence(tmp_path):
    with pytest.raises(StoreError, match=r"own.jsonl holds no demonstrations"):
        (imported(jsonl(tmp_path, "", " ")))
    (tmp_path / "own.jsonl").write_bytes(b'{"task": "\xff\xfe"}\n')
    with pytest.raises(StoreError, match=r"own.jsonl, line 1 is not JSON"):
        (imported(tmp_path / "own.jsonl"))


# dtypes and sources


@pytest.mark.parametrize(
    ("values", "dtype", "wrong"),
    [
        ([0, 255], "uint8", None),
        ([0, 300], "uint8", "300"),
        ([0, -1], "uint64", "-1"),
        ([0, 2**53], "float64", None),
        ([0, 2**53 + 1], "float64", str(2**53 + 1)),
        ([0.0, 7.0], "int8", None),
        ([0.0, 7.5], "int8", "7.5"),
        ([0.0, 1e300], "float32", r"1e\+300"),
        ([0.0, 1e300], "int64", r"1e\+300"),
        ([0.0, 0.1], "float32", "0.1"),
        ([0.0, 0.5], "float16", None),
        ([0, 1], "bool", None),
        ([0, 2], "bool", "2"),
    ],
)
def test_states_are_converted_without_loss_or_not_at_all(tmp_path, values, dtype, wrong):
    states = np.array([values, values])
    files = (
        npz(tmp_path, [Demonstration(states, np.array([0]), "a")]),
        jsonl(tmp_path, {"states": states.tolist(), "actions": [0], "task": "a"}),
    )
    export_minari(stored(tmp_path, [Demonstration(states, np.array([0]), "a")]), "own-v0")
    for source, where in zip((*files, "minari:own-v0"), ("npz, episode 0", "jsonl, line 1", "episode 0"), strict=True):
        if wrong:
            with pytest.raises(StoreError, match=f"{where}: state 0 has {wrong}, which {dtype} cannot hold exactly"):
                (imported(source, dtype))
        else:
            (demo,) = imported(source, dtype)
            assert demo.states.dtype == dtype
            assert np.array_equal(demo.states.astype(states.dtype), states, equal_nan=states.dtype.kind == "f")


@pytest.mark.parametrize("dtype", ["int7", "object", "U3", "complex64", "datetime64[s]"])
def test_an_unknown_dtype_is_one_sentence(tmp_path, dtype):
    with pytest.raises(StoreError, match=r"is not a dtype for states; use for example uint8") as caught:
        imported(npz(tmp_path, THREE), dtype)
    sentence(caught)


@pytest.mark.parametrize("source", ["own.csv", "own", "", "foreign-v0"])
def test_an_unknown_source_lists_what_is_possible(source):
    with pytest.raises(
        StoreError, match=r"give a .npz, .jsonl or .hdf5 file, a folder of LeRobot's, or minari:ID"
    ) as caught:
        imported(source)
    sentence(caught)


def test_a_missing_file_is_one_sentence(tmp_path):
    (tmp_path / "folder.npz").mkdir()
    for name in ("absent.npz", "absent.jsonl", "absent.json", "folder.npz"):
        with pytest.raises(RsgError, match=f"there is no file .*{name}"):
            imported(tmp_path / name)


def test_minari_is_imported_only_when_it_is_needed():
    code = "import sys, rsg.demos.importing; print([m for m in ('minari', 'h5py', 'pyarrow') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
