"""The lessons, in the order of the course: what exercises, questions in words and claims each one has."""

import importlib
from functools import cache

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.written_exercise import WrittenExercise
from sdpa_helpers.lessons.claim import Claim

LESSONS = {
    "01_dot_product": "dot_product",
    "02_variance_proof": "variance_proof",
    "03_softmax": "softmax",
    "04_gradients": "gradients",
    "05_masking": "masking",
    "06_complexity": "complexity",
}
"""Notebook name → folder of this package that holds the lesson."""

WRITTEN = ("02_variance_proof", "04_gradients")
"""The notebooks that ask for answers in words."""


@cache
def exercises_of(lesson: str) -> tuple[Exercise, ...]:
    """The exercises of a notebook, e.g. "01_dot_product"."""
    if lesson not in LESSONS:
        raise LookupError(f"there is no exercise notebook {lesson!r}; there are: {', '.join(LESSONS)}")
    return importlib.import_module(f"sdpa_helpers.lessons.{LESSONS[lesson]}.exercises").EXERCISES


@cache
def all_exercises() -> dict[str, Exercise]:
    """Every exercise of the course by its name."""
    return {exercise.name: exercise for lesson in LESSONS for exercise in exercises_of(lesson)}


def find(name: str) -> Exercise:
    """The exercise with this name; LookupError lists the names there are."""
    known = all_exercises()
    if name in all_written():
        raise LookupError(f"{name} is answered in words: a person reads it, there is no check and no hint")
    if name not in known:
        raise LookupError(
            f"there is no exercise called {name!r}. The name of the function says which exercise it answers; "
            f"there are: {', '.join(known)}"
        )
    return known[name]


@cache
def written_of(lesson: str) -> tuple[WrittenExercise, ...]:
    """The written exercises of a notebook, e.g. "02_variance_proof"; () where there are none."""
    if lesson not in WRITTEN:
        return ()
    return importlib.import_module(f"sdpa_helpers.lessons.{LESSONS[lesson]}.written").WRITTEN


@cache
def all_written() -> dict[str, WrittenExercise]:
    """Every written exercise of the course by its name."""
    return {exercise.name: exercise for lesson in WRITTEN for exercise in written_of(lesson)}


def all_claims() -> list[Claim]:
    """Every claim of the ledger, in the order of its number."""
    modules = [importlib.import_module(f"sdpa_helpers.lessons.{name}.claims") for name in LESSONS.values()]
    return sorted((claim for module in modules for claim in module.CLAIMS), key=lambda claim: claim.number)
