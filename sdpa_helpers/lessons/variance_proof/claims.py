"""The claims that lesson 02 runs: how far scores spread, and what to divide them by."""

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from sdpa_helpers.attention import scaled_dot_product_attention, softmax
from sdpa_helpers.course.claim import Claim, Kind, Verdict, always, not_shown_if
from sdpa_helpers.lessons.variance_proof import experiments as lab

Values = Mapping[str, float]

_DIMS = (4, 64, 512)
_HEADS = {"small": (768, 12), "medium": (1024, 16), "large": (1280, 20), "xl": (1600, 25)}
"""GPT-2's four sizes: width and number of heads."""


def _claim(
    number: int,
    article: str,
    section: int,
    says: str,
    finding: str,
    compute: Callable[[], Values] | None,
    decide: Callable[[Values], Verdict],
    kind: Kind = "measured",
    source: str = "",
) -> Claim:
    where = f"02_variance_proof, section {section}"
    return Claim(number, article, says, where, finding, compute, decide, kind, source)


def _judge(holds: bool, breaks: bool = False) -> Verdict:
    """Wrong if it does not hold where it is meant; needs a condition if it breaks elsewhere; else right."""
    return "wrong" if not holds else "needs a condition" if breaks else "right"


def _near(value: float, target: float, relative: float = 0.03) -> bool:
    return abs(value - target) <= relative * abs(target)


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
def _rows() -> dict[int, lab.Row]:
    return {d: lab.draw_row(d) for d in (64, 512, 4096)}


@cache
def _side_by_side() -> dict[str, dict[str, list[float]]]:
    rows = _rows()
    return lab.side_by_side(
        {d: row.scores for d, row in rows.items()}, {d: row.with_match(0.5) for d, row in rows.items()}
    )


def _stds() -> Values:
    return {f"std_{d}": _scores(d).std() for d in _DIMS}


def _scaled_stds() -> Values:
    return {f"std_{d}": _scores(d).std() / np.sqrt(d) for d in _DIMS}


def _normalised(v: Values) -> Verdict:
    return _judge(all(_near(v[f"std_{d}"], 1) for d in _DIMS))


def _broken_variances() -> Values:
    b = _broken()
    return {
        "independent": b["none"].var(),
        "mean_half": b["mean 0.5"].var(),
        "same": b["q = k"].var(),
        "alike": b["alike in q and k"].var(),
    }


def _only_if_independent(v: Values) -> Verdict:
    return _judge(_near(v["independent"], 64, 0.06), not _near(v["alike"], 64, 0.06))


def _start_and_after() -> Values:
    """Scaled scores of independent vectors, and of vectors with correlation 0.5, at the smallest and largest d_k."""
    match = _side_by_side()["1/√d"]["match score"]
    rows = _rows()
    return {
        "std_64": rows[64].scores.std() / 8,
        "std_4096": rows[4096].scores.std() / 64,
        "match_64": match[0],
        "match_4096": match[-1],
    }


def _only_at_the_start(v: Values) -> Verdict:
    return _judge(_near(v["std_64"], 1) and _near(v["std_4096"], 1), v["match_4096"] > 2 * v["match_64"])


def _head_lengths() -> Values:
    return {f"d_k_{name}": width / heads for name, (width, heads) in _HEADS.items()} | {
        "widest": max(width for width, _ in _HEADS.values()) / min(width for width, _ in _HEADS.values())
    }


def _fixed_heads(v: Values) -> bool:
    return len({v[f"d_k_{name}"] for name in _HEADS}) == 1 and v["widest"] > 1


def _lost_bar() -> Values:
    printed = lab.scale_probe(lab.SUSPECTS["multiplies by √d"], 16)
    return {"printed": printed, "meant": lab.scale_probe(scaled_dot_product_attention, 16)}


def _lost_bar_verdict(v: Values) -> Verdict:
    return _judge(_near(v["printed"], v["meant"], 1e-6))


# One compute per claim that has its own -------------------------------------------------------------------


def _magnitude() -> Values:
    match = _side_by_side()["1/√d"]["match score"]
    sizes = {f"size_{d}": np.abs(_scores(d)).mean() / np.sqrt(2 * d / np.pi) for d in (64, 512)}
    return sizes | {"match_64": match[0], "match_512": match[1], "match_4096": match[2]}


def _reach() -> Values:
    sizes, root = np.abs(_many()), 512**0.5
    return {
        "root": root,
        "beyond_percent": 100 * np.mean(sizes > root),
        "mean_size": sizes.mean(),
        "best": _many().max(axis=1).mean(),
    }


def _mean_zero() -> Values:
    s = _scores(64)
    return {"mean": s.mean(), "error": s.std() / np.sqrt(s.size)}


def _three_kinds() -> Values:
    return {kind: lab.sample_scores(64, 10000, seed=1, kind=kind).var() for kind in lab.DRAWS}


def _gradients_at_the_scores() -> Values:
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


def _not_a_choice() -> Values:
    Q, K = np.random.default_rng(42).standard_normal((2, 16, 64))
    moved = np.abs((Q / 8) @ K.T - Q @ K.T / 8).max()
    return {
        "moved": round(float(moved), 9),
        "half": 0.5 * _rows()[64].scores.std() / 8,
        "half_4096": 0.5 * _rows()[4096].scores.std() / 64,
    }


def _table() -> Values:
    stds, scaled = _stds(), _scaled_stds()
    return {f"raw_{d}": stds[f"std_{d}"] for d in _DIMS} | {f"scaled_{d}": scaled[f"std_{d}"] for d in _DIMS}


def _width() -> Values:
    even = _side_by_side()["1"]["entropy share"]
    return dict(_head_lengths()) | {"even_64": even[0], "even_4096": even[-1]}


def _over_d() -> Values:
    found = _side_by_side()
    return {
        "even_by_d": found["1/d"]["entropy share"][1],
        "even_by_root": found["1/√d"]["entropy share"][1],
        "match_by_d_64": found["1/d"]["match score"][0],
        "match_by_d_4096": found["1/d"]["match score"][-1],
        "match_by_root_4096": found["1/√d"]["match score"][-1],
    }


def _learned() -> Values:
    scores = _rows()[512].with_match(2 / np.sqrt(512))
    learned = lab.learn_scale(scores)
    return {
        "share_percent": 100 * 12 / (4 * 768 * 768),
        "loss_fixed": lab.loss_of_scale(512**-0.5, scores),
        "loss_learned": lab.loss_of_scale(learned, scores),
        "loss_one": lab.loss_of_scale(1.0, scores),
    }


def _optimum() -> Values:
    factors = {d: lab.learn_scale(row.with_match(2 / np.sqrt(d))) * np.sqrt(d) for d, row in _rows().items()}
    return {f"factor_{d}": value for d, value in factors.items()}


def _order_one() -> Values:
    S = _many() / np.sqrt(512)
    return {"std": S.std(), "best": S.max(axis=1).mean(), "theory": np.sqrt(2 * np.log(1000))}


def _divisions() -> Values:
    Q, K = np.random.default_rng(52).standard_normal((2, 128, 64))
    moved = np.abs((Q / 8) @ K.T - Q @ K.T / 8).max()
    return {"on_scores": (Q @ K.T).size, "in_query": Q.size, "moved": round(float(moved), 9)}


def _formula() -> Values:
    return {f"probe_{d}": lab.scale_probe(scaled_dot_product_attention, d) for d in (4, 16, 64)}


def _flow() -> Values:
    flow = lab.SUSPECTS["no scale at all"]
    Q, K, V = np.random.default_rng(55).standard_normal((3, 5, 16))
    gap = np.abs(flow(Q, K, V) - scaled_dot_product_attention(Q, K, V, scale=1.0)).max()
    return {"probe": lab.scale_probe(flow, 16), "meant": 16**-0.5, "gap_at_scale_1": round(float(gap), 9)}


def _limit_theorem() -> Values:
    exact = {f"variance_{d}": lab.all_coin_scores(d).var() for d in (1, 2, 4)}
    return exact | {"kurtosis_1": lab.excess_kurtosis(lab.all_coin_scores(1))} | {
        f"normal_{d}": lab.excess_kurtosis(lab.sample_scores(d, 20000, seed=d)) for d in (4, 64)
    }  # fmt: skip


def _means_multiply() -> Values:
    s = lab.sample_scores(64, 10000, seed=82, means=(0.5, -1.0))
    return {"mean_zero": _scores(64).mean(), "mean": s.mean(), "theory": 64 * 0.5 * -1.0}


def _exact_variances() -> Values:
    return {f"variance_{d}": lab.all_coin_scores(d).var() for d in range(1, 7)}


def _demo() -> Values:
    return {"raw": _many().std(), "scaled": _many().std() / np.sqrt(512)}


def _blind() -> Values:
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


def _maximum() -> Values:
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


def _with_means() -> Values:
    return {
        "zero_means": lab.sample_scores(64, 10000, seed=64).var(),
        "means_1": lab.sample_scores(64, 10000, seed=5, means=(1, 1)).var(),
        "formula": 64.0,
    }


def _growth() -> Values:
    return {"ratio": _scores(512).std() / _scores(4).std(), "root": np.sqrt(512 / 4), "d": 512 / 4}


def _which_d() -> Values:
    """A model of width 96 with 6 heads: scores of one head, divided by either root."""
    s = lab.sample_scores(96 // 6, 10000, seed=142)
    return {"by_head": s.std() / np.sqrt(96 // 6), "by_width": s.std() / np.sqrt(96)}


def _divisors() -> Values:
    return {"root_64": np.sqrt(64), "root_128": np.sqrt(128)}


CLAIMS = (
    _claim(
        3, "A", 8,
        "The formula, as the page prints it, has √d_k as a factor in the softmax and no fraction bar.",
        "The probe reads {printed:g} from the printed formula at d_k = 16; {meant:g} is meant.",
        _lost_bar, _lost_bar_verdict,
    ),
    _claim(
        10, "A", 5,
        "If coordinates have variance 1, the variance of the score grows with d_k.",
        "At d_k = 64: {independent:.0f} if independent with mean 0; {mean_half:.0f} with mean 0.5, {same:.0f} if "
        "q = k, {alike:.0f} if coordinates correlate by 0.5.",
        _broken_variances, _only_if_independent,
    ),
    _claim(
        11, "A", 6,
        "The size of a score grows like √d_k.",
        "Mean size over √(2d/π): {size_64:.2f} at 64, {size_512:.2f} at 512. But with correlation 0.5 the score over "
        "√d_k is {match_64:.1f}, {match_512:.1f}, {match_4096:.1f} at 64, 512, 4096.",
        _magnitude,
        lambda v: _judge(_near(v["size_64"], 1) and _near(v["size_512"], 1), v["match_4096"] > 2 * v["match_512"]),
    ),
    _claim(
        12, "A", 9,
        "At d_k = 512 raw scores regularly reach ±22.6.",
        "√512 = {root:.2f} is one standard deviation: {beyond_percent:.0f}% lie beyond, the mean size is "
        "{mean_size:.0f}, and the best of 1000 keys scores {best:.0f}.",
        _reach, lambda v: _judge(_near(v["root"], 22.6, 0.01), v["beyond_percent"] < 50 and v["best"] > 2 * v["root"]),
    ),
    _claim(
        16, "A", 3,
        "Dividing by √d_k brings the variance back to about 1 for every d_k.",
        "Standard deviation {std_4:.2f}, {std_64:.2f}, {std_512:.2f} at d_k = 4, 64, 512, for independent coordinates "
        "with mean 0.",
        _scaled_stds, _normalised,
    ),
    _claim(
        19, "A", 8,
        "The scaled score, as the page prints it, is the score next to √d_k, with no fraction bar.",
        "The probe reads {printed:g} from the printed step at d_k = 16; {meant:g} is meant.",
        _lost_bar, _lost_bar_verdict,
    ),
    _claim(
        26, "A", 9,
        "The 2017 Transformer paper introduces scaled dot-product attention and the √d_k in its section 3.2.1.",
        "It does, and gives its reason with the words “we suspect”: a conjecture.",
        None, always("right"), "history", "Vaswani et al. 2017, Attention Is All You Need, §3.2.1",
    ),
    _claim(
        28, "B", 8,
        "The division keeps dot products well-behaved whatever the size of the model.",
        "d_k is {d_k_small:.0f} in all four sizes of GPT-2 (Radford et al. 2019; heads of the released models), the "
        "widest {widest:.1f} times as wide as the smallest: size is not what counts. With correlation 0.5 the "
        "scaled score grows from {match_64:.1f} to {match_4096:.1f}.",
        lambda: dict(_head_lengths()) | dict(_start_and_after()),
        lambda v: _judge(_only_at_the_start(v) != "wrong", _fixed_heads(v) or v["match_4096"] > 2 * v["match_64"]),
    ),
    _claim(
        29, "B", 3, "For independent coordinates with mean 0 the mean of the score is 0.",
        "{mean:.2f} with a standard error of {error:.2f}.",
        _mean_zero, lambda v: _judge(abs(v["mean"]) < 4 * v["error"]),
    ),
    _claim(
        30, "B", 4, "Its variance is d_k, as a sum of d_k independent terms of variance 1.",
        "At d_k = 64: normal {normal:.1f}, uniform {uniform:.1f}, coins {coins:.1f}.",
        _three_kinds, lambda v: _judge(all(_near(x, 64, 0.06) for x in v.values())),
    ),
    _claim(
        31, "B", 3, "The standard deviation grows like √d_k.",
        "{std_4:.2f}, {std_64:.2f}, {std_512:.2f} at d_k = 4, 64, 512.",
        _stds, lambda v: _judge(all(_near(v[f"std_{d}"], np.sqrt(d)) for d in _DIMS)),
    ),
    _claim(
        32, "B", 3, "At d_k = 64 the standard deviation is about 8.", "{std_64:.2f}.",
        _stds, lambda v: _judge(_near(v["std_64"], 8)),
    ),
    _claim(
        33, "B", 3, "At d_k = 512 the standard deviation is about 22.",
        "√512 = {exact:.3f}, which rounds to 23 (measured: {std_512:.2f}).",
        lambda: dict(_stds()) | {"exact": np.sqrt(512)},
        lambda v: _judge(abs(v["exact"] - 22) < 1, round(v["exact"]) != 22),
    ),
    _claim(
        40, "B", 2, "The variance of q·k/√d_k is 1.",
        "Standard deviation {std_4:.2f}, {std_64:.2f}, {std_512:.2f} at d_k = 4, 64, 512.",
        _scaled_stds, _normalised,
    ),
    _claim(
        41, "B", 6, "With the division, what goes into the softmax stays in a moderate range for any d_k.",
        "Spread {std_64:.2f} at 64 and {std_4096:.2f} at 4096 for independent vectors; with correlation 0.5 the mean "
        "goes from {match_64:.1f} to {match_4096:.1f}.",
        _start_and_after, _only_at_the_start,
    ),
    _claim(
        42, "B", 6, "√d_k is not a free choice: it follows from the mathematics.",
        "0.5/√d_k holds the spread just as steady ({half:.2f} at 64, {half_4096:.2f} at 4096), and the factor can move "
        "into Q without a trace (difference {moved:g}).",
        _not_a_choice,
        lambda v: _judge(_near(v["half"], v["half_4096"]), v["moved"] < 1e-6 and not _near(v["half"], 1)),
    ),
    _claim(
        43, "B", 3, "A table: spread 2, 8, 22.6 at d_k = 4, 64, 512; after division 1 each time.",
        "Measured {raw_4:.2f}, {raw_64:.2f}, {raw_512:.2f}; after division {scaled_4:.2f}, {scaled_64:.2f}, "
        "{scaled_512:.2f}.",
        _table,
        lambda v: _judge(all(_near(v[f"raw_{d}"], np.sqrt(d)) and _near(v[f"scaled_{d}"], 1) for d in _DIMS)),
    ),
    _claim(
        45, "B", 8, "Without the division, attention breaks more and more as models get wider.",
        "As d_k grows, yes: the entropy share {even_64:.2f} at 64, {even_4096:.2f} at 4096. But wider models "
        "get more heads: d_k is {d_k_small:.0f} in GPT-2's smallest model and {d_k_xl:.0f} in the one "
        "that is {widest:.1f} times as wide.",
        _width, lambda v: _judge(v["even_4096"] < v["even_64"], _fixed_heads(v)),
    ),
    _claim(
        46, "B", 6, "Dividing by d_k shrinks scores too much: the weights get nearly equal, none can be sharp.",
        "Unrelated keys, d_k = 512: the entropy share {even_by_d:.3f} against {even_by_root:.3f}. But with "
        "correlation 0.5 the match scores {match_by_d_64:.2f} at 64 and {match_by_d_4096:.2f} at 4096, where "
        "1/√d_k gives {match_by_root_4096:.0f}.",
        _over_d,
        lambda v: _judge(v["even_by_d"] > 0.99 > v["even_by_root"], _near(v["match_by_d_64"], v["match_by_d_4096"])),
    ),
    _claim(
        47, "B", 3, "Dividing by √d_k is the normalisation that gives variance 1 again.",
        "Standard deviation {std_4:.2f}, {std_64:.2f}, {std_512:.2f} at d_k = 4, 64, 512, for independent coordinates "
        "with mean 0.",
        _scaled_stds, _normalised,
    ),
    _claim(
        48, "B", 6, "A learned scale costs parameters, and can start badly.",
        "One per head adds {share_percent:.4f}% in a layer of GPT-2. Started at 1 the loss is {loss_one:.1f}; started "
        "at 1/√d_k it is {loss_fixed:.2f}, the fixed scale's, and learning takes it to {loss_learned:.2f}.",
        _learned,
        lambda v: _judge(
            v["loss_one"] > 2 * v["loss_fixed"], v["share_percent"] < 0.01 and v["loss_learned"] <= v["loss_fixed"]
        ),
    ),
    _claim(
        49, "B", 6, "√d_k is the theoretical optimum.",
        "The best factor c in c/√d_k for a match of correlation 2/√d_k is steady, but not 1: {factor_64:.2f}, "
        "{factor_512:.2f}, {factor_4096:.2f} at 64, 512, 4096. Nothing singles out 1.",
        _optimum,
        not_shown_if(lambda v: _near(v["factor_64"], v["factor_4096"], 0.1) and not _near(v["factor_512"], 1, 0.1)),
    ),
    _claim(
        50, "B", 9, "With the division, dot products stay of order 1.",
        "Their spread is {std:.2f}; the largest of 1000 averages {best:.2f} (√(2 ln n) = {theory:.2f}).",
        _order_one, lambda v: _judge(_near(v["std"], 1), v["best"] > 2),
    ),
    _claim(
        51, "B", 9, "Larger models train worse without the division, and well with it.",
        "No experiment is given. The factor can be in Q's matrix from the start (difference of the scores: {moved:g}), "
        "so its absence from the formula decides nothing: T5 trained up to 11 billion parameters without it.",
        _not_a_choice, not_shown_if(lambda v: v["moved"] < 1e-6),
    ),
    _claim(
        52, "B", 8, "It is a single division.",
        "{on_scores:.0f} divisions on the scores of 128 queries and keys, {in_query:.0f} in the query (d_k = 64): one "
        "operation in the formula, with the same result (difference {moved:g}).",
        _divisions, lambda v: _judge(v["moved"] < 1e-6, v["in_query"] > 1),
    ),
    _claim(
        53, "C", 8, "Attention is softmax(QKᵀ/√d_k) V.",
        "The probe reads {probe_4:g}, {probe_16:g}, {probe_64:g} from the package at d_k = 4, 16, 64.",
        _formula, lambda v: _judge(all(_near(v[f"probe_{d}"], d**-0.5, 1e-6) for d in (4, 16, 64))),
    ),
    _claim(
        55, "C", 9, "The flow: Q meets K, softmax, times V.",
        "That is attention with scale 1 (difference {gap_at_scale_1:g}): the probe reads {probe:g} at d_k = 16 instead "
        "of {meant:g}. The scaling step is missing.",
        _flow, lambda v: _judge(v["gap_at_scale_1"] < 1e-6, not _near(v["probe"], v["meant"])),
    ),
    _claim(
        74, "C", 4, "By the central limit theorem a score has mean about 0 and variance about d_k.",
        "Exact for coins already at d_k = 1, 2, 4: {variance_1:g}, {variance_2:g}, {variance_4:g}, where the shape is "
        "no bell (excess kurtosis {kurtosis_1:g} at 1). The theorem is about the shape: for normal coordinates "
        "{normal_4:.2f} at 4, {normal_64:.2f} at 64.",
        _limit_theorem,
        lambda v: _judge(not (all(abs(v[f"variance_{d}"] - d) < 1e-9 for d in (1, 2, 4)) and abs(v["kurtosis_1"]) > 1)),
    ),
    _claim(
        75, "C", 5, "For that, coordinates need mean 0 and variance 1.",
        "And independence: {independent:.0f} with it, {alike:.0f} if coordinates correlate by 0.5 (d_k = 64).",
        _broken_variances, _only_if_independent,
    ),
    _claim(
        81, "C", 3, "If the scores have variance d_k, then divided by √d_k they have variance 1.",
        "Standard deviation {std_4:.2f}, {std_64:.2f}, {std_512:.2f} at d_k = 4, 64, 512.",
        _scaled_stds, _normalised,
    ),
    _claim(
        82, "C", 2, "The mean of the score is the sum of products of means, which is 0.",
        "{mean_zero:.2f} with means 0; {mean:.1f} with means 0.5 and −1, where the sum of products is {theory:g}.",
        _means_multiply, lambda v: _judge(abs(v["mean_zero"]) < 0.4 and _near(v["mean"], v["theory"])),
    ),
    _claim(
        83, "C", 2, "The variance of the score is the sum of the variances of the products, which is d_k.",
        "Every pair of coin vectors counted: {variance_1:g}, {variance_2:g}, {variance_3:g}, {variance_4:g}, "
        "{variance_5:g}, {variance_6:g} for d_k = 1 to 6. Two steps are left out: independence across coordinates, and "
        "why one product has variance 1.",
        _exact_variances, lambda v: _judge(all(abs(v[f"variance_{d}"] - d) < 1e-9 for d in range(1, 7))),
    ),
    _claim(
        84, "C", 9, "The factor makes gradients stable whatever the embedding dimension is.",
        "For independent vectors the median gradient at the scores is the same at d_k = 64 and 4096 ({alone_64:.2f} "
        "and {alone_4096:.2f}, 16 keys). If one key correlates with the query by 0.5, it falls from {match_64:.2g} to "
        "{match_4096:.2g}.",
        _gradients_at_the_scores,
        lambda v: _judge(_near(v["alone_64"], v["alone_4096"], 0.1), v["match_4096"] < v["match_64"] / 2),
    ),
    _claim(
        85, "C", 3, "A demo with 1000 queries and 1000 keys at d_k = 512 prints about 22.6, and about 1.0 scaled.",
        "{raw:.1f} and {scaled:.2f}. (A million scores of 2000 vectors are not independent.)",
        _demo, lambda v: _judge(_near(v["raw"], 22.6, 0.01) and _near(v["scaled"], 1, 0.01)),
    ),
    _claim(
        112, "C", 8, "An exercise to practise the scaled formula: one query, three keys, values (1,2), (3,4), (5,6).",
        "The answer ({first:.3g}, {second:.3g}) is the same for four different scales (difference {moves:g}), so it "
        "can't tell whether you scaled. With one number of V changed the outputs differ by {mended_moves:.2f}.",
        _blind, lambda v: _judge(_near(v["first"], 3) and _near(v["second"], 4), v["moves"] < 1e-6),
    ),
    _claim(
        114, "C", 7, "A question: why can't scores simply be divided by their maximum?",
        "A negative maximum turns the order round: the best key's weight falls from {best_key:.2f} to "
        "{best_key_divided:.2f}, the worst key's rises to {worst_key_divided:.2f}. A maximum of 0 gives NaN; a "
        "positive one caps the best of 64 keys at {cap:.3f}.",
        _maximum,
        lambda v: _judge(
            v["worst_key_divided"] > v["best_key_divided"] and v["cap"] < 0.05 and v["finite_at_zero"] == 0
        ),
    ),
    _claim(
        118, "D", 5, "If Q and K have mean 0 and variance 1, QKᵀ has variance d_k.",
        "Each entry has, if coordinates are independent: {independent:.0f} at d_k = 64, but {alike:.0f} if coordinates "
        "correlate by 0.5.",
        _broken_variances, _only_if_independent,
    ),
    _claim(
        121, "D", 3, "Scaling by √d_k keeps the variance at 1.",
        "Standard deviation {std_4:.2f}, {std_64:.2f}, {std_512:.2f} at d_k = 4, 64, 512, for independent coordinates "
        "with mean 0.",
        _scaled_stds, _normalised,
    ),
    _claim(
        122, "D", 5, "Var(q·k) = d_k · Var(q) · Var(k).",
        "With means 0: {zero_means:.0f} at d_k = 64. With means 1: {means_1:.0f}, where the formula says {formula:g}.",
        _with_means, lambda v: _judge(_near(v["zero_means"], 64, 0.06), not _near(v["means_1"], 64, 0.06)),
    ),
    _claim(
        141, "E", 9, "Dot products grow with d_k.",
        "From d_k = 4 to 512 their spread grows by {ratio:.1f}: like √d_k ({root:.1f}), not like d_k ({d:g}).",
        _growth, lambda v: _judge(v["ratio"] > 2, _near(v["ratio"], v["root"], 0.05)),
    ),
    _claim(
        142, "E", 8, "d_k is the dimension of one head.",
        "Scores of one of 6 heads in a model of width 96: spread {by_head:.2f} over √16, {by_width:.2f} over √96.",
        _which_d, lambda v: _judge(_near(v["by_head"], 1) and not _near(v["by_width"], 1)),
    ),
    _claim(
        143, "E", 3, "For d_k = 64 divide by 8, for 128 by about 11.3.",
        "√64 = {root_64:g}, √128 = {root_128:.3f}.",
        _divisors, lambda v: _judge(_near(v["root_64"], 8, 1e-9) and abs(v["root_128"] - 11.3) < 0.05),
    ),
)  # fmt: skip
"""In the order of their numbers."""
