"""Why an environment breaks a promise: experiments that leave one cause, and the sentence that names it."""

import random
import time
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from rsg.core.errors import RsgError
from rsg.worlds.wrapping.chance import CLOCK, NUMPY, OWN, PYTHON, clock, set_state, state_of, stir
from rsg.worlds.wrapping.experience import Experience, Step
from rsg.worlds.wrapping.face import Moment
from rsg.worlds.wrapping.objects import Objects, Strange
from rsg.worlds.wrapping.saving import spelled

PATIENCE = 1.5  # seconds for one experiment
OFTEN = 300  # how often a step is repeated at most
GIVE = "rsg plans in deterministic worlds"


Outcome = tuple[bytes, ...]


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
    return forgets(trial, known.before, known)


def of_looks(trial: Experience, first: Moment, moment: Moment, step: Step | None, part: str) -> RsgError:
    """The same state looked different."""
    did = f"the observation is not a function of the state: `{part}` of the same state showed two things"
    if step is not None:
        ask = Asked(trial, step.before, step.action, True)
        if varied := _varies(trial, ask):
            cause = _cause(trial, ask, varied)
            said = "it changes with" if cause in (CLOCK,) else "it is drawn from"
            if cause in (CLOCK, NUMPY, PYTHON, OWN):
                return RsgError(
                    f"{did}, since {said} {cause}; give observe=, a function that shows the state without noise"
                )
            return RsgError(
                f"{did}, since {cause or 'something that is not saved'} changes with every step; give observe="
            )
    elif _reset_varies(trial):
        return RsgError(f"{did} after the same reset; give observe=, a function that shows the state without noise")
    differing = differences(trial, first, moment)
    who = "key= leaves out what it shows" if trial.face.has_key else "it depends on how the state was reached"
    listed = f" (`{differing[0][0]}` was {differing[0][1]} and {differing[0][2]})" if differing else ""
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
    listed = (
        f"`{culprit[0]}` was {culprit[1]} in one and {culprit[2]} in the other"
        if culprit
        else "something else differed"
    )
    if trial.face.has_key:
        return RsgError(f"key= takes different states for the same: {did}, and {listed}; add it to key=")
    return RsgError(f"what is saved does not tell all states apart: {did}, and {listed}; give key=")


def forgets(trial: Experience, moment: Moment, step: Step | None) -> RsgError:
    """Restoring brought something back that is not what was saved."""
    saving = trial.face.saving
    if step is None and trial.face.now(moment.ended).tobytes() != trial.face.now(moment.ended).tobytes():
        return RsgError(
            "key= gave two answers for one state: it must be a function of the environment and nothing else"
        )
    if saving.own and spelled(moment.snapshot) != trial.prints.get(moment, spelled(moment.snapshot)):
        return changes_saved(trial)
    missing = _missing(trial, step)
    listed = (
        f"`{missing[0]}` was {missing[1]} and is {missing[2]} after it" if missing else "the same action led elsewhere"
    )
    return RsgError(f"{saving.name} does not bring back the whole state: {listed}; what it forgets must be saved, too")


def changes_saved(trial: Experience) -> RsgError:
    """What was saved is no longer what it was."""
    what = _touched(trial)
    listed = f" (`{what[0]}` was {what[1]} and is {what[2]})" if what else ""
    other = "; if that makes no other state, leave it out with key="
    if trial.face.saving.name == "step=":
        return RsgError(
            f"step= changes the state that it is given{listed}: it must leave that as it is, and return a new one{other}"
        )
    return RsgError(
        f"what was saved changed when the environment went on{listed}: what saves a state must return a copy of it, and "
        f"what restores it must not hand it to the environment itself{other}"
    )


def _touched(trial: Experience) -> tuple[str, str, str] | None:
    """What changes in something that was saved, when the environment goes on."""
    seed, taken = trial.walks[0]
    kept: list[tuple[Any, dict[str, Any]]] = []
    moment = trial.face.reset(seed)
    for action in taken[:100]:
        kept = [*kept[-4:], (moment.snapshot, _inside(moment.snapshot))]
        moment = trial.face.step(trial.values[action])
        for snapshot, before in kept:
            now = _inside(snapshot)
            for path in {**before, **now}:
                if before.get(path) != now.get(path):
                    return path.replace("env[0]", "state", 1), _short(before.get(path)), _short(now.get(path))
    return None


def _inside(snapshot: Any) -> dict[str, Any]:
    try:
        return {path: value for path, _, value in Objects([snapshot]).leaves()}
    except Strange:
        return {}


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
        kept = kept or [state_of(one) for one in own]
        stir(own, rng)
        if held in (OWN, ALL):
            for one, state in zip(own, kept, strict=False):
                set_state(one, state)
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


def differences(trial: Experience, one: Moment, two: Moment) -> list[tuple[str, Any, Any]]:
    """What an environment holds in one moment and not in another: the path, and what it was in each."""
    found = []
    for moment in (one, two):
        trial.face.put(moment)
        trial.face.saving.moved()
        found.append(_leaves(trial))
    return [
        (path, _short(found[0].get(path)), _short(found[1].get(path)))
        for path in {**found[0], **found[1]}
        if found[0].get(path) != found[1].get(path)
    ]


def _leaves(trial: Experience) -> dict[str, Any]:
    try:
        return {path: value for path, _, value in Objects(trial.face.played.state).leaves()}
    except Strange:
        return {}


def _culprit(trial: Experience, one: Moment, two: Moment, action: int) -> tuple[str, Any, Any] | None:
    """The attribute that makes the difference: with the other's value of it, the outcome is the other's."""
    differing = differences(trial, one, two)
    trial.face.put(two)
    wanted = Asked(trial, two, action)()
    for path, _, _ in differing:
        trial.face.put(two)
        trial.face.saving.moved()
        value = _at(trial.face.played.state, path)
        trial.face.put(one)
        trial.face.saving.moved()
        if _set(trial.face.played.state, path, value):
            after = trial.face.step(trial.values[action]).name
            if after == wanted[0]:
                return next(told for told in differing if told[0] == path)
    return differing[0] if differing else None


def _owner(root: Any, path: str) -> tuple[Any, str]:
    parts = path.split(".")[1:]
    for part in parts[:-1]:
        root = getattr(root, part)
    return root, parts[-1]


def _at(root: Any, path: str) -> Any:
    try:
        owner, name = _owner(root, path)
        return getattr(owner, name)
    except (AttributeError, IndexError):
        return None


def _set(root: Any, path: str, value: Any) -> bool:
    try:
        owner, name = _owner(root, path)
        setattr(owner, name, value)
        return True
    except (AttributeError, IndexError, TypeError):
        return False


def _missing(trial: Experience, step: Step | None) -> tuple[str, str, str] | None:
    """What is not as it was after a restore: what makes the difference, if that shows."""
    place = (step.walk, step.time) if step and step.walk >= 0 else (0, min(len(trial.walks[0][1]), 9))
    seed, taken = trial.walks[place[0]]
    moment, aside = trial.face.reset(seed), np.random.default_rng(1)
    for action in taken[: place[1]]:
        moment = trial.face.step(trial.values[action])
    root, there = trial.face.played.state, _leaves(trial)
    values = {path: _at(root, path) for path in there}
    for action in aside.integers(len(trial.values), size=5):
        if trial.face.step(trial.values[int(action)]).ended:
            break
    trial.face.put(moment)
    now = _leaves(trial)
    missing = [path for path in {**there, **now} if there.get(path) != now.get(path)]
    told = {path: (path, _short(there.get(path)), _short(now.get(path))) for path in missing}
    for path in missing if step and step.walk >= 0 else ():
        trial.face.put(moment)
        restored = _set(trial.face.played.state, path, values.get(path))
        if step and restored and trial.face.step(trial.values[step.action]).name == step.after.name:
            return told[path]
    return told[missing[0]] if missing else None


def _short(value: Any) -> str:
    return value.decode(errors="replace")[:40] if isinstance(value, bytes) else f"{value!r:.40}"
