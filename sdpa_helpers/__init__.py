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
    from sdpa_helpers.course.checkup import doctor
    from sdpa_helpers.course.interview import interview
    from sdpa_helpers.course.joined import join_room
    from sdpa_helpers.course.ladder import ladder
    from sdpa_helpers.course.mine import yours
    from sdpa_helpers.course.remember import remember
    from sdpa_helpers.course.session import check, hint, progress, solution
    from sdpa_helpers.show.visualiser import walk_through

__version__ = "0.2.0"

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
        "course.session": ("check", "hint", "solution", "progress"),
        "course.ladder": ("ladder",),
        "course.remember": ("remember",),
        "course.interview": ("interview",),
        "course.mine": ("yours",),
        "show.visualiser": ("walk_through",),
        "course.checkup": ("doctor",),
        "course.joined": ("join_room",),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
