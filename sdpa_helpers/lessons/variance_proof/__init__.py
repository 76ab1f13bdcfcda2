"""What lesson 02 uses: the proof, its assumptions broken one by one, what a wrong scale does."""

from sdpa_helpers.lazy import offer

__getattr__, __all__ = offer(
    __name__,
    {
        "lessons.variance_proof.proof": ("Proof",),
        "lessons.variance_proof.experiments": (
            "DRAWS",
            "all_coin_scores",
            "broken_assumptions",
            "coin_vectors",
            "draw_row",
            "excess_kurtosis",
            "expected_kurtosis",
            "exponent",
            "exponents_again",
            "interval",
            "largest",
            "learn_scale",
            "learned_scales",
            "loss_of_scale",
            "outputs_by_scale",
            "sample_scores",
            "scale_probe",
            "side_by_side",
            "std_growth",
            "theory_when_broken",
            "unharmed",
            "walks",
            "weights_by_maximum",
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
        "lessons.variance_proof.predictions": ("predict",),
    },
)
