"""What a process of the studio answers, without a server around it; requests are checked as the service checks them."""

import numpy as np
import pytest
from tests.studio.conftest import TASK, walk_of

from rsg.core.errors import ParseError, RsgError
from rsg.demos import Store
from rsg.domain import find
from rsg.studio import asked
from rsg.studio.answers import Answering
from rsg.studio.shelf import Shelf
from rsg.worlds.corridor import Corridor

BODIES = {
    "start": asked.Start,
    "edit": asked.Edit,
    "walk": asked.Where,
    "pictures": asked.Frames,
    "read": asked.Read,
    "plan": asked.PlanFor,
    "recognise": asked.Recognise,
    "segment": asked.Segment,
    "responses": asked.Responses,
    "dependencies": asked.OfRun,
    "keep": asked.Keep,
    "train": asked.Train,
}


class Asking:
    """Asks, and remembers how far jobs said they were."""

    def __init__(self, shelf):
        self.answering, self.told = Answering(shelf), []

    def tell(self, progress=None):
        self.told.append(progress)
        return False

    def __call__(self, kind, **given):
        body = BODIES[kind](**given).model_dump() if kind in BODIES else given
        return self.answering.do(kind, body, self.tell)


@pytest.fixture
def ask(trained, tmp_path):
    return Asking(Shelf(find("crafting"), {"first": trained}, tmp_path, tmp_path / "demos"))


def test_instructing(ask):
    ask.answering.warm()
    about = ask("about")
    assert (about["run"], about["demos"]["count"]) == ("first", 0)
    scene = ask("start", task=TASK, seed=3)
    assert ask("start", task="no-such-word", seed=3)["seed"] == 3
    assert ask("start", task=TASK, place="garden", seed=3)["actions"] == []
    with pytest.raises(RsgError, match="there is no place 'gardn'; did you mean garden"):
        ask("start", task=TASK, place="gardn")
    made = ask("plan", **walk_of(scene), task=TASK)
    assert (made["found"], made["right"]) == (True, True)
    assert ask("plan", **walk_of(scene), goal="mine-wood")["task"].endswith("mine-wood")
    with pytest.raises(RsgError, match="say what to do"):
        ask("plan", **walk_of(scene))
    with pytest.raises(ParseError) as wrong:
        ask("plan", **walk_of(scene), task="grab-axe then mine-wod")
    assert (wrong.value.position, wrong.value.suggestion) == (14, "mine-wood")
    with pytest.raises(RsgError, match="no run 'secnd'"):
        ask("plan", **walk_of(scene), run="secnd", task=TASK)
    assert ask("read", text="a-new-word")["terms"] == ["a-new-word"]
    after = ask("edit", **walk_of(scene), thing="agent", x=0.1, y=0.1)
    assert after["start"][:2] == [0, 0]
    assert ask("walk", **walk_of(scene) | {"actions": made["actions"]})["actions"] == made["actions"]
    assert len(ask("pictures", **walk_of(scene) | {"actions": made["actions"]})["pictures"]) == len(made["actions"]) + 1
    for move, problem in (("dwon", "did you mean down"), ([1.0], "a move has a name here")):
        with pytest.raises(RsgError, match=problem):
            ask("walk", **walk_of(scene) | {"actions": [move]})


def test_showing_teaching_and_looking(ask, tmp_path):
    assert ask("list", offset=0, limit=9, filter="") == {"count": 0, "matching": 0, "rows": []}
    assert ask("named") == {"shown": {}}
    with pytest.raises(RsgError, match="no recordings yet"):
        ask("demo", episode=0)
    scene = ask("start", task=TASK, seed=1)
    made = ask("plan", **walk_of(scene), task=TASK)
    walk = walk_of(scene) | {"actions": made["actions"]}
    assert ask("recognise", **walk)["ranked"][0]["task"] == TASK
    assert ask("recognise", **walk_of(scene))["ranked"] == []
    with pytest.raises(RsgError, match="move first"):
        ask("keep", **walk_of(scene), task=TASK)
    assert ask("keep", **walk, task=TASK) == {"episode": 0, "count": 1}
    assert ask("keep", **walk, task="grab axe, then mine wood")["count"] == 2
    cut = ask("segment", episode=0)
    assert [one["end"] for one in cut["segments"]] == [part["end"] for part in made["parts"]]
    with pytest.raises(RsgError, match="say what was done"):
        ask("segment", **walk)
    last = len(made["actions"])
    told = ask("correct", episode=0, task=None, ends=[("grab-axe", 1), ("mine-wood", last)])
    assert told["correction"]["ends"] == (("grab-axe", 1), ("mine-wood", last))
    with pytest.raises(RsgError, match="is not done by mine-wood, in that order"):
        ask("correct", episode=0, task=None, ends=[("mine-wood", last)])
    assert ask("correct", episode=1, task="fetch-wood", ends=None)["correction"]["task"] == "fetch-wood"
    rows = ask("list", offset=0, limit=9, filter="FETCH")["rows"]
    assert [(row["episode"], row["task"], row["corrected"]) for row in rows] == [(1, "fetch-wood", True)]
    assert ask("named")["shown"] == {"grab-axe": 1, "mine-wood": 1, "fetch-wood": 1}
    trained = ask("train", name="taught", with_run="first")
    assert "fetch-wood" in trained["terms"]
    shown = Store(tmp_path / "shown" / "taught")
    assert [len(demo) for demo in shown[:3]] == [1, last - 1, last]
    with pytest.raises(RsgError, match="there is a run 'taught' already"):
        ask("train", name="taught")
    run = ask("run", run="taught")
    assert {one["term"] for one in run["readings"]} == set(trained["terms"])
    found = ask("responses", **walk_of(scene), run="taught", terms=["grab-axe"])
    assert np.shape(found["values"]["grab-axe"]) == (found["rows"], found["columns"])
    assert ask("dependencies", run="taught")["terms"] == run["terms"]


def test_nothing_to_learn_from(tmp_path):
    ask = Asking(Shelf(find("crafting"), {}, tmp_path, tmp_path / "demos"))
    with pytest.raises(RsgError, match="nothing to learn from"):
        ask("train", name="empty")
    with pytest.raises(RsgError, match="no run yet"):
        ask("plan", **walk_of(ask("start", task=TASK)), task=TASK)


def test_a_world_that_tells_little(tmp_path):
    """No pictures, no things to place, no places of an agent: what is missing is a sentence."""
    (tmp_path / "halls.py").write_text("from rsg.worlds.corridor import Corridor\nHALL = Corridor()\n")
    ask = Asking(Shelf(find(f"{tmp_path / 'halls.py'}:HALL"), {}, tmp_path, tmp_path / "demos"))
    about = ask("about")
    assert (about["things"], about["positions"]) == ([], False)
    assert about["moves"]["names"] == list(Corridor.actions)
    scene = ask("start")
    assert scene["picture"] is None
    assert scene["view"]
    with pytest.raises(RsgError, match="has no things to put into it"):
        ask("edit", **walk_of(scene), thing="lamp", x=0, y=0)
