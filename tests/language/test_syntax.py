import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproductions.paper.random_tasks import sample_task
from rsg.core.errors import ParseError, TaskError
from rsg.language import And, Or, Term, Then, parse

a, b, c, d = map(Term, "abcd")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", a),
        ("a then b then c", Then((a, b, c))),
        ("a > b | c & d", Then((a, Or((b, And((c, d))))))),
        ("a or b then c", Then((Or((a, b)), c))),
        ("A THEN(B OR c)", Then((a, Or((b, c))))),
        ("(a and b) and c", And((And((a, b)), c))),
        ("a and b and c", And((a, b, c))),
        ("(a then b) then c", Then((a, b, c))),
        ("a or (b or c)", Or((a, b, c))),
        ("((((a))))", a),
        ("  Mine_Wood\n", Term("mine-wood")),
        ("put_next( Red-Box,grey-door ) then open(purple-door)",
         Then((Term("put-next", ("red-box", "grey-door")), Term("open", ("purple-door",))))),
        ("then-some or and-more", Or((Term("then-some"), Term("and-more")))),
        ("a>b|c&d", Then((a, Or((b, And((c, d))))))),
        ("2-keys", Term("2-keys")),
    ],
)  # fmt: skip
def test_texts_and_their_trees(text, tree):
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Then((a, Or((b, c)))), "a then b or c"),
        (Or((a, Then((b, c)))), "a or (b then c)"),
        (And((a, Or((b, c)))), "a and (b or c)"),
        (And((And((a, b)), c)), "(a and b) and c"),
        (Or((And((a, b)), c)), "a and b or c"),
        (Term("put_next", ("Red", "grey_door")), "put-next(red, grey-door)"),
    ],
)
def test_printing_uses_the_fewest_parentheses(tree, text):
    assert str(tree) == text
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 0, "expected a term or '(', but the text ends"),
        ("(A", 2, "expected 'then', 'or', 'and' or ')', but the text ends"),
        ("A B", 2, "expected 'then', 'or', 'and' or the end of the task, but found 'B'"),
        ("a then", 6, "expected a term or '(', but the text ends"),
        ("a then then b", 7, "expected a term or '(', but found 'then'"),
        ("a )", 2, "expected 'then', 'or', 'and' or the end of the task, but found ')'"),
        ("mine- b", 4, "expected 'then', 'or', 'and' or the end of the task, but found '-'"),
        ("f(a or b)", 4, "expected ',' or ')', but found 'or'"),
        ("f()", 2, "expected an argument (a name such as red-box), but found ')'"),
        ("f (a)", 2, "expected 'then', 'or', 'and' or the end of the task, but found '('"),
        ("a then é", 7, "expected a term or '(', but found 'é'"),
        ("a\x00", 1, "expected 'then', 'or', 'and' or the end of the task, but found '\\x00'"),
    ],
)
def test_errors_say_where_and_what_was_expected(text, position, problem):
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.position == position
    assert caught.value.problem == problem
    assert str(caught.value).endswith("^")


def test_an_unknown_term_gets_a_suggestion():
    with pytest.raises(ParseError, match="unknown term 'mine-wod'; did you mean mine-wood") as caught:
        parse("grab-axe then Mine_Wod", vocabulary=["mine-wood", "grab-axe"])
    assert caught.value.position == 14
    with pytest.raises(ParseError, match="unknown term 'xyz'") as caught:
        parse("xyz", vocabulary=["mine-wood"])
    assert caught.value.suggestion is None
    assert parse("open(red-door)", [Term("open", ("red-door",))]) == Term("open", ("red-door",))


def test_limits_are_errors_and_not_crashes():
    with pytest.raises(ParseError, match="at most 100,000 are read"):
        parse("a" * 200_000)
    nested = "a"
    for i in range(150):
        nested = f"({nested} {'then' if i % 2 else 'or'} b)"
    with pytest.raises(ParseError, match="nested more than 100 levels"):
        parse(nested)
    assert parse("(" * 10_000 + "a" + ")" * 10_000) == a
    with pytest.raises(ParseError):
        parse("(" * 10_000 + "a")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Then((a,)), "at least two"),
        (lambda: Or(()), "at least two"),
        (lambda: And((a, "b")), "must be a task, not str"),
        (lambda: Term("mine wood"), "cannot be a term"),
        (lambda: Term("Then"), "it is a connective"),
        (lambda: Term("f", ("or",)), "cannot be an argument"),
        (lambda: Term(3), "cannot be a term"),
    ],
)
def test_wrong_parts_are_refused(make, problem):
    with pytest.raises(TaskError, match=problem):
        make()


@pytest.mark.no_cover
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 4))
def test_printing_and_parsing_are_inverse(seed, depth):
    task = sample_task(["a", "b", "put-next(red-box, grey-door)", "mine-wood"], depth, seed)
    assert parse(str(task)) == task
    fewer = [str(task)[:i] + str(task)[i + 1 :] for i, letter in enumerate(str(task)) if letter == "("]
    assert task not in [_parsed(text) for text in fewer]


def _parsed(text):
    try:
        return parse(text)
    except ParseError:
        return None
