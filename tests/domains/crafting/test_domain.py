import numpy as np
import pytest
from tests.language.test_machine import paper_tasks

from rsg.core.errors import ParseError, RsgError
from rsg.core.random import stream
from rsg.demos import Recipe
from rsg.domain import domain_of, find
from rsg.domains.crafting import VOCABULARY, CraftingWorld, truth
from rsg.domains.crafting.domain import Crafting, custom_task
from rsg.domains.crafting.expert import MAX_STEPS, expert
from rsg.domains.crafting.maps import KINDS
from rsg.domains.crafting.tasks import COMPOSITIONAL, PRIMITIVE
from rsg.language import parse, satisfies

SPLITS = ("primitive", "compositional", "novel", "goal-only")
source = Crafting()


@pytest.mark.parametrize("split", SPLITS)
def test_the_tasks_are_the_papers(split):
    expected = [text for name, text in paper_tasks() if name == f"crafting {split}"]
    assert source.tasks(split) == expected
    assert source.tasks("train") == source.tasks("primitive") + source.tasks("compositional")


def judge(demo, limit=MAX_STEPS):
    """Replay a demonstration and judge it by the definition."""
    world = source.world(demo.setting)
    assert np.array_equal(world.step(demo.states[:-1], demo.actions), demo.states[1:])
    task = parse(demo.task)
    terms = [str(term) for term in task.terms()]
    assert satisfies(truth(world, demo.states, terms), task, terms)
    assert 1 <= len(demo) <= limit


@pytest.mark.parametrize("split", SPLITS)
def test_every_demonstration_does_what_it_says(split):
    for task in range(len(source.tasks(split))):
        for i in range(4):
            demo, draws = source.demonstrate(split, task, stream(1, split, task, i))
            judge(demo)
            assert draws >= 1


def test_demonstrations_with_noise_still_do_the_task():
    plain, noisy = [], []
    for task in range(0, len(source.tasks("train")), 3):
        for i in range(3):
            plain.append(len(source.demonstrate("train", task, stream(2, task, i))[0]))
            demo, _ = source.demonstrate("train", task, stream(2, task, i), noise=0.3)
            judge(demo, limit=2 * MAX_STEPS / 0.7)
            noisy.append(len(demo))
    assert np.mean(noisy) > 1.2 * np.mean(plain)
    judge(source.demonstrate("novel", 4, stream(2), noise=0.2)[0], limit=2 * MAX_STEPS / 0.8)  # the longest task


def test_starts_are_what_the_paper_says():
    for split in SPLITS:
        for number, spec in enumerate(source.splits[split]):
            for i in range(10):
                world, state = source.start_of(split, number, stream(3, split, number, i))
                held = world.inventory(state)
                terms = [str(term) for term in parse(spec.text).terms()]
                produced = {term.partition("-")[2] for term in terms}
                given = [g for g in spec.given if set(g) <= set(held)]
                assert given, "all that the task takes for granted is in the hands"
                extra = list(held)
                for item in given[0]:
                    extra.remove(item)
                if len(spec.given) == 1:
                    assert not set(extra) & produced, "random items are never what the task produces"
                size = 7 if split == "goal-only" else 6
                assert (world.height, world.width, world.capacity) == (size, size, 6)
                limit = {"novel": 23, "goal-only": 30}.get(split, 8)
                assert np.count_nonzero(world.cells(state)) <= limit


def test_a_switch_must_be_toggled_where_a_door_bars_the_way():
    """No key in the hands where the switch is to be used."""
    for i in range(50):
        world, state = source.start_of("novel", 6, stream(4, i))
        assert not {"key", "boat"} & set(world.inventory(state))


def test_primitive_tasks_begin_with_what_one_rule_needs():
    by_text = {spec.text: spec for spec in PRIMITIVE}
    assert by_text["grab-axe"].given == ((),)
    assert by_text["mine-wood"].given == (("axe",),)
    assert set(by_text["craft-shears"].given) == {("iron-ingot",), ("gold-ingot",)}
    assert by_text["craft-arrow"].given == (("stick", "feather"),)
    assert len(COMPOSITIONAL) == len(PRIMITIVE) == 26


def test_the_expert_takes_a_shortest_way_and_breaks_ties_at_random():
    world = CraftingWorld(3, 3)
    state = world.state({(2, 2): "axe"}, agent=(0, 0))
    walks = {tuple(expert(world, state, "grab-axe", stream(i))[1].tolist()) for i in range(100)}
    assert {len(walk) for walk in walks} == {5}
    assert len(walks) == 6  # four moves, two of each kind, in any order
    state = world.state({(0, 2): "axe", (2, 0): "axe"}, agent=(0, 0))
    ends = {tuple(expert(world, state, "grab-axe", stream(i))[0][-1, :2].tolist()) for i in range(30)}
    assert ends == {(0, 2), (2, 0)}


def test_the_expert_prefers_the_shorter_branch():
    world = CraftingWorld(1, 6)
    state = world.state({(0, 1): "key", (0, 5): "axe"}, agent=(0, 2))
    for seed in range(10):
        _, actions = expert(world, state, "grab-axe or grab-key", stream(seed))
        assert actions.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("objects", "held", "task"),
    [
        ({}, [], "grab-axe"),
        ({(0, 1): "axe"}, ["axe"], "grab-axe"),  # true from the start
        ({(0, 1): "wall", (0, 2): "axe"}, [], "grab-axe"),
        ({(0, 1): "tree"}, [], "mine-wood"),
        ({(0, 1): "axe"}, ["key"] * 6, "grab-axe"),  # no room
    ],
)
def test_what_cannot_be_done_is_not_demonstrated(objects, held, task):
    world = CraftingWorld(1, 3)
    assert expert(world, world.state(objects, inventory=held), task, stream(0)) is None


def test_a_task_of_ones_own(tmp_path):
    own = Crafting([custom_task("toggle-switch then grab-key or mine-coal")])
    demo, _ = own.demonstrate("custom", 0, stream(0))
    judge(demo)
    (tmp_path / "my.txt").write_text("map:\n@.T\n")
    own = Crafting([custom_task("grab-axe then mine-wood", str(tmp_path / "my.txt"))])
    with pytest.raises(RsgError, match=r"'grab-axe then mine-wood' was found in 1 start; the map lacks: axe"):
        own.demonstrate("custom", 0, stream(0))
    (tmp_path / "my.txt").write_text("map:\n@aT\n")
    own = domain_of(Recipe("crafting", "custom", 1, tasks=("grab-axe then mine-wood",), map=str(tmp_path / "my.txt")))
    with pytest.raises(RsgError, match="lacks"):  # read once in this process, like every map
        own.demonstrate("custom", 0, stream(0))


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: source.tasks("tset"), "no split 'tset'; splits are: train"),
        (lambda: find("mars"), "no world 'mars'"),
        (lambda: custom_task("mine-wod"), "did you mean mine-wood"),
        (lambda: custom_task("mine-wood", "smithy"), "can hold what the task needs: tree"),
        (lambda: custom_task("mine-wood", "smity"), "did you mean smithy"),
        (lambda: source.world("{}"), "not a setting of Crafting World"),
        (lambda: Recipe("crafting", "train", 0), "per-task must be at least 1"),
        (lambda: Recipe("crafting", "train", 1, noise=1.0), "noise is a share"),
    ],
)
def test_bad_input(call, problem):
    with pytest.raises((RsgError, ParseError), match=problem):
        call()


def test_settings_give_the_world_back():
    world = CraftingWorld(7, 5, 3, objects=12)
    assert source.world(source.setting_of(world)) == world
    assert set(source.vocabulary) == set(VOCABULARY)
    assert all(kind in KINDS for spec in source.splits["novel"] for kind in spec.maps)


@pytest.mark.kernels
def test_walks_are_as_short_as_a_breadth_first_search_finds():
    """The expert's walk to one subgoal against search over true states, without other toggles on the way."""
    for seed in range(15):
        world, state = source.start_of("compositional", 21, stream(seed, "walk"))  # grab-axe then mine-wood
        found = expert(world, state, "grab-axe", stream(seed))
        assert (None if found is None else len(found[1])) == shortest(world, state, "grab-axe")


def shortest(world, state, term):
    seen, frontier, steps = {state.tobytes()}, [state], 0
    while frontier:
        steps += 1
        after = []
        for now in frontier:
            for action in range(5):
                next_state = world.step(now[None], [action])[0]
                if truth(world, next_state[None], [term])[0, 0]:
                    return steps
                if action < 4 and next_state.tobytes() not in seen:
                    seen.add(next_state.tobytes())
                    after.append(next_state)
        frontier = after
    return None


def test_necessity_of_instructions():
    """On maps made for an obstacle, no step of the instruction can be left out (a slice of the benchmark)."""
    from benchmarks.bench_necessity import run

    figures = run(maps=2)
    for number, text in enumerate(source.tasks("novel")):
        for term, row in figures[text].items():
            if number not in (2, 3):  # open fields, where a bowl or shears can be had in another way too
                assert row["needed"] == 2, (text, term, row)
