"""What lesson 01 uses: scores as measurements, all pairs at once, the soft lookup."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
