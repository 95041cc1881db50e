"""How inner loops are compiled: one spelling for all kernels, typed, kept on disk between runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

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
