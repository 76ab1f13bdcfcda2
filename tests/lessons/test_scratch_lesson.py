"""A lesson that is a folder with a title, and a notebook: whatever is made of lessons is made."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from sdpa_helpers.course.registry import by_number
from tests.environments import path_with

COURSE = Path(__file__).parents[2]
LESSON = "11_scratch"
ABOUT = '''"""A lesson with nothing."""

NUMBER = 11
TITLE = "Scratch"
QUESTION = "What does a lesson need?"
NOTES = ""
'''
MADE = f"""
import importlib, sys
from editions.kit.pages import pages
from sdpa_helpers.classroom import course_map
from sdpa_helpers.course.cheat_sheet import cheat_sheet
from sdpa_helpers.course.interview.page import as_page
from sdpa_helpers.course.registry import LESSONS, all_claims, all_exercises
from sdpa_helpers.course.remember.items import all_items

assert LESSONS[-1] == "{LESSON}"
importlib.import_module("sdpa_helpers.lessons.scratch")
assert cheat_sheet() == open("docs/cheat-sheet.html", encoding="utf-8").read()
assert as_page() == open("docs/interview.md", encoding="utf-8").read()
assert not [item for item in all_items() if item.lesson == LESSONS[-1]]
assert "{LESSON}.md" not in pages()
assert all_claims() and all_exercises()
course_map.main()
"""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A course with one lesson more."""
    root = tmp_path_factory.mktemp("course")
    leave = shutil.ignore_patterns("node_modules")  # what is compiled already stays so
    for name in ("sdpa_helpers", "notebooks"):
        shutil.copytree(COURSE / name, root / name, ignore=leave)
    for name in ("editions", "docs", "tests", "exercises", "solutions"):
        (root / name).symlink_to(COURSE / name)
    shutil.copy(COURSE / "README.md", root)
    lessons = root / "sdpa_helpers" / "lessons"
    (lessons / "scratch" / "exercises").mkdir(parents=True)
    (lessons / "scratch" / "__init__.py").write_text('"""A lesson with nothing."""\n')
    (lessons / "scratch" / "exercises" / "__init__.py").write_text(ABOUT)
    cells = [
        nbformat.v4.new_markdown_cell("# 11 Scratch\n\n**0 minutes**"),
        nbformat.v4.new_code_cell("1 + 1"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / "notebooks" / f"{LESSON}.ipynb")
    return root


def test_a_folder_says_its_number(tmp_path):
    for name, text in {"one": "NUMBER = 2\n", "two": "# \nNUMBER = 1\n", "ten": "NUMBER = 10\n"}.items():
        (tmp_path / name / "exercises").mkdir(parents=True)
        (tmp_path / name / "exercises" / "__init__.py").write_text(text)
    (tmp_path / "no_exercises").mkdir()
    assert by_number(tmp_path) == ("01_two", "02_one", "10_ten")
    (tmp_path / "one" / "exercises" / "__init__.py").write_text("NUMBER = 1\n")
    with pytest.raises(ValueError, match=r"two.*: one has the number 1 too"):
        by_number(tmp_path)
    (tmp_path / "one" / "exercises" / "__init__.py").write_text("TITLE = 'One'\n")
    with pytest.raises(ValueError, match=r"one.*a line `NUMBER = 3` is expected"):
        by_number(tmp_path)


def test_what_a_lesson_lacks_is_not_shown(scratch):
    done = subprocess.run(
        [sys.executable, "-c", MADE],
        cwd=scratch,
        env={"PYTHONPATH": path_with(scratch), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "What does a lesson need?" in (scratch / "README.md").read_text(encoding="utf-8")
