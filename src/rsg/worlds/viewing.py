"""What a world shows of a state, for a terminal: its picture in half blocks, or in words and signs."""

from collections import Counter
from string import ascii_uppercase
from typing import Any

import numpy as np

from rsg.core.arrays import Array, Bytes
from rsg.worlds.seen import Column, cells_of, columns_of, kinds_of, parts_of

COLUMNS = 48  # of a picture
SIGNS = ascii_uppercase + ascii_uppercase.lower() + "0123456789#@%&*+=?"


def text_of(world: Any, state: Array) -> str:
    """What is seen of a state, part by part; in a grid the usual cell is a dot, and each other kind has a sign.

    >>> class Board:
    ...     columns = {"map": {"thing": ["nothing", "wall", "key"]}}
    ...     def encode(self, states):
    ...         return {"map": states.reshape(-1, 2, 3, 1), "turn": states[:, :1]}
    >>> print(text_of(Board(), np.array([0, 0, 1, 0, 2, 1])))
    map
      . . W
      . K W
      W wall   K key
    turn  0
    """
    parts = parts_of(world.encode(np.asarray(state)[None]))
    lines: list[str] = []
    for name, kind in kinds_of(world, parts).items():
        part = parts[name]
        if kind == "picture":
            lines.append(f"{name}  a picture of {part.shape[1]} × {part.shape[2]}")
        elif kind == "numbers":
            flat = part.reshape(-1)
            lines.append(f"{name}  {_row(flat, columns_of(world, name, len(flat)))}")
        elif kind == "things":
            every = columns_of(world, name, part.shape[-1])
            lines += [name, *(f"  {_row(thing, every)}" for thing in part[0] if thing[0])]
        else:
            cells = cells_of(part, kind)[0]
            lines += [name, *(f"  {line}" for line in _grid(cells, columns_of(world, name, cells.shape[-1])))]
    return "\n".join(lines)


def _row(numbers: Array, columns: list[Column]) -> str:
    """Numbers, with what they are called if somebody said it."""
    named = [(column.name, column.said(number)) for column, number in zip(columns, numbers.tolist(), strict=True)]
    return "  ".join(said if name.isdigit() else f"{name} {said}" for name, said in named)


def _grid(cells: Array, columns: list[Column]) -> list[str]:
    """A grid of symbols `[H, W, C]` in signs, and what each sign is."""
    kinds = Counter(map(tuple, cells.reshape(-1, cells.shape[-1]).tolist()))
    (usual, _), *others = kinds.most_common()
    signs, told = {usual: "."}, []
    for kind in sorted(one for one, _ in others):
        said = [column.said(value) for column, value in zip(columns, kind, strict=True)]
        wanted = (*said[0].upper(), *SIGNS)
        signs[kind] = next((one for one in wanted if one in SIGNS and one not in signs.values()), "?")
        told.append(f"{signs[kind]} {' '.join(said)}")
    return [*(" ".join(signs[tuple(cell)] for cell in row) for row in cells.tolist()), "   ".join(told)]


def told_text(told: Any, colours: bool) -> Any:
    """What somebody says of a state; text with escapes for colours becomes rich text, or plain."""
    if not isinstance(told, str) or "\x1b" not in told:
        return told
    from rich.text import Text

    return Text.from_ansi(told) if colours else Text.from_ansi(told).plain


def blocks_of(picture: Bytes, columns: int = COLUMNS) -> Any:
    """A picture `[height, width, 3]` as rich text, two rows of it in each line."""
    from rich.text import Text

    height, width, _ = picture.shape
    across = min(columns, width)
    down = max(2, round(height * across / width) // 2 * 2)
    rows, places = (((np.arange(n) + 0.5) * size / n).astype(int) for n, size in ((down, height), (across, width)))
    text = Text()
    for above, below in picture[rows][:, places].reshape(-1, 2, across, 3).tolist():
        for (r, g, b), (u, v, w) in zip(above, below, strict=True):
            text.append("▀", style=f"rgb({r},{g},{b}) on rgb({u},{v},{w})")
        text.append("\n")
    return text
