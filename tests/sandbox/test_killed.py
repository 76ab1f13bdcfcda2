"""What is left when a fork server, a worker or a grader is killed; and who runs out of clock on a busy machine."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest

from sdpa_helpers.classroom.executors import Processes, grade_all
from sdpa_helpers.grading.grade_one import Attempt, Settings, attempt
from sdpa_helpers.grading.kernel_package import kernel_package
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.sandbox import scratch, start
from sdpa_helpers.sandbox.levels import Warm
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.visible_files import EMPTY
from tests.handing_in import POINTS, RIGHT, TOTAL
from tests.nightly import at_night
from tests.results import result
from tests.sandbox.conftest import LIMITS, NAME, a_kernel, alive, kernels, printed_by, wait_until_gone


@pytest.mark.parametrize("level", ["warm", "off"])
def test_a_fork_server_that_is_killed_costs_nothing(graded, warm, level):
    graded(level, "def dot_product(q, k):\n    return 1.0")
    server = start._made[level, kernel_package()].server.process
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    assert graded(level, RIGHT["dot_product"]).points == TOTAL


def test_a_fork_server_that_is_killed_while_a_kernel_runs_is_not_the_learners_fault(hand_in, warm):
    path = hand_in("ada", **{**RIGHT, "dot_product": f"import time\ntime.sleep(1.0)\n{RIGHT['dot_product']}"})
    start.start_kernel(warm, LIMITS, kernel_package()).close()
    server = start._made[warm, kernel_package()].server.process
    timer = threading.Timer(0.7, lambda: os.kill(server.pid, signal.SIGKILL))
    timer.start()
    record = attempt(Submission("ada", NAME, path), Settings("s", LIMITS, sandbox=warm)).result
    assert server.poll() is not None
    assert (record.points, record.status) == (TOTAL, "graded")


@pytest.mark.parametrize("signal_", ["SIGKILL", "SIGSTOP"])
@pytest.mark.parametrize("level", ["warm", "bubblewrap", "landlock"])
def test_a_signal_to_ones_own_group_reaches_no_other_kernel(usable, level, signal_):
    """Not though both are forks of one server, and not the server."""
    with a_kernel(usable(level)) as honest, a_kernel(level) as hostile:
        hostile.execute_cell_input(f"import os, signal; os.kill(0, signal.{signal_})")
        hostile.execute_cell_input(f"os.killpg(os.getpgrp(), signal.{signal_})")
        time.sleep(0.5)  # it stands still, or is gone: there is nothing of it to wait for
        assert printed_by(honest, "print('here')") == "here\n"
    with a_kernel(level) as later:
        assert printed_by(later, "print('here')") == "here\n"


SLEEPER = "import time\ntime.sleep(30)\ndef dot_product(q, k):\n    return 1.0"


@pytest.mark.parametrize(
    ("whom", "level"),
    [
        *(("worker", "warm"), ("grader", "warm"), ("worker", "bubblewrap"), ("grader", "landlock")),
        *(at_night("grader", "bubblewrap"), at_night("worker", "landlock")),
    ],
)
def test_kill_minus_nine_leaves_nothing(hand_in, usable, tmp_path, whom, level):
    usable(level)
    start.end(level)
    hand_in("ada", **{**RIGHT, "dot_product": SLEEPER})
    code = f"""
import sys
from pathlib import Path
from sdpa_helpers.grading.grade_one import Settings
from sdpa_helpers.classroom.executors import Processes, grade_all
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.visible_files import EMPTY, KernelPackage
from sdpa_helpers.grading.kernel_package import kernel_package
from sdpa_helpers.grading.read import Submission
if __name__ == "__main__":
    submission = Submission("ada", {NAME!r}, Path(sys.argv[1]))
    limits = Limits(seconds=3, cell_seconds=1, patience=3, memory_mb=768)
    for done in grade_all([submission], Settings("s", limits, sandbox={level!r}), Processes(1)):
        print(done.result.points)
"""
    script = tmp_path / "grade_one.py"
    script.write_text(code)
    path = tmp_path / "in" / "ada" / f"{NAME}.ipynb"
    grader = subprocess.Popen(
        [sys.executable, str(script), str(path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    tree = psutil.Process(grader.pid)
    deadline = time.monotonic() + 60
    while not (mine := sandboxed(tree)) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    everything = tree.children(recursive=True)
    victim = (
        tree if whom == "grader" else next(p for p in tree.children() if "bwrap" not in " ".join(p.cmdline()))
    )
    victim.kill()
    try:
        inside = [p for p in everything if p in mine]
        assert wait_until_gone(lambda: [p for p in inside if alive(p)]) == []
        if whom == "worker":
            assert grader.communicate(timeout=60)[0].strip() == str(
                TOTAL - POINTS["dot_product"]
            )  # graded again by another worker
        else:
            grader.wait()
            assert wait_until_gone(lambda: [p for p in everything if alive(p)], 10) == []
            scratch.sweep()  # what the next command does first
    finally:
        for process in (tree, *everything):
            if alive(process):
                process.kill()
    owners = {str(p.pid) for p in (tree, *everything)}
    left = [p.name for p in Path(tempfile.gettempdir()).glob("sdpa-*-*.*-*")]
    assert [n for n in left if n.split("-")[-2].split(".")[0] in owners] == []


def sandboxed(tree: psutil.Process) -> list[psutil.Process]:
    """Kernels below a process."""
    found = []
    for process in tree.children(recursive=True):
        try:
            command = " ".join(process.cmdline())
        except psutil.Error:
            continue
        if any(f"inside.{name}" in command for name in ("fork_server", "alone", "fenced")):
            found.append(process)
    return found


def test_who_ran_out_of_clock_on_a_busy_machine_is_tried_again_alone(hand_in, warm, monkeypatch):
    from sdpa_helpers.classroom import executors
    from sdpa_helpers.grading import run

    # In the workers too: they are forked, whatever threads earlier tests have left.
    monkeypatch.setattr(run, "was_busy", lambda pid, seconds: True)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    tried = []

    def grade_alone(_, submission):
        tried.append(submission.student)
        return Attempt(result(submission.student, []))

    monkeypatch.setattr(executors.Alone, "grade", grade_alone)
    sleepy = hand_in("zoe", **{**RIGHT, "dot_product": SLEEPER})
    busy = hand_in("bob", **{**RIGHT, "dot_product": "while True: pass"})
    submissions = [Submission("zoe", NAME, sleepy), Submission("bob", NAME, busy)]
    # Four seconds on the clock, of which a busy loop needs a quarter on a processor: also where many share it.
    limits = Limits(seconds=4, cell_seconds=0.25, memory_mb=768, patience=16.0)
    attempts = list(grade_all(submissions, Settings("s", limits, sandbox=warm), Processes(1)))
    assert tried == ["zoe"]
    assert [done.result.student for done in attempts] == ["bob", "zoe"]
    assert wait_until_gone(kernels) == []


def test_a_fork_server_ends_with_its_leash(usable):
    """Not by the signal that bubblewrap asks for: a grader can be killed before it has asked."""
    usable("warm")
    level = Warm(EMPTY)
    try:
        level.launch(LIMITS).close()
        assert level.healthy()
        level.server.leash.close()
        assert level.server.process.wait(timeout=10) == 0
    finally:
        level.close()
