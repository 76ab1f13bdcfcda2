"""`interview()`: questions one at a time, or the route of ninety minutes."""

from sdpa_helpers.course.interview.deck import chosen
from sdpa_helpers.course.interview.panel import Interview
from sdpa_helpers.course.interview.route import MINUTES, Route, drawn


def interview(
    count: int | None = None, lesson: str = "", *, minutes: int | None = None, seed: int | None = None
) -> Interview | Route:
    """Ask what interviews ask: everything from easy to hard, or `count` questions at random. Nothing is graded or kept.

    Args:
        count: how many; all of them by default.
        lesson: of one lesson only, e.g. "03".
        minutes: 90 for a whole evening before an interview: six questions, two blanks, a bug, a whiteboard.
        seed: for the same choice again.

    Raises:
        ValueError: no lesson begins like that, `count` is below 1, or the minutes aren't 90.
    """
    if minutes is None:
        return Interview(chosen(lesson, count, seed))
    if minutes != MINUTES or count is not None or lesson:
        raise ValueError(
            f"the route takes {MINUTES} minutes: interview(minutes={MINUTES}), and a seed if you like"
        )
    return drawn(seed)
