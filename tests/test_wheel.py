"""The wheel works alone: in an environment without a checkout, with what it asks for and no more."""

import ast
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from tests.environments import Environment, build_wheel, constraints, environment, import_names
from tests.handing_in import RIGHT


@pytest.fixture(scope="module")
def wheel(course, needs, tmp_path_factory):
    needs("hatchling")
    return build_wheel(course, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def made(wheel, tmp_path_factory):
    """made("lab") is the environment with that extra, made once; made() the one with core dependencies only."""
    known: dict[tuple[str, ...], Environment] = {}

    def make(*extras: str) -> Environment:
        if extras not in known:
            known[extras] = environment(tmp_path_factory.mktemp("environment"), wheel, extras)
        return known[extras]

    return make


def out_of(environment: Environment, code: str, folder: Path, **variables: str) -> str:
    """What that code prints there; a failed test with its traceback when it fails."""
    done = environment.run("-c", code, cwd=folder, SDPA_HOME=str(folder / "progress"), **variables)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


# ---- what is in it ----------------------------------------------------------------------------------------


def test_it_holds_the_package_and_its_licences(wheel, course):
    held = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "sdpa_helpers"], cwd=course, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    shipped = {name for name in tracked if (course / name).is_file() and not name.endswith(".answers.txt")}
    assert len(shipped) > 400
    assert shipped <= held
    folders = {name.split("/")[0] for name in held}
    (info,) = folders - {"sdpa_helpers"}
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/LICENSE-CONTENT", "sdpa_helpers/py.typed"} <= held
    assert not [name for name in held if name.endswith((".ipynb", ".pyc", ".answers.txt"))]


def test_it_says_what_an_index_asks_for(wheel, course):
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(next(n for n in archive.namelist() if n.endswith("/METADATA"))).decode()
    for line in (
        "License-Expression: MIT AND CC-BY-4.0",
        "Requires-Python: >=3.11",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
    ):
        assert line in metadata.split("\n")


# ---- what it asks for -------------------------------------------------------------------------------------


def test_the_core_is_numpy_and_pure_python(made):
    compiled = {
        name
        for name, wanted in made().wants.items()
        if any(file.suffix in (".so", ".pyd", ".dylib") for file in wanted.files or ())
    }
    assert compiled == {"numpy"}


def test_there_is_one_version_for_all_that_is_installed(made, course):
    assert set(made("dev").wants) <= set(constraints(course))


EXTRAS = {
    "attention": ("torch", "fast", "gpu"),
    "checking": ("lab",),
    "sandbox": ("lab",),
    "head": ("lab",),
    "show": ("lab",),
    "course": ("lab",),
    "lessons": ("lab",),
    "grading": ("lab",),
    "desk": ("lab",),
    "bench": ("lab",),
    "classroom": ("dev",),
    "cli": ("lab",),
}
"""For each room the extras that bring what it imports. `dev`: notebooks are made, nbgrader gets marks."""

UNDECLARED = {("bench", "jax")}
"""`sdpa bench` times it where it happens to be installed."""


def imported(path: Path) -> set[str]:
    """The first names of everything that a file imports, inside functions too; not what only types need."""
    skipped, found = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            skipped |= {id(inner) for statement in node.body for inner in ast.walk(statement)}
        elif id(node) not in skipped and isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif id(node) not in skipped and isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name.split(".")[0] for name in found}


@pytest.mark.parametrize("room", EXTRAS)
def test_what_a_room_imports_is_declared(room, made, course, needs):
    if "gpu" in EXTRAS[room]:
        needs("triton")
    declared = import_names(made(*EXTRAS[room]).wants.values()) | sys.stdlib_module_names | {"sdpa_helpers"}
    for path in sorted((course / "sdpa_helpers" / room).rglob("*.py")):
        missing = {name for name in imported(path) if (room, name) not in UNDECLARED} - declared
        assert not missing, f"{path.name} imports what no extra of {room}/ declares"


def test_every_room_has_its_extras(course):
    rooms = {path.parent.name for path in (course / "sdpa_helpers").glob("*/__init__.py")}
    assert rooms == set(EXTRAS)


# ---- with NumPy and pure Python only ----------------------------------------------------------------------

CHECK = """
import numpy as np, sdpa_helpers as sdpa
def dot_product(q, k):
    return np.sum(q * k)
report = sdpa.check(dot_product)
assert report.passed and report.points > 0, report
def cosine_similarity(q, k):
    return q @ k
report = sdpa.check(cosine_similarity)
assert not report.passed
print(report, sdpa.hint(cosine_similarity), sdpa.solution("best_key"), sdpa.progress())
Q = np.eye(3)
sdpa.scaled_dot_product_attention(Q, Q, Q, is_causal=True)
print(sdpa.backends())
print(sdpa.__file__)
"""


def test_check_needs_no_more_than_the_core(made, tmp_path):
    shown = out_of(made(), CHECK, tmp_path)
    assert "['numpy', 'numpy-tiled']" in shown
    assert str(made().python.parents[1]) in shown.split("\n")[-2]  # not the checkout's


def test_every_exercise_can_be_checked_without_torch(made, tmp_path):
    code = """
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.registry import all_exercises
for exercise in all_exercises().values():
    assert try_out(exercise, exercise.reference).passed, exercise.name
print(len(all_exercises()))
"""
    assert int(out_of(made(), code, tmp_path)) > 0


def test_the_doctor_and_the_command_line_say_what_to_install(made, tmp_path):
    code = "import json, sdpa_helpers as s; print(json.dumps({f.name: [f.ok, f.help] for f in s.doctor().facts}))"
    facts = json.loads(out_of(made(), code, tmp_path))
    assert facts["numpy"][0] is True
    for name in ("jupyterlab", "kernel", "torch"):
        assert facts[name][0] is False
        assert "sdpa-helpers[lab]" in facts[name][1]
    done = made().run("-m", "sdpa_helpers", "check", "01_dot_product.ipynb", cwd=tmp_path)
    assert done.returncode == 2
    assert "sdpa-helpers[lab]" in done.stderr
    assert "Traceback" not in done.stderr


# ---- with what a learner installs -------------------------------------------------------------------------

PANELS = """
import importlib, inspect, json
import anywidget
import sdpa_helpers as sdpa
from sdpa_helpers.course.registry import LESSONS, folder_of

shown = {"walk_through": sdpa.walk_through()}
for lesson in LESSONS:
    module = importlib.import_module(f"sdpa_helpers.lessons.{folder_of(lesson)}.widget")
    for name, make in inspect.getmembers(module, inspect.isfunction):
        needed = [p for p in inspect.signature(make).parameters.values() if p.default is p.empty]
        if name.startswith("explore_") and not needed:
            shown[name] = make()
for name, panel in shown.items():
    assert "<svg" in panel.html() or "<img" in panel.html(), name
    widget = panel.widget()
    assert isinstance(widget, anywidget.AnyWidget), name
    assert len(str(widget._esm)) > 1000, name
print(json.dumps(list(shown)))
"""


def test_panels_draw_and_have_their_javascript(made, tmp_path):
    shown = json.loads(out_of(made("lab"), PANELS, tmp_path))
    assert {"walk_through", "explore_keys", "explore_temperature"} <= set(shown)


def test_the_doctor_is_content_with_what_a_learner_installs(made, tmp_path):
    done = made("lab").run("-m", "sdpa_helpers", "doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_notebook_is_checked_without_a_checkout(made, hand_in, pristine, tmp_path):
    right = hand_in("ada", **RIGHT)
    done = made("lab").run("-m", "sdpa_helpers", "check", str(right), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    untouched = tmp_path / right.name
    nbformat.write(pristine, untouched)
    done = made("lab").run("-m", "sdpa_helpers", "check", str(untouched), cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "NotImplemented" in done.stdout


DESK = """
from pathlib import Path
from sdpa_helpers.desk import launch, server
from sdpa_helpers.desk.course import course_state
from sdpa_helpers.desk.laying import lay
from sdpa_helpers.course.places import course_root

root = course_root()
lay(root)
state = course_state(root)
print(root, server._jupyter_server_extension_points()[0]["module"], state.next.lesson, launch.settings(root, {}))
"""


def test_beside_a_course_in_another_folder_it_lays_copies_and_serves_them(made, course, tmp_path):
    root = tmp_path / "course"
    for name in ("notebooks", "exercises"):
        shutil.copytree(course / name, root / name)
    shown = out_of(made("lab"), DESK, root)
    assert shown.startswith(f"{root} sdpa_helpers.desk.server 00_start_here")
    assert str(made("lab").python.parents[1]) in shown  # where the front end is
    again = made("lab").run("-m", "sdpa_helpers", "reset", "softmax", cwd=root / "work" / "notebooks")
    assert again.returncode == 0, again.stderr
    assert "work/exercises/03_softmax.ipynb" in again.stdout
