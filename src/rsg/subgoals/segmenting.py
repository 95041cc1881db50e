"""Many recordings into segments: on several cores, and a stop loses nothing that was done."""

import hashlib
import json
from collections import Counter
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from rsg.core.errors import RsgError
from rsg.core.files import replacing
from rsg.core.progress import Advance
from rsg.core.workers import cores, each_done
from rsg.demos import Demonstration, Store
from rsg.demos.labels import Labels, Segment, line_of
from rsg.domain import Domain
from rsg.subgoals.runs import load
from rsg.subgoals.subgoals import Subgoals
from rsg.training import Run

CLOSE = 0.1  # an alignment that is so likely beside the best one is told, too
_WORTH = 5  # files of a store, from which on it pays to begin other processes


class Cut(NamedTuple):
    """What came of recordings: how many there are, how many were cut into how many segments, how many are `close`.

    problems: why others were not, how many for each reason; first: an episode of each.
    """

    recordings: int
    cut: int
    segments: int
    close: int
    problems: Counter[str]
    first: dict[str, int]


def segmented(subgoals: Subgoals, demo: Demonstration, number: int) -> str:
    """The labels of a recording, as a line of JSON; what is wrong with it is said there."""
    try:
        if not demo.task:
            raise RsgError("it has no description")
        found = subgoals.segment(demo)
        if not found.terms:
            raise RsgError("it has fewer steps than its description has subgoals")
    except RsgError as error:
        return line_of(number, len(demo), [], {"task": demo.task, "problem": str(error)})
    starts = [0, *(end for _, end in found.ends)]
    parts = zip(found.ends, starts, found.sure, strict=False)
    segments = [Segment(term, start, end, sure) for (term, end), start, sure in parts]
    second = {"odds": round(found.odds, 4), "ends": [list(end) for end in found.second]}
    close = {"second": second} if found.odds >= CLOSE and found.second != found.ends else {}
    return line_of(number, len(demo), segments, {"task": demo.task, **close})


def segment_store(
    run: str | Path, store: Store, domain: Domain, parts: Path, workers: int = 0, advance: Advance | None = None
) -> Labels:
    """The labels of a store in a folder of parts, one for each of its files; parts that are there are not made again.

    Args:
        run: the folder of what was learned.
        store: the recordings.
        domain: where they happened.
        parts: the folder; see `parts_for`.
        workers: processes; 0: one per core where that pays.
        advance: called with how many recordings were done.
    """
    parts.mkdir(parents=True, exist_ok=True)
    files = [parts / f"part-{shard.index:05}.jsonl" for shard in store.manifest.shards]
    sizes = {shard.index: shard.episodes for shard in store.manifest.shards}
    todo = [shard.index for shard, file in zip(store.manifest.shards, files, strict=True) if not file.exists()]
    if advance:
        advance(len(store) - sum(sizes[index] for index in todo))
    workers = min(workers or (cores() if len(todo) >= _WORTH else 1), len(todo))
    work = partial(segment_shard, (str(Path(run).resolve()), domain, Run(run).digest("best")), store, parts)
    with closing(each_done(work, iter(todo), workers)) as done:
        for index in done:
            if advance:
                advance(sizes[index])
    return Labels(files)


def parts_for(out: str, run: str | Path, store: Store) -> Path:
    """The hidden folder in which labels are gathered: the same for the same run and recordings, so one can go on."""
    about = Run(run).about
    about["source"] = {**about.get("source", {}), "demos": None}  # what was read anew lies elsewhere each time
    of = json.dumps([Run(run).digest("best"), about, [shard.sha256 for shard in store.manifest.shards]])
    place = Path(out.replace(":", "-"))
    return place.parent / f".{place.name}.{hashlib.sha256(of.encode()).hexdigest()[:12]}.parts"


def segment_shard(learned: tuple[str, Domain, str], store: Store, parts: Path, index: int) -> int:
    """Label the recordings of one file of a store; gives its number back."""
    subgoals = _loaded(*learned)
    shard = next(shard for shard in store.manifest.shards if shard.index == index)
    first = store.first_episode(shard)
    with replacing(parts / f"part-{index:05}.jsonl") as part, part.open("w", encoding="utf-8") as file:
        for number, demo in enumerate(store.read_shard(shard)[0], first):
            file.write(segmented(subgoals, demo, number) + "\n")
    return index


@cache
def _loaded(run: str, domain: Domain, digest: str) -> Subgoals:  # noqa: ARG001 - another checkpoint is loaded anew
    """What was learned, once in each process."""
    return load(run, domain)


def summary(labels: Labels) -> Cut:
    """What came of it."""
    counts, problems, first = Counter[str](), Counter[str](), dict[str, int]()
    for line in labels.lines():
        counts.update(recordings=1, cut=bool(line["segments"]), segments=len(line["segments"]), close="second" in line)
        if problem := line.get("problem"):
            problems[problem] += 1
            first.setdefault(problem, line["episode"])
    return Cut(counts["recordings"], counts["cut"], counts["segments"], counts["close"], problems, first)


def told(cut: Cut) -> dict[str, Any]:
    """As plain values."""
    return {**cut._asdict(), "problems": dict(cut.problems)}
