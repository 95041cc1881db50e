"""Why an environment breaks a promise: experiments that leave one cause, and the sentence that names it."""

import copy
import random
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rsg.core.errors import RsgError
from rsg.worlds.wrapping.chance import CLOCK, NUMPY, OWN, PYTHON, clock, draw_alike, stir
from rsg.worlds.wrapping.face import Face, Moment
from rsg.worlds.wrapping.objects import Objects
from rsg.worlds.wrapping.outside import Outside
from rsg.worlds.wrapping.saving import spelled

PATIENCE = 1.5  # seconds for one experiment
OFTEN = 300  # how often a step is repeated at most
GIVE = "rsg plans in deterministic worlds"


Outcome = tuple[bytes, ...]
Told = tuple[str, str, str]  # a path, and what was there in two cases


@dataclass(eq=False)
class Step:
    """What an action led to; `walk` and `time` say when, in a walk that was gone without restoring; else -1."""

    before: Moment
    action: int
    after: Moment
    walk: int
    time: int


class Experience:
    """What is known of an environment from trying it.

    Attributes:
        face: the environment; names, values: of its actions; seed: of the first walk.
        walks: the seed of each, and the actions that were taken.
        prints: what was saved, as bytes, when it was.
        outside: what it may remember elsewhere.
    """

    def __init__(self, face: Face, actions: tuple[tuple[str, ...], list[Any]], seed: int) -> None:
        self.face, (self.names, self.values), self.seed = face, actions, seed
        self.walks: list[tuple[int, list[int]]] = []
        self.prints: dict[Moment, bytes] = {}
        self.outside = Outside(face)


def of_steps(trial: Experience, known: Step, other: Step) -> RsgError:
    """The same action in the same state led to two states."""
    did = f"'{trial.names[known.action]}' in the same state led to two different states"
    for step in (other, known):
        ask = Asked(trial, step.before, step.action)
        if varied := _varies(trial, ask):
            cause = _cause(trial, ask, varied)
            if cause not in (NUMPY, PYTHON, OWN, CLOCK) and trial.face.saving.own and _missing(trial, known):
                return forgets(trial, known.before, known)
            return _varying(did, cause)
    one, two = _outcome(trial, known), _outcome(trial, other)
    if one != two:
        return _coarse(trial, known.before, other.before, known.action, did)
    if known.before.name == other.before.name and (outside := trial.outside.changed()):
        return _varying(did, outside[0])
    return forgets(trial, known.before, known) if _missing(trial, known) else _varying(did, None)


def of_looks(trial: Experience, first: Moment, moment: Moment, step: Step | None, part: str) -> RsgError:
    """The same state looked different."""
    did = f"the observation is not a function of the state: `{part}` of the same state showed two things"
    if step is not None:
        ask = Asked(trial, step.before, step.action, True)
        if varied := _varies(trial, ask):
            cause = _cause(trial, ask, varied) or "something that is not saved"
            if cause in (CLOCK, NUMPY, PYTHON, OWN):
                since = f"{'it changes with' if cause == CLOCK else 'it is drawn from'} {cause}"
                return RsgError(f"{did}, since {since}; give observe=, a function that shows the state without noise")
            return RsgError(f"{did}, since {cause} changes with every step; give observe=")
    elif _reset_varies(trial):
        return RsgError(f"{did} after the same reset; give observe=, a function that shows the state without noise")
    differing = differences(trial, first, moment)
    who = "key= leaves out what it shows" if trial.face.has_key else "it depends on how the state was reached"
    listed = " (`{}` was {} and {})".format(*differing[0]) if differing else ""
    advice = "add that to key=, or give observe=" if trial.face.has_key else "give observe="
    return RsgError(f"{did}: {who}{listed}; {advice}")


def _varying(did: str, cause: str | None) -> RsgError:
    if cause == CLOCK:
        return RsgError(f"the environment depends on the clock: {did} at different times; {GIVE}")
    if cause in (NUMPY, PYTHON, OWN):
        return RsgError(f"the environment is stochastic: {did}, since its steps draw from {cause}; {GIVE}")
    if cause:
        return RsgError(
            f"the environment remembers something outside of itself: {did}, since {cause} changes with its steps and "
            "is not saved; make it a part of the environment, or of save= and restore="
        )
    return RsgError(f"the environment is stochastic, or remembers something that is not saved: {did}; {GIVE}")


def _coarse(trial: Experience, one: Moment, two: Moment, action: int, did: str) -> RsgError:
    """Two snapshots of one row have different futures."""
    culprit = _culprit(trial, one, two, action)
    listed = "`{}` was {} in one and {} in the other".format(*culprit) if culprit else "something else differed"
    if trial.face.has_key:
        return RsgError(f"key= takes different states for the same: {did}, and {listed}; add it to key=")
    return RsgError(f"what is saved does not tell all states apart: {did}, and {listed}; give key=")


def forgets(trial: Experience, moment: Moment, step: Step | None) -> RsgError:
    """Restoring brought something back that is not what was saved."""
    saving = trial.face.saving
    if step is None and trial.face.now(moment.ended).tobytes() != trial.face.now(moment.ended).tobytes():
        return RsgError("key= gave two answers for one state: it must be a function of the environment alone")
    if saving.own and spelled(moment.snapshot) != trial.prints.get(moment, spelled(moment.snapshot)):
        return changes_saved(trial)
    missing = _missing(trial, step)
    listed = "`{}` was {} and is {} after it".format(*missing) if missing else "the same action led elsewhere"
    return RsgError(f"{saving.name} does not bring back the whole state: {listed}; what it forgets must be saved, too")


def changes_saved(trial: Experience) -> RsgError:
    """What was saved is no longer what it was."""
    what = _touched(trial)
    listed = " (`{}` was {} and is {})".format(*what) if what else ""
    other = "; if that makes no other state, leave it out with key="
    if trial.face.saving.name == "step=":
        return RsgError(
            f"step= changes the state that it is given{listed}: it must leave that as it is and return a new one{other}"
        )
    return RsgError(
        f"what was saved changed when the environment went on{listed}: what saves a state must return a copy of it, "
        f"and what restores it must not hand it to the environment itself{other}"
    )


def _touched(trial: Experience) -> Told | None:
    """What changes in something that was saved, when the environment goes on."""
    seed, taken = trial.walks[0]
    kept: list[tuple[Any, dict[str, Any]]] = []
    moment = trial.face.reset(seed)
    for action in taken[:100]:
        kept = [*kept[-4:], (moment.snapshot, _leaves([moment.snapshot]))]
        moment = trial.face.step(trial.values[action])
        for snapshot, before in kept:
            for path, was, now in _unlike(before, _leaves([snapshot])):
                return path.replace("env[0]", "state", 1), was, now
    return None


def _leaves(root: Any) -> dict[str, Any]:
    """All plain values in something, by path; arrays as lists of their numbers."""
    return {
        path: (value + 0 if value.dtype.kind == "f" else value).tolist() if isinstance(value, np.ndarray) else value
        for path, _, value in Objects(root).leaves()
    }


def _unlike(one: dict[str, Any], other: dict[str, Any]) -> list[Told]:
    """Where values differ: the path, and what they are."""
    paths = [path for path in {**one, **other} if repr(one.get(path)) != repr(other.get(path))]
    return [(path, _short(one.get(path)), _short(other.get(path))) for path in paths]


# Experiments.


class Asked(NamedTuple):
    """An experiment that can be repeated: what comes of an action, or what it shows."""

    trial: Experience
    moment: Moment
    action: int
    look: bool = False

    def back(self) -> None:
        """To where it begins."""
        self.trial.face.put(self.moment)

    def __call__(self) -> Outcome:
        """What comes of it."""
        after = self.trial.face.step(self.trial.values[self.action])
        return tuple(part.tobytes() for part in after.seen.values()) if self.look else (after.name,)


def _outcome(trial: Experience, step: Step) -> Outcome:
    ask = Asked(trial, step.before, step.action)
    ask.back()
    return ask()


def _reset_varies(trial: Experience) -> bool:
    looks = [trial.face.reset(trial.seed) for _ in range(8)]
    return len({tuple(part.tobytes() for part in one.seen.values()) for one in looks}) > 1


def _varies(trial: Experience, ask: Asked, held: str | None = None, often: int = OFTEN) -> int:
    """After how many repetitions something else came out, with one source of chance held still; 0: it never did."""
    begun, first, rng = time.monotonic(), None, np.random.default_rng(0)
    numbers, others = np.random.get_state(), random.getstate()  # noqa: NPY002
    kept: list[Any] | None = None
    for turn in range(often):
        if turn > 16 and time.monotonic() - begun > PATIENCE:
            break
        ask.back()
        own = trial.face.chance()
        kept = kept or [one if isinstance(one, random.SystemRandom) else copy.deepcopy(one) for one in own]
        stir(own, rng)
        if held in (OWN, ALL):
            for one, first_one in zip(own, kept, strict=False):
                draw_alike(one, first_one)
        if held in (NUMPY, ALL):
            np.random.set_state(numbers)  # noqa: NPY002
        if held in (PYTHON, ALL):
            random.setstate(others)
        with _time(trial, held, turn):
            outcome = ask()
        if first is None:
            first = outcome
        elif outcome != first:
            return turn + 1
    return 0


ALL = "all"


def _time(trial: Experience, held: str | None, turn: int) -> Any:
    if held in (CLOCK, ALL):
        return clock(0.0, True, trial.outside.modules)
    return clock(97_531.7 * turn, False, trial.outside.modules) if turn % 2 else nullcontext()


def _cause(trial: Experience, ask: Asked, varied: int) -> str | None:
    """What makes it vary; None if that cannot be told."""
    often = min(OFTEN, max(24, 6 * varied))
    since = trial.outside.values()
    for suspect in (NUMPY, PYTHON, OWN, CLOCK):
        if not _varies(trial, ask, suspect, often):
            return suspect
    if _varies(trial, ask, ALL, often):
        return next(iter(trial.outside.changed(since)), None)
    return OWN


def differences(trial: Experience, one: Moment, two: Moment) -> list[Told]:
    """What an environment holds in one moment and not in another: the path, and what it was in each."""
    found = []
    for moment in (one, two):
        trial.face.put(moment)
        trial.face.saving.moved()
        found.append(_leaves(trial.face.played.state))
    return _unlike(*found)


def _culprit(trial: Experience, one: Moment, two: Moment, action: int) -> Told | None:
    """The attribute that makes the difference: with the other's value of it, the outcome is the other's."""
    differing = differences(trial, one, two)
    trial.face.put(two)
    wanted = Asked(trial, two, action)()
    for told in differing:
        trial.face.put(two)
        trial.face.saving.moved()
        value = _at(trial.face.played.state, told[0])
        trial.face.put(one)
        trial.face.saving.moved()
        if _set(trial.face.played.state, told[0], value) and Asked(trial, one, action)() == wanted:
            return told
    return differing[0] if differing else None


def _at(root: Any, path: str) -> Any:
    """What is at the end of a path of attributes; None if it leads through anything else."""
    for name in path.split(".")[1:]:
        root = getattr(root, name, None)
    return root


def _set(root: Any, path: str, value: Any) -> bool:
    above, _, name = path.rpartition(".")
    try:
        setattr(_at(root, above), name, value)
    except (AttributeError, TypeError):
        return False
    return True


def _missing(trial: Experience, step: Step | None) -> Told | None:
    """What is not as it was after a restore: what makes the difference, if that shows."""
    walked = step is not None and step.walk >= 0
    walk, time_of = (step.walk, step.time) if step and walked else (0, min(len(trial.walks[0][1]), 9))
    seed, taken = trial.walks[walk]
    moment, aside = trial.face.reset(seed), np.random.default_rng(1)
    for action in taken[:time_of]:
        moment = trial.face.step(trial.values[action])
    there = _leaves(trial.face.played.state)
    values = {path: _at(trial.face.played.state, path) for path in there}
    for action in aside.integers(len(trial.values), size=5):
        if trial.face.step(trial.values[int(action)]).ended:
            break
    trial.face.put(moment)
    missing = _unlike(there, _leaves(trial.face.played.state))
    for told in missing if step and walked else ():
        trial.face.put(moment)
        restored = _set(trial.face.played.state, told[0], values.get(told[0]))
        if step and restored and trial.face.step(trial.values[step.action]).name == step.after.name:
            return told
    return missing[0] if missing else None


def _short(value: Any) -> str:
    return value.decode(errors="replace")[:40] if isinstance(value, bytes) else f"{value!r:.40}"
