"""Floor 0: the mathematics. One public call, its pieces, and one file per backend.

Read `numpy_formula.py` first: it is the whole algorithm. Then `numpy_flash.py`: the same without the big matrix of
scores; `numpy_tiled.py` makes that fast. Importing this package needs NumPy only; a backend and what it needs load when
it is first asked for.
"""

from sdpa_helpers.attention.call import explain_backend, scaled_dot_product_attention
from sdpa_helpers.attention.decoding.cache import KVCache
from sdpa_helpers.attention.known_backends import backends
from sdpa_helpers.attention.masks import causal_mask, padding_mask
from sdpa_helpers.attention.softmax import softmax
from sdpa_helpers.attention.variants.block_mask import BlockMask, create_block_mask
from sdpa_helpers.attention.variants.mods import (
    alibi,
    and_masks,
    causal,
    documents,
    lower_right,
    or_masks,
    padding,
    prefix_lm,
    relative_bias,
    sliding_window,
    softcap,
)

__all__ = [
    "BlockMask",
    "KVCache",
    "alibi",
    "and_masks",
    "backends",
    "causal",
    "causal_mask",
    "create_block_mask",
    "documents",
    "explain_backend",
    "lower_right",
    "or_masks",
    "padding",
    "padding_mask",
    "prefix_lm",
    "relative_bias",
    "scaled_dot_product_attention",
    "sliding_window",
    "softcap",
    "softmax",
]
