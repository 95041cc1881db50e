import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from tests.subgoals.oracle import TrueClassifiers

from rsg.cli.main import main
from rsg.core.errors import RunError
from rsg.demos import Recipe
from rsg.domain import find, make_demonstrations
from rsg.domains.crafting import CraftingWorld
from rsg.domains.crafting.costs import COST_MAP, COST_TASK, cost_maps, cost_picture
from rsg.domains.crafting.text import read_map
from rsg.evaluation.films import plan_film
from rsg.evaluation.report import open_run, write_report
from rsg.evaluation.report_results import (
    Sizes,
    follow_demonstration,
    measure,
    percent,
    plan_novel_task,
    unseen_success,
)
from rsg.subgoals import RsgSettings, Subgoals, learn, untrained

source = find("crafting")
ORACLE = SimpleNamespace(goals=source.true_goals, goals_with_i=source.true_goals)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a small run."""
    folder = tmp_path_factory.mktemp("report")
    store = make_demonstrations(Recipe("crafting", "train", 2), folder / "demos")
    settings = RsgSettings(encoder="sets", steps=12, batch=8, check_every=4, curriculum=4, rate=0.02)
    made_by = {"world": "crafting", "demos": str(store.folder)}
    learn(store, lambda demo: source.world(demo.setting), folder / "run", settings, tensorboard=False, source=made_by)
    return folder / "run"


@pytest.fixture(scope="module")
def page(run):
    """Results, and the report about them."""
    opened = open_run(run)
    results = measure(opened.source, opened.learned, Sizes(1, 2, 1), seed=5)
    results["rsg"]["compositional"]["success"] = 0.8761  # figures that are nowhere else
    results["rsg"]["novel"].update(success=0.6543, success_lenient=0.7654, success_interval=[0.6111, 0.7222])
    path = write_report(run.parent / "page" / "report.html", opened, results, "rsg report <run> & more")
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    return results, path.read_text()


def images(text):
    found = re.findall(r'src="data:image/(\w+);base64,([^"]*)"', text)
    return [(kind, Image.open(BytesIO(b64decode(data)))) for kind, data in found]


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_it_needs_nothing_else(page):
    text = page[1]
    assert "://" not in text
    assert not re.search(r"<(script|link|iframe|object|embed)|@import|url\((?!#)", text)
    assert all(source.startswith("data:image/") for source in re.findall(r'src="([^"]*)', text))
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)', text))


def test_it_is_well_formed(page):
    text = page[1]
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    drawings = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    assert len(drawings) == 3
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    assert "#01020" not in text  # the page's own colours stand in the place of these
    assert "prefers-color-scheme: dark" in text


def test_all_pictures_decode(page):
    found = images(page[1])
    kinds = [kind for kind, _ in found]
    assert kinds.count("gif") == 1
    assert kinds.count("png") >= 5
    for kind, picture in found:
        assert picture.format == kind.upper()
        picture.load()


def test_all_sections_are_there(page):
    text = page[1]
    titles = ["Training", "What it learned", "Cost-to-go", "A plan for a novel task", "Details"]
    assert re.findall(r"<h2>(.*?)</h2>", text) == titles


def test_the_figures_are_those_given(run, page):
    results, text = page
    for figure in ("87.6 %", "65.4 %", "76.5 %", "[61.1, 72.2]", "99.6 %", "97.8 %", "17 h", "4.7 s", "seed 5"):
        assert figure in text
    rate, known = unseen_success(results)
    assert known == ["mine-sugar-cane then craft-paper"]
    assert percent(rate) in text
    for split in ("compositional", "novel"):
        for row in results["rsg"][split]["tasks"]:
            assert row["task"] in text
    opened = open_run(run)
    assert opened.about["data"] in text
    assert f"{opened.notes['best']:.3f} at step {opened.notes['best_step']}" in text
    assert all(f"<td>{key}</td>" in text for key in opened.about["settings"])
    assert "rsg report &lt;run&gt; &amp; more" in text


def test_results_are_plain(page):
    results = page[0]
    assert json.loads(json.dumps(results)) == results
    assert results["untrained"]["novel"]["episodes"] == len(source.tasks("novel"))
    assert find("crafting").published["rsg"] == (0.996, 0.978, 61200.0, 4.6962)
    assert "gail" not in find("playroom").published


def test_a_demonstration_is_followed(run):
    opened = open_run(run)
    shown = follow_demonstration(source, opened.learned)
    assert shown.segments[0].start == 0
    assert shown.segments[-1].end == len(shown.demo)
    assert {part.term for part in shown.segments} == set(shown.terms)
    assert shown.responses.shape == shown.truth.shape == (len(shown.demo) + 1, len(shown.terms))
    assert len(shown.demo) in shown.turns(shown.terms.index(shown.segments[-1].term))


def test_costs_with_true_subgoals_are_distances():
    world, state = read_map(COST_MAP)
    maps = cost_maps(world, state, COST_TASK, ORACLE, RsgSettings())
    assert [shown.term for shown in maps] == COST_TASK.split(" then ")
    assert [shown.path[-1] for shown in maps] == [(1, 2), (1, 6), (5, 3)]
    assert [world.inventory(shown.state) for shown in maps] == [(), ("axe",), ("wood", "axe")]
    steps = [len(shown.path) - 1 for shown in maps]
    for number, shown in enumerate(maps):
        assert shown.cost[shown.path[0]] == pytest.approx(0.1 * sum(steps[number:]))
        assert np.isnan(shown.cost[0, 4])  # a wall
        assert shown.range[0] == pytest.approx(shown.cost[shown.path[-1]])
    assert Image.open(BytesIO(cost_picture(maps[0]))).format == "PNG"


def test_a_plan_with_true_subgoals():
    world, plan, verdict = plan_novel_task(source, Subgoals(TrueClassifiers()))
    assert verdict.ok
    assert plan.parts[-1].end == len(plan.actions)
    film = Image.open(BytesIO(plan_film(source, world, plan)))
    assert film.n_frames == len(plan.actions) + 1


def test_no_plan_is_one_frame():
    world, lost, _ = plan_novel_task(source, Subgoals(untrained(source.vocabulary, CraftingWorld())))
    assert not lost.found
    assert Image.open(BytesIO(plan_film(source, world, lost))).n_frames == 1


def test_a_run_without_a_world(run, tmp_path):
    demos = [source.demonstrate("primitive", 0, np.random.default_rng(i))[0] for i in range(10)]
    learn(
        demos, source.world(demos[0].setting), tmp_path / "run", RsgSettings(encoder="sets", steps=1), tensorboard=False
    )
    with pytest.raises(RunError, match="which world"):
        open_run(tmp_path / "run")


def test_the_command(run, tmp_path, capsys):
    def said(*words):
        with pytest.raises(SystemExit) as stop:
            main(["report", str(run), *words])
        return stop.value.code, *capsys.readouterr()

    page = tmp_path / "page.html"
    assert f"the report is in {page}" in said("--out", str(page), "--per-task", "1")[1]
    assert json.loads(said("--per-task", "1", "--json")[1])["report"] == str(run / "report.html")
    assert (run / "report.html").exists()
    assert "must end in .html" in said("--out", str(tmp_path / "page.pdf"))[2]
    assert said("--per-task", "0")[::2] != (0, "")
