"""All that is known of a place: the `Domain`, and how one is found by its name."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, NamedTuple

import numpy as np
from typing_extensions import TypeVar

from rsg.core.arrays import Array, Bools, Bytes
from rsg.core.blame import theirs
from rsg.core.errors import ParseError, RsgError, unknown
from rsg.core.modules import loading, named
from rsg.core.progress import Advance
from rsg.demos import Demonstration, Recipe, Store
from rsg.demos.expert import DRAWS, first_done, setting_of, shortest_way, start_in
from rsg.demos.making import fill_store
from rsg.language import Task, machine_of, parse
from rsg.planning import Part, Plan
from rsg.search import Goals, SearchSettings, goals_from
from rsg.worlds import EitherWorld
from rsg.worlds.viewing import blocks_of, text_of, told_text

W = TypeVar("W", bound=EitherWorld, default=Any)
"""The world of a domain: `class Kitchen(Domain[KitchenWorld])`; it may be left out."""


class PlaceOption(NamedTuple):
    """How a place is named on the command line: the option's names, what stands for its value, what it means."""

    names: tuple[str, ...]
    value: str
    about: str


class Controls(NamedTuple):
    """How a person moves: what the world is told for the name of each move, which keys do what, and that in a line."""

    actions: Mapping[str, Any]
    keys: Mapping[str, str]
    help: str


class Picture(NamedTuple):
    """A picture that a person may ask for: what it shows, what draws it, and whether it shows learned subgoals.

    It is drawn given the world, a state, how large (pixels, or None) and subgoals: `[height, width, 3]`, or a PNG.
    """

    about: str
    draw: Callable[..., Bytes | bytes]
    learned: bool = False


class Illustration(NamedTuple):
    """What a report shows of what was learned: a headline, some sentences, words with a picture (PNG) each."""

    title: str
    text: str
    pictures: Sequence[tuple[str, bytes]]


class Positions(NamedTuple):
    """A state again and again, with the agent at many places.

    Attributes:
        states: `[rows · columns · K, W]`, K at each place (orientations, say), row by row.
        rows, columns: how many places there are.
        box: what the places cover of the picture: left, top, right, bottom, from 0 to 1.
        free: `[rows · columns · K]` whether the agent can be so.
    """

    states: Array
    rows: int
    columns: int
    box: tuple[float, float, float, float]
    free: Bools


class Network(NamedTuple):
    """A kind of network that suits some worlds."""

    # makes it, given settings and a shape: `rsg.subgoals.Classifiers`, or a module of a baseline
    build: Callable[..., Any]
    # what it must know of a world, as plain values, given what the world shows of a state, and the world
    shape: Callable[[Any, Any], dict[str, Any]]
    preset: Mapping[str, Any] = {}  # the settings that learn best with it, where they are not the usual ones
    # what it sees of states, given the world, the states and its shape; None: what the world shows
    look: Callable[[Any, Array, Mapping[str, Any]], Any] | None = None


class Printed(NamedTuple):
    """What a paper prints of a method; rates are fractions, times are seconds; None: it says nothing."""

    compositional: float | None = None
    novel: float | None = None
    training: float | None = None
    plan: float | None = None


class Domain(Generic[W]):
    """All that rsg knows of a place. Only `world` is required: each other part opens more commands.

    A class says what it has, and leaves out the rest; `examples/kitchen` is one.

    Attributes:
        name: the word for it; title: its name in sentences; found_as: how the user named it.
        splits: tasks by split; `str` gives their descriptions. `train` is learned from; `compositional` and `novel`
            are what reports plan for.
        places: the named ones, and a few words about each; place_option: how one is named on the command line.
        place: the one that was asked for, None leaves it to the domain; own: tasks that were given, the split `custom`.
        example: a setting, as demonstrations have it.
        examples: a task and a goal, for help; else from the splits. example_place: where that task can be done.
        dtype: of states, for imports.
        presets: settings that suit it, by method (`rsg`, `bc`, ...), where they are not the usual ones.
        networks: of subgoals by name, see `RsgSettings.encoder`; a world says which suits it: `network`. Or where they
            are, `module:name`, so that torch is loaded when it is needed.
        visions: the same for baselines; a world says which suits it for each kind of observation: `visions`.
        pixels: how large pictures are: `small` in films, `usual`, and `large` in a file of their own.
        published: what a paper prints about a method here, by method.
        max_draws: of starts, until a task can be done from one.
    """

    name: str = ""
    title: str = ""
    splits: Mapping[str, Sequence[Any]] = {}
    places: Mapping[str, str] = {}
    place_option: PlaceOption | None = None
    place: str | None = None
    own: tuple[str, ...] = ()
    example: str = ""
    example_place: str = ""
    dtype: str | None = None
    presets: Mapping[str, Mapping[str, Any]] = {}
    networks: Mapping[str, Network] | str = {}
    visions: Mapping[str, Network] | str = {}
    pixels: Mapping[str, int] = {}
    published: Mapping[str, Printed] = {}
    no_splits: str = "none; it has no tasks"
    found_as: str = ""
    max_draws: int = DRAWS

    # Where.

    def world(self, setting: str = "") -> W:
        """The world that a demonstration's setting describes. Required."""
        raise self.lacks("world", "write a method world(self, setting)")

    def setting_of(self, world: W) -> str:
        """What it takes to make the world again, as text; empty if there is just one."""
        return ""

    def at(self, place: str | None = None, tasks: Sequence[str] = ()) -> "Domain":
        """The same at a place, and with tasks of one's own, which make up the split `custom`."""
        if place is None and not tasks:
            return self
        if place is not None and place not in self.places:
            raise unknown("place", place, self.places) if self.places else self.lacks("places", "leave the place out")
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.place, other.own = place, tuple(tasks)
        if tasks:
            other.splits = {**self.splits, "custom": [str(self.read(text)) for text in tasks]}
        return other

    @property
    def place_words(self) -> str:
        """The words of a command that name the place, after the name of the world."""
        return f" {self.place_option.names[0]} {self.place}" if self.place and self.place_option else ""

    def within(self, setting: str) -> "Domain":
        """The same where a demonstration of that setting was made, if that makes a difference."""
        return self

    def unfit(self, setting: str, world: W) -> str:
        """Why what was learned where demonstrations had that setting cannot be used in a world; empty if it can."""
        return ""

    def start(self, terms: Sequence[str], rng: np.random.Generator, goal: bool = False) -> tuple[W, Array]:
        """A world and a first state `[W]` in which all terms can be done and none is true; by default a sample.

        goal: whether only the end is named, so that whatever leads there must be possible too.
        """
        world = self.world(self.example)
        if not hasattr(world, "sample"):
            raise self.lacks(
                "starts", "write a method start(self, terms, rng, goal), or sample(rng, count) of its world"
            )
        truth = self.truth if self.has("truth") else None
        return world, start_in(world, terms, truth, rng, self.max_draws)

    # What is asked, and what is true.

    def split(self, name: str) -> Sequence[Any]:
        """The tasks of a split."""
        if name not in self.splits:
            raise RsgError(f"there is no split '{name}'; splits are: {', '.join(self.splits) or self.no_splits}")
        return self.splits[name]

    @property
    def reported(self) -> list[str]:
        """The splits that reports plan for."""
        return [name for name in ("compositional", "novel") if name in self.splits] or list(self.splits)

    def tasks(self, split: str) -> list[str]:
        """The descriptions of a split."""
        return list(map(str, self.split(split)))

    @cached_property
    def vocabulary(self) -> Sequence[str]:
        """All terms: by default those of all tasks."""
        texts = (str(task) for tasks in self.splits.values() for task in tasks)
        return list(dict.fromkeys(name for text in texts for name in machine_of(text).names))

    def read(self, text: str, terms: Sequence[str] = ()) -> Task:
        """The task that a text describes, strictly or in words; terms: if nobody knows those of this place."""
        try:
            return parse(text, words=self.vocabulary or terms or None)
        except ParseError as error:
            if self.vocabulary:
                error.pointer = f"rsg domains {self.found_as or self.name} lists its terms"
            raise

    @property
    def examples(self) -> tuple[str, str]:
        """A task and a goal, for help."""
        texts = [text for split in self.splits for text in self.tasks(split)]
        several = (text for text in texts if len(machine_of(text).names) > 1)
        task = next(several, texts[0] if texts else "first-term then second-term")
        return task, (self.vocabulary or ["second-term"])[-1]

    def start_of(self, split: str, task: int, rng: np.random.Generator) -> tuple[W, Array]:
        """A world and a first state for the task with that number."""
        return self.start(machine_of(self.tasks(split)[task]).names, rng)

    def truth(self, world: W, states: Array, terms: Sequence[str]) -> Bools:
        """Which subgoals really hold, `[N, terms]`: for experts and success checks, never for a learner."""
        raise self.lacks("truth", "nothing can be judged without it")

    def true_goals(self, world: W, terms: Sequence[str], state: Array) -> Goals:
        """The truth as classifiers: an oracle for planners, a `GoalFn`."""
        self.truth(world, np.asarray(state)[None], terms)  # or says that there is none
        return goals_from(lambda states: self.truth(world, states, terms))

    # What is shown.

    def expert(
        self, world: W, state: Array, task: str, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Array, Array] | None:
        """States `[T + 1, W]` and actions of somebody who does a task; None if that cannot be done.

        By default the shortest way, judged by the truth; with noise, from wherever a mistake leads.
        """
        self.check_expert()
        return shortest_way(world, state, task, self.true_goals, rng, noise)

    def demonstrate(
        self, split: str, task: int, rng: np.random.Generator, noise: float = 0.0
    ) -> tuple[Demonstration, int]:
        """A demonstration by the expert, and how many starts were drawn until one could be done."""
        text = self.tasks(split)[task]
        self.check_expert()

        def attempt() -> Demonstration | None:
            world, state = self.start_of(split, task, rng)
            found = self.expert(world, state, text, rng, noise)
            setting = self.setting_of(world) or setting_of(world, state)
            return Demonstration(*found, task=text, setting=setting) if found else None

        return first_done(attempt, text, self.max_draws)

    def check_expert(self) -> None:
        """An error if there is nobody to demonstrate anything."""
        if not any(map(self.has, ("expert", "demonstrate", "truth"))):
            raise self.lacks("expert", "give --demos DIR; rsg demos import makes such a folder of what you have")

    def view(self, world: W, state: Array, colours: bool = True) -> Any:
        """A state for the terminal, as (rich) text."""
        if hasattr(world, "view"):
            return told_text(world.view(state), colours)
        if not hasattr(world, "spaces"):
            return f"state  {np.array2string(np.asarray(state))}"
        return blocks_of(world.render(state)) if colours and hasattr(world, "render") else text_of(world, state)

    def steps(self, world: W, states: Array, actions: Array) -> str:
        """A part of a trajectory in a line."""
        return " ".join(map(str, action_values(world, actions)))

    def told(self, world: W, state: Array) -> dict[str, Any]:
        """A state as plain values, for `--json`."""
        return {"state": np.asarray(state).tolist()}

    def about(self) -> dict[str, Any]:
        """What `--json` says of the place."""
        return {"place": self.place} if self.place else {}

    def text(self, world: W, state: Array) -> str:
        """A start as a file that a person can edit and load."""
        raise self.lacks("files of places", "leave out --save")

    def things(self, world: W) -> Sequence[str]:
        """What a person may put into a world by pointing, `agent` and `nothing` among it; by default there is none."""
        return ()

    def put(self, world: W, state: Array, thing: str, at: tuple[float, float]) -> tuple[W, Array]:
        """The world and the state with a thing where somebody points at in the picture, (0, 0) left above to (1, 1)."""
        raise self.lacks("things to put into it", "take a start or a place as it is")

    def positions(self, world: W, state: Array) -> Positions:
        """The state with the agent at many places."""
        raise self.lacks("places to put the agent at", "look at what was learned with rsg readings")

    def controls(self, world: W) -> Controls:
        """How a person moves; by default arrows for actions of such names, and digits, then letters, for the others."""
        if not hasattr(world, "actions"):
            raise self.lacks("keys", "write a method controls(self, world)")
        others = [name for name in world.actions if name not in ("up", "down", "left", "right")]
        keys = dict(zip("1234567890bcefgimoptvxyz", others, strict=False))
        arrows = ["arrows or wasd move"] if len(others) < len(world.actions) else []
        told = "   ".join([*arrows, *(f"{key} {name}" for key, name in keys.items())])
        return Controls({name: number for number, name in enumerate(world.actions)}, keys, told)

    def picture(self, world: W, state: Array, pixels: int | None = None) -> Bytes:
        """A state as a picture `[height, width, 3]`; pixels, if there is a choice: its size."""
        if not hasattr(world, "render"):
            raise self.lacks("picture", "its world has no method render(state)")
        drawn: Bytes = world.render(state) if pixels is None or not self.pixels else world.render(state, pixels)
        return drawn

    @property
    def pictures(self) -> Mapping[str, Picture]:
        """Pictures besides, each by the option that asks for it."""
        return {}

    def trail(self, world: W, states: Array, parts: Sequence[Part], ended: int) -> Bytes | None:
        """A whole trajectory in one picture, in the colours of the subgoals that its parts serve; None: there is none.

        The ends of the first parts, as many as `ended`, are marked: there a subgoal came true.
        """
        return None

    def plan_picture(self, world: W, made: Plan, goals: Goals, settings: SearchSettings) -> Bytes | None:
        """A plan in one picture, with what else there is to see of the search for it; None: there is none."""
        return self.trail(world, made.states, made.parts, len(made.parts))

    def illustrations(self, subgoals: Any, settings: Any) -> list[Illustration]:
        """What a report shows of learned subgoals."""
        return []

    def has(self, part: str) -> bool:
        """Whether a part was given."""
        return part in vars(self) or getattr(type(self), part) is not getattr(Domain, part)

    def parts(self) -> dict[str, bool]:
        """Which parts are there, in words."""
        try:
            world, starts = self.start((), np.random.default_rng(0))[0], True
        except RsgError:
            world, starts = None, False
        return {
            "starts": starts,
            "tasks": bool(self.splits),
            "truth": self.has("truth"),
            "expert": any(map(self.has, ("expert", "demonstrate", "truth"))),
            "picture": self.has("picture") or hasattr(world, "render"),
            "keys": self.has("controls") or hasattr(world, "actions"),
            "places": bool(self.places),
            "networks": bool(self.networks),
            "settings": bool(self.presets),
        }

    def lacks(self, part: str, instead: str) -> RsgError:
        """The error for a part that is not there."""
        return RsgError(f"{self.name or type(self).__name__} has no {part}; {instead}")

    def __reduce__(self) -> Any:
        """As how it was found, for other processes."""
        return find, (self.found_as or self.name, self.place, self.own)


def action_values(world: EitherWorld, actions: Array) -> list[Any]:
    """Actions as plain values: their names, or numbers in a continuous world."""
    return [world.actions[action] for action in actions] if hasattr(world, "actions") else np.asarray(actions).tolist()


# How one is found.


@cache
def installed() -> dict[str, EntryPoint]:
    """The domains that packages tell of, by name; those of rsg first."""
    every = entry_points(group="rsg.domains")
    ours = [one for one in every if one.module.startswith("rsg.")]
    named = sorted(every, key=lambda one: one.name)
    return {one.name: one for one in [*ours, *named, *ours]}  # the place of the first, the value of the last


def usual() -> Domain:
    """The one that examples are about unless one is named."""
    return find(next(iter(installed())))


def find(name: str, place: str | None = None, tasks: Sequence[str] = ()) -> Domain:
    """The domain of that name: an installed one, `package.module:name`, or `path/to/file.py:name`, which is run.

    place, tasks: where, and with which tasks of one's own; see `Domain.at`.
    """
    where, _, attribute = name.rpartition(":")
    if not where and name not in installed():
        problem = str(unknown("world", name, installed()))
        raise RsgError(problem if problem.endswith("?") else f"{problem}; or name a file: path/to/file.py:name")
    found = _found(f"{Path(where).resolve()}:{attribute}" if where.endswith(".py") else name)
    return found.at(place, tasks) if place or tasks else found


def remembered(name: str) -> Domain:
    """The domain that a store or a run says it is of; it must be installed, since what is loaded runs no file."""
    if name not in installed() and name not in _BY_FILE:
        raise RsgError(
            f"the world '{name}' is not installed here; if a file describes it, name that: --world FILE.py:NAME"
        )
    return _BY_FILE.get(name) or find(name)


_BY_FILE: dict[str, Domain] = {}
"""Domains that the user named by where they are, by their own names."""


@cache
def _found(name: str) -> Domain:
    where, _, attribute = name.rpartition(":")
    if not where:
        found, own = loading(f"the domain '{name}'", installed()[name].load), name
        theirs(installed()[name].module)
    else:
        found, own = named(name, "domain"), attribute
    domain: Domain = loading(
        f"the domain '{name}'", lambda: _as_domain(found() if isinstance(found, type) else found, name)
    )
    own = domain.name or own
    vars(domain).update(name=own, title=domain.title or own, found_as=name)
    if where:
        _BY_FILE[domain.name] = domain
    return domain


def _as_domain(found: object, name: str) -> Domain:
    """Whatever has a method `world`, or is a world itself, as a domain."""
    if isinstance(found, Domain):
        return found
    if hasattr(found, "step") and hasattr(found, "encode"):
        alone = Domain()
        vars(alone)["world"] = lambda _="": found
        return alone
    if not callable(getattr(found, "world", None)):
        raise RsgError(f"{name} is no domain: it has no method world(self, setting)")
    found.__class__ = type(type(found).__name__, (type(found), Domain), {})
    assert isinstance(found, Domain)
    return found


def offered(kind: str, name: str) -> Network | None:
    """What some domain that is known offers under a name, as its `networks` or `visions`; None if none does."""
    for one in (*_BY_FILE, *installed()):
        with suppress(RsgError):  # one that cannot be loaded offers nothing
            if found := offers(remembered(one), kind).get(name):
                return found
    return None


def offers(domain: Domain, kind: str) -> Mapping[str, Network]:
    """The `networks` or `visions` of a domain."""
    found = getattr(domain, kind)
    where, _, attribute = found.rpartition(":") if isinstance(found, str) else ("", "", "")
    return getattr(import_module(where), attribute) if where else found  # type: ignore[no-any-return]


def make_demonstrations(
    recipe: Recipe, folder: str | Path, workers: int = 1, advance: Advance | None = None, domain: Domain | None = None
) -> Store:
    """Make the demonstrations of a recipe in a folder, or go on where an interrupted run stopped.

    A shard that is missing or no longer what was written is made again.
    """
    return fill_store(domain or domain_of(recipe), recipe, Path(folder), workers, advance)


def domain_of(recipe: Recipe) -> Domain:
    """Where the demonstrations of a recipe are made, with one's own tasks in it."""
    return find(recipe.world, recipe.map, recipe.tasks)
