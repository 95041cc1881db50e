"""A world for a person: keys in, a screen out."""

from typing import Any

import numpy as np

from rsg.core.random import stream
from rsg.demos.expert import setting_of
from rsg.demos.recording import Recording
from rsg.domain import Domain
from rsg.envs.tasks import machine_for
from rsg.language import Machine

KEYS = {  # what a key does in every world
    **dict.fromkeys(["w", "k", "\x1b[A", "\x1bOA"], "up"),
    **dict.fromkeys(["s", "j", "\x1b[B", "\x1bOB"], "down"),
    **dict.fromkeys(["a", "h", "\x1b[D", "\x1bOD"], "left"),
    **dict.fromkeys(["d", "l", "\x1b[C", "\x1bOC"], "right"),
    **dict.fromkeys(["u", "\x7f"], "undo"),
    "r": "restart",
    "n": "new map",
    **dict.fromkeys(["q", "\x1b", "\x03", "\x04", ""], "quit"),
}


HELP = "u undo   r restart   n new start   q quit"


class Game:
    """One person's game: the steps taken so far, with undo.

    Args:
        domain: where it is played.
        task: what the person is asked to do, if anything.
        seed: where chance comes from.
        record: keeps what is done from each start on; what is undone is not kept.
        describe: what it is called there.

    Attributes:
        world, state: where the person is now.
        actions: the names of the actions taken since the start.
        finished: whether the task is done.
    """

    def __init__(
        self,
        domain: Domain,
        task: str | None = None,
        seed: int = 0,
        record: Recording | None = None,
        describe: str = "",
    ) -> None:
        self.domain, self.machine, self._record = domain, machine_for(task, domain), record
        self._said = describe
        self._rng = stream(seed, "world")  # the first start is the one that `rsg world` shows for the same seed
        self.start_anew()

    def start_anew(self) -> None:
        """Begin somewhere else; what was done is kept, if anything is."""
        if self._record:
            self._record.end()
        self.world, self._start = self.domain.start(self.machine.names if self.machine else (), self._rng)
        self._controls = self.domain.controls(self.world)
        self._play([])

    def press(self, key: str) -> bool:
        """Do what a key says; False when the person wants to leave."""
        keys = {**KEYS, **self._controls.keys}
        what = keys.get(key if key in keys else key.lower())
        if what in self._controls.actions:
            self._act(str(what))
        elif what == "undo":
            self._play(self.actions[:-1])
        elif what == "restart":
            self._play([])
        elif what == "new map":
            self.start_anew()
        return what != "quit"

    def _play(self, actions: list[str]) -> None:
        """From the start again, with these actions: how undo and restart work in a deterministic world."""
        self.actions: list[str] = []
        self.finished, self.state, self._entered = False, self._start, Machine.START
        self._advance()
        if self._record:
            self._record.drop()
            setting = self.domain.setting_of(self.world) or setting_of(self.world, self._start)
            self._record.begin(self._start, self._said, setting)
        for action in actions:
            self._act(action)

    def _act(self, action: str) -> None:
        move = np.asarray(self._controls.actions[action])
        self.state = self.world.step(self.state[None], move[None])[0]
        self.actions.append(action)
        if self._record:
            self._record.add(move, self.state)
        self._advance()

    def _advance(self) -> None:
        if self.machine:
            holds = self.domain.truth(self.world, self.state[None], self.machine.names)[0].tolist()
            self._entered, done = self.machine.advance(self._entered, holds)
            self.finished |= done

    @property
    def ended(self) -> bool:
        """Whether the environment itself says that it is over."""
        return hasattr(self.world, "ended") and bool(self.world.ended(self.state[None])[0])

    @property
    def holding(self) -> list[str]:
        """The subgoals that hold now, as far as somebody knows."""
        terms = self.domain.vocabulary
        if not terms or not self.domain.has("truth"):
            return []
        holds = self.domain.truth(self.world, self.state[None], terms)[0]
        return [term for term, true in zip(terms, holds, strict=True) if true]

    @property
    def next_subgoals(self) -> list[str]:
        """Where in the task the person is: the subgoals to do next."""
        if self.finished or not self.machine:
            return []
        return [str(term) for term in self.machine.frontier(self._entered)]

    def screen(self, colours: bool = True) -> Any:
        """All that the person sees, as rich text."""
        from rich.text import Text

        text = Text()
        if self.machine:
            text.append("  task   ", style="bold").append(f"{self.machine.task}\n")
            if self.finished:
                text.append("  done   ", style="bold green").append(f"in {len(self.actions)} steps\n", style="green")
            else:
                text.append("  next   ", style="bold").append(f"{' or '.join(self.next_subgoals) or '(restart: r)'}\n")
        text.append(self.domain.view(self.world, self.state, colours))
        text.append("\n  true   ", style="bold").append("  ".join(self.holding) or "no subgoal yet")
        if self.ended:
            text.append("\n  over   ", style="bold").append("the environment has ended here (restart: r, new start: n)")
        keys = f"\n  {self._controls.help}\n  steps  {len(self.actions)}   {HELP}"
        return text.append(keys, style="bright_black")

    def summary(self) -> dict[str, Any]:
        """The game as plain values, for `--json`: actions by name, or as numbers where they are numbers."""
        moves = ((name, self._controls.actions[name]) for name in self.actions)
        return {
            "task": str(self.machine.task) if self.machine else None,
            "done": self.finished,
            "steps": len(self.actions),
            "actions": [list(move) if isinstance(move, tuple) else name for name, move in moves],
            "subgoals": self.holding,
            "next": self.next_subgoals,
            **self.domain.told(self.world, self.state),
        }
