"""What lesson 10 uses."""

from sdpa_helpers.lazy import offer

__getattr__, __all__ = offer(__name__, {})
