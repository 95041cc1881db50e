"""Every example in README and docs is run: Python blocks must pass, console blocks must print what they show."""

import re
import shlex
from pathlib import Path

import pytest

from rsg.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language):
    pages = {page.stem: [code for kind, code in BLOCK.findall(page.read_text()) if kind == language] for page in PAGES}
    return [pytest.param(codes, id=name) for name, codes in pages.items() if codes]


@pytest.mark.parametrize("codes", blocks("python"))
def test_python_examples_run(codes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in codes:
        exec(compile(code, "example", "exec"), names)


@pytest.mark.parametrize("sessions", blocks("console"))
def test_console_examples_print_what_they_show(sessions, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for session in sessions:
        for command, shown in re.findall(r"^\$ rsg (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
            with pytest.raises(SystemExit):
                main(shlex.split(command))
            out, err = capsys.readouterr()
            assert out + err == shown


def test_pages_link_only_to_what_exists():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name} links to {target}"
