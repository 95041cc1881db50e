"""Recordings for the page: a list of any length, one of them, a new one, and what a person corrects."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from rsg.core.errors import ParseError, RsgError
from rsg.demos import Demonstration, Store
from rsg.demos.corrections import Correction, corrections
from rsg.demos.corrections import correct as keep_correction
from rsg.domain import action_values
from rsg.language import Machine, machine_of, parse
from rsg.studio.desk import Desk

Asked = Mapping[str, Any]


def listed(desk: Desk, asked: Asked, tell: Any) -> dict[str, Any]:
    """A part of the list of those whose description has some text in it."""
    if not (desk.shelf.demos / "manifest.json").exists():
        return {"count": 0, "matching": 0, "rows": []}
    every, wanted = summaries(desk.store, tell), asked["filter"].casefold()
    changed = corrections(desk.shelf.demos)
    rows = [
        {"episode": number, "task": task, "steps": steps, "corrected": number in changed}
        for number, (said, steps) in enumerate(every)
        if wanted in (task := (changed[number].task or said) if number in changed else said).casefold()
    ]
    low = asked["offset"]
    return {"count": len(every), "matching": len(rows), "rows": rows[low : low + asked["limit"]]}


def summaries(store: Store, tell: Any) -> list[tuple[str, int]]:
    """The description and the length of each recording; a file of the store is looked at once."""
    found: list[tuple[str, int]] = []
    for shard in store.manifest.shards:
        if tell({"read": len(found), "of": len(store)}):
            raise RsgError("cancelled")
        found += _summary(store.folder, shard)
    return found


@lru_cache(maxsize=4096)
def _summary(folder: Path, shard: Any) -> tuple[tuple[str, int], ...]:
    return tuple((demo.task, len(demo)) for demo in Store(folder).read_shard(shard)[0])


def named(desk: Desk, asked: Asked, tell: Any) -> dict[str, Any]:
    """How many recordings name each term, as they were corrected."""
    del asked
    if not (desk.shelf.demos / "manifest.json").exists():
        return {"shown": {}}
    changed = corrections(desk.shelf.demos)
    texts = Counter(
        (changed[number].task or said) if number in changed else said
        for number, (said, _) in enumerate(summaries(desk.store, tell))
    )
    found: Counter[str] = Counter()
    for text, count in texts.items():
        with suppress(RsgError):  # a description of others, which is no task
            found.update(dict.fromkeys(machine_of(text).names, count))
    return {"shown": dict(found)}


def shown(desk: Desk, asked: Asked, tell: Any) -> dict[str, Any]:
    """A recording, and how it was corrected."""
    del tell
    number, demo = asked["episode"], desk.store[asked["episode"]]
    found = corrections(desk.shelf.demos).get(number)
    world = desk.domain.world(demo.setting)
    acted = None if demo.actions is None else action_values(world, demo.actions)
    return {
        "episode": number,
        "task": demo.task,
        "steps": len(demo),
        "setting": demo.setting,
        "start": demo.states[0].tolist(),
        "actions": acted,
        "correction": found._asdict() if found else None,
    }


def keep(desk: Desk, asked: Asked, tell: Any) -> dict[str, Any]:
    """A demonstration is added to the store."""
    del tell
    walk = desk.walk(asked)
    if not walk.steps:
        raise RsgError("nothing was done yet: move first, then keep it")
    task = _described(desk, asked["task"])
    folder = desk.shelf.demos
    store = desk.store if (folder / "manifest.json").exists() else Store.create(folder, desk.domain.name)
    store.check_world(desk.domain.name)
    store.append([Demonstration(walk.states, walk.actions, task, walk.setting)])
    return {"episode": len(store) - 1, "count": len(store)}


def _described(desk: Desk, text: str) -> str:
    """A description, whose terms may be new."""
    try:
        return str(parse(text))
    except ParseError:
        if not desk.domain.vocabulary:
            raise
    return str(desk.domain.read(text))


def _is_a_way(machine: Machine, terms: Sequence[str]) -> bool:
    """Whether these subgoals, one after the other, do a task."""
    nodes = set(Machine.START)
    for term in terms:
        after = {node for one in nodes for node in machine.successors(one).tolist() if node != machine.nodes - 1}
        nodes = {node for node in after if machine.names[machine.term_of[node]] == term}
    return any(machine.nodes - 1 in machine.successors(node) for node in nodes)


def correct(desk: Desk, asked: Asked, tell: Any) -> dict[str, Any]:
    """What a recording should say is kept."""
    task, ends, store = asked["task"], asked["ends"], desk.store
    task = _described(desk, task) if task else None
    if ends is not None:
        said = machine_of(task or store[asked["episode"]].task)
        if not _is_a_way(said, [term for term, _ in ends]):
            told = ", ".join(term for term, _ in ends)
            raise RsgError(f"'{said.task}' is not done by {told}, in that order; change the description first")
    keep_correction(store, asked["episode"], Correction(task, None if ends is None else tuple(map(tuple, ends))))
    return shown(desk, asked, tell)
