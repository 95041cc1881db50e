"""A task as an automaton of automata-lib, built without our machine: a third opinion on what a task means.

The automaton reads transitions: a letter is a pair (truth values before, truth values after). Two parts that share a
state then share no letter, so `then` is plain concatenation.
"""

from itertools import permutations, product

from automata.fa.nfa import NFA

from rsg.language import And, Or, Task, Term, Then


def automaton(task: Task) -> NFA:
    """The automaton over pairs of truth values of `task.terms()`."""
    terms = task.terms()
    values = list(product((False, True), repeat=len(terms)))
    letters = {(before, after) for before in values for after in values}
    return _build(task, {term: i for i, term in enumerate(terms)}, letters)


def reads(nfa: NFA, trace) -> bool:
    """Whether the automaton accepts the trace `[steps, terms]`."""
    rows = [tuple(bool(x) for x in row) for row in trace]
    return len(rows) >= 2 and nfa.accepts_input(list(zip(rows, rows[1:])))  # noqa: B905, RUF007


def _build(task: Task, index: dict[Term, int], letters) -> NFA:
    if isinstance(task, Term):
        return _atom(index[task], letters)
    parts = [_build(part, index, letters) for part in task.parts]
    if isinstance(task, Then):
        return _concatenate(parts)
    if isinstance(task, Or):
        return _unite(parts)
    assert isinstance(task, And)
    return _unite([_concatenate(order) for order in permutations(parts)])


def _atom(i: int, letters) -> NFA:
    """Starts where the term is false, ends where it is true; anything in between."""
    moves = {"start": {}, "under way": {}, "done": {}}
    for letter in letters:
        before, after = letter
        onward = {"under way", "done"} if after[i] else {"under way"}
        moves["under way"][letter] = onward
        if not before[i]:
            moves["start"][letter] = onward
    return NFA(
        states=set(moves), input_symbols=letters, transitions=moves, initial_state="start", final_states={"done"}
    )


def _concatenate(parts) -> NFA:
    result = parts[0]
    for part in parts[1:]:
        result = result.concatenate(part)
    return result


def _unite(parts) -> NFA:
    result = parts[0]
    for part in parts[1:]:
        result = result.union(part)
    return result
