"""The box in which hostile text is read: what comes back of one that ends, whichever way it ends."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from sdpa_helpers.grading import reading_box
from sdpa_helpers.grading.reading_box import Boxed, BoxLimits, boxed

pytestmark = pytest.mark.skipif(not reading_box.FORKS, reason="no box on this platform")


def in_one_regular_expression():
    """What no exception can stop."""
    yield "before"
    yield bool(re.match(r"(a+)+$", "a" * 60 + "b"))


def swell():
    yield "before"
    kept = []
    while True:
        kept.append(bytearray(10 << 20))


def gush():
    yield "before"
    while True:
        yield "x" * 10_000


def wait():
    yield "before"
    time.sleep(60)


def wrong():
    yield "before"
    raise KeyError("a name")


def dies():
    yield "before"
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.mark.parametrize(
    ("read", "ended", "limits"),
    [
        (in_one_regular_expression, "time", BoxLimits(cpu_seconds=1)),
        (swell, "memory", BoxLimits(memory_mb=64)),
        (gush, "too-much", BoxLimits(answer_bytes=500_000)),
        (wait, "deadline", BoxLimits(wall_seconds=0.05)),
        (wrong, "failed", BoxLimits()),
        (dies, "memory", BoxLimits()),
    ],
)
def test_what_was_found_before_the_end_is_kept(read, ended, limits, monkeypatch):
    begun, fork = [], os.fork
    monkeypatch.setattr(os, "fork", lambda: begun.append(fork()) or begun[-1])
    found = boxed(read, limits)
    assert found.ended == ended
    assert found.parts[0] == "before"
    assert begun
    for child in begun:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)  # nothing of it is left


def test_all_that_is_yielded_comes_back_in_its_order():
    parts = [{"a": [1, "é", None]}, "\udcff half a pair", [], "x" * 200_000]
    assert boxed(lambda: iter(parts)) == Boxed(tuple(parts), "")


def test_an_error_is_told():
    assert boxed(wrong).error == "KeyError: 'a name'"


def test_a_box_that_met_the_deadline_is_tried_once_more(tmp_path):
    def slow_at_first():
        if not (tmp_path / "seen").exists():
            (tmp_path / "seen").touch()
            time.sleep(60)
        yield 1

    assert boxed(slow_at_first, BoxLimits(wall_seconds=0.4)) == Boxed((1,), "")


def test_it_has_no_files_of_its_parent_and_no_core_file():
    def look():
        import resource

        yield len(os.listdir("/proc/self/fd"))
        yield resource.getrlimit(resource.RLIMIT_CORE)

    with open(os.devnull):
        found = boxed(look)
    assert found.parts == (5, [0, 0])  # three standard ones, the pipe, and the listing itself


def test_a_limit_that_is_lower_already_stays():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n"
        "from sdpa_helpers.grading.reading_box import boxed\n"
        "print(boxed(lambda: iter([list(resource.getrlimit(resource.RLIMIT_CPU))])).parts)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "([1, 1],)"


def test_without_forks_the_same_comes_from_this_process(monkeypatch):
    monkeypatch.setattr(reading_box, "FORKS", False)
    assert boxed(lambda: iter([1, (2,)])) == Boxed((1, [2]), "")
    assert boxed(wrong) == Boxed(("before",), "failed", "KeyError: 'a name'")


def tells_its_pid():
    yield os.getpid()


@pytest.mark.parametrize(
    ("then", "ended"),
    [(in_one_regular_expression, "time"), (swell, "memory"), (wait, "deadline"), (wrong, "failed")],
)
def test_a_kept_box_reads_on_and_what_it_cannot_read_is_told_by_a_new_one(then, ended, monkeypatch):
    monkeypatch.setattr(reading_box, "_kept", [])
    limits = BoxLimits(cpu_seconds=1, memory_mb=64, wall_seconds=0.05 if then is wait else 60)
    (first,), (second,) = boxed(tells_its_pid, limits).parts, boxed(tells_its_pid, limits).parts
    assert first == second != os.getpid()
    found = boxed(then, limits)
    assert (found.parts, found.ended) == (("before",), ended)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert boxed(tells_its_pid, limits).parts != (first,)


def grows():
    yield len(KEPT.append(bytearray(100 << 20)) or KEPT)


KEPT = []


def test_a_box_that_has_grown_or_been_killed_is_not_asked_again(monkeypatch):
    monkeypatch.setattr(reading_box, "_kept", [])
    assert [boxed(grows).parts for _ in range(2)] == [(1,), (1,)]
    (pid,) = boxed(tells_its_pid).parts
    os.kill(pid, signal.SIGKILL)
    assert boxed(tells_its_pid).ended == ""
