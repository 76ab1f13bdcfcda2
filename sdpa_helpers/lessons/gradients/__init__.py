"""What lesson 04 uses: the backward pass step by step, and what gradients do without the scale."""

from sdpa_helpers.lazy import offer

__getattr__, __all__ = offer(
    __name__,
    {
        "lessons.gradients.experiments": (
            "RULES",
            "as_torch_function",
            "attend_and_return",
            "attention_gradient",
            "complex_step_jacobian",
            "dead_share",
            "difference_error",
            "final_accuracy",
            "first_adam_step",
            "interval",
            "mean_two_key_slope",
            "measure_grid",
            "off_diagonal_share",
            "power_of_d",
            "ratio_interval",
            "ratios",
            "recurrent_gradient",
            "share_that_carries_half",
            "softmax_step",
            "train",
            "two_key_slope",
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
        "lessons.gradients.predictions": ("predict",),
        "lessons.gradients.widget": ("explore_way_back",),
    },
)
