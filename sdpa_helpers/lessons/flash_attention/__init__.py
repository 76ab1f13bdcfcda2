"""What lesson 07 uses: the ladder from the formula to a fused kernel, tiles, and what goes wrong with them."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "course.counted": ("peak_bytes",),
        "lessons.flash_attention.run": ("measured",),
        "lessons.flash_attention.real_sources": ("flash_lines", "interpreted", "triton_lines"),
        "lessons.flash_attention.figures": ("plot_climb", "plot_kinds"),
        "lessons.flash_attention.tables": ("climb_table", "errors_table"),
        "lessons.flash_attention.widget": ("paint_tiles",),
    },
)
