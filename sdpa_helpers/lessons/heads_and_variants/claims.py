"""Claims that lesson 08 runs: variants of attention. Counted and stored quantities only; no timing happens here."""

import json
from collections import Counter
from collections.abc import Callable

import numpy as np

from sdpa_helpers.attention import KVCache, scaled_dot_product_attention, softmax
from sdpa_helpers.course import counted
from sdpa_helpers.course.claim import Numbers, claims_of
from sdpa_helpers.course.places import course_root
from sdpa_helpers.lessons.heads_and_variants import additive


def _normal(*shapes: tuple[int, ...], seed: int = 6) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def _count(function: Callable, *arrays: np.ndarray) -> Counter:
    return counted.count_operations(function, *arrays)[1]


def _linear_attention() -> Numbers:
    """Katharopoulos et al. 2020, equation 5, with their feature map elu + 1."""

    def features(x: np.ndarray) -> np.ndarray:
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    counts = {}
    for n in (8, 16):
        query, key, value = _normal((n, 3), (n, 3), (n, 2))
        arrays = (
            features(query),
            features(key),
            np.column_stack([value, np.ones(n)]),
        )  # the ones give the normalizer
        counts[n] = [
            _count(way, *arrays)["multiply"]
            for way in (lambda q, k, v: (q @ k.T) @ v, lambda q, k, v: q @ (k.T @ v))
        ]
    Q, K, V = _normal((8, 3), (8, 3), (8, 2))
    sums = features(Q) @ (features(K).T @ np.column_stack([V, np.ones(8)]))
    difference = np.abs(sums[:, :2] / sums[:, 2:] - scaled_dot_product_attention(Q, K, V)).max()
    return {
        "quadratic": counts[16][0] / counts[8][0],
        "linear": counts[16][1] / counts[8][1],
        "difference": difference,
    }


def _multi_query() -> Numbers:
    heads, k, v = _normal((4, 6, 3), (1, 6, 3), (1, 6, 2))
    shared, weights = scaled_dot_product_attention(heads, k, v, return_weights=True)
    own_weights = np.stack([softmax(head @ k[0].T / 3**0.5) for head in heads])
    own, one = KVCache(6), KVCache(6)
    for cache, owners in ((own, 4), (one, 1)):
        cache.append(np.repeat(k, owners, axis=0), np.repeat(v, owners, axis=0))
    return {
        "difference": float(np.abs(shared - own_weights @ v[0]).max().round(12)),
        "moved_weights": float(np.abs(weights - own_weights).max().round(12)),
        "cache_ratio": own.nbytes / one.nbytes,
    }


def _network() -> Numbers:
    q, k, W, U, v = _normal((3,), (3,), (3, 7), (3, 7), (7,))
    network = np.tanh(np.concatenate([q, k]) @ np.concatenate([W, U])) @ v
    return {"difference": float(np.abs(network - np.tanh(q @ W + k @ U) @ v).round(12))}


def _parameters() -> Numbers:
    count = additive.parameters(d_model=512, width=512)
    return {
        "bare": count["dot product, bare"],
        "dot": count["dot product, W_q, W_k and W_v"],
        "additive": count["additive, W, U and v"],
        "with_values": count["additive, W, U, v and W_v"],
    }


def _slower() -> Numbers:
    results = _benchmark()["results"]
    Q, K, v = _normal((4, 8), (5, 8), (8,))
    dot = _count(lambda q, k: q @ k.T, Q, K)
    network = _count(lambda q, k, w: np.tanh(q[:, None] + k) @ w, Q, K, v)
    return {
        "lowest": min(r["as_written"][0] for r in results),
        "highest": max(r["as_written"][0] for r in results),
        "lowest_reusing": min(r["reusing"][0] for r in results),
        "highest_reusing": max(r["reusing"][0] for r in results),
        "surely": min(r["reusing"][1] for r in results),
        "operations": network.total() / dot.total(),
    }


def _more_memory() -> Numbers:
    n, h = 256, 64
    Q, K, V, W, U, v = _normal(*[(n, h)] * 3, (h, h), (h, h), (h,))
    dot = counted.peak_bytes(additive.dot_product, Q, K, V)
    return {
        "hidden": 8 * n * n * h / 2**20,
        "scores": 8 * n * n / 2**20,
        "ratio": counted.peak_bytes(additive.additive_at_once, Q, K, V, W, U, v) / dot,
        "ratio_in_chunks": counted.peak_bytes(additive.additive_in_chunks, Q, K, V, W, U, v, 2) / dot,
    }


def _benchmark() -> dict:
    path = course_root() / "benchmarks" / "results" / "additive.json"
    return json.loads(path.read_text(encoding="utf-8"))


CLAIMS = claims_of(
    "08_heads_and_variants",
    {
        24: _linear_attention,
        25: _multi_query,
        135: _network,
        136: _parameters,
        137: _slower,
        138: _more_memory,
    },
)
