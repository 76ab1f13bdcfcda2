"""Independent pieces of one call, such as heads or blocks of queries, on all cores.

BLAS itself can cut one matrix product into parts for its threads. But then they meet after every product, and whoever
is kept waiting by another process keeps all waiting; and what is not a product, exp first of all, stays with one. Here
each thread takes a whole piece, does all that is to be done for it, with BLAS on one thread, and takes the next.

A thread is started for a call and gone after it: that costs some 20 µs, and leaves nothing behind that would hang a
forked child, or keep the interpreter from ending.
"""

from __future__ import annotations

import _thread
import contextvars
import functools
import os
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

Piece = TypeVar("Piece")
Room = TypeVar("Room")

# Multiply-adds that make one more thread worth its start: about half a millisecond of one core.
WORTH_A_THREAD = 2e7


def for_each(
    work: Callable[[Piece, Room], None],
    pieces: Sequence[Piece],
    cost: Callable[[Piece], float],
    make_room: Callable[[], Room],
) -> None:
    """work(piece, room) for every piece, in any order, in as many threads as are worth it: this one and others.

    As many as BLAS would take, so that OMP_NUM_THREADS and threadpoolctl's limits hold, and at most one for each core
    that this process may use. Where no thread can be started, this one does all. While several work, BLAS has one
    thread in the whole process.

    Args:
        cost: multiply-adds of a piece, roughly. The largest are begun first, so that none is left alone at the end.
        make_room: makes the memory that a thread uses again for each of its pieces.

    Raises:
        an exception of a piece; pieces not yet begun are left out then, and those begun are waited for. So with Ctrl-C.
    """
    _let_go_of_interrupted()
    total = sum(map(cost, pieces))
    threads = min(len(pieces), 1 + int(total / WORTH_A_THREAD), cores())
    if threads > 1:
        try:
            if _in_threads(work, sorted(pieces, key=cost, reverse=True), threads, make_room):
                return
        except BaseException:
            _let_go_of_interrupted()
            raise
    if pieces:
        room = make_room()
        for piece in pieces:
            work(piece, room)


def _in_threads(work: Any, pieces: Sequence[Any], threads: int, make_room: Any) -> bool:
    """Whether BLAS would take more than one: else nothing is done."""
    with one_thread_in_blas() as allowed:
        if min(threads, allowed) > 1:
            _share(work, pieces, min(threads, allowed), make_room)
            return True
    return False


def _share(work: Any, pieces: Sequence[Any], threads: int, make_room: Any) -> None:
    """Ctrl-C reaches the main thread between any two steps: each step here may be the last one, or be done twice."""
    todo = deque(pieces)
    helpers = [threading.RLock() for _ in range(threads - 1)]  # a helper has its own while it works
    errors: list[BaseException] = []

    def take() -> None:
        """Do pieces until there are none, or one has failed."""
        room = None
        while True:
            try:
                piece = todo.popleft()
            except IndexError:
                return
            room = make_room() if room is None else room
            work(piece, room)

    def help_out(busy: Any) -> None:
        if not busy.acquire(blocking=False):  # too late: the call is over
            return
        try:
            take()
        except BaseException as error:  # a KeyboardInterrupt that a piece raises too
            errors.append(error)
            todo.clear()
        finally:
            busy.release()

    try:
        try:
            for busy in helpers:
                # With the settings of this one, such as np.errstate. Not threading.Thread, whose start waits for the
                # other thread to run: on a busy machine, milliseconds.
                _thread.start_new_thread(_with_blas_on_one, (contextvars.copy_context(), help_out, busy))
        except RuntimeError:  # the system gives no more, or, as in a browser, none
            pass
        take()
        _finish(todo, helpers)
    except BaseException:  # a piece's own, or Ctrl-C anywhere above
        _finish(todo, helpers)
        raise
    if errors:
        raise errors[0]


def _finish(todo: deque[Any], helpers: Sequence[Any]) -> None:
    """Begin nothing more, and wait for what was begun, through any number of Ctrl-C, the last of which is raised then.

    Who has a lock already can take it again, so that this may be broken off anywhere and done once more. A helper that
    comes later finds its lock taken.
    """
    interrupt = None
    while True:
        try:
            todo.clear()
            for busy in helpers:
                busy.acquire()
            break
        except BaseException as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


@functools.cache
def cores() -> int:
    """Cores this process may use, as of the first call: BLAS looks once too."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# BLAS -------------------------------------------------------------------------------------------------------


class _Held:
    """Which calls hold BLAS at one thread, and how many threads each library had before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.calls: set[one_thread_in_blas] = set()
        self.before: dict[Any, int] = {}


_held = _Held()


class one_thread_in_blas:
    """BLAS works on one thread meanwhile; gives the number of threads that it had. 1 where it is not known.

    For a `with` statement. Calls in several threads may overlap: the last one out gives BLAS its threads back. Where
    Ctrl-C breaks that off, it is done again; and where a second one breaks that off, this thread's next call does it.
    """

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.frame: FrameType | None = None  # that of the `with`: while it runs, so does the call

    def __enter__(self) -> int:
        self.frame = sys._getframe(1)
        _let_go_of_interrupted()
        try:
            return self._take()
        except BaseException:
            _unlock()
            self.let_go()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self.let_go()
        except BaseException:
            _unlock()
            self.let_go()
            raise

    def _take(self) -> int:
        libraries = _libraries("scipy.linalg" in sys.modules)
        with _held.lock:
            if not _held.calls:
                _held.before = {library: library.get_num_threads() or 1 for library in libraries}
            _held.calls.add(self)  # from here on `let_go` has something to do
            for library in _held.before:
                _set(library, 1)
            return min(_held.before.values(), default=1)

    def let_go(self) -> None:
        """May be broken off anywhere, and done again."""
        with _held.lock:
            if self in _held.calls:  # else it is done, or this is a forked child
                for library, threads in _held.before.items():
                    if len(_held.calls) == 1 or _is_for_each_thread(library):
                        _give_back(library, threads)
                _held.calls.discard(self)
        self.frame = None


# What works under the lock.
_LOCKED = {one_thread_in_blas._take.__code__, one_thread_in_blas.let_go.__code__}


def _let_go_of_interrupted() -> None:
    """What Ctrl-C left behind in this thread: the lock, or calls that hold BLAS but are not under way any more.

    The lock by itself too: a second Ctrl-C may come when the call is no longer counted. This thread would never notice,
    as it may take its own lock again; every other one would wait for ever.
    """
    if not _held.calls and not _held.lock._is_owned():  # pyright: ignore[reportAttributeAccessIssue]
        return
    running, frame = set(), sys._getframe(1)
    while frame is not None:
        running.add(frame)
        frame = frame.f_back
    if _LOCKED.isdisjoint(
        frame.f_code for frame in running
    ):  # else a handler of a signal has come amid those
        _unlock()
    for call in tuple(_held.calls):
        if call.thread == threading.get_ident() and call.frame not in running:
            _unlock()
            call.let_go()


def _unlock() -> None:
    """Ctrl-C may have come between the last step under the lock and its release."""
    try:
        while True:
            _held.lock.release()
    except RuntimeError:  # this thread does not have it
        pass


def _with_blas_on_one(context: contextvars.Context, work: Callable[[Any], None], busy: Any) -> None:
    for library in tuple(_held.before):
        if _is_for_each_thread(library):
            _set(library, 1)
    context.run(work, busy)


def _give_back(library: Any, threads: int) -> None:
    if library.get_num_threads() == 1:  # else somebody else has changed it since
        _set(library, threads)


def _set(library: Any, threads: int) -> None:
    if library.get_num_threads() != threads:
        library.set_num_threads(threads)
        # threadpoolctl 3.8 lets only the thread that set a limit change it; but the last one out may be another.
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


def _is_for_each_thread(library: Any) -> bool:
    """Whether each thread of Python has its own number: where BLAS takes its threads from OpenMP."""
    return getattr(library, "threading_layer", "") == "openmp"


@functools.cache
def _libraries(_with_scipy: bool) -> list[Any]:
    """threadpoolctl's handles of NumPy's BLAS and, once it is loaded, SciPy's, which Numba uses."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _begin_anew() -> None:
    """In a forked child: the thread that held something is not there."""
    global _held
    cores.cache_clear()
    before = _held.before if _held.calls else {}
    _held = _Held()
    for library, threads in before.items():
        _give_back(library, threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
