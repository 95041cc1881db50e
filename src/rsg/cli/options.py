"""Options that several commands have, and the subgoals that one was told to use."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rsg.cli.command import option
from rsg.cli.output import to_fill, to_write
from rsg.core.settings import in_table
from rsg.domain import Domain
from rsg.planning import Dependencies
from rsg.search import ORDER, ORDERS, GoalFn, SearchSettings, is_continuous, search_settings
from rsg.worlds import EitherWorld

WorldName = Annotated[str, typer.Argument(metavar="WORLD", help="A name (see rsg domains), or path/to/file.py:name.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
Home = Annotated[
    str | None, typer.Option("--world", metavar="WORLD", help="path/to/file.py:name of a world that is not installed.")
]
Seed = Annotated[int, typer.Option("--seed", help="Which random start; the same seed gives the same one.")]
PerTask = Annotated[int, typer.Option(min=1, help="Starts of each task.")]


def picture(more: str = "") -> Any:
    """An option for a picture to write; more: what there is to say of it in one command."""
    return option(None, f"Write what is shown as one picture{more}.", metavar="FILE", callback=to_write(".png"))


def film() -> Any:
    """An option for an animated picture to write."""
    return option(None, "Write what is shown as an animated picture.", metavar="FILE", callback=to_write(".gif"))


def new_folder(default: Any, about: str, metavar: str = "DIR") -> Any:
    """An option for a folder that is written to."""
    return option(default, about, metavar=metavar, callback=to_fill)


def settings_file(table: str) -> Any:
    """An option for a file with settings."""
    return option(
        None,
        f"A TOML file with settings, in a table [{table}]; what is said here counts more.".replace("[", r"\["),
        "--settings",
        metavar="FILE",
        exists=True,
        dir_okay=False,
    )


@dataclass(frozen=True)
class Search:
    """How to plan, and with which subgoals."""

    subgoals: str = option(
        "oracle", "The folder of a run, or oracle (the truth), or untrained (random networks).", metavar="WHICH"
    )
    planner: str | None = option(
        None, "In a continuous world: roadmap, rrt (random trees), or auto (the default: trees where it takes them)."
    )
    order: str | None = option(
        None, f"{', '.join(ORDERS)} or auto; with finitely many actions {ORDER} is usual, elsewhere auto."
    )
    soft: bool = option(
        False, "Subgoals may end anywhere, at the paper's cost −λ (log G + log I); the cheapest end is given.", "--soft"
    )
    seed: Seed = 0
    budget: int | None = option(None, "How many expansions a plan may take; 5,000, and 25,000 for a goal only.")
    file: Path | None = settings_file("search")

    def settings_in(self, world: EitherWorld, goal: bool = False) -> SearchSettings:
        """What was asked for here, or else in the file, or else what suits the world."""
        usual = {"order": "auto" if is_continuous(world) or self.planner else ORDER, "budget": 25_000 if goal else 5000}
        filed = in_table("search", self.file, _sensible) if self.file else {}
        here = {"order": self.order, "budget": self.budget, "planner": self.planner, "soft": self.soft or None}
        said = {key: value for key, value in here.items() if value is not None}
        return search_settings({**usual, "seed": self.seed, **filed, **said})


def _sensible(values: Mapping[str, object]) -> Mapping[str, object]:
    """Settings of a search as a file has them, if they make sense."""
    search_settings(values)
    return values


GIVEN = ("oracle", "untrained")
"""Subgoals that are no run's."""


def goal_fn_named(name: str, domain: Domain, world: EitherWorld) -> GoalFn:
    """The classifiers that were asked for, to be used in a world of the domain."""
    if name == "oracle" and not domain.has("truth"):
        raise domain.lacks("truth", "give the folder of a run: --subgoals RUN")
    if name == "oracle":
        return domain.true_goals
    from rsg.evaluation.named import subgoals_named  # which loads torch

    return subgoals_named(name, domain, world)


def dependencies_named(name: str, domain: Domain, goal_fn: GoalFn) -> tuple[Dependencies, str]:
    """What needs what: of a run, or as subgoals that have none see it in a few demonstrations; and a note on that."""
    from rsg.evaluation.named import dependencies_of, fresh_dependencies

    return fresh_dependencies(domain, goal_fn) if name in GIVEN else (dependencies_of(Path(name), domain=domain), "")
