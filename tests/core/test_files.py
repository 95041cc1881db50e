import os

import pytest

from rsg.core.errors import RsgError
from rsg.core.files import replacing


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("old")

    def write_half():
        with replacing(path) as part:
            part.write_text("half of the n")
            raise ValueError("interrupted")

    with pytest.raises(ValueError, match="interrupted"):
        write_half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["note.txt"]


def test_the_new_file_has_ordinary_permissions(tmp_path):
    with replacing(tmp_path / "deep" / "note.txt") as part:
        part.write_text("new")
    (tmp_path / "other.txt").write_text("")
    assert (tmp_path / "deep" / "note.txt").stat().st_mode == (tmp_path / "other.txt").stat().st_mode


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RsgError, match="cannot write"), replacing(tmp_path / "file" / "note.txt"):
        pass


def test_a_failing_rename_is_one_sentence(tmp_path):
    (tmp_path / "note.txt").mkdir()
    with pytest.raises(RsgError, match="cannot write"), replacing(tmp_path / "note.txt") as part:
        part.write_text("new")
    assert os.listdir(tmp_path) == ["note.txt"]
