"""What lesson 00 uses: one question, to show how the lessons ask."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
