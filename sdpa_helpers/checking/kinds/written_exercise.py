"""Exercises that are answered in words: a person reads them, with `sdpa review`.

Here stands what a learner may know. What a reader looks for in detail is in `sdpa_helpers.classroom.rubrics`, the
model answer in solutions/; the student edition has neither.
"""

from dataclasses import dataclass, replace

from sdpa_helpers.checking.worth import shares, worth

LINE = "<!-- exercise: {name} -->"
"""The first line of an answer cell: it is not seen in the rendered cell, and survives most editors."""

STUB = "*Write your answer here, in words: double-click on this line.*"


@dataclass(frozen=True)
class Criterion:
    """One thing that a reader looks for."""

    key: str
    """Its name in marks."""
    asks: str
    """What the learner reads about it."""
    weight: int = 1
    """How much of the exercise's points it gets: as much as others with 1, twice as much with 2."""
    points: float = 0.0
    """What meeting it earns: its share, which the exercise gives it. See `worth`."""


@dataclass(frozen=True)
class WrittenExercise:
    """One question of a lesson that is answered in words."""

    name: str
    lesson: str
    """The notebook that it belongs to, e.g. "02_variance_proof"."""
    title: str
    prompt: str
    """What the learner reads above the answer cell, in Markdown; the criteria are added to it."""
    difficulty: int
    minutes: int
    criteria: tuple[Criterion, ...]
    section: str = ""
    """The heading in the lesson that treats it."""
    ladder: bool = False
    """Whether a ladder leads to it."""

    def __post_init__(self) -> None:
        earned = shares(worth(self.difficulty, self.minutes), [c.weight for c in self.criteria])
        shared = (replace(c, points=points) for c, points in zip(self.criteria, earned, strict=True))
        object.__setattr__(self, "criteria", tuple(shared))

    @property
    def max_points(self) -> float:
        """Points of all criteria together, its worth."""
        return sum(criterion.points for criterion in self.criteria)
