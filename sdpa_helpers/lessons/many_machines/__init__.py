"""What lesson 09 uses: processes that share a sequence, and a model of many devices."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
