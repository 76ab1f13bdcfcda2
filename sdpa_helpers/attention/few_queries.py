"""A few queries to many keys, as in decoding, where reading the keys is what costs: two ways to do it sooner.

**Heads that share keys share the reading.** Of 32 heads that share 8, four multiply the same keys. With one new token
each these are four products of a row with that matrix, each of which reads all of it. Below one another they are one
product with four rows, which reads it once, and 8 heads are left that share nothing. FlashAttention-3 calls it
PackGQA. It holds where every row is treated alike: without a mask, is_causal or mods.

**BLAS works on one thread.** A product of a few rows is soon done. Its threads would meet after each, head by head, and
where another process keeps one of them, all wait: ten times as long and more.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention.layout import Answer, Head

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdpa_helpers.attention.layout import Rule, Wants

FEW_QUERIES = 32  # of one head; with more, a product is worth its reading
MANY_NUMBERS = 2**20  # in all keys; below, NumPy's BLAS starts no threads for products with a few rows


def attend(attention: Callable[..., Answer], arrays: Head, rule: Rule, wants: Wants) -> Answer:
    """attention(arrays, rule, wants), sooner where there are few queries."""
    query, key, _ = arrays
    if query.shape[-2] > FEW_QUERIES:
        return attention(arrays, rule, wants)
    packs = can_pack(arrays, rule, wants)
    if packs:
        arrays, wants = pack(arrays), wants._replace(enable_gqa=False)
    with _calm_blas() if isinstance(key, np.ndarray) and key.size >= MANY_NUMBERS else nullcontext():
        answer = attention(arrays, rule, wants)
    return unpack(answer, *query.shape[-3:-1]) if packs else answer


def _calm_blas() -> Any:
    from sdpa_helpers.attention import threads  # whose package is not needed to import this one

    return threads.one_thread_in_blas()


def can_pack(arrays: Head, rule: Rule, wants: Wants) -> bool:
    """Whether `pack` serves this call."""
    _, key, value = arrays
    return (
        wants.enable_gqa
        and key.shape[-3] == value.shape[-3]
        and not (rule.is_causal or wants.dropout_p)
        and rule.mask is None
        and rule.mask_mod is None
        and rule.score_mod is None
    )


def pack(arrays: Head) -> Head:
    """The query as (..., heads of the key, group · n_q, d_k): a call without enable_gqa."""
    query, key, value = arrays
    *lead, heads, n_q, d_k = query.shape
    groups = key.shape[-3]
    return Head(query.reshape(*lead, groups, heads // groups * n_q, d_k), key, value)


def unpack(answer: Answer, heads: int, n_q: int) -> Answer:
    """The answer to the call that was packed: dimensions (groups, group · n_q) as (heads, n_q) again."""
    output, weights, lse = answer
    return Answer(
        output.reshape(*output.shape[:-3], heads, n_q, output.shape[-1]),
        None if weights is None else weights.reshape(*weights.shape[:-3], heads, n_q, weights.shape[-1]),
        None if lse is None else lse.reshape(*lse.shape[:-2], heads, n_q),
    )
