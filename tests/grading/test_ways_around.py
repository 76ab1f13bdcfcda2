"""Whoever has the work done by what is not the learner's earns nothing, or a flag; whoever does it, all and no flag.

In real kernels at the warm level, through the grader's own reading, judging and flags.
"""

from dataclasses import replace

import nbformat
import pytest

from sdpa_helpers.checking.judging.judge import truths
from sdpa_helpers.course.exercise_notebook import exercise_notebook
from sdpa_helpers.course.registry import exercises_of, find
from sdpa_helpers.grading.assemble import ROLE, answer_cells, assemble, exercise_of, pristine_notebook
from sdpa_helpers.grading.fails_alone import judge_alone
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.judge import Evidence, Marking
from sdpa_helpers.grading.read import Submission, lift
from sdpa_helpers.grading.result import GradedNotebook
from sdpa_helpers.grading.run import Outcome, run
from sdpa_helpers.sandbox import start
from sdpa_helpers.sandbox.limits import Limits
from tests.grading.ways_around import END_OTHERWISE, HONEST, LIBRARIES, NOTHING, Way
from tests.grading.ways_that_run import ANYWHERE, MEDDLING
from tests.nightly import at_night
from tests.sandbox.conftest import usable

__all__ = ["usable"]

SEED = "ways"
CLEAR = "for name in set(globals()) - {'np', 'In', 'Out', 'get_ipython'}:\n    if name[:1] != '_': del globals()[name]"
"""Each answer begins with a notebook of its own, nearly."""

LIMITS = Limits(seconds=6.0, cell_seconds=2.0, memory_mb=768, patience=8.0)
IMPATIENT = replace(LIMITS, patience=1.0)
"""For those who take away what the kernel would answer: it waits."""


@pytest.fixture(scope="module")
def warm(usable):
    yield usable("warm")
    start.end("warm")


# ---- many in one kernel -----------------------------------------------------------------------------------


def cells_of(way: Way) -> list[str]:
    return [*filter(None, [way.beside]), f"# exercise: {way.exercise}\n{way.source}"]


def lifted_from(way: Way):
    cells = [{"cell_type": "code", "source": source, "metadata": {}} for source in cells_of(way)]
    lesson = find(way.exercise).lesson
    return lift(cells, exercises_of(lesson), answer_cells(pristine_notebook(lesson)))


def in_one_kernel(ways: tuple[Way, ...], level: str) -> Outcome:
    """What came of all of them, one after the other; in it, each way is an exercise of its own."""
    cells = []
    for way in ways:
        exercise, lifted = find(way.exercise), lifted_from(way)
        asked = {exercise.name: truths(exercise, SEED)}
        pristine = pristine_notebook(exercise.lesson)
        assembled = assemble(pristine, lifted.answers, asked, [exercise.name], lifted.own).cells
        for cell in assembled:
            if "exercise" in cell.metadata[ROLE]:
                cell.metadata[ROLE]["exercise"] = way.name
        cells += [nbformat.v4.new_code_cell(CLEAR, metadata={ROLE: {"role": "setup"}}), *assembled]
    return run(nbformat.v4.new_notebook(cells=cells), Limits(seconds=120.0, cell_seconds=20.0), level)


def came_of(outcome: Outcome, way: Way) -> tuple[float, set[str], list[str]]:
    """(the share of the points that a way earned, the kinds of its flags, what is said of its cases)."""
    assert not outcome.stopped, (outcome.stopped, outcome.stopped_in)
    name, exercise = way.exercise, find(way.exercise)

    def of_it(found: dict) -> dict:
        return {name: found[way.name]} if way.name in found else {}

    own = replace(
        outcome,
        answers={(name, case): a for (of, case), a in outcome.answers.items() if of == way.name},
        forged={(name, case): a for (of, case), a in outcome.forged.items() if of == way.name},
        cell_errors=of_it(outcome.cell_errors),
        noticed=of_it(outcome.noticed),
    )
    lifted = lifted_from(way)
    judged = judge_alone(exercise, Evidence(lifted, own, {}), Marking(SEED))
    kinds = {flag.kind for flag in (*lifted.flags, *judged.use, *judged.cell)}
    said = [case.message for case in judged.graded.cases]
    return judged.graded.points / exercise.max_points, kinds, said


def gives_softmax(way: Way) -> bool:
    """Whether the notebook gives it the course's softmax: then it needs another kernel than those without."""
    return any(exercise.allows for exercise in exercises_of(find(way.exercise).lesson))


@pytest.fixture(scope="module")
def outcomes(warm):
    every = (*HONEST, *LIBRARIES)
    return {
        given: in_one_kernel(tuple(w for w in every if gives_softmax(w) is given), warm)
        for given in (True, False)
    }


@pytest.mark.parametrize("way", LIBRARIES, ids=lambda way: way.name)
def test_what_is_not_there_earns_nothing(outcomes, way):
    share, kinds, said = came_of(outcomes[gives_softmax(way)], way)
    by_name = "isn't there when it's graded" in said[0] and "forbidden-call" in kinds
    assert (share, by_name) == (0.0, way.name not in END_OTHERWISE), said


@pytest.mark.parametrize("way", HONEST, ids=lambda way: way.name)
def test_what_is_the_learners_own_earns_all_and_no_flag(outcomes, way):
    share, kinds, said = came_of(outcomes[gives_softmax(way)], way)
    assert (share, kinds) == (1.0, set()), said


# ---- one kernel for each ----------------------------------------------------------------------------------


@pytest.fixture
def handed_in(tmp_path):
    def graded(way: Way, level: str) -> GradedNotebook:
        lesson = find(way.exercise).lesson
        notebook = exercise_notebook(lesson)
        for cell in notebook.cells:
            if exercise_of(cell) == way.exercise:
                cell.source = f"# exercise: {way.exercise}\n{way.source}"
        notebook.cells[1:1] = [nbformat.v4.new_code_cell(way.beside)] if way.beside else []
        path = tmp_path / f"{lesson}.ipynb"
        nbformat.write(notebook, path)
        limits = IMPATIENT if way.name.startswith("channel") else LIMITS
        return grade(Submission("mallory", lesson, path), Settings(SEED, limits, sandbox=level))

    return graded


def what_came_of(result: GradedNotebook, way: Way) -> set[str]:
    """The kinds of the flags, and what is said of the cases; `NOTHING` where no point was earned."""
    exercise = result.exercise(way.exercise)
    came = {flag.kind for flag in result.flags} | {case.diagnosis for case in exercise.cases}
    return came | ({NOTHING} if not exercise.points else set())


@pytest.mark.parametrize(
    "way", [w if n % 2 else at_night(w) for n, w in enumerate(MEDDLING)], ids=lambda w: w.name
)
def test_who_meddles_earns_nothing_or_a_flag(handed_in, warm, way):
    result = handed_in(way, warm)
    assert way.comes_to in what_came_of(result, way)
    assert "the name `" not in result.exercise(way.exercise).cases[0].message  # a slip of ours


@pytest.mark.parametrize("way", ANYWHERE, ids=lambda way: way.name)
@pytest.mark.parametrize("level", ["landlock", "off"])
def test_nor_at_another_level(handed_in, usable, level, way):
    assert {NOTHING, way.comes_to} & what_came_of(
        handed_in(way, level if level == "off" else usable(level)), way
    )
