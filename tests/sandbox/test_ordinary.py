"""Without a sandbox: kernels have limits, and end with all that they started, also when their grader is killed."""

import contextlib
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sdpa_helpers.sandbox import elsewhere, ordinary, scratch, start
from sdpa_helpers.sandbox.visible_files import EMPTY
from tests.handing_in import POINTS, RIGHT, TOTAL
from tests.sandbox import exhaust
from tests.sandbox.conftest import LIMITS, a_kernel, alive, printed_by, wait_until_gone

PROGRAMS = replace(LIMITS, subprocesses=True)
ATTACKS = (
    "endless loop",
    "shared memory of many processes",
    "daemon",
    "daemon whose parent ends",
    "a program",
    "os._exit",
    "closes every file",
    "200 MB of output",
    "a million folders",
)

FAMILY = """
import os, subprocess, sys, time
print(os.getpid())
print(subprocess.Popen(["sleep", "1000"], start_new_session=True).pid)
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, str(os.getpid()).encode())
        time.sleep(1000)
    os._exit(0)
print(os.read(read, 20).decode())
"""
"""Starts a program in a session of its own and a daemon; prints the three pids."""


@pytest.mark.parametrize("name", ATTACKS)
def test_nobody_is_worn_down(graded, name):
    record = graded("off", exhaust.source_of(name), PROGRAMS)
    assert record.exercise("dot_product").points == 0
    assert record.points == TOTAL - POINTS["dot_product"], (record.status, record.flags)


def test_a_kernel_ends_with_all_that_it_started():
    with a_kernel("off", PROGRAMS) as kernel:
        processes = [psutil.Process(int(pid)) for pid in printed_by(kernel, FAMILY).split()]
        assert len(processes) == 3
        assert all(map(alive, processes))
    assert wait_until_gone(lambda: [p for p in processes if alive(p)]) == []


def test_its_limits_are_those_of_the_other_levels(warm):
    code = "import os, resource as r\n"
    code += "print([r.getrlimit(getattr(r, 'RLIMIT_' + n)) for n in ('CPU', 'FSIZE', 'NOFILE', 'CORE')])"
    said = []
    for level in ("off", warm):
        with a_kernel(level) as kernel:
            said.append(printed_by(kernel, code))
            assert "OK" in printed_by(kernel, "try: bytearray(2 << 30)\nexcept MemoryError: print('OK')")
    assert said[0] == said[1] != ""


@pytest.mark.parametrize("way", ["a fork server that psutil watches", "a fresh interpreter for each"])
def test_other_systems_get_the_same_results(graded, monkeypatch, way):
    """As macOS and Windows would have it, as far as Linux can show it."""
    if way.startswith("a fork"):
        monkeypatch.setattr(ordinary, "LINUX", False)
    else:
        monkeypatch.setattr(start, "Ordinary", elsewhere.Fresh)
    start.end("off")
    try:
        assert graded("off", RIGHT["dot_product"]).points == TOTAL
        for name in ("endless loop", "os._exit", "a program"):
            record = graded("off", exhaust.source_of(name))
            assert record.points == TOTAL - POINTS["dot_product"], (name, record.status)
        with a_kernel("off", PROGRAMS) as kernel:
            me, program, daemon = (psutil.Process(int(pid)) for pid in printed_by(kernel, FAMILY).split())
        assert wait_until_gone(lambda: [p for p in (me, program) if alive(p)]) == []
        with contextlib.suppress(psutil.NoSuchProcess):
            daemon.kill()  # nothing finds it there; docs/sandbox.md says so
    finally:
        start.end("off")


GRADER = """
import sys, time
from sdpa_helpers.sandbox.limits import Limits
from tests.sandbox.conftest import a_kernel, printed_by
with a_kernel("off", Limits(subprocesses=True)) as kernel:
    print(*printed_by(kernel, sys.argv[1]).split(), flush=True)
    kernel.execute_cell_input("while True: pass")
    time.sleep(1000)
"""


def test_kill_minus_nine_of_the_grader_leaves_nothing(course):
    grader = subprocess.Popen(
        [sys.executable, "-c", GRADER, FAMILY], stdout=subprocess.PIPE, text=True, cwd=course
    )
    assert grader.stdout is not None
    pids = map(int, grader.stdout.readline().split())
    processes = {*psutil.Process(grader.pid).children(recursive=True), *map(psutil.Process, pids)}
    assert len(processes) >= 4  # the fork server, the kernel, the program, the daemon
    grader.kill()
    grader.communicate()
    assert wait_until_gone(lambda: [p for p in processes if alive(p)]) == []
    left = [p for p in Path(tempfile.gettempdir()).glob(f"sdpa-*-{grader.pid}.*") if p.is_dir()]
    assert not [p for folder in left for p in folder.rglob("*") if p.suffix == ".json"]
    scratch.sweep()
    assert not any(p.exists() for p in left)


def test_a_level_that_was_made_ready_beforehand_is_the_one_that_is_used():
    start.prepare("off", EMPTY)
    made = start._made["off", EMPTY]
    with a_kernel("off") as kernel:
        assert printed_by(kernel, "print(1)") == "1\n"
    assert start._made["off", EMPTY] is made
