"""The claims that lesson 01 runs: what a dot product measures, what softmax makes of it, and the shapes."""

import numpy as np

from sdpa_helpers.attention import causal_mask, scaled_dot_product_attention, softmax
from sdpa_helpers.course.claim import Check, Numbers, Test, claims_of, so_it_is, so_it_is_not
from sdpa_helpers.lessons.dot_product import experiments

# The input of the lesson: four queries, the keys of five words, and their values.
_Q = np.array([[1, 0, 0], [1, 0, -1], [0, 1, 0], [0, 0, 1]], dtype=float)
_K = np.array([[0, 0, 0], [1, 0, -0.5], [0, 2, 0], [0, 0, 2], [2, 0, 2]], dtype=float)
_V = np.array([[0, 1], [4, 0], [1, 4], [2, 2], [5, 3]], dtype=float)
_PAGES = np.array([0.92, 0.15, 0.78, 0.45])
_PAIR, _THREE = np.array([[1, 0], [0, 1]]), np.array([[1, 0], [1, 1], [0, 1]])


def _all_of(part: str, whole: str) -> Test:
    return lambda v: v[part] == v[whole] > 0


def _near(a: float, b: float, within: float = 1e-9) -> bool:
    return abs(a - b) < within


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
    cat = softmax(_K @ _K.T)[1]
    return {"itself": cat[1], "others": cat.sum() - cat[1]}


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


_SELF_OR_CROSS = {
    "self-attention": lambda v: v["own_rows"] == v["own_columns"],
    "queries of another text": lambda v: v["rows"] == v["columns"],
}

_CHECKS = {
    1: Check(
        None, {"the transformer of 2017 and its line": so_it_is, "FNet, linear attention": so_it_is_not}
    ),
    2: Check(_hull, {"600 random queries": _all_of("inside", "outputs")}),
    4: Check(
        _widths,
        {
            "queries as wide as keys, values of any width": lambda v: (
                v["query_widths"] == 1 and v["the_query_width"] == v["d_k"] and v["value_widths"] > 1
            )
        },
    ),
    5: Check(
        _not_in_proportion,
        {
            "scores 1 and 2": lambda v: _near(v["weight_ratio"], v["score_ratio"], 0.01),
            "scores 0 and −3": lambda v: v["of_zero"] == 0 and v["of_minus_3"] <= 0,
        },
    ),
    6: Check(
        _scores_at_angles,
        {
            "keys of one length": lambda v: v["same_way"] > 0,
            "a longer key at 60°": lambda v: v["same_way"] >= v["long_at_60"],
        },
    ),
    7: Check(
        _scores_at_angles,
        {
            "perpendicular vectors": lambda v: abs(v["perpendicular"]) < 0.05,
            "short vectors of one direction": lambda v: abs(v["same_way_short"]) > 0.05,
        },
    ),
    8: Check(_scores_at_angles, {"180°": lambda v: v["opposed"] < 0, "100°": lambda v: v["at_100"] >= 0}),
    9: Check(_all_pairs, {"every pair": _all_of("agree", "pairs")}),
    18: Check(_score_shapes, _SELF_OR_CROSS),
    54: Check(
        _on_itself,
        {"the other tokens": lambda v: v["others"] > 0, "no look at itself": lambda v: v["itself"] == 0},
    ),
    56: Check(
        _values_inside,
        {
            "values ten times as large": lambda v: (
                _near(v["outside_10"], 10 * v["outside"]) and not _near(v["inside_10"], 10 * v["inside"])
            )
        },
    ),
    57: Check(_score_shapes, _SELF_OR_CROSS),
    58: Check(
        _row_of_weights, {"as a row of softmax": lambda v: _near(v["total"], 1, 0.005) and v["smallest"] > 0}
    ),
    59: Check(
        _dependence,
        {"whether a weight says it": lambda v: None if v["moved"] > 0.01 > v["moved_alike"] else True},
    ),
    60: Check(
        _pronoun,
        {
            "a trained model": lambda v: (
                None if v["low"] < v["equal_share"] < v["high"] else v["low"] > v["equal_share"]
            )
        },
        relative=1e-4,
    ),
    61: Check(
        _pages,
        {
            "the order": lambda v: v["kept"] == v["tried"],
            "the weights follow from the ranks": lambda v: _near(v["first"], v["first_10"]),
        },
    ),
    65: Check(
        _three_shapes, {"sizes as stated": lambda v: v["as_stated"] == 1 and v["refused"] == v["broken"] > 0}
    ),
    66: Check(
        _sources,
        {
            "that they are equally many": lambda v: v["shorter_taken"] == 0,
            "the reason: one source": lambda v: v["elsewhere_taken"] == 0,
        },
    ),
    67: Check(_widths, {"six widths of values": _all_of("value_widths", "tried")}),
    68: Check(_length_against_angle, {"2 to 101 dimensions": _all_of("agree", "pairs")}),
    69: Check(
        _scores_at_angles,
        {
            "positive": lambda v: v["same_way"] > 0,
            "high, for short vectors too": lambda v: v["same_way_short"] >= v["long_at_60"],
        },
    ),
    70: Check(
        _scores_at_angles, {"90° and 180°": lambda v: _near(v["perpendicular"], 0) and v["opposed"] < 0}
    ),
    71: Check(
        lambda: {**_score_shapes(), "n_q": len(_Q), "n_k": len(_K)},
        {"four queries, five keys": lambda v: (v["rows"], v["columns"]) == (v["n_q"], v["n_k"])},
    ),
    72: Check(
        lambda: _matching(_PAIR @ _THREE.T, [[1, 1, 0], [0, 1, 1]]),
        {"the six scores": _all_of("matching", "printed")},
    ),
    73: Check(
        _equal_scores,
        {
            "the scores": lambda v: v["score_1"] == v["score_2"] > 0,
            "the directions": lambda v: _near(v["cosine_1"], v["cosine_2"]),
        },
    ),
    91: Check(
        _all_values_count, {"without a mask": lambda v: v["positive"] == v["pairs"] and _near(v["total"], 1)}
    ),
    92: Check(
        lambda: _matching(
            np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]]) @ np.array([[1, 0], [0, 1], [1, 1]]),
            [[0.8, 0.3], [0.2, 0.9]],
        ),
        {"the four numbers": _all_of("matching", "printed")},
    ),
    116: Check(_score_shapes, _SELF_OR_CROSS),
    139: Check(
        _steps,
        {"the steps that are not optional": lambda v: v["announced"] == v["needed"] == v["matter"]},
    ),
    140: Check(
        _heads,
        {
            "batch 2, heads 3": lambda v: (
                (v["batch"], v["heads"], v["rows"], v["columns"]) == (2, 3, v["n"], v["n"])
            )
        },
    ),
    149: Check(_all_values_count, {"without a mask": _all_of("moves", "pairs")}),
}
CLAIMS = claims_of("01_dot_product", _CHECKS)
