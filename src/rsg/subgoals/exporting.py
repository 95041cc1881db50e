"""Networks for those who run them without rsg, and without Python: ONNX."""

import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.utils import _pytree as pytree

from rsg.core import extras
from rsg.core.arrays import Array, Floats
from rsg.core.errors import RsgError, cause_of
from rsg.core.files import replacing
from rsg.core.version import __version__
from rsg.subgoals.classifiers import Classifiers, as_tensor, log_sigmoid, mapped
from rsg.subgoals.readings import Readings
from rsg.worlds import EitherWorld, Seen
from rsg.worlds.seen import columns_of, kinds_of, parts_of

CLOSE = 1e-3  # how far a logarithm may be off, beside the largest
OUTPUTS = {
    "log_g": "[states, terms]: the logarithm of how likely it is that the subgoal is true",
    "log_i": "[states, terms]: the logarithm of how likely it is that the subgoal is yet to be done",
}


class Exported(NamedTuple):
    """What a file holds.

    Attributes:
        terms: those that the network knows, in the order of the outputs' columns.
        formulas: those that are formulas and not in the file.
        inputs: of each part of what `encode` gives its kind, dtype, shape, and what its columns are called.
        off: how far it was from what rsg computes, at most, for the states that it was tried on.

    >>> Exported(("light-lamp",), ("read-book",), {}, 0.0).terms
    ('light-lamp',)
    """

    terms: tuple[str, ...]
    formulas: tuple[str, ...]
    inputs: dict[str, dict[str, Any]]
    off: float


class _Answers(nn.Module):
    """From what a world shows of states to log G and log I, each `[N, terms]`."""

    def __init__(self, network: Classifiers) -> None:
        super().__init__()
        self.network = network

    def forward(self, seen: Any) -> tuple[Tensor, Tensor]:
        odds = self.network(self.network.taken(seen), range(len(self.network.terms)))
        return nn.functional.logsigmoid(odds[..., 0]), nn.functional.logsigmoid(odds[..., 1])


def to_onnx(classifiers: Classifiers, world: EitherWorld, states: Array, path: str | Path, encoder: str) -> Exported:
    """Write a network as an ONNX file, and try it with onnxruntime; see `Subgoals.to_onnx`.

    encoder: what it is called.
    """
    if not extras.installed("onnx"):
        raise RsgError(f"ONNX takes packages that are not installed: {extras.command('onnx')}")
    read = tuple(classifiers.readings) if isinstance(classifiers, Readings) else ()
    network = network_of(classifiers)
    if len(states) < 2:
        raise RsgError("a network is exported by what it does with several states; give at least two")
    seen = world.encode(states)
    odds = network.evaluate(world, states, range(len(network.terms)))
    inputs = {name: _told(world, name, part) for name, part in parts_of(seen).items()}
    about = {"rsg": __version__, "encoder": encoder, "terms": network.terms, "inputs": inputs, "outputs": OUTPUTS}
    with replacing(Path(path)) as file:
        _write(network, seen, about, file)
        off = _off(file, seen, log_sigmoid(odds))
        if not off <= CLOSE * (1 + np.abs(odds).max()):
            raise RsgError(
                f"this network sees in a way of its own, which is no part of it: a file would be {off:.2g} off"
            )
    return Exported(network.terms, read, inputs, off)


def network_of(classifiers: Classifiers) -> Classifiers:
    """The network of classifiers; an error if formulas say it all."""
    network = classifiers.network if isinstance(classifiers, Readings) else classifiers
    if network is None or not network.terms:
        raise RsgError("all terms are formulas: there is no network to export, and `rsg readings` says what they are")
    return network


def _told(world: EitherWorld, name: str, part: Array) -> dict[str, Any]:
    """What a part of what is seen means."""
    kind = kinds_of(world, {name: part})[name]
    count = part.shape[-1] if part.ndim > 3 or kind == "things" else int(np.prod(part.shape[1:]))
    named = columns_of(world, name, count)
    columns = [{"name": one.name, "values": {f"{key:g}": word for key, word in one.values.items()}} for one in named]
    return {"kind": kind, "dtype": str(part.dtype), "shape": list(part.shape[1:]), "columns": columns}


def _write(network: Classifiers, seen: Seen, about: Mapping[str, Any], path: Path) -> None:
    """An ONNX file for any number of states, which says what it is."""
    import onnx

    given = mapped(as_tensor, seen)
    sizes = mapped(lambda part: [Dim("states"), *[Dim.AUTO] * (part.ndim - 1)], given)
    how: Any = {"kwargs": {"seen": given}, "dynamic_shapes": {"seen": sizes}, "dynamo": True, "verbose": False}
    how |= {"input_names": list(about["inputs"]), "output_names": list(OUTPUTS)}
    answers = _Answers(network.cpu().eval())
    with _hushed(), torch.no_grad():
        answers(given)  # which says what is wrong with the network itself
        try:
            made = torch.onnx.export(answers, **how)
        except (torch.onnx.errors.OnnxExporterError, RuntimeError) as error:
            raise RsgError(f"torch cannot write this network as ONNX: {cause_of(error.__cause__ or error)}") from error
    assert made is not None
    model = made.model_proto
    onnx.helper.set_model_props(model, {key: _text(value) for key, value in about.items()})
    onnx.save(model, path)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _off(path: Path, seen: Seen, wanted: Floats) -> float:
    """How far a file is from what is wanted, `[N, terms, 2]`, at most."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    parts = dict(zip(parts_of(seen), pytree.tree_leaves(mapped(np.asarray, seen)), strict=True))
    found = session.run(None, {one.name: parts[one.name] for one in session.get_inputs()})
    return float(np.abs(np.stack(found, axis=-1) - wanted).max())


@contextmanager
def _hushed() -> Iterator[None]:
    """Without what torch has to say to those who write exporters."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
