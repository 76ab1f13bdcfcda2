"""What lesson 04 uses: the backward pass step by step, and what gradients do without the scale."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.gradients.experiments": (
            "as_torch_function",
            "attention_gradient",
            "compared",
            "difference_error",
            "interval",
            "measure_grid",
            "power_of_d",
            "recurrent_gradient",
            "value_norms",
        ),
        "lessons.gradients.figures": (
            "plot_backward",
            "plot_dead",
            "plot_difference_errors",
            "plot_growth",
            "plot_jacobians",
            "plot_norms",
            "plot_pull",
            "plot_push",
            "plot_ratios",
            "plot_slopes",
            "plot_training",
        ),
        "lessons.gradients.run": ("RATES", "at_best_rate", "shipped", "trained"),
        "lessons.gradients.tables": ("table_of_lengths",),
        "lessons.gradients.training": ("RULES", "final_accuracy", "train"),
        "lessons.gradients.widget": ("explore_way_back",),
    },
)
