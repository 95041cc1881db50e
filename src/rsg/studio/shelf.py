"""Where a studio's runs and recordings are."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rsg.domain import Domain


class Shelf(NamedTuple):
    """Where everything is.

    Attributes:
        domain: what it is all about.
        runs: the folders of runs that were given, by name; the first is the one that is looked at.
        folder: where new runs and demonstrations go.
        demos: the folder of the recordings; it need not be there yet.
    """

    domain: Domain
    runs: Mapping[str, Path]
    folder: Path
    demos: Path

    @property
    def trained(self) -> Path:
        """Where runs go."""
        return self.folder / "runs"

    def all_runs(self) -> dict[str, Path]:
        """The folders of all runs by name, those that were trained here last."""
        here = sorted(self.trained.iterdir(), key=lambda one: one.stat().st_mtime) if self.trained.is_dir() else []
        return {**self.runs, **{one.name: one for one in here if not one.name.startswith(".")}}
