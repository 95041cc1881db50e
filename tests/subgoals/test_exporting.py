"""Networks as ONNX files: onnxruntime says what torch says, of states that were not there when they were written."""

import json
import logging
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import rsg
from rsg.core import extras
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domain import find
from rsg.subgoals import Subgoals
from rsg.subgoals.building import build, preset, shape_of
from rsg.subgoals.classifiers import log_sigmoid
from rsg.worlds.corridor import Corridor
from rsg.worlds.seen import parts_of

onnxruntime = pytest.importorskip("onnxruntime")
TERMS = ("mine-wood", "grab-axe", "craft-bed")


class Show(Corridor):
    """A corridor in which all that a network can see is to be seen."""

    def encode(self, states):
        rng, count = stream(0, "show"), len(states)
        numbers = np.stack([states[:, 0] / 3.0, rng.random(count)], axis=1)
        things = np.stack([states[:, :2] + 1, rng.integers(0, 3, (count, 2))], axis=-1)
        grid = (states[:, :1, None, None] + np.arange(20).reshape(4, 5, 1)) % 7
        photo = np.broadcast_to((20 * states[:, :1, None, None]).astype(np.uint8), (count, 10, 13, 3))
        return {"numbers": numbers, "things": things, "grid": grid, "photo": photo}


class Sum(nn.Module):
    """An encoder of one's own."""

    def forward(self, seen):
        numbers, photo = seen["numbers"], seen["photo"].float() / 255
        return torch.cat([numbers, photo.mean(dim=(1, 2))], dim=1)


def crafting():
    """A map, and states that somebody wanders through."""
    rng, states = stream(3, "wander"), []
    world, state = find("crafting").start(["craft-bed"], rng)
    for _ in range(40):
        states.append(state)
        state = world.step(state[None], rng.integers(5, size=1))[0]
    return world, np.stack(states)


def corridor():
    world = Show()
    return world, world.sample(stream(0, "somewhere"), 40)


def playroom():
    world = find("playroom").start([], stream(0, "room"))[0]
    return world, world.sample(stream(1, "poses"), 40)


def network(name, world, states, single=False, encoder=None, seed=0):
    """Subgoals with random weights."""
    settings = replace(preset(name), hidden=8, single=single)
    seen = world.encode(states[:1])
    made = build(settings, (), shape_of(settings, seen, world) if encoder is None else {}, encoder, seen)
    made.meet(world, states[::2])
    made.grow(TERMS, seed)
    rng = stream(seed, "weights")
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.as_tensor(rng.normal(0, 0.4, tuple(parameter.shape))))
    return Subgoals(made, settings)


def answers(path, seen):
    """What the file says of what is seen, `[N, terms, 2]`."""
    session = onnxruntime.InferenceSession(path)
    parts = parts_of(seen)
    return np.stack(session.run(None, {one.name: parts[one.name] for one in session.get_inputs()}), axis=-1)


@pytest.mark.parametrize(
    ("name", "place", "single"),
    [
        ("sets", crafting, False),
        ("seen", crafting, True),
        ("relative", playroom, True),
        ("pictures", corridor, False),
    ],
)
def test_the_file_says_what_the_network_says(name, place, single, tmp_path, caplog, capfd):
    world, states = place()
    subgoals = network(name, world, states, single)
    with caplog.at_level(logging.DEBUG):
        found = subgoals.to_onnx(tmp_path / "net.onnx", states[:5], world)
    assert capfd.readouterr() == ("", "")
    assert (found.terms, found.formulas) == (TERMS, ())
    assert found.off < 1e-4
    for some in (states, states[7:8]):
        wanted = log_sigmoid(subgoals.classifiers.evaluate(world, some, range(3)))
        assert np.allclose(answers(tmp_path / "net.onnx", world.encode(some)), wanted, atol=1e-4)
    assert np.ptp(wanted) > 0.01
    about = onnxruntime.InferenceSession(tmp_path / "net.onnx").get_modelmeta().custom_metadata_map
    assert (json.loads(about["terms"]), about["encoder"]) == (list(TERMS), name)
    assert json.loads(about["inputs"]) == json.loads(json.dumps(found.inputs))
    if name == "relative":
        names = [one["name"] for one in found.inputs["seen"]["columns"]]
        assert names[:5] == ["robot x", "robot y", "robot cosine", "robot sine", "ball x"]
    assert "yet to be done" in json.loads(about["outputs"])["log_i"]


def test_another_map_fits_too(tmp_path):
    world, states = crafting()
    subgoals = network("sets", world, states)
    things = subgoals.to_onnx(tmp_path / "net.onnx", states, world).inputs["objects"]
    assert (things["kind"], things["dtype"], things["shape"][1]) == ("things", "uint8", 5)
    assert [one["name"] for one in things["columns"]] == ["type", "row", "column", "status", "agent here"]
    assert "tree" in things["columns"][0]["values"].values()
    other, start = find("crafting").start([], stream(5, "other"))
    large = type(world)(9, 4, capacity=3)
    for there, some in ((other, start[None]), (large, large.sample(stream(0, "large"), 6))):
        wanted = log_sigmoid(subgoals.classifiers.evaluate(there, some, range(3)))
        assert np.allclose(answers(tmp_path / "net.onnx", there.encode(some)), wanted, atol=1e-4)


def test_an_encoder_of_ones_own(tmp_path):
    world, states = corridor()
    subgoals = network("mine", world, states, encoder=Sum)
    subgoals.to_onnx(tmp_path / "net.onnx", states, world)
    wanted = log_sigmoid(subgoals.classifiers.evaluate(world, states, range(3)))
    assert np.allclose(answers(tmp_path / "net.onnx", world.encode(states)), wanted, atol=1e-4)


def test_what_cannot_be_exported_is_one_sentence(tmp_path, monkeypatch):
    world, states = crafting()
    path = tmp_path / "net.onnx"
    with pytest.raises(RsgError, match="the encoder 'image' cuts pictures into tiles, which is no part of a network"):
        network("image", world, states).to_onnx(path, states, world)
    sets = network("sets", world, states)
    with pytest.raises(RsgError, match="give at least two"):
        sets.to_onnx(path, states[:1], world)
    with pytest.raises(RsgError, match="do not know what they were shown; give states and their world"):
        sets.to_onnx(path)
    kind = type(sets.classifiers)
    monkeypatch.setattr(kind, "evaluate", lambda *_: np.zeros((len(states), 3, 2)))
    with pytest.raises(RsgError, match="sees in a way of its own"):
        sets.to_onnx(path, states, world)
    monkeypatch.setattr(extras, "there", lambda module: module != "onnxscript")
    with pytest.raises(RsgError, match=r"pip install -c constraints.txt -e '.\[onnx\]'"):
        sets.to_onnx(path, states, world)
    assert not list(tmp_path.iterdir())


def test_the_network_beside_formulas_is_exported_and_formulas_are_not(tmp_path):
    walks = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    subgoals = rsg.learn(walks, Corridor())
    with pytest.raises(RsgError, match="all terms are formulas: there is no network to export"):
        subgoals.to_onnx(tmp_path / "net.onnx")
    world, states = Corridor(), Corridor().sample(stream(0, "x"), 9)
    subgoals.classifiers.network = network("seen", world, states).classifiers
    found = subgoals.to_onnx(tmp_path / "net.onnx")
    assert (found.terms, found.formulas) == (TERMS, ("light-lamp", "read-book"))
    wanted = log_sigmoid(subgoals.classifiers.network.evaluate(world, states, range(3)))
    assert np.allclose(answers(tmp_path / "net.onnx", world.encode(states)), wanted, atol=1e-4)
