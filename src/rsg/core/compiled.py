"""How inner loops are compiled: one spelling for all kernels, typed, kept on disk between runs."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Compile a kernel with numba when it is first called, and keep the result on disk.

    With NUMBA_DISABLE_JIT=1 the kernel runs as plain Python: slow, and visible to coverage and debuggers.
    """
    kernel: Any = njit(cache=True, nogil=True)(function)
    return cast(_Function, kernel)


def inlined(function: _Function) -> _Function:
    """Like `compiled`, and always copied into the kernels that call it: a call costs more than a small body."""
    kernel: Any = njit(cache=True, nogil=True, inline="always")(function)
    return cast(_Function, kernel)


def inner(function: _Function) -> _Function:
    """Like `compiled`, for what only other kernels call: without the way in from Python it compiles in less time."""
    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    kernel: Any = njit(cache=True, nogil=True, **without)(function)
    return cast(_Function, kernel)


def fast(function: _Function) -> _Function:
    """Like `compiled`, for numbers that are never NaN, sums that may be added up several at a time, and divisions by
    what is never zero: without a look at each divisor several are done at once.
    """
    numbers = {"reassoc", "contract", "nsz", "nnan"}
    kernel: Any = njit(cache=True, nogil=True, fastmath=numbers, error_model="numpy")(function)
    return cast(_Function, kernel)


def specialised(template: Callable[..., Any], inline: bool = False, **hooks: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel from a template: a plain function in whose body the names of the hooks stand for compiled functions.

    Numba does not keep kernels on disk that take functions as arguments or close over them. This one is kept: the hooks
    are globals of a copy of the template, and its name carries a digest of the sources around them, so that a changed
    hook is compiled anew.
    """
    return _specialised(template, inline, tuple(sorted(hooks.items(), key=lambda item: item[0])))


@cache
def _specialised(template: Any, inline: bool, hooks: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    sources = [inspect.getsourcefile(getattr(hook, "py_func", hook)) for _, hook in hooks]
    digest = hashlib.sha256()
    for (_, hook), source in zip(hooks, sources, strict=True):
        digest.update(f"{hook.__module__}.{hook.__qualname__}".encode())
        for neighbour in sorted(Path(source).parent.glob("*.py")) if source else ():  # a hook may call its neighbours
            digest.update(neighbour.read_bytes())
    copy = FunctionType(template.__code__, {**template.__globals__, **dict(hooks)}, template.__name__)
    copy.__qualname__ = f"{template.__qualname__}__{digest.hexdigest()[:12]}"
    copy.__module__ = template.__module__
    return cast(Callable[..., Any], njit(cache=all(sources), nogil=True, inline="always" if inline else "never")(copy))


@contextmanager
def compiling() -> Iterator[Callable[[], float]]:
    """Gives the function that tells how many seconds have gone, in here, into compiling kernels or loading them."""
    timer: Any = event.TimingListener()  # type: ignore[no-untyped-call]
    with event.install_listener("numba:compiler_lock", timer):
        yield lambda: timer.duration if timer.done else 0.0
