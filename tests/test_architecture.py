from pathlib import Path

import pytest
from tests.architecture import complaints

import rsg

SOURCE = Path(rsg.__file__).parent


def test_every_import_follows_the_direction():
    assert complaints(SOURCE) == []


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"core/a.py": "from rsg.language import parse"}, "'core' must not import 'language'"),
        ({"search/a.py": "def f():\n    import rsg.planning.plans"}, "'search' must not import 'planning'"),
        ({"worlds/a.py": "from rsg.language.tree import Term"}, "'worlds' must not import 'language'"),
        ({"cli/a.py": "from rsg import parse"}, "imports 'parse', which is not a room"),
        ({"core/a.py": "from . import b"}, "a relative import"),
        ({"attic/a.py": ""}, "no room 'attic'"),
        (
            {"search/a.py": "import rsg.planning.b", "planning/b.py": "import rsg.search.a"},
            "rooms import each other",
        ),
    ],
)
def test_a_wrong_import_is_seen(tmp_path, files, complaint):
    for name, text in files.items():
        path = tmp_path / "rsg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert any(complaint in line for line in complaints(tmp_path / "rsg"))


def test_files_stay_short():
    long = {str(p.relative_to(SOURCE)): n for p in SOURCE.rglob("*.py") if (n := len(p.read_text().splitlines())) > 500}
    assert long == {}
