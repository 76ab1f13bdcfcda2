"""How time and memory of `sdpa grade` grow with the number of submissions.

    python benchmarks/grader_scale.py

writes benchmarks/results/grader_scale.json. Two things are measured. "graded": 100 to 5,000 submissions, graded for
real. "kept": 100 to 5,000 submissions that an earlier run has graded, so that the command reads every record again
and makes the tables, the gradebook and the pages about the class. Their records are those of eight bundled
submissions under other names, each with answers of its own, so that no two learners wrote the same.

Memory is the high-water mark of resident pages, of the command's own process and of the largest of its workers;
"all_mb" is the most that all processes together were seen to have, fork server and kernels included, each shared page
counted once.
"""

import argparse
import contextlib
import datetime
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import graded_class
import nbformat
import psutil

from sdpa_helpers.classroom.collect import find_submissions
from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.course.shipped import processor
from sdpa_helpers.grading.assemble import pristine_notebook
from sdpa_helpers.grading.grade_one import Settings, fingerprint
from sdpa_helpers.sandbox.kernel_process import tree
from sdpa_helpers.sandbox.limits import Limits

PERIOD = 4 * len(graded_class.WHOSE)
"""After so many, submissions repeat."""

GRADED = {100: (1, 2), 1000: (1, 2), 5000: (2,)}
"""How many, with how many jobs each."""

KEPT = (100, 1000, 5000)


def hand_in(folder: Path, count: int) -> None:
    """Write `count` submissions; every fourth imports torch."""
    pristine = pristine_notebook(graded_class.NAME)
    answers, with_torch = graded_class.answers(), [graded_class.with_torch(a) for a in graded_class.answers()]
    for number in range(count):
        found = with_torch if number % 4 == 3 else answers
        path = folder / f"student{number:05}" / f"{graded_class.NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(graded_class.filled(pristine, found[number % len(found)]), path)


def measured(source: Path, out: Path, *options: str) -> dict[str, float]:
    """Run `sdpa grade` and watch it."""
    command = [
        sys.executable,
        "-m",
        "sdpa_helpers",
        "grade",
        str(source),
        "--out",
        str(out),
        "--seed",
        "scale",
    ]
    command += ["--sandbox", "require", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    started, peak = time.monotonic(), {"command": 0, "worker": 0, "all": 0}
    ran = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while ran.poll() is None:
        peak["command"] = max(peak["command"], high_water(ran.pid))
        workers = [p.pid for p in children(ran.pid) if p.name().startswith("python")]
        peak["worker"] = max([peak["worker"], *map(high_water, workers)])
        peak["all"] = max(peak["all"], all_memory(ran.pid))
        time.sleep(0.5)  # looking costs time too
    if ran.returncode:
        raise SystemExit(ran.stderr.read().decode() if ran.stderr else "sdpa grade failed")
    wall = time.monotonic() - started
    return {"seconds": round(wall, 2), **{f"{whose}_mb": most >> 10 for whose, most in peak.items()}}


def children(pid: int) -> list[psutil.Process]:
    """The direct children of a process; none when it has just ended."""
    try:
        return [p for p in psutil.Process(pid).children() if p.status() != psutil.STATUS_ZOMBIE]
    except psutil.Error:
        return []


def all_memory(pid: int) -> int:
    """What a process and all below it have, in kB; a page that several share counts once."""
    total = 0
    for process in tree(pid):
        with contextlib.suppress(OSError):
            found = re.search(
                r"^Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE
            )
            total += int(found.group(1)) if found else 0
    return total


def high_water(pid: int) -> int:
    """The most resident memory that a process has had, in kB."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found.group(1)) if found else 0


def pretend(source: Path, out: Path) -> None:
    """Give every submission the result and the page of the one it is a copy of, with answers of its own."""
    submissions, _ = find_submissions(source, [graded_class.NAME], None, None)
    settings = Settings("scale", Limits(seconds=60.0, cell_seconds=10.0))  # those of the command
    draw = random.Random(len(submissions))
    folder = ResultsFolder(out)
    models = list(folder.read_results())
    for number, submission in enumerate(submissions):
        model = models[number % PERIOD]
        answers = {name: varied(text, draw) for name, text in model.answers.items()}
        page = folder.feedback_path(model.student, graded_class.NAME).read_text()
        write_text(folder.feedback_path(submission.student, graded_class.NAME), page)
        own = replace(model, student=submission.student, answers=answers, handed_in=submission.handed_in)
        folder.write_result(replace(own, fingerprint=fingerprint(submission, settings)))


def varied(text: str, draw: random.Random) -> str:
    """The same answer with statements of its own before the end."""
    operators = ["+", "-", "*", "/", "@", "//", "%", "**"]
    lines = [
        f"    a{n} = {draw.randint(1, 9)} {draw.choice(operators)} a{n - 1}"
        for n in range(draw.randint(5, 15))
    ]
    return "\n".join([text.rstrip(), *lines])


def main() -> None:
    """Measure and write the result."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    load, graded, kept = os.getloadavg()[0], {}, {}
    with tempfile.TemporaryDirectory(prefix="grader-scale-") as name:
        folder = Path(name)
        for count, each in GRADED.items():
            hand_in(folder / f"in{count}", count)
            for jobs in each:
                ran = measured(folder / f"in{count}", folder / f"out{count}-{jobs}", f"--jobs={jobs}")
                graded[f"{count} submissions, {jobs} jobs"] = ran
                print(count, jobs, ran, file=sys.stderr, flush=True)
        for count in KEPT:
            source, out = folder / f"kept{count}", folder / f"kept-out{count}"
            hand_in(source, count)
            hand_in(folder / f"models{count}", PERIOD)
            measured(folder / f"models{count}", out)
            pretend(source, out)
            ran = kept[f"{count} submissions"] = measured(source, out)
            assert ran["worker_mb"] < 50, "an earlier run's records were not kept"
            print(count, "kept", ran, file=sys.stderr, flush=True)
    result = {
        "command": "python benchmarks/grader_scale.py",
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load_before": round(load, 2),
        "graded": graded,
        "kept": kept,
    }
    target = Path(__file__).parent / "results" / "grader_scale.json"
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
