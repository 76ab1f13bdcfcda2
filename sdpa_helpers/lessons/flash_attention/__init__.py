"""What lesson 07 uses: the ladder from the formula to a fused kernel, tiles, and what goes wrong with them."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__, {"course.counted": ("peak_bytes",)})
