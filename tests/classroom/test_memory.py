"""The grader's own memory stays small, whatever a submission sends and however many there are."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil

from tests.handing_in import POINTS, RIGHT, TOTAL

LIMIT_MB = 300

LOUD = {
    "prints": "def dot_product(q, k):\n    print('x' * (200 << 20), flush=True)\n    return 1.0",
    "displays": "def dot_product(q, k):\n    [display({'text/plain': 'x' * 800}, raw=True) for _ in range(20_000)]",
    "answers": "def dot_product(q, k):\n    return np.ones(1_000_000)",
}


def peak_mb(pid: int) -> float:
    """The most resident memory that a process has had so far; 0 when it is gone."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(found.group(1)) / 1024 if found else 0.0


def test_what_a_submission_sends_does_not_fill_the_graders_memory(hand_in, tmp_path, needs_program):
    needs_program("bwrap")
    for student, source in LOUD.items():
        hand_in(student, **{**RIGHT, "dot_product": source})
    command = [
        sys.executable,
        "-m",
        "sdpa_helpers",
        "grade",
        str(tmp_path / "in"),
        "--out",
        str(tmp_path / "out"),
    ]
    grader = subprocess.Popen([*command, "--seed", "s", "--timeout", "20"], stdout=subprocess.DEVNULL)
    peaks: dict[int, float] = {}
    while grader.poll() is None:
        try:
            workers = [p.pid for p in psutil.Process(grader.pid).children() if "bwrap" not in p.name()]
        except psutil.Error:
            workers = []
        for pid in (grader.pid, *workers):
            peaks[pid] = max(peaks.get(pid, 0.0), peak_mb(pid))
        time.sleep(0.05)
    assert grader.returncode == 0
    assert len(peaks) >= 2
    assert all(0 < peak <= LIMIT_MB for peak in peaks.values()), peaks
    points = {
        p.parent.name: json.loads(p.read_text())["points"]
        for p in (tmp_path / "out/results").glob("*/*.json")
    }
    assert points == dict.fromkeys(LOUD, TOTAL - POINTS["dot_product"])
