"""Does an environment keep its promises? It is walked through, restored, and walked through again.

Every step that is taken must agree with every other step by the same action in the same state. What differs is handed
to `causes`, which finds out why.
"""

import time
from collections import defaultdict
from typing import Any

import numpy as np

from rsg.core.random import stream
from rsg.worlds.wrapping import causes
from rsg.worlds.wrapping.causes import Experience, Step
from rsg.worlds.wrapping.chance import clock, stir
from rsg.worlds.wrapping.face import Face, Moment
from rsg.worlds.wrapping.objects import Left, Objects, Strange
from rsg.worlds.wrapping.saving import spelled
from rsg.worlds.wrapping.seeing import unlike

SECONDS = 4.0  # at most, all in all
WALKS, LONG, SHORT = 6, 400, 60  # how many, the steps of the first ones, and of the others
RESTORED, PAIRS, ON = 400, 150, 12  # steps taken again, states reached by two ways, steps on from there
LATER = 86_400.0 * 1.37  # seconds by which the clock is put forward


def clocks(face: Face, values: list[Any], seed: int) -> Left:
    """Attributes that change by the same amount with every step, whatever is done: what counts steps."""
    rng, found = stream(seed, "clocks"), None
    for walk in range(2):
        seen: dict[tuple[str, str], list[Any]] = defaultdict(list)
        moment = face.reset(seed + walk)
        for _ in range(12):
            root = face.saving.root(moment.snapshot)
            if root is None:
                return frozenset()
            try:
                for _, name, value in Objects([root]).leaves():
                    if (name[0] and type(value) in (int, float)) or isinstance(value, np.integer | np.floating):
                        seen[name].append(value)
            except Strange:
                return frozenset()
            if moment.ended:
                break
            moment = face.step(values[int(rng.integers(len(values)))])
        lengths = {len(listed) for listed in seen.values()}
        steady = {name for name, listed in seen.items() if len(listed) > 4 and _steady(listed)} if lengths else set()
        found = steady if found is None else found & steady
    return frozenset(found or ())


def _steady(listed: list[Any]) -> bool:
    steps = np.diff(np.asarray(listed, dtype=float))
    return bool(steps[0] != 0 and np.allclose(steps, steps[0], rtol=1e-6, atol=0))


def check(face: Face, actions: tuple[tuple[str, ...], list[Any]], seed: int) -> tuple[int, float]:
    """An error if it breaks a promise; else the steps that were taken, and the seconds."""
    trial = Trial(face, actions, seed)
    trial.run()
    return trial.steps, trial.seconds


class Trial(Experience):
    """One trial of an environment."""

    def __init__(self, face: Face, actions: tuple[tuple[str, ...], list[Any]], seed: int) -> None:
        super().__init__(face, actions, seed)
        self.rng = stream(seed, "wrap")
        self.steps, self.seconds, self._begun = 0, 0.0, time.monotonic()
        self.known: dict[tuple[bytes, int], Step] = {}  # the first step by each action in each state
        self.first: dict[bytes, Moment] = {}  # each state when it was first reached
        self.last: dict[bytes, Moment] = {}  # and when it was last reached

    def run(self) -> None:
        """All that is tried, the surest first."""
        for walk in range(WALKS):
            self.walk(walk, LONG if walk < 2 else SHORT)
        self.restore()
        self.two_ways()

    def late(self, share: float) -> bool:
        """Whether that share of the time is over."""
        return time.monotonic() - self._begun > SECONDS * share

    def walk(self, number: int, length: int) -> None:
        """Go without restoring, at random, some actions several times in a row."""
        seed = self.seed + number % 4  # some starts twice
        moment, action, taken = self.face.reset(seed), 0, list[int]()
        self.walks.append((seed, taken))
        self.arrived(moment, None)
        for at in range(length):
            if moment.ended or (at > 20 and self.late(0.08 * (number + 1))):
                return
            if at == 0 or self.rng.random() < 0.6:
                action = int(self.rng.integers(len(self.values)))
            before, moment = moment, self.stepped(action)
            taken.append(action)
            self.compare(Step(before, action, moment, number, at))

    def stepped(self, action: int) -> Moment:
        """One step on from where it is."""
        begun = time.perf_counter()
        after = self.face.step(self.values[action])
        self.steps, self.seconds = self.steps + 1, self.seconds + time.perf_counter() - begun
        return after

    def compare(self, step: Step) -> None:
        """It must agree with what is known."""
        known = self.known.setdefault((step.before.name, step.action), step)
        if known.after.name != step.after.name:
            raise causes.of_steps(self, known, step)
        self.arrived(step.after, step)

    def arrived(self, moment: Moment, step: Step | None) -> None:
        """What is seen of a state must be what was seen of it."""
        first = self.first.setdefault(moment.name, moment)
        self.last[moment.name] = moment
        if self.face.saving.own and moment not in self.prints:
            self.prints[moment] = spelled(moment.snapshot)
        if part := unlike(first.seen, moment.seen):
            raise causes.of_looks(self, first, moment, step, part)

    def restore(self) -> None:
        """Steps taken again, from states restored in any order, under another clock and other random numbers."""
        steps = list(self.known.values())
        order = self.rng.permutation(len(steps))[:RESTORED]
        for turn, number in enumerate(order):
            if turn > 20 and self.late(0.7):
                return
            step = steps[number]
            self.back_at(step.before)
            stir(self.face.chance(), self.rng)
            with clock(LATER * turn if turn % 4 == 3 else 0.0, False, self.outside.modules):
                after = self.stepped(step.action)
            self.unchanged(step.before)
            again = Step(step.before, step.action, after, -1, turn)
            if after.name != step.after.name:
                raise causes.of_steps(self, step, again)
            self.arrived(after, again)
            self.go_on(step)

    def go_on(self, step: Step) -> None:
        """Some steps more, as they were taken in the walk."""
        if step.walk < 0:
            return
        taken = self.walks[step.walk][1][step.time + 1 :]
        self.follow(step.after, taken[: int(self.rng.integers(4))])

    def back_at(self, moment: Moment) -> None:
        """Restore, and see that it is there."""
        self.face.put(moment)
        row = self.face.now(moment.ended)
        if row.tobytes() != moment.name:
            raise causes.forgets(self, moment, None)

    def unchanged(self, moment: Moment) -> None:
        """What was saved must stay what it was."""
        if self.face.has_key:
            return  # what it says is seen as soon as the state is restored
        if self.face.saving.own and spelled(moment.snapshot) != self.prints.get(moment, spelled(moment.snapshot)):
            raise causes.changes_saved(self)

    def two_ways(self) -> None:
        """States that were reached by two ways: what follows must be the same, also some steps later."""
        self.explore()
        pairs = [(self.first[name], one) for name, one in self.last.items() if one is not self.first[name]]
        order = self.rng.permutation(len(pairs))[:PAIRS]
        for turn, number in enumerate(order):
            if turn > 10 and self.late(1.0):
                return
            length = 5 * ON if turn % 8 == 0 else ON
            actions = self.rng.integers(len(self.values), size=length).tolist()
            for start in pairs[number]:
                self.back_at(start)
                self.follow(start, actions)

    def explore(self) -> None:
        """Actions that were not yet tried, in states that are known."""
        for _ in range(RESTORED):
            if self.late(0.8):
                return
            names = list(self.last)
            moment = self.last[names[int(self.rng.integers(len(names)))]]
            self.back_at(moment)
            self.follow(moment, self.rng.integers(len(self.values), size=4).tolist())

    def follow(self, moment: Moment, actions: list[int]) -> None:
        """Go on from where it is."""
        for action in actions:
            if moment.ended:
                return
            before, moment = moment, self.stepped(action)
            self.compare(Step(before, action, moment, -1, -1))
