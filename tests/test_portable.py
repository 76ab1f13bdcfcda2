"""Nothing that is stored or asserted depends on the processor: what guards that, and that the guard is awake."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

import conftest
from sdpa_helpers.classroom import authoring, course_map, processors
from sdpa_helpers.classroom.processors import HASWELL, NEHALEM, PROCESSORS, as_if_on, flags
from sdpa_helpers.course.generated import keep
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.lessons import complexity

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

_SUMS = """
import hashlib, json, numpy as np, torch
torch.set_num_threads(1)
X, Y = np.random.default_rng(0).standard_normal((2, 100, 64))
found = [X @ Y.T, np.exp(X.astype(np.float32)), (torch.from_numpy(X).float() @ torch.from_numpy(Y).float().T).numpy()]
print(json.dumps([hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest() for part in found]))
"""


_ERRORS = """
import json, numpy as np
from sdpa_helpers.lessons.gradients import difference_error
x, steps = np.array([0, 1, 2, 0.5, -1]) / 3**0.5, np.logspace(-12, 0, 49)
print(json.dumps([difference_error(x, steps, kind).tolist() for kind in (np.float64, np.float32)]))
"""


def printed_on(processor: processors.Processor, code: str) -> Any:
    """What a process prints that takes this processor's loops."""
    with as_if_on(processor):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(not flags() >= HASWELL.needs, reason="needs a processor with AVX2")
def test_another_processor_rounds_differently_in_every_library(needs):
    """Else the runs on a foreign processor would show nothing."""
    needs("torch")
    old, new = printed_on(NEHALEM, _SUMS), printed_on(HASWELL, _SUMS)  # OpenBLAS, NumPy, MKL
    assert [a == b for a, b in zip(old, new, strict=True)] == [False] * 3


def test_even_a_picture_of_rounding_is_the_same_everywhere():
    """Lesson 04 draws the errors of differences: to the last bit those of every processor."""
    here = json.loads(subprocess.run([sys.executable, "-c", _ERRORS], capture_output=True, check=True).stdout)
    assert printed_on(NEHALEM, _ERRORS) == here


def test_the_variables_are_gone_afterwards():
    before = dict(os.environ)
    with as_if_on(NEHALEM):
        assert os.environ["OPENBLAS_CORETYPE"] == "Nehalem"
    assert dict(os.environ) == before


def test_what_this_processor_lacks_is_left_out_with_a_line(monkeypatch, capfd):
    monkeypatch.setattr(processors, "flags", lambda: frozenset({"sse4_2"}))
    assert processors.main(["--version"]) == 0
    told = capfd.readouterr().out
    assert "Nehalem:\n" in told
    assert "Haswell: left out, this processor has no avx2, fma" in told
    assert processors.main(["no_such_file.py"]) == 1
    assert "red on Nehalem" in capfd.readouterr().out


def test_each_kind_is_another():
    assert len({tuple(p.environment().items()) for p in PROCESSORS}) == len(PROCESSORS) == 3


# The rule, for every lesson ----------------------------------------------------------------------------------------

CLOCKS = {"process_time", "perf_counter", "monotonic", "timeit", "getrusage", "VmHWM", "Timer"}
"""What tells times or peaks of memory, as a name or a word in the code."""


def definitions(folder: Path) -> dict[str, set[str]]:
    """By what a lesson's modules define at their top: the names and words that it mentions. `run.py` may measure.

    What starts a process for its own module may reach all that this module has.
    """
    found: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.py")):
        if path.stem == "run":
            continue
        own: dict[str, set[str]] = {}
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            names += [one.id for one in getattr(node, "targets", []) if isinstance(one, ast.Name)]
            own |= {name: own.get(name, set()) | mentioned(node) for name in names}
        for name, words in own.items():
            found.setdefault(name, set()).update(words, own if {"executable", "__name__"} <= words else ())
    return found


def mentioned(tree: ast.AST) -> set[str]:
    """Names that come from outside, and clocks: as attributes too, and in strings."""
    words, parameters = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            words.add(node.id)
        if isinstance(node, ast.arg):
            parameters.add(node.arg)
        if isinstance(node, ast.Attribute):
            words |= {node.attr} & (CLOCKS | {"executable", "train"})
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words |= CLOCKS & set(node.value.split())
    return words - parameters


def measuring(known: dict[str, set[str]]) -> set[str]:
    """The names that lead to a clock."""
    found: set[str] = set()
    while more := {n for n, words in known.items() if words & (CLOCKS | found)} - found:
        found |= more
    return found


def code_of(lesson: str) -> list[nbformat.NotebookNode]:
    cells = nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


EVERY_LESSON = pytest.mark.parametrize("lesson", LESSONS)


def test_the_rule_finds_clocks_where_they_are():
    root = Path(complexity.__file__).parent
    assert measuring(definitions(root)) >= {"interleaved", "race", "machine", "time_against_n", "peaks"}


@EVERY_LESSON
def test_no_cell_of_a_lesson_asks_a_clock(lesson):
    """What is timed or weighed comes from the lesson's data: `measured()`, made by its `run.py`."""
    package = importlib.import_module(f"sdpa_helpers.lessons.{lesson[3:]}")
    clocks = measuring(definitions(Path(package.__file__ or "").parent))
    for cell in code_of(lesson):
        words = mentioned(ast.parse(cell.source))
        assert clocks.isdisjoint(re.findall(r"\blesson\.(\w+)", cell.source)), cell.id
        assert not words & CLOCKS, cell.id
        assert not {"here"} & {
            k.arg for k in ast.walk(ast.parse(cell.source)) if isinstance(k, ast.keyword)
        }, cell.id


@EVERY_LESSON
def test_what_is_printed_is_compared_everywhere(lesson):
    """Strict nbval looks at each line of text; only what has a picture or a panel in it may be left out."""
    for cell in code_of(lesson):
        if "nbval-ignore-output" in cell.metadata.get("tags", []) and cell.id not in NOT_OURS:
            assert any("text/html" in one.get("data", {}) for one in cell.outputs), cell.id


NOT_OURS = {"fused-kernels", "nan-table", "triton-run"}
"""What another version of torch may print otherwise, or a machine without Triton."""


def trains(lesson: str) -> bool:
    """Whether a cell runs an optimizer's steps: a lesson's own `train`."""
    return any("train" in mentioned(ast.parse(cell.source)) for cell in code_of(lesson))


def test_the_lessons_that_train_run_on_a_foreign_processor():
    assert {f"notebooks/{lesson}.ipynb" for lesson in LESSONS if trains(lesson)} <= conftest._TRAINED


@pytest.mark.parametrize(
    "lesson", ["04_gradients", "06_complexity", "07_flash_attention", "08_heads_and_variants"]
)
def test_data_that_is_shipped_says_what_made_it(lesson):
    run = importlib.import_module(f"sdpa_helpers.lessons.{lesson[3:]}.run")
    about = (run.shipped() if lesson == "04_gradients" else run.measured()).about
    assert about.command == f"python -m {run.__name__}"
    assert about.processor
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", about.date)
    assert "numpy" in about.versions


# What is generated ------------------------------------------------------------------------------------------------


def test_a_generated_file_is_written_where_it_differs_and_a_line_says_so(tmp_path, capsys):
    for text in ("one √", "one √", "two"):
        keep(tmp_path, "docs/page.md", text)
    assert (tmp_path / "docs" / "page.md").read_text(encoding="utf-8") == "two"
    assert (
        capsys.readouterr().out == "made      docs/page.md\nunchanged docs/page.md\nmade      docs/page.md\n"
    )


def test_notebooks_of_one_name_are_made_and_an_unknown_name_is_told(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(authoring, "make", lambda root, stem: asked.append(stem) or stem.startswith("03"))
    authoring.main(["03", "05"])
    assert asked == ["03_softmax", "05_masking"]
    assert capsys.readouterr().out == "made      03_softmax\nunchanged 05_masking\n"
    with pytest.raises(SystemExit, match="no notebook is named like 77; there are 00_start_here, "):
        authoring.main(["77"])


def test_minutes_are_printed_as_they_are_written(monkeypatch, capsys, course):
    """Rounded up, as a lesson's head says them."""
    monkeypatch.setattr(course_map, "put", lambda path, text: False)
    monkeypatch.setattr(course_map, "keep", lambda root, name, text: None)
    course_map.main()
    for line in capsys.readouterr().out.splitlines():
        lesson, minutes = re.findall(r"^unchanged (\w+): short (\d+) min", line)[0]
        head = nbformat.read(course / "notebooks" / f"{lesson}.ipynb", as_version=4).cells[0].source
        assert f"**{minutes} minutes**" in head


def test_everything_that_is_generated_is_in_make_all_and_each_week_it_is_made_twice(course):
    rules = (course / "teachers.mk").read_text()
    recipe = re.findall(r"^all:.*\n((?:\t.*\n)+)", rules, re.MULTILINE)[0]
    made = set(recipe.split()) & set(re.findall(r"^([a-z-]+):", rules, re.MULTILINE))
    assert made == {"minutes", "notebooks", "ledger", "corners", "cheat-sheet", "interview", "kit", "colab"}
    week = (course / ".github" / "workflows" / "portable.yml").read_text()
    assert week.count("make all && git diff --exit-code") == 2
    assert "make portable" in week
    assert "schedule:" in week
