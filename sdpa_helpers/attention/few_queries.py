"""A few queries to many keys, as in decoding, where reading the keys is what costs: two ways to be done sooner.

**Heads that share keys share the reading.** Of 32 heads that share 8, four multiply the same keys. With one new token
each these are four products of a row with that matrix, each of which reads all of it. Below one another they are one
product with four rows, which reads it once, and 8 heads are left that share nothing. FlashAttention-3 calls it
PackGQA. It holds where every row is treated alike: without a mask, is_causal or mods.

**Threads take whole heads.** A product of a few rows is soon done. BLAS's own threads would meet after each, head by
head, and where another process keeps one of them, all wait: many times as long. So they are not used, and the
formula of each head is a piece of work for one thread. Nor are keys that heads share copied for them then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sdpa_helpers.attention.layout import BackendResult, Head, heads_of, leading_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdpa_helpers.attention.layout import Rule, Shape, Wants

FEW_QUERIES = 32  # of one head; with more, a product is worth its reading
MANY_NUMBERS = 2**20  # in all keys; below, NumPy's BLAS starts no threads for products with a few rows
MANY_OF_A_HEAD = 2**19  # in its keys and values; below, all heads in one call of the formula are as fast
READING = 8  # a number of a key that must come from memory takes as long as so many multiply-adds, roughly


def attend(
    attention: Callable[..., BackendResult], arrays: Head, rule: Rule, wants: Wants, *, by_heads: bool = False
) -> BackendResult:
    """attention(arrays, rule, wants), sooner where there are few queries.

    by_heads: whether `attention` leaves it to others to use all cores, and serves a single head as it does all.
    """
    query, key, _ = arrays
    if query.shape[-2] > FEW_QUERIES:
        return attention(arrays, rule, wants)
    packs = can_pack(arrays, rule, wants)
    if packs:
        arrays, wants = pack(arrays), wants._replace(enable_gqa=False)
    has_mods = rule.mask_mod is not None or rule.score_mod is not None
    if by_heads and key.size >= MANY_NUMBERS and not has_mods:
        answer = each_head(attention, arrays, rule, wants)
    else:
        answer = attention(arrays, rule, wants)
    return unpack(answer, *query.shape[-3:-1]) if packs else answer


def each_head(
    attention: Callable[..., BackendResult], arrays: Head, rule: Rule, wants: Wants
) -> BackendResult:
    """The same, with BLAS on one thread; large heads in several threads. NumPy arrays, and no mods."""
    from sdpa_helpers.attention import threads  # whose package is not needed to import this one

    n_q, n_k = arrays.query.shape[-2], arrays.key.shape[-2]
    lead = leading_shape(*arrays, wants.enable_gqa)
    indices = list(heads_of(lead))
    numbers = n_k * (arrays.key.shape[-1] + arrays.value.shape[-1])
    cost = numbers * max(n_q, READING)
    found: dict[Shape, BackendResult] = {}
    with threads.one_thread_in_blas() as allowed:
        if min(allowed, threads.cores(), len(indices)) < 2 or numbers < MANY_OF_A_HEAD:
            return attention(arrays, rule, wants)
        rule, wants = rule.in_full(n_q, n_k), wants._replace(enable_gqa=False)

        def work(index: Shape, _: None) -> None:
            found[index] = attention(arrays.at(index, lead), rule.at(index, lead), wants)

        threads.for_each(work, indices, lambda _: cost, lambda: None)
    parts = zip(*(found[index] for index in indices), strict=True)  # of all heads: outputs, weights, lse
    return BackendResult(
        *(None if of[0] is None else np.stack(of).reshape(*lead, *of[0].shape) for of in parts)
    )


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


def unpack(answer: BackendResult, heads: int, n_q: int) -> BackendResult:
    """The answer to the call that was packed: dimensions (groups, group · n_q) as (heads, n_q) again."""
    output, weights, lse = answer
    return BackendResult(
        output.reshape(*output.shape[:-3], heads, n_q, output.shape[-1]),
        None if weights is None else weights.reshape(*weights.shape[:-3], heads, n_q, weights.shape[-1]),
        None if lse is None else lse.reshape(*lse.shape[:-2], heads, n_q),
    )
