"""The claims that lesson 02 runs: how far scores spread, and what to divide them by."""

from functools import cache

import numpy as np

from sdpa_helpers.attention import scaled_dot_product_attention, softmax
from sdpa_helpers.course.claim import Numbers, claims_of
from sdpa_helpers.lessons.variance_proof import experiments as lab

_DIMS = (4, 64, 512)
_HEADS = {"small": (768, 12), "medium": (1024, 16), "large": (1280, 20), "xl": (1600, 25)}
"""GPT-2's four sizes: width and number of heads."""


# Shared experiments ---------------------------------------------------------------------------------------


@cache
def _scores(d: int) -> np.ndarray:
    return lab.sample_scores(d, 10000, seed=d)


@cache
def _many() -> np.ndarray:
    """An article's demo: 1000 queries and 1000 keys, d_k = 512."""
    Q, K = np.random.default_rng(85).standard_normal((2, 1000, 512))
    return Q @ K.T


@cache
def _broken() -> dict[str, np.ndarray]:
    return lab.broken_assumptions(64, 8000)


@cache
def _rows() -> dict[int, lab.ScoreSample]:
    return {d: lab.draw_row(d) for d in (64, 512, 4096)}


@cache
def _side_by_side() -> dict[str, dict[str, list[float]]]:
    rows = _rows()
    return lab.side_by_side(
        {d: row.scores for d, row in rows.items()}, {d: row.with_match(0.5) for d, row in rows.items()}
    )


def _stds() -> Numbers:
    return {f"std_{d}": _scores(d).std() for d in _DIMS}


def _scaled_stds() -> Numbers:
    return {f"std_{d}": _scores(d).std() / np.sqrt(d) for d in _DIMS}


def _broken_variances() -> Numbers:
    b = _broken()
    return {
        "independent": b["none"].var(),
        "mean_half": b["mean 0.5"].var(),
        "same": b["q = k"].var(),
        "alike": b["alike in q and k"].var(),
    }


def _start_and_after() -> Numbers:
    """Scaled scores of independent vectors, and of vectors with correlation 0.5, at the smallest and largest d_k."""
    match = _side_by_side()["1/√d"]["match score"]
    rows = _rows()
    return {
        "std_64": rows[64].scores.std() / 8,
        "std_4096": rows[4096].scores.std() / 64,
        "match_64": match[0],
        "match_4096": match[-1],
    }


def _head_lengths() -> Numbers:
    return {f"d_k_{name}": width / heads for name, (width, heads) in _HEADS.items()} | {
        "widest": max(width for width, _ in _HEADS.values()) / min(width for width, _ in _HEADS.values())
    }


def _lost_bar() -> Numbers:
    printed = lab.scale_probe(lab.SUSPECTS["multiplies by √d"], 16)
    return {"printed": printed, "meant": lab.scale_probe(scaled_dot_product_attention, 16)}


# One compute per claim that has its own -------------------------------------------------------------------


def _magnitude() -> Numbers:
    match = _side_by_side()["1/√d"]["match score"]
    sizes = {f"size_{d}": np.abs(_scores(d)).mean() / np.sqrt(2 * d / np.pi) for d in (64, 512)}
    return sizes | {"match_64": match[0], "match_512": match[1], "match_4096": match[2]}


def _reach() -> Numbers:
    sizes, root = np.abs(_many()), 512**0.5
    return {
        "root": root,
        "beyond_percent": 100 * np.mean(sizes > root),
        "mean_size": sizes.mean(),
        "best": _many().max(axis=1).mean(),
    }


def _mean_zero() -> Numbers:
    s = _scores(64)
    return {"mean": s.mean(), "error": s.std() / np.sqrt(s.size)}


def _gradients_at_the_scores() -> Numbers:
    """The median length of a row's gradient at the scaled scores, its upstream gradient drawn from a normal."""
    found = {}
    for d in (64, 4096):
        rng = np.random.default_rng([84, d])
        query, upstream = rng.standard_normal((400, d)), rng.standard_normal((400, 16))
        keys = rng.standard_normal((16, d))
        scores = query @ keys.T / np.sqrt(d)
        # The first key's score, once with a key of its own for each query: 0.5 q + √0.75 noise.
        match = scores.copy()
        match[:, 0] = (query * (0.5 * query + 0.75**0.5 * rng.standard_normal((400, d)))).sum(-1) / np.sqrt(d)
        for name, rows in (("alone", scores), ("match", match)):
            weights = softmax(rows)
            gradient = weights * (upstream - (weights * upstream).sum(-1, keepdims=True))
            found[f"{name}_{d}"] = float(np.median(np.linalg.norm(gradient, axis=-1)))
    return found


def _not_a_choice() -> Numbers:
    Q, K = np.random.default_rng(42).standard_normal((2, 16, 64))
    moved = np.abs((Q / 8) @ K.T - Q @ K.T / 8).max()
    return {
        "moved": round(float(moved), 9),
        "half": 0.5 * _rows()[64].scores.std() / 8,
        "half_4096": 0.5 * _rows()[4096].scores.std() / 64,
    }


def _table() -> Numbers:
    stds, scaled = _stds(), _scaled_stds()
    return {f"raw_{d}": stds[f"std_{d}"] for d in _DIMS} | {f"scaled_{d}": scaled[f"std_{d}"] for d in _DIMS}


def _width() -> Numbers:
    even = _side_by_side()["1"]["entropy share"]
    return dict(_head_lengths()) | {"even_64": even[0], "even_4096": even[-1]}


def _over_d() -> Numbers:
    found = _side_by_side()
    return {
        "even_by_d": found["1/d"]["entropy share"][1],
        "even_by_root": found["1/√d"]["entropy share"][1],
        "match_by_d_64": found["1/d"]["match score"][0],
        "match_by_d_4096": found["1/d"]["match score"][-1],
        "match_by_root_4096": found["1/√d"]["match score"][-1],
    }


def _learned() -> Numbers:
    scores = _rows()[512].with_match(2 / np.sqrt(512))
    learned = lab.learn_scale(scores)
    return {
        "share_percent": 100 * 12 / (4 * 768 * 768),
        "loss_fixed": lab.loss_of_scale(512**-0.5, scores),
        "loss_learned": lab.loss_of_scale(learned, scores),
        "loss_one": lab.loss_of_scale(1.0, scores),
    }


def _optimum() -> Numbers:
    factors = {d: lab.learn_scale(row.with_match(2 / np.sqrt(d))) * np.sqrt(d) for d, row in _rows().items()}
    spreads = {f"std_{d}": _rows()[d].scores.std() / np.sqrt(d) for d in (64, 4096)}
    return spreads | {f"factor_{d}": value for d, value in factors.items()}


def _order_one() -> Numbers:
    S = _many() / np.sqrt(512)
    return {"std": S.std(), "best": S.max(axis=1).mean(), "theory": np.sqrt(2 * np.log(1000))}


def _divisions() -> Numbers:
    Q, K = np.random.default_rng(52).standard_normal((2, 128, 64))
    moved = np.abs((Q / 8) @ K.T - Q @ K.T / 8).max()
    return {"on_scores": (Q @ K.T).size, "in_query": Q.size, "moved": round(float(moved), 9)}


def _flow() -> Numbers:
    flow = lab.SUSPECTS["no scale at all"]
    Q, K, V = np.random.default_rng(55).standard_normal((3, 5, 16))
    gap = np.abs(flow(Q, K, V) - scaled_dot_product_attention(Q, K, V, scale=1.0)).max()
    return {"probe": lab.scale_probe(flow, 16), "meant": 16**-0.5, "gap_at_scale_1": round(float(gap), 9)}


def _limit_theorem() -> Numbers:
    exact = {f"variance_{d}": lab.all_coin_scores(d).var() for d in (1, 2, 4)}
    return exact | {"kurtosis_1": lab.excess_kurtosis(lab.all_coin_scores(1))} | {
        f"normal_{d}": lab.excess_kurtosis(lab.sample_scores(d, 20000, seed=d)) for d in (4, 64)
    }  # fmt: skip


def _means_multiply() -> Numbers:
    s = lab.sample_scores(64, 10000, seed=82, means=(0.5, -1.0))
    return {"mean_zero": _scores(64).mean(), "mean": s.mean(), "theory": 64 * 0.5 * -1.0}


def _exact_variances() -> Numbers:
    return {f"variance_{d}": lab.all_coin_scores(d).var() for d in range(1, 7)}


def _blind() -> Numbers:
    Q, K = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    scales = [2**-0.5, 1.0, 0.5, 10.0]
    mended = V + np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 3.0]])
    outputs = lab.outputs_by_scale(Q, K, V, scales)
    return {
        "first": outputs[0, 0, 0],
        "second": outputs[0, 0, 1],
        "moves": round(float(np.ptp(outputs, axis=0).max()), 9),
        "mended_moves": np.ptp(lab.outputs_by_scale(Q, K, mended, scales), axis=0).max(),
    }


def _maximum() -> Numbers:
    negative, match = np.array([-1.0, -2.0, -4.0]), np.zeros(64)
    match[0] = 1000.0
    zero = lab.weights_by_maximum(np.array([0.0, -1.0, -3.0]))
    return {
        "best_key": softmax(negative)[0],
        "best_key_divided": lab.weights_by_maximum(negative)[0],
        "worst_key_divided": lab.weights_by_maximum(negative)[2],
        "cap": lab.weights_by_maximum(match)[0],
        "finite_at_zero": float(np.isfinite(zero).all()),
    }


def _with_means() -> Numbers:
    return {
        "zero_means": lab.sample_scores(64, 10000, seed=64).var(),
        "means_1": lab.sample_scores(64, 10000, seed=5, means=(1, 1)).var(),
        "formula": 64.0,
    }


def _which_d() -> Numbers:
    """A model of width 96 with 6 heads: scores of one head, divided by either root."""
    s = lab.sample_scores(96 // 6, 10000, seed=142)
    return {"by_head": s.std() / np.sqrt(96 // 6), "by_width": s.std() / np.sqrt(96)}


CLAIMS = claims_of(
    "02_variance_proof",
    {
        3: _lost_bar,
        10: _broken_variances,
        11: _magnitude,
        12: _reach,
        16: _scaled_stds,
        28: lambda: dict(_head_lengths()) | dict(_start_and_after()),
        29: _mean_zero,
        30: lambda: {kind: lab.sample_scores(64, 10000, seed=1, kind=kind).var() for kind in lab.DRAWS},
        31: _stds,
        32: _stds,
        33: lambda: dict(_stds()) | {"exact": np.sqrt(512)},
        41: _start_and_after,
        42: _not_a_choice,
        43: _table,
        45: _width,
        46: _over_d,
        48: _learned,
        49: _optimum,
        50: _order_one,
        51: _not_a_choice,
        52: _divisions,
        53: lambda: {f"probe_{d}": lab.scale_probe(scaled_dot_product_attention, d) for d in (4, 16, 64)},
        55: _flow,
        74: _limit_theorem,
        82: _means_multiply,
        83: _exact_variances,
        84: _gradients_at_the_scores,
        85: lambda: {"raw": _many().std(), "scaled": _many().std() / np.sqrt(512)},
        112: _blind,
        114: _maximum,
        122: _with_means,
        141: lambda: {"ratio": _scores(512).std() / _scores(4).std(), "root": np.sqrt(512 / 4), "d": 512 / 4},
        142: _which_d,
        143: lambda: {"root_64": np.sqrt(64), "root_128": np.sqrt(128)},
    },
)
