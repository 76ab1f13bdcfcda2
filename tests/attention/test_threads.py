"""Pieces of one call in several threads: real ones, whatever this machine has."""

import contextlib
import itertools
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
import traceback

import numpy as np
import pytest

from sdpa_helpers.attention import threads

DEAR = threads.WORTH_A_THREAD * 4


def for_each(work, pieces, cost=DEAR):
    threads.for_each(lambda piece, room: work(piece), pieces, lambda piece: cost, lambda: None)


def test_several_threads_work_at_a_time_with_blas_on_one(blas):
    meet = threading.Barrier(3, timeout=20)
    seen = []

    def work(piece):
        meet.wait()  # passes only when three are here
        seen.append((threading.get_ident(), blas.threads))

    for_each(work, range(3))
    assert len({thread for thread, _ in seen}) == 3
    assert {number for _, number in seen} == {1}
    assert blas.threads == 3


def test_every_piece_once_the_largest_first_and_a_room_for_each_thread(blas):
    done, rooms = [], []
    threads.for_each(
        lambda piece, room: done.append(piece) or room.append(piece),
        [1, 5, 2, 4, 3],
        lambda piece: DEAR * piece,
        lambda: rooms.append([]) or rooms[-1],
    )
    assert sorted(done) == [1, 2, 3, 4, 5]
    assert sorted(piece for room in rooms for piece in room) == [1, 2, 3, 4, 5]
    assert all(room == sorted(room, reverse=True) for room in rooms)


@pytest.mark.parametrize("limit", ["little work", "BLAS has one thread", "one core", "no threads to be had"])
def test_stays_in_the_callers_thread(blas, monkeypatch, limit):
    if limit == "BLAS has one thread":
        blas.threads = 1
    if limit == "one core":
        monkeypatch.setattr(threads, "cores", lambda: 1)
    if limit == "no threads to be had":
        monkeypatch.setattr(threads._thread, "start_new_thread", refuse)
    before, seen = blas.threads, []
    for_each(
        lambda piece: seen.append(threading.get_ident()), range(9), 1.0 if limit == "little work" else DEAR
    )
    assert seen == [threading.get_ident()] * 9
    assert blas.threads == before


def refuse(*_):
    raise RuntimeError("can't start new thread")


def test_the_callers_settings_hold_in_all_threads(blas):
    meet, seen = threading.Barrier(3, timeout=20), []

    def work(piece):
        meet.wait()
        seen.append(np.geterr()["over"])

    with np.errstate(over="raise"):
        for_each(work, range(3))
    assert seen == ["raise"] * 3


def test_an_exception_reaches_the_caller_and_ends_the_rest(blas):
    meet, done = threading.Barrier(3, timeout=20), []

    def work(piece):
        if piece < 3:
            meet.wait()
        if piece == 1:
            raise ValueError("piece 1")
        time.sleep(0.01)
        done.append(piece)

    with pytest.raises(ValueError, match="piece 1"):
        for_each(work, range(1000))
    assert len(done) < 999
    number = len(done)
    time.sleep(0.05)
    assert len(done) == number, "something still runs"
    assert blas.threads == 3


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt, also where whoever started these tests has it ignored, as `nohup … &` does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_waits_for_what_was_begun_and_leaves_nothing_running(blas, ctrl_c):
    meet, done, begun = threading.Barrier(3, timeout=20), [], []

    def work(piece):
        begun.append(piece)
        if piece < 3:
            meet.wait()
            if threading.current_thread() is threading.main_thread():
                signal.raise_signal(signal.SIGINT)
        time.sleep(0.01)
        done.append(piece)

    with pytest.raises(KeyboardInterrupt):
        for_each(work, range(1000))
    assert len(done) == len(begun) - 1
    assert len(begun) < 1000
    assert blas.threads == 3


@pytest.mark.parametrize("times", [1, 3])
def test_ctrl_c_while_waiting_for_the_others(blas, ctrl_c, times):
    meet, done = threading.Barrier(2, timeout=20), []

    def work(piece):
        meet.wait()
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.1)  # until the other one waits
            for _ in range(times):
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                time.sleep(0.02)
        done.append(piece)

    with pytest.raises(KeyboardInterrupt):
        for_each(work, range(2))
    assert len(done) == 2


class Interrupted:
    """A call of which each line in threads.py, and each return there, is a place where Ctrl-C may come."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.where = ""
        self.begun, self.done = [], []

    def work(self, piece):
        self.begun.append(piece)
        time.sleep(0.0005)
        self.done.append(piece)

    def run(self):
        sys.settrace(self.trace)
        try:
            for_each(self.work, range(5))
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)

    def trace(self, frame, event, _):
        if frame.f_code.co_filename != threads.__file__:
            return None
        if event in ("line", "return"):
            self.place -= 1
            if self.place < 0 and not self.where:
                self.where = f"{event} of line {frame.f_lineno}, in {frame.f_code.co_name}"
                raise KeyboardInterrupt
        return self.trace


def is_all_let_go(blas):
    """As another thread sees it: who has the lock could take it once more."""
    free = []

    def look():
        if threads._held.lock.acquire(blocking=False):
            threads._held.lock.release()
            free.append(True)

    other = threading.Thread(target=look)
    other.start()
    other.join()
    return bool(free) and not threads._held.calls and blas.threads == 3


def where_all_stand():
    """The lines where each thread of this process is."""
    stacks = (traceback.format_stack(frame) for frame in sys._current_frames().values())
    return "\n".join("".join(stack) for stack in stacks)


def test_ctrl_c_at_any_line_leaves_nothing_behind(blas):
    assert is_all_let_go(blas), "an earlier test has left something"
    for place in itertools.count():
        call = Interrupted(place)
        thread = threading.Thread(
            target=call.run, daemon=True
        )  # so that a call that hangs fails, and no more
        thread.start()
        thread.join(10)
        assert not thread.is_alive(), f"hangs: {call.where}\n{where_all_stand()}"
        if not call.where:
            break
        assert sorted(call.done) == sorted(call.begun), f"something still runs: {call.where}"
        assert is_all_let_go(blas), call.where
    assert place > 50
    assert sorted(call.done) == [0, 1, 2, 3, 4]


def test_what_ctrl_c_left_behind_the_next_call_lets_go(blas):
    def is_broken_off():
        threads.one_thread_in_blas().__enter__()

    is_broken_off()
    assert blas.threads == 1
    for_each(lambda piece: None, range(2), cost=1.0)
    assert is_all_let_go(blas)


class LockThatIsStruck:
    """A lock that Ctrl-C keeps from being let go, some times: it comes behind the last step under the lock."""

    def __init__(self, times: int) -> None:
        self.lock = threading.RLock()
        self.times = times

    def __getattr__(self, name):
        return getattr(self.lock, name)

    def __enter__(self):
        return self.lock.acquire()

    def __exit__(self, *_):
        if self.times:
            self.times -= 1
            raise KeyboardInterrupt
        self.lock.release()


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_a_lock_that_nobody_else_could_take_is_let_go_too(blas, monkeypatch, times):
    """However often Ctrl-C came: at once, or where it came too often, in this thread's next call."""
    held = threads._Held()
    held.lock = LockThatIsStruck(times)
    monkeypatch.setattr(threads, "_held", held)
    with contextlib.suppress(KeyboardInterrupt):
        for_each(lambda piece: None, range(3))
    assert times > 2 or is_all_let_go(blas)
    for _ in range(2):
        with contextlib.suppress(KeyboardInterrupt):
            for_each(lambda piece: None, range(3), cost=1.0)
    assert is_all_let_go(blas)


def test_a_handler_of_a_signal_may_compute_amid_what_is_locked(blas, monkeypatch):
    """Then the lock is no left one."""
    monkeypatch.setattr(
        blas,
        "get_num_threads",
        lambda: for_each(lambda piece: None, range(2), cost=1.0) or blas.threads,
    )
    for_each(lambda piece: None, range(3))
    assert is_all_let_go(blas)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_signals_one_after_the_other_at_any_time(blas):
    """In a child, which can be ended should it hang."""
    child = multiprocessing.get_context("fork").Process(
        target=in_a_hail_of_signals, args=(blas,), daemon=True
    )
    child.start()
    child.join(30)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0


def in_a_hail_of_signals(blas):
    left, struck, chance = 0, 0, random.Random(0)

    def strike(_, frame):
        nonlocal left, struck
        while frame is not None and frame.f_code is not threads.for_each.__code__:
            frame = frame.f_back
        if frame is not None and left:
            left, struck = left - 1, struck + 1
            raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, strike)
    for _ in range(200):
        left = hits = chance.choice([1, 1, 2, 3])
        begun, done = [], []

        def work(piece, begun=begun, done=done):
            is_helper = threading.current_thread() is not threading.main_thread()
            begun.extend([piece] * is_helper)
            time.sleep(0.0002)
            done.extend([piece] * is_helper)

        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 1e-3), 5e-5)
        with contextlib.suppress(KeyboardInterrupt):
            for_each(work, range(6))
        signal.setitimer(signal.ITIMER_REAL, 0)
        for_each(lambda piece: None, range(2), cost=1.0)
        assert is_all_let_go(blas)
        # A second within microseconds of the first may find a gap in which the helpers are not waited for.
        assert hits > 1 or len(begun) == len(done)
    assert struck > 100


def test_overlapping_calls_give_blas_its_threads_back(blas):
    """The first one in is the first one out, so that the other ends it, in another thread."""
    first_out, second_in, seen = threading.Event(), threading.Event(), []

    def second():
        with threads.one_thread_in_blas() as allowed:
            second_in.set()
            first_out.wait(20)
            seen.extend([allowed, blas.threads])

    other = threading.Thread(target=second)
    with threads.one_thread_in_blas() as allowed:
        other.start()
        assert second_in.wait(20)
    first_out.set()
    other.join()
    assert (allowed, seen) == (3, [3, 1])
    assert blas.threads == 3


def test_a_limit_that_somebody_sets_meanwhile_stays(blas):
    with threads.one_thread_in_blas():
        blas.threads = 2
    assert blas.threads == 2


def test_the_real_library_gets_its_threads_back():
    libraries = threads._libraries(False)
    before = [library.get_num_threads() for library in libraries]
    other = threading.Thread(target=lambda: [for_each(lambda piece: None, range(5)) for _ in range(50)])
    other.start()
    for _ in range(50):
        for_each(lambda piece: None, range(5))
    other.join()
    assert [library.get_num_threads() for library in libraries] == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_in_the_middle_of_a_call_has_threads_of_its_own(blas):
    """The call's other threads are not there, and BLAS is not left on one thread."""
    meet = threading.Barrier(3, timeout=20)

    def in_the_child(queue):
        number = blas.threads
        test_several_threads_work_at_a_time_with_blas_on_one(blas)
        queue.put(number)

    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    answers = []

    def work(piece):
        meet.wait()
        if threading.current_thread() is threading.main_thread():
            child = context.Process(target=in_the_child, args=(queue,))
            child.start()
            answers.append(queue.get(timeout=20))
            child.join(20)
            answers.append(child.exitcode)

    for_each(work, range(3))
    assert answers == [3, 0]
