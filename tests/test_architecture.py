import ast
import re
from pathlib import Path

import pytest
from tests.architecture import complaints, strangers

import rsg

SOURCE = Path(rsg.__file__).parent


def test_every_import_follows_the_direction():
    assert complaints(SOURCE) == []


def test_general_rooms_name_no_domain():
    assert strangers(SOURCE) == []


def test_a_name_of_a_domain_is_seen(tmp_path):
    for name, text in {
        "domains/mars/__init__.py": "",
        "domains/mars/world.py": '"""Mars."""',
        "cli/a.py": '"""For example: rsg plan mars."""',
        "cli/b.py": '"""For example: rsg plan WORLD."""',
    }.items():
        path = tmp_path / "rsg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert strangers(tmp_path / "rsg") == ["cli/a.py: names 'mars', which is a domain"]


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"core/a.py": "from rsg.language import parse"}, "'core' must not import 'language'"),
        ({"search/a.py": "def f():\n    import rsg.planning.plans"}, "'search' must not import 'planning'"),
        ({"worlds/a.py": "from rsg.language.tree import Term"}, "'worlds' must not import 'language'"),
        ({"cli/a.py": "from rsg import parse"}, "imports 'parse', which is not a room"),
        ({"core/a.py": "from . import b"}, "a relative import"),
        ({"attic/a.py": ""}, "no room 'attic'"),
        ({"cli/a.py": "def f():\n    from reproductions import table_1"}, "'cli' must not import experiments"),
        (
            {"search/a.py": "import rsg.planning.b", "planning/b.py": "import rsg.search.a"},
            "rooms import each other",
        ),
        (
            {"core/a.py": "def f():\n    from rsg.core import b", "core/b.py": "from rsg.core.a import f"},
            "modules import each other",
        ),
    ],
)
def test_a_wrong_import_is_seen(tmp_path, files, complaint):
    for name, text in files.items():
        path = tmp_path / "rsg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert any(complaint in line for line in complaints(tmp_path / "rsg"))


def test_tests_use_no_private_names():
    """A private name is free to change: what is tested has a public one."""
    private = re.compile(r"(?<!\bself)(?<!\bos)\._[A-Za-z]\w*|\bimport _[a-z]|[\"']_[A-Za-z]\w*[\"']")
    known = {"._replace", "._asdict", "._fields"}
    root = Path(__file__).parents[1]
    files = [*(root / "tests").rglob("*.py"), *(root / "reproductions" / "tests").rglob("*.py")]
    used = {str(path): found for path in files if (found := set(private.findall(path.read_text())) - known)}
    assert used == {}


def test_files_stay_short():
    files = [*SOURCE.rglob("*.py"), *(Path(__file__).parents[1] / "reproductions").rglob("*.py")]
    long = {str(path): n for path in files if (n := len(path.read_text().splitlines())) > 500}
    assert long == {}


def test_few_functions_take_more_than_six_things():
    nodes = [node for path in SOURCE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    counts = {f"{node.name} {node.lineno}": len(node.args.args) + len(node.args.kwonlyargs) for node in functions}
    many = {name: count for name, count in counts.items() if count > 6}
    assert len(many) <= 25, many
