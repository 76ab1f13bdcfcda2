"""The exercises of lesson 06, in the order of their notebook, and what stands above them there."""

NUMBER = 6
TITLE = "What attention costs"
QUESTION = "What does attention cost, in time and in memory?"

NOTES = """Counts may be ints or floats. Arrays are NumPy, float64. In shapes, `...` stands for any number of leading axes, including none. Don't change the arrays you are given.
"""

NAMES = (
    "attention_flops",
    "test_cases_for_attention_flops",
    "score_matrix_bytes",
    "shape_that_breaks_the_limit",
    "kv_cache_bytes",
    "crossover_length",
    "fit_exponent",
    "roofline",
    "chunked_attention",
    "hunt_chunked_attention",
    "mend_chunked_attention",
)
"""A file of this folder each."""
