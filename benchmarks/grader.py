"""CPU-seconds per submission: `sdpa grade` against nbgrader, plain nbval, and the bare fork of a warm interpreter.

    python benchmarks/grader.py

writes benchmarks/results/grader.json. Everybody gets the same 20 submissions: the answers of bundled ones, laid into
the handed-out notebook, each of them importing NumPy and torch. Start-up is included. CPU time is that of all
processes, counted by a control group of its own where the machine lets us make one, else by the parent as its
children end. Rounds are interleaved, and medians taken. Times on the clock tell something only on a machine that
does nothing else.

The bare fork has imported beforehand whatever the cells import, the course's package included, and runs them in one
namespace without a kernel, limits or a judge. nbgrader's run counts only when its gradebook holds all 20.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import nbformat

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.grading.assemble import answer_cells, exercise_of, pristine_notebook
from sdpa_helpers.grading.read import lift, read_cells
from sdpa_helpers.lessons.places import course_root
from sdpa_helpers.lessons.registry import exercises_of

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

ROUNDS = 3

BARE_FORK = """
import json, os, sys
import IPython.display, numpy, torch
import sdpa_helpers.attention, sdpa_helpers.lessons.session
sdpa_helpers.lessons.registry.all_exercises()
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


def answers() -> list[dict[str, str]]:
    """The answers of the bundled learners."""
    stubs = answer_cells(pristine_notebook(NAME))
    found = []
    for name in WHOSE:
        path = next((course_root() / "tests" / "submissions" / name).glob("*.ipynb"))
        found.append(lift(read_cells(path), exercises_of(NAME), stubs).answers)
    return found


def with_torch(answers: dict[str, str]) -> dict[str, str]:
    """The same answers, the first of which imports torch as well."""
    name, source = next(iter(answers.items()))
    first, _, rest = source.partition("\n")
    return {**answers, name: f"{first}\nimport torch\n{rest}"}


def hand_in(folder: Path, notebook: nbformat.NotebookNode, below: str = "") -> list[Path]:
    """Write the 20 submissions to folder/<student>/<below>/NAME.ipynb."""
    paths, found = [], answers()
    for number in range(COUNT):
        path = folder / f"student{number:02}" / below / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(filled(notebook, with_torch(found[number % len(found)])), path)
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
    # nbgrader calls alembic by its name.
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
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


def sdpa_grade(folder: Path, *options: str) -> dict[str, float]:
    """Grade the folder `in`, afresh."""
    out = folder / ("out" + "".join(options).replace("-", ""))
    command = [sys.executable, "-m", "sdpa_helpers", "grade", str(folder / "in"), "--out", str(out)]
    found = cost([*command, "--seed", "benchmark", "--fresh", *options], cwd=folder)
    results = list(ResultsFolder(out).read_results())
    assert len(results) == COUNT
    assert sum(r.points for r in results) > 0
    return found


def nbgrader(folder: Path) -> dict[str, float]:
    """nbgrader's autograde over the same answers; making the assignment is not counted."""
    run = [sys.executable, "-m", "nbgrader"]
    (folder / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "sdpa"\n')
    source = folder / "source" / "ps1"
    source.mkdir(parents=True)
    shutil.copy(course_root() / "solutions" / f"{NAME}.ipynb", source)
    cost([*run, "generate_assignment", "ps1", "--create"], cwd=folder)
    released = nbformat.read(folder / "release" / "ps1" / f"{NAME}.ipynb", as_version=4)
    hand_in(folder / "submitted", released, "ps1")
    found = cost([*run, "autograde", "ps1", "--create"], cwd=folder)
    with contextlib.closing(sqlite3.connect(folder / "gradebook.db")) as book:
        (graded,) = book.execute("SELECT COUNT(*) FROM grade WHERE auto_score IS NOT NULL").fetchone()
    cells = sum("-check" in str(cell.metadata.get("nbgrader", "")) for cell in released.cells)
    assert graded == COUNT * cells, f"nbgrader has graded {graded} cells, not {COUNT} times {cells}"
    return found


def processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def measure(folder: Path) -> dict[str, list[dict[str, float]]]:
    """Every way to grade: the quick ones in every round, the slow ones in the first."""
    paths = hand_in(folder / "in", pristine_notebook(NAME))
    nbval = [
        sys.executable,
        *["-m", "pytest", "-q", "--nbval", "--nbval-current-env", "--tb=no", "-p", "no:cacheprovider"],
    ]
    quick = {
        "sdpa grade": lambda: sdpa_grade(folder, "--sandbox=require", "--jobs=1"),
        "sdpa grade, two jobs": lambda: sdpa_grade(folder, "--sandbox=require", "--jobs=2"),
        "bare fork": lambda: cost([sys.executable, "-c", BARE_FORK, *map(str, paths)], cwd=folder),
    }
    slow = {
        "nbval, one process each": lambda: cost(*([*nbval, str(path)] for path in paths), cwd=folder),
        "nbgrader autograde": lambda: nbgrader(folder),
    }
    found: dict[str, list[dict[str, float]]] = {}
    for turn in range(ROUNDS):
        for name, run in quick.items():
            found.setdefault(name, []).append(run())
        if turn < len(slow):
            name, run = list(slow.items())[turn]
            found[name] = [run()]
    return found


def middle(runs: list[dict[str, float]]) -> dict[str, float]:
    """The median of each figure."""
    return {key: round(median(run[key] for run in runs), 3) for key in runs[0]}


def main() -> None:
    """Measure and write the result."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        rounds = measure(Path(name))
    results = {name: middle(runs) for name, runs in rounds.items()}
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
        "load_after": round(os.getloadavg()[0], 2),
        "meaning": "CPU-seconds with start-up; cost of the others divided by that of `sdpa grade`",
        "results": results,
        "rounds": rounds,
        "times_of_sdpa_grade": ratios,
        "speed_up_of_two_jobs_on_the_clock": round(speed_up, 2),
    }
    target = Path(__file__).parent / "results" / "grader.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
