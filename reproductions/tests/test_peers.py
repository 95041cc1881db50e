"""Our planners beside those of others: the harness, the section, and answers that agree."""

import json
from dataclasses import replace

import numpy as np
import pytest

from reproductions import motion_peers, peers
from reproductions.harness import extras
from reproductions.harness.jobs import Place, finished, perform
from reproductions.harness.reproduce import Reproduction
from reproductions.harness.trials import Size
from reproductions.pddl import to_pddl
from reproductions.peers import Problem, cheapest, draw, open_field
from reproductions.tests.test_pddl import MAPS
from rsg.core.errors import RsgError
from rsg.domains.crafting import truth
from rsg.domains.crafting.text import read_map

QUICK = replace(peers.QUICK, seeds=1, quick=True)
fast_downward = pytest.mark.skipif(
    not extras.installed("pddl"), reason=f"Fast Downward is not installed: {extras.command('pddl')}"
)
ompl = pytest.mark.skipif(not extras.installed("ompl"), reason=f"OMPL is not installed: {extras.command('ompl')}")


@fast_downward
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("term", MAPS)
def test_fast_downward_finds_the_same_cost(term):
    from reproductions.fast_downward import CONFIGURATIONS, ask

    text, steps = MAPS[term]
    world, state = read_map(text)
    answer = ask(to_pddl(world, state, term), CONFIGURATIONS["optimal"], 20.0)
    assert (answer.ended, answer.steps) == (("found", steps) if steps else ("exhausted", None))
    assert answer.seconds > answer.own_seconds > 0
    if steps:
        assert peers.is_right(Problem("", world, state, term), answer.actions)
        assert not peers.is_right(Problem("", world, state, term), answer.actions[:-1])
        assert answer.search_seconds < answer.cpu_seconds


@fast_downward
@pytest.mark.filterwarnings("ignore")
def test_fast_downward_runs_out_of_time():
    from reproductions.fast_downward import CONFIGURATIONS, ask

    problem = open_field("craft-boat", 9, 0)
    answer = ask(to_pddl(problem.world, problem.state, problem.term), CONFIGURATIONS["blind"], 0.001)
    assert (answer.ended, answer.actions, answer.steps) == ("time", None, None)


def test_what_else_ends_a_search():
    from reproductions.fast_downward import ending

    assert ending("MEMOUT", exact=False) == "memory"
    assert ending("UNSOLVABLE_INCOMPLETELY", exact=True) == "exhausted"
    for status in ("UNSOLVABLE_INCOMPLETELY", "INTERNAL_ERROR"):
        with pytest.raises(RsgError, match=f"Fast Downward failed: {status}"):
            ending(status, exact=False)


@fast_downward
@pytest.mark.filterwarnings("ignore")
def test_the_same_answers_to_random_problems(tmp_path):
    asked = next(iter(peers.jobs(QUICK))).parameters | {"limit": 20.0, "seed": 3, "numbers": [0, 1, 9]}
    found = peers.costs_job(asked, Place(tmp_path, tmp_path))
    assert [row["optimal"]["ended"] for row in found["rows"]] == ["found", "found", "exhausted"]
    for row in found["rows"]:
        assert row["optimal"]["steps"] == row["fd-optimal"]["steps"]
        assert row["optimal"]["right"] is row["fd-optimal"]["right"] is (True if row["optimal"]["steps"] else None)


def test_without_the_extras_one_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "installed", lambda name: False)
    made = Reproduction(peers.EXPERIMENT, QUICK, tmp_path)
    with pytest.raises(RsgError, match=r"^Fast Downward and OMPL motion planners are not installed; install with: pip"):
        made.run(1)
    monkeypatch.setattr(extras, "installed", lambda name: name != "pddl")
    with pytest.raises(RsgError, match=r"^Fast Downward is not installed; install with: pip .*'\.\[pddl\]'$"):
        extras.require("pddl", "ompl")
    extras.require("ompl")


def test_problems_are_drawn_as_described():
    for number in (0, 1, 2, 3, 9, 19):
        problem, made = draw(0, number)
        assert made.ended == ("exhausted" if number % 10 == 9 else "found")
        assert len(made.actions) >= 5 or not made.found
        assert not truth(problem.world, problem.state[None], [problem.term])[0, 0]
        assert f"{problem.world.height}x{problem.world.width}" in problem.name
        assert ("open" in problem.name) == (number in (0, 2, 19))
        again, _ = draw(0, number)
        assert (again.name, again.state.tobytes()) == (problem.name, problem.state.tobytes())
    assert cheapest(open_field("mine-wood", 7, 0)).found


@ompl
@pytest.mark.filterwarnings("ignore")
def test_motions(tmp_path):
    figures = peers.motions_job({"queries": 3}, Place(tmp_path, tmp_path))["figures"]
    assert figures["queries"] == 3
    assert figures["rsg RRT-Connect"]["success"] == figures["OMPL RRTConnect, compiled motions"]["success"] == 1
    assert figures["rsg roadmap"]["construction_ms"] > 0


# --- the section ---


def answer(steps, seconds=0.5, ended="found", theirs=False, right=True):
    own = {"search_seconds": None if ended == "time" else seconds / 10, "own_seconds": seconds / 2} if theirs else {}
    right = right if steps else None
    return {
        "ended": ended,
        "steps": steps,
        "right": right,
        "expansions": 10,
        "seconds": seconds,
        "cpu_seconds": seconds,
        **own,
    }


def results(theirs, lama=5, right=True):
    """Of two problems: what Fast Downward says to the first one is `theirs`."""
    ours = {"optimal": answer(4), "regions": answer(5)}
    fd = {"fd-optimal": theirs, "fd-blind": answer(4, theirs=True), "fd-satisficing": answer(lama, theirs=True)}
    grown = [{"problem": "one", **ours, **fd}]
    costs = [
        {"problem": "one", "optimal": answer(4), "fd-optimal": theirs},
        {
            "problem": "two",
            "optimal": answer(None, 0.5, "exhausted"),
            "fd-optimal": answer(None, 1.0, "exhausted", True),
        },
    ]
    return {
        "costs-0": {"rows": costs, "versions": {"up-fast-downward": "1.0"}},
        "size-5-seed0": {"size": 5, "rows": grown},
    }


def test_equal_costs_are_counted():
    made = peers.section(QUICK, results(answer(4, theirs=True)))
    costs = made.summary["costs"]
    assert (costs["problems"], costs["equal"], costs["equal_with_plan"]) == (2, 2, 1)
    assert costs["different"] == costs["unsolved"] == costs["wrong_plans"] == []
    assert "| the same answer by both | **2** |" in made.text
    assert "agree in 1 of 1 problems that at least two of them solved; 0 plans were wrong" in made.text
    assert "Not solved: none." in made.text
    assert made.summary["growing"]["5"]["fd-optimal"]["search_seconds_median"] == 0.05
    assert made.summary["growing"]["5"]["optimal"]["search_seconds_median"] == 0.5


def test_different_costs_are_named():
    made = peers.section(QUICK, results(answer(3, theirs=True, right=False)))
    assert made.summary["costs"]["different"] == ["one"]
    assert made.summary["costs"]["equal"] == 1
    assert "Different answers: one." in made.text
    assert "wrong: one." in made.text
    assert "agree in 0 of 1 problems that at least two of them solved; 1 plans were wrong" in made.text


def test_what_was_not_solved_is_named_and_counts_as_the_limit():
    made = peers.section(QUICK, results(answer(None, 15.0, "time", theirs=True)))
    assert made.summary["costs"]["unsolved"] == ["one"]
    assert made.summary["costs"]["different"] == []
    grown = made.summary["growing"]["5"]["fd-optimal"]
    assert (grown["solved"], grown["search_seconds_median"], grown["steps_mean"]) == (0, peers.QUICK["limit"], None)
    assert "- Fast Downward, A* with LM-cut: one" in made.text


def test_one_that_ran_out_of_memory_is_not_quick_and_one_alone_agrees_with_nobody():
    nothing = answer(None, 2.0, "memory", theirs=True)
    found = results({**nothing, "search_seconds": None, "expansions": None})
    found["size-5-seed0"]["rows"][0]["fd-blind"] = nothing
    grown = peers.section(QUICK, found).summary["growing"]["5"]
    assert grown["fd-optimal"]["search_seconds_median"] == peers.QUICK["limit"]
    assert grown["fd-optimal"]["expansions_median"] is None
    assert grown["equal"] == {"problems": 0, "equal": 0}


def test_a_report_of_nothing_but_motions(tmp_path):
    row = {"success": 1.0, "ms_median": 1.0, "actions_mean": 3.0, "pose_length_mean": 4.0}
    none = {**row, "success": 0.0, "actions_mean": None, "pose_length_mean": None}
    figures = {"queries": 3, "rsg roadmap": {"construction_ms": 70.0, **row}, "OMPL": row, "OMPL, lost": none}
    made = peers.section(QUICK, {"motions": {"figures": figures, "versions": {"ompl": "2.0"}}})
    assert "| OMPL | 100.0 % | 1.00 ms | 3.00 | 4.00 |" in made.text
    assert "| OMPL, lost | 0.0 % | 1.00 ms | – | – |" in made.text
    assert made.pictures == {}
    json.dumps(made.summary, allow_nan=False)


def test_the_picture(tmp_path):
    made = peers.section(QUICK, results(answer(4, theirs=True)))
    made.pictures["growing"].draw(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@fast_downward
@pytest.mark.filterwarnings("ignore")
def test_a_growing_map(tmp_path):
    counts = {"problems": 1, "parts": 1, "sizes": (4,), "goals": ("mine-wood",), "queries": 2, "limit": 10.0}
    made = Reproduction(peers.EXPERIMENT, Size(1, counts, quick=True), tmp_path)
    assert [job.name for job in made.jobs] == ["costs-0", "size-4-seed0", "motions"]
    made.demonstrate(1)
    job = made.jobs[1]
    perform(job, tmp_path)
    (row,) = finished(job, tmp_path)["result"]["rows"]
    assert row["optimal"]["steps"] == row["fd-optimal"]["steps"] == row["fd-blind"]["steps"]
    assert min(row["regions"]["steps"], row["fd-satisficing"]["steps"]) >= row["optimal"]["steps"]
    assert all(row[method]["right"] for method in peers.METHODS)


def test_paths_are_judged_where_no_other_planner_is_installed():
    start = motion_peers.WORLD.start(motion_peers.stream(0, "peer"))
    there = start[:3]
    assert motion_peers.judged(start, there, np.stack([there, there])) == (0.0, 0.0)
    assert motion_peers.judged(start, there + 1, np.stack([there, there])) is None
