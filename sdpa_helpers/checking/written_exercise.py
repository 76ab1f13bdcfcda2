"""Exercises that are answered in words: a person reads them, with `sdpa review`.

Here stands what a learner may know. What a reader looks for in detail is in `sdpa_helpers.classroom.rubrics`, the
model answer in solutions/; the student edition has neither.
"""

from dataclasses import dataclass

LINE = "<!-- exercise: {name} -->"
"""The first line of an answer cell: it is not seen in the rendered cell, and survives most editors."""

STUB = "*Write your answer here, in words: double-click on this line.*"


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
