"""What lesson 03 uses: what softmax keeps, where dtypes break it, temperature, sharpness."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.softmax.experiments": (
            "DTYPES",
            "best_fit",
            "dropped_row_sums",
            "entropy",
            "exp_range",
            "failure_map",
            "interval",
            "most_it_can_get",
            "random_scores",
            "rounded",
            "running_sum",
            "softmax_in",
            "sweep",
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
        "lessons.softmax.tables": (
            "failure_table",
            "near_one_hot_table",
            "range_table",
            "shift_table",
        ),
        "lessons.softmax.widget": (
            "explore_temperature",
            "row_scores",
        ),
    },
)
