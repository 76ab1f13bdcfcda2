"""Who sleeps does not wait for a processor."""

import os
import subprocess
import time

import pytest

from sdpa_helpers.sandbox import busy


def test_who_sleeps_does_not_wait_for_a_processor():
    sleeper = subprocess.Popen(["sleep", "100"])
    try:
        time.sleep(0.05)
        if not busy._waits(sleeper.pid):
            pytest.skip("this system does not count how long a process waits")
        assert not busy.was_busy(sleeper.pid, 100.0)
    finally:
        sleeper.kill()
        sleeper.wait()


def test_who_waits_for_a_processor_is_not_idle():
    """Four loops on one processor: each waits three quarters of the time. Beside them one that sleeps.

    How long it takes until that one has been idle for half a second depends on the machine; that no loop has, does not.
    """
    one = {min(os.sched_getaffinity(0))}
    spent = busy.spent_here()
    loops = [
        subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=lambda: os.sched_setaffinity(0, one))
        for _ in range(4)
    ]
    sleeper = subprocess.Popen(["sleep", "100"])
    began = time.monotonic()  # behind the starts: on a busy machine they take a part of a second
    try:
        if not busy._waits(sleeper.pid):
            pytest.skip("this system does not count how long a process waits")
        idle = [0.0]
        while idle[-1] < 0.5:
            assert time.monotonic() - began < 60
            time.sleep(0.1)
            idle = [busy.idle(p.pid, time.monotonic() - began, 0.0, spent) for p in (*loops, sleeper)]
        assert max(idle[:4]) < 0.15
    finally:
        for process in (*loops, sleeper):
            process.kill()
            process.wait()


def test_nobody_is_idle_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(busy, "_schedstat", lambda thread: [])
    assert busy.idle(os.getpid(), 100.0, 0.0, busy.spent_here()) == 0.0


@pytest.mark.parametrize(
    ("waits", "so"), [([0.1, 6.0], True), ([4.0, 4.0, 4.0], False), ([], True)], ids=["yes", "no", "unknown"]
)
def test_it_is_the_thread_that_waited_longest_which_counts(monkeypatch, waits, so):
    monkeypatch.setattr(busy, "tree", lambda pid: [pid])
    monkeypatch.setattr(busy, "_waits", lambda pid: waits)
    assert busy.was_busy(1, 10.0) is so
