"""The exercises of lesson 01, in the order of their notebook, and what stands above them there."""

NUMBER = 1
TITLE = "The dot product"
QUESTION = "What does a score measure, and how does it become a weighted average?"

NOTES = """Arrays are NumPy, float64. In shapes, `...` stands for any number of leading axes, including none. Don't change the arrays you are given.
"""

NAMES = (
    "dot_product",
    "attention_scores",
    "cosine_similarity",
    "test_cases_for_cosine_similarity",
    "best_key",
    "weighted_sum",
    "keys_where_the_long_one_wins",
)
"""A file of this folder each."""
