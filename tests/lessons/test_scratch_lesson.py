"""A lesson that is a title, a line in the registry and a notebook: whatever is made of lessons is made."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

COURSE = Path(__file__).parents[2]
LESSON = "11_scratch"
ABOUT = '''"""A lesson with nothing."""

TITLE = "Scratch"
QUESTION = "What does a lesson need?"
NOTES = ""
NAMES: tuple[str, ...] = ()
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
    leave = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in ("sdpa_helpers", "notebooks"):
        shutil.copytree(COURSE / name, root / name, ignore=leave)
    for name in ("editions", "docs", "tests", "exercises", "solutions"):
        (root / name).symlink_to(COURSE / name)
    shutil.copy(COURSE / "README.md", root)
    lessons = root / "sdpa_helpers" / "lessons"
    (lessons / "scratch" / "exercises").mkdir(parents=True)
    (lessons / "scratch" / "__init__.py").write_text('"""A lesson with nothing."""\n')
    (lessons / "scratch" / "exercises" / "__init__.py").write_text(ABOUT)
    registry = (root / "sdpa_helpers" / "course" / "registry.py").read_text()
    last = '    "10_does_scaling_matter",\n'
    (root / "sdpa_helpers" / "course" / "registry.py").write_text(
        registry.replace(last, f'{last}    "{LESSON}",\n', 1)
    )
    cells = [
        nbformat.v4.new_markdown_cell("# 11 Scratch\n\n**0 minutes**"),
        nbformat.v4.new_code_cell("1 + 1"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / "notebooks" / f"{LESSON}.ipynb")
    return root


def test_what_a_lesson_lacks_is_not_shown(scratch):
    done = subprocess.run(
        [sys.executable, "-c", MADE],
        cwd=scratch,
        env={"PYTHONPATH": str(scratch)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "What does a lesson need?" in (scratch / "README.md").read_text(encoding="utf-8")
