"""How states are saved and brought back: by functions of the user's, by the environment's own, or by looking into it."""

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.worlds.wrapping.layers import Played, chain
from rsg.worlds.wrapping.objects import Left, Objects, Snapshot, Strange

PAIRS = (  # names under which environments save and restore
    *(("clone_full_state", "restore_full_state"), ("clone_state", "restore_state"), ("save_state", "restore_state")),
    *(("save_state", "load_state"), ("get_state", "set_state"), ("get_env_state", "set_env_state")),
    *(("get_snapshot", "restore_snapshot"), ("snapshot", "restore"), ("save", "restore"), ("save", "load")),
    *(("state_dict", "load_state_dict"), ("serialize", "deserialize"), ("getstate", "setstate")),
)
COPY = "copy"  # save="copy": look into the environment though it has a pair of its own
_DIGITS = 6  # bytes of a digest in one number of a row: a float64 holds them


class Saving(Protocol):
    """A way of saving what an environment is in.

    Attributes:
        how: that in a sentence.
        own: whether the user or the environment says how: then it must keep what they promise.
    """

    how: str
    own: bool

    def take(self) -> Any:
        """A snapshot of now."""
        ...

    def put(self, snapshot: Any) -> None:
        """Back to it."""
        ...

    def numbers(self, snapshot: Any) -> Array:
        """A snapshot as a row `[W]`, or what stands for it."""
        ...

    def snapshot(self, row: Array) -> Any:
        """The snapshot of a row that was never met; None if a row is not enough."""
        ...

    def moved(self) -> None:
        """The environment was stepped or looked at."""
        ...


class ByFunctions:
    """Two functions, one that saves and one that restores."""

    own = True

    def __init__(self, save: Callable[[], Any], restore: Callable[[Any], Any], how: str) -> None:
        self.take, self.put, self.how = save, restore, how
        self._form: tuple[type, np.dtype[Any], tuple[int, ...]] | None = None

    def numbers(self, snapshot: Any) -> Array:
        """Plain numbers are a row themselves; for anything else stands its digest."""
        try:
            plain = np.asarray(snapshot) if isinstance(snapshot, int | float | tuple | list | np.ndarray | np.generic) else None
        except ValueError:
            plain = None
        if plain is not None and plain.dtype.kind in "biuf" and plain.size:
            self._form = type(snapshot), plain.dtype, plain.shape
            wide = np.float64 if plain.dtype.kind == "f" else np.int64
            return (plain.astype(wide) + wide(0)).ravel()
        self._form = None
        return digits(spelled(snapshot))

    def snapshot(self, row: Array) -> Any:
        """The same numbers in their own form."""
        if self._form is None:
            return None
        kind, dtype, shape = self._form
        plain = row.astype(dtype).reshape(shape)
        return plain if issubclass(kind, np.ndarray) else kind(plain.tolist())

    def moved(self) -> None:
        """Nothing is remembered."""


class InPlace:
    """All objects of the environment."""

    own = False

    def __init__(self, played: Played, left: Left = frozenset()) -> None:
        self.objects = Objects(played.env, left)
        self.take, self.put, self.moved = self.objects.take, self.objects.put, self.objects.moved
        self.how = "all that the environment holds is saved and put back"

    def numbers(self, snapshot: Snapshot) -> Array:
        """A digest."""
        return digits(snapshot.digest)

    def snapshot(self, row: Array) -> Any:  # noqa: ARG002
        """A digest is not enough."""
        return None


class ByCopy:
    """Deep copies of the environment, which take its place."""

    own = False
    how = "the environment is copied, which is slow; save= and restore= would be quicker"

    def __init__(self, played: Played) -> None:
        self._played = played

    def take(self) -> Any:
        """A copy."""
        return copy.deepcopy(self._played.env, self._shared())

    def put(self, snapshot: Any) -> None:
        """A copy of the copy."""
        self._played.env = copy.deepcopy(snapshot, self._shared())

    def numbers(self, snapshot: Any) -> Array:
        """A digest."""
        return digits(spelled(snapshot))

    def snapshot(self, row: Array) -> Any:  # noqa: ARG002
        """A digest is not enough."""
        return None

    def moved(self) -> None:
        """Nothing is remembered."""

    def _shared(self) -> dict[int, Any]:
        """What is never copied: spaces, and what tells of the environment."""
        found: dict[int, Any] = {}
        for layer in chain(self._played.env):
            for name in ("action_space", "observation_space", "_action_space", "_observation_space", "spec", "_np_random"):
                if (one := vars(layer).get(name)) is not None:
                    found[id(one)] = one
        return found


def spelled(thing: Any) -> bytes:
    """Any value as bytes that are the same for equal ones."""
    try:
        return Objects([thing]).take().digest
    except Strange:
        return blake2b(pickle.dumps(thing), digest_size=18).digest()


def digits(digest: bytes) -> Array:
    """A digest as numbers of a row; floats, since as such they mean nothing."""
    parts = [digest[i : i + _DIGITS] for i in range(0, len(digest), _DIGITS)]
    return np.array([int.from_bytes(part, "little") for part in parts], dtype=np.float64)


def own_pair(env: Any) -> tuple[Callable[[], Any], Callable[[Any], Any], str] | None:
    """The functions with which an environment saves and restores itself, and their names."""
    for layer in chain(env):
        for names in PAIRS:
            save, restore = (getattr(type(layer), name, None) for name in names)
            if callable(save) and callable(restore) and _takes(save, 1) and _takes(restore, 2):
                return getattr(layer, names[0]), getattr(layer, names[1]), " and ".join(f"`{name}`" for name in names)
    return None


def _takes(method: Callable[..., Any], count: int) -> bool:
    """Whether it can be called with so many values, itself among them, and must be."""
    try:
        known = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        return True
    must = [one for one in known if one.default is one.empty and one.kind in (0, 1)]
    return len(must) == count


def looking_into(played: Played, left: Left = frozenset()) -> Saving:
    """The way of saving that needs nobody's help."""
    inside = InPlace(played, left)
    try:
        inside.take()
        return inside
    except Strange as strange:
        copies = ByCopy(played)
        try:
            copies.take()
        except Exception as error:
            where = inside.objects.path_of(strange.thing)
            raise RsgError(
                f"the environment cannot be saved: `{where}` is a {type(strange.thing).__name__}, which cannot be copied "
                f"({type(error).__name__}: {' '.join(str(error).split())}); give save= and restore="
            ) from error
        return copies


def ways(played: Played) -> Iterator[str]:
    """Which ways there are, the best first."""
    raise NotImplementedError
