"""What comes after a task: recordings may go on when it is done, for a while in which little moves but the robot.

How many end at once, and how often something begins to move and goes on moving, before the task is done and after, is
learned with what terms mean. For granted is taken that after it things begin to move half as often at most, and come to
rest no later; but no more than twice as soon: a button springs back, and too much could be made of that.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rsg.core.arrays import Bools, Floats

Stirring = tuple[float, float]
"""How likely something moves in a step, if nothing moved in the one before, and if something did."""


class Afterwards(NamedTuple):
    """What is known of it.

    Attributes:
        at_once: the share of recordings that end as soon as the task is done.
        before, after: how likely something moves until then, and from then on.
    """

    at_once: float = 0.5
    before: Stirring = (0.5, 0.5)
    after: Stirring = (0.1, 0.5)

    def late(self, moves: Bools, lost: float) -> Floats:
        """The logarithm of how likely what follows is if the task is done in each state, `[T + 1]`, see `Walk`.

        Beside the same steps as part of the task; moves: `[T]` whether something moves; lost: what each step of a task
        loses, the logarithm of how likely it is that one goes on.

        >>> Afterwards(0.5, (0.5, 0.5), (0.25, 0.5)).late(np.array([True, False]), 0.0).round(2).tolist()
        [-2.08, -1.39, -0.69]
        """
        was = np.append(False, moves)[:-1].astype(np.int64)
        shares = np.array([self.before, self.after])[:, was]
        before, after = np.log(np.where(moves, shares, 1 - shares))
        steps = after - before + lost
        rest = np.log((1 - self.at_once) / max(len(moves), 1)) + np.cumsum(steps[::-1])[::-1]
        return np.append(rest, np.log(self.at_once))

    @classmethod
    def learned(cls, moves: Sequence[Bools], ends: Sequence[int]) -> "Afterwards":
        """By Laplace's rule, where tasks seem to be done; moves: of each recording, ends: the state of each.

        >>> Afterwards.learned([np.array([True, True, False])] * 8, [2] * 8)
        Afterwards(at_once=0.1, before=(0.9, 0.9), after=(0.45, 0.81))
        """
        counts = np.ones((2, 2, 2))  # done, whether something moved, whether it moves now
        for some, end in zip(moves, ends, strict=True):
            was = np.append(False, some)[:-1]
            np.add.at(counts, (*(a.astype(np.int64) for a in (np.arange(len(some)) >= end, was, some)),), 1)
        begin, go_on = (counts[..., 1] / counts.sum(axis=2)).T.tolist()  # before, after
        before = (begin[0], go_on[0])
        after = (min(begin[1], begin[0] / 2), min(max(go_on[1], go_on[0] ** 2), go_on[0]))
        at_once = sum(end == len(some) for some, end in zip(moves, ends, strict=True))
        return cls((at_once + 1) / (len(ends) + 2), before, after)
