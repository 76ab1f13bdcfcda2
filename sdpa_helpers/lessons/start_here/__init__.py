"""What lesson 00 uses: one question, to show how the lessons ask."""

from sdpa_helpers.lazy import offer

__getattr__, __all__ = offer(__name__, {"lessons.start_here.predictions": ("predict",)})
