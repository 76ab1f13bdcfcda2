"""The page about a class: what to act on, and below it all that was looked at."""

from collections.abc import Callable, Mapping

from sdpa_helpers.classroom.pages.class_report import environment
from sdpa_helpers.classroom.teaching import exercises, tries
from sdpa_helpers.classroom.teaching.findings import Evidence
from sdpa_helpers.course.interval import Interval

MOST_ROWS = 60
"""Of mistakes and of sentences. There are 2,000 in the course."""


def teaching_page(found: Evidence, says: Callable[[str, str], str], asks: Mapping[str, str]) -> str:
    """The page as HTML. says: (exercise, mistake) → the card's words; asks: question → its words."""
    return (
        environment()
        .get_template("teaching.html")
        .render(
            found=found,
            says=says,
            asks=asks,
            items=sorted(found.items, key=lambda one: one.fair if one.rest else 2.0),
            spreads=found.spreads[:MOST_ROWS],
            survivals=found.survivals[:MOST_ROWS],
            most=MOST_ROWS,
            fewest=exercises.FEWEST,
            fewest_logs=tries.FEWEST,
            percent=percent,
            number=number,
            too_small=in_words_if_too_small(found),
        )
    )


def in_words_if_too_small(found: Evidence) -> str:
    """What can't be said, and what it would take; "" where there are enough."""
    if found.learners >= exercises.FEWEST:
        return ""
    return (
        f"Too small a class: {found.learners} learner{'' if found.learners == 1 else 's'} with grades. Correlations "
        f"and quarters take {exercises.FEWEST}; put several terms' results together, or read the answers themselves."
    )


def percent(value: Interval) -> str:
    """E.g. "62 % (48 to 74)"."""
    return f"{100 * value.value:.0f} % ({100 * value.low:.0f} to {100 * value.high:.0f})"


def number(value: Interval, digits: int = 2) -> str:
    """E.g. "0.41 (0.22 to 0.57)"."""
    return f"{value.value:.{digits}f} ({value.low:.{digits}f} to {value.high:.{digits}f})"
