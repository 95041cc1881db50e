"""How inner loops are compiled: one spelling for all kernels, typed, kept on disk between runs."""

import gc
import hashlib
import inspect
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import config, njit, types
from numba.core import event
from numba.core.registry import CPUDispatcher

from rsg.core.progress import say

Kernel = Callable[..., Any]
"""A function for numba: compiled, or the template of one."""

_Function = TypeVar("_Function", bound=Kernel)
_njit: Any = njit  # some of its options are not in its type
# Numba counts references wherever an array is taken out of a tuple, which costs more than most of what kernels then do
# with it. A kernel that makes no arrays can do without: its caller keeps them all.
_BARE: dict[str, Any] = {"_nrt": False}
_INNER: dict[str, Any] = {**_BARE, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(function: _Function, kept: bool = True) -> _Function:
    """Compile a kernel with numba when it is first called, and keep the result on disk.

    With NUMBA_DISABLE_JIT=1 the kernel runs as plain Python: slow, and visible to coverage and debuggers.
    """
    return cast(_Function, _made(_Kernel, function, kept, _nrt=True))


def bare(function: _Function, kept: bool = True) -> _Function:
    """Like `compiled`, for a kernel that neither makes arrays nor is given new ones by what it calls: far quicker."""
    return cast(_Function, _made(_Kernel, function, kept, **_BARE))


def inner(function: _Function, kept: bool = True) -> _Function:
    """Like `bare`, for what only other kernels call: it compiles in less time."""
    return cast(_Function, _made(_OnlyForKernels, function, kept, **_INNER))


def inlined(function: _Function, kept: bool = True) -> _Function:
    """Like `inner`, and always copied into the kernels that call it: a call costs more than a small body."""
    return cast(_Function, _made(_OnlyForKernels, function, kept, **_INNER, forceinline=True))


def pasted(function: _Function, kept: bool = True) -> _Function:
    """Like `inner`, for a large kernel with few callers: its source stands in theirs before anything is compiled.

    Otherwise all that it calls would be compiled once more with each kernel around it. In a caller that makes arrays it
    may make arrays.
    """
    return cast(_Function, _made(_OnlyForKernels, function, kept, **_INNER, inline="always"))


def fast(function: _Function) -> _Function:
    """Like `compiled`, for numbers that are never NaN, sums that may be added up several at a time, and divisions by
    what is never zero: without a look at each divisor several are done at once.
    """
    numbers = {"reassoc", "contract", "nsz", "nnan"}
    return cast(_Function, _made(_Kernel, function, True, _nrt=True, fastmath=numbers, error_model="numpy"))


@cache
def specialised(template: Kernel, like: Callable[..., Kernel] = bare, **hooks: Kernel) -> Kernel:
    """A kernel from a template: a plain function in whose body the names of the hooks stand for compiled functions.

    Numba does not keep kernels on disk that take functions as arguments or close over them. This one is kept: the hooks
    are globals of a copy of the template, and its name carries a digest of the sources around them, so that a changed
    hook is compiled anew.

    Args:
        template: the plain function.
        like: what kind of kernel: `compiled`, `bare`, `inner`, `inlined` or `pasted`.
        hooks: the functions.
    """
    digest, in_files = hashlib.sha256(), True
    for _, hook in sorted(hooks.items()):
        getattr(hook, "targetoptions", {}).setdefault("_nrt", True)  # others' hooks may make arrays
        digest.update(f"{hook.__module__}.{hook.__qualname__}".encode())
        source = inspect.getsourcefile(getattr(hook, "py_func", hook))
        in_files = in_files and source is not None
        for neighbour in sorted(Path(source).parent.glob("*.py")) if source else ():  # a hook may call its neighbours
            digest.update(neighbour.read_bytes())
    copy = FunctionType(template.__code__, {**template.__globals__, **hooks}, template.__name__)
    copy.__qualname__ = f"{template.__qualname__}__{digest.hexdigest()[:12]}"
    copy.__module__ = template.__module__
    return like(copy, kept=in_files)


class _Kernel(CPUDispatcher):
    """A kernel that is compiled once for all whole numbers that other kernels hand it, whether written out or narrow.

    Nothing is thrown away meanwhile: numba makes so many objects that Python would look through all of them again and
    again.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template([_as_usual(one) for one in args], kws)

    def compile(self, sig: Any) -> Any:
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile(sig)
        finally:
            if collects:
                gc.enable()


class _OnlyForKernels(_Kernel):
    """A kernel without the way in from Python, which takes a fifth of the time to compile it."""

    def __call__(self, *_: object) -> object:
        name = self.py_func.__qualname__
        raise TypeError(f"{name} takes part in other kernels, Python cannot call it: make it `bare`")


def _as_usual(given: Any) -> Any:
    """The type of a number, or the one to which it is widened."""
    given = types.unliteral(given)  # type: ignore[no-untyped-call]
    whole: Any = given if isinstance(given, types.Integer) else types.int64
    return types.int64 if whole.bitwidth < (64 if whole.signed else 32) else given


def _made(kind: type[_Kernel], function: Kernel, kept: bool, **options: object) -> Any:
    """A kernel; where nothing is compiled, the function itself."""
    kernel = _kept(function, **options) if kept else _njit(nogil=True, **options)(function)
    if isinstance(kernel, CPUDispatcher):
        kernel.__class__ = kind
    return kernel


def _kept(function: Kernel, **options: object) -> Any:
    """A kernel that numba keeps on disk: beside its source or in the user's home, else where there is room."""
    while True:
        try:
            return _njit(cache=_ROOM["any"], nogil=True, **options)(function)
        except RuntimeError as error:
            if "cannot cache function" not in str(error) or not _ROOM["any"]:
                raise
            _make_room()


_ROOM = {"any": True, "temporary": False}  # whether kernels can be kept, and only in a temporary folder


def _make_room() -> None:
    """Nothing can be kept where numba keeps it: use a temporary folder, or if that cannot be had, keep nothing."""
    told = "compiled kernels cannot be kept beside the source nor in your home folder; "
    try:
        if _ROOM["temporary"]:
            raise OSError
        folder = Path(tempfile.gettempdir()) / f"rsg-kernels-{os.getuid() if hasattr(os, 'getuid') else ''}"
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.stat()
        if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o077):  # somebody else's
            folder = Path(tempfile.mkdtemp(prefix="rsg-kernels-"))
        _ROOM["temporary"] = True
        os.environ["NUMBA_CACHE_DIR"] = str(folder)  # for processes that this one starts
        vars(config)["CACHE_DIR"] = str(folder)
        print(f"{told}they are kept in {folder}, or where NUMBA_CACHE_DIR says", file=sys.stderr)
    except OSError:
        _ROOM["any"] = False
        print(f"{told}set NUMBA_CACHE_DIR to a folder, or each start compiles them again", file=sys.stderr)


def kept_in() -> Path | None:
    """Where compiled kernels are kept; None: nowhere, each start compiles them again."""
    kernel = compiled(kept_in)
    if not (_ROOM["any"] and hasattr(kernel, "stats")):
        return None
    folder = Path(kernel.stats.cache_path)
    return folder.parents[1] if folder.name == "__pycache__" else folder.parent


class _Waiting(event.Listener):
    """Tells somebody at a terminal, once, that kernels are compiled, if that takes longer than a moment."""

    def __init__(self) -> None:
        self._depth, self._begun, self._spent, self._told = 0, 0.0, 0.0, False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """A kernel, or one that takes part in it, is about to be compiled."""
        now = time.perf_counter()
        self._begun = now if self._depth == 0 else self._begun
        self._depth += 1
        if not self._told and self._spent + now - self._begun > _MOMENT and sys.stderr.isatty():
            self._told = True
            say("compiling kernels: they are kept, so this happens once ...")

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """It is done."""
        self._depth -= 1
        self._spent += time.perf_counter() - self._begun if self._depth == 0 else 0.0


_MOMENT = 1.0  # second
event.register("numba:compile", _Waiting())  # type: ignore[no-untyped-call]


@contextmanager
def compiling() -> Iterator[Callable[[], float]]:
    """Gives the function that tells how many seconds have gone, in here, into compiling kernels or loading them."""
    timer: Any = event.TimingListener()  # type: ignore[no-untyped-call]
    with event.install_listener("numba:compiler_lock", timer):
        yield lambda: timer.duration if timer.done else 0.0
