"""What `is_causal` may be besides True and False, and torch's own objects for it, as what every backend takes.

Where there are as many queries as keys, the two alignments are one. Otherwise they differ:

    n_q = 2, n_k = 4        top left: ■□□□        lower right: ■■■□
                                      ■■□□                     ■■■■

The second is that of a cache: the keys of earlier tokens come first, and the last query is as late as the last key.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

import numpy as np

Causality = bool | Literal["lower_right"]


def of_torchs_bias(attn_mask: Any, is_causal: Causality, query: Any, key: Any) -> tuple[Any, Causality]:
    """(attn_mask, is_causal), where the mask may be of torch.nn.attention.bias.causal_lower_right or _upper_left."""
    bias = sys.modules.get("torch.nn.attention.bias")
    if bias is None or not isinstance(attn_mask, bias.CausalBias):
        return attn_mask, is_causal
    if is_causal:
        raise ValueError(f"attn_mask is causal already ({attn_mask.variant.name}): pass is_causal=False")
    made_for, came = (attn_mask.seq_len_q, attn_mask.seq_len_kv), (*query.shape[-2:-1], *key.shape[-2:-1])
    if made_for != came:
        raise ValueError(f"attn_mask was made for (n_q, n_k) = {made_for}, but here they are {came}")
    return None, True if attn_mask.variant is bias.CausalVariant.UPPER_LEFT else "lower_right"


def aligned_top_left(attn_mask: Any, is_causal: Causality, query: Any, key: Any) -> tuple[Any, bool]:
    """(attn_mask, is_causal) of the same call, with "lower_right" said in other words: mostly, by a mask."""
    n_q, n_k = query.shape[-2], key.shape[-2]
    if is_causal != "lower_right":
        return attn_mask, bool(is_causal)
    if n_q == n_k:
        return attn_mask, True
    if n_q == 1:  # one new token, after all others: it sees everything
        return attn_mask, False
    if isinstance(query, np.ndarray):
        sees = _lower_right(n_q, n_k)
        if attn_mask is None or attn_mask.dtype == bool:
            return sees if attn_mask is None else sees & attn_mask, False
        return np.where(sees, attn_mask, np.asarray(-np.inf, attn_mask.dtype)), False
    torch = sys.modules["torch"]
    sees = torch.ones(n_q, n_k, dtype=torch.bool, device=query.device).tril(n_k - n_q)
    if attn_mask is None or attn_mask.dtype == torch.bool:
        return sees if attn_mask is None else sees & attn_mask, False
    return torch.where(sees, attn_mask, -torch.inf), False


def _lower_right(n_q: int, n_k: int) -> np.ndarray:
    """(n_q, n_k), True where key j ≤ i + n_k − n_q. Each row is the one above, moved: a view of n_q + n_k numbers."""
    if not n_q:
        return np.ones((n_q, n_k), bool)
    row_of_all = np.arange(n_q + n_k - 1) < n_k
    return np.lib.stride_tricks.sliding_window_view(row_of_all, n_k)[::-1]
