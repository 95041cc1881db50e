import numpy as np
import pytest
from tests.reference.ltlf import evaluate

from rsg.core.errors import TaskError
from rsg.language import Machine, parse, satisfies, to_ltlf


@pytest.mark.parametrize(
    ("text", "trace", "answer"),
    [
        ("a", ["0", "1"], True),
        ("a", ["1", "1"], False),  # true from the start
        ("a", ["0"], False),  # one state is not enough
        ("a", [], False),
        ("a", ["0", "1", "0"], False),  # true in the middle, not at the end
        ("a then b", ["00", "10", "01"], True),
        ("a then b", ["00", "10", "11"], True),
        ("a then b", ["00", "11"], False),  # b is already true where its part starts
        ("a then b", ["01", "11", "10", "11"], True),
        ("a then a", ["0", "1"], False),
        ("a then a", ["0", "1", "0", "1"], False),  # the state that ends the first part begins the second
        ("a or b", ["00", "01"], True),
        ("a and b", ["00", "01", "11"], True),
        ("a and b", ["00", "11"], False),
        ("a and b and c", ["000", "001", "011", "111"], True),
        ("(a and b) and c", ["000", "100", "101", "111"], False),
        ("a and b and c", ["000", "100", "101", "111"], True),
        ("(a and b) and c", ["000", "100", "110", "111"], True),
    ],
)  # fmt: skip
def test_the_papers_definition(text, trace, answer):
    task = parse(text)
    table = np.array([[int(x) for x in row] for row in trace], dtype=bool).reshape(len(trace), len(task.terms()))
    assert satisfies(table, task) is answer
    assert Machine.of(task).accepts(table) is answer
    assert evaluate(to_ltlf(task), table, task) is answer


def test_columns_follow_the_vocabulary():
    task = parse("a then b")
    trace = [[0, 9, 0], [0, 9, 1], [1, 9, 1]]
    for check in (satisfies, lambda trace, task, words: Machine.of(task).accepts(trace, words)):
        assert check(trace, task, ["b", "other", "a"])
        with pytest.raises(TaskError, match="no column for b; its columns are a, x, y"):
            check(trace, task, ["a", "x", "y"])
        with pytest.raises(TaskError, match=r"table \[steps, 2\] of truth values, this one has shape \(3, 3\)"):
            check(trace, task, ["a", "b"])


def test_formulas():
    assert str(to_ltlf(parse("a then b"))) == "¬a ∧ F(a ∧ ¬b ∧ F(b ∧ last))"
    assert str(to_ltlf(parse("a or b"))) == "(¬a ∧ F(a ∧ last)) ∨ (¬b ∧ F(b ∧ last))"
    assert str(to_ltlf(parse("a and b"))) == "(¬a ∧ F(a ∧ ¬b ∧ F(b ∧ last))) ∨ (¬b ∧ F(b ∧ ¬a ∧ F(a ∧ last)))"
    with pytest.raises(TaskError, match="symbols when written out"):
        str(to_ltlf(parse(" and ".join("abcdefghij"))))
    with pytest.raises(TaskError, match="at most 100 steps, this one has 200"):
        to_ltlf(parse(" then ".join(["a"] * 200)))
