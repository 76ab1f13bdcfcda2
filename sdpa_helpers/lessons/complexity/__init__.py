"""What lesson 06 uses: operations and bytes counted, and what a clock says."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "course.counted": ("count_operations", "peak_bytes"),
        "lessons.complexity.counting": ("layer_flops", "readings"),
        "lessons.complexity.attention_ways": (
            "attend_key_blocks",
            "attention",
            "in_chunks",
        ),
        "lessons.complexity.experiments": ("fit", "ratio", "which_kernel"),
        "lessons.complexity.run": ("measured",),
        "lessons.complexity.figures": (
            "plot_exponents",
            "plot_layer",
            "plot_layer_race",
            "plot_operations",
            "plot_peaks",
            "plot_readings",
            "plot_roofline",
            "plot_traffic",
        ),
        "lessons.complexity.widget": ("explore_roofline",),
        "lessons.complexity.tables": ("operations_table", "roofline_table"),
    },
)
