"""README and docs are true: Python passes, consoles print what they show, commands can be given as they are written."""

import io
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from typer.core import TyperCommand

import rsg
from rsg.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^\$ rsg (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
SAVED = {"lamp.py", "doorkey.py"}  # what a reader was asked to save; all else goes to out/

MENTIONED = (  # programs that a page may call besides rsg, and what is known of their words
    ("make", lambda words: words[0] in re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)),
    ("pip", lambda words: words[0] in ("install", "uninstall") and all(map(installable, words[1:]))),
    ("git", lambda words: words[0] == "clone"),
    ("python", lambda words: words[0] == "-m" and (ROOT / words[1].replace(".", "/")).with_suffix("").exists()),
    ("curl", lambda words: any(word.startswith("localhost:8800/") for word in words)),
    ("pre-commit", lambda words: words == ["install"]),
)
SMALLER = (  # what a command is given in the place of what a page says, when all of them are run
    (r"make demo", "rsg demo"),
    (r"--per-task \d{2,}", "--per-task 10"),
    (r"(rsg eval .*)--per-task 10", r"\1--per-task 2"),
    (r"(rsg eval (?!.*--per-task).*)", r"\1 --per-task 2"),
    (r"(rsg train (?!.*--per-task|.*--demos|.*--resume|.*help).*)", r"\1 --per-task 5"),
    (r"--set steps=\d+", "--set steps=10"),
    (r"(rsg train (?!.*steps=|.*--resume|.*help).*(--method|--encoder).*)", r"\1 --set steps=10"),
)
ONLY_READ = re.compile(
    r"rsg reproduce|rsg studio|curl|make (?!demo)|pip|git|python|pre-commit"
)  # takes hours, never ends, or changes the machine
AT_ONCE = re.compile(r"rsg .*(lamp|doorkey)\.py:|echo")  # so small that it is always run


def installable(word):
    """Whether pip can make something of a word: an option, a path with extras, or us."""
    if word.startswith("-"):
        return True
    path, _, extras = word.replace("/path/to/rsg", ".").partition("[")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return (path == "rational-subgoals" or (ROOT / path).exists()) and set(extras.strip("]").split(",")) <= {"", *known}


def commands(block):
    """The commands of a block of the shell, without what is said about them."""
    lines = (re.sub(r"(^|\s+)#.*", "", line) for line in block.replace("\\\n", " ").splitlines())
    return [line.replace(".venv/bin/", "") for line in lines if line.strip()]


def written(block):
    """The folders that its commands write."""
    return [folder for command in commands(block) for folder in re.findall(r"(?<!-)--out (\S+)", command)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder like a clone in which nothing was run yet."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    yield tmp_path
    left = {path.name for path in tmp_path.iterdir()} - {"examples", "out"}
    assert left <= SAVED, f"files beside out/: {left}"


@pytest.fixture
def rsg_reads(monkeypatch, capsys):
    """Give a command to `rsg`, which reads and checks it as always, but does nothing."""
    invoke = TyperCommand.invoke

    def hand_on_or_stop(self, context):
        return invoke(self, context) if context.allow_extra_args else None

    def read(command):
        monkeypatch.setattr(TyperCommand, "invoke", hand_on_or_stop)
        with pytest.raises(SystemExit) as stop:
            main(shlex.split(command)[1:])
        monkeypatch.setattr(TyperCommand, "invoke", invoke)
        assert stop.value.code in (None, 0), f"{command}\n{capsys.readouterr().err}"

    return read


def walk(page, capsys, shell):
    """The blocks of a page one after the other, in one folder: what one writes another may read."""
    names: dict[str, object] = {}
    for kind, code in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(code, page.name, "exec"), names)
            capsys.readouterr()
        elif kind == "sh":
            for command in commands(code):
                shell(command)
        else:
            for command, shown in SHOWN.findall(code):
                with pytest.raises(SystemExit):
                    main(shlex.split(command))
                out, err = capsys.readouterr()
                assert out + err == shown


@pytest.fixture
def run(monkeypatch, capsys):
    """Give a command as a page has it, with less to do (`SMALLER`); nobody types anything."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))

    def give(command):
        for pattern, smaller in SMALLER:
            command = re.sub(pattern, smaller, command)
        if not command.startswith("rsg "):
            Path("out").mkdir(exist_ok=True)
            subprocess.run(command, shell=True, check=True)
            return
        with pytest.raises(SystemExit) as stop:
            main(shlex.split(command)[1:])
        said = capsys.readouterr().err
        assert stop.value.code == 0, f"{command}\n{said}"

    return give


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples(page, here, capsys, rsg_reads, run):
    """Python and consoles are run; of commands it is known that they can be given."""

    def shell(command):
        program, *words = shlex.split(command)
        if AT_ONCE.match(command):
            run(command)
        elif program == "rsg":
            rsg_reads(command)
        else:
            assert dict(MENTIONED)[program](words), command

    walk(page, capsys, shell)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands(page, here, capsys, run):
    """Commands are run, too."""
    walk(page, capsys, lambda command: ONLY_READ.match(command) or run(command))


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("rsg train crafting --no-such-option", "No such option: --no-such-option"),
        ("rsg world --list", "(?i)world"),
        ("rsg eval crafting --per-task many", "Invalid value for '--per-task'"),
        ("rsg reproduce baselines --no-such-option", "No such option: --no-such-option"),
        ("rsg no-such-command", "No such command"),
    ],
)
def test_a_command_that_cannot_be_given_is_noticed(rsg_reads, command, problem):
    with pytest.raises(AssertionError, match=problem):
        rsg_reads(command)


def test_no_two_pages_write_the_same_folder():
    """Whoever follows one page after the other in one clone is never told that a folder is taken."""
    where = [
        (folder, page.name) for page in PAGES for _, code in BLOCK.findall(page.read_text()) for folder in written(code)
    ]
    for folder, page in where:
        others = {other for same, other in where if same == folder and other != page}
        assert not others, f"{folder} is written by {page} and {others}"
        assert folder.startswith("out/"), f"{page} writes {folder}"


REFERENCE = "\n".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
NAMED = sorted(re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE))
BELOW = dict(re.findall(r"^::: (\S+)\n\n```python\n(.*?)^```$", REFERENCE, re.MULTILINE | re.DOTALL))


def test_every_public_name_is_in_the_reference():
    public = {f"rsg.{name}" for name in rsg.__all__ if not isinstance(getattr(rsg, name), ModuleType | str)}
    assert public - set(NAMED) == set()
    assert len(NAMED) == len(set(NAMED))


@pytest.mark.parametrize("name", NAMED)
def test_every_name_of_the_reference_has_an_example(name):
    """In its docstring, run as a doctest, or below it on the page, run as all of them; a type's name needs none."""
    home, _, own = name.rpartition(".")
    found = getattr(import_module(home), own)
    assert ">>> " in (found.__doc__ or "") or own in BELOW.get(name, "") or not isinstance(found, type | FunctionType)


@pytest.mark.parametrize(("file", "name"), [("pictures", "machine"), ("pictures_of_planning", "constructions")])
def test_pictures_can_be_drawn(tmp_path, monkeypatch, file, name):
    drawn = runpy.run_path(str(ROOT / "docs" / f"{file}.py"), run_name="pictures")
    monkeypatch.setitem(drawn[name].__globals__, "IMAGES", tmp_path)
    drawn[name]()
    assert (tmp_path / f"{name}.svg").read_bytes() == (ROOT / "docs" / "images" / f"{name}.svg").read_bytes()


@pytest.mark.parametrize(
    ("file", "name", "image"),
    [
        ("pictures_of_planning", "running", "running-example.png"),
        ("pictures_of_learning", "values_crafting", "values-crafting.png"),
    ],
)
def test_pictures_of_the_paper_can_be_drawn(tmp_path, monkeypatch, file, name, image):
    drawn = runpy.run_path(str(ROOT / "docs" / f"{file}.py"), run_name="pictures")
    monkeypatch.setitem(drawn[name].__globals__, "IMAGES", tmp_path)
    drawn[name]()
    assert (tmp_path / image).stat().st_size > 10_000


def test_pages_link_only_to_what_exists():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name} links to {target}"
