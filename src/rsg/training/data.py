"""Demonstrations for training: which are held out, and which come in which step.

Everything follows from the seed and the number of the step, so a run that goes on sees what it would have seen.
"""

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import numpy as np

from rsg.core.arrays import Ints
from rsg.core.errors import ParseError, RsgError
from rsg.core.random import stream
from rsg.core.words import quantity
from rsg.demos import Demonstration, Store
from rsg.language import Machine, machine_of
from rsg.search import nodes_ahead
from rsg.training.settings import TrainingSettings

MANY = 20  # demonstrations with a problem that are named
CACHE = 512 * 2**20  # bytes of demonstrations that are kept in memory; of state graphs as many


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(OrderedDict[K, V]):
    """What was made for the latest keys, as much of it as memory has room for.

    make: makes what a key stands for; size: tells its bytes, about.
    """

    def __init__(self, make: Callable[[K], V], size: Callable[[V], int]) -> None:
        super().__init__()
        self._make, self._size, self.bytes = make, size, 0

    def of(self, key: K) -> V:
        """What a key stands for; the least recently used are dropped if there is too much."""
        if key not in self:
            self[key] = self._make(key)
            self.bytes += self._size(self[key])
            while self.bytes > CACHE and len(self) > 1:
                self.bytes -= self._size(self.popitem(last=False)[1])
        self.move_to_end(key)
        return self[key]


class TrainingData:
    """The demonstrations of a run, read from a store piece by piece, or given as a list.

    Args:
        source: a store, or demonstrations in memory.
        settings: seed, batch, curriculum, held_out are used.
        per_task: at most so many of each description; None: all.
        acts: whether demonstrations must have actions.

    Attributes:
        descriptions: the distinct descriptions, in the order of their first appearance.
        held_out: numbers of the episodes that are kept from training; learn: those of all others.
        fingerprint: a hash of all demonstrations that are used.
    """

    def __init__(
        self,
        source: Store | Sequence[Demonstration],
        settings: TrainingSettings,
        per_task: int | None = None,
        acts: bool = True,
    ) -> None:
        self.fingerprint, self.descriptions = "", tuple[str, ...]()
        if len(source) == 0:
            where = f" in {source.folder}" if isinstance(source, Store) else ""
            raise RsgError(f"there are no demonstrations to learn from{where}")
        self._source, self._settings, self._acts = source, settings, acts
        self.cache = Kept(self._read, lambda demos: sum(map(_size, demos)))
        sizes = [shard.episodes for shard in source.manifest.shards] if isinstance(source, Store) else [len(source)]
        self._starts = np.concatenate([[0], np.cumsum(sizes)])
        tasks = self._index()
        numbers = np.arange(len(tasks))
        if per_task is not None:
            numbers = np.array(list(first_of_each(numbers.tolist(), tasks.__getitem__, per_task)))
        if len(numbers) < len(tasks):
            self.fingerprint = hashlib.sha256(self.fingerprint.encode() + numbers.tobytes()).hexdigest()
        count = min(settings.held_out, len(numbers) // 10)
        mixed = stream(settings.seed, "held-out").permutation(numbers)
        self.held_out = np.sort(mixed[:count])
        self.learn = np.sort(mixed[count:])
        simple = np.array([machine_of(text).nodes == 3 for text in self.descriptions])
        self._simple = self.learn[simple[tasks[self.learn]]]

    def __len__(self) -> int:
        return len(self.held_out) + len(self.learn)

    def _index(self) -> Ints:
        """The number of each episode's description; each is checked on the way."""
        seen: dict[str, int] = {}
        problems = dict[int, RsgError]()
        tasks = np.empty(len(self._source), dtype=np.int64)
        digest = hashlib.sha256()
        for shard in range(len(self._starts) - 1):
            for offset, demo in enumerate(self.cache.of(shard)):
                number = int(self._starts[shard]) + offset
                if demo.task not in seen:
                    seen[demo.task] = len(seen)
                tasks[number] = seen[demo.task]
                if problem := problem_of(demo, self._acts):
                    problems[number] = problem
                    continue
                if not isinstance(self._source, Store):
                    digest.update(f"{demo.task}\0{demo.setting}\0{demo.states.shape}".encode())
                    digest.update(demo.states.tobytes() + (b"" if demo.actions is None else demo.actions.tobytes()))
        if problems:
            raise _together(problems)
        if isinstance(self._source, Store):  # its shards carry their hashes
            digest.update("".join(shard.sha256 for shard in self._source.manifest.shards).encode())
        self.fingerprint = digest.hexdigest()
        self.descriptions = tuple(seen)
        return tasks

    def _read(self, shard: int) -> Sequence[Demonstration]:
        """One piece of the source; a list has one piece."""
        if not isinstance(self._source, Store):
            return self._source
        return self._source.read_shard(self._source.manifest.shards[shard])[0]

    def __getitem__(self, number: int) -> Demonstration:
        shard = int(np.searchsorted(self._starts, number, side="right")) - 1
        return self.cache.of(shard)[number - int(self._starts[shard])]

    def number_of(self, demo: Demonstration) -> int:
        """The number of an episode; slow, for messages."""
        return next(number for number in range(int(self._starts[-1])) if self[number] == demo)

    def batch(self, step: int) -> list[Demonstration]:
        """The demonstrations of one step: without repetition until all have come."""
        early = step < self._settings.curriculum and len(self._simple) > 0
        pool = self._simple if early else self.learn
        size = self._settings.batch
        first = (step if early or len(self._simple) == 0 else step - self._settings.curriculum) * size
        chosen = []
        for place in range(first, first + size):
            epoch, offset = divmod(place, len(pool))
            chosen.append(self[int(pool[_order(self._settings.seed, int(early), epoch, len(pool))[offset]])])
        return chosen

    def held_out_batches(self) -> list[list[Demonstration]]:
        """What the held-out score is measured on, in batches; a few of the others if nothing is held out."""
        numbers = self.held_out if len(self.held_out) else self.learn[: self._settings.batch]
        size = self._settings.batch
        return [[self[int(n)] for n in numbers[i : i + size]] for i in range(0, len(numbers), size)]


def _size(demo: Demonstration) -> int:
    """What one takes of the memory, about."""
    return demo.states.nbytes + (0 if demo.actions is None else demo.actions.nbytes) + 500


def problem_of(demo: Demonstration, acts: bool) -> RsgError | None:
    """Why a demonstration cannot be learned from, or cannot have done what it says, if so."""
    if demo.actions is None and acts:
        found = "rsg demos import STORE --out DIR --world WORLD --find-actions finds them"
        return RsgError(f"has no actions ({found}; rsg.worlds.recorded(...) needs none)")
    if not demo.task:
        return RsgError("has no description (rsg demos import STORE --out DIR --words FILE gives them some)")
    try:
        shortest = least_steps(machine_of(demo.task))
    except RsgError as error:
        return error
    if len(demo) >= shortest:
        return None
    return RsgError(f"has {quantity(len(demo), 'step')}, but '{demo.task}' takes {shortest}: one per subgoal")


def _together(problems: Mapping[int, RsgError]) -> RsgError:
    """All that is wrong with descriptions, as one error; the first that is no task is shown."""
    unread = [error for error in problems.values() if isinstance(error, ParseError)]
    told = [
        f"episode {number} is described as '{error.text}': {error.problem}"
        if isinstance(error, ParseError)
        else f"episode {number} {error}"
        for number, error in islice(problems.items(), MANY)
    ]
    told += [f"and so on, {len(problems):,} in all"] if len(problems) > MANY else []
    what = "it, or mend its description" if len(problems) == 1 else "them, or mend their descriptions"
    sentence = f"{'; '.join(told)}; remove {what}"
    return (
        ParseError(sentence, unread[0].text, unread[0].position, unread[0].suggestion) if unread else RsgError(sentence)
    )


@lru_cache(maxsize=2)
def _order(seed: int, early: int, epoch: int, size: int) -> Ints:
    return stream(seed, "order", early, epoch).permutation(size)


@lru_cache(maxsize=4096)
def least_steps(machine: Machine) -> int:
    """The fewest steps in which a task can be done: one per subgoal.

    >>> least_steps(machine_of("a and b then (c or d then e)"))
    4
    """
    return int(nodes_ahead(machine)[0])


def first_of_each(items: Iterable[V], task_of: Callable[[V], Hashable], per_task: int) -> Iterator[V]:
    """Demonstrations, or their numbers, in order: at most so many of each task."""
    if per_task < 1:
        raise RsgError(f"per-task must be at least 1, not {per_task}")
    seen = Counter[Hashable]()
    for item in items:
        seen[task_of(item)] += 1
        if seen[task_of(item)] <= per_task:
            yield item
