"""Bring an instructor's sentences into what was graded: the mistake's name, and rows of marks for its points."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from sdpa_helpers.classroom.marks.store import AnswerKey, Mark, append, counting
from sdpa_helpers.classroom.sentences.store import Sentences
from sdpa_helpers.grading.lift_words import digest
from sdpa_helpers.grading.result import INSTRUCTOR, Graded, GradedExercise, GradedNotebook, NamedMistake

WHO = "names.toml"
"""Who gives the marks of a sentence. Another mark, which somebody gave to one answer, goes before them."""


def with_sentences(result: GradedNotebook, sentences: Sentences) -> GradedNotebook:
    """The result with what the instructor tells of its answers. The same sentences give the same result, whatever
    it had before."""
    return replace(
        result, exercises=tuple(_told(graded, sentences, result.student) for graded in result.exercises)
    )


def _told(graded: Graded, sentences: Sentences, who: str) -> Graded:
    if not isinstance(graded, GradedExercise) or not graded.unknown:
        return graded
    told = sentences.get((graded.name, graded.unknown))
    failed = tuple(case.case for case in graded.cases if not case.passed)
    mistakes = (NamedMistake(told.name, told.told_to(who), failed, INSTRUCTOR),) if told else ()
    return replace(graded, mistakes=mistakes)


def new_rows(
    results: Iterable[GradedNotebook], sentences: Sentences, marks: Mapping[AnswerKey, Mark]
) -> list[Mark]:
    """The rows that marks.db lacks: changes of points by sentences, and those that are taken back."""
    if not sentences and all(mark.who != WHO for mark in marks.values()):
        return []
    rows = []
    for result in results:
        for graded in result.code:
            text = result.answers.get(graded.name, "")
            about = (result.student, result.notebook, graded.name)
            now, told = (
                marks.get(AnswerKey(*about, digest(text))),
                sentences.get((graded.name, graded.unknown)),
            )
            if not text or AnswerKey(*about, "") in marks or (now is not None and now.who != WHO):
                continue
            change, before = told.points if told else 0.0, now.change if now else 0.0
            if change != before:
                reason = (
                    f"{told.name}: see what your instructor says of this answer" if told and change else ""
                )
                rows.append(Mark(*about, digest(text), change=change, reason=reason, who=WHO))
    return rows


def keep_points(
    marks_db: Path, results: Iterable[GradedNotebook], sentences: Sentences, marks: dict[AnswerKey, Mark]
) -> None:
    """Add these rows to the file, and to the marks that count."""
    if rows := new_rows(results, sentences, marks):
        marks.update(counting(append(marks_db, rows)))
