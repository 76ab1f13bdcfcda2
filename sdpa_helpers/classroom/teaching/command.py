"""`sdpa teaching`: from a run's folder and from logs to the page."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.room.questions import card_words, questions
from sdpa_helpers.classroom.teaching.findings import Evidence, Heard, Told, evidence
from sdpa_helpers.classroom.teaching.material import marks_of
from sdpa_helpers.classroom.teaching.page import teaching_page
from sdpa_helpers.classroom.teaching.reading import heard
from sdpa_helpers.course.registry import all_exercises


def look(folders: Sequence[ResultsFolder], tables: Iterable[Path], rooms: Iterable[Path]) -> Evidence:
    """Write the page into the first folder; returns what is on it. Several runs of a term are one class."""
    asked = questions()
    right = {name: question.right for name, question in asked.items() if question.right is not None}
    minutes = {name: float(exercise.minutes) for name, exercise in all_exercises().items()}
    marks = marks_of(chain.from_iterable(folder.read_results() for folder in folders))
    found = evidence(marks, of_the_course(heard(tables, rooms)), Told(minutes, right))
    page = teaching_page(found, card_words, {name: question.plain for name, question in asked.items()})
    write_text(folders[0].teaching_page, page)
    return found


def of_the_course(brought: Heard) -> Heard:
    """Without lines on exercises, or mistakes, that the course has not: a table may hold anything."""
    logs = (
        tuple(
            replace(one, mistakes=tuple(name for name in one.mistakes if card_words(one.exercise, name)))
            for one in log
            if one.option is not None or one.exercise in all_exercises()
        )
        for log in brought.logs
    )
    return Heard(tuple(filter(None, logs)), brought.rounds)
