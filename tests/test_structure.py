"""The house rules of the repository that a machine can check."""

import ast
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sdpa_helpers.course.registry import DOORS, LESSONS, folder_of

COURSE = Path(__file__).parents[1]
PACKAGE = COURSE / "sdpa_helpers"

FLOOR = {
    "attention": 0,
    "checking": 0,
    "sandbox": 0,
    "head": 1,
    "show": 2,
    "course": 3,
    "lessons": 4,
    "grading": 5,
    "desk": 5,
    "classroom": 6,
    "bench": 6,
    "cli": 7,
}
"""Imports go down the floors: never up, and never sideways between two rooms of one floor."""

PARTS_OF_CHECKING = {
    "answers": 0,
    "code": 0,
    "worth": 0,
    "exercise": 1,
    "judging": 2,
    "pages": 2,
    "naming": 3,
    "kinds": 3,
    "diagnose": 4,
    "helping": 5,
    "authors": 5,
    "card": 6,
}
"""The same inside the largest room: its folders, and the files that hold them together."""


def module_of(path: Path) -> str:
    """The dotted name of a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(module: str) -> set[str]:
    """The modules of the package that a file imports: at its top, inside functions and for types alone."""
    found = set()
    for node in ast.walk(ast.parse(FILES[module].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{module}: write absolute imports"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & set(FILES) or {node.module}
    return (found & set(FILES)) - {module}


def room_of(module: str) -> str:
    """The room that a module lies in, e.g. "lessons"; "" for what lies beside the rooms."""
    return (module.split(".")[1:2] or [""])[0]


@pytest.mark.parametrize("room", FLOOR)
def test_imports_go_down_the_floors(room):
    for module in FILES:
        if room_of(module) == room:
            for other in map(room_of, imports_of(module)):
                down = other in FLOOR and FLOOR[other] < FLOOR[room]
                assert down or other in (room, "", "lazy"), f"{module} imports {other}"


def part_of(module: str) -> str:
    """The part of its room that a module lies in, e.g. "naming"."""
    return (module.split(".")[2:3] or [""])[0]


def test_imports_go_down_the_parts_of_checking():
    parts = [module for module in FILES if room_of(module) == "checking" and part_of(module)]
    assert {part_of(module) for module in parts} == set(PARTS_OF_CHECKING)
    for module in parts:
        here = part_of(module)
        for other in imports_of(module):
            there = part_of(other)
            down = there == here or PARTS_OF_CHECKING[there] < PARTS_OF_CHECKING[here]
            assert down, f"{module} imports {other}"


def test_every_folder_is_a_room():
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(
        FLOOR
    )


def test_no_files_import_each_other_in_a_circle():
    """Also none that is hidden in a function or behind TYPE_CHECKING. The package's own face offers names lazily."""
    graph = {module: sorted(imports_of(module)) for module in FILES if module != "sdpa_helpers"}
    finished: set[str] = set()

    def follow(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " → ".join([*way[way.index(module) :], module])
        if module in graph and module not in finished:
            for other in graph[module]:
                follow(other, (*way, module))
            finished.add(module)

    for module in graph:
        follow(module, ())


def test_lessons_do_not_import_each_other():
    """An exercise may be made with what an earlier lesson's exercises are made of: heads with the ways to mask."""
    lessons = [f"sdpa_helpers.lessons.{folder_of(lesson)}" for lesson in LESSONS]
    for module in FILES:
        for number, own in enumerate(lessons):
            if not f"{module}.".startswith(f"{own}."):
                continue
            pieces = [f"{each}.exercises." for each in lessons[:number]] if ".exercises." in module else []
            others = [f"{each}." for each in lessons if each != own]
            taken = [f"{name}." for name in imports_of(module)]
            bad = [t for t in taken if t.startswith(tuple(others)) and not t.startswith(tuple(pieces))]
            assert not bad, f"{module} imports {bad}"


@pytest.mark.parametrize("lesson", ["00_start_here", *DOORS, *LESSONS])
def test_a_lesson_offers_what_its_notebook_uses(lesson):
    folder = lesson.partition("_")[2]
    cells = json.loads((COURSE / "notebooks" / f"{lesson}.ipynb").read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    used = set(re.findall(r"\blesson\.(\w+)", code))
    for names in re.findall(rf"from sdpa_helpers\.lessons\.{folder} import ([\w, ]+)", code):
        used |= {name.strip() for name in names.split(",")}
    offered = importlib.import_module(f"sdpa_helpers.lessons.{folder}").__all__
    assert used <= {*offered}


def test_floor_0_never_imports_matplotlib_or_widgets():
    for module, path in FILES.items():
        # The fork server imports it for submissions that use it, where it is installed.
        if FLOOR.get(room_of(module)) == 0 and module != "sdpa_helpers.sandbox.inside.fork_server":
            assert not re.search(r"^\s*(import|from) (matplotlib|ipywidgets)", path.read_text(), re.M), module


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


def test_nothing_in_the_project_points_outside_it(course):
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=course, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    for name in filter(None, tracked):
        path = course / name
        if path.suffix in (".py", ".md", ".toml", ".yml", ".ipynb", ".html", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert "../" + "shared" not in text, name
