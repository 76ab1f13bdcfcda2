"""The exercises of lesson 08, in the order of their notebook, and what stands above them there."""

NUMBER = 8
TITLE = "Heads and variants"
QUESTION = "What may change in softmax(QKᵀ/√dₖ)V, what does it cost, and what is lost?"

NOTES = """Arrays are NumPy, float64. In shapes, `...` stands for any number of leading axes, including none. Don't change the arrays you are given.
"""

NAMES = (
    "split_heads",
    "multi_head_attention",
    "hunt_multi_head_attention",
    "mend_multi_head_attention",
    "grouped_query_attention",
    "latent_attention",
    "rolling_cache_mask",
    "rotate",
    "linear_attention",
    "keys_that_linear_attention_confuses",
    "delta_rule_chunk",
)
"""A file of this folder each."""
