"""What lesson 05 uses: conventions, alignment, empty rows, leaks and how to find them."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
