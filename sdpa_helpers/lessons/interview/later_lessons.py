"""Interview questions on lessons 07 to 10: tiles, variants, several machines, the experiment."""

from sdpa_helpers.lessons.interview.question import Asked

QUESTIONS: tuple[Asked, ...] = ()
