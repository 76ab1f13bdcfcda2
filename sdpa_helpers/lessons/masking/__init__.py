"""What lesson 05 uses: conventions, alignment, empty rows, leaks and how to find them."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(
    __name__,
    {
        "lessons.masking.experiments": (
            "detect",
            "fused_against_manual",
            "future_weight",
            "gradient_of_a_hidden_query",
            "multihead_with_an_empty_sequence",
            "nan_behind_a_mask",
            "planted",
            "row_by_misuse",
            "sliding_window_mask",
            "ways_to_mask",
            "what_the_fused_call_does",
        ),
        "lessons.masking.figures": (
            "plot_alignment",
            "plot_conventions",
            "plot_decoding",
            "plot_future_weight",
            "plot_influence",
            "plot_masks",
            "plot_scores_and_weights",
        ),
        "lessons.masking.widget": ("paint_mask",),
        "lessons.masking.tables": (
            "detect_table",
            "draws_table",
            "dtype_table",
            "first_that_fails",
            "health_table",
            "padding_table",
            "which_are_nan",
            "which_value",
        ),
    },
)
