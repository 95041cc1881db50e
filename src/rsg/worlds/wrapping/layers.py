"""An environment as it is played here: what only guards or counts episodes is left aside, old forms are understood."""

import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rsg.core.blame import place_of
from rsg.core.errors import RsgError, cause_of
from rsg.worlds.wrapping.chance import seeded

ASIDE = {  # wrappers that count steps, check calls or film: what they know is not the world's
    *("TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics", "RecordVideo"),
    *("RenderCollection", "HumanRendering", "Autoreset", "AutoResetWrapper", "EnvCompatibility", "NormalizeReward"),
}


LOOKS = ("_get_obs", "get_obs", "gen_obs", "_get_observation", "get_observation")  # what tells what is seen now


class Happened(NamedTuple):
    """What a step or a reset led to: what is seen, the reward, and whether the environment says that it is over."""

    seen: Any
    reward: float
    ended: bool


class Played:
    """An environment and what is done with it, in the form of Gymnasium whatever its own is."""

    needed: tuple[str, ...] = ("reset", "step")

    def __init__(self, env: Any) -> None:
        for part in self.needed:
            if not callable(getattr(env, part, None)):
                raise RsgError(f"this is no environment, it has no `{part}`: {type(env).__name__}")
        if hasattr(env, "num_envs"):
            raise RsgError("these are several environments in one; wrap a single one, gymnasium.make(...)")
        self.env = without(env, ASIDE)
        self._seeds = _takes_a_seed(self.env)

    def like(self, env: Any) -> "Played":
        """Another environment, played in the same way: what only that has, as wrappers that slip, is left aside."""
        return Played(alike(env, self.env))

    @property
    def modules(self) -> set[str]:
        """Where functions of the user's come from that take part in steps."""
        return set()

    @property
    def state(self) -> Any:
        """What functions of the user's are given: the environment."""
        return self.env

    def reset(self, seed: int) -> Happened:
        """Start an episode."""
        with seeded(seed):
            if self._seeds:
                shown = theirs("reset", self.env.reset, seed=seed)
            else:
                if hasattr(self.env, "seed"):
                    theirs("seed", self.env.seed, seed)
                shown = theirs("reset", self.env.reset)
        with_info = isinstance(shown, tuple) and len(shown) == 2 and isinstance(shown[1], dict)
        return Happened(shown[0] if with_info else shown, 0.0, False)

    def step(self, action: Any) -> Happened:
        """Act."""
        told = theirs("step", self.env.step, copy.copy(action))
        if not isinstance(told, tuple) or len(told) not in (4, 5):
            raise RsgError(
                "`step` of the environment must give (observation, reward, terminated, truncated, info), but gave "
                f"{f'{len(told)} values' if isinstance(told, tuple) else type(told).__name__}"
            )
        return Happened(told[0], float(told[1]), bool(told[2]))

    def shown(self) -> Any:
        """What is seen now, without a step, where the environment has a way to say that; else None."""
        *outer, bare = chain(self.env)
        name = next((one for one in LOOKS if callable(getattr(bare, one, None))), None)
        if name is None and not hasattr(bare, "P"):
            return None
        shown = theirs(name, getattr(bare, name)) if name else int(bare.s)
        for layer in reversed(outer):
            if hasattr(layer, "observation"):
                shown = theirs("observation", layer.observation, shown)
        return shown


class PurePlayed(Played):
    """The same where a function says what follows a state: the environment only gives the first one."""

    needed = ("reset",)

    def __init__(self, env: Any, step: Callable[[Any, Any], Any], save: Callable[[Any], Any]) -> None:
        super().__init__(env)
        self._step, self._save = step, save
        self._state: Any = None

    @property
    def modules(self) -> set[str]:
        """Where the functions are from."""
        return {str(one.__module__) for one in (self._step, self._save) if getattr(one, "__module__", None)}

    @property
    def state(self) -> Any:
        """What functions of the user's are given: the state itself."""
        return self._state

    def like(self, env: Any) -> "Played":
        """Another environment, in its own state."""
        other = PurePlayed(env, self._step, self._save)
        other.back(theirs("save=", self._save, env))
        return other

    def back(self, state: Any) -> None:
        """Go on from a state."""
        self._state = state

    def shown(self) -> Any:
        """The state is all there is to see."""
        return self._state

    def reset(self, seed: int) -> Happened:
        """The first state of an episode."""
        super().reset(seed)
        self._state = theirs("save=", self._save, self.env)
        return Happened(self._state, 0.0, False)

    def step(self, action: Any) -> Happened:
        """What follows."""
        self._state = theirs("step=", self._step, self._state, action)
        return Happened(self._state, 0.0, False)


def chain(env: Any) -> Iterator[Any]:
    """The environment and all that it wraps, from outside in."""
    seen: set[int] = set()
    while env is not None and id(env) not in seen:
        seen.add(id(env))
        yield env
        env = vars(env).get("env") if hasattr(env, "__dict__") else None


def alike(env: Any, model: Any) -> Any:
    """Those layers of an environment that the model has, too, as layers of the model's classes; else all of it."""
    wanted, left = list(chain(model)), chain(without(env, ASIDE))
    found = [next((one for one in left if isinstance(one, type(layer))), None) for layer in wanted]
    if None in found:
        return env
    inner = None
    for one, layer in zip(reversed(found), reversed(wanted), strict=True):
        if type(one) is not type(layer) or (inner is not None and one.env is not inner):
            kept = copy.copy(one)
            if type(one) is not type(layer):  # what a class of its own holds besides is none of the model's
                kept.__class__ = type(layer)
                for name in set(vars(kept)) - set(vars(layer)):
                    delattr(kept, name)
            if inner is not None:
                kept.env = inner
            one = kept
        inner = one
    return inner


def without(env: Any, aside: set[str]) -> Any:
    """The environment without some of its wrappers; those around them are copies, the user's stay as they are."""
    *outer, inner = chain(env)
    names = [{one.__name__ for one in type(layer).__mro__} for layer in outer]
    if not any(aside & one for one in names):
        return env
    for layer, name in zip(reversed(outer), reversed(names), strict=True):
        if not aside & name:
            kept = copy.copy(layer)
            kept.env = inner
            inner = kept
    return inner


def _takes_a_seed(env: Any) -> bool:
    try:
        known = inspect.signature(env.reset).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(one.name == "seed" or one.kind is one.VAR_KEYWORD for one in known)


def theirs(name: str, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What code of somebody else's gives; an error in it is one sentence."""
    try:
        return call(*given, **named)
    except RsgError:
        raise
    except Exception as error:
        who = f"`{name}` of the environment" if name.isidentifier() else name
        raise RsgError(f"{who} failed: {cause_of(error)}{place_of(error)}") from error
