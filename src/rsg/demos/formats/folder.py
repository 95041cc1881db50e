"""A store of ours as a source: to give its recordings what they lack, or to join stores."""

from collections.abc import Iterator
from pathlib import Path

from rsg.core.errors import StoreError
from rsg.demos.formats.format import Options, Recording
from rsg.demos.store import MANIFEST, Store


class Folder:
    """A store, which is read only here: `Store` writes it."""

    name = "rsg"
    about = "a store of rsg: its recordings are read, and get what they lack"
    target = ""

    def fits(self, source: str) -> bool:
        return (Path(source) / MANIFEST).is_file()

    def suits(self, target: str) -> bool:
        return False

    def world(self, source: str) -> str | None:
        return Store(source).manifest.world

    def read(self, source: str, options: Options) -> Iterator[Recording]:
        for number, demo in enumerate(Store(source)):
            yield Recording(f"{source}, episode {number}", demo.states, demo.actions, demo.task, demo.setting)

    def write(self, store: Store, target: str, options: Options) -> None:
        raise StoreError(f"{store.folder} is a store already; copy the folder")
