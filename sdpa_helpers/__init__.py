"""Helpers for the course on scaled dot-product attention.

    import sdpa_helpers as sdpa
    sdpa.scaled_dot_product_attention(query, key, value)   # NumPy arrays or torch tensors
    sdpa.check(my_function)                                # in a lesson's exercises

Names load when first used: importing the package needs neither torch nor matplotlib.
"""

from typing import TYPE_CHECKING

from sdpa_helpers.lazy import offer

if TYPE_CHECKING:
    from sdpa_helpers.attention import (
        backends,
        causal_mask,
        explain_backend,
        padding_mask,
        scaled_dot_product_attention,
        softmax,
    )
    from sdpa_helpers.lessons.checkup import doctor
    from sdpa_helpers.lessons.interview import interview
    from sdpa_helpers.lessons.ladder import ladder
    from sdpa_helpers.lessons.mine import yours
    from sdpa_helpers.lessons.remember import remember
    from sdpa_helpers.lessons.session import check, hint, progress, solution
    from sdpa_helpers.show.visualiser import walk_through

__version__ = "0.1.0"

__getattr__, __all__ = offer(
    __name__,
    {
        "attention": (
            "scaled_dot_product_attention",
            "backends",
            "explain_backend",
            "softmax",
            "causal_mask",
            "padding_mask",
        ),
        "lessons.session": ("check", "hint", "solution", "progress"),
        "lessons.ladder": ("ladder",),
        "lessons.remember": ("remember",),
        "lessons.interview": ("interview",),
        "lessons.mine": ("yours",),
        "show.visualiser": ("walk_through",),
        "lessons.checkup": ("doctor",),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
