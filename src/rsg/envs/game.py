"""A world for a person: keys in, a screen out."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rsg.core.random import stream
from rsg.envs.tasks import TaskEnv
from rsg.worlds import crafting, playroom
from rsg.worlds.crafting.text import write_map

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


@dataclass(frozen=True)
class Controls:
    """How a person moves in a world.

    Attributes:
        actions: what the environment is told for the name of each move.
        keys: keys of this world alone, and the names of what they do.
        help: what the keys do, in a line.
        holding: the subgoals that hold in a state of the world.
        told: a state of the world as plain values, for `--json`.
    """

    actions: Mapping[str, Any]
    keys: Mapping[str, str]
    help: str
    holding: Callable[[Any, Any], list[str]]
    told: Callable[[Any, Any], dict[str, Any]]


def _true(terms: Sequence[str], holds: Any) -> list[str]:
    return [term for term, true in zip(terms, holds[0], strict=True) if true]


CRAFTING = Controls(
    actions={name: number for number, name in enumerate(crafting.ACTIONS)},
    keys=dict.fromkeys([" ", "e", "\r", "\n"], "toggle"),
    help="arrows or wasd move   space toggles   u undo   r restart   n new map   q quit",
    holding=lambda world, state: _true(crafting.VOCABULARY, crafting.truth(world, state[None])),
    told=lambda world, state: {"map": write_map(world, state)},
)

_TURN = math.pi / 4
_MOVES = {
    "w": ("up", (0.0, 1.0, 0.0)),
    "s": ("down", (0.0, -1.0, 0.0)),
    "a": ("left", (-1.0, 0.0, 0.0)),
    "d": ("right", (1.0, 0.0, 0.0)),
    "z": ("turn left", (0.0, 0.0, _TURN)),
    "c": ("turn right", (0.0, 0.0, -_TURN)),
}
PLAYROOM = Controls(
    actions=dict(_MOVES.values())
    | {f"half {name}": tuple(number / 2 for number in move) for name, move in _MOVES.values()},
    keys={"z": "turn left", "c": "turn right"} | {key.upper(): f"half {name}" for key, (name, _) in _MOVES.items()},
    help="arrows or wasd move   z c turn   capitals: half as far   u undo   r restart   n new start   q quit",
    holding=lambda world, state: _true(world.layout.terms, playroom.truth(world, state[None])),
    told=lambda world, state: world.told(state),
)


class Game:
    """One person's game: the steps taken so far, with undo.

    Args:
        env: the environment that is played.
        seed: where chance comes from.
        controls: how a person moves in it.

    Attributes:
        actions: the names of the actions taken since the start.
        finished: whether the task is done.
    """

    def __init__(self, env: TaskEnv, seed: int = 0, controls: Controls = CRAFTING) -> None:
        self.env, self._controls = env, controls
        self._rng = stream(seed, "world")  # the first map is the one that `rsg world` shows for the same seed
        self.start_anew()

    def start_anew(self) -> None:
        """Draw a new map."""
        self._start = self.env.sample(self._rng)
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
        self.finished = False
        self.state = self.env.reset(options={"state": self._start})[1]["state"]
        for action in actions:
            self._act(action)

    def _act(self, action: str) -> None:
        _, _, done, _, info = self.env.step(self._controls.actions[action])
        self.state = info["state"]
        self.actions.append(action)
        self.finished |= done

    @property
    def holding(self) -> list[str]:
        """The subgoals that hold now."""
        return self._controls.holding(self.env.world, self.state)

    @property
    def next_subgoals(self) -> list[str]:
        """Where in the task the person is: the subgoals to do next."""
        return [] if self.finished else [str(term) for term in self.env.frontier()]

    def screen(self, view: Callable[[Any, Any], Any] | None = None) -> Any:
        """All that the person sees, as rich text; `view` shows a state of the world in another way than usual."""
        from rich.text import Text

        text = Text()
        if self.env.machine:
            text.append("  task   ", style="bold").append(f"{self.env.machine.task}\n")
            if self.finished:
                text.append("  done   ", style="bold green").append(f"in {len(self.actions)} steps\n", style="green")
            else:
                text.append("  next   ", style="bold").append(f"{' or '.join(self.next_subgoals) or '(restart: r)'}\n")
            text.append("\n")
        text.append_text(view(self.env.world, self.state) if view else self.env.world.view(self.state))
        text.append("\n  true   ", style="bold").append("  ".join(self.holding) or "no subgoal yet")
        return text.append(f"\n  steps  {len(self.actions)}\n\n  {self._controls.help}\n", style="bright_black")

    def summary(self) -> dict[str, Any]:
        """The game as plain values, for `--json`: actions by name, or as numbers where they are numbers."""
        moves = ((name, self._controls.actions[name]) for name in self.actions)
        return {
            "task": str(self.env.machine.task) if self.env.machine else None,
            "done": self.finished,
            "steps": len(self.actions),
            "actions": [list(move) if isinstance(move, tuple) else name for name, move in moves],
            "subgoals": self.holding,
            "next": self.next_subgoals,
            **self._controls.told(self.env.world, self.state),
        }
