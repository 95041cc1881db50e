"""What terms mean, found by exact search: the small formulas over facts that make the demonstrators rational.

A formula is as good as it is likely: by the score of the demonstrations that mention its term (paper, eq. 2), by how
rarely it comes true where nobody mentions it, and by how few words it takes. All else follows from the data: how
rational demonstrators are (α), how many descriptions are wrong, and which kinds of facts terms are about.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np

from rsg.core.arrays import Array, Bools, Floats
from rsg.core.compiled import compiled
from rsg.language import Machine
from rsg.search import Limits, Product, ProductSearch, Soft
from rsg.search.cost_to_go import Logs
from rsg.subgoals.afterwards import Afterwards
from rsg.subgoals.formulas import Formula, where
from rsg.subgoals.objective import Aligned, Given, aligned, forward
from rsg.subgoals.priors import DOUBTS_PRIOR, Occasions, Prices, by_doubt, expected_doubt, mentioned
from rsg.subgoals.rationality import Rationality
from rsg.subgoals.readings import OPEN, Reading, Readings
from rsg.subgoals.shown import Data, Shown
from rsg.worlds import Recorded, World, is_continuous, unit_of
from rsg.worlds.facts import LEAST, facts_of, family

ALPHAS = 2.0 ** np.arange(-2.0, 10.0)  # a priori, each is as likely as the others
FIRST_ALPHA, FIRST_DOUBT = 8.0, 0.05  # before anything is known
ROUNDS = 12  # at most
LITERALS = 3  # of a formula, at most
BEAM = 12  # formulas that are tried with one literal more
WORST = 3  # demonstrations, those that are explained worst, by which formulas of one literal more are chosen
TRIED = 32  # of these that are scored on others
TRIAL = 16  # demonstrations by which formulas are chosen that are scored on all
HOPELESS = 40.0  # a formula whose logarithm of likelihood is so much less than the best is not tried again
SUSPECT = 0.2  # a description that is wrong with this probability is compared with all others
MARKED = 0.9  # of the demonstrations of a term, at least, that a formula of marks explains; else a network learns it
DISTANT = 12.0  # formulas that are less likely by such a logarithm are not compared by what graphs do not show
FEW = 60  # demonstrations that tell how often there were shorter ways
COMPARED = 24  # formulas of a term that are compared by what graphs do not show, at most
KEPT = 10  # formulas of a term whose posterior is told
BUDGET = 6000  # expansions for a shorter way that graphs do not show; what takes longer is not looked for


@dataclass(frozen=True, eq=False)
class Weighed:
    """What a term may mean."""

    formulas: tuple[Formula, ...]  # the likeliest first
    posterior: Floats  # how likely each is
    explained: Floats  # `[D]` for each demonstration that mentions it, how likely its description is right

    @property
    def facts(self) -> set[str]:
        """What it may be about."""
        likely = (one for one, share in zip(self.formulas, self.posterior, strict=True) if share >= OPEN)
        return {fact for one in likely for fact in one.facts}


@dataclass(frozen=True, eq=False)
class Interpretation:
    """What all terms mean, and what was found out about demonstrators on the way."""

    terms: dict[str, Weighed]  # for each term what it may mean
    alpha: float  # α, the likeliest
    alpha_range: tuple[float, float]  # where it lies with a probability of 95 %
    doubt: float  # the share of descriptions that are wrong
    wrong: Floats  # `[D]` how likely each of them is
    certainty: float  # the log-odds of what a formula says: how often it was seen to be right


def interpret(data: Data) -> Interpretation:
    """What every term means that is not known yet: found term after term, until nothing changes."""
    search = _Search(data, data.known)
    found: dict[str, Weighed] = {}
    simplest_first = sorted(data.terms, key=lambda term: min(data.demos[d].machine.nodes for d in data.terms[term]))
    growing, first = False, True
    for turn in range(ROUNDS):
        before, settled = dict(search.meaning), set(search.known)
        for term in simplest_first:
            if term not in search.known:
                demos = search.clearest(term, settled) if first and turn < ROUNDS - 1 else data.terms[term]
                found[term] = search.weigh(term, demos, growing)
                settled.add(term)
        done = search.meaning == before and not first
        if done and growing:
            break
        first = done  # what one literal can say was said
        growing = growing or done
        search.estimate(growing)
    found |= {term: search.strictest(term, one) for term, one in found.items()}
    return Interpretation(found, search.alpha, search.alpha_range, search.share, search.wrong, search.certainty)


def readings_of(data: Data, found: Interpretation) -> dict[str, Reading]:
    """What was found, with what is told of it: how often it was seen, and what never varied."""
    search = _Search(data, {**data.known, **{term: one.formulas[0] for term, one in found.terms.items()}})
    search.alpha, search.share = found.alpha, found.doubt
    ends = search.ends()
    readings = {}
    for term, one in found.terms.items():
        seen, explained = len(one.explained), int((one.explained > 0.5).sum())
        share = 1 - found.doubt
        usual = seen * share - 3 * np.sqrt(seen * share * (1 - share))  # so many at least, if it is as others are
        formulas = tuple(zip(one.formulas, map(float, one.posterior), strict=True))
        marked = any(LEAST in fact for fact in one.formulas[0].facts)  # there are many: some fit by chance
        read = bool(one.formulas[0].literals and explained >= max(usual, seen * (MARKED if marked else 1 / 3)))
        about = {fact for name, other in found.terms.items() if name != term for fact in other.facts}
        always = data.always(one.formulas[0], ends[term], about)
        readings[term] = Reading(formulas, seen, explained, read, always)
    return readings


class _Scored(NamedTuple):
    """The scores of demonstrations `[D]`, and the logarithm of how likely a formula is, up to a constant."""

    scores: Floats
    weight: float


class _Ways(NamedTuple):
    """The costs of the best way in the graph around a demonstration and of the best of all, and its states."""

    local: float
    least: float
    states: Array


class _Search:
    """What is known so far: what each term means (None: nothing), α, and the share of wrong descriptions."""

    def __init__(self, data: Data, known: Mapping[str, Formula]) -> None:
        self.data, self.known = data, known
        self.meaning: dict[str, Formula | None] = {term: known.get(term) for term in data.terms}
        self.alpha, self.alpha_range = FIRST_ALPHA, (ALPHAS[0], ALPHAS[-1])
        self.share = self.doubt = FIRST_DOUBT  # of wrong descriptions: of all, and where a term is not mentioned
        self.certainty = log(1 + sum(demo.machine.nodes - 2 for demo in data.demos))  # Laplace: never seen to be wrong
        self._otherwise = np.array([demo.blind for demo in data.demos])  # the scores if descriptions are wrong
        self.wrong = np.zeros(len(data.demos))
        self.doubts = dict.fromkeys(data.terms, FIRST_DOUBT)
        self.haste = 0.0  # how much less likely a way is that is dearer by 1, where graphs do not show it
        self._known_ways: dict[Any, _Ways] = {}
        self._likely: dict[str, list[Formula]] = {}  # by term: what it may still mean
        self._turns = np.ones(len(data.demos))  # at first each demonstration speaks for itself: a surer start
        self.afterwards = Afterwards()
        self._expect()
        self._sizes = Counter((family(name), holds) for name in data.place for holds in (True, False))

    def clearest(self, term: str, settled: AbstractSet[str]) -> list[int]:
        """A few demonstrations that mention a term, and with it the fewest terms that are not settled yet."""
        demos, where = self.data.demos, self.data.terms[term]
        unknown = [len(set(demos[d].machine.names) - settled) for d in where]
        return [d for d, count in zip(where, unknown, strict=True) if count == min(unknown)][:TRIAL]

    def weigh(self, term: str, demos: Sequence[int], growing: bool) -> Weighed:
        """What a term may mean, by what these demonstrations show and by what the others do not mention."""
        self.doubt = self.doubts[term]  # by all others: what it means must not excuse itself
        likely = self._likely.get(term) or self._literals(demos)
        found = self._scored(term, likely + (self._grown(term, self._telling(term, demos)) if growing else []), demos)
        if growing:
            found = self._seen_from_afar(term, found, demos)
        order = self._in_order(term, found)
        weights = np.array([found[one].weight for one in order])
        self._likely[term] = [one for one in order if found[one].weight > weights[0] - HOPELESS or not one.literals]
        posterior = np.exp(weights - np.logaddexp.reduce(weights))
        self.meaning[term] = order[0] if order[0].literals else None
        return Weighed(tuple(order[:KEPT]), posterior[:KEPT], 1 - self._wrong(found[order[0]].scores, demos))

    def strictest(self, term: str, known: Weighed) -> Weighed:
        """The same, with each mark of a number as strict as its ends allow.

        An end may have any of the numbers that a mark lets through, so each is the likelier the fewer these are.
        """
        best, demos = known.formulas[0], self.data.terms[term]
        for place, literal in enumerate(best.literals):
            near = [name for name in self.data.place if LEAST in name and family(name) == family(literal.fact)]
            others = [one for one in near if one not in best.facts]
            if literal.fact not in near or not others:
                continue
            parts = [best.literals[:place], best.literals[place + 1 :]]
            tried = [best, *(Formula((*parts[0], literal._replace(fact=one), *parts[1])) for one in others)]
            found = self._scored(term, tried, demos)
            often = where(tried, self.data.on_paths[0], self.data.place).sum(axis=1)
            ranks = [len({*often[(often > 0) & (often < count)].tolist()}) for count in often]  # of stricter ones
            likely = [found[one].weight - len(demos) * log(rank + 1) for one, rank in zip(tried, ranks, strict=True)]
            shares = np.exp(np.array(likely) - np.logaddexp.reduce(likely))
            order = np.argsort(-shares, kind="stable")[:KEPT]
            best = tried[order[0]]
            known = Weighed(tuple(tried[n] for n in order), shares[order], known.explained)
        self.meaning[term] = best if best.literals else None
        return known

    def _seen_from_afar(
        self, term: str, found: Mapping[Formula, "_Scored"], demos: Sequence[int]
    ) -> dict[Formula, "_Scored"]:
        """The same, by whether there were shorter ways than the graphs around show; and what these tell apart."""
        every, losses, some = dict(found), dict[Formula, Floats](), demos[:TRIAL]
        best = self._likeliest(term, every, losses, some)
        for _ in range(LITERALS):
            if best is None or losses[best].sum() < self._prices(term).least:
                break
            apart = self._scored(term, self._apart(term, best, some[int(losses[best].argmax())]), demos)
            every |= {one: apart[one] for one in self._in_order(term, apart)[:TRIED] if one not in every}
            best = self._likeliest(term, every, losses, some)
        usual = losses[best].sum() if best else 0.0  # of what is not compared
        return {
            one: each._replace(weight=each.weight - float(losses[one].sum() if one in losses else usual))
            for one, each in every.items()
        }

    def _likeliest(
        self, term: str, every: Mapping[Formula, "_Scored"], losses: dict[Formula, Floats], some: Sequence[int]
    ) -> Formula | None:
        """The likeliest formula by what each loses to shorter ways, which is asked of one after the other."""
        best, most, known = None, -np.inf, len(losses)
        for one in self._in_order(term, every):
            if not one.literals or every[one].weight < most - DISTANT:
                break
            if one not in losses and len(losses) < known + COMPARED:
                losses[one] = self._lost(term, one, every[one].scores[: len(some)], some)
            if one in losses and every[one].weight - losses[one].sum() > most:
                best, most = one, every[one].weight - losses[one].sum()
        return best

    def _lost(self, term: str, one: Formula, scores: Floats, some: Sequence[int]) -> Floats:
        """What a formula loses on each of some demonstrations, if there were shorter ways than graphs show."""
        less = self.haste * np.array([self._detour(d, {term: one}) for d in some])
        return self._doubted(scores, some) - self._doubted(scores - less, some)

    def _apart(self, term: str, formula: Formula, d: int) -> list[Formula]:
        """Formulas of one literal more that do not always hold where this one does on the shortest way of all."""
        demo = self.data.demos[d]
        way = facts_of(demo.ground.world, tuple(self.data.place)).ask(self._ways(d, {term: formula}).states)
        longer = self._one_more(term, [formula])
        here = where([formula], way, self.data.place)
        return [longer[n] for n in np.flatnonzero((here & ~where(longer, way, self.data.place)).any(axis=1))]

    def _detour(self, d: int, instead: Mapping[str, Formula]) -> float:
        """By how much the best way in the graph around a demonstration is dearer than the best way of all."""
        ways = self._ways(d, instead)
        return max(0.0, ways.local - ways.least) if ways.local < np.inf else 0.0

    def _excess(self, d: int) -> float:
        """By how much a demonstration is dearer than the best way of all."""
        demo = self.data.demos[d]
        shown = demo.ground.graph.arrays.cost[demo.ground.walk.taken].sum()
        return max(0.0, float(shown) - self._ways(d, {}).least)

    def _ways(self, d: int, instead: Mapping[str, Formula]) -> "_Ways":
        """The best way in the graph around a demonstration and the best of all; infinite: unknown."""
        demo = self.data.demos[d]
        world, start = demo.ground.world, demo.ground.graph.path[0]
        all_of_them = {name: instead.get(name, self.meaning[name]) for name in demo.machine.names}
        meaning = {name: formula for name, formula in all_of_them.items() if formula is not None}
        if len(meaning) < len(all_of_them) or is_continuous(world) or isinstance(world, Recorded):
            return _Ways(np.inf, np.inf, demo.ground.graph.states[:0])
        key = (d, tuple(meaning.values()))
        if key not in self._known_ways:
            local = Aligned(*aligned(*demo.given, self._logs(demo, meaning=meaning), self.how)).cost[start, 0]
            least, states = shortest(world, demo.ground.graph.states[start], demo.machine, meaning, self.certainty)
            self._known_ways[key] = _Ways(float(local), least, states)
        return self._known_ways[key]

    def _telling(self, term: str, demos: Sequence[int]) -> Sequence[int]:
        """Some demonstrations by which formulas are grown: if what comes after is known, where the term comes last."""
        last = {d for d in demos if self.data.demos[d].moves is not None and self.data.demos[d].ends_with(term)}
        return sorted(demos, key=lambda d: d not in last)[:TRIAL]

    def _literals(self, demos: Sequence[int]) -> list[Formula]:
        """The formulas of one literal that come true in some of the demonstrations, and the one that never does."""
        return [Formula(), *(one for one, rises in self.data.literals.items() if rises[demos].any())]

    def _grown(self, term: str, demos: Sequence[int]) -> list[Formula]:
        """The best formulas of several literals, by a few demonstrations, if there is anything to gain."""
        found, new = self._scored(term, self._literals(demos), demos), list[Formula]()
        for _ in range(LITERALS - 1):
            best = self._in_order(term, found)[:BEAM]
            gains = self._to_gain(term, found[best[0]].scores, demos)
            if gains.sum() < self._prices(term).least:
                break
            worst = [demos[n] for n in np.argsort(-gains, kind="stable")[:WORST]]
            found |= self._scored(term, self._longer(term, [one for one in best if one not in new], worst), demos)
            new = [one for one in self._in_order(term, found)[:KEPT] if len(one.literals) > 1]
            if self._in_order(term, found)[0] == best[0]:
                break
        return [one for one in self._in_order(term, found)[:KEPT] if one not in self._likely[term]]

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
        grown = self._one_more(term, formulas)
        if not grown:
            return []
        often = self.data.rises(grown, self.data.terms[term]).sum(axis=1)
        by_worst = self._in_order(term, self._scored(term, grown, worst))[:TRIED]
        by_often = [grown[n] for n in np.argsort(-often, kind="stable")[:TRIED]]
        return list(dict.fromkeys([*by_worst, *by_often]))

    def _one_more(self, term: str, formulas: Sequence[Formula]) -> list[Formula]:
        """The formulas with one literal more that comes true where the term is mentioned."""
        literals = [one.literals[0] for one, rises in self.data.literals.items() if rises[self.data.terms[term]].any()]
        return list(dict.fromkeys(new for one in formulas if one.literals for new in one.grown(literals)))

    def _others(self, term: str) -> dict[str, Formula]:
        """What all other terms mean, as far as it is known."""
        return {name: one for name, one in self.meaning.items() if name != term and one is not None}

    def _prices(self, term: str) -> Prices:
        """What formulas take to describe, as those of other terms are."""
        return Prices.learned([*self._others(term).values()], self._sizes)

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
        mentioned.
        """
        prices = self._prices(term)
        others = [self._occasions(name, [one])[0] for name, one in self._others(term).items()]
        return mentioned(self._occasions(term, formulas), others) - [prices.of(one) for one in formulas]

    def _occasions(self, term: str, formulas: Sequence[Formula]) -> list[Occasions]:
        """For each formula the descriptions that mention a term, and the others in which the formula comes true."""
        told = self.data.terms[term]
        rises = self.data.rises(formulas) * self._turns
        silent = rises.sum(axis=1) - rises[:, told].sum(axis=1)
        return [Occasions(round(self._turns[told].sum(), 6), round(count, 6)) for count in silent.tolist()]

    def ends(self) -> dict[str, list[tuple[int, int]]]:
        """For each term where it was reached, as it seems: the demonstration, and the state on its way."""
        found: dict[str, list[tuple[int, int]]] = {term: [] for term in self.data.terms}
        for d, demo in enumerate(self.data.demos):
            best = Aligned(*aligned(*demo.given, self._logs(demo), self.how))
            if best.value + log(1 - self.share) < self._otherwise[d] + log(self.share):
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

    def _doubted(self, scores: Floats, demos: Sequence[int]) -> Floats:
        """The scores `[..., D]` of demonstrations whose descriptions may be wrong: then they did something else."""
        return np.asarray(np.logaddexp(np.log1p(-self.doubt) + scores, log(self.doubt) + self._otherwise[demos]))

    def _wrong(self, scores: Floats, demos: Sequence[int] | slice = slice(None)) -> Floats:
        """How likely it is that the descriptions are wrong, given the scores of these tasks."""
        right, wrong = np.log1p(-self.share) + scores, log(self.share) + self._otherwise[demos]
        return np.asarray(np.exp(wrong - np.logaddexp(right, wrong)))

    def _logs(
        self, demo: Shown, machine: Machine | None = None, meaning: Mapping[str, Formula | None] | None = None
    ) -> Logs:
        """log G and log I `[S, terms]` for its own task or another; of terms of which nothing is known, even odds."""
        meanings = [(meaning or self.meaning)[name] for name in (machine or demo.machine).names]
        holds = np.ascontiguousarray(where([one or Formula() for one in meanings], demo.facts, self.data.place).T)
        odds = np.where([one is None for one in meanings], 0.0, np.where(holds, self.certainty, -self.certainty))
        return Logs(-np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds))

    def look_after(self) -> None:
        """What comes after tasks, by where they seem to be done; known where all that moves is known."""
        shown = [(demo, demo.moves) for demo in self.data.demos if demo.moves is not None]
        ends = list[int]()
        for demo, _ in shown:
            steps, _ = np.nonzero(Aligned(*aligned(*demo.given, self._logs(demo), self.how)).crossings)
            ends.append(int(steps.max(initial=0)) or len(demo.on_path) - 1)
        if shown:
            self.afterwards = Afterwards.learned([moves for _, moves in shown], ends)
            self._expect()

    def _expect(self) -> None:
        """Let demonstrations go on after their task as is known."""
        for d, demo in enumerate(self.data.demos):
            if demo.moves is not None:
                lost = -float(np.log1p(np.exp(-self.alpha * demo.ground.graph.edge_cost.min())))
                self.data.demos[d] = demo.going_on(self.afterwards.late(demo.moves, lost))

    def estimate(self, growing: bool) -> None:
        """α and the share of wrong descriptions, given what the terms mean."""
        self.look_after()
        known = [(demo, self._logs(demo)) for demo in self.data.demos]
        scores = np.array(
            [[aligned(*demo.given, logs, Rationality(a, 1.0))[0] for demo, logs in known] for a in ALPHAS]
        )
        each = by_doubt(scores, self._otherwise)
        weights = np.logaddexp.reduce(each.sum(axis=2) + DOUBTS_PRIOR, axis=1)
        best = int(weights.argmax())
        likely = np.exp(weights - np.logaddexp.reduce(weights))
        among = np.flatnonzero((likely.cumsum() >= 0.025) & (likely[::-1].cumsum()[::-1] >= 0.025))
        self.alpha, self.alpha_range = float(ALPHAS[best]), (float(ALPHAS[among[0]]), float(ALPHAS[among[-1]]))
        every = each[best].sum(axis=1)
        self.share = expected_doubt(every)
        self.doubts = {
            term: expected_doubt(every - each[best][:, told].sum(axis=1)) for term, told in self.data.terms.items()
        }
        self.wrong = self._wrong(scores[best])
        if growing:
            self._turns = self.data.turns
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
            aligned(*demo.given[:2], machine.arrays, self._logs(demo, machine), self.how)[0]
            for text, machine in machines.items()
            if text != str(demo.machine.task)
        ]
        return float(np.logaddexp.reduce([demo.blind, *scores]) - log(1 + len(scores)))


def shortest(
    world: World, state: Array, machine: Machine, meaning: Mapping[str, Formula], certainty: float
) -> tuple[float, Array]:
    """The least cost (eq. 4) of a task from a state on, if its terms mean that, and the states on the way.

    The cost is in the unit of the paper, as in the graphs. It is infinite, and there are no states, if that is hard to
    find.
    """
    readings = {term: Reading(((meaning[term], 1.0),), 1, 1) for term in machine.names}
    goals = Readings(readings, certainty).goals(world, machine.names, state)
    unit = unit_of(world)
    found = ProductSearch(world, state, machine, goals, Product("optimal", Soft(unit))).run(Limits(BUDGET))
    return (float(found.cost) / unit, found.states) if found.states is not None else (np.inf, state[None][:0])


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
