"""Classifiers that know: of a domain's truth, or of a table."""

import numpy as np

from rsg.domain import find
from rsg.subgoals import Classifiers

CRAFTING = find("crafting")


class TrueClassifiers(Classifiers):
    """The true meaning of the terms of Crafting World, with log-odds of plus and minus `sure`."""

    def __init__(self, terms=CRAFTING.vocabulary, sure=8.0):
        super().__init__(single=True)
        self.terms = tuple(terms)
        self.sure = sure

    def evaluate(self, world, states, numbers):
        true = CRAFTING.truth(world, states, [self.terms[number] for number in numbers])
        odds = np.where(true, self.sure, -self.sure)
        return np.stack([odds, -odds], axis=-1)


class TableClassifiers(Classifiers):
    """Log-odds `[S, terms, 2]` given for each state of a `TableWorld`."""

    def __init__(self, terms, odds):
        super().__init__()
        self.terms = tuple(terms)
        self.odds_of = odds

    def evaluate(self, world, states, numbers):
        return self.odds_of[world.numbers(states)][:, list(numbers)]
