"""What terms mean, found by exact search: the small formulas over facts that make the demonstrators rational.

A formula is as good as it is likely: by the score of the demonstrations that mention its term (paper, eq. 2), by how
rarely it comes true where nobody mentions it, and by how few words it takes. All else follows from the data: how
rational demonstrators are (α), how many descriptions are wrong, and which kinds of facts terms are about.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Floats, Ints
from rsg.core.compiled import compiled
from rsg.demos import Demonstration
from rsg.demos.demonstration import by_world
from rsg.language import Machine, machine_of
from rsg.search import ProductSearch, SearchSettings
from rsg.search.cost_to_go import Logs
from rsg.subgoals.formulas import Formula, Literal, where
from rsg.subgoals.ground import Ground
from rsg.subgoals.objective import Given, forward, score
from rsg.subgoals.rationality import Rationality
from rsg.subgoals.readings import Reading, Readings
from rsg.worlds import World, is_continuous
from rsg.worlds.facts import fact_names, facts_of, family

ALPHAS = 2.0 ** np.arange(-2.0, 10.0)  # a priori, each is as likely as the others
FIRST_ALPHA, FIRST_DOUBT = 8.0, 0.05  # before anything is known
ROUNDS = 12  # at most
ENOUGH = 40  # demonstrations of each term: more of them change nothing, they only take time
LITERALS = 3  # of a formula, at most
BEAM = 12  # formulas that are tried with one literal more
WORST = 3  # demonstrations, those that are explained worst, by which formulas of one literal more are chosen
TRIED = 32  # of these that are scored on others
TRIAL = 16  # demonstrations by which formulas are chosen that are scored on all
CHANCE = 0.01  # what has never varied is told if chance alone would hardly bring it about
HOPELESS = 40.0  # a formula whose logarithm of likelihood is so much less than the best is not tried again
SUSPECT = 0.2  # a description that is wrong with this probability is compared with all others
DISTANT = 12.0  # formulas that are less likely by such a logarithm are not compared by what graphs do not show
FEW = 60  # demonstrations that tell how often there were shorter ways
KEPT = 10  # formulas of a term whose posterior is told
BUDGET = 6000  # expansions for a shorter way that graphs do not show; what takes longer is not looked for


@dataclass(frozen=True, eq=False)
class Shown:
    """A demonstration, ready to be interpreted.

    Attributes:
        ground: with the graph of states around it.
        machine: of its description.
        facts: `[S, F]` which facts hold in the states of the graph.
    """

    ground: Ground
    machine: Machine
    facts: Bools

    @cached_property
    def on_path(self) -> Bools:
        """Which facts hold along the way, `[T + 1, F]`."""
        return self.facts[self.ground.graph.path]

    @property
    def given(self) -> Given:
        """What a score needs besides what terms mean."""
        return Given(self.ground.graph.arrays, self.ground.walk, self.machine.arrays)

    @cached_property
    def blind(self) -> float:
        """The score of somebody who acts at random, whatever the description says."""
        edges, path = self.ground.graph.arrays, self.ground.graph.path[:-1]
        return -float(np.log(edges.start[path + 1] - edges.start[path]).sum())


@dataclass(frozen=True, eq=False)
class Weighed:
    """What a term may mean.

    Attributes:
        formulas: the likeliest first; posterior: how likely each is.
        explained: `[D]` for each demonstration that mentions it, how likely its description is right.
    """

    formulas: tuple[Formula, ...]
    posterior: Floats
    explained: Floats


@dataclass(frozen=True, eq=False)
class Interpretation:
    """What all terms mean, and what was found out about demonstrators on the way.

    Attributes:
        terms: for each term what it may mean.
        alpha: α, the likeliest; alpha_range: where it lies with a probability of 95 %.
        doubt: the share of descriptions that are wrong; wrong: `[D]` how likely each of them is.
        certainty: the log-odds of what a formula says: how often it was seen to be right.
    """

    terms: dict[str, Weighed]
    alpha: float
    alpha_range: tuple[float, float]
    doubt: float
    wrong: Floats
    certainty: float


def prepared(
    demos: Sequence[Demonstration],
    ground_of: Callable[[Demonstration], Ground],
    known: Mapping[str, Formula] | None = None,
) -> "Data":
    """Demonstrations, ready to be interpreted; known: what some terms mean, which is not asked again."""
    grounds = [ground_of(demo) for demo in demos]
    worlds = by_world((ground.world, ground.graph.states) for ground in grounds)
    names = dict.fromkeys(name for world, some in worlds for name in fact_names(world, np.concatenate(some)))
    names |= dict.fromkeys(name for one in (known or {}).values() for name in one.facts)
    facts = {id(world): facts_of(world, tuple(names)) for world, _ in worlds}
    return Data(
        {name: number for number, name in enumerate(names)},
        [
            Shown(ground, machine_of(demo.task), facts[id(ground.world)].ask(ground.graph.states))
            for demo, ground in zip(demos, grounds, strict=True)
        ],
        known or {},
    )


def enough(tasks: Sequence[str]) -> list[int]:
    """The numbers of as many demonstrations as it takes to see each term often, by turns of each description."""
    by_task: dict[str, list[int]] = {}
    for number, task in enumerate(tasks):
        by_task.setdefault(task, []).append(number)
    seen, chosen = Counter[str](), list[int]()
    for turn in zip_longest(*by_task.values()):
        for number in turn:
            if number is not None and any(seen[name] < ENOUGH for name in machine_of(tasks[number]).names):
                seen.update(machine_of(tasks[number]).names)
                chosen.append(number)
    return sorted(chosen)


@dataclass(frozen=True, eq=False)
class Data:
    """All demonstrations. place: the column of each fact; known: what some terms mean."""

    place: dict[str, int]
    demos: list[Shown]
    known: Mapping[str, Formula]

    @cached_property
    def terms(self) -> dict[str, list[int]]:
        """For each term the demonstrations that mention it."""
        found: dict[str, list[int]] = {}
        for number, demo in enumerate(self.demos):
            for term in demo.machine.names:
                found.setdefault(term, []).append(number)
        return found

    @cached_property
    def on_paths(self) -> tuple[Bools, Ints]:
        """Which facts hold along all demonstrations, one after the other `[N, F]`, and where each begins."""
        starts = np.cumsum([0, *(len(demo.on_path) for demo in self.demos)])
        return np.concatenate([demo.on_path for demo in self.demos]), starts

    def rises(self, formulas: Sequence[Formula]) -> Bools:
        """In which demonstrations each formula comes true on the way, `[formulas, D]`."""
        holds, starts = self.on_paths
        true = where(formulas, holds, self.place)
        came = np.zeros(true.shape, dtype=np.bool_)
        came[:, 1:] = true[:, 1:] & ~true[:, :-1]
        came[:, starts[:-1]] = False
        return np.asarray(np.logical_or.reduceat(came, starts[:-1], axis=1))

    def always(self, formula: Formula, ends: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        """Facts that held at all these ends, too often for chance, and that a formula says nothing of."""
        holds, starts = self.on_paths
        there = holds[[starts[d] + step for d, step in ends]]
        usual = (holds.sum(axis=0) - there.sum(axis=0) + 1) / (len(holds) - len(ends) + 2)  # elsewhere
        strange = there.all(axis=0) & (usual ** len(ends) < CHANCE)
        return tuple(name for name, number in self.place.items() if strange[number] and name not in formula.facts)

    @cached_property
    def literals(self) -> dict[Formula, Bools]:
        """Every fact that comes true somewhere on the way, and every one that ceases to be; with the demonstrations."""
        every = [Formula((Literal(fact, holds),)) for fact in self.place for holds in (True, False)]
        return {one: rises for one, rises in zip(every, self.rises(every), strict=True) if rises.any()}


def interpret(data: Data) -> Interpretation:
    """What every term means that is not known yet: found term after term, until nothing changes."""
    search = _Search(data, data.known)
    found: dict[str, Weighed] = {}
    simplest_first = sorted(data.terms, key=lambda term: min(data.demos[d].machine.nodes for d in data.terms[term]))
    growing = False
    for turn in range(ROUNDS):
        before = dict(search.meaning)
        for term in simplest_first:
            if term not in search.known:
                demos = search.clearest(term) if turn == 0 else data.terms[term]
                found[term] = search.weigh(term, demos, growing)
        done = search.meaning == before
        if done and growing:
            break
        growing = growing or done  # what one literal can say was said
        search.estimate(growing)
    return Interpretation(found, search.alpha, search.alpha_range, search.doubt, search.wrong, search.certainty)


def readings_of(data: Data, found: Interpretation) -> dict[str, Reading]:
    """What was found, with what is told of it: how often it was seen, and what never varied."""
    search = _Search(data, {**data.known, **{term: one.formulas[0] for term, one in found.terms.items()}})
    search.alpha, search.doubt = found.alpha, found.doubt
    ends = search.ends()
    readings = {}
    for term, one in found.terms.items():
        seen, explained = len(one.explained), int((one.explained > 0.5).sum())
        share = 1 - found.doubt
        usual = seen * share - 3 * np.sqrt(seen * share * (1 - share))  # so many at least, if it is as others are
        formulas = tuple(zip(one.formulas, map(float, one.posterior), strict=True))
        read = bool(one.formulas[0].literals and explained >= max(usual, seen / 3))
        readings[term] = Reading(formulas, seen, explained, read, data.always(one.formulas[0], ends[term]))
    return readings


class _Scored(NamedTuple):
    """The scores of demonstrations `[D]`, and the logarithm of how likely a formula is, up to a constant."""

    scores: Floats
    weight: float


class _Search:
    """What is known so far: what each term means (None: nothing), α, and the share of wrong descriptions."""

    def __init__(self, data: Data, known: Mapping[str, Formula]) -> None:
        self.data, self.known = data, known
        self.meaning: dict[str, Formula | None] = {term: known.get(term) for term in data.terms}
        self.alpha, self.alpha_range, self.doubt = FIRST_ALPHA, (ALPHAS[0], ALPHAS[-1]), FIRST_DOUBT
        self.certainty = log(1 + sum(demo.machine.nodes - 2 for demo in data.demos))  # Laplace: never seen to be wrong
        self._otherwise = np.array([demo.blind for demo in data.demos])  # the scores if descriptions are wrong
        self.wrong = np.zeros(len(data.demos))
        self.haste = 0.0  # how much less likely a way is that is dearer by 1, where graphs do not show it
        self._known_ways: dict[Any, tuple[float, float]] = {}
        self._likely: dict[str, list[Formula]] = {}  # by term: what it may still mean
        self._sizes = Counter((family(name), holds) for name in data.place for holds in (True, False))

    def clearest(self, term: str) -> list[int]:
        """A few demonstrations that mention a term, and with it the fewest terms of which nothing is known."""
        demos, where = self.data.demos, self.data.terms[term]
        unknown = [sum(self.meaning[name] is None for name in demos[d].machine.names) for d in where]
        return [d for d, count in zip(where, unknown, strict=True) if count == min(unknown)][:TRIAL]

    def weigh(self, term: str, demos: Sequence[int], growing: bool) -> Weighed:
        """What a term may mean, by what these demonstrations show and by what the others do not mention."""
        likely = self._likely.get(term) or self._literals(demos)
        found = self._scored(term, likely + (self._grown(term, demos[:TRIAL]) if growing else []), demos)
        if growing:
            found |= self._seen_from_afar(term, found, demos)
        order = self._in_order(term, found)
        weights = np.array([found[one].weight for one in order])
        self._likely[term] = [one for one in order if found[one].weight > weights[0] - HOPELESS or not one.literals]
        posterior = np.exp(weights - np.logaddexp.reduce(weights))
        self.meaning[term] = order[0] if order[0].literals else None
        return Weighed(tuple(order[:KEPT]), posterior[:KEPT], 1 - self._wrong(found[order[0]].scores, demos))

    def _seen_from_afar(
        self, term: str, found: Mapping[Formula, "_Scored"], demos: Sequence[int]
    ) -> dict[Formula, "_Scored"]:
        """The likeliest formulas once more, by whether there were shorter ways than the graphs around show."""
        order = [one for one in self._in_order(term, found)[:KEPT] if one.literals]
        close = [one for one in order if found[one].weight > found[order[0]].weight - DISTANT]
        if len(close) < 2:
            return {}
        some = demos[:TRIAL]
        less = {one: self.haste * np.array([self._detour(d, {term: one}) for d in some]) for one in close}
        lost = {}
        for one in close:
            scores = found[one].scores[: len(some)]
            lost[one] = float((self._doubted(scores, some) - self._doubted(scores - less[one], some)).sum())
        return {  # beside the likeliest: all that are not compared would gain otherwise
            one: found[one]._replace(weight=found[one].weight + lost[close[0]] - lost[one]) for one in close
        }

    def _detour(self, d: int, instead: Mapping[str, Formula]) -> float:
        """By how much the best way in the graph around a demonstration is dearer than the best way of all."""
        local, least = self._ways(d, instead)
        return max(0.0, local - least) if local < np.inf else 0.0

    def _excess(self, d: int) -> float:
        """By how much a demonstration is dearer than the best way of all."""
        demo = self.data.demos[d]
        shown = demo.ground.graph.arrays.cost[demo.ground.walk.taken].sum()
        return max(0.0, float(shown) - self._ways(d, {})[1])

    def _ways(self, d: int, instead: Mapping[str, Formula]) -> tuple[float, float]:
        """The costs of the best way in the graph around a demonstration and of the best of all; infinite: unknown."""
        demo = self.data.demos[d]
        world, start = demo.ground.world, demo.ground.graph.path[0]
        all_of_them = {name: instead.get(name, self.meaning[name]) for name in demo.machine.names}
        meaning = {name: formula for name, formula in all_of_them.items() if formula is not None}
        if len(meaning) < len(all_of_them) or is_continuous(world):
            return np.inf, np.inf
        key = (d, tuple(meaning.values()))
        if key not in self._known_ways:
            local = forward(*demo.given, self._logs(demo, meaning=meaning), self.how)[1].togo.cost[start, 0]
            least = least_cost(world, demo.ground.graph.states[start], demo.machine, meaning, self.certainty)
            self._known_ways[key] = float(local), least
        return self._known_ways[key]

    def _literals(self, demos: Sequence[int]) -> list[Formula]:
        """The formulas of one literal that come true in some of the demonstrations, and the one that never does."""
        return [Formula(), *(one for one, rises in self.data.literals.items() if rises[demos].any())]

    def _grown(self, term: str, demos: Sequence[int]) -> list[Formula]:
        """The best formulas of several literals, by a few demonstrations, if there is anything to gain."""
        found, new = self._scored(term, self._literals(demos), demos), list[Formula]()
        cheapest = min(self._prices(term).values()) + log(4)
        for _ in range(LITERALS - 1):
            best = self._in_order(term, found)[:BEAM]
            gains = self._to_gain(term, found[best[0]].scores, demos)
            if gains.sum() < cheapest:
                break
            worst = [demos[n] for n in np.argsort(-gains, kind="stable")[:WORST]]
            found |= self._scored(term, self._longer(term, [one for one in best if one not in new], worst), demos)
            new = [one for one in self._in_order(term, found)[:KEPT] if len(one.literals) > 1]
            if self._in_order(term, found)[0] == best[0]:
                break
        return [one for one in new if one not in self._likely[term]]

    def _in_order(self, term: str, found: Mapping[Formula, "_Scored"]) -> list[Formula]:
        """The likeliest first, of equals what the term is taken to mean already; last the one that never holds."""
        known = self.meaning[term]
        return sorted(found, key=lambda one: (not one.literals, -round(found[one].weight, 6), one != known))

    def _to_gain(self, term: str, known: Floats, demos: Sequence[int]) -> Floats:
        """What can be gained at most on the score of each demonstration: by what holds in just one of its states."""
        most = np.zeros(len(demos))
        for n, d in enumerate(demos):
            path = self.data.demos[d].ground.graph.path
            ends = np.zeros((len(path) - 1, len(self.data.demos[d].facts)), dtype=np.bool_)
            ends[np.arange(len(path) - 1), path[1:]] = True
            most[n] = self._explained(term, d, ends).max()
        return np.maximum(0.0, self._doubted(most, demos) - self._doubted(known, demos))

    def _longer(self, term: str, formulas: Sequence[Formula], worst: Sequence[int]) -> list[Formula]:
        """Formulas of one literal more that best explain those demonstrations that are explained worst."""
        literals = [one.literals[0] for one, rises in self.data.literals.items() if rises[self.data.terms[term]].any()]
        grown = list(dict.fromkeys(new for one in formulas if one.literals for new in one.grown(literals)))
        if not grown:
            return []
        often = self.data.rises(grown)[:, self.data.terms[term]].sum(axis=1)
        by_worst = self._in_order(term, self._scored(term, grown, worst))[:TRIED]
        by_often = [grown[n] for n in np.argsort(-often, kind="stable")[:TRIED]]
        return list(dict.fromkeys([*by_worst, *by_often]))

    def _prices(self, term: str) -> dict[tuple[str, bool], float]:
        """What a literal of each kind takes to describe: less if other terms are about such facts."""
        others = [one for name, one in self.meaning.items() if name != term and one is not None]
        count = Counter((family(literal.fact), literal.holds) for one in others for literal in one.literals)
        total = sum(count.values()) + len(self._sizes)
        return {kind: log(total / (count[kind] + 1)) + log(size) for kind, size in self._sizes.items()}

    def _scored(self, term: str, formulas: Sequence[Formula], demos: Sequence[int]) -> dict[Formula, "_Scored"]:
        """How well each formula explains some demonstrations, and how likely that makes it."""
        scores = np.empty((len(formulas), len(demos)))
        for column, d in enumerate(demos):
            demo = self.data.demos[d]
            holds = where(formulas, demo.facts, self.data.place)
            _, first, same = np.unique(np.packbits(holds, axis=1), axis=0, return_index=True, return_inverse=True)
            scores[:, column] = self._explained(term, d, holds[first])[same.ravel()]
        weights = self._doubted(scores, demos).sum(axis=1) + self._prior(term, formulas)
        return {one: _Scored(row, float(total)) for one, row, total in zip(formulas, scores, weights, strict=True)}

    def _explained(self, term: str, d: int, holds: Bools) -> Floats:
        """How well a demonstration is explained if a term holds in these states, `[ways, S]`."""
        demo = self.data.demos[d]
        number = demo.machine.names.index(term)
        return scores_of(demo.given, self._logs(demo), number, holds, self.certainty, self.how)

    def _prior(self, term: str, formulas: Sequence[Formula]) -> Floats:
        """The logarithm of how likely formulas are before it is asked what they explain.

        Each loses what it takes to describe, and what it takes to believe that it came true so often without being
        mentioned: of so many occasions, any share may be the one that people mention.
        """
        prices, told = self._prices(term), self.data.terms[term]
        rises = self.data.rises(formulas)
        silent = rises.sum(axis=1) - rises[:, told].sum(axis=1)
        kinds = [[(family(one.fact), one.holds) for one in formula.literals] for formula in formulas]
        lengths = [sum(prices[kind] for kind in some) + log(4) * len(some) for some in kinds]
        mentioned = [lgamma(n + 1) + lgamma(len(told) + 1) - lgamma(n + len(told) + 2) for n in silent]
        return np.array(mentioned) - lengths

    def ends(self) -> dict[str, list[tuple[int, int]]]:
        """For each term where it was reached, as it seems: the demonstration, and the state on its way."""
        found: dict[str, list[tuple[int, int]]] = {term: [] for term in self.data.terms}
        for d, demo in enumerate(self.data.demos):
            best = score(demo.ground, demo.machine.arrays, self._logs(demo), self.how)
            if best.value + log(1 - self.doubt) < self._otherwise[d] + log(self.doubt):
                continue
            steps, edges = np.nonzero(best.crossings)
            nodes = np.searchsorted(demo.machine.next_start, edges, side="right") - 1
            for step, node in zip(steps.tolist(), nodes.tolist(), strict=True):
                if node > 0:
                    found[demo.machine.names[demo.machine.term_of[node]]].append((d, step))
        return found

    @property
    def how(self) -> Rationality:
        """How rational demonstrators seem to be."""
        return Rationality(float(self.alpha), 1.0)

    def _doubted(self, scores: Floats, demos: Sequence[int] | slice = slice(None)) -> Floats:
        """The scores `[..., D]` of demonstrations whose descriptions may be wrong: then they did something else."""
        return np.asarray(np.logaddexp(np.log1p(-self.doubt) + scores, log(self.doubt) + self._otherwise[demos]))

    def _wrong(self, scores: Floats, demos: Sequence[int] | slice = slice(None)) -> Floats:
        """How likely it is that the descriptions are wrong, given the scores of these tasks."""
        return np.exp(log(self.doubt) + self._otherwise[demos] - self._doubted(scores, demos))

    def _logs(
        self, demo: Shown, machine: Machine | None = None, meaning: Mapping[str, Formula | None] | None = None
    ) -> Logs:
        """log G and log I `[S, terms]` for its own task or another; of terms of which nothing is known, even odds."""
        meanings = [(meaning or self.meaning)[name] for name in (machine or demo.machine).names]
        holds = where([one or Formula() for one in meanings], demo.facts, self.data.place).T
        odds = np.where([one is None for one in meanings], 0.0, np.where(holds, self.certainty, -self.certainty))
        return Logs(-np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds))

    def estimate(self, growing: bool) -> None:
        """α and the share of wrong descriptions, given what the terms mean."""
        known = [(demo, self._logs(demo)) for demo in self.data.demos]
        scores = np.array(
            [[forward(*demo.given, logs, Rationality(a, 1.0))[0] for demo, logs in known] for a in ALPHAS]
        )
        for _ in range(ROUNDS):
            weights = self._doubted(scores).sum(axis=1)
            best = int(weights.argmax())
            self.wrong = self._wrong(scores[best])
            self.doubt = float((self.wrong.sum() + 1) / (len(self.wrong) + 2))
        likely = np.exp(weights - np.logaddexp.reduce(weights))
        among = np.flatnonzero((likely.cumsum() >= 0.025) & (likely[::-1].cumsum()[::-1] >= 0.025))
        self.alpha, self.alpha_range = float(ALPHAS[best]), (float(ALPHAS[among[0]]), float(ALPHAS[among[-1]]))
        if growing:
            right = np.flatnonzero(self.wrong < 0.5)
            some = right[:: 1 + len(right) // FEW].tolist()  # of all kinds of tasks
            step = float(self.data.demos[0].ground.graph.edge_cost.min())
            self.haste = min(self.alpha, (len(some) + 1) / (sum(map(self._excess, some)) + step))
        for d in np.flatnonzero(self.wrong > SUSPECT):
            self._otherwise[d] = self._as_another(self.data.demos[d])

    def _as_another(self, demo: Shown) -> float:
        """The score of a demonstration whose description is wrong: of any other task, or of acting at random."""
        machines = {str(one.machine.task): one.machine for one in self.data.demos}
        scores = [
            forward(*demo.given[:2], machine.arrays, self._logs(demo, machine), self.how)[0]
            for text, machine in machines.items()
            if text != str(demo.machine.task)
        ]
        return float(np.logaddexp.reduce([demo.blind, *scores]) - log(1 + len(scores)))


def least_cost(world: World, state: Array, machine: Machine, meaning: Mapping[str, Formula], certainty: float) -> float:
    """The least cost (eq. 4) of a task from a state on, if its terms mean that; infinite if it is hard to find."""
    readings = {term: Reading(((meaning[term], 1.0),), 1, 1) for term in machine.names}
    goals = Readings(readings, certainty).goals(world, machine.names, state)
    settings = SearchSettings(order="optimal", budget=BUDGET, threshold=None)
    found = ProductSearch(world, state, machine, goals, settings).run(settings.limits())
    return float(found.cost) if found.ended == "found" else np.inf


@compiled
def scores_of(given: Given, logs: Logs, k: int, holds: Bools, odds: float, how: Rationality) -> Floats:
    """The score of one demonstration for each `[P, S]` of the ways in which term k may hold in the states around it."""
    edges, walk, nodes = given
    scores = np.empty(len(holds))
    true = -np.log1p(np.exp(-odds))
    for pattern in range(len(holds)):
        for s in range(holds.shape[1]):
            logs.g[s, k] = true if holds[pattern, s] else true - odds
            logs.i[s, k] = true - odds if holds[pattern, s] else true
        scores[pattern] = forward(edges, walk, nodes, logs, how)[0]
    return scores
