"""The exercises of lesson 03, in the order of their notebook, and what stands above them there."""

NUMBER = 3
TITLE = "Softmax"
QUESTION = "How do scores become weights without overflow?"

NOTES = """Arrays are NumPy, float64 unless it says otherwise. Don't change the arrays you are given.
"""

NAMES = (
    "softmax",
    "test_cases_for_softmax",
    "softmax_with_temperature",
    "entropy",
    "log_softmax",
    "largest_safe_score",
    "temperature_for_ratio",
    "hunt_softmax",
    "mend_softmax",
    "scores_that_hide_a_bug",
)
"""A file of this folder each."""
