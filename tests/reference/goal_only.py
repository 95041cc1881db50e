"""Goal-only planning once more, slow and plain: the search over regions, candidate instructions, and what is counted.

Nothing here looks at `rsg.search`, `rsg.planning` or `rsg.subgoals`. States are the numbers of a `TableWorld`.
"""

from dataclasses import dataclass, field
from itertools import combinations, count, permutations
from math import inf, prod
from typing import Any, NamedTuple

from tests.reference.novelty import Seen


@dataclass
class Region:
    """All states in which the same terms hold: how many regions lie behind it, and the terms achieved on the way."""

    steps: int = 0
    way: tuple[int, ...] = ()
    rank: Any = None


class Answer(NamedTuple):
    """What a search over regions says; `order` are the states in the order in which they were expanded."""

    ended: str
    expansions: int
    actions: list[int] | None
    cost: float
    seen: set[int]
    regions: dict[frozenset[int], Region]
    order: list[int]


@dataclass
class RegionSearch:
    """One search from a state to one in which a term comes true; each state is expanded at most once.

    Args:
        world: a TableWorld.
        start: the number of the first state.
        holds: for each state the set of terms that hold there.
        goal: the term that is wanted.
        rank: from the terms that hold in a region and those achieved on the way, its rank.
        budget: as for the real one; blind: whether the cheapest state comes first, whatever its region.
        novel: whether of the same rank states come first that show what was not seen in any region of that rank.
    """

    world: Any
    start: int
    holds: list[frozenset[int]]
    goal: int
    rank: Any
    budget: int
    blind: bool = False
    novel: bool = False
    regions: dict[frozenset[int], Region] = field(default_factory=dict)

    def run(self) -> Answer:
        """Always the open state of the least rank, then what is new, the fewest regions, the cheapest, the oldest."""
        self.cost, self.came = {self.start: 0.0}, {}
        self.expanded, self.ticks = [], count()
        self.regions[self.holds[self.start]] = Region()
        self.open, self.shown = [], Seen(self.world.rows)
        self.open_up([self.start])
        while self.open:
            first = min(self.open)
            s = first[-1]
            if s not in self.expanded and len(self.expanded) >= self.budget:
                return self.answer("budget")
            self.open.remove(first)
            if s in self.expanded:
                continue
            self.expanded.append(s)
            reached = self.expand(s)
            if reached is not None:
                return self.answer("found", reached)
        return self.answer("exhausted")

    def wait(self, s):
        """Let a state wait for its expansion."""
        region, before, dull = self.regions[self.holds[s]], self.came.get(s, (None,))[0], False
        if self.novel:
            if before is not None and self.regions[self.holds[before]].rank != region.rank:
                before = None
            dull = not self.shown.news(s, region.rank, before)
        steps = 0 if self.blind else region.steps
        self.open.append((region.rank, dull, steps, self.cost[s], next(self.ticks), s))

    def expand(self, s):
        """Try every action; gives the state and the action after which the goal came true, if it did."""
        here = self.regions[self.holds[s]]
        waiting = []
        for a, price in enumerate(self.world.costs):
            t = int(self.world.after[s, a])
            if self.holds[t] not in self.regions:
                gained = sorted(self.holds[t] - self.holds[s])
                self.regions[self.holds[t]] = Region(here.steps + 1, (*here.way, *gained))
            if self.goal in self.holds[t] and self.goal not in self.holds[s]:
                return s, a
            if t in self.expanded or self.cost[s] + price >= self.cost.get(t, inf):
                continue
            self.cost[t], self.came[t] = self.cost[s] + price, (s, a)
            if self.regions[self.holds[t]].rank is None:
                waiting.append(t)
            else:
                self.wait(t)
        self.open_up(waiting)
        return None

    def open_up(self, waiting):
        """Rank the regions that are new, and open the states that waited for it."""
        for terms, region in self.regions.items():
            if region.rank is None:
                region.rank = self.rank(terms, region.way)
        for t in waiting:
            self.wait(t)

    def answer(self, ended, reached=None):
        seen = set().union(*self.regions) - self.holds[self.start]
        actions, cost = None, inf
        if reached is not None:
            s, last = reached
            actions, cost = [last], self.cost[s] + float(self.world.costs[last])
            while s in self.came:
                s, action = self.came[s]
                actions.insert(0, action)
        return Answer(ended, len(self.expanded), actions, cost, seen, self.regions, self.expanded)


# What is still needed.


def still_needed(prerequisites, held, goal):
    """The terms that must still come true for a goal, by sweeps over sets until none gets smaller; none if no way."""
    need = {term: frozenset() for term in held if term != goal}
    better = True
    while better:
        better = False
        for term, alternatives in enumerate(prerequisites):
            if term in held and term != goal:
                continue
            for one in alternatives:
                if all(p in need and term not in need[p] for p in one):
                    found = frozenset([term]).union(*(need[p] for p in one))
                    if term not in need or len(found) < len(need[term]):
                        need[term], better = found, True
    return need.get(goal, frozenset())


def can_come_true(prerequisites, held, goal, terms):
    """Whether all these terms can come true one after the other, where `held` hold and nothing is ever used up."""
    true, missing = set(held) - {goal}, set(terms)
    while True:
        now = {t for t in missing if any(true.issuperset(one) for one in prerequisites[t])}
        if not now:
            return not missing
        true, missing = true | now, missing - now


def fewest_needed(prerequisites, held, goal):
    """The least number of terms, the goal among them, that can come true; 0 if there is no way."""
    others = [term for term in range(len(prerequisites)) if term != goal and term not in held]
    for size in range(len(others) + 1):
        for some in combinations(others, size):
            if can_come_true(prerequisites, held, goal, {goal, *some}):
                return size + 1
    return 0


def by_the_rules(rules, terms):
    """What each term of Crafting World needs that has a name, by its rulebook: alternatives of sets of terms."""
    terms = list(terms)
    named = {term.partition("-")[2]: number for number, term in enumerate(terms)}
    found = []
    for term in terms:
        verb, _, item = term.partition("-")
        ways = [rule for rule in rules if rule.gives == item] if verb in ("mine", "craft") else []
        needs = [tuple(sorted(named[thing] for thing in (*rule.tools, *rule.uses))) for rule in ways]
        found.append(tuple(needs) or ((),))
    return tuple(found)


# The paper's algorithm.


def priority(matrix, instruction, bias):
    """Eq. 7, letter by letter."""
    k = len(instruction)
    return bias**k * prod(
        1 - prod(1 - matrix[instruction[j]][instruction[i]] for j in range(i + 1, k)) for i in range(k - 1)
    )


def all_candidates(matrix, goal, length_limit, bias):
    """Every instruction that Algorithm 2 may make, the most promising first: (priority, instruction).

    Equal ones in the order in which they are made: from the goal on, term by term.
    """
    others = [term for term in range(len(matrix)) if term != goal]
    found = []
    for length in range(length_limit):
        for front in permutations(others, length):
            whole = (*front, goal)
            if all(any(matrix[later][term] > 0 for later in whole[i + 1 :]) for i, term in enumerate(front)):
                found.append((priority(matrix, whole, bias), whole))
    return sorted(found, key=lambda one: (-one[0], one[1][::-1]))


def algorithm_2(instructions, search, per_candidate, budget):
    """Try one instruction after the other, each by itself: (found instruction or None, expansions of all of them).

    Args:
        instructions: the most promising first.
        search: from an instruction and the most expansions, (whether it was done, expansions). The dice that decide
            among the nodes of a machine are those of `rsg.search.ProductSearch`, so this is that search, made anew
            for each instruction.
    """
    spent = 0
    for instruction in instructions:
        done, expansions = search(instruction, min(per_candidate, budget - spent))
        spent += expansions
        if done or spent >= budget:
            return instruction if done else None, spent
    return None, spent


# What came before what.


def first(states, term):
    """The smallest index of a state (a set of terms) in which the term is true; infinite if there is none."""
    return next((i for i, true in enumerate(states) if term in true), inf)


def last_rise(states, term):
    """The index of the state before the one in which the term came true for the last time; -1 if it never did."""
    rises = [i for i in range(len(states) - 1) if term not in states[i] and term in states[i + 1]]
    return max(rises, default=-1)


def count_before(demonstrations, terms):
    """bcount(o1, o2), and how often both were achieved, for demonstrations (states, the terms that are mentioned)."""
    before = [[0] * terms for _ in range(terms)]
    together = [[0] * terms for _ in range(terms)]
    for states, mentioned in demonstrations:
        at = [first(states, term) if term in mentioned else inf for term in range(terms)]
        for o1, o2 in permutations(range(terms), 2):
            if at[o1] < inf and at[o2] < inf:
                together[o1][o2] += 1
                before[o1][o2] += at[o2] < at[o1]
    return before, together
