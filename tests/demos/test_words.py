"""What a text of a recording says: by a file of words, by the domain's own reader, or as it is."""

import pytest

from rsg.core.errors import ParseError, StoreError
from rsg.demos.words import reader, words_in
from rsg.domain import Domain
from rsg.language import parse


class Mission(Domain):
    """Where `go to the X` is an instruction."""

    def read(self, text, terms=()):
        if not text.startswith("go to the "):
            raise ParseError("expected 'go to the'", text, 0)
        return parse(f"go-to({text.split()[-1]})")


def written(tmp_path, text):
    (tmp_path / "words.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / "words.toml"


def test_words_stand_for_tasks(tmp_path):
    words = words_in(written(tmp_path, '"Open it!" = "open-drawer"\n"wait" = ""\n'))
    task_of = reader(words)
    assert [task_of(text) for text in ("Open it!", "wait", "a then b", "")] == ["open-drawer", "", "a then b", ""]
    with pytest.raises(ParseError) as caught:
        task_of("Close it!")
    assert "(--words FILE says which task a text means)" in str(caught.value)
    assert reader({**words, "*": "other"})("Close it!") == "other"
    assert reader({"*": ""})("Close it!") == ""


def test_a_domain_reads_its_own_language():
    task_of = reader(known=Mission())
    assert task_of("go to the ball") == "go-to(ball)"
    assert task_of("") == ""
    with pytest.raises(ParseError, match="expected 'go to the'"):
        task_of("ball")
    assert reader({"ball": "b"}, Mission())("ball") == "b"
    assert reader(known=Domain())("a then b") == "a then b"


class Kitchen(Domain):
    """Whose terms are known."""

    splits = {"train": ["pick-up-key then open-door"]}  # noqa: RUF012


def test_terms_that_are_known_may_be_said_in_words():
    task_of = reader(known=Kitchen())
    assert task_of("Pick up the key, and then open the doors.") == "pick-up-key then open-door"
    assert task_of("fly then pick-up-key") == "fly then pick-up-key"  # strictly: as it is
    with pytest.raises(ParseError, match=r"unknown words 'open the dor'; did you mean open-door.*--words FILE"):
        task_of("open the dor")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = ", "is not a file of words: "),
        (b'"\xff" = "a"', "is not a file of words: "),
        ('"a" = "b"\n"a" = "c"', "is not a file of words: "),
        ('"a" = 3', "'a' must be a task in quotes, not 3"),
        ("[a]\nb = 'c'", "'a' must be a task in quotes, not {'b': 'c'}"),
        ('"go" = "a then"', "the task of 'go' is not understood: "),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path, text, problem):
    with pytest.raises(StoreError, match=problem) as caught:
        words_in(written(tmp_path, text))
    assert "words.toml" in str(caught.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(StoreError, match=r"cannot read .*none\.toml"):
        words_in(tmp_path / "none.toml")
