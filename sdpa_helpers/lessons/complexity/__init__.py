"""What lesson 06 uses: operations and bytes counted, and what a clock says."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__, {"course.counted": ("count_operations", "peak_bytes")})
