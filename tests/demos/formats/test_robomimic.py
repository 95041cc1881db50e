"""robomimic's files, with those of RoboCasa and LIBERO: ours follow its layout, theirs are read, damage is told."""

import json

import h5py
import numpy as np
import pytest

from rsg.core.errors import StoreError
from rsg.demos import Demonstration, Store
from rsg.demos.formats import Options
from rsg.demos.importing import Import, export_to, import_from


def read(path, **options):
    return list(import_from(path, Import(Options(**options))))


LENGTHS = {"demo_2": 3, "demo_10": 2, "demo_7": 4}  # neither dense nor in the order of their names


def foreign(path, next_obs=True, obs=True, text="ep_meta"):
    """A file as robomimic writes it."""
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["total"] = sum(LENGTHS.values())
        data.attrs["env_args"] = json.dumps({"env_name": "Lift", "type": 1, "env_kwargs": {}})
        for name, count in LENGTHS.items():
            demo = data.create_group(name)
            demo.attrs["num_samples"], demo.attrs["model_file"] = count, "<mujoco/>"
            demo["actions"] = np.arange(2.0 * count).reshape(count, 2)
            demo["states"] = np.arange(5.0 * count).reshape(count, 5)
            demo["rewards"], demo["dones"] = np.zeros(count), np.zeros(count, int)
            for kind in ["obs"] * obs + ["next_obs"] * next_obs:
                later = float(kind == "next_obs")
                demo[f"{kind}/eef_pos"] = (np.arange(count * 3.0).reshape(count, 3) / 3 + later).astype(np.float32)
                demo[f"{kind}/gripper"] = np.arange(count) + later
                demo[f"{kind}/agentview_image"] = np.zeros((count, 84, 84, 3), np.uint8)
            if text == "ep_meta":
                demo.attrs["ep_meta"] = json.dumps({"layout_id": 3, "lang": f"do {name}"})
        if text == "problem_info":
            data.attrs["problem_info"] = json.dumps({"language_instruction": "open-drawer"})
        file["mask/train"] = np.array(["demo_2"], dtype="S")
    return path


WORDS = {"do demo_2": "a", "do demo_7": "b then a", "*": ""}


def test_a_file_of_others_is_read(tmp_path):
    notes = []
    how = Import(Options(note=notes.append), words=WORDS)
    found = list(import_from(foreign(tmp_path / "low_dim.hdf5"), how))
    assert [(demo.task, len(demo)) for demo in found] == [("a", 3), ("b then a", 4), ("", 2)]
    with h5py.File(tmp_path / "low_dim.hdf5") as file:
        demo = file["data/demo_7"]
        pose = np.concatenate([demo["obs/eef_pos"], demo["next_obs/eef_pos"][-1:]])
        grip = np.concatenate([demo["obs/gripper"], demo["next_obs/gripper"][-1:]])
        assert np.array_equal(found[1].states, np.hstack([pose, grip[:, None]]))
        assert np.array_equal(found[1].actions, demo["actions"])
    assert notes == [
        "a state is made of eef_pos float32[3], gripper float64[]; left out: agentview_image uint8[84, 84, 3] "
        "(--state-keys chooses and orders)",
        "1 of 3 recordings have come without a description",
    ]


def test_keys_are_chosen_and_ordered(tmp_path):
    path = foreign(tmp_path / "a.hdf5", text="problem_info")
    assert read(path, state_keys=("gripper", "eef_pos"))[0].states[1].tolist() == [1.0, *np.float32([1, 4 / 3, 5 / 3])]
    notes = []
    first = read(path, state_keys=("states",), note=notes.append)[0]
    assert (first.states.shape, first.actions.shape, first.task) == ((3, 5), (2, 2), "open-drawer")
    assert notes == ["the last action of each episode is left out: no state is recorded after it"]


def test_without_next_observations_or_without_any(tmp_path):
    for more in ({"next_obs": False}, {"obs": False, "next_obs": False}):
        found = read(foreign(tmp_path / "a.h5", text="problem_info", **more))
        assert [len(demo) for demo in found] == [2, 3, 1]
        assert [demo.states.shape[1] for demo in found] == [4 if "obs" not in more else 5] * 3


@pytest.mark.parametrize(
    ("key", "place", "value"),
    [
        (None, "data/demo_2", ("language_instruction", "a then b")),
        (None, "data", ("language_instruction", np.bytes_("a then b"))),
        ("goal", "data", ("goal", "a then b")),
        ("about/words", "data/demo_2", ("about", '{"words": "a then b"}')),
    ],
)
def test_where_the_text_may_be(tmp_path, key, place, value):
    path = foreign(tmp_path / "a.hdf5", text=None)
    with h5py.File(path, "r+") as file:
        file[place].attrs[value[0]] = value[1]
        for name in list(LENGTHS)[1:]:
            del file["data"][name]
    assert read(path, task_key=key)[0].task == "a then b"


def test_our_file_has_the_layout_of_robomimic(tmp_path):
    store = Store.create(tmp_path / "store", "kitchen")
    demos = [
        Demonstration(np.arange(6.0).reshape(3, 2), np.array([1, 0]), "a then b", "here"),
        Demonstration(np.arange(4.0).reshape(2, 2), np.array([4]), "b"),
    ]
    store.append(demos)
    export_to(str(tmp_path / "out.hdf5"), store)
    with h5py.File(tmp_path / "out.hdf5", "r", libver="latest", swmr=True) as file:  # as robomimic opens it
        data = file["data"]
        assert sorted(data, key=lambda name: int(name[5:])) == ["demo_0", "demo_1"]
        assert data.attrs["total"] == 3
        args = json.loads(data.attrs["env_args"])
        assert (args["env_name"], args["type"], args["env_kwargs"]) == ("kitchen", 2, {})
        for number, demo in enumerate(demos):
            held = data[f"demo_{number}"]
            assert held.attrs["num_samples"] == len(demo) == len(held["rewards"]) == len(held["dones"])
            assert json.loads(held.attrs["ep_meta"])["lang"] == demo.task
            assert held["actions"].shape == (len(demo), 1)
            assert np.array_equal(held["obs/state"], demo.states[:-1])
            assert np.array_equal(held["next_obs/state"], demo.states[1:])
            assert held["dones"][:].tolist() == [0] * (len(demo) - 1) + [1]
            assert held["rewards"][:].tolist() == [0.0] * (len(demo) - 1) + [1.0]


# Damage


def edit(path, change):
    with h5py.File(path, "r+") as file:
        change(file)


def put(name, values, within="data/demo_7"):
    """A change: other values in the place of a dataset; None removes it."""

    def change(file):
        group = file[within]
        del group[name]
        if values is not None:
            group[name] = values

    return change


def said(name, value, within="data/demo_7"):
    return lambda file: file[within].attrs.__setitem__(name, value)


def rename(file):
    file.move("data/demo_7", "data/seven")


NAN = np.full((4, 3), np.nan, np.float32)
DAMAGE = {
    "cut": (lambda p: p.write_bytes(p.read_bytes()[:3000]), "is not a readable HDF5 file|cannot read"),
    "empty": (lambda p: p.write_bytes(b""), "is not a readable HDF5 file"),
    "not HDF5": (lambda p: p.write_text("states,actions"), "is not a readable HDF5 file"),
    "no data": (lambda file: file.move("data", "dota"), "has no group 'data' with episodes; it has dota, mask"),
    "data is an array": (lambda file: (file.pop("data"), file.__setitem__("data", [1])), "has no group 'data'"),
    "no episodes": (lambda file: [file["data"].pop(name) for name in LENGTHS], "holds no episodes"),
    "an odd name": (rename, "data/seven is no episode; those are named demo_0"),
    "an episode is an array": (put("demo_7", [1.0], "data"), "demo_7 must be a group, not one array"),
    "no states at all": (
        lambda file: [file[f"data/demo_2/{name}"] and file["data/demo_2"].pop(name) for name in ("obs", "states")],
        "demo_2 has no vectors of numbers that a state could be made of",
    ),
    "only pictures": (
        lambda file: [file["data/demo_2/obs"].pop(name) for name in ("eef_pos", "gripper")],
        "demo_2 has no vectors .* --state-keys agentview_image takes the picture",
    ),
    "a key is missing": (put("obs/gripper", None), "demo_7 has no dataset 'obs/gripper', which others have"),
    "other lengths": (
        put("obs/gripper", [1.0] * 3),
        "the parts of its states have different lengths: eef_pos 4, gripper 3",
    ),
    "too few actions": (put("actions", np.zeros((2, 2))), "there are 2 actions, and 4 observations to take them at"),
    "actions in a box": (put("actions", np.zeros((4, 2, 2))), r"actions must be \[T, D\], not \[4, 2, 2\]"),
    "actions in words": (put("actions", ["up"] * 4), "actions must be numbers with a row for each step"),
    "states in words": (put("obs/gripper", ["x"] * 4), "obs/gripper must be numbers with a row for each step"),
    "one number": (put("obs/gripper", 3.0), "obs/gripper must be numbers with a row for each step"),
    "no steps": (put("obs/eef_pos", np.zeros((0, 3))), "obs/eef_pos is empty"),
    "NaN": (put("obs/eef_pos", NAN), "demo_7: state 0 holds NaN"),
    "NaN in an action": (put("actions", np.full((4, 2), np.nan)), "demo_7: action 0 holds NaN"),
    "fewer next": (put("next_obs/gripper", [1.0] * 3), "next_obs/gripper has 3 steps, obs/gripper has 4"),
    "wider next": (put("next_obs/gripper", np.ones((4, 2))), "next_obs/gripper and obs/gripper have different shapes"),
    "other widths": (put("obs/gripper", np.ones((4, 2))), "next_obs/gripper and obs/gripper have different shapes"),
    "the text is no JSON": (said("ep_meta", "{"), "demo_7: the attribute 'ep_meta' is not JSON"),
    "the text is a list": (said("ep_meta", "[]"), "the attribute 'ep_meta' must be an object, not a list"),
    "the text is a number": (said("ep_meta", '{"lang": 3}'), "the text in 'ep_meta' must be text, not a int"),
    "the text is no UTF-8": (said("ep_meta", np.bytes_(b'{"lang": "\xff"}')), "'ep_meta' is not UTF-8 text"),
    "the text is an array": (said("ep_meta", np.arange(3)), "'ep_meta' must be text, not a ndarray"),
    "the text is no task": (said("ep_meta", '{"lang": "Pick, then place!"}'), "demo_7: the task is not understood"),
    "our note is damaged": (said("rsg", "{}", "data"), "the attribute 'rsg' of data names no action_shape"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_one_sentence(tmp_path, name):
    damage, message = DAMAGE[name]
    path = foreign(tmp_path / "a.hdf5")
    if name in ("cut", "empty", "not HDF5"):
        damage(path)
    else:
        edit(path, damage)
    how = Import(words=None if name == "the text is no task" else {"do demo_2": "a", "*": "b"})
    if name == "the text is no task":
        edit(
            path,
            lambda file: [
                file[f"data/{one}"].attrs.__setitem__("ep_meta", '{"lang": "a"}') for one in ("demo_2", "demo_10")
            ],
        )
    with pytest.raises(StoreError, match=message) as caught:
        list(import_from(path, how))
    assert str(path) in str(caught.value)
    assert name == "the text is no task" or "\n" not in str(caught.value)


def test_keys_that_are_not_there_are_one_sentence(tmp_path):
    path = foreign(tmp_path / "a.hdf5", text="problem_info")
    with pytest.raises(StoreError, match=r"has no numbers 'eef-pos' for --state-keys; did you mean eef_pos\?"):
        read(path, state_keys=("eef-pos",))
    with pytest.raises(StoreError, match="demo_2 has no attribute 'goal' for --task-key, nor has data"):
        read(path, task_key="goal")
    with pytest.raises(StoreError, match=r"there is no file .*b\.hdf5"):
        read(tmp_path / "b.hdf5")
