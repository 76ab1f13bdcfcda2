"""What lesson 04 uses: the backward pass step by step, and what gradients do without the scale."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
