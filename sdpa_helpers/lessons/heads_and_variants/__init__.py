"""What lesson 08 uses: weights drawn side by side, what memories give back, RoPE to move."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.heads_and_variants.experiments": ("measure_recall",),
        "lessons.heads_and_variants.figures": (
            "plot_heads",
            "plot_recall",
            "plot_weights",
        ),
        "lessons.heads_and_variants.run": ("measured",),
        "lessons.heads_and_variants.widget": ("explore_rope",),
    },
)
