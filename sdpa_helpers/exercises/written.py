"""Exercises that are answered in words: a person reads them, with `sdpa review`.

Here stands what a learner may know. What a reader looks for in detail is in `sdpa_helpers.grading.rubrics`, the
model answer in solutions/; the student edition has neither.
"""

import importlib
from dataclasses import dataclass
from functools import cache

LINE = "<!-- exercise: {name} -->"
"""The first line of an answer cell: it is not seen in the rendered cell, and survives most editors."""

STUB = "*Write your answer here, in words: double-click on this line.*"

WRITTEN = {"02_variance_proof": "variance_proof_written", "04_gradients": "gradients_written"}
"""Notebook name → module of this package that holds its WRITTEN exercises."""


@dataclass(frozen=True)
class Criterion:
    """One thing that a reader looks for. key: its name in marks. asks: what the learner is told about it."""

    key: str
    points: float
    asks: str


@dataclass(frozen=True)
class WrittenExercise:
    """One question of a lesson that is answered in words. section: the heading in the lesson that treats it."""

    name: str
    lesson: str
    title: str
    difficulty: int
    minutes: int
    criteria: tuple[Criterion, ...]
    section: str = ""

    @property
    def max_points(self) -> float:
        """Points of all criteria together."""
        return sum(criterion.points for criterion in self.criteria)


@cache
def written_of(lesson: str) -> tuple[WrittenExercise, ...]:
    """The written exercises of a notebook, e.g. "02_variance_proof"; () where there are none."""
    if lesson not in WRITTEN:
        return ()
    return importlib.import_module(f"sdpa_helpers.exercises.{WRITTEN[lesson]}").WRITTEN


@cache
def all_written() -> dict[str, WrittenExercise]:
    """Every written exercise of the course by its name."""
    return {exercise.name: exercise for lesson in WRITTEN for exercise in written_of(lesson)}
