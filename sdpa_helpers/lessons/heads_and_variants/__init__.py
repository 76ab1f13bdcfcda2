"""What lesson 08 uses: weights drawn side by side, what memories give back, RoPE to move."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
