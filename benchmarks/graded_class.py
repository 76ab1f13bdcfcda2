"""What the benchmarks of grading share: a class of submissions, the cost of a command."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import nbformat

from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import exercises_of
from sdpa_helpers.grading.assemble import answer_cells, exercise_of, pristine_notebook
from sdpa_helpers.grading.read import lift, read_cells

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


def hand_in(folder: Path, notebook: nbformat.NotebookNode, *, torch: bool, below: str = "") -> list[Path]:
    """Write the 20 submissions to folder/<student>/<below>/NAME.ipynb; torch: each imports it."""
    paths, found = [], [with_torch(each) if torch else each for each in answers()]
    for number in range(COUNT):
        path = folder / f"student{number:02}" / below / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(filled(notebook, found[number % len(found)]), path)
        paths.append(path)
    return paths


def cost(*commands: list[str], cwd: Path, environment: dict[str, str] | None = None) -> dict[str, float]:
    """CPU-seconds and seconds on the clock of commands, one after the other, with all that they start.

    Counted by a control group of their own where the machine lets us make one, else as children end.
    """
    group = CPU_GROUP / f"sdpa-benchmark-{os.getpid()}"
    try:
        group.mkdir()
        prefix = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    except OSError:
        group, prefix = None, []
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    # nbgrader calls alembic by its name.
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    given = {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": str(course_root()),
        **one_thread,
        **(environment or {}),
    }
    for command in commands:
        subprocess.run([*prefix, *command], cwd=cwd, env=given, capture_output=True, check=False)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if group is not None:
        while (group / "cgroup.procs").read_text() and time.monotonic() - started - wall < 10:
            time.sleep(0.1)  # what still shuts down counts too
        cpu = int((group / "cpuacct.usage").read_text()) / 1e9
        group.rmdir()
    return {"cpu_per_submission": round(cpu / COUNT, 3), "cpu": round(cpu, 2), "wall": round(wall, 2)}
