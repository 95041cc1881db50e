"""Segmentation against every alignment one by one, and recognition with classifiers that know the truth."""

from dataclasses import replace
from itertools import pairwise
from math import inf
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from tests.reference import learning as reference
from tests.reference.learning import Question
from tests.reference.search import TableWorld
from tests.subgoals.oracle import CRAFTING, TableClassifiers, TrueClassifiers

from reproductions.paper.random_tasks import sample_task
from rsg.core.errors import RsgError
from rsg.core.random import stream
from rsg.demos import Demonstration
from rsg.language import Machine, parse
from rsg.search import local_graph
from rsg.subgoals import Recogniser, RsgSettings, Subgoals, propose, recognise, segment
from rsg.subgoals.classifiers import log_sigmoid
from rsg.subgoals.ground import taken_edges
from rsg.subgoals.recognition import PREFIX_DEPTH

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply"),  # the hash, uncompiled
]
SLOW = bool(numba.config.DISABLE_JIT)
TERMS = ("a", "b", "c")
TRUTH = TrueClassifiers()
TRUE = Subgoals(TRUTH)
TRAINING = list(dict.fromkeys(CRAFTING.tasks("train")))


# Against every alignment.


def random_case(rng, steps=(1, 5)):
    """A random walk in a random world with random classifiers: world, classifiers, states, actions, settings."""
    count, actions = int(rng.integers(3, 9)), int(rng.integers(2, 4))
    world = TableWorld(rng.integers(count, size=(count, actions)), rng.uniform(0.05, 1.0, size=actions))
    done = rng.integers(actions, size=rng.integers(steps[0], steps[1] + 1))
    walk = [int(rng.integers(count))]
    for action in done:
        walk.append(int(world.after[walk[-1], action]))
    settings = RsgSettings(
        depth=int(rng.integers(1, 4)),
        alpha=rng.uniform(0.3, 3.0),
        weight=rng.uniform(0.3, 2.0),
    )
    subgoals = TableClassifiers(TERMS, rng.normal(1, 4, (count, len(TERMS), 2)))
    return world, subgoals, world.rows[walk], done, settings


def random_task(rng, most=8):
    """One whose machine is small."""
    while True:
        task = sample_task("abc", int(rng.integers(3)), rng)
        if Machine.of(task).nodes <= most:
            return task


def slow_scores(case, machine, prefix):
    """Every alignment with its score, and with its weight: who goes on serving a node says that it is not true yet."""
    world, subgoals, states, actions, settings = case
    graph = local_graph(world, states, max(settings.depth, PREFIX_DEPTH) if prefix else settings.depth)
    graph = replace(graph, edge_cost=graph.edge_cost * 0.1 / world.costs.mean())  # in the unit of the paper
    odds = subgoals.evaluate(world, graph.states, subgoals.numbers([str(term) for term in machine.terms]))
    logs = log_sigmoid(odds[..., 0]), log_sigmoid(odds[..., 1])
    how = {"alpha": settings.alpha, "weight": settings.weight, "open_end": prefix}
    question = Question(graph, taken_edges(graph, actions), machine, *logs, **how)
    scores, weights = reference.all_scores(question), reference.all_scores(question._replace(at_once=True))
    return [(alignment, score, weight) for (alignment, score), (_, weight) in zip(scores, weights, strict=True)]


def test_what_actions_cost_in_another_unit_changes_nothing():
    rng = stream(0, "units")
    for _ in range(10):
        world, subgoals, states, actions, settings = random_case(rng, steps=(3, 6))
        dear = TableWorld(world.after, 8 * world.costs)
        walked, task = SimpleNamespace(states=states, actions=actions), random_task(rng)
        one, other = (Recogniser(subgoals, [task], settings).segment(where, walked, task) for where in (world, dear))
        assert one.score == pytest.approx(other.score, rel=1e-9)
        assert one.ends == other.ends


def as_segmentation(machine, alignment):
    """An alignment as (terms, ends, now)."""
    name = [str(machine.terms[term]) if term >= 0 else None for term in machine.term_of]
    crossings, acts = reference.events(alignment)
    ends = tuple((name[v], i) for i, v, _ in crossings if v > 0)
    return tuple(name[v] for _, v, _ in acts), ends, name[crossings[-1][2]]


def compare_with_all_alignments(case, task, prefix):
    """The segmentation is that of a best alignment; states may repeat, so there may be several."""
    world, subgoals, states, actions, settings = case
    machine = Machine.of(task)
    scores = slow_scores(case, machine, prefix)
    walked = SimpleNamespace(states=states, actions=actions)
    found = Recogniser(subgoals, [task], settings).segment(world, walked, task, prefix)
    assert found.task == task
    if not scores:
        assert (found.score, found.terms, found.ends, found.now) == (-inf, (), (), None)
        return found
    value = max(score for _, score, _ in scores)
    assert found.score == pytest.approx(value, rel=1e-10, abs=1e-10)
    order = sorted(scores, key=lambda one: -one[2])
    most = order[0][2]
    best = [as_segmentation(machine, alignment) for alignment, _, weight in order if weight > most - 1e-9]
    assert (found.terms, found.ends, found.now) in best
    check_how_sure(found, [(as_segmentation(machine, one), np.exp(weight - most)) for one, _, weight in order])
    return found


def check_how_sure(found, ways):
    """Against the sum over all alignments, the likeliest first, and against the one that comes second."""
    whole = sum(weight for _, weight in ways)
    for end, sure in zip(found.ends, found.sure, strict=True):
        share = sum(weight for (_, ends, _), weight in ways if end in ends) / whole
        assert sure == pytest.approx(share, rel=1e-7, abs=1e-9)
    if len(ways) == 1 or ways[1][1] == 0.0:
        assert found.odds == pytest.approx(0.0)
        return
    assert found.odds == pytest.approx(ways[1][1], rel=1e-7)
    tied = ways if ways[1][1] == pytest.approx(1.0, rel=1e-7) else ways[1:]
    assert found.second in [ends for (_, ends, _), weight in tied if weight == pytest.approx(ways[1][1], rel=1e-7)]


@pytest.mark.parametrize("prefix", [False, True])
def test_segmentation_is_the_best_of_all_alignments(prefix):
    rng = stream(0, "segmentation", int(prefix))
    impossible, ends = 0, 0
    for _ in range(5 if SLOW else 100):
        found = compare_with_all_alignments(random_case(rng), random_task(rng), prefix)
        impossible += found.score == -inf
        ends += len(found.ends)
    assert SLOW or (impossible > 0) == (not prefix)
    assert SLOW or ends >= (5 if prefix else 60)


def test_before_the_first_step():
    rng = stream(0, "nothing yet")
    for _ in range(10):
        case = random_case(rng, steps=(0, 0))
        found = compare_with_all_alignments(case, random_task(rng), True)
        assert (found.terms, found.ends) == ((), ())
        assert found.now in TERMS


@pytest.mark.parametrize("prefix", [False, True])
def test_ranking_is_that_of_the_scores(prefix):
    """Probabilities sum to one and fall; scores are those of `segment`; a finished one gains from what it names."""
    rng = stream(0, "ranking", int(prefix))
    for case_number in range(3 if SLOW else 40):
        case = random_case(rng)
        world, subgoals, states, actions, settings = case
        tasks = list({str(task): task for task in (random_task(rng) for _ in range(12))}.values())
        specific = [0.0, 0.5][case_number % 2]
        recogniser = Recogniser(subgoals, tasks, settings, specific)
        walked = SimpleNamespace(states=states, actions=actions)
        ranking = recogniser.rank(world, walked, prefix)
        assert sorted(str(one.task) for one in ranking) == sorted(map(str, tasks))
        alone = [recogniser.segment(world, walked, one.task, prefix) for one in ranking]
        for one, own in zip(ranking, alone, strict=True):
            assert one.score == own.score or one.score == pytest.approx(own.score, rel=1e-12, abs=1e-12)
        chances = [one.probability for one in ranking]
        bonus = [0 if prefix else specific * len(own.ends) for own in alone]
        weights = np.exp([one.score + more for one, more in zip(ranking, bonus, strict=True)])
        assert all(before >= after for before, after in pairwise(chances))
        if ranking[0].score == -inf:
            assert not any(chances)
            continue
        assert sum(chances) == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(chances, weights / weights.sum(), rtol=1e-9, atol=1e-12)


def test_recognise_is_one_recogniser():
    case = random_case(stream(0, "one"), steps=(4, 4))
    world, subgoals, states, actions, _ = case
    texts = ["a then b", "b", "c or a"]
    walked = Demonstration(states, actions, "")
    one = recognise(world, walked, texts, Subgoals(subgoals))
    same = Recogniser(subgoals, [parse(text) for text in texts]).rank(world, walked)
    assert [(str(x.task), x.score, x.probability) for x in one] == [(str(x.task), x.score, x.probability) for x in same]


def test_a_task_and_its_own_ending_explain_about_the_same_and_people_mean_the_longer():
    demo, world = shown("grab-axe then mine-wood")
    texts = ["mine-wood", "grab-axe then mine-wood"]
    plain = Recogniser(TRUTH, texts, specific=0.0).rank(world, demo)
    assert abs(plain[0].score - plain[1].score) < 0.1
    assert abs(plain[0].probability - 0.5) < 0.03
    first = Recogniser(TRUTH, texts).rank(world, demo)[0]
    assert str(first.task) == "grab-axe then mine-wood"
    assert first.probability > 0.6


# With the truth.


def shown(text, seed=0, split="train"):
    """A demonstration of a task, and its world."""
    number = CRAFTING.tasks(split).index(text)
    demo, _ = CRAFTING.demonstrate(split, number, stream(seed, "recognition", text))
    return demo, CRAFTING.world(demo.setting)


def test_the_truth_recognises_what_was_done():
    """98 % at least: a trajectory may do another task on its way."""
    texts = TRAINING[::8] if SLOW else TRAINING
    recogniser = Recogniser(TRUTH, texts)
    right = []
    for text in texts:
        demo, world = shown(text)
        right.append(str(recogniser.rank(world, demo)[0].task) == text)
    assert len(TRAINING) == 48
    assert np.mean(right) >= 0.98


def test_the_truth_recognises_novel_tasks():
    texts = CRAFTING.tasks("novel")[: 2 if SLOW else None]
    recogniser = Recogniser(TRUTH, texts)
    right = []
    for text in texts:
        demo, world = shown(text, split="novel")
        right.append(str(recogniser.rank(world, demo)[0].task) == text)
    assert all(right)


def test_each_subgoal_was_false_where_its_part_began_and_true_where_it_ended():
    for text in TRAINING[::8] if SLOW else TRAINING:
        demo, world = shown(text, seed=1)
        found = segment(world, demo, text, TRUE)
        assert found.now is None
        assert len(found.terms) == len(demo)
        begun = 0
        for term, end in found.ends:
            true = CRAFTING.truth(world, demo.states, [term])[:, 0]
            assert not true[begun]
            assert true[end]
            assert set(found.terms[begun:end]) == {term}
            begun = end
        assert begun == len(demo)


CHAINS = [text for text in TRAINING if " then " in text and " and " not in text and " or " not in text]


def test_prefixes_say_what_is_done_now():
    """Cut anywhere within a part: the parts before it are done, and it is what they are doing."""
    for text in CHAINS[:2] if SLOW else CHAINS:
        demo, world = shown(text, seed=2)
        whole = segment(world, demo, text, TRUE)
        for k in range(1, len(demo)):
            if k in dict(whole.ends).values():
                continue  # here one part ends and the next has no step yet
            found = segment(world, demo.first(k), text, TRUE, prefix=True)
            assert found.now == whole.terms[k]
            assert found.terms == whole.terms[:k]
            assert found.ends == tuple(end for end in whole.ends if end[1] < k)


def test_prefixes_rank_what_was_begun_first():
    """Once the axe is in the hands, it is not the task that begins with something else."""
    demo, world = shown("grab-axe then mine-wood")
    reached = segment(world, demo, None, TRUE).ends[0][1]
    texts = ["mine-coal then grab-axe", "grab-key then mine-wood", "grab-axe then mine-wood", "grab-axe then grab-axe"]
    k = reached + 1
    ranking = recognise(world, demo.first(k), texts, TRUE, prefix=True)
    assert str(ranking[0].task) == "grab-axe then mine-wood"
    assert sum(one.probability for one in ranking) == pytest.approx(1.0)
    assert all(np.isfinite(one.score) for one in ranking)  # none needs to be done yet


# Proposals.


def test_proposals_contain_what_was_done():
    for text in TRAINING[::8] if SLOW else TRAINING:
        demo, world = shown(text, seed=3)
        done = segment(world, demo, text, TRUE).ends
        proposed = [str(task) for task in propose(TRUTH, world, demo.states)]
        assert len(set(proposed)) == len(proposed)
        assert " then ".join(term for term, _ in done) in proposed


def test_without_candidates_proposals_are_ranked():
    demo, world = shown("grab-axe then mine-wood")
    ranking = recognise(world, demo, None, TRUE)
    proposed = propose(TRUTH, world, demo.states)
    assert {str(one.task) for one in ranking} == {str(task) for task in proposed}
    assert str(ranking[0].task) == "grab-axe then mine-wood"
    assert sum(one.probability for one in ranking) == pytest.approx(1.0)


def test_what_comes_true_at_once_is_not_put_in_an_order():
    world = TableWorld([[1], [2], [2]], [1.0])
    holds = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 1]])  # first a, then b and c together
    subgoals = TableClassifiers(TERMS, np.stack([8.0 * (2 * holds - 1), 8.0 * (1 - 2 * holds)], axis=-1))
    assert {str(task) for task in propose(subgoals, world, world.rows)} == {"b", "c", "a then b", "a then c"}


# What does not fit.


def test_nothing_comes_true():
    demo, world = shown("grab-axe")
    with pytest.raises(RsgError, match="no subgoal comes true in this trajectory; give candidates"):
        propose(TRUTH, world, demo.states[:1])
    with pytest.raises(RsgError, match="no subgoal comes true"):
        recognise(world, demo.first(1), None, TRUE)


def test_mistakes_are_one_sentence():
    demo, world = shown("grab-axe")
    with pytest.raises(RsgError, match="there are no candidates to choose from"):
        recognise(world, demo, [], TRUE)
    with pytest.raises(RsgError, match=r"never learned the term 'mine-wod'; did you mean mine-wood\?"):
        segment(world, demo, "mine-wod", TRUE)
    with pytest.raises(RsgError, match=r"a demonstration of . steps has no first 0"):
        demo.first(0)
    other = np.where(demo.actions == 4, 0, 4)
    with pytest.raises(RsgError, match=r"is not one of this world: action . leads elsewhere"):
        segment(world, Demonstration(demo.states, other, ""), "grab-axe", TRUE)
