import base64
import io
import json
import signal
import time

import numpy as np
from PIL import Image
from tests.studio.conftest import TASK, walk_of

from rsg.demos import Store
from rsg.demos.corrections import Correction, corrections
from rsg.domain import find


def test_it_says_what_there_is(studio):
    about = studio.get("/about")
    assert about["domain"] == "crafting"
    assert about["run"] in [one["name"] for one in about["runs"]]
    assert {"grab-axe", "mine-wood"} <= set(about["runs"][0]["terms"])
    assert "tree" in about["things"]
    assert about["moves"]["names"] == ["up", "down", "left", "right", "toggle"]
    assert about["positions"] is True
    assert studio.get("/health")["ok"] is True


def test_a_plan_does_what_was_asked_by_the_rules_of_the_world(studio):
    for seed in range(3):
        scene = studio.post("/start", {"task": TASK, "seed": seed})
        made = studio.post("/plan", {**walk_of(scene), "task": TASK})
        assert made["found"], made["reason"]
        assert made["right"] is True
        assert [part["term"] for part in made["parts"]] == ["grab-axe", "mine-wood"]
        assert len(made["nodes"]) == len(made["actions"])
        assert [node["label"] for node in made["machine"]["nodes"]] == ["start", "grab-axe", "mine-wood", "end"]
        world = find("crafting").world(scene["setting"])  # again, without the service
        states = [np.array(scene["start"], dtype=np.uint8)]
        for name in made["actions"]:
            states.append(world.step(states[-1][None], [world.actions.index(name)])[0])
        holds = find("crafting").truth(world, np.array(states), ["grab-axe", "mine-wood"])
        assert holds[made["parts"][0]["end"], 0]
        assert holds[-1, 1]
        assert not holds[0].any()


def test_a_plan_for_a_goal_alone(studio):
    scene = studio.post("/start", {"task": "mine-wood", "goal": True, "seed": 1})
    made = studio.post("/plan", {**walk_of(scene), "goal": "mine-wood"})
    assert made["found"]
    assert made["parts"][-1]["term"] == "mine-wood"


def test_no_plan_has_a_reason(studio):
    scene = studio.post("/start", {"task": "grab-axe", "seed": 0})
    made = studio.post("/plan", {**walk_of(scene), "task": "grab-axe then grab-axe then grab-axe", "budget": 50})
    assert not made["found"]
    assert made["reason"].startswith("no plan: ")
    assert made["cost"] is None


def test_a_text_that_is_no_task_has_a_caret(studio):
    name = studio.get("/about")["run"]
    wrong = studio.post("/read", {"run": name, "text": "grab-axe then mine-wod"}, status=422)["error"]
    assert (wrong["position"], wrong["suggestion"]) == (14, "mine-wood")
    wrong = studio.post("/read", {"text": "grab-axe then"}, status=422)["error"]
    assert wrong["position"] == 13
    assert studio.post("/read", {"run": name, "text": "grab axe then mine wood"})["task"] == TASK
    assert studio.post("/read", {"text": "ring-a-new-bell"})["terms"] == ["ring-a-new-bell"]


def test_pictures_of_a_walk(studio):
    scene = studio.post("/start", {"task": TASK, "seed": 4})
    walk = {**walk_of(scene), "actions": ["up", "left", "toggle"]}
    found = studio.post("/pictures", {**walk, "first": 1, "count": 2})
    assert (found["first"], found["steps"], len(found["pictures"])) == (1, 3, 2)
    world = find("crafting").world(scene["setting"])
    state = world.step(np.array(scene["start"], dtype=np.uint8)[None], [0])[0]
    data = base64.b64decode(found["pictures"][0].removeprefix("data:image/png;base64,"))
    assert (np.asarray(Image.open(io.BytesIO(data))) == find("crafting").picture(world, state, 48)).all()
    assert studio.post("/walk", walk)["actions"] == ["up", "left", "toggle"]


def test_things_are_put_where_somebody_points_at(studio):
    scene = studio.post("/start", {"task": TASK, "seed": 4})
    world = find("crafting").world(scene["setting"])
    high = world.height / (world.height + 1)
    after = studio.post("/edit", {**walk_of(scene), "thing": "tree", "x": 0.99, "y": high - 0.01})
    cells = world.cells(np.array(after["start"], dtype=np.uint8))
    assert world.rules.names[cells[-1, -1]] == "tree"
    after = studio.post("/edit", {**walk_of(after), "thing": "agent", "x": 0.01, "y": 0.01})
    assert after["start"][:2] == [0, 0]
    held = studio.post("/edit", {**walk_of(after), "thing": "axe", "x": 0.5, "y": 0.99})
    assert "axe" in world.inventory(np.array(held["start"], dtype=np.uint8))
    emptied = studio.post("/edit", {**walk_of(held), "thing": "nothing", "x": 0.5, "y": 0.99})
    assert world.inventory(np.array(emptied["start"], dtype=np.uint8)) == ()
    wrong = studio.post("/edit", {**walk_of(held), "thing": "wall", "x": 0.5, "y": 0.99}, status=422)["error"]
    assert "cannot be held" in wrong["message"]


def test_what_was_done_is_recognised_and_cut(studio):
    scene = studio.post("/start", {"task": TASK, "seed": 5})
    made = studio.post("/plan", {**walk_of(scene), "task": TASK})
    walk = {**walk_of(scene), "actions": made["actions"]}
    seen = studio.post("/recognise", walk)
    assert seen["ranked"][0]["task"] == TASK
    assert seen["segments"] == made["parts"]
    begun = studio.post("/recognise", {**walk, "actions": made["actions"][:2], "prefix": True})
    assert begun["now"] is not None
    assert studio.post("/recognise", {**walk, "actions": [], "prefix": True})["ranked"] == []
    cut = studio.post("/segment", {**walk, "task": TASK})
    assert [(one["term"], one["end"]) for one in cut["segments"]] == [(p["term"], p["end"]) for p in made["parts"]]
    curve = cut["curves"]["grab-axe"]
    assert len(curve) == len(made["actions"]) + 1
    assert curve[0] < 0.5 < curve[made["parts"][0]["end"]]


def test_what_was_learned_can_be_looked_at(studio):
    name = studio.get("/about")["run"]
    run = studio.get(f"/runs/{name}")
    means = {one["term"]: one["means"] for one in run["readings"]}
    assert "axe" in means["grab-axe"]
    scene = studio.post("/start", {"task": "grab-axe", "seed": 0})
    found = studio.post("/responses", {**walk_of(scene), "terms": ["grab-axe"]})
    assert np.array(found["values"]["grab-axe"]).shape == (found["rows"], found["columns"])
    links = studio.post("/dependencies", {"run": name})
    assert set(links["terms"]) == set(run["terms"])
    assert any("grab-axe came before mine-wood" in one["words"] for one in links["evidence"])
    assert studio.ask("GET", "/runs/nothing")[0] == 422


def test_shown_taught_and_planned_with_at_once_and_nothing_is_lost_by_a_kill(begin, trained):
    studio, name = begin(trained), "with-a-new-word"
    for seed in range(6):
        scene = studio.post("/start", {"task": "grab-key", "seed": seed})
        made = studio.post("/plan", {**walk_of(scene), "task": "grab-key"})
        kept = studio.post("/demos", {**walk_of(scene), "actions": made["actions"], "task": "fetch-it"})
        assert (kept["episode"], kept["count"]) == (seed, seed + 1)
    told = studio.post("/train", {"name": name, "with_run": trained.parent.name, "wait": 60})
    assert {"fetch-it", "grab-axe", "mine-wood"} <= set(told["terms"])
    assert sum(fetches(studio, name, seed) for seed in range(100, 110)) >= 9
    assert "already" in studio.post("/train", {"name": name}, status=422)["error"]["message"]

    followed = training(studio, trained, "slow")
    scene = studio.post("/start", {"task": TASK, "seed": 1})  # meanwhile others are answered
    assert studio.post("/plan", {**walk_of(scene), "task": TASK})["found"]
    begun = time.monotonic()
    assert studio.post(f"/jobs/{followed}", None, "DELETE")["state"] == "cancelled"
    assert time.monotonic() - begun < 1.5
    assert "slow" not in [one["name"] for one in studio.get("/about")["runs"]]
    cut = training(studio, trained, "cut")
    studio.end(signal.SIGKILL)

    again = begin(trained)
    about = again.get("/about")
    names = [one["name"] for one in about["runs"]]
    assert about["demos"]["count"] == 6
    assert name in names
    assert "cut" not in names
    assert "cut" in about["cut_off"]
    assert again.ask("GET", f"/jobs/{cut}")[0] == 404
    assert again.post("/train", {"name": "cut", "with_run": trained.parent.name, "wait": 60})["run"] == "cut"
    assert "cut" not in again.get("/about")["cut_off"]
    code, told = again.end()
    assert code in (0, 130)
    assert "Traceback" not in told


def fetches(studio, run, seed):
    """Whether a plan for the new word gets the key, by the rules of the world."""
    scene = studio.post("/start", {"task": "grab-key", "seed": seed})
    made = studio.post("/plan", {**walk_of(scene), "run": run, "task": "fetch-it"})
    world, state = find("crafting").world(scene["setting"]), np.array(scene["start"], dtype=np.uint8)
    for move in made["actions"]:
        state = world.step(state[None], [world.actions.index(move)])[0]
    return made["found"] and bool(find("crafting").truth(world, state[None], ["grab-key"])[0, 0])


def training(studio, trained, name):
    """A training that has come so far that there is a curve; its job."""
    asked = {"name": name, "with_run": trained.parent.name, "network": True, "wait": 0}
    job = studio.post("/train", asked, status=202)["job"]
    until = time.monotonic() + 60
    while not (told := studio.get(f"/jobs/{job}?wait=1"))["progress"].get("curve"):
        assert time.monotonic() < until
    assert told["state"] == "running"
    return job


def test_a_long_search_is_cancelled_and_says_how_far_it_came(studio):
    asked = {"task": "grab-axe then grab-key then mine-wood", "seed": 0}
    scene = studio.post("/start", {**asked, "task": "grab-axe", "place": "large-field"})
    impossible = " then ".join(["grab-axe then mine-wood then grab-axe"] * 3)
    body = {**walk_of(scene), "task": impossible, "budget": 1_000_000, "wait": 0}
    job = studio.post("/plan", body, status=202)["job"]
    time.sleep(0.5)
    begun = time.monotonic()
    told = studio.post(f"/jobs/{job}", None, "DELETE")
    assert time.monotonic() - begun < 1.2
    assert told["state"] in ("cancelled", "done")


def test_who_goes_away_is_not_worked_for(studio):
    import http.client

    scene = studio.post("/start", {"task": "grab-axe", "place": "large-field", "seed": 0})
    impossible = " then ".join(["grab-axe then mine-wood then grab-axe"] * 3)
    there = http.client.HTTPConnection(studio.host)
    body = json.dumps({**walk_of(scene), "task": impossible, "budget": 1_000_000, "wait": 60})
    there.request("POST", "/plan", body, {"content-type": "application/json"})
    time.sleep(0.3)
    there.close()
    until = time.monotonic() + 2
    while studio.get("/health")["running"]:
        assert time.monotonic() < until


def test_recordings_are_listed_and_corrected(studio, trained):
    every = studio.get("/demos?limit=500")
    assert every["count"] == every["matching"] == len(every["rows"]) == 20
    some = studio.get("/demos?filter=KEY&limit=2")
    assert (some["matching"], len(some["rows"])) == (4, 2)
    number = some["rows"][0]["episode"]
    demo = studio.get(f"/demos/{number}")
    store = Store(trained.parent / "shown")
    assert (demo["task"], demo["steps"]) == (store[number].task, len(store[number]))
    last = demo["steps"]
    ends = [["grab-key", 1], ["grab-pickaxe", last]]
    assert studio.post(f"/demos/{number}", {"ends": ends}, "PUT")["correction"] == {"task": None, "ends": ends}
    assert corrections(store.folder) == {number: Correction(None, (("grab-key", 1), ("grab-pickaxe", last)))}
    assert [row["corrected"] for row in studio.get("/demos?filter=key&limit=2")["rows"]] == [True, False]
    for wrong in ([["grab-key", last]], [["grab-key", last], ["grab-pickaxe", last]], [["mine-wood", last]]):
        studio.post(f"/demos/{number}", {"ends": wrong}, "PUT", status=422)
    assert studio.post(f"/demos/{number}", {}, "PUT")["correction"] is None
    cut = studio.post("/segment", {"episode": number})
    assert cut["segments"][-1]["end"] == last
    studio.post("/segment", {"episode": 99}, status=422)


def test_the_api_is_documented(studio):
    api = studio.get("/openapi.json")
    assert {"/plan", "/recognise", "/segment", "/train", "/jobs/{name}", "/demos"} <= set(api["paths"])
    for path, ways in api["paths"].items():
        for way in ways.values():
            assert way["summary"], path


def test_another_domain(begin):
    """Without a run there is everything but what takes one."""
    name = "playroom"
    studio = begin("--world", name)
    about = studio.get("/about")
    assert (about["run"], about["runs"], about["continuous"]) == (None, [], True)
    scene = studio.post("/start", {"task": about["example"]["task"], "seed": 0})
    moved = studio.post("/walk", {**walk_of(scene), "actions": ["up", "half left"]})
    assert moved["actions"] == [[0.0, 1.0, 0.0], [-0.5, 0.0, 0.0]]
    assert studio.post("/walk", walk_of(moved))["actions"] == moved["actions"]
    places = [{"x": x / 8, "y": 0.3} for x in range(1, 8)]
    put = [studio.ask("POST", "/edit", {**walk_of(scene), "thing": "bell", **place}) for place in places]
    assert {code for code, _, _ in put} <= {200, 422}  # some of them are in a wall
    assert any(code == 200 and told["start"] != scene["start"] for code, _, told in put)
    wrong = studio.post("/plan", {**walk_of(scene), "task": about["example"]["task"]}, status=422)["error"]
    assert "no run yet" in wrong["message"]
    world = find(name).world(scene["setting"])
    there = find(name).positions(world, np.array(scene["start"]))
    assert len(there.states) == len(there.free) == there.rows * there.columns * 8
    assert 0 < there.free.mean() < 1
