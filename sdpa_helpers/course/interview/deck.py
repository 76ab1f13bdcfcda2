"""The interview deck, from easy to hard, with its references followed: numbers of the ledger, traps, places.

No number of a measurement is typed: answers quote the ledger's, or compute their own. No trap is made up: each is a
claim of an article, a known wrong answer to an exercise, or an option of a prediction.
"""

import random
import re
from functools import cache
from typing import NamedTuple

from sdpa_helpers.course.articles import article_of
from sdpa_helpers.course.claim import LedgerRow
from sdpa_helpers.course.interview.question import Claimed, InterviewQuestion, Mistaken, Tempted
from sdpa_helpers.course.interview.reader import asked_in
from sdpa_helpers.course.ledger_page import came_out, stored_entries
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.questions import predictions_of
from sdpa_helpers.course.registry import (
    LESSONS,
    all_claims,
    all_exercises,
    all_written,
    claim_numbered,
    sheet_of,
)
from sdpa_helpers.course.remember.items import marked
from sdpa_helpers.show.predict import Option, Prediction

PLACE = re.compile(r"<(?:c(\d+)\.)?([a-z]\w*):([^>\s]+)>")
"""Where a number stands in an answer: of a claim or of the question's own, and how it is written."""


class Seen(NamedTuple):
    """A place where something is measured: what to call it, and its file below the course's folder."""

    says: str
    file: str


@cache
def all_asked() -> tuple[InterviewQuestion, ...]:
    """Every question: the easy ones first, in each level lesson by lesson."""
    found = [asked for lesson in LESSONS for asked in asked_in(lesson)]
    return tuple(sorted(found, key=lambda asked: asked.level))


def chosen(
    lesson: str = "", count: int | None = None, seed: int | None = None
) -> tuple[InterviewQuestion, ...]:
    """The whole deck or one lesson's, or so many of it at random, from easy to hard.

    Raises:
        ValueError: no lesson begins like that, or `count` is below 1.
    """
    deck = of_lesson(lesson)
    if count is not None and count < 1:
        raise ValueError(f"count is 1 or more questions; this is {count}")
    if count is None or count >= len(deck):
        return deck
    taken = set(random.Random(seed).sample(range(len(deck)), count))
    return tuple(asked for number, asked in enumerate(deck) if number in taken)


def of_lesson(lesson: str) -> tuple[InterviewQuestion, ...]:
    """The deck, or the part of one lesson, "03", "3" or "03_softmax"; ValueError names those there are."""
    known = [name for name in LESSONS if lesson in ("", name, name[:2], name[:2].lstrip("0"))]
    if not known:
        raise ValueError(
            f"there is no lesson {lesson!r}; there are: {', '.join(name[:2] for name in LESSONS)}"
        )
    return tuple(asked for asked in all_asked() if asked.lesson in known)


@cache
def _entries() -> dict[int, LedgerRow]:
    text = (course_root() / "docs" / "ledger.json").read_text(encoding="utf-8")
    return {entry.claim.number: entry for entry in stored_entries(all_claims(), text)}


def answer_to(asked: InterviewQuestion) -> str:
    """The answer with its numbers."""
    own = asked.numbers()

    def value(found: re.Match[str]) -> str:
        claim, name, form = found.groups()
        values = _entries()[int(claim)].values if claim else own
        return format(values[name], form)

    return PLACE.sub(value, asked.answer)


def trap_in(asked: InterviewQuestion) -> str:
    """What people say instead, and what is wrong with it; "" where this edition does not have it."""
    trap = asked.trap
    if isinstance(trap, Claimed):
        return _claimed(trap.number, told=f"<c{trap.number}." in asked.answer)
    if isinstance(trap, Mistaken):
        wrong = all_exercises()[trap.exercise].wrong
        says = next((mistake.says for mistake in wrong if mistake.name == trap.wrong), "")
        return says and f"The check of `{trap.exercise}` knows it: “{marked(says)}”"
    prediction, option = option_of(trap)
    return f"“{prediction.question}” It is tempting to answer “{option.text}”. {option.because}"


_VERDICTS = {
    "wrong": "It is wrong",
    "needs a condition": "It needs a condition",
    "not shown": "Nothing shows it",
}


def _claimed(number: int, told: bool) -> str:
    """A claim and its verdict, with what came out unless the answer has told it."""
    entry = _entries()[number]
    because = "" if told else f" {came_out(entry)}"
    says = f"“{entry.claim.says}” Article {article_of(number).letter} says so (claim {number})."
    return marked(f"{says} {_VERDICTS[entry.verdict]}.{because}")


def option_of(trap: Tempted) -> tuple[Prediction, Option]:
    """The prediction and the option that a trap names; LookupError where there is none."""
    for prediction in predictions_of(trap.lesson):
        for option in prediction.options:
            if (prediction.name, option.text) == (trap.prediction, trap.option):
                return prediction, option
    raise LookupError(f"no prediction of {trap.lesson} has this option: {trap}")


def places_of(asked: InterviewQuestion) -> tuple[Seen, ...]:
    """Where the answer is measured."""
    return tuple(_place(reference) for reference in asked.seen)


def _place(reference: int | str) -> Seen:
    if isinstance(reference, int):
        claim = claim_numbered(reference)
        lesson, _, section = claim.where.partition(", ")
        return Seen(f"claim {reference}: lesson {lesson[:2]}, {section}", f"notebooks/{lesson}.ipynb")
    lesson, comma, section = reference.partition(", ")
    if comma:
        return Seen(f"lesson {lesson[:2]}, {section}", f"notebooks/{lesson}.ipynb")
    exercise = {**all_exercises(), **all_written()}[reference]
    return Seen(f"exercise {reference}", f"exercises/{exercise.lesson}.ipynb")


def name_of(lesson: str) -> str:
    """A lesson as a reader knows it: "03 Softmax"."""
    return f"{lesson[:2]} {sheet_of(lesson).title}"
