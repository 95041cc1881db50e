"""`rsg reproduce recognition`: what is measured, with the truth in the place of what was learned."""

from itertools import islice

import numpy as np
import pytest
from tests.subgoals.oracle import CRAFTING, TrueClassifiers

from reproductions.harness.jobs import finished, perform, store_folder
from reproductions.harness.results import Results
from reproductions.harness.trials import Size
from reproductions.recognition import Watcher, _ends_along, explanations, jobs, section, true_ends
from rsg.core.random import stream
from rsg.domain import make_demonstrations
from rsg.language import machine_of

QUICKLY = {"steps": 4, "check_every": 2, "save_every": 2}
TINY = Size(2, {"segmented": 1, "recognised": 1, "proposed": 1}, 1.0, QUICKLY, quick=True)


@pytest.fixture(scope="module")
def watcher():
    return Watcher(CRAFTING, TrueClassifiers(), 5)


def demonstration(text, split="train"):
    number = CRAFTING.tasks(split).index(text)
    demo, _ = CRAFTING.demonstrate(split, number, stream(3, "recognition", text))
    return demo, CRAFTING.world(demo.setting)


def test_true_ends_are_where_subgoals_came_true():
    for text in ("mine-wood then craft-wood-plank", "mine-iron-ore and mine-coal then craft-iron-ingot"):
        demo, world = demonstration(text)
        ends = true_ends(CRAFTING, world, demo)
        assert tuple(term for term, _ in ends) in {tuple(map(str, path)) for path in machine_of(text).paths()}
        assert ends[-1][1] == len(demo.actions)
        for term, step in ends:
            assert CRAFTING.truth(world, demo.states[step - 1 : step + 1], [term])[:, 0].tolist() == [False, True]


def test_a_description_and_its_ending_may_both_explain():
    text = "grab-axe then mine-wood"
    demo, world = demonstration(text)
    machines = {one: machine_of(one) for one in (text, "mine-wood", "grab-pickaxe", "mine-coal then mine-wood")}
    assert explanations(CRAFTING, world, demo, machines) == [text, "mine-wood"]


def test_who_knows_the_truth_segments_and_recognises(watcher):
    found = watcher.segmented("compositional", 1)
    assert found["exact"] == found["near"] == found["ends"] > 26
    ranked = watcher.recognised("train", 1)
    assert ranked["candidates"] == ranked["trajectories"] == 48
    assert min(ranked["right"], ranked["ideal"]) >= 47
    proposed = watcher.proposed(1)
    assert proposed["among"] == proposed["trajectories"] == 26
    begun = watcher.begun(0.5, 1)
    assert begun["first"] <= begun["among"] <= begun["trajectories"] == 48


def test_a_job_and_its_section(tmp_path, monkeypatch):
    monkeypatch.setattr(Watcher, "demos", lambda *args, own=Watcher.demos: islice(own(*args), 2))
    (job,) = jobs(TINY)
    make_demonstrations(job.needs[0], store_folder(tmp_path, job.needs[0]))
    perform(job, tmp_path)
    result = finished(job, tmp_path)["result"]
    told = section(TINY, Results({job.name: result}))
    for words in ("Segmentation", "ceiling", "Beginnings", "Without candidates", "75 %"):
        assert words in told.text
    rates = told.summary["recognition"]["train"]
    assert rates["candidates"] == 48
    assert {len(rates[kind]["seeds"]) for kind in ("right", "plain", "ideal")} == {1} == {len(rates["ms"])}
    assert (
        told.summary["segmentation"]["novel"]["exact"]["mean"]
        == result["segmentation"]["novel"]["exact"] / (result["segmentation"]["novel"]["ends"])
    )
    assert set(told.summary["beginnings"]) == {"25", "50", "75", "100"}
    told.pictures["beginnings"].draw(tmp_path / "beginnings.png")
    assert (tmp_path / "beginnings.png").stat().st_size > 1000
    assert section(TINY, Results()).pictures == {}


@pytest.mark.parametrize(
    ("columns", "ends"),
    [
        (["0010", "0001"], [2, 3]),
        (["0110", "0101"], [2, 3]),  # both at once: the first one was done later
        (["0110", "1001"], [1, 3]),
        (["1010", "0001"], None),
        (["0010", "0010"], None),
        (["0100", "0010"], None),  # it goes on after all is done
        (["0001"], [3]),
    ],
)
def test_when_subgoals_were_done(columns, ends):
    assert _ends_along([np.array([one == "1" for one in column]) for column in columns]) == ends
