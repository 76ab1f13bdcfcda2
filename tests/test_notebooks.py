"""What every notebook of the course has to look like, apart from running (which nbval checks)."""

import ast
import itertools
import re
from pathlib import Path

import nbformat
import pytest

from sdpa_helpers.checking.written_exercise import LINE, STUB
from sdpa_helpers.classroom.authoring import as_text, student_version
from sdpa_helpers.lessons.registry import LESSONS, exercises_of, written_of

COURSE = Path(__file__).parents[1]
WRITTEN = sorted([*(COURSE / "notebooks").glob("*.ipynb"), *(COURSE / "solutions").glob("*.ipynb")])
ALL = [*WRITTEN, *sorted((COURSE / "exercises").glob("*.ipynb"))]
SOLUTIONS = sorted((COURSE / "solutions").glob("*.ipynb"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


EVERY = pytest.mark.parametrize("path", ALL, ids=name_of)
EVERY_WRITTEN = pytest.mark.parametrize("path", WRITTEN, ids=name_of)
EVERY_SOLUTION = pytest.mark.parametrize("path", SOLUTIONS, ids=name_of)


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
    assert names["notebooks"] == {"00_start_here", *LESSONS}


@EVERY
def test_it_is_valid_and_for_the_usual_kernel(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "version" not in notebook.metadata.language_info
    assert "widgets" not in notebook.metadata
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


@EVERY
def test_headings_come_in_order(path):
    levels = []
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            outside_code = re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL)
            levels += [len(marks) for marks in re.findall(r"^(#+) ", outside_code, re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@EVERY
def test_relative_links_lead_somewhere(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", cell.source):
                assert (path.parent / target).exists(), target


@EVERY_WRITTEN
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
            assert not any(kind.startswith("image/") for kind in data), (
                f"{cell.id}: an image without alt text"
            )
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


@EVERY_WRITTEN
def test_code_cells_are_short(path):
    for cell in code_cells(path):
        assert len(cell.source.split("\n")) <= 25, cell.id


@EVERY_WRITTEN
def test_notebooks_import_their_own_lesson_and_public_names_only(path):
    own = LESSONS.get(path.stem, "")
    for cell in code_cells(path):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sdpa_helpers."):
                modules = [f"{node.module}.{alias.name}" for alias in node.names]
                allowed = ("sdpa_helpers.show.predict", *([f"sdpa_helpers.lessons.{own}"] if own else []))
                assert all(module.startswith(allowed) for module in modules), modules


# ---- exercises --------------------------------------------------------------------------------------------


@EVERY_SOLUTION
def test_exercises_are_generated_from_solutions(path):
    generated = as_text(student_version(read(path)))
    stored = (COURSE / "exercises" / path.name).read_text()
    assert stored == generated, (
        "run `make notebooks` (or python -m sdpa_helpers.classroom.authoring) and commit exercises/"
    )


@pytest.mark.parametrize("path", sorted((COURSE / "exercises").glob("*.ipynb")), ids=name_of)
def test_exercises_hold_no_solution(path):
    text = path.read_text()
    assert "BEGIN SOLUTION" not in text
    answers = [c for c in code_cells(path) if c.source.startswith("# exercise: ")]
    assert answers
    assert all(c.source.count("return NotImplemented") == 1 and not c.outputs for c in answers)
    words = {LINE.format(name=e.name): e for e in written_of(path.stem)}
    cells = [c for c in read(path).cells if c.source.split("\n")[0] in words]
    assert len(cells) == len(words)
    assert all(c.source.split("\n")[1:] == [STUB] for c in cells)


def body_without_docstring(source: str) -> str:
    function = next(n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef))
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return ast.unparse(ast.Module([*body], []))


@pytest.mark.parametrize(
    "exercise", [e for lesson in LESSONS for e in exercises_of(lesson)], ids=lambda exercise: exercise.name
)
def test_the_solution_shown_is_the_reference_and_the_prompt_agrees(exercise):
    import inspect

    cells = read(COURSE / "solutions" / f"{exercise.lesson}.ipynb").cells
    places = [i for i, c in enumerate(cells) if c.source.startswith(f"# exercise: {exercise.name}\n")]
    assert len(places) == 1
    prompt, answer, check = cells[places[0] - 1 : places[0] + 2]
    assert body_without_docstring(answer.source) == body_without_docstring(
        inspect.getsource(exercise.reference)
    )
    told = (
        f"Difficulty {exercise.difficulty} of 5 · {exercise.minutes} minutes · {exercise.max_points:g} points"
    )
    assert told in prompt.source
    assert prompt.source.startswith(f"## {exercise.name}")
    assert answer.metadata.nbgrader == {
        "schema_version": 3, "solution": True, "grade": False, "locked": False, "task": False,
        "grade_id": exercise.name, "cell_type": "code",
    }  # fmt: skip
    assert check.source == f"check({exercise.name})"
    assert check.metadata.nbgrader == {
        "schema_version": 3, "solution": False, "grade": True, "locked": True, "task": False,
        "points": exercise.max_points, "grade_id": f"{exercise.name}-check", "cell_type": "code",
    }  # fmt: skip
