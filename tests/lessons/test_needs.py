"""Cells that need what is absent: which they are, and what they say in place of a traceback."""

import ast
import json
import re
import subprocess
import sys

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

import sdpa_helpers.course.needs as needs_module
from sdpa_helpers.classroom.course_map import needs_tags
from sdpa_helpers.course.needs import Need, Reader, cells_that_need, needs
from sdpa_helpers.course.not_run import NotRun
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import LESSONS

TORCH = frozenset({"torch"})


def through(*cells: str) -> list[str | None]:
    """Of each cell the name that leads to torch, or None."""
    return [need and need.through for need in cells_that_need(cells, TORCH)]


def test_a_cell_that_imports_torch_needs_it_and_so_does_what_uses_its_names():
    assert through("import torch\nx = torch.ones(3)", "y = 1", "x + y", "torch.ones(2)", "y + 1") == [
        *("torch", None, "x", "torch", None)
    ]


def test_a_function_that_uses_torch_later_needs_it_too():
    assert through("import torch", "def f(x):\n    return [torch.exp(z) for z in x]", "f([1])") == [
        *("torch", "torch", "f")
    ]


@pytest.mark.parametrize(
    "cell",
    [
        "x = 1\nx + 1",
        "for x in range(3):\n    print(x)",
        "[x for x in range(3)]",
        "def f(x):\n    return x",
        "with open('a') as x:\n    x.read()",
    ],
)
def test_a_name_that_a_cell_binds_itself_is_not_missing(cell):
    assert through("import torch\nx = 2", cell) == ["torch", None]


def test_a_cell_that_only_tries_to_import_torch_runs():
    assert through("try:\n    import torch\nexcept ImportError:\n    torch = None", "torch") == [None, None]


def test_a_name_is_missing_until_another_cell_binds_it():
    assert through("import torch\nx = 2", "x", "x = 3", "x") == ["torch", "x", None, None]


def test_a_value_from_before_is_not_taken_for_the_one_that_was_not_computed():
    assert through("x = 1", "import torch\nx = 2", "x") == [None, "torch", "x"]


def test_a_marked_helper_of_a_lesson_needs_what_its_mark_says():
    setup = "from sdpa_helpers.lessons import masking as lesson"
    assert through(setup, "lesson.detect(1, 2, 3)", "lesson.recall()") == [None, "lesson.detect", None]


def test_a_mark_must_be_one_that_readers_are_told_about():
    with pytest.raises(AssertionError, match="tourch"):
        needs("tourch")


def test_code_that_is_no_python_is_left_to_python():
    assert Reader(TORCH).read(ast.parse("return 1"), {}) is None


@pytest.fixture
def shell(monkeypatch):
    """An IPython in which torch is absent, as lesson 05 begins."""
    monkeypatch.setattr(needs_module, "absent", lambda: TORCH)
    shell = InteractiveShell()
    monkeypatch.setitem(needs_module.sys.modules, "IPython", type("Here", (), {"get_ipython": lambda: shell}))
    needs_module.watch_cells()
    needs_module.watch_cells()  # once is enough
    return shell


def test_in_a_lesson_a_cell_that_cannot_run_says_so_and_raises_nothing(shell):
    assert len(shell.ast_transformers) == 1
    assert shell.run_cell("from sdpa_helpers.lessons import masking as lesson").success
    outcome = shell.run_cell("import torch\nones = torch.ones(3)")
    assert outcome.success
    assert outcome.result.text() == (
        "This cell needs PyTorch, which is not installed here, so it did not run. "
        'To install it: pip install "sdpa-helpers[lab]". The lesson\'s other cells run without it.'
    )
    later = shell.run_cell("ones.sum()").result
    assert (
        later.why
        == "This cell did not run: “ones” comes from a cell that needs PyTorch, which is not installed here."
    )
    assert shell.run_cell("1 + 1").result == 2


def test_outside_of_lessons_nothing_is_held_back(shell):
    assert shell.run_cell("import json as torch_\nvalue = 3\nvalue").result == 3
    assert type(shell.run_cell("import torch").result) is not NotRun


def test_the_browser_is_named_where_it_is_one(monkeypatch):
    monkeypatch.setattr("sdpa_helpers.course.not_run.sys.platform", "emscripten")
    told = NotRun(*Need("processes", "lesson.climb", True))
    assert (
        told.why == "This cell needs processes of its own, which a browser does not have, so it did not run."
    )
    assert "<p>This cell needs processes" in told.html()


def lesson_cells(lesson):
    return nbformat.read(course_root() / "notebooks" / f"{lesson}.ipynb", as_version=4).cells


@pytest.mark.parametrize("lesson", ["00_start_here", *LESSONS])
def test_a_lessons_tags_name_the_cells_that_need_torch(lesson):
    cells = lesson_cells(lesson)
    stored = {
        cell.id: [tag for tag in cell.metadata.get("tags", []) if tag.startswith("needs-")]
        for cell in cells
        if cell.cell_type == "code"
    }
    assert stored == needs_tags(cells), "run `make minutes`"


@pytest.mark.parametrize("lesson", ["00_start_here", *LESSONS])
def test_no_lesson_begins_with_torch(lesson):
    first = next(cell.source for cell in lesson_cells(lesson) if cell.cell_type == "code")
    assert not re.search(r"^\s*(import|from) (torch|triton|numba|jax)\b", first, re.MULTILINE)


def test_no_first_cell_imports_torch_through_its_helper(course):
    firsts = [
        next(cell.source for cell in lesson_cells(lesson) if cell.cell_type == "code") for lesson in LESSONS
    ]
    script = "\n".join([*firsts, "import sys, json", "print(json.dumps('torch' in sys.modules))"])
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=course, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) is False
