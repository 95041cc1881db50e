"""What a person says of recordings after the fact: another description, or where its subgoals really ended.

They are kept beside the recordings, which stay as they are. A corrected recording is learned from in parts: from one
end to the next, each with the term that was served there; so nothing else has to know of corrections.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rsg.core.errors import StoreError
from rsg.core.files import replacing
from rsg.core.folder import UNREADABLE, is_sealed, locked, seal
from rsg.demos.demonstration import Demonstration
from rsg.demos.store import Store

FILE = "corrections.json"  # in the folder of a store


class Correction(NamedTuple):
    """What a recording should say.

    Attributes:
        task: its description; None: as it was.
        ends: each subgoal and the number of the state in which it had come true, in order; None: nobody said.

    >>> Correction(task="take-cup").ends is None
    True
    """

    task: str | None = None
    ends: tuple[tuple[str, int], ...] | None = None

    def check(self, demo: Demonstration) -> None:
        """An error if it does not fit a recording."""
        last = 0
        for term, end in self.ends or ():
            if not last < end <= len(demo):
                raise StoreError(f"'{term}' cannot end at {end}: ends rise, and the recording has {len(demo)} steps")
            last = end
        if self.ends is not None and last != len(demo):
            raise StoreError(f"the last subgoal ends where the recording does, at {len(demo)}, not at {last}")

    def apply(self, demo: Demonstration) -> Iterator[Demonstration]:
        """The recording as it should be: whole, or in parts."""
        if self.ends is None:
            yield replace(demo, task=self.task or demo.task)
            return
        begun = 0
        for term, end in self.ends:
            actions = None if demo.actions is None else demo.actions[begun:end]
            yield replace(demo, states=demo.states[begun : end + 1], actions=actions, task=term)
            begun = end


def corrections(folder: str | Path) -> dict[int, Correction]:
    """All corrections of a store by the number of the episode.

    >>> corrections("a/folder/without/any")
    {}
    """
    path = Path(folder) / FILE
    if not path.exists():
        return {}
    try:
        data = path.read_bytes()
        if not is_sealed(data):
            raise ValueError(path)
        return {int(key): _restored(one) for key, one in json.loads(data)["episodes"].items()}
    except (OSError, *UNREADABLE):
        raise StoreError(f"{path} is damaged; restore it from a backup, or remove it to forget corrections") from None


def correct(store: Store, episode: int, said: Correction) -> None:
    """Keep a correction; one that says nothing takes the last one back."""
    demo = store[episode]
    said.check(demo)
    with locked(store.folder, StoreError(f"another process is writing to {store.folder}; try again")):
        every = corrections(store.folder)
        every.pop(episode, None)
        if said != Correction():
            every[episode] = said
        told = {str(key): {"task": one.task, "ends": one.ends} for key, one in sorted(every.items())}
        with replacing(store.folder / FILE) as part:
            part.write_bytes(seal({"format": "rsg-corrections", "version": 1, "episodes": told}))


def corrected(store: Store) -> Iterator[Demonstration]:
    """The demonstrations of a store as they should be.

    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = Store.create(f"{folder}/mine", world="kitchen")
    ...     store.append([Demonstration(np.zeros((4, 2)), np.array([0, 1, 1]), "open-drawer then take-cup")])
    ...     correct(store, 0, Correction(ends=(("open-drawer", 1), ("take-cup", 3))))
    ...     [(demo.task, len(demo)) for demo in corrected(store)]
    [('open-drawer', 1), ('take-cup', 2)]
    """
    every = corrections(store.folder)
    for number, demo in enumerate(store):
        yield from every.get(number, Correction()).apply(demo)


def _restored(plain: dict[str, Any]) -> Correction:
    ends = None if plain["ends"] is None else tuple((str(term), int(end)) for term, end in plain["ends"])
    return Correction(plain["task"], ends)
