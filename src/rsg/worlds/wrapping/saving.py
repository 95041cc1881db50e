"""How states are saved and restored: by functions of the user's, by the environment's own, or by looking into it."""

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rsg.core.arrays import Array
from rsg.core.errors import RsgError, cause_of
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


@dataclass(eq=False)
class Saving:
    """A way of saving what an environment is in.

    Attributes:
        played: the environment.
        take: gives a snapshot of now; put: goes back to one.
        how: that in a sentence; name: what restores, for errors; own: whether the user or the environment says how.
        left: attributes that do not tell states apart, where a digest of all others stands for a state.
        inside: all that the environment holds, if that is what is saved.
    """

    played: Played
    take: Callable[[], Any]
    put: Callable[[Any], Any]
    how: str
    name: str = "restoring"
    own: bool = False
    left: Left = frozenset()
    inside: Objects | None = None
    _form: tuple[type, np.dtype[Any], tuple[int, ...]] | None = None  # of snapshots that are plain numbers

    @property
    def env(self) -> Any:
        """The environment that is saved."""
        return self.inside.root if self.inside else self.played.env

    def numbers(self, snapshot: Any) -> Array:
        """A snapshot as a row `[W]`: plain numbers are one themselves, for anything else stands its digest."""
        if isinstance(snapshot, Snapshot):
            return digits(snapshot.digest)
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
        """The snapshot of a row that was never met; None if a row is not enough."""
        if self._form is None:
            return None
        kind, dtype, shape = self._form
        plain = row.astype(dtype).reshape(shape)
        if issubclass(kind, np.ndarray | np.generic):
            return plain if issubclass(kind, np.ndarray) else plain[()]
        made: Any = kind
        return made(plain.tolist())

    def root(self, snapshot: Any) -> Any:
        """Where to look for what counts steps, given a snapshot of now; None where rows are no digests."""
        return snapshot if self.own and self._form is None else None if self.own else self.env

    def moved(self) -> None:
        """The environment was stepped or looked at."""
        if self.inside:
            self.inside.moved()


def spelled(thing: Any, left: Left = frozenset()) -> bytes:
    """Any value as bytes that are the same for equal ones."""
    return Objects([thing], left, pickled=True).take().digest


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
    """The way of saving that needs nobody's help: all objects of the environment, or deep copies in its place."""
    inside = Objects(played.env, left)
    try:
        inside.take()
        how = "all that the environment holds is saved and put back"
        return Saving(played, inside.take, inside.put, how, left=left, inside=inside)
    except Strange as strange:
        try:
            _copied(played.env)
        except Exception as error:
            where = inside.path_of(strange.thing)
            raise RsgError(
                f"the environment cannot be saved: `{where}` is a {type(strange.thing).__name__}, which cannot be "
                f"copied ({cause_of(error)}); give save= and restore="
            ) from error

    def put(snapshot: Any) -> None:
        played.env = _copied(snapshot)

    how = "the environment is copied, which is slow; save= and restore= would be quicker"
    return Saving(played, lambda: _copied(played.env), put, how, left=left)


def _copied(env: Any) -> Any:
    """A copy; spaces, and what tells of the environment, are never copied."""
    shared = [vars(layer).get(name) for layer in chain(env) for name in _SHARED]
    return copy.deepcopy(env, {id(one): one for one in shared if one is not None})


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


def by_table(played: Played) -> Saving:
    """The number of the state."""
    bare = getattr(played.env, "unwrapped", played.env)
    put = partial(setattr, bare, "s")
    return Saving(
        played, lambda: int(bare.s), put, "a state is its number in the table", "the number of the state", True
    )
