"""FlashAttention: attention without ever holding all scores. For reading; `numpy_tiled.py` is the same, made fast.

Dao et al. 2022, "FlashAttention", algorithm 1; Milakov and Gimelshein 2018, "Online normalizer calculation".

A query's output is Σⱼ exp(sⱼ) vⱼ / Σⱼ exp(sⱼ), and both sums can be kept while its scores sⱼ arrive, a few keys at a
time. So that no exp overflows, the largest score so far is subtracted from all. When a larger one comes, what is in the
sums is multiplied by exp(old largest − new largest): as if the new one had been subtracted from the beginning.
"""

import numpy as np


def attention(query, key, value, scale, is_causal=False, tile=64):
    """Of query (n_q, d_k), key (n_k, d_k), value (n_k, d_v): output (n_q, d_v), and LSE, log Σⱼ exp(sⱼ), (n_q,)."""
    n_q, n_k = len(query), len(key)  # n_k ≥ 1
    output, lse = np.empty((n_q, value.shape[1])), np.empty(n_q)
    for top in range(0, n_q, tile):  # some queries
        bottom = min(top + tile, n_q)
        largest = np.full((bottom - top, 1), -np.inf)  # of each of these queries
        total = np.zeros((bottom - top, 1))  # Σⱼ exp(sⱼ − largest)
        values = np.zeros((bottom - top, value.shape[1]))  # Σⱼ exp(sⱼ − largest) vⱼ
        for left in range(0, min(n_k, bottom) if is_causal else n_k, tile):  # some keys
            right = min(left + tile, n_k)
            scores = query[top:bottom] @ key[left:right].T * scale  # (rows, columns): all that there ever is
            if is_causal:  # query i sees the keys 0 … i
                i, j = np.arange(top, bottom)[:, None], np.arange(left, right)
                scores = np.where(j <= i, scores, -np.inf)
            new_largest = np.maximum(largest, scores.max(axis=1, keepdims=True))
            shrink = np.exp(largest - new_largest)  # (rows, 1); 0 for the first keys
            weights = np.exp(scores - new_largest)  # (rows, columns)
            total = total * shrink + weights.sum(axis=1, keepdims=True)
            values = values * shrink + weights @ value[left:right]
            largest = new_largest
        output[top:bottom] = values / total
        lse[top:bottom] = (largest + np.log(total))[:, 0]
    return output, lse
