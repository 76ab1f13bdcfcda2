"""What every notebook of the course has to look like, apart from running (which nbval checks)."""

import ast
import builtins
import itertools
import re
import shutil
import symtable
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

from sdpa_helpers.checking.kinds.written_exercise import STUB as TEXT_STUB
from sdpa_helpers.classroom.authoring import as_text, make, solved
from sdpa_helpers.classroom.course_map import (
    with_head_line,
    with_map,
    with_neighbors,
    with_table,
    write_long_way,
)
from sdpa_helpers.classroom.numbers_told import with_numbers
from sdpa_helpers.classroom.rubrics import model_answers
from sdpa_helpers.course.exercise_notebook import METADATA, STUB, answer_cell, exercise_notebook
from sdpa_helpers.course.questions import predictions_of
from sdpa_helpers.course.reading_time import checked_in
from sdpa_helpers.course.registry import DOORS, LESSONS, exercises_of
from sdpa_helpers.course.tracks import COLLAPSED, FOLDED, STORY, begins_long_way, sizes_of, track_of_cells

COURSE = Path(__file__).parents[1]
EXECUTED = sorted([*(COURSE / "notebooks").glob("*.ipynb"), *(COURSE / "solutions").glob("*.ipynb")])
ALL = [*EXECUTED, *sorted((COURSE / "exercises").glob("*.ipynb"))]


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


EVERY = pytest.mark.parametrize("path", ALL, ids=name_of)
EVERY_EXECUTED = pytest.mark.parametrize("path", EXECUTED, ids=name_of)


def read(path: Path):
    return nbformat.read(path, as_version=4)


def code_cells(path: Path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def test_the_three_folders_share_their_names():
    names = {
        folder: {p.stem for p in ALL if p.parent.name == folder}
        for folder in ("notebooks", "solutions", "exercises")
    }
    assert names["solutions"] == names["exercises"] == set(LESSONS)
    assert names["notebooks"] == {"00_start_here", *DOORS, *LESSONS}


@EVERY
def test_it_is_valid_and_for_the_usual_kernel(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata == METADATA
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


@EVERY
def test_headings_come_in_order(path):
    levels = []
    cells = read(path).cells
    for cell in cells:
        if cell.cell_type == "markdown":
            outside_code = re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL)
            levels += [len(marks) for marks in re.findall(r"^(#+) ", outside_code, re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1 + sum(map(begins_long_way, cells))
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@EVERY
def test_relative_links_lead_somewhere(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", cell.source):
                assert (path.parent / target).exists(), target


@EVERY_EXECUTED
def test_it_was_executed_top_to_bottom_without_errors(path):
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]


@EVERY
def test_images_have_alt_text(path):
    for cell in read(path).cells:
        texts = [cell.source] if cell.cell_type == "markdown" else []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if any(kind.startswith("image/") for kind in data):
                assert "<img alt=" in data.get("text/html", ""), f"{cell.id}: an image without alt text"
            texts += [data["text/html"]] if "text/html" in data else []
        for text in texts:
            assert all(alt.strip() for alt in re.findall(r"!\[([^\]]*)\]\(", text)), cell.id
            for image in re.findall(r"<img[^>]*>", text):
                assert re.search(r'alt="[^"]{10,}"', image), cell.id


@EVERY
def test_nothing_of_one_machine_is_stored(path):
    text = path.read_text()
    assert not re.search(r"/(home|root|work|tmp|Users)/", text)
    assert "Warning" not in "".join(str(o) for c in code_cells(path) for o in c.get("outputs", []))


@EVERY_EXECUTED
def test_code_cells_are_short(path):
    for cell in code_cells(path):
        assert len(cell.source.split("\n")) <= 25, cell.id


@EVERY_EXECUTED
def test_notebooks_import_their_own_lesson_and_public_names_only(path):
    own = path.stem.partition("_")[2]
    for cell in code_cells(path):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sdpa_helpers."):
                modules = [f"{node.module}.{alias.name}" for alias in node.names]
                assert all(module.startswith(f"sdpa_helpers.lessons.{own}") for module in modules), modules


# ---- questions --------------------------------------------------------------------------------------------


ASKED = re.compile(r'lesson\.predict\(\s*"(\w+)"')
FROM_00_ON = pytest.mark.parametrize("lesson", ["00_start_here", *LESSONS])
EVERY_NOTEBOOK = pytest.mark.parametrize("lesson", ["00_start_here", *DOORS, *LESSONS])


@EVERY_NOTEBOOK
def test_every_prediction_of_a_lesson_is_asked_once(lesson):
    code = "\n".join(cell.source for cell in code_cells(COURSE / "notebooks" / f"{lesson}.ipynb"))
    assert sorted(ASKED.findall(code)) == sorted(prediction.name for prediction in predictions_of(lesson))
    assert "PREDICTION" not in code


@EVERY_NOTEBOOK
def test_a_stored_question_folds_its_answer(lesson):
    """One answer is right, and it, its reasons, figures and tables are folded; the cell shows nothing else."""
    for cell in code_cells(COURSE / "notebooks" / f"{lesson}.ipynb"):
        if ASKED.search(cell.source):
            (output,) = cell.outputs
            before, _, folded = output.data["text/html"].partition("<details>")
            assert before.count("<li>") in (2, 3, 4), cell.id
            assert not re.search("[✓✗]|Measured|<(svg|img|pre|table)", before), cell.id
            assert folded.count("<li>✓ ") == 1, cell.id
            assert set(output.data) == {"text/html", "text/plain"}, cell.id
            assert output.data["text/plain"].startswith("Predict. "), cell.id


@FROM_00_ON
def test_a_lesson_says_how_long_its_tracks_take_and_what_its_neighbors_are(lesson):
    cells = read(COURSE / "notebooks" / f"{lesson}.ipynb").cells
    assert cells[0].source == with_head_line(lesson, cells), "run `make minutes`"
    assert cells[-1].source == with_neighbors(lesson, cells[-1].source), "run `make minutes`"
    told = [cell.source for cell in cells]
    write_long_way(cells)
    assert told == [cell.source for cell in cells], "run `make minutes`"


def test_the_map_and_the_readme_have_every_lesson_of_the_registry():
    cells = read(COURSE / "notebooks" / "00_start_here.ipynb").cells
    (mapped,) = [cell.source for cell in cells if cell.id == "map"]
    assert mapped == with_map(mapped, COURSE), "run `make minutes`"
    readme = (COURSE / "README.md").read_text(encoding="utf-8")
    assert readme == with_table(readme, COURSE), "run `make minutes`"
    for text, folder in ((mapped, ""), (readme, "notebooks/")):
        assert all(f"]({folder}{lesson}.ipynb) | " in text for lesson in LESSONS)
    with pytest.raises(ValueError, match="one such table was expected, there are 0"):
        with_map("no table", COURSE)


def test_what_docs_say_was_counted_and_measured_is_what_the_course_and_its_results_say():
    page = (COURSE / "docs" / "README.md").read_text(encoding="utf-8")
    assert page == with_numbers(page, COURSE), "run `make minutes`"


@FROM_00_ON
def test_what_is_folded_is_what_is_tagged(lesson):
    for cell in read(COURSE / "notebooks" / f"{lesson}.ipynb").cells:
        folded = bool({"core", *FOLDED} & set(cell.metadata.get("tags", ())))
        assert cell.metadata.get(COLLAPSED, False) is folded, cell.id
        assert not folded or cell.source.startswith(("# The long way\n", "## ", "### ")), cell.id


MOST_MINUTES, MOST_WORDS, MOST_LINES = 30, 1015, 90  # of the words up to 18 say how long what takes
"""Of the long way."""
SHORT_MINUTES, ALL_SHORTS_MINUTES = 10, 130


def sizes(lesson):
    return sizes_of(read(COURSE / "notebooks" / f"{lesson}.ipynb").cells)


@FROM_00_ON
def test_the_long_way_of_a_lesson_takes_half_an_hour(lesson):
    core = sizes(lesson)["core"]
    assert core.minutes <= MOST_MINUTES
    assert core.words <= MOST_WORDS
    assert core.lines <= MOST_LINES


@FROM_00_ON
def test_a_lesson_opens_with_its_short_in_which_one_answer_is_written(lesson):
    cells = read(COURSE / "notebooks" / f"{lesson}.ipynb").cells
    short = [cell for cell, track in zip(cells, track_of_cells(cells), strict=True) if track == "short"]
    tagged = [cell.id for cell in cells if "short" in cell.metadata.get("tags", ())]
    assert tagged == [cell.id for cell in short[1:]], "all but the title are tagged"
    assert sizes(lesson)["short"].minutes <= SHORT_MINUTES
    assert sum(len(checked_in(cell)) for cell in short) == 1
    assert short[-1].source.splitlines()[-1].startswith("next: ") or lesson == LESSONS[-1]
    text = "\n".join(cell.source for cell in short[1:])
    assert not re.search(r"\brecall\(|\bclaims?\b|\barticles?\b", text)


def test_the_shorts_together_take_two_hours():
    lessons = ("00_start_here", *LESSONS)
    assert sum(sizes(lesson)["short"].minutes for lesson in lessons) <= ALL_SHORTS_MINUTES


def test_the_long_way_speaks_of_no_article():
    for lesson in ("00_start_here", *LESSONS):
        cells = read(COURSE / "notebooks" / f"{lesson}.ipynb").cells
        for cell, track in zip(cells, track_of_cells(cells), strict=True):
            if track in STORY and cell.cell_type == "markdown":
                assert not re.search(r"\b[Aa]rticles? [A-E]\b|\bclaims? \d", cell.source), cell.id


@FROM_00_ON
def test_the_core_of_a_lesson_stands_alone(lesson):
    """With the short it needs no name that a folded section defines, and its headings come in order without them."""
    cells = read(COURSE / "notebooks" / f"{lesson}.ipynb").cells
    core = [cell for cell, track in zip(cells, track_of_cells(cells), strict=True) if track in STORY]
    known = set(dir(builtins))
    for cell in core:
        if cell.cell_type == "code":
            found = _names_in(cell.source)
            assert found.needed <= known, f"{cell.id}: {found.needed - known}"
            known |= found.defined
    levels = [
        len(found[1]) for c in core if c.cell_type == "markdown" and (found := re.match(r"(#+) ", c.source))
    ]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


class Names(NamedTuple):
    needed: set[str]
    """From outside, as far as the order of a cell's lines does not matter."""
    defined: set[str]


def _names_in(source: str) -> Names:
    table = symtable.symtable(source, "cell", "exec")
    return Names(*_named(table))


def _named(table: symtable.SymbolTable) -> tuple[set[str], set[str]]:
    own = {
        s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_parameter()
    }
    used = {s.get_name() for s in table.get_symbols() if s.is_referenced()} - own
    for child in table.get_children():
        needed, _ = _named(child)
        used |= {name for name in needed if name not in own}
    return used, own


# ---- exercises and solutions ------------------------------------------------------------------------------


EVERY_LESSON = pytest.mark.parametrize("lesson", LESSONS)
MADE = "run `make notebooks` and commit exercises/ and solutions/"


@EVERY_LESSON
def test_exercises_are_made_from_their_definitions(lesson):
    assert (COURSE / "exercises" / f"{lesson}.ipynb").read_text() == as_text(exercise_notebook(lesson)), MADE


@EVERY_LESSON
def test_solutions_are_made_from_the_same_definitions(lesson):
    stored = read(COURSE / "solutions" / f"{lesson}.ipynb").cells
    for cell, made in zip(stored, solved(lesson).cells, strict=True):
        assert (cell.id, cell.source, cell.metadata) == (made.id, made.source, made.metadata), MADE


@EVERY_LESSON
def test_nbgrader_makes_the_same_student_version_of_the_solutions(lesson, needs):
    """An nbgrader site that takes solutions/ as its source folder hands out what `exercises/` holds."""
    needs("nbgrader")
    from nbconvert.exporters.exporter import ResourcesDict
    from nbgrader.preprocessors import ClearOutput, ClearSolutions
    from traitlets.config import Config

    stubs = Config(ClearSolutions={"code_stub": {"python": STUB}, "text_stub": TEXT_STUB})
    notebook = read(COURSE / "solutions" / f"{lesson}.ipynb")
    for preprocessor in (ClearSolutions(config=stubs), ClearOutput()):
        notebook, _ = preprocessor.preprocess(notebook, ResourcesDict())
    stored = read(COURSE / "exercises" / f"{lesson}.ipynb")
    begun = [f"# exercise: {e.name}" for e in exercises_of(lesson) if e.starter]
    assert len(notebook.cells) == len(stored.cells)
    for cell, ours in zip(notebook.cells, stored.cells, strict=True):
        if (
            cell.source.split("\n")[0] in begun
        ):  # where ours has code or lines to begin with, theirs has a stub
            assert cell.source.endswith(STUB)
            cell.source = ours.source
    assert as_text(notebook) == (COURSE / "exercises" / f"{lesson}.ipynb").read_text()


@EVERY_LESSON
def test_exercises_hold_no_solution(lesson):
    path = COURSE / "exercises" / f"{lesson}.ipynb"
    assert "BEGIN SOLUTION" not in path.read_text()
    answers = [c for c in code_cells(path) if c.source.startswith("# exercise: ")]
    assert len(answers) == len(exercises_of(lesson)) > 0
    begun = {e.name: answer_cell(e) for e in exercises_of(lesson) if e.starter}
    stubs = [c for c in answers if c.source.split("\n")[0].removeprefix("# exercise: ") not in begun]
    assert all(c.source.count("return NotImplemented") == 1 for c in stubs)
    assert set(begun.values()) <= {c.source for c in answers}
    assert not any(c.outputs for c in answers)
    for answer in model_answers(lesson).values():
        assert answer[:40] not in path.read_text()


@pytest.mark.nightly
def test_making_the_notebooks_twice_changes_nothing(tmp_path):
    """On a copy of one lesson; its stored bytes are those that `make notebooks` has just written."""
    for folder in ("notebooks", "solutions", "exercises"):
        (tmp_path / folder).mkdir()
        shutil.copy(COURSE / folder / "01_dot_product.ipynb", tmp_path / folder)
    make(tmp_path, "01_dot_product")
    for folder in ("notebooks", "solutions", "exercises"):
        made, stored = (root / folder / "01_dot_product.ipynb" for root in (tmp_path, COURSE))
        assert made.read_text() == stored.read_text(), f"{folder}: {MADE}"
