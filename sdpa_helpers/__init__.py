"""Helpers for the course on scaled dot-product attention.

    import sdpa_helpers as sdpa
    sdpa.scaled_dot_product_attention(query, key, value)   # NumPy arrays or torch tensors
    sdpa.check(my_function)                                # in a lesson's exercises

Names load when first used: importing the package needs neither torch nor matplotlib.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdpa_helpers.attention import (
        backends,
        causal_mask,
        explain_backend,
        padding_mask,
        scaled_dot_product_attention,
        softmax,
    )
    from sdpa_helpers.checkup import doctor
    from sdpa_helpers.exercises.session import check, hint, progress, solution
    from sdpa_helpers.lessons.visualiser import walk_through

__version__ = "0.1.0"

_HOME_OF = {
    "backends": "attention",
    "causal_mask": "attention",
    "explain_backend": "attention",
    "padding_mask": "attention",
    "scaled_dot_product_attention": "attention",
    "softmax": "attention",
    "doctor": "checkup",
    "check": "exercises.session",
    "hint": "exercises.session",
    "progress": "exercises.session",
    "solution": "exercises.session",
    "walk_through": "lessons.visualiser",
}

__all__ = [  # noqa: RUF022  (in the order a reader meets them)
    "scaled_dot_product_attention",
    "backends",
    "explain_backend",
    "softmax",
    "causal_mask",
    "padding_mask",
    "check",
    "hint",
    "solution",
    "progress",
    "walk_through",
    "doctor",
]


def __getattr__(name: str):
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sdpa_helpers' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"sdpa_helpers.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
