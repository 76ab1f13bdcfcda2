"""The exercises of lesson 02, in the order of their notebook, and what stands above them there."""

NUMBER = 2
TITLE = "Why the scores are scaled"
QUESTION = "Why divide by √dₖ, and when does that reason fail?"

NOTES = """Arrays are NumPy, float64 if nothing else is said. In shapes, `...` stands for any number of leading axes, including none. Don't change the arrays you are given.
"""

NAMES = (
    "score_variance",
    "scaled_scores",
    "test_cases_for_scaled_scores",
    "scale_folded_into_query",
    "correlated_mean_and_variance",
    "scale_that_was_used",
    "try_scales",
    "data_that_see_the_scale",
    "order_survives",
    "covariance_proof",
    "proof_in_words",
    "not_the_limit_theorem",
)
"""A file of this folder each."""
