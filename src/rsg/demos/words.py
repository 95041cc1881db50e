"""What a text of a recording says, in the task language: by a file of words, by the domain's reader, or as it is."""

import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from rsg.core.errors import ParseError, StoreError
from rsg.demos.demonstration import Demonstrator
from rsg.language import parse

ALL_OTHERS = "*"  # the key of a file of words that stands for every text that it does not have


def words_in(path: str | Path) -> dict[str, str]:
    """A file of words (TOML): each line `"a text" = "a task"`; an empty task is none, `"*"` stands for all others.

    Each task is checked.
    """
    try:
        said = tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # TOML or UTF-8
        raise StoreError(f'{path} is not a file of words: {error}; write lines such as "a text" = "a-task"') from None
    for text, task in said.items():
        if not isinstance(task, str):
            raise StoreError(f"{path}: '{text}' must be a task in quotes, not {task!r}")
        try:
            parse(task) if task else None
        except ParseError as error:
            raise StoreError(f"{path}: the task of '{text}' is not understood: {error}") from None
    return said


def reader(words: Mapping[str, str] | None = None, known: Demonstrator | None = None) -> Callable[[str], str]:
    """What makes a task of a text; it raises `RsgError` for one that nothing understands. No text: no task.

    words: tasks by text, see `words_in`. known: the domain, whose terms may be said in words; one that reads its own
    language does so.
    """
    own = known is not None and known.has("read")

    @lru_cache(maxsize=4096)
    def task_of(text: str) -> str:
        if words and (text in words or ALL_OTHERS in words):
            return words[text] if text in words else words[ALL_OTHERS]
        if not text:
            return ""
        if not own:  # what is written strictly is kept, whatever its terms are
            with suppress(ParseError):
                parse(text)
                return text
        try:
            return str(known.read(text) if known is not None else parse(text))
        except ParseError as error:
            if not (own and error.pointer):
                error.pointer = "--words FILE says which task a text means"
            raise

    return task_of
