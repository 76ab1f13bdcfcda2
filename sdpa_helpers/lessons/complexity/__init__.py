"""What lesson 06 uses: operations, bytes and parameters counted, and what a clock says."""

from sdpa_helpers.lazy import offer

__getattr__, __all__ = offer(
    __name__,
    {
        "lessons.complexity.counting": (
            "count_operations",
            "intensities",
            "kv_cache",
            "layer_flops",
            "parameters",
            "peak_bytes",
            "readings",
        ),
        "lessons.complexity.attention_ways": (
            "additive",
            "additive_in_chunks",
            "attend_key_blocks",
            "attention",
            "in_chunks",
            "textbook_weights",
        ),
        "lessons.complexity.experiments": (
            "additive_race",
            "fit",
            "layer_race",
            "machine",
            "peaks",
            "race",
            "ratio",
            "roofline_points",
            "time_against_d",
            "time_against_n",
            "which_kernel",
        ),
        "lessons.complexity.figures": (
            "plot_additive",
            "plot_additive_memory",
            "plot_exponents",
            "plot_layer",
            "plot_layer_race",
            "plot_operations",
            "plot_peaks",
            "plot_race",
            "plot_readings",
            "plot_roofline",
        ),
        "lessons.complexity.widget": ("explore_roofline",),
        "lessons.complexity.predictions": ("predict",),
        "lessons.complexity.tables": ("operations_table", "roofline_table"),
    },
)
