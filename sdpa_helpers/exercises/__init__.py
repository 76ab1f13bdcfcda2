"""The exercises of every lesson, and the engine that checks, hints and explains.

`definition` says what an exercise is; one module per lesson holds its exercises; `probe` calls a function,
`judge` compares, `diagnose` explains, `session` is what a learner calls in a notebook.
"""

import importlib
from functools import cache

from sdpa_helpers.exercises.definition import Exercise
from sdpa_helpers.exercises.written import all_written

LESSONS = {
    "01_dot_product": "dot_product",
    "02_variance_proof": "variance_proof",
    "03_softmax": "softmax",
    "04_gradients": "gradients",
    "05_masking": "masking",
    "06_complexity": "complexity",
}
"""Notebook name → module of this package that holds its EXERCISES, in the order of the lesson."""


@cache
def exercises_of(lesson: str) -> tuple[Exercise, ...]:
    """The exercises of a notebook, e.g. "01_dot_product"."""
    if lesson not in LESSONS:
        raise LookupError(f"there is no exercise notebook {lesson!r}; there are: {', '.join(LESSONS)}")
    return importlib.import_module(f"sdpa_helpers.exercises.{LESSONS[lesson]}").EXERCISES


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
