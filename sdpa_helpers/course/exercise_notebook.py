"""The exercise notebook of a lesson, made from the definitions of its exercises.

Without answers it is what a learner fills in (`exercises/`), and what the grader lays their answers into. With
answers it is `solutions/`, whose cells are marked so that nbgrader makes the same student version of it.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping

from nbformat import NotebookNode, from_dict

from sdpa_helpers.checking.code.answer_cells import STARTER, digest_of
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.written_exercise import LINE, WrittenExercise
from sdpa_helpers.checking.kinds.written_exercise import STUB as TEXT_STUB
from sdpa_helpers.checking.pages.prompt import prompt_of, source_called
from sdpa_helpers.course.notebook_cells import SETUP
from sdpa_helpers.course.page_ladder import has_ladder
from sdpa_helpers.course.registry import LESSONS, ExerciseSheet, sheet_of

STUB = "return NotImplemented  # replace this line with your answer"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    # As JupyterLab writes it for the Python that the course is made with: opening such a notebook changes nothing.
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    },
}
"""What every notebook of the course stores about its kernel."""

_WORDS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


def exercise_notebook(lesson: str, model_answers: Mapping[str, str] | None = None) -> NotebookNode:
    """The notebook of a lesson's exercises, e.g. "01_dot_product", not executed.

    model_answers: by exercise, the answers in words; with them the functions' answers stand in their cells too.
    """
    sheet = sheet_of(lesson)
    cells = [
        _markdown("title", _title(sheet)),
        _code("setup", SETUP, tags=["setup"]),
        *(cell for exercise in sheet.exercises for cell in _cells(exercise, model_answers)),
        _markdown("done", _done(lesson)),
        _code("progress", "progress()", tags=["nbval-ignore-output"]),
    ]
    return _node(nbformat=4, nbformat_minor=5, metadata=METADATA, cells=cells)


def _cells(
    exercise: Exercise | WrittenExercise, model_answers: Mapping[str, str] | None
) -> Iterator[NotebookNode]:
    slug = exercise.name.replace("_", "-")
    yield _markdown(f"{slug}-prompt", f"## {exercise.name}\n\n{_worth(exercise)}\n\n{_prompt(exercise)}")
    if isinstance(exercise, WrittenExercise):
        answer = TEXT_STUB
        if model_answers is not None:
            answer = f"<!-- BEGIN SOLUTION -->\n{model_answers[exercise.name]}\n<!-- END SOLUTION -->"
        source = f"{LINE.format(name=exercise.name)}\n{answer}"
        yield from _ladder(exercise.name, exercise.ladder)
        yield _markdown(f"{slug}-answer", source, nbgrader=_graded_words(exercise))
        return
    yield from _ladder(exercise.name, exercise.ladder or has_ladder(exercise))
    body = answer_cell(exercise, solved=model_answers is not None)
    begins = {STARTER: digest_of(answer_cell(exercise))} if exercise.starter else {}
    yield _code(f"{slug}-answer", body, nbgrader=_nbgrader(exercise.name, solution=True), **begins)
    check = _nbgrader(f"{exercise.name}-check", grade=True, locked=True, points=_points(exercise))
    yield _code(f"{slug}-check", f"check({exercise.name})", nbgrader=check)


def _ladder(name: str, there_is_one: bool) -> Iterator[NotebookNode]:
    """The cell that shows the ladder to an exercise, where there is one. No grader runs it."""
    if there_is_one:
        yield _code(
            f"{name.replace('_', '-')}-ladder", f'ladder("{name}")  # optional: the way up in three steps'
        )


def answer_cell(exercise: Exercise, *, solved: bool = False) -> str:
    """The cell in which a learner answers: signature and docstring, then a stub or, solved, the reference's body.

    With a starter, that stands there in the place of the stub, with its own docstring.
    """
    if exercise.starter is not None and not solved:
        return f"# exercise: {exercise.name}\n{source_called(exercise.starter, exercise.name)}"
    source = textwrap.dedent(inspect.getsource(exercise.reference))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    lines = source.rstrip("\n").split("\n")
    body_from = function.body[1 if ast.get_docstring(function) else 0].lineno - 1
    while lines[body_from - 1].lstrip().startswith("#"):  # a comment above the first statement belongs to it
        body_from -= 1
    head, body = lines[:body_from], lines[body_from:]
    answer = ["    ### BEGIN SOLUTION", *body, "    ### END SOLUTION"] if solved else [f"    {STUB}"]
    return "\n".join([f"# exercise: {exercise.name}", *head, *answer])


def _prompt(exercise: Exercise | WrittenExercise) -> str:
    if isinstance(exercise, Exercise):
        return prompt_of(exercise)
    wanted = "\n".join(
        f"- {c.points:g} point{'s' if c.points != 1 else ''}: {c.asks}" for c in exercise.criteria
    )
    return f"{exercise.prompt.strip()}\n\nA person reads your answer, and looks for this:\n\n{wanted}"


def _worth(exercise: Exercise | WrittenExercise) -> str:
    words = " · in words" if isinstance(exercise, WrittenExercise) else ""
    worth = f"{exercise.minutes} minutes · {exercise.max_points:g} points"
    return f"Difficulty {exercise.difficulty} of 5 · {worth}{words}"


def _title(sheet: ExerciseSheet) -> str:
    functions = [e for e in sheet.exercises if isinstance(e, Exercise)]
    questions = [e for e in sheet.exercises if isinstance(e, WrittenExercise)]
    number = sheet.lesson[:2]
    head = [
        f"[← lesson {number}](../notebooks/{sheet.lesson}.ipynb)",
        f"**{sum(e.minutes for e in sheet.exercises)} minutes**",
        f"{_count(functions, 'function')}, {sum(e.max_points for e in functions):g} points",
    ]
    if questions:
        head.append(
            f"{_count(questions, 'answer')} in words, {sum(e.max_points for e in questions):g} points"
        )
    last = KEPT if any(e.sealed for e in functions) else SHOWN
    how = f"{_HOW} {last}".format(first=functions[0].name)
    how += f"\n{_in_words(len(questions))}" if questions else ""
    return f"# {number} · {sheet.title}: exercises\n\n{' · '.join(head)}\n\n{how}\n\n{sheet.notes}"


def _done(lesson: str) -> str:
    """The way on: to the next lesson, or from the last one back."""
    back = f"back to [lesson {lesson[:2]}](../notebooks/{lesson}.ipynb)"
    following = LESSONS[LESSONS.index(lesson) + 1 :][:1]
    on = "".join(f"on to [lesson {name[:2]}](../notebooks/{name}.ipynb), or " for name in following)
    return f"## Done?\n\nThe next cell shows your points in the whole course. Then go {on}{back}."


def _count(things: list, name: str) -> str:
    number = _WORDS[len(things)] if len(things) < len(_WORDS) else str(len(things))
    return f"{number} {name}{'s' if len(things) != 1 else ''}"


def _in_words(questions: int) -> str:
    if questions == 1:
        return "The last exercise is answered in words. No program checks it: a person reads what you write."
    number = _WORDS[questions]
    return f"The last {number} exercises are answered in words. No program checks them: a person reads what you write."


def _nbgrader(
    grade_id: str, *, solution: bool = False, grade: bool = False, locked: bool = False, **more
) -> dict:
    """nbgrader's metadata, schema 3, of a code cell."""
    fixed = {"schema_version": 3, "task": False, "cell_type": "code", "grade_id": grade_id}
    return {**fixed, "solution": solution, "grade": grade, "locked": locked, **more}


def _points(exercise: Exercise | WrittenExercise) -> float | int:
    """As nbgrader writes them: 4, not 4.0."""
    points = exercise.max_points
    return int(points) if points == int(points) else points


def _graded_words(exercise: WrittenExercise) -> dict:
    kind = _nbgrader(exercise.name, solution=True, grade=True, points=_points(exercise))
    return {**kind, "cell_type": "markdown"}


def _markdown(name: str, source: str, **metadata) -> NotebookNode:
    return _node(cell_type="markdown", id=name, metadata=metadata, source=source)


def _code(name: str, source: str, **metadata) -> NotebookNode:
    runs = {"execution_count": None, "outputs": []}
    return _node(cell_type="code", id=name, metadata=metadata, source=source, **runs)


def _node(**entries: object) -> NotebookNode:
    """As nbformat's own constructors, which compare each part with a schema; the grader waits for that."""
    return NotebookNode({name: from_dict(value) for name, value in entries.items()})


_HOW = (
    "Write each function in its cell, run the cell, then run the check below it. You can check as often as you like.\n"
    "The answer cells are graded. Helper functions, imports and constants in cells you add are picked up too; put "
    "everything else in the answer cell.\n"
    "When you are stuck, add a cell with `hint({first})`; each call tells a little more."
)
SHOWN = "`solution({first})` shows one right answer."
KEPT = "Some answers are not in this edition: your instructor has kept them."
"""In its place, where an exercise of the notebook is homework."""
