"""Every example in README and docs is run: Python blocks must pass, console blocks must print what they show."""

import re
import shlex
from pathlib import Path

import pytest

from rsg.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples(page, tmp_path, monkeypatch, capsys):
    """The blocks of a page run one after the other, in one folder: what one writes another may read."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for kind, code in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(code, page.name, "exec"), names)
            capsys.readouterr()
            continue
        for command, shown in re.findall(r"^\$ rsg (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
            with pytest.raises(SystemExit):
                main(shlex.split(command))
            out, err = capsys.readouterr()
            assert out + err == shown


def test_pages_link_only_to_what_exists():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name} links to {target}"
