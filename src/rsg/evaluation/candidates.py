"""Descriptions that a trajectory may be of, as a person names them."""

from collections.abc import Sequence
from pathlib import Path

from rsg.core.errors import ParseError, RsgError
from rsg.domain import Domain
from rsg.language import Machine, Task, parse


def candidates_named(name: str, domain: Domain, terms: Sequence[str]) -> list[Task]:
    """The descriptions of a file (one per line, # begins a comment) or of a split; an error names the place."""
    path = Path(name)
    if path.is_file():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RsgError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is not text'}") from None
        texts = [(f"{path}, line {number}", line.partition("#")[0].strip()) for number, line in enumerate(lines, 1)]
    elif name in domain.splits:
        texts = [(f"split {name}", text) for text in domain.tasks(name)]
    else:
        splits = ", ".join(domain.splits) or domain.no_splits
        raise RsgError(f"there is no file {name}, and no split of that name; splits are: {splits}")
    found = []
    for place, text in texts:
        try:
            found += [Machine.of(parse(text, terms)).task] if text else []
        except ParseError as error:
            raise ParseError(f"{place}: {error.problem}", error.text, error.position, error.suggestion) from None
        except RsgError as error:
            raise RsgError(f"{place}: {error}") from None
    if not found:
        raise RsgError(f"{path} holds no descriptions; write one per line")
    return found
