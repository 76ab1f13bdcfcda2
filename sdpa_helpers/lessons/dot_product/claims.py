"""The claims that lesson 01 runs: what a dot product measures, what softmax makes of it, and the shapes."""

import numpy as np

from sdpa_helpers.attention import causal_mask, scaled_dot_product_attention, softmax
from sdpa_helpers.course.claim import Numbers, claims_of
from sdpa_helpers.lessons.dot_product import experiments

# The input of the lesson: four queries, the keys of five words, and their values.
_Q = np.array([[1, 0, 0], [1, 0, -1], [0, 1, 0], [0, 0, 1]], dtype=float)
_K = np.array([[0, 0, 0], [1, 0, -0.5], [0, 2, 0], [0, 0, 2], [2, 0, 2]], dtype=float)
_V = np.array([[0, 1], [4, 0], [1, 4], [2, 2], [5, 3]], dtype=float)
_PAGES = np.array([0.92, 0.15, 0.78, 0.45])
_PAIR, _THREE = np.array([[1, 0], [0, 1]]), np.array([[1, 0], [1, 1], [0, 1]])


def _accepted(n_q: int = 4, n_k: int = 5, n_v: int = 5, d_q: int = 3, d_k: int = 3, d_v: int = 2) -> bool:
    """Whether attention takes arrays of these sizes, and then gives an output of (n_q, d_v)."""
    rng = np.random.default_rng(0)
    query, key, value = (rng.standard_normal(shape) for shape in ((n_q, d_q), (n_k, d_k), (n_v, d_v)))
    try:
        return scaled_dot_product_attention(query, key, value).shape == (n_q, d_v)
    except ValueError:
        return False


# Vectors -----------------------------------------------------------------------------------------------------


def _length_against_angle() -> Numbers:
    rng = np.random.default_rng(1)
    agree = 0
    for d in range(2, 102):
        a, b = rng.standard_normal((2, d))
        long_a, long_b, across = (np.linalg.norm(v) for v in (a, b, a - b))
        cosine = (long_a**2 + long_b**2 - across**2) / (
            2 * long_a * long_b
        )  # from the triangle's three sides
        agree += np.isclose(a @ b, long_a * long_b * cosine, rtol=1e-9)
    return {"pairs": 100, "agree": agree}


def _scores_at_angles() -> Numbers:
    return {
        "same_way": float(experiments.score_at(0)),
        "same_way_short": float(experiments.score_at(0, 0.1, 0.1)),
        "long_at_60": float(experiments.score_at(60, 1, 5)),
        "perpendicular": float(np.array([1.0, 0.0]) @ np.array([0.0, 1.0])),
        "at_100": float(experiments.score_at(100)),
        "opposed": float(experiments.score_at(180)),
        "weight_of_zero": softmax(_K @ _Q[0])[0],
    }


def _equal_scores() -> Numbers:
    first, second = _THREE[:2] @ _PAIR[0]
    cosines = _THREE[:2] @ _PAIR[0] / np.linalg.norm(_THREE[:2], axis=-1)
    return {"score_1": first, "score_2": second, "cosine_1": cosines[0], "cosine_2": cosines[1]}


def _matching(ours: np.ndarray, printed: list[list[float]]) -> Numbers:
    return {"printed": ours.size, "matching": np.isclose(ours, printed, atol=1e-12).sum()}


# Weights -----------------------------------------------------------------------------------------------------


def _not_in_proportion() -> Numbers:
    light, heavy = softmax(np.array([1.0, 2.0]))
    weights = softmax(np.array([1.0, 0.0, -3.0]))
    return {"score_ratio": 2, "weight_ratio": heavy / light, "of_zero": weights[1], "of_minus_3": weights[2]}


def _on_itself() -> Numbers:
    tea = softmax(_K @ _K.T)[1]
    return {"itself": tea[1], "others": tea.sum() - tea[1]}


def _values_inside() -> Numbers:
    S = _Q @ _K.T
    outside = [(softmax(S) @ (factor * _V))[0, 0] for factor in (1, 10)]
    inside = [softmax(S @ (factor * _V))[0, 0] for factor in (1, 10)]
    return {
        "outside": outside[0],
        "outside_10": outside[1],
        "inside": inside[0],
        "inside_10": inside[1],
    }


def _pages() -> Numbers:
    weights, sharper = softmax(_PAGES), softmax(10 * _PAGES)
    kept = sum((np.argsort(w) == np.argsort(_PAGES)).all() for w in (weights, sharper))
    return {"kept": kept, "tried": 2, "first": weights[0], "first_10": sharper[0], "last": weights.min()}


def _row_of_weights() -> Numbers:
    row = np.array([0.05, 0.60, 0.25, 0.05, 0.03, 0.02])
    return {"total": row.sum(), "smallest": row.min()}


def _dependence() -> Numbers:
    weights = softmax(_K @ _Q[0])
    without = softmax(_K[:4] @ _Q[0]) @ _V[:4]
    alike = np.vstack([_V[:4], without])
    return {
        "weight": weights[4],
        "moved": np.abs(weights @ _V - without).max(),
        "moved_alike": np.abs(weights @ alike - without).max(),
    }


def _pronoun() -> Numbers:
    weights = experiments.weights_of_random_models(n_words=7, asks=5)
    low, middle, high = np.percentile(weights[:, 0], [5, 50, 95])
    first = (weights.argmax(axis=-1) == 0).mean()
    return {"low": low, "middle": middle, "high": high, "share_first": first, "equal_share": 1 / 7}


def _hull() -> Numbers:
    outputs = experiments.outputs_of_random_queries(_K, _V)
    outside = experiments.distance_outside(experiments.convex_hull(_V), outputs) > 1e-9
    return {"outputs": len(outputs), "inside": (~outside).sum()}


def _all_values_count() -> Numbers:
    weights = softmax(_Q @ _K.T)
    moves = 0
    for j in range(5):
        changed = _V.copy()
        changed[j] += 1
        moves += ((weights @ changed - weights @ _V) > 1e-6).all(axis=-1).sum()
    return {"pairs": weights.size, "positive": (weights > 0).sum(), "moves": moves, "total": weights[0].sum()}


# Shapes ------------------------------------------------------------------------------------------------------


def _score_shapes() -> Numbers:
    cross = scaled_dot_product_attention(_Q, _K, _V, return_weights=True)[1].shape
    own = scaled_dot_product_attention(_K, _K, _V, return_weights=True)[1].shape
    return {"rows": cross[0], "columns": cross[1], "own_rows": own[0], "own_columns": own[1]}


def _all_pairs() -> Numbers:
    S = _Q @ _K.T
    agree = sum(
        S[i, j] == sum(a * b for a, b in zip(_Q[i], _K[j], strict=True)) for i, j in np.ndindex(S.shape)
    )
    return {"n_q": len(_Q), "n_k": len(_K), "pairs": S.size, "agree": agree}


def _widths() -> Numbers:
    widths = range(1, 7)
    return {
        "tried": len(widths),
        "d_k": _K.shape[-1],
        "query_widths": sum(_accepted(d_q=d) for d in widths),
        "the_query_width": next(d for d in widths if _accepted(d_q=d)),
        "value_widths": sum(_accepted(d_v=d) for d in widths),
    }


def _three_shapes() -> Numbers:
    broken = [_accepted(d_q=4), _accepted(d_k=4), _accepted(n_v=4), _accepted(n_k=4)]
    return {"as_stated": _accepted(), "broken": len(broken), "refused": len(broken) - sum(broken)}


def _sources() -> Numbers:
    elsewhere = np.random.default_rng(0).standard_normal((5, 2))
    taken = scaled_dot_product_attention(_Q, _K, elsewhere).shape == (4, 2)
    return {"elsewhere_taken": taken, "shorter_taken": _accepted(n_v=4)}


def _heads() -> Numbers:
    rng = np.random.default_rng(0)
    query, key, value = rng.standard_normal((3, 2, 3, 5, 4))  # (batch, heads, n, d_k) = (2, 3, 5, 4)
    shape = scaled_dot_product_attention(query, key, value, return_weights=True)[1].shape
    return dict(zip(("batch", "heads", "rows", "columns"), shape, strict=True)) | {"n": query.shape[-2]}


def _steps() -> Numbers:
    moved = experiments.moved_without_each_step(_Q, _K, _V, causal_mask(4, 5))
    needed = [distance for step, distance in moved.items() if step != "mask"]
    return {
        "announced": 4,
        "numbered": len(moved),
        "needed": len(needed),
        "matter": sum(distance > 0.01 for distance in needed),
        "least": min(needed),
    }


CLAIMS = claims_of(
    "01_dot_product",
    {
        2: _hull,
        4: _widths,
        5: _not_in_proportion,
        6: _scores_at_angles,
        7: _scores_at_angles,
        8: _scores_at_angles,
        9: _all_pairs,
        18: _score_shapes,
        54: _on_itself,
        56: _values_inside,
        58: _row_of_weights,
        59: _dependence,
        60: _pronoun,
        61: _pages,
        65: _three_shapes,
        66: _sources,
        67: _widths,
        68: _length_against_angle,
        69: _scores_at_angles,
        70: _scores_at_angles,
        71: lambda: {**_score_shapes(), "n_q": len(_Q), "n_k": len(_K)},
        72: lambda: _matching(_PAIR @ _THREE.T, [[1, 1, 0], [0, 1, 1]]),
        73: _equal_scores,
        91: _all_values_count,
        92: lambda: _matching(
            np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]) @ np.array([[1, 0], [0, 1], [1, 1]]),
            [[0.8, 0.3], [0.2, 0.9]],
        ),
        139: _steps,
        140: _heads,
        149: _all_values_count,
    },
)
