"""What lesson 02 uses: the proof, its assumptions broken one by one, what a wrong scale does."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
