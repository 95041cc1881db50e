"""What a format of demonstrations is, and what all formats share."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError, StoreError, meant
from rsg.core.progress import say
from rsg.demos.labels import Labels
from rsg.demos.store import Store


@dataclass(frozen=True)
class Options:
    """How a source is read, or a file written.

    Attributes:
        state_keys: which of the vectors of a recording make up its states, in this order; none: all of them.
        task_key: where the text is, if not where the format usually has it.
        dtype: that of the states.
        fps: what a format with a clock is told: steps a second.
        note: is told what was left out.
        shapes: gets the shape of each part of a state, by its key.
        labels: of each recording, in the same order; what is written has them too.
        copied: a dataset of the same format, which is written once more, with labels, in the place of a store.
        lerobot: the version of LeRobot that shall read the labels.
    """

    state_keys: tuple[str, ...] = ()
    task_key: str | None = None
    dtype: str | None = None
    fps: int = 10
    note: Callable[[str], None] = say
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    labels: Labels | None = None
    copied: str | None = None
    lerobot: str = "0.6"

    @property
    def parts(self) -> dict[str, tuple[int, ...]] | None:
        """The shapes of what makes up a state, where that is more than one row of numbers."""
        rows = len(self.shapes) == 1 and all(len(shape) == 1 for shape in self.shapes.values())
        return None if rows or not self.shapes else self.shapes


class Recording(NamedTuple):
    """An episode as a format has it: states `[T + 1, W]`, actions if there are any, the text as it was written.

    `where` names it in messages: the file and the episode.
    """

    where: str
    states: Array
    actions: Array | None
    text: str
    setting: str = ""


class Format(Protocol):
    """One format: which sources it fits, how its episodes come in one by one, and how a store goes out.

    Attributes:
        name: as `--format` takes it.
        about: a line for help.
        target: how what it writes is named, for help; empty if it is only read.
    """

    name: str
    about: str
    target: str

    def fits(self, source: str) -> bool:
        """Whether a source looks like one, by its name or by what is in the folder."""
        ...

    def suits(self, target: str) -> bool:
        """Whether a new file or folder of that name would be one."""
        ...

    def world(self, source: str) -> str | None:
        """The world that the source says it is of, if it comes from here."""
        ...

    def read(self, source: str, options: Options) -> Iterator[Recording]:
        """The episodes, one after the other: what is in memory does not grow with the source."""
        ...

    def write(self, store: Store, target: str, options: Options) -> None:
        """Write a store: all of it, or nothing."""
        ...


# Reading.


@contextmanager
def one_sentence(problem: str) -> Iterator[None]:
    """Libraries raise errors of any type when a file is not as they like it; this makes one sentence of them."""
    try:
        yield
    except RsgError:
        raise
    except Exception as error:
        raise StoreError(f"{problem}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    line = next(iter(str(error).splitlines()), "") or type(error).__name__
    return "".join(" " if unicodedata.category(char)[0] == "C" else char for char in line)[:200]


def existing(source: str) -> Path:
    """The file, which must be there."""
    if not Path(source).is_file():
        raise StoreError(f"there is no file {source}")
    return Path(source)


def text_of(value: object, where: str) -> str:
    """A text as files have it: text, or UTF-8."""
    try:
        text = value.decode("utf-8") if isinstance(value, bytes) else value
        if isinstance(text, str):
            text.encode("utf-8")  # a library may hand on what it could not decode
            return str(text)
    except UnicodeError:
        raise StoreError(f"{where} is not UTF-8 text") from None
    raise StoreError(f"{where} must be text, not a {type(value).__name__}")


class Part(NamedTuple):
    """One of the arrays of a recording, of one step: what makes up a state, or could."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def is_picture(self) -> bool:
        """Whether it is more for eyes than for models: smaller arrays, as of grids, hold facts."""
        return len(self.shape) >= 3 and sorted(self.shape)[-2] >= 32

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


def chosen(there: Mapping[str, Part], where: str, options: Options, left_out: str = "") -> list[str]:
    """The keys of what makes up a state: those that were asked for, or all vectors, which is said.

    left_out: what could not be taken at all, in words.
    """
    if missing := [key for key in options.state_keys if key not in there]:
        raise StoreError(f"{where} has no numbers '{missing[0]}' for --state-keys; {meant(missing[0], there)}")
    vectors = [key for key, part in there.items() if not part.is_picture]
    taken = list(options.state_keys) or vectors
    if not taken:
        held = f"; it holds {left_out or 'none'}" if not there else ""
        named = "".join(f"; --state-keys {key} takes the picture" for key in list(there)[:1])
        raise StoreError(f"{where} has no vectors of numbers that a state could be made of{held}{named}")
    options.shapes.update({key: there[key].shape for key in taken})
    if not options.state_keys:
        listed = ", ".join(f"{key} {there[key]}" for key in taken)
        others = ", ".join(filter(None, [*(f"{key} {there[key]}" for key in there if key not in taken), left_out]))
        less = f"; left out: {others}" if others else ""
        options.note(f"a state is made of {listed}{less} (--state-keys chooses and orders)")
    return taken


def as_rows(parts: Mapping[str, Array], where: str) -> Array:
    """Arrays `[N, ...]` side by side as rows `[N, W]`, in a dtype that holds all of their numbers."""
    dtype = np.result_type(*(part.dtype for part in parts.values()))
    lengths = {len(part) for part in parts.values()}
    if len(lengths) > 1:
        listed = ", ".join(f"{key} {len(part)}" for key, part in parts.items())
        raise StoreError(f"{where}: the parts of its states have different lengths: {listed}")
    flat = [lossless(part.reshape(len(part), -1), dtype, f"{where}: {key}") for key, part in parts.items()]
    return flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)


def lossless(array: Array, dtype: np.dtype[Any] | None, what: str, advice: str = "choose another dtype") -> Array:
    """The array in another dtype, if that changes no number; `what` names it in messages."""
    if dtype is None or array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):
        new = array.astype(dtype)
        same = (new == array) & (new.astype(array.dtype) == array)  # -1 in uint64 passes one test, 2**53 + 1 the other
    same |= np.not_equal(array, array) & np.not_equal(new, new)  # not a number, before and after
    if not same.all():
        place = tuple(np.argwhere(~same)[0])
        raise StoreError(f"{what} {place[0]} has {array[place]}, which {dtype} cannot hold exactly; {advice}")
    return new


def dtype_named(name: str | None) -> np.dtype[Any] | None:
    """The dtype of that name, or an error that says which there are."""
    try:
        dtype = None if name is None else np.dtype(name)
    except TypeError:
        dtype = np.dtype(object)
    if dtype is not None and dtype.kind not in "biuf":
        raise StoreError(f"'{name}' is not a dtype for states; use for example uint8, int64 or float32")
    return dtype


# Writing.


@dataclass(frozen=True)
class Survey:
    """What a store holds, for formats that must know before they begin.

    Attributes:
        episodes, steps: how many.
        states: their dtype; width: the largest; widths: whether there are several.
        actions: their dtype, None if there are none; shape: of one action.
        low, high: the least and the largest action, if they are whole numbers.
        texts: the characters of the longest task and of the longest setting.
    """

    episodes: int
    steps: int
    states: np.dtype[Any]
    width: int
    widths: bool
    actions: np.dtype[Any] | None
    shape: tuple[int, ...]
    low: int
    high: int
    texts: tuple[int, int]


def survey(store: Store, what: str, widest: int = 8) -> Survey:
    """A first pass over a store; an error says what the format cannot hold.

    what: the words for a file of the format. widest: the most bytes of a number.
    """
    kinds, widths, low, high, texts = set(), set(), 0, 0, (0, 0)
    for number, demo in enumerate(store):
        done = demo.actions
        kinds.add((demo.states.dtype, None if done is None else (done.dtype, done.shape[1:])))
        widths.add(demo.states.shape[1])
        texts = max(texts[0], len(demo.task)), max(texts[1], len(demo.setting))
        for name, values in (("state", demo.states), ("action", done)):
            if values is not None and values.dtype.kind == "f" and np.isnan(values).any():
                step = int(np.argwhere(np.isnan(values))[0][0])
                raise StoreError(f"{store.folder}, episode {number}: {name} {step} holds NaN, which is not exported")
        if done is not None and done.dtype.kind in "iu" and done.size:
            low, high = min(low, int(done.min())), max(high, int(done.max()))
    if not kinds:
        raise StoreError(f"{store.folder} holds no demonstrations to export")
    if len(kinds) > 1:
        listed = " and ".join(sorted(_in_words(states, done) for states, done in kinds))
        raise StoreError(f"{what} has one kind of states and actions, {store.folder} has {listed}")
    ((states, acted),) = kinds
    actions, shape = acted or (None, ())
    if wide := next((one for one in (states, actions) if one is not None and one.itemsize > widest), None):
        raise StoreError(f"{what} cannot hold {wide}; {store.folder} has such numbers")
    return Survey(len(store), store.steps, states, max(widths), len(widths) > 1, actions, shape, low, high, texts)


def _in_words(states: np.dtype[Any], actions: tuple[np.dtype[Any], tuple[int, ...]] | None) -> str:
    return f"{states} states with " + (f"{actions[0]} actions {actions[1]}" if actions else "no actions")


def padded(rows: Array, width: int) -> Array:
    """Rows with zeros on their right, so that all are of one width."""
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


def check_free(target: str) -> Path:
    """Where something new is written: an error if anything is there."""
    if Path(target).exists():
        raise StoreError(f"{target} exists already; choose another name, or remove it first")
    return Path(target)
