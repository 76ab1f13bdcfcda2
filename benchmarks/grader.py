"""CPU-seconds per submission: `sdpa grade` against nbgrader, nbval, otter, and the bare fork of a warm interpreter.

    python benchmarks/grader.py [--rounds 3] [--otter PYTHON]

writes benchmarks/results/grader.json. Everybody gets the same 20 submissions: the answers of bundled ones, laid into
the handed-out notebook, with the same checks of the course behind them. There are two tables: submissions that
import NumPy alone, and the same ones that each import torch too, which no answer uses. Start-up is included for all;
every round holds every system, once, one after the other; medians are taken, and the least of all rounds stands beside
them. CPU time is that of all processes. Times on the clock tell something only on a machine that does nothing else.
The course's package is compiled beforehand, as an installation's is, whatever PYTHONDONTWRITEBYTECODE says.

- The bare fork has imported beforehand what the cells import, and nothing else, and runs them in one namespace without
  a kernel, limits or a judge; `check` in them is the course's own.
- In `sdpa grade` an imported torch is a placeholder, for nothing but NumPy is there; all others import torch itself.
  `with_torch_divided_by_without` says what that import costs a submission in each system, round by round.
- nbval runs once with one pytest for all notebooks, and once with one for each.
- nbgrader's run counts only when its gradebook holds all 20; making the assignment is not counted.
- otter runs each submission with `otter run`, without a container, its tests calling the course's `check`; PYTHON is
  the interpreter of an environment with otter-grader, ipykernel and what the course needs. Without it: not measured.
"""

import argparse
import compileall
import contextlib
import datetime
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import nbformat
from graded_class import COUNT, NAME, cost, hand_in

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.course.shipped import processor
from sdpa_helpers.grading.assemble import pristine_notebook

Figures = dict[str, float]
"""Name of a figure → its value."""

OURS = "sdpa grade"

BARE_FORK = """
import json, os, sys
import numpy
if sys.argv[1] == "torch":
    import torch
from sdpa_helpers import check, hint, ladder, progress, solution
from sdpa_helpers.course.registry import all_exercises
all_exercises()  # where `check` looks a function up
for path in sys.argv[2:]:
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

OTTER_TEST = """
OK_FORMAT = True
case = {{"code": ">>> bool(check({name}).passed)\\nTrue", "hidden": False, "locked": False}}
suite = {{"type": "doctest", "scored": True, "setup": "", "teardown": "", "cases": [case]}}
test = {{"name": "{name}", "points": 1, "suites": [suite]}}
"""


class Class:
    """One class of submissions, and every way to grade it; each call works in a folder of its own."""

    def __init__(self, folder: Path, *, torch: bool) -> None:
        self.folder, self.torch, self.turn = folder, torch, 0
        self.paths = hand_in(folder / "in", pristine_notebook(NAME), torch=torch)

    def fresh(self) -> Path:
        """A new folder."""
        self.turn += 1
        made = self.folder / f"turn{self.turn}"
        made.mkdir()
        return made

    def sdpa_grade(self, *options: str) -> Figures:
        """Ours; with the seconds until the first result lay on the disk."""
        out = self.fresh() / "out"
        command = [sys.executable, "-m", "sdpa_helpers", "grade", str(self.folder / "in"), "--out", str(out)]
        started = time.time()
        found = cost([*command, *options], cwd=self.folder, environment={"SDPA_SEED": "benchmark"})
        results = list(ResultsFolder(out).read_results())
        assert len(results) == COUNT
        assert sum(r.points for r in results) > 0
        first = min(path.stat().st_mtime for path in out.glob("results/*/*.json"))
        return {**found, "first_result": round(first - started, 2)}

    def bare_fork(self) -> Figures:
        """What no grader can do without."""
        modules = "torch" if self.torch else "numpy"
        command = [sys.executable, "-c", BARE_FORK, modules, *map(str, self.paths)]
        return cost(command, cwd=self.folder)

    def nbval(self, *, together: bool) -> Figures:
        """Plain nbval: one pytest for all notebooks, or one for each."""
        command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env", "--tb=no"]
        command += ["-p", "no:cacheprovider"]
        parts = [self.paths] if together else [[path] for path in self.paths]
        return cost(*([*command, *map(str, part)] for part in parts), cwd=self.folder)

    def nbgrader(self) -> Figures:
        """nbgrader's autograde."""
        folder, run = self.fresh(), [sys.executable, "-m", "nbgrader"]
        (folder / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "sdpa"\n')
        source = folder / "source" / "ps1"
        source.mkdir(parents=True)
        shutil.copy(course_root() / "solutions" / f"{NAME}.ipynb", source)
        cost([*run, "generate_assignment", "ps1", "--create"], cwd=folder)
        released = nbformat.read(folder / "release" / "ps1" / f"{NAME}.ipynb", as_version=4)
        hand_in(folder / "submitted", released, torch=self.torch, below="ps1")
        found = cost([*run, "autograde", "ps1", "--create"], cwd=folder)
        with contextlib.closing(sqlite3.connect(folder / "gradebook.db")) as book:
            (graded,) = book.execute("SELECT COUNT(*) FROM grade WHERE auto_score IS NOT NULL").fetchone()
        cells = sum("-check" in str(cell.metadata.get("nbgrader", "")) for cell in released.cells)
        assert graded == COUNT * cells, f"nbgrader has graded {graded} cells, not {COUNT} times {cells}"
        return found

    def otter(self, python: str) -> Figures:
        """otter-grader without containers; making its autograder is not counted."""
        folder = self.fresh()
        tests = folder / "tests"
        tests.mkdir()
        for exercise in exercises_of(NAME):
            (tests / f"{exercise.name}.py").write_text(OTTER_TEST.format(name=exercise.name))
        run = [python, "-m", "otter"]
        path = {"PATH": f"{Path(python).parent}:{os.environ.get('PATH', '')}"}
        made = [*run, "generate", "-t", str(tests), "-o", "autograder.zip", "--no-environment"]
        cost(made, cwd=folder, environment=path)
        commands = []
        for number, submission in enumerate(self.paths):
            (folder / f"out{number}").mkdir()
            commands.append(
                [*run, "run", "-a", "autograder.zip", "-o", str(folder / f"out{number}"), str(submission)]
            )
        found = cost(*commands, cwd=folder, environment=path)
        results = [json.loads(p.read_text()) for p in folder.glob("out*/results.json")]
        assert len(results) == COUNT, f"otter has graded {len(results)} submissions, not {COUNT}"
        assert sum(test.get("score", 0) for result in results for test in result["tests"]) > 0
        return found


def systems(graded: Class, otter: str | None) -> dict[str, Callable[[], Figures]]:
    """Name → how it grades the class."""
    found = {
        OURS: lambda: graded.sdpa_grade("--sandbox=require", "--jobs=1"),
        "sdpa grade, two jobs": lambda: graded.sdpa_grade("--sandbox=require", "--jobs=2"),
        "sdpa grade, no sandbox": lambda: graded.sdpa_grade("--sandbox=off", "--jobs=1"),
        "bare fork": graded.bare_fork,
        "nbval, one process for all": lambda: graded.nbval(together=True),
        "nbval, one process each": lambda: graded.nbval(together=False),
        "nbgrader autograde": graded.nbgrader,
    }
    return found | ({"otter run": lambda: graded.otter(otter)} if otter else {})


def measure(folder: Path, rounds: int, otter: str | None) -> dict[str, dict[str, list[Figures]]]:
    """Table → system → its figures, round by round."""
    classes = {
        "without torch": Class(folder / "numpy", torch=False),
        "with torch": Class(folder / "torch", torch=True),
    }
    found: dict[str, dict[str, list[Figures]]] = {table: {} for table in classes}
    for turn in range(rounds):
        for table, graded in classes.items():
            for name, run in systems(graded, otter).items():
                figures = run()
                found[table].setdefault(name, []).append(figures)
                print(f"round {turn + 1}, {table}, {name}: {figures}", file=sys.stderr, flush=True)
    return found


def summary(rounds: dict[str, list[Figures]]) -> dict[str, object]:
    """Medians, the least CPU time, and how many times that of ours."""
    middle = {
        name: {key: round(median(run[key] for run in runs), 3) for key in runs[0]}
        | {"least_cpu": min(run["cpu"] for run in runs)}
        for name, runs in rounds.items()
    }
    ours = middle[OURS]["cpu"]
    speed_up = middle[OURS]["wall"] / middle["sdpa grade, two jobs"]["wall"]
    return {
        "medians": middle,
        "cpu_divided_by_ours": {name: round(each["cpu"] / ours, 2) for name, each in middle.items()},
        "ours_divided_by_the_bare_fork": round(ours / middle["bare fork"]["cpu"], 2),
        "speed_up_of_two_jobs_on_the_clock": round(speed_up, 2),
    }


def with_torch(rounds: dict[str, dict[str, list[Figures]]]) -> dict[str, float]:
    """System → CPU time with torch imported divided by that without, the median of the rounds."""
    without, imported = rounds["without torch"], rounds["with torch"]
    pairs = {name: zip(imported[name], without[name], strict=True) for name in without}
    return {name: round(median(a["cpu"] / b["cpu"] for a, b in each), 2) for name, each in pairs.items()}


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--otter", help="the Python of an environment with otter-grader and ipykernel")
    options = parser.parse_args()
    otter_there = (
        options.otter
        and not subprocess.run(
            [options.otter, "-c", "import otter, ipykernel, numpy, torch"], capture_output=True, check=False
        ).returncode
    )
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(course_root() / "sdpa_helpers", quiet=1)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        rounds = measure(Path(name), options.rounds, options.otter if otter_there else None)
    result = {
        "command": f"python benchmarks/grader.py --rounds {options.rounds}",
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "submissions": COUNT,
        "rounds_of_each_system": options.rounds,
        "meaning": "CPU-seconds of all processes, start-up included, for all submissions; medians of the rounds",
        "otter": "measured" if otter_there else "not measured: no environment with it",
        "tables": {table: summary(found) for table, found in rounds.items()},
        "with_torch_divided_by_without": with_torch(rounds),
        "rounds": rounds,
    }
    target = Path(__file__).parent / "results" / "grader.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({**result, "rounds": "in the file"}, indent=1))


if __name__ == "__main__":
    main()
