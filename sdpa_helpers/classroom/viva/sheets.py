"""A page for each learner, and the instructor's key, from a run's folder."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.checking.exercise import stream
from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.classroom.pages.class_report import environment
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.viva.asking import Sheet, sheet_of
from sdpa_helpers.course.registry import all_exercises
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.sandbox.limits import Limits

MOST_TRIED = 6
"""Answers of a learner: some are too short to ask three things about."""


@dataclass(frozen=True)
class VivaOrder:
    """What sheets are made of."""

    each: int
    """Answers of each learner."""
    seed: str
    exercises: Collection[str] = ()
    """Only of these; () is all."""
    learners: Collection[str] = ()


def answers_in(folder: ResultsFolder, wanted: VivaOrder) -> dict[str, dict[str, str]]:
    """Learner → exercise → their code, where it earned points."""
    if unknown := sorted({*wanted.exercises} - {*all_exercises()}):
        raise Refusal(f"the course has no exercise {', '.join(unknown)} that is answered in code")
    found: dict[str, dict[str, str]] = {}
    for result in folder.read_results():
        if wanted.learners and result.student not in wanted.learners:
            continue
        mine = found.setdefault(result.student, {})
        for graded in result.code:
            wants = not wanted.exercises or graded.name in wanted.exercises
            exercise = all_exercises().get(graded.name)
            askable = exercise and exercise.examples and not exercise.is_made and not exercise.sealed
            if wants and askable and graded.points > 0 and result.answers.get(graded.name):
                mine[graded.name] = result.answers[graded.name]
    if missing := sorted({*wanted.learners} - {*found}):
        raise Refusal(f"nothing was graded of {', '.join(missing)}")
    return found


def sheets_of(
    learner: str, answers: dict[str, str], wanted: VivaOrder, where: tuple[Limits, str]
) -> Iterator[Sheet]:
    """As many as are wanted, of answers drawn by seed."""
    names = sorted(answers)
    order = stream(wanted.seed, "viva", learner).permutation(len(names))[:MOST_TRIED]
    made = 0
    for name in (names[place] for place in order):
        if made < wanted.each and (
            sheet := sheet_of(learner, all_exercises()[name], answers[name], where, wanted.seed)
        ):
            made += 1
            yield sheet


def write_sheets(folder: ResultsFolder, sheets: Sequence[tuple[str, Sequence[Sheet]]]) -> tuple[Path, Path]:
    """Both files: what learners get, and what only you should see."""
    for path, with_key in ((folder.viva_page, False), (folder.viva_key, True)):
        page = environment().get_template("viva.html").render(learners=sheets, with_key=with_key)
        write_text(path, page)
    return folder.viva_page, folder.viva_key
