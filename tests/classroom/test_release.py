"""The student edition: complete, without solutions, and able to check a notebook offline on its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from sdpa_helpers.attention.known_backends import BACKENDS
from sdpa_helpers.classroom import release as release_module
from sdpa_helpers.classroom.release import FILES, FOLDERS, CannotRelease, edition_files, release
from sdpa_helpers.classroom.review.panel import beside_answer
from sdpa_helpers.course.registry import all_written
from tests.environments import build_wheel, environment, path_with
from tests.handing_in import POINTS, RIGHT, TOTAL

NAME = "01_dot_product"


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    target = tmp_path_factory.mktemp("release") / "course"
    release(target)
    return target


def run(edition, *arguments):
    environment = {**os.environ, "PYTHONPATH": path_with(edition), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=edition, env=environment, capture_output=True, text=True, check=False)


def test_it_holds_the_lessons_and_no_solutions(edition, course):
    held = {p.relative_to(edition).as_posix() for p in edition.rglob("*") if p.is_file()}
    for folder in ("notebooks", "exercises"):
        assert {p.name for p in (course / folder).glob("*.ipynb")} == {
            p.name for p in (edition / folder).glob("*.ipynb")
        }
    assert {"README.md", *FILES} <= held
    tops = {name.split("/")[0] for name in (*FILES, *FOLDERS, "README.md")}
    assert {path.name for path in edition.iterdir()} == tops
    assert not tops & {"solutions", "tests", "teachers.mk", ".ci", ".git", ".github", "CONTRIBUTING.md"}
    assert not (edition / "sdpa_helpers" / "classroom").exists()
    handed_out = _sources(edition, "notebooks", "exercises")
    solved = {source for source in _sources(course, "solutions") if "BEGIN SOLUTION" in source}
    assert len(solved) > 80
    assert not solved & handed_out
    assert not [source for source in handed_out if "BEGIN SOLUTION" in source]


def _sources(root, *folders):
    """The text of every cell in the notebooks of these folders."""
    paths = [path for folder in folders for path in (root / folder).glob("*.ipynb")]
    notebooks = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return {"".join(cell["source"]) for notebook in notebooks for cell in notebook["cells"]}


def test_of_the_package_it_lacks_nothing_but_what_is_for_teaching(edition, course):
    tracked = subprocess.run(
        ["git", "ls-files", "sdpa_helpers"], cwd=course, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    for name in filter(None, tracked):
        if (course / name).is_file():
            to_teach = name.startswith("sdpa_helpers/classroom/") or name.endswith(
                ("/kit.md", "/board.svg", "/slides.md", ".answers.txt")
            )
            assert (edition / name).is_file() != to_teach, name


EVERY_MODULE = """
import importlib, json, pkgutil
import sdpa_helpers

def stop(name):
    raise

failed = {}
names = [m.name for m in pkgutil.walk_packages(sdpa_helpers.__path__, "sdpa_helpers.", onerror=stop)]
for name in names:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        failed[name] = error.name
print(json.dumps([sdpa_helpers.__file__, len(names), failed]))
"""


def test_every_module_of_it_can_be_imported_with_what_learners_install(edition, needs, tmp_path):
    needs("hatchling")
    alone = environment(tmp_path / "environment", build_wheel(edition, tmp_path / "wheel"), ["lab"])
    assert not {"sqlalchemy", "distributed", "nbgrader", "numba", "triton"} & set(alone.wants)
    done = alone.run("-c", EVERY_MODULE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    file, count, failed = json.loads(done.stdout.split("\n")[-2])
    assert Path(file).is_relative_to(tmp_path)
    assert count > 80
    folder = "sdpa_helpers.attention."
    optional = {name for backend in BACKENDS.values() for name in backend.needs} - set(alone.wants)
    for name, missing in failed.items():  # a backend that says what it needs loads when it is asked for
        assert name.startswith(folder), f"{name} needs {missing}, which learners do not have"
        assert missing in optional, f"{name} needs {missing}, which no backend names"


def test_what_nobody_named_does_not_go_along(course, tmp_path, monkeypatch):
    root = tmp_path / "course"
    for name in (*FILES, "notebooks/00_start_here.ipynb", "sdpa_helpers/__init__.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(course / name, root / name)
    notes = ("notes.md", "notebooks/answers.csv", "sdpa_helpers/.env", "sdpa_helpers/classroom/new.py")
    notes += ("exam/exam.ipynb", "notebooks/.ipynb_checkpoints/old.ipynb", "docs/grading.md")
    for name in notes:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("for nobody who learns")
    assert edition_files(root) == ["notebooks/00_start_here.ipynb", "sdpa_helpers/__init__.py"]
    monkeypatch.setattr(release_module, "course_root", lambda: root)
    release(tmp_path / "edition")
    assert not [
        p
        for p in (tmp_path / "edition").rglob("*")
        if p.is_file() and "for nobody who learns" in p.read_text()
    ]
    (root / "LICENSE").unlink()
    with pytest.raises(CannotRelease, match="LICENSE"):
        release(tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_a_notebook_with_a_solution_stops_it(course, tmp_path, monkeypatch):
    root = tmp_path / "course"
    for name in (*FILES, "notebooks/00_start_here.ipynb"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(course / name, root / name)
    (root / "exercises").mkdir()
    shutil.copy(course / "solutions" / f"{NAME}.ipynb", root / "exercises" / f"{NAME}.ipynb")
    monkeypatch.setattr(release_module, "course_root", lambda: root)
    with pytest.raises(CannotRelease, match=NAME):
        release(tmp_path / "edition")
    assert not (tmp_path / "edition").exists()


def test_it_holds_neither_rubrics_nor_model_answers(edition):
    secrets = [
        sentence
        for exercise in all_written().values()
        for sentence in (
            beside_answer(exercise)["model"],
            *(c[k] for c in beside_answer(exercise)["criteria"] for k in ("says", "beware")),
        )
    ]
    assert len(secrets) > 20
    for path in edition.rglob("*"):
        if path.is_file() and path.suffix in (".py", ".ipynb", ".md", ".js", ".html"):
            text = path.read_text(encoding="utf-8")
            for secret in secrets:
                assert secret[:40] not in text, f"{path.name}: {secret}"


def test_its_own_package_checks_a_right_and_an_untouched_notebook(edition, hand_in):
    where = run(edition, "-c", "import sdpa_helpers; print(sdpa_helpers.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(edition)
    right = run(edition, "-m", "sdpa_helpers", "check", str(hand_in("ada", **RIGHT)))
    assert right.returncode == 0, right.stdout + right.stderr
    assert f"{TOTAL:g} of {TOTAL:g} points" in right.stdout
    untouched = run(edition, "-m", "sdpa_helpers", "check", "exercises/02_variance_proof.ipynb")
    assert untouched.returncode == 1, untouched.stdout + untouched.stderr
    assert "proof_in_words: 15 points, read by a person." in untouched.stdout
    assert "NotImplemented" in untouched.stdout


def test_what_learners_call_in_a_notebook_works(edition, tmp_path):
    code = (
        "import sdpa_helpers as s\n"
        "def dot_product(q, k): return (q * k).sum()\n"
        "print(s.check(dot_product).points, s.hint('best_key'), s.progress())"
    )
    ran = run(edition, "-c", code)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"{POINTS['dot_product']} ")


COMMANDS = """
import shlex
from typer.testing import CliRunner
from sdpa_helpers.cli.app import app
for command in ("grade x --out y", "report x", "export x --to canvas", "review x", "release x"):
    ran = CliRunner().invoke(app, shlex.split(command))
    print(command, "|", ran.exit_code, "|", " ".join(ran.output.split()))
"""


def test_commands_for_teachers_say_where_one_is(edition):
    ran = run(edition, "-c", COMMANDS)
    told = [line.split(" | ") for line in ran.stdout.splitlines()]
    assert len(told) == 5, ran.stderr
    for command, status, output in told:
        assert status == "2", command
        assert "student edition" in output, command
        assert "Traceback" not in output
    by_hand = run(edition, "-m", "sdpa_helpers", "grade", "x", "--out", "y")
    assert (by_hand.returncode, "student edition" in by_hand.stderr) == (2, True)


def test_links_lead_to_something(edition, course):
    pages = [edition / "README.md", *edition.glob("notebooks/*.ipynb"), *edition.glob("exercises/*.ipynb")]
    for page in pages:
        if page.suffix == ".ipynb":
            cells = nbformat.read(page, as_version=4).cells
            text = "\n".join(c.source for c in cells if c.cell_type == "markdown")
        else:
            text = page.read_text()
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in link:
                in_course = (course / page.relative_to(edition)).parent / link
                assert (page.parent / link).exists() or not in_course.exists(), f"{page.name}: {link}"


def test_its_makefile_has_the_learners_targets(edition, needs_program):
    make = needs_program("make")
    shown = subprocess.run([make, "help"], cwd=edition, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^make (\w+)", shown, re.MULTILINE)) == {"help", "lab", "clean"}
    dry = subprocess.run([make, "-n", "lab"], cwd=edition, capture_output=True, text=True, check=False)
    assert dry.returncode == 0, dry.stderr
    assert ".[lab,lab]" in dry.stdout


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, course):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CannotRelease, match="not empty"):
        release(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(CannotRelease, match="inside"):
        release(course / "notebooks" / "student")
    assert not (course / "notebooks" / "student").exists()


def test_a_learner_works_in_copies_and_resets_an_exercise(edition):
    laid = run(
        edition,
        "-c",
        "from pathlib import Path; from sdpa_helpers.desk.laying import lay; "
        "print(len(lay(Path.cwd())), Path('work/.laid.json').exists())",
    )
    count = len([*edition.glob("notebooks/*.ipynb"), *edition.glob("exercises/*.ipynb")])
    assert laid.stdout.split() == [str(count), "True"], laid.stderr
    copy = edition / "work" / "exercises" / f"{NAME}.ipynb"
    copy.write_text(copy.read_text().replace("return NotImplemented", "return 0"))
    reset = run(edition, "-m", "sdpa_helpers", "reset", "dot_product")
    assert "Your answer is kept in work/answers-put-aside.md." in reset.stdout, reset.stderr
    assert "return 0" in (edition / "work" / "answers-put-aside.md").read_text()
    shutil.rmtree(edition / "work")
