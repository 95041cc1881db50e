"""How states are saved and restored: by functions of the user's, by the environment's own, or by looking into it."""

import copy
import inspect
import pickle
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError
from rsg.worlds.wrapping.acting import kind_of
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


_NUMBERS = (int, float, tuple, list, np.ndarray, np.generic)
_SHARED = ("action_space", "observation_space", "_action_space", "_observation_space", "spec", "_np_random")
Functions = tuple[Callable[[], Any], Callable[[Any], Any]]
"""What saves and what restores."""


class Saving(Protocol):
    """A way of saving what an environment is in."""

    how: str  # that in a sentence
    own: bool  # whether the user or the environment says how
    name: str  # what restores, for errors
    left: Left  # attributes that do not tell states apart, where a digest of all others stands for a state

    @property
    def env(self) -> Any:
        """The environment that is saved."""
        ...

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

    def root(self, snapshot: Any) -> Any:
        """Where to look for what counts steps, given a snapshot of now; None where rows are no digests."""
        ...

    def moved(self) -> None:
        """The environment was stepped or looked at."""
        ...


class ByFunctions:
    """Two functions, one that saves and one that restores."""

    own = True

    def __init__(self, env: Any, functions: Functions, how: str, name: str, left: Left) -> None:
        self.env, self.how, self.name, self.left = env, how, name, left
        self.take, self.put = functions
        self._form: tuple[type, np.dtype[Any], tuple[int, ...]] | None = None

    def numbers(self, snapshot: Any) -> Array:
        """Plain numbers are a row themselves; for anything else stands its digest."""
        try:
            plain = np.asarray(snapshot) if isinstance(snapshot, _NUMBERS) else None
        except ValueError:
            plain = None
        if plain is not None and plain.dtype.kind in "biuf" and plain.size:
            self._form = type(snapshot), plain.dtype, plain.shape
            wide = np.float64 if plain.dtype.kind == "f" else np.int64
            return (plain.astype(wide) + 0).ravel()
        self._form = None
        return digits(spelled(snapshot, self.left))

    def snapshot(self, row: Array) -> Any:
        """The same numbers in their own form."""
        if self._form is None:
            return None
        kind, dtype, shape = self._form
        plain = row.astype(dtype).reshape(shape)
        return (
            plain if issubclass(kind, np.ndarray) else plain[()] if issubclass(kind, np.generic) else _as(kind, plain)
        )

    def root(self, snapshot: Any) -> Any:
        """What was saved, unless that is numbers."""
        return snapshot if self._form is None else None

    def moved(self) -> None:
        """Nothing is remembered."""


def _as(kind: Any, plain: Array) -> Any:
    return kind(plain.tolist())


class InPlace:
    """All objects of the environment."""

    own, name = False, "restoring"

    def __init__(self, played: Played, left: Left = frozenset()) -> None:
        self.env, self.objects = played.env, Objects(played.env, left)
        self.take, self.put, self.moved = self.objects.take, self.objects.put, self.objects.moved
        self.left = left
        self.how = "all that the environment holds is saved and put back"

    def root(self, snapshot: Any) -> Any:  # noqa: ARG002
        """The environment itself."""
        return self.env

    def numbers(self, snapshot: Snapshot) -> Array:
        """A digest."""
        return digits(snapshot.digest)

    def snapshot(self, row: Array) -> Any:  # noqa: ARG002
        """A digest is not enough."""
        return None


class ByCopy:
    """Deep copies of the environment, which take its place."""

    own, name = False, "restoring"
    how = "the environment is copied, which is slow; save= and restore= would be quicker"

    def __init__(self, played: Played, left: Left = frozenset()) -> None:
        self._played, self.left = played, left

    @property
    def env(self) -> Any:
        """The copy that is played now."""
        return self._played.env

    def take(self) -> Any:
        """A copy."""
        return copy.deepcopy(self._played.env, self._shared())

    def put(self, snapshot: Any) -> None:
        """A copy of the copy."""
        self._played.env = copy.deepcopy(snapshot, self._shared())

    def root(self, snapshot: Any) -> Any:  # noqa: ARG002
        """The environment itself."""
        return self._played.env

    def numbers(self, snapshot: Any) -> Array:
        """A digest."""
        return digits(spelled(snapshot, self.left))

    def snapshot(self, row: Array) -> Any:  # noqa: ARG002
        """A digest is not enough."""
        return None

    def moved(self) -> None:
        """Nothing is remembered."""

    def _shared(self) -> dict[int, Any]:
        """What is never copied: spaces, and what tells of the environment."""
        found: dict[int, Any] = {}
        for layer in chain(self._played.env):
            for name in _SHARED:
                if (one := vars(layer).get(name)) is not None:
                    found[id(one)] = one
        return found


def spelled(thing: Any, left: Left = frozenset()) -> bytes:
    """Any value as bytes that are the same for equal ones."""
    try:
        return Objects([thing], left).take().digest
    except Strange:
        return blake2b(pickle.dumps(thing), digest_size=18).digest()


def digits(digest: bytes) -> Array:
    """A digest as numbers of a row; floats, since as such they mean nothing."""
    parts = [digest[i : i + _DIGITS] for i in range(0, len(digest), _DIGITS)]
    return np.array([int.from_bytes(part, "little") for part in parts], dtype=np.float64)


def own_pair(env: Any) -> tuple[Functions, tuple[str, str]] | None:
    """The functions with which an environment saves and restores itself, and their names."""
    for layer in chain(env):
        for names in PAIRS:
            save, restore = (getattr(type(layer), name, None) for name in names)
            if callable(save) and callable(restore) and _takes(save, 1) and _takes(restore, 2):
                return (getattr(layer, names[0]), getattr(layer, names[1])), names
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
        copies = ByCopy(played, left)
        try:
            copies.take()
        except Exception as error:
            where = inside.objects.path_of(strange.thing)
            problem = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise RsgError(
                f"the environment cannot be saved: `{where}` is a {type(strange.thing).__name__}, which cannot be "
                f"copied ({problem}); give save= and restore="
            ) from error
        return copies


def tables_of(env: Any) -> Mapping[Any, Any] | None:
    """The table of a toy-text environment, by state and action: what may follow, each with its probability."""
    bare = getattr(env, "unwrapped", env)
    table = getattr(bare, "P", None)
    if not isinstance(table, Mapping | list) or not hasattr(bare, "s") or kind_of(bare.action_space) != "Discrete":
        return None
    return dict(enumerate(table)) if isinstance(table, list) else table


def check_table(table: Mapping[Any, Any], names: Sequence[str]) -> None:
    """A table says itself whether the environment is stochastic."""
    for state, rows in table.items():
        for action, name in enumerate(names):
            ends = {(after, bool(over)) for chance, after, _, over in rows[action] if chance > 0}
            if len(ends) > 1:
                listed = " or ".join(str(after) for after, _ in sorted(ends))
                raise RsgError(
                    f"the environment is stochastic: its table says that '{name}' in state {state} leads to {listed}; "
                    "plans need a deterministic one"
                )


def by_table(played: Played) -> ByFunctions:
    """The number of the state."""
    bare = getattr(played.env, "unwrapped", played.env)
    functions = (lambda: int(bare.s)), (lambda state: setattr(bare, "s", int(state)))
    return ByFunctions(
        played.env, functions, "a state is its number in the table", "the number of the state", frozenset()
    )
