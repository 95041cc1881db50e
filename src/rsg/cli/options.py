"""Options that several commands have, and the subgoals that one was told to use."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rsg.cli.command import option
from rsg.cli.output import ends_in
from rsg.core.errors import RsgError
from rsg.domain import Domain
from rsg.search import GoalFn, SearchSettings, is_continuous

WorldName = Annotated[str, typer.Argument(metavar="WORLD", help="A name (see rsg domains), or path/to/file.py:name.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
Home = Annotated[
    str | None, typer.Option("--world", metavar="WORLD", help="path/to/file.py:name of a world that is not installed.")
]
Seed = Annotated[int, typer.Option("--seed", help="Which random start; the same seed gives the same one.")]
PerTask = Annotated[int, typer.Option(min=1, help="Starts of each task.")]


def picture(about: str) -> Any:
    """An option for a picture to write."""
    return option(None, about, metavar="FILE", callback=ends_in(".png"))


def placed(domain: Any) -> str:
    """The words that name the place of a domain, after its name."""
    return f" {domain.place_option.names[0]} {domain.place}" if domain.place and domain.place_option else ""


def check_world(store: Any, world: str) -> None:
    """An error if a store is of another world."""
    if store.manifest.world != world:
        raise RsgError(f"{store.folder} holds demonstrations of '{store.manifest.world}', not of '{world}'")


@dataclass(frozen=True)
class Search:
    """How to plan, and with which subgoals."""

    subgoals: str = option(
        "oracle", "The folder of a run, or oracle (the truth), or untrained (random networks).", metavar="WHICH"
    )
    planner: str = option(
        "auto", "In a continuous world: roadmap, rrt (random trees), or auto (trees where a roadmap does not do)."
    )
    order: str | None = option(
        None, "deepest (usual with finitely many actions), balanced, optimal, anytime or auto (usual elsewhere)."
    )
    seed: Seed = 0

    def settings_in(self, world: Any, budget: int) -> SearchSettings:
        """What was asked for, in an order that suits the world if none was."""

        order = self.order or ("auto" if is_continuous(world) else "deepest")
        return SearchSettings(order=order, budget=budget, seed=self.seed, planner=self.planner)


GIVEN = ("oracle", "untrained")
"""Subgoals that are no run's."""


def goal_fn_named(name: str, domain: Domain, world: Any) -> GoalFn:
    """The classifiers that were asked for, to be used in a world of the domain."""
    if name == "oracle" and not domain.has("truth"):
        raise domain.lacks("truth", "give the folder of a run: --subgoals RUN")
    return domain.true_goals if name == "oracle" else subgoals_named(name, domain, world)


def subgoals_named(name: str, domain: Domain, world: Any) -> Any:
    """Learned or untrained subgoals."""
    from rsg.core.random import stream
    from rsg.subgoals import Subgoals, load, untrained
    from rsg.training.origin import check_usable

    if name == "untrained":
        if not domain.vocabulary:
            raise domain.lacks("tasks", "nobody knows which terms untrained subgoals are of")
        state = None if hasattr(world, "sample") else domain.start((), stream(0, "untrained"))[1]
        return Subgoals(untrained(domain.vocabulary, world, state=state))
    if not Path(name).exists():
        raise RsgError(f"there are no subgoals '{name}'; give the folder of a run, oracle or untrained")
    found = load(name, domain)
    check_usable(name, domain, world)
    return found
