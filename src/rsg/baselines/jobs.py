"""A training job: which method learns what, from which demonstrations; it is begun, or gone on with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple, Unpack

from rsg.baselines.runs import METHODS, preset, settings_of_run, train_baseline
from rsg.core.errors import RsgError, RunError, unknown
from rsg.core.settings import in_file
from rsg.demos import Demonstration, Recipe, Store
from rsg.demos.demonstration import met
from rsg.demos.importing import open_store
from rsg.demos.making import fill_with_bar
from rsg.domain import Domain, offers
from rsg.subgoals import RsgSettings, Subgoals, learn, load
from rsg.subgoals.building import network_named, rebuilt
from rsg.subgoals.building import preset as rsg_preset
from rsg.subgoals.learning import RationalSubgoals
from rsg.subgoals.runs import BY_FACTS, NO_FACTS, check_device
from rsg.training import Progress, Run, TrainingSettings, changed
from rsg.training.checkpoint import FOLDER
from rsg.training.loop import Looking
from rsg.training.origin import OfRecordings, home, origin
from rsg.worlds import recorded

RSG = RationalSubgoals.name
USUAL = 400  # demonstrations of each task


@dataclass(frozen=True)
class Asked:
    """How to train; what is not said follows from the domain.

    Attributes:
        method: `rsg`, or the name of a baseline.
        encoder: what subgoals are read with.
        begin: the folder of a run whose subgoals are the first ones.
        seed: where chance comes from.
        changes: of settings, each written `key=value`.
        file: TOML, with settings for what is not said otherwise.
    """

    method: str | None = None
    encoder: str | None = None
    begin: Path | None = None
    seed: int | None = None
    changes: Sequence[str] | None = None
    file: Path | None = None

    def settings(self, domain: Domain) -> TrainingSettings:
        """What was asked for, on top of what suits the domain."""
        usual: TrainingSettings
        if self.method in (None, RSG):
            usual = self._usual(domain)
        elif self.encoder is None and self.begin is None:
            usual = preset(str(self.method), domain)
        else:
            raise RsgError(f"--encoder and --from are for rsg; '{self.method}' has a network of its own")
        filed = in_file(type(usual), self.file) if self.file else {}
        filed.pop("encoder", None)  # which is in what is usual already
        settings = changed(replace(usual, **filed), self.changes or ())
        encoder = getattr(settings, "encoder", "auto")
        if encoder not in BY_FACTS and not network_named(encoder):
            raise unknown("encoder", encoder, (*BY_FACTS, "seen", "pictures", *offers(domain, "networks")))
        check_device(settings.device)
        return settings if self.seed is None else replace(settings, seed=self.seed)

    def _usual(self, domain: Domain) -> TrainingSettings:
        """What suits the domain and the encoder; networks that are gone on with keep their shape."""
        had: dict[str, Any] = {}
        if self.begin:
            run = Run(self.begin)
            home(run, domain)  # or says that it is of another world
            had = run.about.get("settings", {})
        suits: dict[str, Any] = {
            **domain.presets.get(RSG, {}),
            **{key: had[key] for key in ("hidden", "single") if key in had},
        }
        auto = suits.pop("encoder", "auto")
        filed = in_file(RsgSettings, self.file) if self.file else {}
        asked = self.encoder or filed.get("encoder") or had.get("encoder") or "auto"
        if asked == "facts" and auto != "auto":
            raise RsgError(NO_FACTS)
        return replace(rsg_preset(auto if asked == "auto" else asked), **suits)


class Job(NamedTuple):
    """Where and what is trained, on what, from where on, and what the run remembers of that."""

    domain: Domain
    method: str
    settings: TrainingSettings
    store: Store
    start: Subgoals | None
    origin: dict[str, Any]

    def fit(self, out: Path, **looking: Unpack[Looking]) -> Progress:
        """Train in a folder, until it is done or interrupted."""

        def world_of(demo: Demonstration) -> Any:
            return met(self.domain.world(demo.setting), demo)

        told: Any = {**looking, "per_task": self.origin.get("per_task"), "source": self.origin}
        how: Any = self.settings
        if self.method == RSG:
            return learn(self.store, self.domain, out, how, start=self.start, **told).progress
        return train_baseline(self.method, self.store, world_of, out, how, **told).progress


def begun(domain: Domain, out: Path, asked: Asked, demos: Path | None, per_task: int | None) -> Job:
    """A new job; everything that can be wrong is looked at before demonstrations are made, if none are given."""
    settings = asked.settings(domain)
    if (out / FOLDER.file).exists():
        raise RunError(f"{out} already holds a run; add --resume to go on with it, or choose another folder")
    FOLDER.check_new(out)
    start = load(asked.begin) if asked.begin else None
    beside = out.parent / f"{out.name}-demos"
    store = open_store(demos, domain.name, beside) if demos else _made(domain, beside, per_task, settings.seed)
    store.check_world(domain.name)
    told = {**origin(domain, store), "per_task": per_task if demos else None}
    told["from"] = str(asked.begin.resolve()) if asked.begin else None
    there = domain.within(told["setting"]) if told["setting"] else domain
    return Job(there, asked.method or RSG, settings, store, start, told)


def without_model(demos: Path, out: Path) -> tuple[Domain, Path]:
    """The world that recordings are of, made of themselves, and their store; those of others go beside the run."""
    FOLDER.check_new(out)
    store = open_store(demos, "recorded", out.parent / f"{out.name}-demos")
    return OfRecordings(recorded(store), store.manifest.world), store.folder


def check_own(out: Path, made_by: str) -> None:
    """An error unless a new run can be made there, in the place of one that the same command made before."""
    if not (out / FOLDER.file).exists():
        FOLDER.check_new(out)
    elif Run(out).about.get("source", {}).get("made_by") != made_by:
        raise RunError(f"{out} holds a run that {made_by} did not make; choose another folder with --out")


def begun_again(domain: Domain, out: Path, store: Store, made_by: str) -> Job:
    """A new job with all that is usual, in the place of the last one; see `check_own`."""
    check_own(out, made_by)
    if out.exists():
        rmtree(out)
    return Job(domain, RSG, Asked().settings(domain), store, None, {**origin(domain, store), "made_by": made_by})


def resumed(domain: Domain, out: Path, demos: Path | None) -> Job:
    """A job that goes on, with all that it was begun with."""
    run = Run(out)
    told: dict[str, Any] = run.about.get("source", {})
    if not demos and not told.get("demos"):
        raise RsgError(f"{out} does not say where its demonstrations are; give them with --demos")
    method, start = run.about.get("method"), None
    settings, same = (settings_of_run(run), None) if method in METHODS else rebuilt(run)
    if told.get("from"):  # a checkpoint has all that was taken over from there
        start = Subgoals(same) if same and "last" in run.steps else load(told["from"])
    there, store = home(run, domain), open_store(demos or Path(told["demos"]), domain.name)
    store.check_world(domain.name)
    return Job(there, str(method), settings, store, start, told)


def _made(domain: Domain, folder: Path, per_task: int | None, seed: int) -> Store:
    """Demonstrations of all training tasks in a folder; what is there already is used."""
    if "train" not in domain.splits and not domain.has("truth"):
        raise domain.lacks("expert", "give --demos")
    if "train" not in domain.splits:
        raise RsgError(
            f"{domain.place or domain.name} has no tasks to train on (a split 'train'); make demonstrations of tasks "
            f"of your own (rsg demos make {domain.name}{domain.place_words} --task ... --out DIR) and give --demos DIR"
        )
    domain.check_expert()
    recipe = Recipe(domain.name, "train", USUAL if per_task is None else per_task, seed, map=domain.place)
    return fill_with_bar(domain, recipe, folder)
