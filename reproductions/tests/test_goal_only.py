import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from reproductions import goal_only, goal_terms
from reproductions.goal_guides import method_of
from reproductions.goal_links import THRESHOLDS, Pair, checked, differences, links_section, pairs, reason, true_orders
from reproductions.goal_only import LADDER, MAIN, section
from reproductions.goal_terms import NAMES, held_for, possible, start_without, terms_section
from reproductions.goal_trials import ALL, EASY, GROUPS, HARD, UNITS, Trials, reach, reached, success_text
from reproductions.harness.jobs import finished, perform, store_folder
from reproductions.harness.results import Results
from reproductions.harness.trials import Size
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.domain import find, make_demonstrations
from rsg.domains.crafting import VOCABULARY, CraftingWorld, starts, truth
from rsg.domains.crafting.maps import objects_for
from rsg.domains.crafting.starts import leading_to, start_for, ways, within_walk
from rsg.planning import Dependencies, plan_goal, validate

SOURCE = find("crafting")
COUNTS = {"starts": 2, "ladder": 1, "limits": 1, "terms": 1, "growth": 1, "without": 2, "budget": 60}
TINY = Size(2, COUNTS, 1.0, {"steps": 4, "check_every": 2, "save_every": 2}, quick=True)


def rule_table(**changes):
    """What a learner should find out."""
    size = len(VOCABULARY)
    needs = tuple(
        tuple(tuple(sorted(VOCABULARY.index(need) for need in way)) for way in ways(term)) for term in VOCABULARY
    )
    together = np.full((size, size), 10)
    before = np.array([[10 * (other in leading_to(term)[1:]) for other in VOCABULARY] for term in VOCABULARY])
    found = Dependencies(VOCABULARY, before, together, together[0], together, needs, np.full(size, 0.5))
    return replace(found, **changes)


# --- starts ---


def test_the_terms_behind_a_term():
    assert set(leading_to("craft-boat")) == {"grab-axe", "mine-wood", "craft-wood-plank", "craft-boat"}
    assert ways("toggle-switch") == (frozenset(),)
    assert set(ways("craft-bowl")) == {frozenset({"craft-wood-plank"}), frozenset({"craft-iron-ingot"})}
    for term in VOCABULARY:
        needs = objects_for(leading_to(term))
        assert term in possible(needs)
        assert possible(needs) >= set(leading_to(term))
    assert possible(()) == set()


@pytest.mark.parametrize("barrier", ["wall", "door", "water"])
def test_what_is_within_a_walk(barrier):
    world = CraftingWorld(1, 4)
    state = world.state({(0, 1): "tree", (0, 2): barrier, (0, 3): "axe"}, (0, 0), ["key", "boat"])
    assert within_walk(world, state) == {"tree"}
    assert world.inventory(state) == ("boat", "key")
    assert within_walk(world, world.state({(0, 3): "axe"}, (0, 3))) == {"axe"}


@pytest.mark.parametrize("hands", NAMES)
def test_every_term_can_be_reached_from_its_starts(hands):
    for term in VOCABULARY:
        rng = stream(1, "start", term)
        world, state = start_for(term, 7, rng, held_for(term, hands, rng))
        assert (world.height, world.width) == (7, 7)
        assert not truth(world, state[None], [term])[0, 0]
        held = world.inventory(state)
        rules = starts.rules_for(term)
        allowed = [
            sorted((*rule.tools, *rule.uses)[: None if hands == "primitive" else len(rule.tools)]) for rule in rules
        ]
        assert sorted(held) in (allowed if rules and hands != "empty" else [[]])
        made = plan_goal(world, state, term, SOURCE.true_goals, rule_table())
        assert validate(world, made, term, partial(SOURCE.truth, world)).ok, term


def test_starts_are_the_same_each_time():
    one, two = (start_for("mine-wool", 9, stream(5, "again"), ["shears"])[1] for _ in range(2))
    assert one.tobytes() == two.tobytes()


def test_maps_that_are_too_small():
    with pytest.raises(RsgError, match="the limit is 8"):
        start_for("craft-arrow", 3, stream(0, "small"))


def test_a_map_on_which_nothing_fits_is_an_error(monkeypatch):
    monkeypatch.setattr(starts, "MAX_DRAWS", 3)
    monkeypatch.setattr(starts, "within_walk", lambda *_: set())
    with pytest.raises(RsgError, match="no 7×7 map was found on which all that mine-wood needs"):
        start_for("mine-wood", 7, stream(0, "never"))


def test_starts_without_a_way():
    for number in range(12):
        start = start_without(7, stream(2, "without", number))
        assert start.removed not in within_walk(start.world, start.state)
        assert start.world.inventory(start.state) == ()
        assert start.first
        assert not start.first & start.possible
        assert start.goal not in start.possible
        made = plan_goal(start.world, start.state, start.goal, SOURCE.true_goals, rule_table(), 4000)
        assert not made.found
        assert set(made.missed) & start.first, (start.goal, start.removed, made.missed)


# --- success against expansions ---


def rows(*expansions, goal="g", subgoals=2, time=1000):
    """Zero: not solved within 99; below zero: wrong."""
    success = [(value > 0) - (value < 0) for value in expansions]
    spent = [abs(value) or 99 for value in expansions]
    return [
        {
            "goal": goal,
            "subgoals": subgoals,
            "success": success,
            "expansions": spent,
            "states": [value // 2 for value in spent],
            "different": [value // 3 for value in spent],
            "microseconds": [time] * len(spent),
        }
    ]


def test_expansions_to_a_share():
    values = rows(10, 20, 30, 0, 5, -7, 40, 50, 60, 70)
    assert [reach(values, share) for share in (0.1, 0.5, 0.7, 0.8)] == [5, 40, 60, 70]
    assert math.isinf(reach(values, 0.81))
    assert reach(rows(*range(1, 101)), 0.7) == 70
    assert reach(values, 0.8, "states") == 35
    assert math.isinf(reach(values, 0.81, "states"))


def test_trials_over_seeds():
    several = Trials(99, {0: rows(10, 20) + rows(5, 0, goal="h", subgoals=4), 3: rows(30, 40) + rows(7, -6, goal="h")})
    assert several.goals == ["g", "h"]
    assert several.of(goal="g").reach(1.0) == {0: 20, 3: 40}
    assert reached(several.of(goal="g"), 1.0) == "30 (20 to 40)"
    assert reached(several.of(goal="h"), 1.0) == "> 99"
    assert reached(several.of(HARD), 0.5) == "5"
    assert list(several.of(HARD).seeds) == [0]
    mixed = Trials(99, {0: rows(10, 20), 1: rows(10, 0)})
    assert reached(mixed, 1.0) == "> 99 in 1 of 2"
    assert reached(mixed, 1.0, "states") == "never in 1 of 2"
    assert reached(mixed, 0.5, "states") == "5 (5 to 5)"
    assert several.success(10).successes == (2, 1)
    assert several.wrong() == 1
    assert success_text(several) == "75.0"
    assert success_text(mixed) == "75.0 (50.0 to 100.0)"
    assert several.of(starts=1).success().trials == (2, 2)
    assert several.milliseconds().mean == 1.0
    assert several.expansions(np.mean).least == 20.75


def test_three_groups_and_each_number_of_subgoals():
    several = Trials(99, {0: [rows(n, goal=f"g{n}", subgoals=n)[0] for n in (2, 3, 4, 5)]})
    assert [several.of(group).goals for group in GROUPS] == [["g2", "g3"], ["g4", "g5"], ["g2", "g3", "g4", "g5"]]
    assert several.of("4 subgoals").goals == ["g4"]
    assert (EASY, HARD, ALL) == ("2–3 subgoals", "4–5 subgoals", "all")  # pages quote figures by these names


def test_times_fewer_than_blind_are_of_the_same_seeds():
    own, blind = Trials(99, {0: rows(10), 2: rows(20)}), Trials(99, {1: rows(7), 2: rows(60)})
    assert own.fewer_than(blind, 1.0).mean == 3.0
    assert own.fewer_than(Trials(99, {0: rows(0)}), 1.0) is None
    assert own.fewer_than(Trials(99, {1: rows(9)}), 1.0) is None


# --- links ---


def test_orders_by_the_truth():
    texts = SOURCE.tasks("train")
    chosen = ["grab-axe then mine-wood", "grab-pickaxe or grab-axe then mine-sugar-cane", "mine-wood"]
    demos = [
        SOURCE.demonstrate("train", texts.index(text), stream(0, "orders", text, i))[0]
        for text in chosen
        for i in range(6)
    ]
    counts = true_orders(demos, SOURCE)
    axe, pickaxe, wood, cane = (
        VOCABULARY.index(term) for term in ("grab-axe", "grab-pickaxe", "mine-wood", "mine-sugar-cane")
    )
    assert counts["before"][wood, axe] == counts["together"][wood, axe] == counts["mentioned"][wood, axe] == 6
    assert counts["before"][axe, wood] == 0
    assert counts["mentioned"][cane, axe] == counts["mentioned"][cane, pickaxe] == 6
    assert counts["before"][cane, axe] + counts["before"][cane, pickaxe] >= 6
    assert 0 < counts["before"][cane, axe] < 6


TRUTH = {key: np.full((26, 26), 10) for key in ("before", "together", "mentioned")}


def test_links_that_rank_wrongly():
    every = pairs(SOURCE.tasks("train"))
    assert len(every) > 40
    assert not any(pair.term == "craft-boat" for pair in every)  # is described with the plank alone
    found = rule_table()
    assert checked(found, TRUTH) == {"conditional": [], "matrix": [], "prerequisites": []}
    row, true, false = (VOCABULARY.index(term) for term in ("mine-coal", "grab-pickaxe", "mine-potato"))
    before = found.before.copy()
    before[row, true], before[row, false] = 4, 4
    (pair,) = checked(replace(found, before=before), TRUTH)["conditional"]
    assert Pair(pair["term"], pair["true"], pair["false"]) == Pair("mine-coal", "grab-pickaxe", "mine-potato")


def test_why_links_rank_wrongly():
    pair = Pair("mine-coal", "grab-pickaxe", "mine-potato")
    row, true, false = map(VOCABULARY.index, pair)
    found = rule_table()

    def why(**counts):
        values = {key: value.copy() for key, value in TRUTH.items()}
        for key, (of_true, of_false) in counts.items():
            values[key][row, true], values[key][row, false] = of_true, of_false
        return reason(pair, found, values, "conditional")

    assert why(together=(0, 10)).startswith("cannot be told: no demonstration shows the true one")
    assert why(before=(10, 10)).startswith("cannot be told: the false one comes first in all")
    assert why(before=(8, 9)) == "so it is in the demonstrations"
    assert why(before=(10, 3)) == "classifiers err: by the truth 1.00 and 0.30"


def test_prerequisites_that_differ():
    assert differences(rule_table()) == []
    needs = list(rule_table().prerequisites)
    needs[VOCABULARY.index("craft-boat")] = ((),)
    found = rule_table(prerequisites=tuple(needs))
    assert differences(found) == ["craft-boat needs craft-wood-plank, learned was nothing"]
    text, summary = links_section({4: dict.fromkeys(THRESHOLDS, checked(found, TRUTH))})
    assert "- craft-boat needs craft-wood-plank, learned was nothing (seeds 4)" in text
    assert summary["wrong"] == []
    assert summary["counts"]["half"]["prerequisites"] == [1]
    right = dict.fromkeys(THRESHOLDS, checked(rule_table(), TRUTH))
    assert "are those of the rule table" in links_section({0: right})[0]


# --- the experiment ---


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The jobs of one seed, tiny, by name, and their results."""
    work = tmp_path_factory.mktemp("goal-only")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goal_terms, "LARGER", (8,))
        jobs = list(goal_only.jobs(TINY))
        for recipe in jobs[0].needs:
            make_demonstrations(recipe, store_folder(work, recipe))
        for job in jobs:
            perform(job, work)
    return {job.name: job for job in jobs}, Results({job.name: finished(job, work)["result"] for job in jobs})


def test_the_jobs(done):
    jobs, results = done
    kinds = ["links", "ours", "paper", "uniform", "blind", "ladder", "terms", "limits"]
    assert list(jobs) == [f"{kind}-seed0" for kind in kinds]
    assert jobs["blind-seed0"].parameters["methods"]["blind"]["settings"]["budget"] == 480
    ours = results["ours-seed0"]["methods"]["ours"]
    assert [row["goal"] for row in ours["goals"]][:2] == ["mine-wood", "craft-paper"]
    assert [row["subgoals"] for row in ours["goals"]] == [2, 2, 3, 3, 4, 4, 4, 5]
    assert all(len(row["expansions"]) == 2 and max(row["expansions"]) <= 60 for row in ours["goals"])
    assert set(results["ladder-seed0"]["methods"]) == set(LADDER) - set(MAIN)
    sets = results["terms-seed0"]["sets"]
    assert [(one["hands"], one["size"]) for one in sets] == [
        ("primitive", 7),
        ("tools", 7),
        ("empty", 7),
        ("tools", 8),
        ("empty", 8),
    ]
    assert len(results["terms-seed0"]["without"]) == 2


def test_the_section(done, tmp_path):
    _, results = done
    made = section(TINY, results)
    for words in ("### Eight goals", "### Each idea", "### All terms", "### No solution", "### Links between", "4,311"):
        assert words in made.text
    json.dumps(made.summary, allow_nan=False)
    assert set(made.summary["ladder"]) == set(LADDER)
    assert made.summary["goals"]["ours"]["all"]["success"]["episodes"] == 16
    assert made.summary["ladder"]["ours"][EASY]["success"]["episodes"] == 4
    for group, episodes in ((EASY, 8), (HARD, 8), (ALL, 16), ("5 subgoals", 2)):
        assert made.summary["goals"]["blind"][group]["success"]["episodes"] == episodes
    for words in ("**all eight goals**", "**Three groups.**", "states stepped to 70 %", "**all with 2**"):
        assert words in made.text
    claims = made.summary["claims"]
    assert list(claims) == ["paper", "printed"]
    assert {one[unit]["verdict"] for one in claims["paper"].values() for unit in UNITS} == {"not told apart"}  # 1 seed
    for name, picture in made.pictures.items():
        picture.draw(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_states_are_counted_for_every_method(done):
    """Ours and the blind search expand each state once; a candidate's search may expand one in several nodes."""
    _, results = done
    methods = {name: one for job in results.values() for name, one in job.get("methods", {}).items()}
    for name, method in methods.items():
        of_candidates = name in ("paper", "printed", "uniform", "longer") or name.startswith("limit")
        for row in method["goals"]:
            for different, states, spent in zip(row["different"], row["states"], row["expansions"], strict=True):
                assert 0 < different <= states <= spent
                assert of_candidates or different == spent


@pytest.mark.parametrize("only", ["links", "ours", "ladder", "terms", "limits"])
def test_a_section_of_what_is_finished(done, only, tmp_path):
    made = section(TINY, Results({name: one for name, one in done[1].items() if name.startswith(only)}))
    assert made.text
    for name, picture in made.pictures.items():
        picture.draw(tmp_path / f"{name}.png")


def test_curves_are_drawn_the_same_each_time(done, tmp_path):
    some = Results({name: one for name, one in done[1].items() if name.startswith(("ours", "blind"))})
    for name in ("one.png", "two.png"):
        section(TINY, some).pictures["success"].draw(tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_terms_that_are_always_reached():
    one = {"budget": 99, "sets": [{"hands": hands, "size": 7, "terms": rows(4, 5)} for hands in NAMES]}
    text, summary = terms_section({0: one})
    assert "Every term was reached from every start." in text
    assert summary["tools-7"]["below"] == {}


def test_the_full_size_is_what_was_promised():
    jobs = {job.name: job for job in goal_only.jobs(replace(goal_only.FULL, seeds=5))}
    assert len(jobs) == 36
    methods = {name: one for job in jobs.values() for name, one in job.parameters.get("methods", {}).items()}
    assert {methods[name]["starts"] for name in MAIN} == {100}
    assert {name: methods[name]["settings"]["budget"] for name in MAIN} == {
        **dict.fromkeys(MAIN, 25_000),
        "blind": 200_000,
    }
    assert jobs["ours-seed3"].needs[0].per_task == 400
    changed = {"method": "paper", "each": 500}
    assert methods["limit-500"]["settings"] == methods["ours"]["settings"] | changed
    assert all(callable(method_of(one["settings"])) for one in methods.values())
    assert {methods[name]["drawn"] for name in MAIN} == {"test"}
    assert methods["printed"]["threshold"] == "paper"
    assert methods["limit-500"]["drawn"] == "limits"
