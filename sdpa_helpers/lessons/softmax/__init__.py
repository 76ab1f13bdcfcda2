"""What lesson 03 uses: what softmax keeps, where dtypes break it, temperature, sharpness."""

from sdpa_helpers.lazy import offer

__getattr__, __all__ = offer(
    __name__,
    {
        "lessons.softmax.experiments": (
            "DTYPES",
            "SHIFTS",
            "best_fit",
            "dropped_row_sums",
            "entropy",
            "exp_range",
            "failure_map",
            "implied_inverse_temperatures",
            "interval",
            "most_it_can_get",
            "random_scores",
            "rounded",
            "running_sum",
            "sharpness",
            "softmax_in",
            "sum_limit",
            "sweep",
            "with_temperature",
        ),
        "lessons.softmax.figures": (
            "plot_failure_map",
            "plot_fixed_temperatures",
            "plot_largest_weights",
            "plot_one_score_moves",
            "plot_ranges",
            "plot_steps",
            "plot_sweep",
            "plot_temperature",
        ),
        "lessons.softmax.predictions": ("predict",),
        "lessons.softmax.widget": (
            "explore_temperature",
            "row_scores",
        ),
    },
)
