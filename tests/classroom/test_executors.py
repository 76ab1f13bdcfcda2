"""A real Dask cluster of separate processes gives the same files as this machine alone, whatever happens to it."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sdpa_helpers.classroom import cluster, worker_process
from sdpa_helpers.classroom.cluster import Cluster, pack, work_there
from sdpa_helpers.classroom.executors import CannotGrade, Processes, grade_all
from sdpa_helpers.grading.grade_one import Attempt, Settings, grade
from sdpa_helpers.grading.read import MAX_NOTEBOOK_BYTES, Submission
from sdpa_helpers.grading.result_json import as_json
from tests.classroom.faults import NAME, gone, make_class, written
from tests.commands import sdpa
from tests.handing_in import RIGHT, TOTAL
from tests.nightly import at_night
from tests.ports import free_port
from tests.results import result

GRADE = [sys.executable, "-m", "sdpa_helpers", "grade", "--seed", "s", "--timeout", "20", "--memory", "1024"]


def graded_by_command(source: Path, out: Path, *options: str) -> subprocess.CompletedProcess:
    return sdpa(*GRADE[3:], source, "--out", out, *options)


class Dask:
    """A scheduler and workers, each a process started by Dask's own command line."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.log = (folder / "dask.log").open("w+")
        self.scratch = tempfile.mkdtemp(prefix="dask-")  # a short name, for sockets
        self.environment = {**os.environ, "TMPDIR": self.scratch, **environment}
        self.processes: list[subprocess.Popen] = []
        self.scheduler = self.start("scheduler", "--host", self.address, "--no-dashboard")

    def start(self, program: str, *options: str, before: str = "") -> subprocess.Popen:
        """`dask scheduler` or `dask worker`, after some Python that spoils it."""
        code = f"{before}\nimport sys; from dask.__main__ import main; sys.argv[0] = 'dask'; main()"
        command = [sys.executable, "-c", code, program, *options]
        process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=self.environment, cwd="/")
        self.processes.append(process)
        return process

    def worker(self, before: str = "") -> subprocess.Popen:
        """One without a nanny, which stays dead when it is killed."""
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", self.scratch)
        return self.start("worker", self.address, *options, before=before)

    def stop(self) -> None:
        """End them all."""
        for process in self.processes:
            process.kill()
            process.wait()
        self.log.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


@pytest.fixture
def dask(needs, tmp_path):
    needs("distributed")
    cluster = Dask(tmp_path)
    yield cluster
    cluster.stop()


def kernels(process: psutil.Process) -> list[psutil.Process]:
    """What runs in sandboxes below a worker."""
    found = []
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            if "inside." in " ".join(child.cmdline()):
                found.append(child)
    return found


def test_a_cluster_gives_the_same_bytes_also_when_a_worker_is_killed(hand_in, tmp_path, dask, needs_program):
    needs_program("bwrap")
    source = make_class(hand_in, tmp_path)
    first, second = dask.worker(), dask.worker()
    ran = graded_by_command(source, tmp_path / "here", "--jobs", "2")  # one gives the same: test_faults.py
    assert ran.returncode == 0, ran.stderr
    options = ["--executor", f"dask={dask.address}", "--sandbox", "require"]
    grader = subprocess.Popen(
        [*GRADE, str(source), "--out", str(tmp_path / "dask"), *options], stderr=subprocess.PIPE
    )
    victim = psutil.Process(first.pid)
    while not (inside := kernels(victim)) and grader.poll() is None:
        time.sleep(0.01)
    time.sleep(0.3)
    inside = kernels(victim) or inside
    victim.kill()
    said = grader.communicate(timeout=120)[1].decode()
    assert grader.returncode == 0, said
    assert gone(inside) == []
    assert second.poll() is None
    assert written(tmp_path / "dask") == written(tmp_path / "here")
    # All there: the cluster is not even asked.
    again = graded_by_command(source, tmp_path / "dask", "--executor", f"dask={dask.address}")
    assert "7 from an earlier run" in " ".join(again.stdout.split())


KILLER = """
import os, signal
def dot_product(q, k):
    with open(f"/proc/{os.getppid()}/stat") as file:  # the fork server's parent is the worker
        os.kill(int(file.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
"""


@pytest.mark.nightly  # the rule itself is tried below on an executor that does as it is told
def test_who_kills_worker_after_worker_is_the_only_one_to_lose_by_it(hand_in, tmp_path, needs):
    """Without a sandbox, where it can."""
    needs("distributed")
    hand_in("ada", **RIGHT)
    hand_in("kay", **{**RIGHT, "dot_product": KILLER})
    hand_in("zoe", **RIGHT)
    dask = Dask(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    try:
        workers = [dask.worker() for _ in range(4)]
        options = ("--executor", f"dask={dask.address}", "--sandbox", "off")
        ran = graded_by_command(tmp_path / "in", tmp_path / "out", *options)
        assert ran.returncode == 3, ran.stderr
        grades = (tmp_path / "out" / "grades.csv").read_text().split("\n")
        assert [row.split(",")[:2] for row in grades[1:4]] == [
            ["ada", f"{TOTAL:g}"],
            ["kay", "grader-failed"],
            ["zoe", f"{TOTAL:g}"],
        ]
        result = json.loads((tmp_path / "out" / "results" / "kay" / f"{NAME}.json").read_text())
        assert (result["status"], result["fingerprint"]) == (
            "grader-failed",
            "",
        )  # tried again by the next run
        assert sum(w.poll() is None for w in workers) == 1
        assert "no mark: kay, 01_dot_product" in " ".join(ran.stderr.split())
    finally:
        dask.stop()


SPOILED = {
    "another version": ("import sdpa_helpers; sdpa_helpers.__version__ = '0.0.1'", "has sdpa-helpers 0.0.1"),
    "no sandbox": (
        "from sdpa_helpers.sandbox import levels; levels.LEVELS.clear()",
        "--sandbox require: no sandbox holds on the worker",
    ),
    "no package": ("import sys; sys.modules['sdpa_helpers'] = None", "need the same packages"),
}


@pytest.mark.parametrize("how", ["another version", "no sandbox", at_night("no package")])
def test_a_worker_that_must_not_grade_refuses(hand_in, tmp_path, dask, how):
    before, says = SPOILED[how]
    hand_in("ada", **RIGHT)
    dask.worker(before)
    options = ("--executor", f"dask={dask.address}", "--sandbox", "require")
    ran = graded_by_command(tmp_path / "in", tmp_path / "out", *options)
    assert ran.returncode == 2, ran.stdout
    assert says in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "out" / "results").exists()


def test_a_scheduler_that_dies_leaves_what_is_graded(hand_in, tmp_path, dask):
    hand_in("ada", **RIGHT)
    grader = subprocess.Popen(
        [*GRADE, str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--executor", f"dask={dask.address}"],
        stderr=subprocess.PIPE,
        text=True,
    )
    said = ""
    while "has no worker" not in said:
        said += (line := grader.stderr.readline())
        assert line, said
    dask.scheduler.kill()
    said += grader.communicate(timeout=120)[1]
    assert grader.returncode == 2, said
    assert "is gone" in said
    assert "Traceback" not in said


def test_a_client_that_has_noticed_the_loss_hides_no_error_and_adds_none(tmp_path, dask):
    """Later than the test above: the client has given up, and refuses to cancel what is under way."""
    cluster = Cluster(dask.address, lambda note: None)
    path = tmp_path / f"{NAME}.ipynb"
    path.write_text("{")
    cluster.submit(Submission("ada", NAME, path), Settings("s"))
    dask.scheduler.kill()
    while cluster.client.status != "closed":
        time.sleep(0.05)
    cluster.seen = -10.0
    with pytest.raises(CannotGrade, match="is gone"):
        cluster.room()
    with pytest.raises(CannotGrade, match="is gone"):
        cluster.submit(Submission("ben", NAME, path), Settings("s"))
    cluster.close(finished=False)


def test_an_address_where_nobody_answers_is_an_error_within_seconds(tmp_path, needs):
    needs("distributed")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # and never says a word
        for address in (f"tcp://127.0.0.1:{silent.getsockname()[1]}", "nonsense://x"):
            with pytest.raises(CannotGrade, match="no Dask scheduler answers at"):
                Cluster(address, print)


def test_without_dask_the_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CannotGrade, match=r"pip install"):
        Cluster("tcp://127.0.0.1:1", print)


def test_a_file_beyond_the_limit_does_not_travel(tmp_path):
    path = tmp_path / f"{NAME}.ipynb"
    path.touch()
    os.truncate(path, MAX_NOTEBOOK_BYTES + 1)
    submission, settings = Submission("ada", NAME, path), Settings("s")
    task = pack(submission, replace(settings, sandbox="off"))
    assert task.content is None
    here, there = grade(submission, settings), work_there(task).result
    assert there.status == "unreadable"
    assert here == there


def test_a_worker_needs_no_file_of_the_graders(tmp_path):
    path = tmp_path / f"{NAME}.ipynb"
    path.write_text('{"cells": [')
    submission, settings = Submission("ada", NAME, path), Settings("s", sandbox="off")
    here, task = grade(submission, settings), pack(submission, settings)
    path.unlink()
    assert work_there(task).result == here
    assert "not valid JSON" in here.reason


def test_a_cluster_worker_tells_that_it_is_overdue_and_ends(tmp_path, monkeypatch):
    path = tmp_path / f"{NAME}.ipynb"
    path.write_text("{")
    settings = Settings("s", sandbox="off")
    ended, never = threading.Event(), threading.Event()
    monkeypatch.setattr(cluster, "MARGIN", 0.1 - settings.limits.wall_seconds)
    monkeypatch.setattr(cluster, "_LAST_WORDS", 0.1)
    monkeypatch.setattr(cluster, "work", lambda *_: never.wait())
    monkeypatch.setattr(cluster.faulthandler, "dump_traceback_later", lambda *_, **__: None)
    monkeypatch.setattr(cluster.os, "_exit", lambda status: ended.set())
    done = work_there(pack(Submission("ada", NAME, path), settings))
    assert (done.result.status, done.slow) == ("grader-failed", True)
    assert ended.wait(10)
    never.set()


# ---- this machine -----------------------------------------------------------------------------------------


def test_a_bug_that_a_notebook_finds_costs_only_that_notebook(hand_in, monkeypatch):
    def fail(submission, settings):
        raise KeyError("a bug")

    monkeypatch.setattr(worker_process, "attempt", fail)
    graded = worker_process.work(Submission("ada", NAME, hand_in("ada")), Settings("s")).result
    assert (graded.status, graded.points, graded.fingerprint) == ("grader-failed", 0, "")
    assert "KeyError" in graded.reason
    assert "a bug" not in json.dumps(as_json(graded))  # the text of an error could hold hidden numbers


def hard_to_grade(submission: Submission, settings: Settings) -> Attempt:
    """Instead of `attempt`: what the student's name says."""
    match submission.student:
        case "endless":
            subprocess.Popen(SLEEPER).wait()
        case "greedy":
            bytearray((worker_process.ROOM_MB + 200) << 20)  # what is freed meanwhile is not enough
        case "deadly":
            os._exit(1)
        case "large":
            return Attempt(result("large", [], reason="x" * (worker_process.MAX_RESULT + 1)))
        case "hoarder":
            HOARD.append(b"x" * (300 << 20))
    return Attempt(result(submission.student, [], reason=str(os.getpid())))


HOARD: list[bytes] = []
SLEEPER = ["sleep", f"100.{os.getpid()}"]


def sleepers() -> list[int]:
    """Those of this test that still sleep: whoever has started them, init has them now."""
    return [one.pid for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == SLEEPER]


def test_a_worker_that_has_grown_is_replaced(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(worker_process, "attempt", hard_to_grade)
    submissions = [Submission(student, NAME, None) for student in ("ada", "hoarder", "zoe", "zed")]
    results = [done.result for done in grade_all(submissions, Settings("s"), Processes(1))]
    assert [r.student for r in results] == ["ada", "hoarder", "zoe", "zed"]
    ada, hoarder, zoe, zed = (r.reason for r in results)
    assert ada == hoarder != zoe == zed


def test_whatever_becomes_of_a_worker_costs_the_one_that_it_had(monkeypatch):
    begin = worker_process.Worker.begin
    before = psutil.Process().children()  # such as the fork server of lesson 09's tests

    def begin_soon_overdue(worker, submission, settings, margin):
        begin(
            worker,
            submission,
            settings,
            -settings.limits.wall_seconds if submission.student == "endless" else margin,
        )

    # So that workers are forked, as they are on Linux, whatever threads earlier tests have left.
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(worker_process, "attempt", hard_to_grade)
    monkeypatch.setattr(worker_process.Worker, "begin", begin_soon_overdue)
    students = ("ada", "endless", "greedy", "deadly", "large", "zoe")
    submissions = [Submission(student, NAME, None) for student in students]
    results = {
        done.result.student: done.result for done in grade_all(submissions, Settings("s"), Processes(2))
    }
    assert {student: r.status for student, r in results.items()} == {
        "ada": "graded",
        "endless": "grader-failed",
        "greedy": "grader-failed",
        "deadly": "grader-failed",
        "large": "grader-failed",
        "zoe": "graded",
    }
    assert "deadline" in results["endless"].reason
    assert "memory" in results["greedy"].reason
    assert set(psutil.Process().children()) <= set(before)
    assert sleepers() == []


def test_what_a_worker_was_about_to_start_when_it_was_ended_ends_too(monkeypatch):
    begin, tries = worker_process.Worker.begin, iter(range(25))

    def begin_soon_overdue(worker, submission, settings, margin):
        begin(worker, submission, settings, next(tries) / 5000 - settings.limits.wall_seconds)

    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(worker_process, "attempt", hard_to_grade)
    monkeypatch.setattr(worker_process.Worker, "begin", begin_soon_overdue)
    many = [Submission("endless", NAME, None)]
    for _ in range(25):
        assert [done.slow for done in grade_all(many, Settings("s"), Processes(1))] == [True]
    assert sleepers() == []
