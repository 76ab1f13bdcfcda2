"""The house rules of the repository that a machine can check."""

import ast
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from sdpa_helpers.lessons.registry import LESSONS

PACKAGE = Path(__file__).parents[1] / "sdpa_helpers"

FLOOR = {"attention": 0, "lessons": 1, "exercises": 2, "ledger": 3, "grading": 3}
"""Imports go down the floors; what lies beside the folders (cli, authoring, …) is the roof."""


def imported_parts(path: Path) -> set[str]:
    """The names directly below sdpa_helpers that a file imports, e.g. {"attention", "checkup"}."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: write absolute imports"
            names = (
                [node.module]
                if node.module != "sdpa_helpers"
                else [f"sdpa_helpers.{a.name}" for a in node.names]
            )
        found |= {name.split(".")[1] for name in names if name.startswith("sdpa_helpers.")}
    return found


@pytest.mark.parametrize("folder", FLOOR)
def test_imports_go_down_the_floors(folder):
    for path in (PACKAGE / folder).rglob("*.py"):
        for part in imported_parts(path) & set(FLOOR):
            assert part == folder or FLOOR[part] < FLOOR[folder], f"{path.name} on {folder} imports {part}"


def lesson_of(stem: str) -> str:
    """The lesson that a module belongs to, e.g. "softmax" for softmax_figures; "" for what lessons share."""
    return next((name for name in LESSONS.values() if stem == name or stem.startswith(name + "_")), "")


LESSON_MODULES = sorted((PACKAGE / "lessons").glob("*.py"))


@pytest.mark.parametrize("path", LESSON_MODULES, ids=lambda p: p.stem)
def test_lessons_do_not_import_each_other(path):
    imported = re.findall(r"sdpa_helpers\.lessons(?:\.| import )(\w+)", path.read_text())
    assert {lesson_of(name) for name in imported} <= {"", lesson_of(path.stem)}


def test_floor_0_never_imports_matplotlib_or_widgets():
    for path in (PACKAGE / "attention").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) (matplotlib|ipywidgets)", path.read_text(), re.MULTILINE), (
            path
        )


def test_importing_the_package_loads_no_heavy_module():
    code = (
        "import sys, sdpa_helpers; print([m for m in ('torch', 'matplotlib', 'sympy') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


WITHOUT_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Refuse())
import json, os
from pathlib import Path
for path in json.loads(sys.argv[1]):
    os.chdir(Path(path).parent)
    scope = {"__name__": "__main__", "display": lambda *a: None}
    cells = json.loads(Path(path).read_text())["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), scope)
"""


@pytest.mark.parametrize("folder", ["notebooks", "solutions"])
def test_lessons_01_to_03_work_without_torch(course, folder, tmp_path):
    paths = [str(p) for p in sorted((course / folder).glob("*.ipynb")) if p.name[:2] in ("01", "02", "03")]
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, json.dumps(paths)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]


# ---- set-up -----------------------------------------------------------------------------------------------


def pinned(course) -> dict[str, str]:
    project = tomllib.loads((course / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["grade"]]
    pins = {r.name: str(r.specifier) for r in map(Requirement, wanted)}
    return pins | {"python": project["requires-python"]}


CONDA_NAMES = {"pytorch-cpu": "torch", "matplotlib-base": "matplotlib"}


def test_the_conda_environment_has_the_pins_of_pyproject(course):
    lines = re.findall(
        r"^  - ([a-z][\w-]*) ([<>=].*)$", (course / "environment.yml").read_text(), re.MULTILINE
    )
    conda = {CONDA_NAMES.get(name, name): pin.replace(" ", "") for name, pin in lines}
    ours = {name: set(spec.split(",")) for name, spec in pinned(course).items()}
    assert {name: set(spec.split(",")) for name, spec in conda.items()} == ours


def test_ci_runs_exactly_make_test(course):
    lines = (course / ".ci" / "run").read_text().split("\n")
    assert [line.strip() for line in lines if "make" in line and not line.startswith("#")] == ["make test"]
    assert "export SDPA_REQUIRE_ALL=1" in lines


def test_make_help_lists_every_target(course, needs_program):
    make = needs_program("make")
    shown = subprocess.run([make, "help"], cwd=course, capture_output=True, text=True, check=True).stdout
    targets = set(re.findall(r"^([a-z]+):", (course / "Makefile").read_text(), re.MULTILINE))
    assert targets == set(re.findall(r"^make (\w+)", shown, re.MULTILINE)) >= {"lab", "test", "grade", "help"}


def test_an_old_python_is_refused_with_a_sentence(course, needs_program, tmp_path):
    make = needs_program("make")
    old = tmp_path / "python3"
    old.write_text(
        textwrap.dedent("""\
        #!/bin/sh
        [ "$1" = "--version" ] && echo "Python 3.8.1" && exit 0
        exit 1
        """)
    )
    old.chmod(0o755)
    copy = tmp_path / "course"
    copy.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        (copy / name).write_text((course / name).read_text())
    ran = subprocess.run(
        [make, "test", f"PYTHON={old}"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "needs Python 3.11 or newer" in ran.stdout
    assert "3.8.1" in ran.stdout


def test_nothing_in_the_project_points_outside_it(course):
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=course, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    for name in filter(None, tracked):
        path = course / name
        if path.suffix in (".py", ".md", ".toml", ".yml", ".ipynb", ".html", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert "../" + "shared" not in text, name
