"""The student edition: complete, without solutions, and able to check a notebook offline on its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from sdpa_helpers.classroom.release import CannotRelease, release
from sdpa_helpers.classroom.review.panel import told
from sdpa_helpers.lessons.registry import all_written
from tests.handing_in import RIGHT

NAME = "01_dot_product"


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    target = tmp_path_factory.mktemp("release") / "course"
    release(target)
    return target


def run(edition, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(edition), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=edition, env=environment, capture_output=True, text=True, check=False)


def test_it_holds_the_lessons_and_no_solutions(edition, course):
    held = {p.relative_to(edition).as_posix() for p in edition.rglob("*") if p.is_file()}
    for folder in ("notebooks", "exercises"):
        assert {p.name for p in (course / folder).glob("*.ipynb")} == {
            p.name for p in (edition / folder).glob("*.ipynb")
        }
    assert {"README.md", "Makefile", "pyproject.toml", "environment.yml"} <= held
    for name in held:
        assert not re.match(r"(solutions|tests|\.git|\.ci|build|\.venv)/", name), name
        assert "__pycache__" not in name
        assert Path(name).name not in ("run.json", "gradebook.db", "authoring.py", "release.py")
    for path in (course / "solutions").glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if "BEGIN SOLUTION" in cell.source:
                for folder in ("notebooks", "exercises"):
                    for notebook in (edition / folder).glob("*.ipynb"):
                        cells = nbformat.read(notebook, as_version=4).cells
                        assert all(
                            cell.source != c.source and "BEGIN SOLUTION" not in c.source for c in cells
                        )


def test_it_holds_neither_rubrics_nor_model_answers(edition):
    secrets = [
        sentence
        for exercise in all_written().values()
        for sentence in (
            told(exercise)["model"],
            *(c[k] for c in told(exercise)["criteria"] for k in ("says", "beware")),
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
    assert "22 of 22 points" in right.stdout
    words = run(edition, "-m", "sdpa_helpers", "check", "exercises/02_variance_proof.ipynb")
    assert "proof_in_words: 5 points, read by a person." in words.stdout, words.stdout + words.stderr
    untouched = run(edition, "-m", "sdpa_helpers", "check", f"exercises/{NAME}.ipynb")
    assert untouched.returncode == 1, untouched.stdout + untouched.stderr
    assert "NotImplemented" in untouched.stdout


def test_what_learners_call_in_a_notebook_works(edition, tmp_path):
    code = (
        "import sdpa_helpers as s\n"
        "def dot_product(q, k): return (q * k).sum()\n"
        "print(s.check(dot_product).points, s.hint('best_key'), s.progress())"
    )
    ran = run(edition, "-c", code)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("4.0 ")


@pytest.mark.parametrize(
    "command",
    [
        ["grade", "x", "--out", "y"],
        ["report", "x"],
        ["export", "x", "--to", "canvas"],
        ["review", "x"],
        ["release", "x"],
    ],
)
def test_commands_for_teachers_say_where_one_is(edition, command):
    ran = run(edition, "-m", "sdpa_helpers", *command)
    assert ran.returncode == 2
    assert "student edition" in ran.stderr
    assert "Traceback" not in ran.stderr


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
    assert ".[dev]" not in dry.stdout
    assert "EXTRAS" not in (edition / "Makefile").read_text()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, course):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CannotRelease, match="not empty"):
        release(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(CannotRelease, match="inside"):
        release(course / "notebooks" / "student")
    assert not (course / "notebooks" / "student").exists()
