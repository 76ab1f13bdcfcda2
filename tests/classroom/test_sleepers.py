"""Who waits without computing is ended early and named; the others, and a busy machine, lose nothing by it."""

import json
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from sdpa_helpers.classroom.executors import Processes
from sdpa_helpers.classroom.grade_folder import Batch, grade_folder
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.run_json import read_run, write_run
from sdpa_helpers.grading.grade_one import Settings
from sdpa_helpers.sandbox.limits import Limits
from tests.classroom.faults import NAME, written
from tests.handing_in import POINTS, RIGHT, TOTAL

GRADE = """
import sys
from pathlib import Path
from sdpa_helpers.grading.grade_one import Settings
from sdpa_helpers.classroom.grade_folder import Batch, grade_folder
from sdpa_helpers.classroom.executors import Processes
from sdpa_helpers.sandbox.limits import Limits
if __name__ == "__main__":
    limits = Limits(seconds=20.0, cell_seconds=5.0, memory_mb=1024, idle=1.0)
    settings = Settings("s", limits, sandbox=sys.argv[3])
    grade_folder(Batch(Path(sys.argv[1]), Path(sys.argv[2])), settings, Processes(2))
"""

NAPS = "import time\ndef dot_product(q, k):\n    {}time.sleep(0.01)\n    return np.sum(q * k)"
SLEEPERS = {
    "by the clock": "import time\ndef dot_product(q, k):\n    time.sleep(1000)",
    "in its cell": "import time\ntime.sleep(1000)\ndef dot_product(q, k):\n    return q @ k",
    "in short naps": NAPS.format("while True: "),
    "for a lock": "import threading\nL = threading.Lock()\ndef dot_product(q, k):\n    L.acquire()\n    L.acquire()",
    "for a thread": "import threading\ndef dot_product(q, k):\n    threading.Barrier(2).wait()",
    "for a byte": "import os\nREAD, WRITE = os.pipe()\ndef dot_product(q, k):\n    return os.read(READ, 1)",
}
OTHERS = {"right": RIGHT, "with naps": {**RIGHT, "dot_product": NAPS.format("")}}


def test_sleepers_are_named_and_a_run_that_was_killed_ends_the_same(hand_in, tmp_path, needs_program):
    needs_program("bwrap")
    for how, source in SLEEPERS.items():
        hand_in(how, **{**RIGHT, "dot_product": source})
    for number in range(3):
        for how, answers in OTHERS.items():
            hand_in(f"{how} {number}", **answers)
    source, script = tmp_path / "in", tmp_path / "grade.py"
    script.write_text(GRADE)

    def grade(out):
        return [sys.executable, str(script), str(source), str(tmp_path / out), "warm"]

    subprocess.run(grade("undisturbed"), check=True)
    run = subprocess.Popen(grade("killed"))
    while not list((tmp_path / "killed").glob("results/*/*.json")):
        assert run.poll() is None
        time.sleep(0.02)
    run.kill()
    run.wait()
    hand_in("late comer", **RIGHT)
    subprocess.run(grade("killed"), check=True)
    idle = read_run(ResultsFolder(tmp_path / "killed").run_json).idle
    assert idle == read_run(ResultsFolder(tmp_path / "undisturbed").run_json).idle == 1.0

    found = {}
    for out in ("undisturbed", "killed"):
        found[out] = {
            k: v for k, v in written(tmp_path / out).items() if k.startswith("results/") and "late" not in k
        }
    assert found["killed"] == found["undisturbed"]
    for path, text in found["killed"].items():
        result, who = json.loads(text), path.split("/")[1]
        flags = [f"{flag['kind']}: {flag['message']}" for flag in result["flags"]]
        slept = (
            ["slept: dot_product: it waited without computing until it was ended"] if who in SLEEPERS else []
        )
        assert flags == slept
        assert result["status"] == ("timeout" if who in SLEEPERS else "graded")
        assert result["points"] == TOTAL - (POINTS["dot_product"] if who in SLEEPERS else 0)


@pytest.mark.parametrize(
    ("submissions", "idle"), [(1, 10.0), (180, 10.0), (240, 7.5), (360, 5.0), (9999, 5.0)]
)
def test_the_larger_the_class_the_less_each_may_sleep(submissions, idle):
    assert Limits().idle_of(submissions) == idle


def test_what_an_earlier_run_has_decided_holds_whatever_has_come_since(tmp_path):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "ada" / f"{NAME}.ipynb").write_text("{")
    kept, batch = ResultsFolder(tmp_path).run_json, Batch(tmp_path / "in", tmp_path)
    grade_folder(batch, Settings("s"), Processes(1))
    assert read_run(kept).idle == Limits().idle
    write_run(kept, replace(read_run(kept), idle=7.5))
    grade_folder(batch, Settings("s"), Processes(1))
    assert read_run(kept).idle == 7.5
    grade_folder(replace(batch, fresh=True), Settings("s"), Processes(1))
    assert read_run(kept).idle == Limits().idle
