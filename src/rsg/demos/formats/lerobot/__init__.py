"""LeRobot datasets: v3.0 in and out, v2.1 in, by pyarrow alone."""

from collections.abc import Iterator
from pathlib import Path

from rsg.demos.formats.format import Options, Recording
from rsg.demos.store import Store


class LeRobot:
    """A folder of parquet files, as LeRobot has it."""

    name = "lerobot"
    about = "a folder of LeRobot's: v3.0 and v2.1 are read, v3.0 is written"
    target = "FOLDER"

    def fits(self, source: str) -> bool:
        return Path(source, "meta", "info.json").is_file()

    def suits(self, target: str) -> bool:
        return ":" not in target and not Path(target).suffix

    def world(self, source: str) -> str | None:
        from rsg.demos.formats.lerobot.meta import ours_of

        ours = ours_of(Path(source))
        return None if ours is None else ours.world

    def read(self, source: str, options: Options) -> Iterator[Recording]:
        from rsg.demos.formats.lerobot.reading import read

        return read(Path(source), options)

    def write(self, store: Store, target: str, options: Options) -> None:
        from rsg.demos.formats.lerobot.writing import write

        write(store, target, options)
