"""When to ask what again: the FSRS algorithm (Ye et al. 2022; the package `fsrs`), its state kept as progress is.

A right answer moves a question further away, in days; a wrong one brings it back in a minute. What is due comes first,
then questions that were never asked, lesson by lesson.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from fsrs import Card, Rating, Scheduler

from sdpa_helpers.course import saved
from sdpa_helpers.course.remember.items import Item

NEW_AT_A_TIME = 10
"""Questions never asked before that one session brings, at most."""

_SOON = timedelta(minutes=1)
_SCHEDULER = Scheduler(learning_steps=[_SOON], relearning_steps=[_SOON], enable_fuzzing=False)


def next_items(items: Sequence[Item], count: int, now: datetime | None = None) -> list[Item]:
    """What to ask now, at most `count`: the longest due first, then new ones in the order of the deck."""
    at, kept = _moment(now), _cards()
    due = [item for item in items if item.key in kept and kept[item.key].due <= at]
    new = [item for item in items if item.key not in kept]
    return [*sorted(due, key=lambda item: kept[item.key].due), *new[:NEW_AT_A_TIME]][:count]


def answered(item: Item, right: bool, now: datetime | None = None) -> datetime:
    """Keep an answer; returns when the question is due again."""
    at = _moment(now)
    new, rating = Card(card_id=0, due=at), Rating.Good if right else Rating.Again
    try:
        after, _ = _SCHEDULER.review_card(_cards().get(item.key) or new, rating, at)
    except Exception:  # numbers that somebody else has written: the question begins again
        after, _ = _SCHEDULER.review_card(new, rating, at)
    saved.keep_remembered(item.key, dict(after.to_dict()))
    return after.due


def first_due(items: Sequence[Item]) -> datetime | None:
    """When the next of these questions is due; None when none was asked yet."""
    kept = _cards()
    return min((kept[item.key].due for item in items if item.key in kept), default=None)


def _moment(now: datetime | None) -> datetime:
    return datetime.now(UTC) if now is None else now


def _cards() -> dict[str, Card]:
    cards = ((key, _card(kept)) for key, kept in saved.load_remembered().items())
    return {key: card for key, card in cards if card is not None}


def _card(kept: Any) -> Card | None:
    """A stored card; None where somebody has written something else."""
    try:
        card = Card.from_dict(kept)
        _SCHEDULER.get_card_retrievability(card)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None
    return card if card.due.tzinfo is not None else None
