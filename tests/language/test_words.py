"""Tasks said in words: what is forgiven, what stays as it is, and where an error points."""

import re
from typing import ClassVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rsg import And, Or, ParseError, RsgError, Term, Then, parse
from rsg.domain import Domain, find

BOXES = ("put-next(red-box, grey-door)", "put-next(grey-door, red-box)")
TERMS = ("pick-up-key", "open-door", "water-roses", "open(red-door)", "open(blue-door)", "rock-and-roll", *BOXES)

words = st.sampled_from(["red", "box", "boxes", "key", "a", "the", "then", "or", "and", "up", "go", "2", "glass", "x"])
names = st.lists(words, min_size=1, max_size=4).map("-".join).filter(lambda name: name not in ("then", "or", "and"))
terms = st.builds(Term, names, st.lists(names, max_size=2).map(tuple)).map(str)
vocabularies = st.lists(terms, min_size=1, max_size=6, unique_by=lambda term: tuple(re.findall(r"\w+", term)))
tasks = st.recursive(
    st.sampled_from(TERMS).map(parse),
    lambda parts: st.builds(
        lambda kind, some: kind(tuple(some)), st.sampled_from([Then, Or, And]), st.lists(parts, min_size=2, max_size=3)
    ),
    max_leaves=6,
)


def strictly(text):
    try:
        return parse(text)
    except ParseError:
        return None


@pytest.mark.no_cover
@given(st.data(), vocabularies)
def test_every_term_said_in_words_reads_back_as_itself(data, vocabulary):
    term = data.draw(st.sampled_from(vocabulary))
    said = " ".join(re.findall(r"\w+", term))
    strict = strictly(said)
    assume(strict is None or not {str(one) for one in strict.terms()} <= set(vocabulary))  # "a or b" means a or b
    assert str(parse(data.draw(st.sampled_from([said, said.upper(), said.title()])), words=vocabulary)) == term


@pytest.mark.no_cover
@given(tasks, st.sampled_from([str.lower, str.upper, lambda text: text.replace("then", ">")]))
def test_what_is_written_strictly_means_the_same(task, write):
    assert parse(write(str(task)), words=TERMS) == parse(write(str(task))) == task


@pytest.mark.no_cover
@given(tasks)
def test_tasks_of_any_form_are_said_in_words(task):
    text = str(task)
    for term in sorted(map(str, task.terms()), key=len, reverse=True):
        said = " the ".join(re.findall(r"\w+", term)) if "and" not in term else "Rock AND roll"
        text = text.replace(term, f"The {said}")
    assert parse(text.replace(" then", ", then"), words=TERMS) == task


@pytest.mark.no_cover
@given(st.text(max_size=60) | st.lists(st.sampled_from([*"(),>|&é", "then", "or", "the", "key", "open"])).map(" ".join))
def test_any_text_is_a_task_or_an_error_that_points_into_it(text):
    problem = None
    try:
        read = {str(term) for term in parse(text, words=TERMS).terms()}
    except ParseError as error:
        problem, read = error, set()
    assert read <= set(TERMS)
    assert problem is None or 0 <= problem.position <= len(text)
    if problem and problem.suggestion:
        parse(problem.suggestion, words=TERMS)


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("pick up the key then open the door", "pick-up-key then open-door"),
        ("Pick up the key, then open the door.", "pick-up-key then open-door"),
        ("Pick up the key, and then open the door", "pick-up-key then open-door"),
        ("Pick Up KEYS, then (open a door, or water the rose)", "pick-up-key then open-door or water-roses"),
        ("put the red box next to the grey door", BOXES[0]),
        ("put a grey door next to the red boxes and open the red door", f"{BOXES[1]} and open(red-door)"),
        ("rock and roll and pick-up-key", "rock-and-roll and pick-up-key"),
        ("put-next(red-box,grey-door) > pick_up key", f"{BOXES[0]} then pick-up-key"),
    ],
)
def test_what_is_forgiven(text, task):
    assert str(parse(text, words=TERMS)) == task


@pytest.mark.parametrize(
    ("text", "position", "problem", "suggestion"),
    [
        ("open door then open", 15, "'open' may be open(blue-door) or open(red-door) or open-door; say which", ""),
        ("open the doors then pick up teh kee", 20, "unknown words 'pick up teh kee'", "pick-up-key"),
        ("open the door then pick-up-kee", 19, "unknown term 'pick-up-kee'", "pick-up-key"),
        ("the key", 0, "unknown words 'the key'", "pick-up-key"),
        ("pick up the key open the door", 16, "expected 'then', 'or', 'and' or the end of the task, but found 'open'",
         "pick-up-key then open-door"),
        ("pick up the key, open the door", 15, "expected 'then', 'or', 'and' or the end of the task, but found ','",
         "pick-up-key then open-door"),
        ("(pick up the key", 16, "expected 'then', 'or', 'and' or ')', but the text ends", ""),
        ("pick up the key) then open", 15, "expected 'then', 'or', 'and' or the end of the task, but found ')'", ""),
        ("pick up the key. Open the door.", 15, "expected 'then', 'or', 'and' or the end of the task, but found '.'",
         "pick-up-key then open-door"),
        (".", 0, "expected a term or '(', but found '.'", ""),
        ("pick up the key then", 20, "expected a term or '(', but the text ends", "pick-up-key"),
        ("pick up the key then é", 21, "expected a term or '(', but found 'é'", "pick-up-key"),
        ("", 0, "expected a term or '(', but the text ends", ""),
    ],
)  # fmt: skip
def test_errors_say_where(text, position, problem, suggestion):
    with pytest.raises(ParseError) as caught:
        parse(text, words=TERMS)
    assert (caught.value.position, caught.value.problem) == (position, problem)
    assert (caught.value.suggestion or "") == suggestion
    assert str(caught.value).endswith(f"\n  {' ' * position}^")


def test_words_that_two_terms_share_are_no_term():
    with pytest.raises(ParseError, match=re.escape("'go up' may be go(up) or go-up; say which")):
        parse("go up", words=["go-up", "go(up)"])
    assert str(parse("go-up", words=["go-up", "go(up)"])) == "go-up"
    assert str(parse("the keys", words=["key", "keys"])) == "keys"


def test_phrases_of_ones_own():
    phrases = {"fetch it": "pick-up-key", "leave": Term("open-door")}
    assert str(parse("Fetch it then leave or open doors", words=phrases)) == "pick-up-key then open-door or open-door"
    heard = []
    table = {"fetch it": "pick-up-key", "do both": parse("a then b")}
    task = parse(
        "fetch it then do both then pick up the key", words=TERMS, read=lambda x: heard.append(x) or table.get(x)
    )
    assert str(task) == "pick-up-key then a then b then pick-up-key"
    assert heard == ["fetch it", "do both", "pick up the key"]
    assert str(parse("fetch it and grab-axe", read=table.get)) == "pick-up-key and grab-axe"
    with pytest.raises(ParseError, match="unknown words 'go home'") as caught:
        parse("fetch it then go home", read=table.get)
    assert caught.value.position == 14


def test_strict_is_the_default():
    with pytest.raises(ParseError):
        parse("pick up key")
    with pytest.raises(ParseError):
        parse("pick up key", ["pick-up-key"])


class House(Domain):
    name = "house"
    splits: ClassVar = {"train": ["pick-up-key then open-door"]}


def test_a_domain_and_its_commands_take_words(rsg):
    assert str(House().read("pick up the key and open the doors")) == "pick-up-key and open-door"
    with pytest.raises(RsgError, match=r"unknown words 'close the door'.*rsg domains house lists its terms"):
        House().read("close the door")
    code, out, _ = rsg("plan", "crafting", "Grab the axe, then mine wood", "--json")
    assert code == 0
    assert '"grab-axe then mine-wood"' in out
    code, _, err = rsg("plan", "crafting", "grab the axe then mine the")
    assert code == 2
    assert err.startswith("error: 'mine the' may be mine-")
    assert find("crafting").at(None, ["Mine the wood"]).tasks("custom") == ["mine-wood"]


@pytest.mark.no_cover
def test_a_long_text_is_read_in_time():
    assert len(parse("pick up the key then " * 4000 + "open the door", words=TERMS).parts) == 4001
