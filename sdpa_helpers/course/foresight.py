"""How often a learner's predictions were right, and where they were surest and wrong."""

from collections.abc import Mapping
from typing import NamedTuple

from sdpa_helpers.course.saved import Predicted


class Foresight(NamedTuple):
    """What came of a learner's first answers, in one lesson or in all."""

    answered: int
    """Those who asked to be shown have not answered."""
    right: int
    sure_and_wrong: int

    def __str__(self) -> str:
        """E.g. "5 predictions, 3 right"."""
        return f"{self.answered} prediction{'s' if self.answered != 1 else ''}, {self.right} right"


def foresight_of(kept: Mapping[tuple[str, str], Predicted]) -> dict[str, Foresight]:
    """By lesson, in its order; lessons without an answer are left out."""
    answers: dict[str, list[Predicted]] = {}
    for (lesson, _), answer in sorted(kept.items()):
        if answer.option >= 0:
            answers.setdefault(lesson, []).append(answer)
    return {lesson: _came_of(given) for lesson, given in answers.items()}


def in_words(by_lesson: Mapping[str, Foresight]) -> str:
    """A sentence or two; empty where nothing was predicted yet."""
    if not by_lesson:
        return ""
    whole = Foresight(*map(sum, zip(*by_lesson.values(), strict=True)))
    told = f"Of {whole.answered} predictions {whole.right} {'was' if whole.right == 1 else 'were'} right."
    if whole.answered == 1:
        told = f"Your one prediction was {'right' if whole.right else 'wrong'}."
    worst = max(by_lesson, key=lambda lesson: by_lesson[lesson].sure_and_wrong)
    times = by_lesson[worst].sure_and_wrong
    if not times:
        return told
    often = "once" if times == 1 else f"{times} times"
    return f"{told} You were sure and wrong most often in lesson {worst[:2]}: {often}."


def _came_of(answers: list[Predicted]) -> Foresight:
    wrong = [answer for answer in answers if not answer.right]
    return Foresight(len(answers), len(answers) - len(wrong), sum(answer.sure is True for answer in wrong))
