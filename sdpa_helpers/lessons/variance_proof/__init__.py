"""What lesson 02 uses: the proof, its assumptions broken one by one, what a wrong scale does."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.variance_proof.proof": ("Proof",),
        "lessons.variance_proof.experiments": (
            "DRAWS",
            "excess_kurtosis",
            "expected_kurtosis",
            "exponent",
            "exponents_again",
            "interval",
            "largest",
            "learn_scale",
            "loss_of_scale",
            "outputs_by_scale",
            "sample_scores",
            "scale_probe",
            "unharmed",
            "weights_by_maximum",
        ),
        "lessons.variance_proof.tables": (
            "mean_and_variance",
            "table_of_breaks",
            "table_of_coins",
            "table_of_growth",
            "table_of_losses",
            "table_of_variances",
        ),
        "lessons.variance_proof.figures": (
            "plot_broken",
            "plot_growth",
            "plot_learned",
            "plot_maximum",
            "plot_probe",
            "plot_shapes",
            "plot_side_by_side",
            "plot_walks",
        ),
        "lessons.variance_proof.widget": (
            "explore_scores",
            "promised",
        ),
    },
)
