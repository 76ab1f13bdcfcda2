"""The claims that lesson 04 runs: softmax's slopes, attention's backward pass, and whether gradients vanish."""

from functools import cache
from typing import Any

import numpy as np

from sdpa_helpers.attention import causal_mask, softmax
from sdpa_helpers.course.claim import Numbers, claims_of
from sdpa_helpers.lessons.gradients import experiments as lesson
from sdpa_helpers.lessons.gradients.run import trained
from sdpa_helpers.lessons.gradients.training import RULES, Rule, final_accuracy

# Experiments, shared between claims -------------------------------------------------------------------------


@cache
def _backward() -> dict[str, Any]:
    """Random attention with its gradients by the formulas, and by complex steps that know no formula."""
    rng = np.random.default_rng(4)
    Q, K, V, dO = (rng.normal(size=shape) for shape in ((3, 4), (5, 4), (5, 6), (3, 6)))
    scale = 0.5
    back = lesson.attend_and_return(Q, K, V, dO, scale)

    def loss(q: Any, k: Any, v: Any) -> complex:
        return (lesson.complex_attention(q, k, v, scale) * dO).sum()

    return {
        "back": back,
        "inputs": (Q, K, V, dO),
        "scale": scale,
        "dQ": lesson.complex_step_gradient(lambda q: loss(q, K, V), Q),
        "dK": lesson.complex_step_gradient(lambda k: loss(Q, k, V), K),
        "dV": lesson.complex_step_gradient(lambda v: loss(Q, K, v), V),
        "dA": lesson.complex_step_gradient(lambda a: (a @ V * dO).sum(), back.weights),
    }


def _error(a: Any, b: Any) -> float:
    """Largest difference, with what rounding explains (below 1e-12) set to 0, so that machines agree."""
    largest = float(np.abs(a - b).max())
    return largest if largest > 1e-12 else 0.0


def _length_ratio(a: Any, b: Any) -> float:
    return float(np.linalg.norm(a) / np.linalg.norm(b))


@cache
def _medians(d_k: int, n_k: int) -> dict[str, float]:
    cell = lesson.measure(d_k, n_k)
    unscaled, scaled = lesson.value_norms(d_k, n_k)
    return {
        "median_scores": float(np.median(cell.unscaled.scores) / np.median(cell.scaled.scores)),
        "mean_scores": float(cell.unscaled.scores.mean() / cell.scaled.scores.mean()),
        "median_queries": float(np.median(cell.unscaled.queries) / np.median(cell.scaled.queries)),
        "mean_queries": float(cell.unscaled.queries.mean() / cell.scaled.queries.mean()),
        "dead": float(lesson.dead_share(cell.unscaled.scores)),
        "values": unscaled / scaled,
    }


@cache
def _trained(d_k: int, seeds: int) -> dict[str, float]:
    """Mean final accuracy over the seeds, for each rule, of the shipped runs."""
    return {
        rule: float(np.mean([final_accuracy(trained(rule, seed, d=d_k)) for seed in range(seeds)]))
        for rule in RULES
    }


@cache
def _with_sgd(rule: Rule, d_k: int) -> float:
    """Mean final accuracy of a rule over three seeds with SGD at rate 1, of the shipped runs."""
    courses = [trained(rule, seed, d=d_k, optimiser="SGD", lr=1.0) for seed in range(3)]
    return float(np.mean([final_accuracy(course) for course in courses]))


# One function per claim --------------------------------------------------------------------------------------


def _flat() -> Numbers:
    slopes = lesson.two_key_slope(np.array([0.0, 10.0, 20.0]))
    return {
        "tie": slopes[0],
        "gap_10": slopes[1],
        "gap_20": slopes[2],
        "float32_gap_17": lesson.two_key_slope(np.array([17.0]), np.float32)[0],
    }


def _stalls() -> Numbers:
    found = _medians(512, 16)
    return {
        "median_scores": found["median_scores"],
        "mean_queries": found["mean_queries"],
        "dead": found["dead"],
        "values": found["values"],
    }


def _diagonal_only() -> Numbers:
    p, g = softmax(np.array([1, 2, 0.5, -1])), np.array([0.3, -1, 2, 0.7])
    right, diagonal = p * (g - p @ g), p * (1 - p) * g
    equal = {n: np.eye(n) / n - np.ones((n, n)) / n**2 for n in (2, 4)}
    return {
        "relative_error": _length_ratio(diagonal - right, right),
        "diagonal_error": _error(
            p * (1 - p), np.diag(lesson.complex_step_jacobian(np.array([1, 2, 0.5, -1])))
        ),
        "off_diagonal_of_2": lesson.off_diagonal_share(equal[2]),
        "off_diagonal_of_4": lesson.off_diagonal_share(equal[4]),
    }


def _near_0_and_1() -> Numbers:
    s = softmax(np.array([25.0, 0.0, -1.0]))
    J = np.diag(s) - np.outer(s, s)
    return {"largest_slope": np.abs(J).max(), "slope_at_half": 0.5 * (1 - 0.5)}


def _nothing_learns() -> Numbers:
    gaps = np.arange(0.0, 121.0)
    winner, loser = lesson.two_key_slope(gaps, np.float32), lesson.losers_slope(gaps, np.float32)
    values_grad = np.eye(4)[[2, 0, 2]].T @ np.ones((3, 2))
    return {
        "winner_zero_from": gaps[winner == 0][0],
        "loser_zero_from": gaps[loser == 0][0],
        "adam_1": lesson.first_adam_step(1.0),
        "adam_1e6th": lesson.first_adam_step(1e-6),
        "values_gradient": np.abs(values_grad).max(),
    }


def _saturation() -> Numbers:
    x = np.array([0.3, -0.2, 1.1, 0.6])
    norms = [float(np.linalg.norm(lesson.complex_step_jacobian(times * x))) for times in (1.0, 100.0)]
    return {
        "norm": float(norms[0]),
        "norm_of_100_times": norms[1],
        "mean_queries": _medians(1024, 16)["mean_queries"],
    }


def _unsaturated() -> Numbers:
    rng = np.random.default_rng(5)
    weights = softmax(rng.normal(size=(20_000, 6)) * rng.uniform(0.1, 4, size=(20_000, 1)))
    kept = weights[weights.max(axis=-1) <= 0.9]
    # ‖J‖²_F = Σ s²(1 − s)² + Σ_{i≠j} s_i² s_j²
    squares = (kept**2).sum(axis=-1)
    norms = np.sqrt((kept**2 * (1 - kept) ** 2).sum(axis=-1) + squares**2 - (kept**4).sum(axis=-1))
    return {"rows": len(kept), "smallest_norm": norms.min()}


def _direct_paths() -> Numbers:
    scores = np.random.default_rng(6).normal(size=(8, 8))
    causal = softmax(np.where(causal_mask(8), scores, -np.inf))
    return {"cut_without_mask": (softmax(scores) == 0).sum(), "cut_causal": (causal == 0).sum(), "pairs": 64}


def _distance() -> Numbers:
    return {
        "recurrent": lesson.recurrent_gradient(50),
        "attention": lesson.attention_gradient(50) / lesson.attention_gradient(1),
    }


def _whole_jacobian() -> Numbers:
    import sympy

    symbols = sympy.symbols("a b c", real=True)
    total = sum(sympy.exp(a) for a in symbols)
    soft = sympy.Matrix([sympy.exp(a) / total for a in symbols])
    difference = soft.jacobian(symbols) - (sympy.diag(*soft) - soft * soft.T)
    s = softmax(x := np.array([1, 2, 0.5, -1]))
    return {
        "symbolic_nonzero": sum(sympy.simplify(entry) != 0 for entry in difference),
        "error": _error(np.diag(s) - np.outer(s, s), lesson.complex_step_jacobian(x)),
    }


def _no_wish() -> Numbers:
    s = softmax(np.array([0.0, 0.6, 0.0, 0.0, 1.2]))
    same, different = np.full(5, 7.0), np.array([7.0, -7, 7, -7, 7])
    return {
        "largest_weight": s.max(),
        "same_wish": _error(s * (same - s @ same), 0.0),
        "different_wish": np.abs(s * (different - s @ different)).max(),
    }


def _values_and_weights() -> Numbers:
    found = _backward()
    _, _, V, dO = found["inputs"]
    return {
        "dV_error": _error(found["back"].weights.T @ dO, found["dV"]),
        "dA_error": _error(dO @ V.T, found["dA"]),
    }


def _two_readings(name: str) -> Numbers:
    """dQ or dK by the article's line, with the gradient at the scaled and at the raw scores."""
    found = _backward()
    Q, K, _, _ = found["inputs"]
    scaled = found["back"].scores_grad
    raw = scaled * found["scale"]
    by_line = {
        "dQ": lambda dS: dS @ K / np.sqrt(4),
        "dK": lambda dS: dS.T @ Q / np.sqrt(4),
    }[name]
    return {
        "error_if_scaled": _error(by_line(scaled), found[name]),
        "ratio_if_raw": _length_ratio(by_line(raw), found[name]),
    }


def _incomplete() -> Numbers:
    found = _backward()
    _, K, _, dO = found["inputs"]
    back = found["back"]
    without = back.weights_grad @ K * found["scale"]
    return {
        "error_without_softmax": _length_ratio(without - found["dQ"], found["dQ"]),
        "error_with_softmax": _error(back.query_grad, found["dQ"]),
        "identity_error": _error((back.weights * back.weights_grad).sum(-1), (back.output * dO).sum(-1)),
    }


def _well_behaved() -> Numbers:
    with np.errstate(all="ignore"):
        row = np.full(3, -np.inf)
        e = np.exp(row - row.max())
        s = e / e.sum()  # as in the textbook
        gradient = s * (1.0 - s)
        half = np.exp(np.float16(12))
    seen = softmax(np.array([1, 2, -np.inf]))
    return {
        "nan_in_open_row": np.isnan(seen * (1.0 - seen)).sum(),
        "nan_in_masked_row": np.isnan(gradient).sum(),
        "float16_overflows": float(np.isinf(half)),
        "dead_rows_1024_16": _medians(1024, 16)["dead"],
    }


def _training_fails() -> Numbers:
    rng = np.random.default_rng(7)
    x, W_q, W_k, V = rng.normal(size=(6, 8)), *rng.normal(size=(2, 8, 8)), rng.normal(size=(6, 3))
    divided = softmax((x @ W_q) @ (x @ W_k).T / np.sqrt(8)) @ V
    folded = softmax((x @ (W_q / np.sqrt(8))) @ (x @ W_k).T) @ V
    middle, large = _trained(64, 3), _trained(256, 1)
    sgd = {f"sgd_none_{d}": _with_sgd("no scale", d) for d in (64, 256, 1024)}
    sgd["sgd_scaled_1024"] = _with_sgd("1/√d", 1024)
    return sgd | {
        "folded_difference": _error(divided, folded),
        "none": middle["no scale"],
        "scaled": middle["1/√d"],
        "folded": middle["no scale, smaller start"],
        "none_256": large["no scale"],
        "folded_256": large["no scale, smaller start"],
        "guessing": 1 / 16,
    }


def _prevents() -> Numbers:
    few, many = _medians(1024, 16), _medians(64, 1024)
    return {
        "median_few_keys": few["median_queries"],
        "median_many_keys": many["median_queries"],
        "mean_few_keys": few["mean_queries"],
        "mean_many_keys": many["mean_queries"],
    }


def _extremely_small() -> Numbers:
    few, many = _medians(1024, 16), _medians(64, 1024)
    return {
        "few_keys": few["median_scores"],
        "many_keys": many["median_scores"],
        "mean_few": few["mean_scores"],
    }


def _continuous() -> Numbers:
    h = 1e-6
    soft = [float(softmax(np.array([t, 0.0]))[0]) for t in (-h, 0.0, h)]
    kink = [abs(t) for t in (-h, 0.0, h)]
    return {
        "softmax_jump_of_slope": round(abs((soft[2] - soft[1]) - (soft[1] - soft[0])) / h, 4),
        "kink_jump_of_slope": abs((kink[2] - kink[1]) - (kink[1] - kink[0])) / h,
    }


CLAIMS = claims_of(
    "04_gradients",
    {
        14: _flat,
        15: _stalls,
        37: _diagonal_only,
        38: _near_0_and_1,
        39: _nothing_learns,
        79: _saturation,
        98: _unsaturated,
        99: _direct_paths,
        100: _distance,
        101: _whole_jacobian,
        102: _no_wish,
        103: _values_and_weights,
        104: lambda: _two_readings("dQ"),
        105: lambda: _two_readings("dK"),
        106: _incomplete,
        107: _well_behaved,
        109: _training_fails,
        115: _prevents,
        120: _extremely_small,
        133: _continuous,
    },
)
