"""What most experiments do: train on demonstrations, then plan from many starts."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from reproductions.harness.jobs import Job, Place, Plain
from reproductions.paper.methods import METHODS
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Recipe, Store
from rsg.domain import Domain, find
from rsg.evaluation.planning import Starts, evaluate_planning
from rsg.search import Auto, SearchSettings, is_continuous
from rsg.subgoals import RsgSettings, learn, untrained
from rsg.subgoals.building import network_named
from rsg.subgoals.classifiers import Classifiers
from rsg.training import Progress
from rsg.training.settings import restored
from rsg.worlds import EitherWorld

SPLITS = ("compositional", "novel")
BUDGET = 5000  # expansions, the paper's limit
ORDER = "deepest"  # of expansions where actions are finitely many, whatever the package takes if nobody says
EVALUATION_SEED = 31_000  # of the first seed: test starts, by which nothing was ever chosen


@dataclass(frozen=True)
class Size:
    """How much of an experiment is run, for each of the seeds 0 to `seeds` - 1, or from the count `first` on.

    Attributes:
        demonstrations: of each task.
        counts: how many of what: `size["novel"]` is the number of starts of each novel task, for example.
        minutes: that a job takes, about.
        changes: to the settings of training.
        quick: whether it is a small version, which only shows that all works.
    """

    demonstrations: int = 400
    counts: Mapping[str, Any] = field(default_factory=dict)
    minutes: float = 3.0
    changes: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 1
    quick: bool = False

    def __getitem__(self, name: str) -> Any:
        return self.counts[name]

    def evaluations(self, seed: int, **more: Any) -> Plain:
        """Those of the two splits; see `evaluation`."""
        return {split: evaluation(split, self[split], seed, **more) for split in SPLITS}


def evaluation(split: str, per_task: int, seed: int, **more: Any) -> Plain:
    """What an evaluation is asked for; `goals` (G or G-and-I) and `budget` may be given too."""
    usual = {"goals": "G", "budget": BUDGET}
    assert set(more) <= set(usual)
    return {"split": split, "per_task": per_task, "seed": EVALUATION_SEED + seed, **usual, **more}


def settings_of(seed: int, **changes: Any) -> Plain:
    """The settings of a training run as plain JSON, all defaults written out: a changed default is another job.

    Networks, as in the paper, unless changes say otherwise.
    """
    try:
        return asdict(RsgSettings(**{"encoder": "sets", "seed": seed, **changes}))
    except TypeError:
        unknown = [key for key in changes if key not in RsgSettings.__dataclass_fields__]
        raise RsgError(f"this rsg has no setting '{unknown[0]}', which the experiment needs; update rsg") from None


def suited(encoder: str) -> Plain:
    """An encoder, and the settings that learn best with it where they are not the usual ones."""
    network = network_named(encoder)
    return {"encoder": encoder, **(network.preset if network else {})}


class Variant(NamedTuple):
    """Something that is trained.

    Attributes:
        name: of its jobs, without the seed.
        changes: to the usual settings of training; `kind`, one of `reproductions.paper.METHODS`, if not RSG as it is.
        asked: what its jobs are asked for besides: `evaluations`, `per_task` demonstrations if not all, `tasks` of its
            own to plan for, and the like.
        recipe: of the demonstrations, if not those of the training tasks of Crafting World.
    """

    name: str
    changes: Mapping[str, Any]
    asked: Plain
    recipe: Recipe | None = None


def learning(experiment: str, size: Size, seed: int, variant: Variant, run: Any = None) -> Job:
    """The job that trains a variant; unless it is told what to `run`, it plans then."""
    recipe = variant.recipe or Recipe("crafting", "train", size.demonstrations, seed)
    changes = {"kind": "rsg", **variant.changes, **size.changes}
    kind = changes.pop("kind")
    settings = settings_of(seed, **changes)
    parameters = {"recipe": asdict(recipe), "kind": kind, "settings": settings, **variant.asked}
    return Job(experiment, f"{variant.name}-seed{seed}", run or learn_job, parameters, size.minutes, (recipe,))


class Learned(NamedTuple):
    """What was trained in a job: its domain, classifiers, settings, demonstrations, and how training went."""

    source: Domain
    subgoals: Classifiers
    settings: RsgSettings
    store: Store
    training: Plain

    @property
    def starts(self) -> int:
        """The seed of starts."""
        return EVALUATION_SEED + self.settings.seed

    def plans(self, parameters: Plain) -> Plain:
        """The job's evaluations, by name."""
        return planned(self.source, self.subgoals, parameters)


def learned(parameters: Plain, place: Place, **more: Any) -> Learned:
    """Train in the job's folder, or go on there; `more` is what else `rsg.learn` is told."""
    recipe = recipe_of(parameters)
    source = find(recipe.world).at(recipe.map, parameters.get("tasks", ()))
    settings = restored(RsgSettings, parameters["settings"])
    more["method"] = METHODS[parameters["kind"]]
    found, training = trained(parameters, place, source, learn, settings, **more)
    return Learned(source, found.classifiers, settings, place.store(recipe), training)


def trained(
    parameters: Plain, place: Place, source: Domain, train: Any, settings: Any, **more: Any
) -> tuple[Any, Plain]:
    """What `rsg.learn` or its like gives in the job's folder, and what is kept of how it went."""
    resumed, begun = (place.run / "run.json").exists(), time.perf_counter()
    found = train(
        place.store(recipe_of(parameters)),
        lambda demo: source.world(demo.setting),
        place.run,
        settings,
        per_task=parameters.get("per_task"),
        tensorboard=False,
        **more,
    )
    progress: Progress = found.progress
    if not progress.done:
        raise RsgError("training was interrupted; the same command goes on with it")
    return found, {
        "steps": progress.step,
        "best_step": progress.best_step,
        "held_out": progress.best,
        "ended": progress.done,
        "cpu_seconds": progress.seconds,
        "seconds": None if resumed else time.perf_counter() - begun,  # that of earlier sessions is not known
        "history": progress.history,
    }


def recipe_of(parameters: Plain) -> Recipe:
    """The demonstrations that a job is asked to train on."""
    return Recipe(**{**parameters["recipe"], "tasks": tuple(parameters["recipe"]["tasks"])})


def search_in(world: EitherWorld, budget: int | None = BUDGET, seed: int = 0) -> SearchSettings:
    """How experiments search a world unless they are about that: by `ORDER`, on a roadmap as the package does."""
    return SearchSettings(Auto(None if is_continuous(world) else ORDER), budget, seed=seed)


def learn_job(parameters: Plain, place: Place) -> Plain:
    """Train, then plan."""
    found = learned(parameters, place)
    return {"training": found.training, "evaluations": found.plans(parameters)}


def oracle_job(parameters: Plain, place: Place) -> Plain:
    """Plan with the truth."""
    del place
    source = find(parameters["world"])
    return {"evaluations": planned(source, source.true_goals, parameters)}


def untrained_job(parameters: Plain, place: Place) -> Plain:
    """Plan with networks as they are before any training."""
    del place
    source = find(parameters["world"])
    world, state = source.start_of("novel", 0, stream(0, "untrained"))
    subgoals = untrained(source.vocabulary, world, parameters["seed"], state)
    return {"evaluations": planned(source, subgoals, parameters)}


def planned(source: Domain, subgoals: Any, parameters: Plain) -> Plain:
    """Plan for each evaluation that a job is asked for, after the search is compiled; see `evaluate_planning`."""
    found = {}
    for name, asked in parameters["evaluations"].items():
        goals: Any = subgoals
        if isinstance(subgoals, Classifiers):
            goals = subgoals.goals if asked["goals"] == "G" else subgoals.goals_with_i
        starts = Starts(asked["split"], asked["per_task"], asked["seed"])
        world = source.world(starts.draw(source, 0, 0).setting)
        evaluate_planning(source, starts._replace(per_task=1), goals, search_in(world, 1))
        found[name] = evaluate_planning(source, starts, goals, search_in(world, asked["budget"], starts.seed))
    return found
