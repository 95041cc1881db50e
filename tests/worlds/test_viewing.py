"""What a world that says nothing else shows in a terminal."""

import numpy as np

from rsg.worlds.viewing import blocks_of, text_of, told_text


class Shown:
    spaces = {"near": "things", "photo": "picture", "pose": "numbers", "map": "symbols"}  # noqa: RUF012
    columns = {"pose": ("x", "y"), "near": {"kind": ["nothing", "ball", "box"], "far": None}}  # noqa: RUF012

    def encode(self, states):
        return {
            "near": np.array([[[1, 0.5], [0, 0.0], [2, 2.0]]]),
            "photo": np.zeros((1, 20, 30, 3), np.uint8),
            "pose": states[:, :2],
            "map": np.array([[[[1, 0], [1, 0]], [[5, 2], [1, 0]]]]),
        }


def test_all_kinds_of_parts():
    assert text_of(Shown(), np.array([3, 4])).splitlines() == [
        "near",
        "  kind ball  far 0.5",
        "  kind box  far 2",
        "photo  a picture of 20 × 30",
        "pose  x 3  y 4",
        "map",
        "  . .",
        "  5 .",
        "  5 5 2",
    ]


def test_more_kinds_of_cells_than_signs():
    class Wide:
        spaces = {"seen": "symbols"}  # noqa: RUF012

        def encode(self, states):
            return states.reshape(1, 10, 20, 1)

    shown = text_of(Wide(), np.minimum(np.arange(200), 80)).splitlines()
    assert sum(line.count("?") for line in shown[1:-1]) > 9
    assert len(shown) == 12


def test_a_picture_in_half_blocks():
    picture = np.zeros((6, 4, 3), np.uint8)
    picture[3:] = 255
    text = blocks_of(picture)
    assert text.plain == "▀▀▀▀\n" * 3
    assert {str(span.style) for span in text.spans} == {
        *("rgb(0,0,0) on rgb(0,0,0)", "rgb(0,0,0) on rgb(255,255,255)", "rgb(255,255,255) on rgb(255,255,255)")
    }
    assert {len(line) for line in blocks_of(np.zeros((300, 500, 3), np.uint8)).plain.splitlines()} == {48}


def test_colours_of_others():
    assert told_text("a \x1b[41mb\x1b[0m c", False) == "a b c"
    assert told_text("a \x1b[41mb\x1b[0m c", True).spans
    assert told_text("a b", True) == "a b"
