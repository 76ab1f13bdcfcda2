"""What lesson 10 uses: an experiment, its shipped results, and a slice of it to run again."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
