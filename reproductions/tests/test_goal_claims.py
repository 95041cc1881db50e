"""The paper's claims: words that follow from figures, and turn with their sign."""

import math

import pytest

from reproductions.goal_claims import Advantage, about, ahead, claims_table, judged
from reproductions.goal_trials import BUDGET, UNITS, Trials
from reproductions.harness.verdicts import CONFIRMED, CONTRADICTED, UNTOLD

GOALS = {2: "g2", 3: "g3", 4: "g4", 5: "g5"}


def trials(few, many, seeds=3, budget=BUDGET, spread=0.02):
    """One start of each goal, with so many expansions, and fewer states; None: not solved."""
    found = {}
    for seed in range(seeds):
        found[seed] = []
        for subgoals, goal in GOALS.items():
            spent = few if subgoals <= 3 else many
            value = budget if spent is None else round(spent * (1 + spread * seed))
            found[seed].append(
                {
                    "goal": goal,
                    "subgoals": subgoals,
                    "success": [int(spent is not None)],
                    "expansions": [value],
                    "states": [value // 2],
                    "different": [value // 3],
                    "microseconds": [1],
                }
            )
    return Trials(budget, found)


def verdicts(paper, uniform, blind, unit="expansions"):
    every = {"paper": trials(*paper), "uniform": trials(*uniform), "blind": trials(*blind, spread=0.03)}
    return {key: one[unit]["verdict"] for key, one in judged(every, "paper").items()}


AS_PRINTED = {"paper": (1000, 4311), "uniform": (1000, 24000), "blind": (2400, 19220)}


@pytest.mark.parametrize("unit", UNITS)
def test_what_the_paper_says_is_confirmed_by_its_own_figures(unit):
    assert set(verdicts(**AS_PRINTED, unit=unit).values()) == {CONFIRMED}


@pytest.mark.parametrize(
    ("figures", "contradicted"),
    [
        ({"paper": (1000, 30000)}, {"hard-with", "hard-with-4.5", "hard-over-without", "grows"}),
        ({"paper": (1000, 9000)}, {"hard-with-4.5", "grows"}),
        ({"uniform": (1000, 10000)}, {"hard-without"}),
        ({"uniform": (4000, 24000)}, {"easy-similar", "easy-without", "easy-without-2.4"}),
        ({"paper": (3000, 4311)}, {"easy-similar", "easy-with", "easy-with-2.4"}),
        ({"blind": (8000, 19220)}, {"easy-with-2.4", "easy-without-2.4", "grows"}),
    ],
)
def test_verdicts_turn_with_the_figures(figures, contradicted):
    found = verdicts(**{**AS_PRINTED, **figures})
    assert {key for key, verdict in found.items() if verdict == CONTRADICTED} == contradicted
    assert {verdict for key, verdict in found.items() if key not in contradicted} == {CONFIRMED}


def test_where_70_percent_is_not_reached_success_is_compared():
    found = judged({"paper": trials(1000, 4000), "uniform": trials(1000, None), "blind": trials(2400, 19000)}, "paper")
    worse = found["hard-without"]["expansions"]
    assert (worse["measure"], worse["value"], worse["verdict"]) == ("success", 1.0, CONFIRMED)
    assert worse["text"] == "success +100.0 points (+100.0 to +100.0)"
    assert claims_table(found).splitlines()[5].endswith("| the same | the same |")
    other = judged({"paper": trials(None, 4000), "uniform": trials(1000, 2000), "blind": trials(2400, None)}, "paper")
    assert {key: one["states"]["verdict"] for key, one in other.items()} == {
        "hard-with": CONFIRMED,
        "hard-with-4.5": UNTOLD,
        "hard-over-without": CONTRADICTED,
        "hard-without": CONTRADICTED,
        "easy-similar": CONTRADICTED,
        "easy-with": CONTRADICTED,
        "easy-with-2.4": CONTRADICTED,
        "easy-without": CONFIRMED,
        "easy-without-2.4": CONFIRMED,
        "grows": CONFIRMED,
    }


def test_what_seeds_do_not_tell():
    wide = Advantage(True, {0: -1.0, 1: 1.5, 2: 0.2})
    assert ahead(wide) == about(wide, 1) == about(wide, 4.5) == UNTOLD
    single = Advantage(True, {0: 2.0})
    assert ahead(single) == about(single, 1) == UNTOLD
    assert single.text == f"{math.exp(2):.2f} times"
    assert single.plain()["low"] is None


def test_only_seeds_that_both_have_are_compared():
    some = {"paper": trials(1000, 4000, seeds=2), "blind": trials(2400, 19000, seeds=4)}
    found = judged(some, "paper")
    assert set(found) == {"hard-with", "hard-with-4.5", "easy-with", "easy-with-2.4", "grows"}
    assert len(found["hard-with"]["expansions"]["seeds"]) == 2
    assert claims_table(found).splitlines()[0] == (
        "| the paper says | compared | in expansions | in states stepped | in different states |"
    )
    assert judged({"paper": some["paper"]}, "paper") == {}
