"""A small reader and interpreter of PDDL: as much of it as `reproductions.pddl` writes, by brute force."""

import re
from collections import defaultdict
from typing import NamedTuple


class Action(NamedTuple):
    """A name, the names of its parameters, and what is written below it."""

    name: str
    parameters: list[str]
    condition: list
    effect: list


class Task(NamedTuple):
    """The actions, the facts at the start (tuples of words), and the goal."""

    actions: list[Action]
    start: frozenset
    goal: list


def read(domain: str, problem: str) -> Task:
    """A task from its two texts; types are only checked to be declared, for facts tell all there is to know."""
    parts, more = _sections(domain), _sections(problem)
    declared = {*_objects(parts[":constants"][0]), *_objects(more[":objects"][0])}
    predicates = {words[0]: len(_objects(words[1:])) for words in parts[":predicates"][0]}
    start = frozenset(tuple(fact) for fact in more[":init"][0] if fact[0] != "=")
    for name, *words in start:
        assert predicates[name] == len(words), (name, words)
        assert set(words) <= declared, (name, words)
    actions = []
    for name, _, parameters, _, condition, _, effect in parts[":action"]:
        assert ["increase", ["total-cost"], "1"] in effect
        actions.append(Action(name, _objects(parameters), condition, effect))
    assert len({action.name for action in actions}) == len(actions)
    return Task(actions, start, more[":goal"][0][0])


def _sections(text: str) -> dict[str, list]:
    tokens = re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text).lower())

    def expression():
        token = tokens.pop(0)
        if token != "(":
            return token
        inside = []
        while tokens[0] != ")":
            inside.append(expression())
        tokens.pop(0)
        return inside

    sections = defaultdict(list)
    _, _, *rest = expression()
    assert not tokens
    for name, *inside in rest:
        sections[name].append(inside)
    return sections


def _objects(words: list[str]) -> list[str]:
    """The names of a list such as `a b - cell c - item`."""
    return [word for before, word in zip(["", *words], words, strict=False) if "-" not in (before, word)]


def successors(task: Task, state: frozenset) -> list[tuple[tuple[str, ...], frozenset]]:
    """All steps that can be done, with the facts after each; adding comes after deleting."""
    facts = defaultdict(set)
    for fact in state:
        facts[fact[0]].add(fact)
    found = []
    for action in task.actions:
        for binding in _bindings(action.condition[1:], {}, facts):
            assert set(binding) == set(action.parameters), action.name  # all are bound by facts
            effects = [_bound(effect, binding) for effect in action.effect[1:] if effect[0] != "increase"]
            gone = {tuple(effect[1]) for effect in effects if effect[0] == "not"}
            new = {tuple(effect) for effect in effects if effect[0] != "not"}
            step = (action.name, *(binding[name] for name in action.parameters))
            found.append((step, (state - gone) | new))
    return found


def _bindings(conditions: list, binding: dict[str, str], facts: dict) -> list[dict[str, str]]:
    if not conditions:
        return [binding]
    first, rest = conditions[0], conditions[1:]
    if first[0] == "or":
        assert all("?" not in word for one in first[1:] for word in one)
        holds = any(tuple(one) in facts[one[0]] for one in first[1:])
        return _bindings(rest, binding, facts) if holds else []
    wanted = tuple(_bound(first, binding))
    if not any(word[0] == "?" for word in wanted):
        return _bindings(rest, binding, facts) if wanted in facts[wanted[0]] else []
    found = []
    for fact in facts[wanted[0]]:
        more = dict(binding)
        if all(more.setdefault(a, b) == b if a[0] == "?" else a == b for a, b in zip(wanted, fact, strict=True)):
            found += _bindings(rest, more, facts)
    return found


def _bound(expression, binding: dict[str, str]):
    if isinstance(expression, str):
        return binding.get(expression, expression)
    return [_bound(one, binding) for one in expression]


def holds(goal: list, state: frozenset) -> bool:
    """Whether a goal, which is one fact, holds."""
    return tuple(goal) in state


def distances(task: Task, states: int) -> dict[frozenset, int]:
    """How many steps each state is away, layer by layer until there are so many states; the last layer is whole."""
    away, layer = {task.start: 0}, [task.start]
    while layer and len(away) < states:
        reached = [(after, away[state] + 1) for state in layer for _, after in successors(task, state)]
        layer = [after for after, _ in dict(reached).items() if after not in away]
        away |= {after: steps for after, steps in reached if after not in away}
    return away
