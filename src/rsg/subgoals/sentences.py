"""What was learned, said in words: what each term means, how sure that is, what is open, and what would settle it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rsg.core.words import quantity
from rsg.subgoals.classifiers import Classifiers
from rsg.subgoals.readings import Reading, Readings
from rsg.worlds import EitherWorld
from rsg.worlds.facts import say

UNSURE = 0.5  # a reading that is less likely than this, alone, is not much of one
LOOKS = 4  # things that a network looks at of which a person is told
Phrases = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Told:
    """What is said of a term.

    Attributes:
        term: the term.
        means: a sentence.
        sure: how likely that is, None of a network.
        seen: how many demonstrations mention it; explained: how many of their descriptions seem right.
        open: sentences on what the data leave open.
        settle: for each of these the demonstration that would settle it; then those for what never varied.
        never_varied: what held whenever it came true, so that nobody knows whether it matters.

    >>> Told("light-lamp", "light-lamp holds where the lamp is lit", sure=0.97, seen=2, explained=2).open
    ()
    """

    term: str
    means: str
    sure: float | None
    seen: int
    explained: int
    open: tuple[str, ...] = ()
    settle: tuple[str, ...] = ()
    never_varied: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def tell(subgoals: Classifiers, world: EitherWorld | None = None) -> list[Told]:
    """What was learned of every term, in the words of a world."""
    phrases: Phrases = getattr(world, "fact_phrases", {})
    read = subgoals.readings if isinstance(subgoals, Readings) else {}
    return [_told(term, read, phrases) if term in read else _network(subgoals, term, world) for term in subgoals.terms]


def _network(subgoals: Classifiers, term: str, world: EitherWorld | None) -> Told:
    looks = subgoals.looks_at(term, world)
    some = ", ".join(f"{name} ({share:.0%})" for name, share in looks[:LOOKS])
    rest = f" and {quantity(len(looks) - LOOKS, 'other thing')}" if len(looks) > LOOKS else ""
    means = f"{term} is known to a network" + (f", which looks at: {some}{rest}" if looks else "")
    return Told(term, means, None, 0, 0)


def _told(term: str, readings: Mapping[str, Reading], phrases: Phrases) -> Told:
    reading = readings[term]
    means = reading.formula.said(phrases)
    opened, settle = [], []
    for other in reading.open:
        opened.append(f"it may as well hold where {other.said(phrases)}")
        settle.append(f"{term} where only one of the two comes true")
    if reading.sure < UNSURE and not reading.open:
        opened.append("what was shown may as well have had another reason")
        settle.append(f"{term} once more, from another start")
    for same in (name for name, one in readings.items() if name != term and one.formula == reading.formula):
        opened.append(f"it is read as {same} is: no demonstration tells the two apart")
        settle.append(f"{term} in a place where {same} would be done in another way")
    told = {fact for one in reading.open for fact in one.facts}
    always = [fact for fact in reading.always if fact not in told]
    never = tuple(say(phrases, fact) for fact in always)
    settle += [f"{term} where {say(phrases, fact, holds=False)}" for fact in always]
    counts = reading.sure, reading.seen, reading.explained
    return Told(term, f"{term} holds where {means}", *counts, tuple(opened), tuple(settle), never)


def rests_on(subgoals: object, terms: tuple[str, ...], bold: bool, world: EitherWorld) -> list[str]:
    """What a plan for some terms counts on though the data leave it open, in sentences."""
    if not isinstance(subgoals, Readings):
        return []
    phrases: Phrases = getattr(world, "fact_phrases", {})
    told = []
    for term in dict.fromkeys(terms):
        reading = subgoals.readings.get(term)
        if reading is not None and reading.open:
            some = " or ".join(one.said(phrases) for one in (reading.formula, *reading.open))
            way = "the plan could not see to all of that" if bold else "the plan sees to all of that"
            told.append(f"{term} may mean that {some}; {way}")
        elif reading is not None and reading.seen == 1:
            told.append(f"{term} was shown once: that {reading.formula.said(phrases)} is {reading.sure:.0%} sure")
    return told


def demonstrators(shape: Mapping[str, Any]) -> str:
    """What was found out about the demonstrators, in a sentence."""
    alpha, low, high = shape["alpha"]
    doubted = shape.get("doubted", [])
    rational = f"α is about {alpha:g} (95 % between {low:g} and {high:g}): "
    rational += "they take shortest ways" if low >= 32 else "they err now and then" if low >= 8 else "they err often"
    wrong = "no description seems wrong"
    if doubted:
        wrong = f"about {shape['doubt']:.0%} of the descriptions are wrong"
        some = ", ".join(map(str, doubted[:10])) + (", …" if len(doubted) > 10 else "")
        wrong += f"; {quantity(len(doubted), 'episode')} did not do what they say: {some}"
    return f"{rational}; {wrong}"
