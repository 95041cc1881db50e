"""Where a run was trained, and whether what it learned can be used elsewhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rsg.core.errors import RsgError, RunError
from rsg.demos import Demonstration, Store
from rsg.domain import Domain, remembered
from rsg.training.checkpoint import Run
from rsg.worlds import EitherWorld, Recorded


class OfRecordings(Domain[Recorded]):
    """A world that is made of recordings, as a domain.

    Args:
        world: the world.
        name: what it is called where the recordings are kept.
    """

    def __init__(self, world: Recorded, name: str = "recorded") -> None:
        self.name = self.title = name
        self._world = world

    def __reduce__(self) -> Any:
        """As what it is made of, for other processes."""
        return OfRecordings, (self._world, self.name)

    def world(self, setting: str = "") -> Recorded:  # noqa: ARG002
        """The same whatever a recording says."""
        return self._world


def origin(domain: Domain, shown: Store | Sequence[Demonstration]) -> dict[str, Any]:
    """What a run remembers of where its demonstrations were made, and of where they are kept."""
    kept = {"demos": str(shown.folder.resolve())} if isinstance(shown, Store) else {}
    made_of = {"recorded": domain.world().plain()} if isinstance(domain, OfRecordings) else {}
    return {"world": domain.name, **kept, **made_of, "setting": shown[0].setting if shown else ""}


def home(run: Run, domain: Domain | None = None) -> Domain:
    """The domain that a run was trained in, at the same place; domain: the one that the user names, if any."""
    told = run.about.get("source", {})
    if "recorded" in told:
        if domain is not None and not isinstance(domain, OfRecordings):
            raise RsgError(
                f"{run.folder} was learned from recordings alone, without a model: it recognises and segments "
                f"recordings; to plan in '{domain.name}', train there: rsg train {domain.name}"
            )
        return OfRecordings(Recorded(**told["recorded"]), told["world"])
    if domain is None and not told.get("world"):
        raise RunError(f"{run.folder} does not say which world it is of; only runs of 'rsg train' do")
    found = domain or remembered(told["world"])
    if told.get("world", found.name) != found.name:
        raise RsgError(f"{run.folder} was trained in '{told['world']}' and cannot be used in '{found.name}'")
    return found.within(told["setting"]) if told.get("setting") else found


def check_usable(folder: str | Path, domain: Domain, world: EitherWorld) -> None:
    """An error if what a run learned cannot be used in a world of that domain."""
    run = Run(folder)
    home(run, domain)
    setting = run.about.get("source", {}).get("setting")
    if setting and (problem := domain.unfit(setting, world)):
        raise RsgError(f"{folder} {problem}")
