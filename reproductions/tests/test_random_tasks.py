import numpy as np
import pytest

from reproductions.paper.random_tasks import sample_task
from rsg.core.errors import TaskError
from rsg.language import Machine, Term


def test_samples_stay_within_what_was_asked():
    rng = np.random.default_rng(0)
    tasks = [sample_task(["a", Term("b"), "open(door)"], depth=3, seed=rng) for _ in range(300)]
    assert {str(term) for task in tasks for term in task.terms()} == {"a", "b", "open(door)"}
    assert {task.depth for task in tasks} <= set(range(4))
    assert len(set(tasks)) > 200
    assert max(Machine.of(task).count_instructions() for task in tasks) > 1


def test_the_seed_decides():
    assert sample_task("abc", 3, 5) == sample_task("abc", 3, 5)
    assert len({sample_task("abc", 3, seed) for seed in range(20)}) > 10
    assert sample_task("abc", 0, 1) in map(Term, "abc")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (([],), "empty vocabulary"),
        ((["a"], -1), "depth must be at least 0"),
        ((["a then b"],), "a vocabulary holds terms"),
    ],
)
def test_bad_arguments(arguments, problem):
    with pytest.raises(TaskError, match=problem):
        sample_task(*arguments)
