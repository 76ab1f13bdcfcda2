"""The house rules of the repository that a machine can check."""

import ast
import importlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import sdpa_helpers
from sdpa_helpers.lessons.registry import LESSONS, folder_of
from tests.environments import constraints

COURSE = Path(__file__).parents[1]
PACKAGE = COURSE / "sdpa_helpers"

FLOOR = {
    "attention": 0,
    "checking": 0,
    "sandbox": 0,
    "show": 1,
    "lessons": 2,
    "grading": 3,
    "classroom": 4,
    "bench": 4,
    "cli": 5,
}
"""Imports go down the floors: never up, and never sideways between two rooms of one floor."""


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
    lessons = {f"sdpa_helpers.lessons.{folder_of(lesson)}" for lesson in LESSONS}
    for module in FILES:
        own = {lesson for lesson in lessons if f"{module}.".startswith(f"{lesson}.")}
        taken = [f"{name}." for name in imports_of(module)]
        others = {lesson for lesson in lessons - own if any(name.startswith(f"{lesson}.") for name in taken)}
        assert not (own and others), f"{module} imports {others}"


ROLES = {"__init__", "claims", "experiments", "figures", "widget"}
"""The files that every lesson's folder has; beside them it may have others of its own, and its exercises/."""


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_lesson_offers_is_what_its_notebook_uses(lesson):
    folder = PACKAGE / "lessons" / folder_of(lesson)
    assert {path.stem for path in folder.glob("*.py")} >= ROLES
    cells = json.loads((COURSE / "notebooks" / f"{lesson}.ipynb").read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    used = set(re.findall(r"\blesson\.(\w+)", code))
    for names in re.findall(rf"from sdpa_helpers\.lessons\.{folder_of(lesson)} import ([\w, ]+)", code):
        used |= {name.strip() for name in names.split(",")}
    offered = importlib.import_module(f"sdpa_helpers.lessons.{folder_of(lesson)}").__all__
    assert sorted(offered) == sorted(used)


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


# ---- set-up -----------------------------------------------------------------------------------------------


def declared(course) -> list[Requirement]:
    """What pyproject.toml asks for, in all extras."""
    project = tomllib.loads((course / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    return [r for r in map(Requirement, wanted) if r.name != project["name"]]


def test_there_is_one_version_for_everything_the_course_asks_for(course):
    pins = constraints(course)
    for wanted in declared(course):
        assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)]), wanted


def test_the_conda_environment_has_the_same_versions(course):
    text = (course / "environment.yml").read_text()
    pins = constraints(course) | {"pytorch-cpu": constraints(course)["torch"]}
    fixed = re.findall(r"^  - ([a-z][\w-]*) ==(.*)$", text, re.MULTILINE)
    assert {name for name, _ in fixed} == {"numpy", "pytorch-cpu"}
    for name, version in fixed:
        assert version == pins[name], name
    assert re.search(r"- -c constraints.txt\n +- -e \.\[lab\]", text)


def test_ci_runs_exactly_make_test(course):
    lines = (course / ".ci" / "run").read_text().split("\n")
    assert [line.strip() for line in lines if "make" in line and not line.startswith("#")] == ["make test"]
    assert "export SDPA_REQUIRE_ALL=1" in lines


def test_make_help_lists_every_target(course, needs_program):
    make = needs_program("make")
    shown = subprocess.run([make, "help"], cwd=course, capture_output=True, text=True, check=True).stdout
    text = (course / "Makefile").read_text() + (course / "teachers.mk").read_text()
    targets = set(re.findall(r"^([a-z]+):", text, re.MULTILINE))
    assert targets == set(re.findall(r"^make (\w+)", shown, re.MULTILINE)) >= {"lab", "test", "grade", "help"}


FAKE_PYTHON = """\
#!/bin/sh
[ "$1 $2" = "-m venv" ] && mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && echo "venv" >> "$LOG"
[ "$1 $2" = "-m pip" ] && echo "pip $*" >> "$LOG"
exit 0
"""


@pytest.fixture
def make_in(course, tmp_path, needs_program):
    """make_in(folder, "lab"): what the real Makefile installs there, with a Python that only writes it down."""
    program, log, python = needs_program("make"), tmp_path / "log", tmp_path / "python3"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)

    def make(folder: Path, target: str) -> list[str]:
        log.write_text("")
        subprocess.run(
            [program, target, f"PYTHON={python}"],
            cwd=folder,
            env=os.environ | {"LOG": str(log)},
            check=True,
            capture_output=True,
        )
        return log.read_text().split("\n")[:-1]

    return make


@pytest.fixture
def set_up(course, tmp_path):
    """A folder with what the Makefile reads."""
    folder = tmp_path / "course"
    folder.mkdir()
    for name in ("Makefile", "teachers.mk", "pyproject.toml", "constraints.txt"):
        shutil.copy(course / name, folder / name)
    return folder


def test_learners_get_what_they_need_and_testers_the_rest(make_in, set_up):
    made, installed = make_in(set_up, "lab")
    assert made == "venv"
    assert "-c constraints.txt" in installed
    assert "dev" not in installed
    assert make_in(set_up, "lab") == []
    (installed,) = make_in(set_up, "test")  # into the same environment
    assert ".[lab,dev]" in installed
    assert make_in(set_up, "lab") == make_in(set_up, "test") == []


def test_changed_requirements_are_installed_and_a_moved_course_starts_over(make_in, set_up):
    make_in(set_up, "test")
    for stamp in (set_up / ".venv").glob(".with-*"):
        os.utime(stamp, (0, 0))  # as if constraints.txt had been changed since
    assert [line[:3] for line in make_in(set_up, "lab")] == ["pip"]
    assert [line[:3] for line in make_in(set_up, "test")] == ["pip"]
    moved = set_up.rename(set_up.with_name("elsewhere"))
    assert make_in(moved, "help") == []
    assert [line[:3] for line in make_in(moved, "lab")] == ["ven", "pip"]
    assert make_in(moved, "lab") == []


def test_an_environment_that_is_linked_is_left_alone(make_in, set_up, tmp_path):
    of_another = tmp_path / "another" / ".venv"
    of_another.mkdir(parents=True)
    (of_another / ".place").write_text(str(of_another.parent))
    (set_up / ".venv").symlink_to(of_another)
    assert len(make_in(set_up, "lab")) == 2
    assert not (set_up / ".venv").is_symlink()
    assert [path.name for path in of_another.iterdir()] == [".place"]


def test_an_old_python_is_refused_with_a_sentence(set_up, needs_program, tmp_path):
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
    ran = subprocess.run(
        [make, "test", f"PYTHON={old}"], cwd=set_up, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "needs Python 3.11 or newer" in ran.stdout
    assert "3.8.1" in ran.stdout


def test_the_workflow_runs_what_ci_runs(course):
    steps = (course / ".github" / "workflows" / "test.yml").read_text()
    assert re.search(r"^ +- run: \.ci/run$", steps, re.MULTILINE)


def test_one_version_and_one_licence_everywhere(course):
    project = tomllib.loads((course / "pyproject.toml").read_text())["project"]
    citation = (course / "CITATION.cff").read_text()
    assert sdpa_helpers.__version__ == project["version"]
    assert f"\nversion: {project['version']}\n" in citation
    assert f"\n## [{project['version']}] - " in (course / "CHANGELOG.md").read_text()
    assert set(re.findall(r"^  - (MIT|CC-BY-4.0)$", citation, re.MULTILINE)) == set(
        project["license"].split(" AND ")
    )


OF_OTHERS = {"program.py", "tests/pytorch/attention/test_attention_with_cp.py"}
"""The reader's own program, and a test of Transformer Engine."""

DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/*.md"]


@pytest.mark.parametrize("pattern", DOCUMENTS)
def test_paths_in_the_documents_lead_to_something(course, pattern):
    """Links, paths in backticks, and names of Python files. Not those with a part that the reader fills in."""
    folders = ("sdpa_helpers", "tests", "benchmarks")
    python_files = {path.name for folder in folders for path in (course / folder).rglob("*.py")}
    for page in course.glob(pattern):
        text = page.read_text()
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"
        for path in re.findall(r"`((?:\.ci|sdpa_helpers|tests|docs|benchmarks)/[a-z_./]+)`", text):
            assert (course / path).exists() or path in OF_OTHERS, f"{page.name}: {path}"
        for name in re.findall(r"`(\w+\.py)`", text):
            assert name in python_files | OF_OTHERS, f"{page.name}: {name}"


def test_nothing_in_the_project_points_outside_it(course):
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=course, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    for name in filter(None, tracked):
        path = course / name
        if path.suffix in (".py", ".md", ".toml", ".yml", ".ipynb", ".html", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            assert "../" + "shared" not in text, name
