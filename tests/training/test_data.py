"""Which demonstrations come when: it follows from the seed and the step, however they are stored and cached."""

import numpy as np
import pytest
from tests.training.examples import quick, small_demos, small_store

import rsg.demos.store as stores
from rsg.core.errors import ParseError, RsgError, StoreError
from rsg.demos import Demonstration, Store
from rsg.language import Machine, parse
from rsg.training import TrainingData
from rsg.training.data import Kept, least_steps, machine_of

DEMOS = small_demos()


def numbered(count, task="a", steps=2):
    """Demonstrations that are told apart by their first number."""
    tasks = [task] if isinstance(task, str) else task
    return [
        Demonstration(np.full((steps + 1, 1), i), np.zeros(steps, int), tasks[i % len(tasks)]) for i in range(count)
    ]


def numbers(demos):
    return [int(demo.states[0, 0]) for demo in demos]


def positions(batch):
    """Where the demonstrations of a batch are in the small set, which holds none twice."""
    return [DEMOS.index(demo) for demo in batch]


# ---- batches


def test_no_demonstration_comes_twice_before_all_have_come():
    data = TrainingData(numbered(23), quick(batch=4, curriculum=0, held_out=0))
    seen = [number for step in range(23) for number in numbers(data.batch(step))]
    epochs = [seen[start : start + 23] for start in range(0, len(seen), 23)]
    assert len(epochs) == 4
    assert all(sorted(epoch) == list(range(23)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 4  # each in an order of its own


def test_a_batch_follows_from_its_step_alone():
    settings = quick(batch=5, curriculum=6)
    data = TrainingData(DEMOS, settings)
    straight = [positions(data.batch(step)) for step in range(30)]
    for step in (29, 3, 17, 6, 5, 0, 17):
        assert positions(data.batch(step)) == straight[step]
        assert positions(TrainingData(DEMOS, settings).batch(step)) == straight[step]
    other = TrainingData(DEMOS, quick(batch=5, curriculum=6, seed=1))
    assert [positions(other.batch(step)) for step in range(30)] != straight


def test_the_curriculum_holds_single_terms_only():
    data = TrainingData(DEMOS, quick(batch=16, curriculum=20))
    early = [demo for step in range(20) for demo in data.batch(step)]
    assert all(Machine.of(parse(demo.task)).nodes == 3 for demo in early)
    late = [demo for step in range(20, 40) for demo in data.batch(step)]
    assert any(Machine.of(parse(demo.task)).nodes > 3 for demo in late)
    # After the curriculum a new round begins, in which each of them comes once.
    learn = len(data.learn)
    places = [place for step in range(20, 20 + learn // 16) for place in positions(data.batch(step))]
    assert len(set(places)) == len(places)


def test_without_single_terms_there_is_no_curriculum():
    data = TrainingData(numbered(12, "a then b"), quick(batch=4, curriculum=5, held_out=0))
    straight = TrainingData(numbered(12, "a then b"), quick(batch=4, curriculum=0, held_out=0))
    assert [numbers(data.batch(step)) for step in range(6)] == [numbers(straight.batch(step)) for step in range(6)]


def test_a_batch_may_be_larger_than_the_set():
    data = TrainingData(numbered(3), quick(batch=10, curriculum=0, held_out=0))
    batch = numbers(data.batch(0))
    assert len(batch) == 10
    assert sorted(batch[:3]) == sorted(batch[3:6]) == sorted(batch[6:9]) == [0, 1, 2]


# ---- what is held out


def test_what_is_held_out_is_never_trained_on():
    settings = quick(batch=10, curriculum=5, held_out=20)
    data = TrainingData(DEMOS, settings)
    kept = set(data.held_out.tolist())
    assert len(kept) == 20
    assert sorted([*data.held_out, *data.learn]) == list(range(len(DEMOS)))
    steps = 5 + 2 * len(DEMOS) // 10
    assert not kept & {place for step in range(steps) for place in positions(data.batch(step))}
    batches = data.held_out_batches()
    assert [len(batch) for batch in batches] == [10, 10]
    assert {place for batch in batches for place in positions(batch)} == kept
    assert set(TrainingData(DEMOS, quick(held_out=20, seed=1)).held_out.tolist()) != kept


def test_at_most_a_tenth_is_held_out():
    data = TrainingData(numbered(57), quick(held_out=1000, batch=4))
    assert len(data.held_out) == 5
    assert len(data) == 57
    few = TrainingData(numbered(9), quick(held_out=1000, batch=4))
    assert (len(few.held_out), len(few.learn)) == (0, 9)
    assert [numbers(batch) for batch in few.held_out_batches()] == [[0, 1, 2, 3]]  # the score needs something


# ---- where they are stored


def test_a_store_and_a_list_give_the_same(tmp_path):
    settings = quick(batch=7, curriculum=3)
    store = small_store(tmp_path / "store")
    one, other = TrainingData(store, settings), TrainingData(DEMOS, settings)
    assert one.descriptions == other.descriptions == tuple(dict.fromkeys(demo.task for demo in DEMOS))
    assert one.held_out_batches() == other.held_out_batches()
    for step in (0, 2, 3, 50):
        assert one.batch(step) == other.batch(step)


def test_what_was_used_last_is_kept(monkeypatch):
    monkeypatch.setattr("rsg.training.data.CACHE", 2)
    kept = Kept(str.upper, len)
    assert [kept.of(key) for key in "abac"] == list("ABAC")
    assert dict(kept) == {"a": "A", "c": "C"}


def test_the_cache_is_bounded_and_nothing_is_mixed_up(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "SHARD_EPISODES", 25)
    store = small_store(tmp_path / "store")
    assert len(store.manifest.shards) == 13
    monkeypatch.setattr("rsg.training.data.CACHE", 0.1 * 2**20)
    settings = quick(batch=16, curriculum=2)
    data = TrainingData(store, settings)
    largest = 0
    for step in range(25):
        assert data.batch(step) == TrainingData(DEMOS, settings).batch(step)
        held = [sum(d.states.nbytes + d.actions.nbytes for d in demos) for demos in data.cache.values()]
        largest = max(largest, sum(held))
        assert 1 <= len(data.cache) < 13
    assert 0 < largest <= 0.1 * 2**20
    monkeypatch.setattr("rsg.training.data.CACHE", 1)
    assert len(TrainingData(store, settings).cache) == 1
    assert [data[i] for i in range(len(DEMOS))] == list(DEMOS)


def test_a_shard_is_read_once_while_there_is_room(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "SHARD_EPISODES", 50)
    store, reads = small_store(tmp_path / "store"), []
    read = Store.read_shard
    monkeypatch.setattr(Store, "read_shard", lambda self, shard: reads.append(shard.index) or read(self, shard))
    data = TrainingData(store, quick())
    for step in range(20):
        data.batch(step)
    assert sorted(reads) == list(range(7))


def test_at_most_so_many_of_each_task():
    data = TrainingData(DEMOS, quick(held_out=10), per_task=2)
    texts = [demo.task for demo in DEMOS]
    first = [number for number, text in enumerate(texts) if texts[:number].count(text) < 2]
    assert sorted([*data.held_out, *data.learn]) == first
    assert len(data) == len(first) == 2 * len(set(texts))
    assert len(TrainingData(DEMOS, quick(), per_task=1000)) == len(DEMOS)


def test_the_fingerprint_tells_all_that_is_trained_on_apart(tmp_path):
    settings = quick()
    own = TrainingData(DEMOS, settings).fingerprint
    assert TrainingData(list(DEMOS), settings).fingerprint == own
    store = small_store(tmp_path / "store")
    assert TrainingData(store, settings).fingerprint == TrainingData(Store(tmp_path / "store"), settings).fingerprint
    demo = DEMOS[0]
    changed = demo.states.copy()
    changed[-1, 0] ^= 1
    actions = demo.actions.copy()
    actions[-1] = (actions[-1] + 1) % 5
    others = [
        Demonstration(changed, demo.actions, demo.task, demo.setting),
        Demonstration(demo.states, actions, demo.task, demo.setting),
        Demonstration(demo.states, demo.actions, "toggle-switch", demo.setting),
        Demonstration(demo.states, demo.actions, demo.task, demo.setting.replace("6", "7", 1)),
    ]
    prints = [TrainingData([other, *DEMOS[1:]], settings).fingerprint for other in others]
    prints += [TrainingData(DEMOS[1:], settings).fingerprint, TrainingData(DEMOS[::-1], settings).fingerprint]
    prints.append(TrainingData(DEMOS, settings, per_task=3).fingerprint)
    assert len({own, *prints}) == 1 + len(prints)


# ---- what cannot be used


@pytest.mark.parametrize("per_task", [0, -3])
def test_some_of_each_task_are_needed(per_task):
    with pytest.raises(RsgError, match=f"per-task must be at least 1, not {per_task}"):
        TrainingData(DEMOS, quick(), per_task)


def test_nothing_to_learn_from(tmp_path):
    with pytest.raises(RsgError, match="there are no demonstrations to learn from"):
        TrainingData([], quick())
    with pytest.raises(RsgError, match="no demonstrations"):
        TrainingData(Store.create(tmp_path / "empty", "crafting"), quick())


def test_more_subgoals_than_steps():
    demos = [*numbered(4, "a"), *numbered(1, "a then b then c", steps=2)]
    with pytest.raises(RsgError, match="episode 4 has 2 steps, but 'a then b then c' takes 3: one per subgoal"):
        TrainingData(demos, quick())
    TrainingData([*numbered(4, "a"), *numbered(1, "a then b or c", steps=2)], quick())


def test_a_description_that_is_none():
    with pytest.raises(
        ParseError, match=r"^episode 1 is described as 'a then': .*; remove it, or mend its description\n"
    ):
        TrainingData(numbered(3, ["a", "a then"]), quick())


def test_all_impossible_descriptions_are_named_at_once():
    with pytest.raises(RsgError) as error:
        TrainingData(numbered(40, ["a", "a then", "a", "a then b then c then d then e then f"]), quick())
    told = str(error.value).splitlines()[0]
    assert [f"episode {number} " in told for number in range(8)] == [False, True] * 4
    last = "episode 39 has 2 steps, but 'a then b then c then d then e then f' takes 6: one per subgoal; "
    assert told.endswith(f"{last}remove them, or mend their descriptions")


def test_a_trajectory_of_one_state():
    with pytest.raises(RsgError, match="at least one action"):
        Demonstration(np.zeros((1, 4)), np.zeros(0, int), "a")


def test_damage_is_told_at_once(tmp_path):
    store = small_store(tmp_path / "store")
    shard = tmp_path / "store" / store.manifest.shards[0].file
    shard.write_bytes(shard.read_bytes()[:-50])
    with pytest.raises(StoreError, match="is damaged"):
        TrainingData(store, quick())


@pytest.mark.parametrize(
    ("text", "steps"), [("a", 1), ("a then b", 2), ("a and b and c", 3), ("a then b or (c then d)", 2)]
)
def test_least_steps(text, steps):
    assert least_steps(machine_of(text)) == steps
    assert machine_of(text) is machine_of(text)
