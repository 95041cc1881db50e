"""What somebody meant who wrote a task nearly right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg import And, Or, ParseError, Term, Then, parse
from rsg.language.hints import FILLERS, meant_task

TERMS = (
    *("grab-axe", "grab-key", "mine-wood", "mine-gold-ore", "craft-iron-ingot", "turn-on-light", "go-to-door"),
    *("put-next(red-box, grey-door)", "put-next(blue-ball, grey-door)"),
)
tasks = st.recursive(
    st.sampled_from(TERMS).map(lambda text: parse(text)),
    lambda parts: st.builds(
        lambda kind, some: kind(tuple(some)), st.sampled_from([Then, Or, And]), st.lists(parts, min_size=2, max_size=3)
    ),
    max_leaves=6,
)


def as_people_write(draw, task):
    """The same words with capitals, without hyphens, with articles, with commas and other signs."""
    if isinstance(task, Term):
        words = str(task).replace("(", " ").replace(")", " ").replace(",", " ").replace("-", " ").split()
        fillers = sorted(FILLERS - set(" ".join(TERMS).replace("-", " ").split()))
        fillers = draw(st.lists(st.sampled_from(fillers), max_size=2))
        words[1:1] = fillers
        return draw(st.sampled_from(["{}", "{} ", " {}"])).format(" ".join(words))
    signs = {Then: [", then ", " then ", ", ", "; ", " > ", " -> "], Or: [" or ", " | "], And: [" and ", " & "]}
    parts = [as_people_write(draw, part) for part in task.parts]
    parts = [part if isinstance(one, Term) else f"({part})" for part, one in zip(parts, task.parts, strict=True)]
    text = parts[0]
    for part in parts[1:]:
        text += draw(st.sampled_from(signs[type(task)])) + part
    return text


@pytest.mark.no_cover
@given(st.data())
def test_what_people_write_is_understood(data):
    task = data.draw(tasks)
    text = as_people_write(data.draw, task)
    text = data.draw(st.sampled_from([text, text.upper(), text.capitalize(), f"{text}."]))
    meant = meant_task(text, TERMS)
    assert meant is not None
    assert str(parse(meant, TERMS)) == str(parse(str(task)))


@pytest.mark.no_cover
@given(st.text(max_size=80))
def test_a_suggestion_is_always_a_task_that_can_be_read(text):
    try:
        parse(text, TERMS)
    except ParseError as error:
        if error.suggestion:
            parse(error.suggestion, TERMS)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Grab an axe, then mine wood", "grab-axe then mine-wood"),
        ("grab axe mine wood", "grab-axe then mine-wood"),
        ("grab-axe then mine wod", "grab-axe then mine-wood"),
        ("(grab the axe or the key) then mine wood", None),
        ("build a house", None),
        ("then", None),
        ("", None),
        ("grab axe, " * 100, None),
        ("grab axe " * 3 + "now", "grab-axe then grab-axe then grab-axe"),
        ("grab axe " * 25 + "in the dark of the night", None),
    ],
)
def test_examples(text, meant):
    assert meant_task(text, TERMS) == meant


def test_an_error_says_what_may_have_been_meant():
    with pytest.raises(ParseError) as error:
        parse("Grab an axe, then mine wood", TERMS)
    assert error.value.suggestion == "grab-axe then mine-wood"
    assert "found 'an'; did you mean \"grab-axe then mine-wood\"?\n" in str(error.value)
    with pytest.raises(ParseError) as error:
        parse("Grab an axe, then mine wood")
    assert error.value.suggestion is None
