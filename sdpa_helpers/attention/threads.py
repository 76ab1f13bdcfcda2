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
import queue
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
        the first exception of a piece; pieces not yet begun are left out then, and those begun are waited for.
    """
    total = sum(map(cost, pieces))
    threads = min(len(pieces), 1 + int(total / WORTH_A_THREAD), cores())
    if threads > 1:
        with one_thread_in_blas() as allowed:
            threads = min(threads, allowed)
            if threads > 1:
                _share(work, sorted(pieces, key=cost, reverse=True), threads, make_room)
                return
    if pieces:
        room = make_room()
        for piece in pieces:
            work(piece, room)


def _share(work: Any, pieces: Sequence[Any], threads: int, make_room: Any) -> None:
    todo: queue.Queue[Any] = queue.Queue()
    for piece in pieces:
        todo.put(piece)
    errors: list[BaseException] = []

    def take() -> None:
        """Do pieces until there are none, or one has failed."""
        room = None
        while True:
            try:
                piece = todo.get_nowait()
            except queue.Empty:
                return
            try:
                room = make_room() if room is None else room
                work(piece, room)
            except BaseException as error:  # KeyboardInterrupt too
                errors.append(error)
                _empty(todo)
            finally:
                todo.task_done()

    for _ in range(threads - 1):
        # With the settings of this one, such as np.errstate. Not threading.Thread, whose start waits for the other
        # thread to run: on a busy machine, milliseconds. Nor is a thread waited for that comes too late for a piece.
        try:
            _thread.start_new_thread(_help, (take, contextvars.copy_context()))
        except RuntimeError:  # the system gives no more, or, as in a browser, none
            break
    try:
        take()
        todo.join()
    except BaseException:  # Ctrl-C between two pieces, or while waiting for the others' last ones
        _empty(todo)
        todo.join()
        raise
    if errors:
        raise errors[0]


def _empty(todo: queue.Queue[Any]) -> None:
    while True:
        try:
            todo.get_nowait()
        except queue.Empty:
            return
        todo.task_done()


@functools.cache
def cores() -> int:
    """Cores this process may use, as of the first call: BLAS looks once too."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# BLAS -------------------------------------------------------------------------------------------------------


class _Held:
    """How many calls hold BLAS at one thread, and how many threads each library had before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls = 0
        self.before: dict[Any, int] = {}


_held = _Held()


@contextmanager
def one_thread_in_blas() -> Iterator[int]:
    """BLAS works on one thread meanwhile; gives the number of threads that it had. 1 where it is not known.

    Calls in several threads may overlap: the last one out gives BLAS its threads back.
    """
    libraries = _libraries("scipy.linalg" in sys.modules)
    with _held.lock:
        if _held.calls == 0:
            _held.before = {library: library.get_num_threads() or 1 for library in libraries}
        _held.calls += 1
        for library in libraries:
            _set(library, 1)
        allowed = min(_held.before.values(), default=1)
    try:
        yield allowed
    finally:
        with _held.lock:
            _held.calls -= 1
            for library, threads in _held.before.items():
                if _held.calls == 0 or _is_for_each_thread(library):
                    _give_back(library, threads)


def _help(take: Callable[[], None], context: contextvars.Context) -> None:
    for library in _held.before:
        if _is_for_each_thread(library):
            _set(library, 1)
    context.run(take)


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
