import pytest

from rsg.core.errors import ParseError


@pytest.mark.parametrize(
    ("text", "position"),
    [("a then b", 2), ("x" * 1000, 500), ("木 then b", 2), ("a\tb\nc", 4), ("", 0), ("\x00\x1b[31m", 3)],
)
def test_the_caret_stands_under_the_place(text, position):
    problem, line, caret = str(ParseError("wrong", text, position)).split("\n")
    assert problem == "wrong"
    assert len(line) <= 130
    assert caret.strip() == "^"
    assert "\x1b" not in line
    column = caret.index("^") - sum(c == "木" for c in text[:position])  # a wide character takes two columns
    if position < len(text) and text[position].isalnum():
        assert line[column] == text[position]
