"""Recordings of OGBench's scene: an arm, a cube, two buttons, a drawer, a window, in MuJoCo (MIT licence).

OGBench's own scripted oracles act; what they do is named, and when its outcome was first seen is noted. An outcome is
what the oracle itself takes for done: button pressed, drawer or window within 1 cm of where it goes, cube within 2 cm
of where it goes and let go. Then the oracle lifts the hand, goes to a pose by chance, and is done.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rsg import Demonstration
from rsg.core.arrays import Array
from rsg.core.files import replacing

os.environ.setdefault("MUJOCO_GL", "disabled")  # nothing is drawn

SKILLS: Mapping[str, tuple[str, Any]] = {  # which oracle, and what its thing shall come to be
    "lock-drawer": ("button", (0, 0)),
    "unlock-drawer": ("button", (0, 1)),
    "lock-window": ("button", (1, 0)),
    "unlock-window": ("button", (1, 1)),
    "open-drawer": ("drawer", -0.16),
    "close-drawer": ("drawer", 0.0),
    "open-window": ("window", 0.2),
    "close-window": ("window", 0.0),
    "cube-left": ("cube", (0.375, 0.15, 0.02)),
    "cube-right": ("cube", (0.375, -0.04, 0.02)),
    "cube-in-drawer": ("cube", (0.33, -0.24, 0.066)),
}
NUMBERS = [*range(12, 22), 26, 27, 29, 30, 33, 34, 36, 38]
"""Of OGBench's observation: hand (place, yaw as cosine and sine, opening, contact), cube (place, yaw), for each button
whether it is on and how deep it is, drawer, window. Joints, speeds, and what says the same again are left out."""
EACH = 2  # steps of OGBench, at 20 Hz, between two states of a recording
Holds = Callable[[Mapping[str, Any]], bool]


class Take(NamedTuple):
    """A recording. ends: where each outcome was first seen; handed: where the next skill began, or the last ended."""

    demo: Demonstration
    ends: tuple[int, ...]
    handed: tuple[int, ...]


class Scene:
    """OGBench's scene with its oracles."""

    def __init__(self) -> None:
        from ogbench.manipspace.envs.scene_env import SceneEnv
        from ogbench.manipspace.oracles.markov.button_markov import ButtonMarkovOracle
        from ogbench.manipspace.oracles.markov.cube_markov import CubeMarkovOracle
        from ogbench.manipspace.oracles.markov.drawer_markov import DrawerMarkovOracle
        from ogbench.manipspace.oracles.markov.window_markov import WindowMarkovOracle

        self.env: Any = SceneEnv("scene", mode="data_collection", terminate_at_goal=False, visualize_info=False)
        kinds = {
            "cube": CubeMarkovOracle,
            "button": ButtonMarkovOracle,
            "drawer": DrawerMarkovOracle,
            "window": WindowMarkovOracle,
        }
        self.oracles = {name: kind(env=self.env) for name, kind in kinds.items()}

    def take(self, rng: np.random.Generator, drifts: bool) -> Take | None:
        """One recording of 2 to 4 skills; drifts: oracles go on until they are done. None: one of them did not do it.

        OGBench draws from numpy's global numbers; they are set here.
        """
        seed = int(rng.integers(2**31))
        np.random.seed(seed)  # noqa: NPY002 - the oracles draw from there
        self.env.reset(seed=seed)
        states, named, ends, handed = [self._state()], list[str](), list[int](), list[int]()
        for _ in range(rng.integers(2, 5)):
            named.append(self._chosen(rng))
            end = self._follow(named[-1], states, drifts)
            if end is None:
                return None
            ends.append(end)
            handed.append(len(states) - 1)
        return Take(Demonstration(np.array(states), None, " then ".join(named)), tuple(ends), tuple(handed))

    def _state(self) -> Array:
        return np.asarray(self.env.compute_observation())[NUMBERS]

    def _follow(self, skill: str, states: list[Array], drifts: bool) -> int | None:
        """Let its oracle act, and add the states; gives where its outcome was first seen."""
        oracle, holds, end = self.oracles[SKILLS[skill][0]], self._aimed(skill), None
        seen, told = self.env.compute_observation(), self.env.get_reset_info()
        oracle.reset(seen, told)
        while not oracle.done and (drifts or end is None):
            for _ in range(EACH):
                seen, *_, told = self.env.step(oracle.select_action(seen, told))
            states.append(self._state())
            end = len(states) - 1 if end is None and holds(told) else end
        return end

    def _aimed(self, skill: str) -> Holds:
        """Tell OGBench what is wanted; gives whether that is so."""
        env, (kind, aim) = self.env, SKILLS[skill]
        env._target_task = kind
        if kind == "button":
            number, wanted = aim
            env._target_button, env._target_button_states[number] = number, wanted
            return lambda told: bool(told[f"privileged/button_{number}_state"] == wanted)
        if kind == "cube":
            env._data.mocap_pos[env._cube_target_mocap_ids[0]] = aim
            return lambda told: bool(
                np.linalg.norm(told["privileged/block_0_pos"] - aim) <= 0.02
                and told["proprio/gripper_contact"][0] < 0.1
            )
        setattr(env, f"_target_{kind}_pos", aim)
        env._model.site(f"{kind}_handle_center_target").pos[1 if kind == "drawer" else 0] = aim
        return lambda told: bool(abs(told[f"privileged/{kind}_pos"][0] - aim) <= 0.01)

    def _chosen(self, rng: np.random.Generator) -> str:
        """A skill that would change something here, of any of the things; what is locked is left alone."""
        told = self.env.get_reset_info()
        drawer, window = told["privileged/drawer_pos"][0], told["privileged/window_pos"][0]
        one, two = (bool(state) for state in told["button_states"])
        cube = told["privileged/block_0_pos"]
        may = {
            "lock-drawer": one,
            "unlock-drawer": not one,
            "lock-window": two,
            "unlock-window": not two,
            "open-drawer": one and drawer >= -0.08,
            "close-drawer": one and drawer < -0.08,
            "open-window": two and window <= 0.1,
            "close-window": two and window > 0.1,
        }
        if not self.env._is_in_drawer(cube):
            for skill in ("cube-left", "cube-right"):
                may[skill] = np.linalg.norm(cube - SKILLS[skill][1]) > 0.06
            may["cube-in-drawer"] = drawer < -0.12
        possible: dict[str, list[str]] = {}
        for skill in (skill for skill, one in may.items() if one):
            possible.setdefault(SKILLS[skill][0], []).append(skill)
        return str(rng.choice(possible[str(rng.choice(list(possible)))]))


def takes(folder: Path, seed: int, drifts: bool, count: int) -> list[Take]:
    """So many recordings; those that are in the folder are not made again."""
    path = folder / f"{'drifting' if drifts else 'cut'}-{seed}.npz"
    if not path.exists():
        scene, rng, made = Scene(), np.random.default_rng([seed, drifts]), list[Take]()
        failed = 0
        while len(made) < count:
            took = scene.take(rng, drifts)
            made += [took] if took else []
            failed += took is None
        about = [{"task": one.demo.task, "ends": one.ends, "handed": one.handed} for one in made]
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part, part.open("wb") as file:
            np.savez_compressed(
                file,
                states=np.concatenate([one.demo.states for one in made]).astype(np.float32),
                about=np.array(json.dumps({"takes": about, "failed": failed})),
            )
    with np.load(path) as kept:
        states, about = kept["states"].astype(np.float64), json.loads(str(kept["about"]))["takes"]
    starts = np.cumsum([0, *(one["handed"][-1] + 1 for one in about)])
    return [
        Take(Demonstration(states[first:after], None, one["task"]), tuple(one["ends"]), tuple(one["handed"]))
        for one, first, after in zip(about, starts[:-1], starts[1:], strict=True)
    ]
