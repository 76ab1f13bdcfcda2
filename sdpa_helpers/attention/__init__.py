"""Floor 0: the mathematics. One public call, its pieces, and one file per backend.

Read `numpy_formula.py` first: it is the whole algorithm. Then `numpy_tiled.py`: the same without the big matrix of
scores. Importing this package needs NumPy only; a backend and what it needs load when it is first asked for.
"""

from sdpa_helpers.attention.call import explain_backend, scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import backends
from sdpa_helpers.attention.masks import causal_mask, padding_mask
from sdpa_helpers.attention.softmax import softmax

__all__ = [
    "backends",
    "causal_mask",
    "explain_backend",
    "padding_mask",
    "scaled_dot_product_attention",
    "softmax",
]
