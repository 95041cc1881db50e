"""Labels of recordings: where each subgoal begins and ends; a line of JSON for each recording, read one by one.

A segment is half open: it begins in the state `start`, and in the state `end` its subgoal has come true, and the next
segment begins there. So its steps (and frames) are `start` to `end` - 1. Formats that mean something else by an end
say so where they are written.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rsg.core.errors import StoreError


class Segment(NamedTuple):
    """A part of a recording: the term that it serves, its states `[start, end)`, how sure its end is."""

    term: str
    start: int
    end: int
    sure: float


class Labelled(NamedTuple):
    """What is known of a recording of so many steps; without segments if it could not be cut."""

    episode: int
    steps: int
    segments: tuple[Segment, ...]

    def frames(self, count: int, where: str) -> list[int]:
        """The number of the segment of each frame; those after the last state that acts serve the last one.

        Formats have as many frames as steps, or one more for the last state.
        """
        if count not in (self.steps, self.steps + 1):
            told = "it is not the recording that was segmented, or states were added to it (--bridge)"
            raise StoreError(f"{where} has {count} frames, its labels are of {self.steps} steps; {told}")
        numbers = [number for number, one in enumerate(self.segments) for _ in range(one.start, one.end)]
        return numbers + numbers[-1:] * (count - len(numbers)) if numbers else []


def line_of(episode: int, steps: int, segments: Sequence[Segment], more: Mapping[str, Any]) -> str:
    """A recording's labels as a line of JSON."""
    cut = [{"term": s.term, "start": s.start, "end": s.end, "confidence": round(s.sure, 4)} for s in segments]
    return json.dumps({"episode": episode, "steps": steps, "segments": cut, **more}, ensure_ascii=False)


class Labels:
    """Files of such lines, in order; nothing is kept in memory."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files

    def lines(self) -> Iterator[dict[str, Any]]:
        """All that is said of each recording."""
        for path in self.files:
            with path.open(encoding="utf-8") as file:
                yield from map(json.loads, file)

    def __iter__(self) -> Iterator[Labelled]:
        for line in self.lines():
            cut = tuple(Segment(s["term"], s["start"], s["end"], s["confidence"]) for s in line["segments"])
            yield Labelled(line["episode"], line["steps"], cut)


def named_apart(segments: Sequence[Segment]) -> list[str]:
    """Their terms, numbered from the second time on: `grasp`, `grasp_2`."""
    terms = [one.term for one in segments]
    times = [terms[: number + 1].count(term) for number, term in enumerate(terms)]
    return [term if count == 1 else f"{term}_{count}" for term, count in zip(terms, times, strict=True)]
