"""Crafting World for a person: keys in, a screen out."""

from __future__ import annotations

from typing import Any

from rsg.core.random import stream
from rsg.envs.crafting import CraftingEnv
from rsg.worlds.crafting import ACTIONS, VOCABULARY, truth
from rsg.worlds.crafting.terminal import terminal_view
from rsg.worlds.crafting.text import write_map

KEYS = {  # what a key does: an action, or a word
    **dict.fromkeys(["w", "k", "\x1b[A", "\x1bOA"], "up"),
    **dict.fromkeys(["s", "j", "\x1b[B", "\x1bOB"], "down"),
    **dict.fromkeys(["a", "h", "\x1b[D", "\x1bOD"], "left"),
    **dict.fromkeys(["d", "l", "\x1b[C", "\x1bOC"], "right"),
    **dict.fromkeys([" ", "e", "\r", "\n"], "toggle"),
    **dict.fromkeys(["u", "\x7f"], "undo"),
    "r": "restart",
    "n": "new map",
    **dict.fromkeys(["q", "\x1b", "\x03", "\x04", ""], "quit"),
}
HELP = "arrows or wasd move   space toggles   u undo   r restart   n new map   q quit"


class Game:
    """One person's game: the steps taken so far, with undo.

    Attributes:
        env: the environment that is played.
        actions: the names of the actions taken since the start.
        finished: whether the task is done.
    """

    def __init__(self, env: CraftingEnv, seed: int = 0) -> None:
        self.env = env
        self._rng = stream(seed, "world")  # the first map is the one that `rsg world` shows for the same seed
        self.start_anew()

    def start_anew(self) -> None:
        """Draw a new map."""
        self._start = self.env.starts.sample(self._rng)
        self._play([])

    def press(self, key: str) -> bool:
        """Do what a key says; False when the person wants to leave."""
        what = KEYS.get(key if key in KEYS else key.lower())
        if what in ACTIONS:
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
        _, _, done, _, info = self.env.step(ACTIONS.index(action))
        self.state = info["state"]
        self.actions.append(action)
        self.finished |= done

    @property
    def holding(self) -> list[str]:
        """The subgoals of the paper that hold now."""
        true = truth(self.env.world, self.state[None])[0]
        return [term for term, holds in zip(VOCABULARY, true, strict=True) if holds]

    @property
    def next_subgoals(self) -> list[str]:
        """Where in the task the person is: the subgoals to do next."""
        return [] if self.finished else [str(term) for term in self.env.frontier()]

    def screen(self) -> Any:
        """All that the person sees, as rich text."""
        from rich.text import Text

        text = Text()
        if self.env.machine:
            text.append("  task   ", style="bold").append(f"{self.env.machine.task}\n")
            if self.finished:
                text.append("  done   ", style="bold green").append(f"in {len(self.actions)} steps\n", style="green")
            else:
                text.append("  next   ", style="bold").append(f"{' or '.join(self.next_subgoals) or '(restart: r)'}\n")
            text.append("\n")
        text.append_text(terminal_view(self.env.world, self.state))
        text.append("\n  true   ", style="bold").append("  ".join(self.holding) or "no subgoal yet")
        return text.append(f"\n  steps  {len(self.actions)}\n\n  {HELP}\n", style="bright_black")

    def summary(self) -> dict[str, Any]:
        """The game as plain values, for `--json`."""
        return {
            "task": str(self.env.machine.task) if self.env.machine else None,
            "done": self.finished,
            "steps": len(self.actions),
            "actions": self.actions,
            "subgoals": self.holding,
            "next": self.next_subgoals,
            "map": write_map(self.env.world, self.state),
        }
