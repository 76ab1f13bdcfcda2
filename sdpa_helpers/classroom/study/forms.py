"""A test in two forms, drawn by seed from what the lessons ask anyway: no question is written for it.

It takes those of `predictions.md` and `recall.md` that are marked `· on paper`; what is right is what the notebooks
have measured, or what the question's code computes.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from sdpa_helpers.checking.exercise import stream
from sdpa_helpers.classroom.room.questions import questions
from sdpa_helpers.course.questions import predictions_of, recalled_of
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.show.predict import Prediction

QUESTIONS, FEWEST = 12, 8
"""Of each form, at most and at least: twenty minutes."""


@dataclass(frozen=True)
class FormQuestion:
    """A question of the course with its right answer."""

    lesson: str
    prediction: Prediction
    right: int
    """Which of its options, from 0."""


class Pair(NamedTuple):
    """Two questions of one lesson, one for each form."""

    a: FormQuestion
    b: FormQuestion


def two_forms(lessons: Sequence[str], seed: str) -> tuple[Pair, ...]:
    """Both forms, in the order of the course; Refusal where the lessons have too few questions for two."""
    if unknown := sorted({*lessons} - {*LESSONS}):
        raise Refusal(f"the course has no lesson {', '.join(unknown)}; it has {', '.join(LESSONS)}")
    rng = stream(seed, "test", "forms")
    drawn = {}
    for lesson in lessons:
        asked = list(on_paper(lesson))
        order = rng.permutation(len(asked))
        drawn[lesson] = [Pair(asked[a], asked[b]) for a, b in zip(order[::2], order[1::2], strict=False)]
    first = [lessons[number] for number in rng.permutation(len(lessons))]
    # One of each lesson, then a second one of each, and so on.
    turns = (pair for turn in itertools.zip_longest(*(drawn[lesson] for lesson in first)) for pair in turn)
    pairs = list(itertools.islice(filter(None, turns), QUESTIONS))
    if len(pairs) < FEWEST:
        raise Refusal(
            f"{', '.join(lessons)}: enough for {len(pairs)} questions in each form, and a test takes {FEWEST}; "
            "name more lessons with --lesson"
        )
    return tuple(sorted(pairs, key=lambda pair: pair.a.lesson))


_questions = cache(questions)


def on_paper(lesson: str) -> Iterator[FormQuestion]:
    """What a lesson asks that needs nothing around it, and whose right answer is known."""
    measured = {name: question.right for name, question in _questions().items()}
    found = [(asked, measured.get(f"{lesson}/{asked.name}")) for asked in predictions_of(lesson)]
    found += [
        (asked.prediction, asked.prediction.right_for(asked.measure()))
        for asked in recalled_of(lesson)
        if asked.prediction.on_paper
    ]
    yield from (
        FormQuestion(lesson, asked, right) for asked, right in found if asked.on_paper and right is not None
    )
