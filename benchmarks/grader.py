"""CPU-seconds per submission: `sdpa grade` against nbgrader, plain nbval, and the bare fork of a warm interpreter.

    python benchmarks/grader.py

writes benchmarks/results/grader.json. Everybody gets the same 20 submissions (the answers of bundled ones, laid
into the handed-out notebook), start-up included. CPU time is that of all processes, counted by a control group
of its own where the machine lets us make one, else by the parent as its children end. Times on the clock tell
something only on a machine that does nothing else.
"""

import argparse
import datetime
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from sdpa_helpers.course import course_root, pristine_exercise
from sdpa_helpers.exercises import exercises_of
from sdpa_helpers.grading.assemble import answer_cells, exercise_of
from sdpa_helpers.grading.submission import lift, read_cells

NAME = "01_dot_product"
WHOSE = [
    "ada-jupyterlab",
    "ben-common-mistakes",
    "chen-colab",
    "dora-vscode",
    "emil-half-finished",
    "fay-syntax-error",
    "kim-helper-elsewhere",
    "max-renamed",
]
COUNT = 20
CPU_GROUP = Path("/sys/fs/cgroup/cpuacct")

BARE_FORK = """
import json, os, sys
import numpy, matplotlib.pyplot
for path in sys.argv[1:]:
    if os.fork() == 0:
        scope = {}
        for cell in json.load(open(path))["cells"]:
            if cell["cell_type"] == "code":
                try:
                    exec("".join(cell["source"]), scope)
                except BaseException:
                    pass
        os._exit(0)
    os.wait()
"""


def filled(notebook: nbformat.NotebookNode, answers: dict[str, str]) -> nbformat.NotebookNode:
    """A copy of a handed-out notebook with answers in it."""
    copy = nbformat.from_dict(notebook)
    for cell in copy.cells:
        if exercise_of(cell) in answers:
            cell.source = answers[exercise_of(cell)]
    return copy


def all_answers() -> list[dict[str, str]]:
    """The answers of 20 learners."""
    stubs = answer_cells(nbformat.read(pristine_exercise(NAME), as_version=4))
    found = []
    for name in WHOSE:
        path = next((course_root() / "tests" / "submissions" / name).glob("*.ipynb"))
        found.append(lift(read_cells(path), exercises_of(NAME), stubs).answers)
    return [found[n % len(found)] for n in range(COUNT)]


def hand_in(folder: Path, notebook: nbformat.NotebookNode, below: str = "") -> list[Path]:
    """Write the 20 submissions to folder/<student>/<below>/NAME.ipynb."""
    paths = []
    for number, answers in enumerate(all_answers()):
        path = folder / f"student{number:02}" / below / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(filled(notebook, answers), path)
        paths.append(path)
    return paths


def cost(*commands: list[str], cwd: Path) -> dict[str, float]:
    """CPU-seconds and seconds on the clock of commands, one after the other, with all that they start."""
    group = CPU_GROUP / f"sdpa-benchmark-{os.getpid()}"
    try:
        group.mkdir()
        prefix = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    except OSError:
        group, prefix = None, []
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for command in commands:
        subprocess.run([*prefix, *command], cwd=cwd, env=environment, capture_output=True, check=False)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if group is not None:
        while (group / "cgroup.procs").read_text() and time.monotonic() - started - wall < 10:
            time.sleep(0.1)  # what still shuts down counts too
        cpu = int((group / "cpuacct.usage").read_text()) / 1e9
        group.rmdir()
    return {"cpu_per_submission": round(cpu / COUNT, 3), "cpu": round(cpu, 2), "wall": round(wall, 2)}


def sdpa_grade(folder: Path, *options: str) -> list[str]:
    """The command that grades the folder `in`."""
    out = folder / ("out" + "".join(options).replace("-", ""))
    command = [sys.executable, "-m", "sdpa_helpers", "grade", str(folder / "in"), "--out", str(out)]
    return [*command, "--seed", "benchmark", "--fresh", *options]


def nbgrader(folder: Path) -> dict[str, float]:
    """nbgrader's autograde over the same answers; making the assignment is not counted."""
    run = [sys.executable, "-m", "nbgrader"]
    (folder / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "sdpa"\n')
    source = folder / "source" / "ps1"
    source.mkdir(parents=True)
    shutil.copy(course_root() / "solutions" / f"{NAME}.ipynb", source)
    subprocess.run(
        [*run, "generate_assignment", "ps1", "--create"], cwd=folder, capture_output=True, check=True
    )
    released = nbformat.read(folder / "release" / "ps1" / f"{NAME}.ipynb", as_version=4)
    hand_in(folder / "submitted", released, "ps1")
    return cost([*run, "autograde", "ps1", "--create"], cwd=folder)


def processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def measure(folder: Path) -> dict[str, dict[str, float]]:
    """Every way to grade, one run each."""
    paths = hand_in(folder / "in", nbformat.read(pristine_exercise(NAME), as_version=4))
    nbval = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nbval",
        "--nbval-current-env",
        "--tb=no",
        "-p",
        "no:cacheprovider",
    ]
    return {
        "sdpa grade": cost(sdpa_grade(folder, "--sandbox=require", "--jobs=1"), cwd=folder),
        "sdpa grade, two jobs": cost(sdpa_grade(folder, "--sandbox=require", "--jobs=2"), cwd=folder),
        "sdpa grade, no sandbox": cost(sdpa_grade(folder, "--sandbox=off", "--jobs=1"), cwd=folder),
        "bare fork": cost([sys.executable, "-c", BARE_FORK, *map(str, paths)], cwd=folder),
        "nbval, one process each": cost(*([*nbval, str(path)] for path in paths), cwd=folder),
        "nbgrader autograde": nbgrader(folder),
    }


def main() -> None:
    """Measure and write the result."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        results = measure(Path(name))
    ours = results["sdpa grade"]["cpu_per_submission"]
    ratios = {
        name: round(results[name]["cpu_per_submission"] / ours, 2)
        for name in ("nbgrader autograde", "nbval, one process each", "bare fork")
    }
    speed_up = results["sdpa grade"]["wall"] / results["sdpa grade, two jobs"]["wall"]
    result = {
        "command": "python benchmarks/grader.py",
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load_before": round(load, 2),
        "submissions": COUNT,
        "meaning": "CPU-seconds with start-up; cost of the others divided by that of `sdpa grade`",
        "results": results,
        "times_of_sdpa_grade": ratios,
        "speed_up_of_two_jobs_on_the_clock": round(speed_up, 2),
    }
    target = Path(__file__).parent / "results" / "grader.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
