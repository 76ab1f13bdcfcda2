"""What lesson 03 uses: what softmax keeps, where dtypes break it, temperature, sharpness."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__)
