"""What lesson 10 uses: an experiment, its shipped results, and a slice of it to run again."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.does_scaling_matter.arms": ("ARMS", "OPTIMIZERS", "SCALES", "WIDTHS", "Arm"),
        "lessons.does_scaling_matter.figures": (
            "plot_accuracies",
            "plot_learned_scales",
            "plot_lookup",
            "plot_rates",
            "plot_saturation",
            "plot_steps",
        ),
        "lessons.does_scaling_matter.results": (
            "accuracies",
            "clearly",
            "course",
            "interval",
            "of",
            "rates",
            "sooner",
            "steps_to_90",
        ),
        "lessons.does_scaling_matter.experiments": (
            "agrees",
            "first_weights",
            "rerun",
            "some_lists",
        ),
        "lessons.does_scaling_matter.tables": ("predictions_table", "verdicts_table"),
        "lessons.does_scaling_matter.widget": ("explore_arms",),
    },
)
