"""What was learned, as one object: it plans, recognises, segments, and knows how it was trained."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rsg.core.arrays import Array
from rsg.core.errors import ParseError, RsgError
from rsg.core.progress import Advance
from rsg.demos import Demonstration
from rsg.demos.demonstration import met
from rsg.demos.finding import with_actions
from rsg.language import Machine, Task, machine_of, parse
from rsg.planning import Dependencies, Goal, Plan, plan, plan_goal
from rsg.planning.goal_only import BUDGET
from rsg.search import Between, Goals, SearchSettings, is_continuous
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.dependencies import discover, keep_dependencies, kept_dependencies
from rsg.subgoals.learning import RsgSettings, WorldOf
from rsg.subgoals.readings import Reading, Readings
from rsg.subgoals.recognition import Recognised, Recogniser, Segmentation, propose
from rsg.subgoals.sentences import Told, tell
from rsg.training import Progress, Run
from rsg.training.checkpoint import Saved, writing
from rsg.training.loop import weights_of
from rsg.worlds import EitherWorld

if TYPE_CHECKING:
    from rsg.subgoals.exporting import Exported


@dataclass(frozen=True, eq=False)
class Source:
    """Where subgoals come from; each part may be missing."""

    about: dict[str, object] = field(default_factory=dict)  # what their run says of itself
    folder: Path | None = None  # of that run
    world_of: WorldOf | None = None  # gives the world of a demonstration
    shown: Callable[[], Iterable[Demonstration]] | None = None  # gives the demonstrations that they were learned from


@dataclass(frozen=True, eq=False)
class Subgoals:
    """What each term means: what `rsg.learn` gives and `rsg.load` reads.

    It is a `GoalFn`: whatever asks for one takes it.

    Attributes:
        classifiers: of the terms: formulas over facts, networks, or both.
        settings: those that it was trained with, and that it uses.
        progress: how training went.
        source: where it comes from.

    >>> import numpy as np, rsg
    >>> from rsg.worlds.corridor import Corridor
    >>> corridor = Corridor()
    >>> subgoals = rsg.learn([rsg.Demonstration(*walk) for walk in corridor.walks()], corridor)
    >>> start = corridor.sample(np.random.default_rng(0), 1)[0]
    >>> made = subgoals.plan(corridor, start, "light-lamp then read-book")
    >>> done = rsg.Demonstration(made.states, made.actions, "as they went")
    >>> str(subgoals.recognise(done)[0].task)
    'light-lamp then read-book'
    """

    classifiers: Classifiers
    settings: RsgSettings = field(default_factory=RsgSettings)
    progress: Progress = field(default_factory=Progress)
    source: Source = field(default_factory=Source)

    def __call__(self, world: EitherWorld, terms: Sequence[str], state: Array) -> Goals:
        """The classifiers of some terms in a world, for planners that start in a state."""
        return self.classifiers.goals(world, terms, state)

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms whose meaning was learned."""
        return self.classifiers.terms

    @property
    def readings(self) -> dict[str, Reading]:
        """The terms that were read as formulas over facts, with what is open about each."""
        return self.classifiers.readings if isinstance(self.classifiers, Readings) else {}

    def read(self, task: str | Task | Machine) -> Machine:
        """The machine of a task that may be said in words, since those of the terms are known."""
        with suppress(ParseError):
            return machine_of(task)
        assert isinstance(task, str)
        return machine_of(parse(task, words=self.terms))

    def plan(
        self,
        world: EitherWorld,
        start: Array,
        task: str | Task | Machine,
        settings: SearchSettings | Mapping[str, object] | None = None,
        between: Between | None = None,
    ) -> Plan:
        """A plan that does a task, which may be said in words; see `rsg.plan`."""
        return plan(world, start, self.read(task), self, settings, between)

    def plan_goal(
        self,
        world: EitherWorld,
        start: Array,
        goal: Goal,
        budget: int = BUDGET,
        between: Between | None = None,
    ) -> Plan:
        """A plan that makes a goal true, when nobody says the steps on the way; see `rsg.plan_goal`.

        In a continuous world no subgoal needs another one first: there a term is planned for as it is.
        """
        if is_continuous(world) and isinstance(goal, str):
            return self.plan(world, start, goal, SearchSettings(budget=budget), between)
        return plan_goal(world, start, goal, self, self.dependencies, budget, between)

    def recognise(
        self,
        demonstration: Demonstration,
        candidates: Sequence[str | Task] | None = None,
        prefix: bool = False,
        world: EitherWorld | None = None,
    ) -> list[Recognised]:
        """Which task a trajectory did, the most likely first; its own description is not looked at.

        Args:
            demonstration: the trajectory.
            candidates: descriptions to choose from; None: proposals of one's own.
            prefix: whether it may end before the task does.
            world: where it happened, if these subgoals do not know.
        """
        where = self._where(demonstration, world)
        if isinstance(candidates, str):
            raise RsgError(f"candidates are a list of descriptions: ['{candidates}']")
        if candidates is None:
            candidates = propose(self.classifiers, where, demonstration.states, prefix)
        shown = with_actions(where, demonstration)
        return Recogniser(self.classifiers, candidates, self.settings).rank(where, shown, prefix)

    def segment(
        self,
        demonstration: Demonstration,
        task: str | Task | None = None,
        prefix: bool = False,
        world: EitherWorld | None = None,
    ) -> Segmentation:
        """Where each subgoal of a task ended in a trajectory; by default of the task that it describes.

        A recording without actions gets those that its states tell of. Arguments as for `recognise`.
        """
        where = self._where(demonstration, world)
        task = demonstration.task if task is None else task
        if task == "":
            raise RsgError("the demonstration has no description; say what was done: segment(demonstration, task)")
        shown = with_actions(where, demonstration)
        return Recogniser(self.classifiers, [task], self.settings).segment(where, shown, task, prefix)

    @cached_property
    def dependencies(self) -> Dependencies:
        """Which subgoals help which: those kept with the run, or discovered in the demonstrations of training."""
        kept = kept_dependencies(self.source.folder) if self.source.folder else None
        return kept or self.discover()

    def discover(
        self, demonstrations: Iterable[Demonstration] | None = None, advance: Advance | None = None
    ) -> Dependencies:
        """Which subgoals help which, read off demonstrations, by default those of training.

        It takes the place of `dependencies`. advance: called with the number of demonstrations that were looked at.
        """
        if demonstrations is None:
            if self.source.shown is None:
                raise RsgError("these subgoals do not know what they were shown; give demonstrations to discover(...)")
            demonstrations = self.source.shown()
        found = discover(self, self.terms, demonstrations, self._where, advance=advance)
        if self.source.folder:
            keep_dependencies(self.source.folder, found)
        vars(self)["dependencies"] = found
        return found

    def tell(self, world: EitherWorld | None = None) -> list[Told]:
        """What each term means, in the words of a world, how sure that is, and what is open."""
        return tell(self.classifiers, world)

    def save(self, folder: str | Path) -> None:
        """Keep it as a run, which `rsg.load` and every command read; what training has kept there stays."""
        if not isinstance(folder, str | Path):
            raise RsgError(f"a run is a folder, not {folder!r}")
        if self.source.folder and Path(folder).resolve() == self.source.folder.resolve():
            return
        if not self.source.about:
            raise RsgError("only what rsg.learn learned can be saved; these classifiers are your own")
        Run.create(folder, self.source.about)
        saved = Saved(weights_of(self.classifiers), asdict(self.progress))
        with writing(folder) as run:
            run.save({"last": saved, "best": saved})
        if "dependencies" in vars(self):
            keep_dependencies(folder, self.dependencies)

    def to_onnx(self, path: str | Path, states: Array | None = None, world: EitherWorld | None = None) -> "Exported":
        """Write the network as an ONNX file, for programs without rsg; it is tried with onnxruntime.

        Its inputs are what `world.encode` gives, its outputs `log_g` and `log_i`, `[N, terms]`; it says what they mean.

        Args:
            path: the file.
            states: `[N, W]`, at least two, that it is tried on; by default the first ones that were shown.
            world: where they are from.
        """
        from rsg.subgoals.exporting import network_of, to_onnx

        network_of(self.classifiers)
        if states is None or world is None:
            if self.source.shown is None:
                raise RsgError("these subgoals do not know what they were shown; give states and their world")
            shown = next(iter(self.source.shown()))
            states, world = shown.states if states is None else states, self._where(shown, world)
        return to_onnx(self.classifiers, world, states, path, self.settings.encoder)

    def _where(self, demonstration: object, world: EitherWorld | None = None) -> EitherWorld:
        """The world of a demonstration."""
        if not isinstance(demonstration, Demonstration):
            kind = type(demonstration).__name__
            raise RsgError(f"one rsg.Demonstration(states, actions, task) is wanted, not a {kind}")
        if world is not None:
            return met(world, demonstration)
        if self.source.world_of is None:
            raise RsgError(
                "these subgoals do not know their world; name it: world=..., or once for all rsg.load(folder, world)"
            )
        return met(self.source.world_of(demonstration), demonstration)


def recognise(
    world: EitherWorld,
    demonstration: Demonstration,
    candidates: Sequence[str | Task] | None,
    subgoals: Subgoals,
    prefix: bool = False,
) -> list[Recognised]:
    """Which task a trajectory did; see `Subgoals.recognise`.

    `rsg.subgoals.Recogniser` does the same for many trajectories and is quicker then.

    >>> import rsg
    >>> from rsg.worlds.corridor import Corridor
    >>> shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    >>> subgoals = rsg.learn(shown, Corridor())
    >>> ranked = recognise(Corridor(), shown[0], ["light-lamp", "read-book"], subgoals)
    >>> str(ranked[0].task)
    'light-lamp'
    """
    return subgoals.recognise(demonstration, candidates, prefix, world)


def segment(
    world: EitherWorld,
    demonstration: Demonstration,
    task: str | Task | None,
    subgoals: Subgoals,
    prefix: bool = False,
) -> Segmentation:
    """Where each subgoal of a task ended in a trajectory; see `Subgoals.segment`.

    >>> import rsg
    >>> from rsg.worlds.corridor import Corridor
    >>> shown = [rsg.Demonstration(*walk) for walk in Corridor().walks()]
    >>> subgoals = rsg.learn(shown, Corridor())
    >>> both = subgoals.plan(Corridor(), shown[4].states[0], "light-lamp then read-book")
    >>> done = rsg.Demonstration(both.states, both.actions, "light-lamp then read-book")
    >>> segment(Corridor(), done, None, subgoals).ends
    (('light-lamp', 3), ('read-book', 12))
    """
    return subgoals.segment(demonstration, task, prefix, world)
