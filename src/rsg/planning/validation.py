"""Is a plan right? An independent replay in the true world, judged by the true meaning of the terms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rsg.core.arrays import Array, Bools
from rsg.language import Machine, Task, machine_of
from rsg.planning.plan import Plan
from rsg.worlds import ContinuousWorld, EitherWorld, is_continuous

Truth = Callable[[Array, Sequence[str]], Bools]
"""Which terms really hold in states `[N, W]`: `[N, terms]`."""


@dataclass(frozen=True)
class Verdict:
    """What a replay says.

    Attributes:
        ok: the plan does the task, strictly: each subgoal false where its part starts and true where it ends.
        lenient: each subgoal is true somewhere, in order; what the authors' code checks.
        reason: why it is not ok; empty if it is.

    >>> Verdict(ok=False, lenient=True, reason="step 3: the lamp was lit already").ok
    False
    """

    ok: bool
    lenient: bool
    reason: str = ""


def validate(world: EitherWorld, plan: Plan, task: str | Task | Machine, truth: Truth) -> Verdict:
    """Replay a plan action by action and judge what really happens; nothing that the plan claims is believed.

    >>> from rsg.planning import plan
    >>> from rsg.search import goals_from
    >>> from rsg.worlds.corridor import Corridor
    >>> made = plan(Corridor(), np.array([2, 0, 0]), "light-lamp", lambda *_: goals_from(lambda states: states[:, 1:2]))
    >>> validate(Corridor(), made, "light-lamp", lambda states, terms: states[:, 1:2] == 1)
    Verdict(ok=True, lenient=True, reason='')
    """
    machine = machine_of(task)
    if not plan.found:
        return Verdict(False, False, plan.reason)
    if is_continuous(world) and (far := _beyond_reach(world, plan)):
        return Verdict(False, False, f"step {far}: the action goes beyond the reach of the world")
    states = [np.asarray(plan.states[0])]
    for number, action in enumerate(plan.actions):
        after = np.asarray(world.step(states[-1][None], np.array([action])))[0]
        if not np.array_equal(after, plan.states[number + 1]):
            return Verdict(
                False, False, f"step {number + 1}: the world does not lead to the state that the plan claims"
            )
        states.append(after)
    terms = machine.names
    holds = truth(np.stack(states), terms)
    lenient = does_leniently(machine, holds)
    if machine.accepts(holds, terms):
        return Verdict(True, lenient)
    return Verdict(False, lenient, _why(machine, holds))


def _beyond_reach(world: ContinuousWorld, plan: Plan) -> int:
    """The first step of a plan whose action is longer than the world allows, counted from 1; 0 if none is."""
    far = ~(np.abs(plan.actions) <= world.reach).all(axis=1)
    return int(np.argmax(far)) + 1 if far.any() else 0


def does_leniently(machine: Machine, holds: Bools) -> bool:
    """Whether each subgoal of some linear instruction is true somewhere, in order; `holds` is `[steps, terms]`."""
    last = machine.nodes - 1
    reached = {0}
    for values in holds:
        frontier = list(reached)
        while frontier:
            node = frontier.pop()
            if node == 0 or values[machine.term_of[node]]:
                fresh = [after for after in machine.successors(node).tolist() if after not in reached]
                if last in fresh:
                    return True
                reached.update(fresh)
                frontier.extend(fresh)
    return False


def _why(machine: Machine, holds: Bools) -> str:
    """Where a trajectory that does not do the task got stuck."""
    entered, first = machine.START, None
    for step, values in enumerate(holds.tolist()):
        entered, done = machine.advance(entered, values)
        if done and first is None:
            first = step
    if first is not None:
        return f"the task was done after step {first}, but not at the end"
    stuck = machine.frontier(entered)
    if not stuck:
        return "no first subgoal could begin: each is true from the start"
    return f"it got as far as {' or '.join(map(str, stuck))}, which was never done"
