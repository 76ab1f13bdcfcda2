"""The claims that lesson 03 runs: what softmax keeps, where dtypes break it, temperature, and how sharp rows are."""

from collections.abc import Callable
from functools import cache

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.course.claim import Claim, Numbers, Verdict, holds, right_if
from sdpa_helpers.lessons.softmax import experiments as lesson

_LESSON = "03_softmax"
_ALIVE = np.array([0.0, 1.0, 0.0, 0.0, 2.0])  # the lesson's row of scores
_PAGES, _PRINTED = np.array([0.92, 0.15, 0.78, 0.45]), np.array([0.52, 0.03, 0.35, 0.10])


# What softmax keeps ------------------------------------------------------------------------------------------


@cache
def _rows() -> np.ndarray:
    """A thousand rows of seven finite scores, from nearly equal to hundreds apart, around 0 and around ±1000."""
    rng = np.random.default_rng(3)
    size, level = 10.0 ** rng.uniform(-2, 2, (1000, 1)), rng.choice([-1000.0, 0.0, 1000.0], (1000, 1))
    return level + size * rng.standard_normal((1000, 7))


def _log_weights(x: np.ndarray) -> np.ndarray:
    """Logarithms of softmax: finite wherever the weight, as a real number, is positive."""
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def _distributions() -> Numbers:
    rows = _rows()
    weights = softmax(rows)
    valid = (weights >= 0).all(axis=-1) & (np.abs(weights.sum(axis=-1) - 1) < 1e-12)
    step = 1e-5 * np.eye(7)  # slopes: differences on both sides against w_i (δ_ij − w_j)
    slopes = (softmax(rows[:, None] + step) - softmax(rows[:, None] - step)) / 2e-5
    formula = weights[:, None, :] * (np.eye(7) - weights[:, :, None])
    smooth = (np.abs(slopes - formula) < 1e-4).all(axis=(-1, -2))
    hidden = lesson.softmax_in(np.full(5, -np.inf), "float64")
    return {
        "rows": len(rows),
        "valid": valid.sum(),
        "smooth": smooth.sum(),
        "nan_without_a_finite_score": float(np.isnan(hidden).all()),
    }


def _properties_in_floats() -> Numbers:
    logs, rows = _log_weights(_rows()), _rows()
    order = rows.argsort(axis=-1)
    single = softmax(np.array([0, 200], dtype=np.float32))
    close = softmax(np.array([0, 1e-9], dtype=np.float32))
    sums = lesson.softmax_in(rows, "float32").sum(axis=-1)
    many = softmax(np.random.default_rng(0).standard_normal(4096))
    return {
        "rows": len(rows),
        "positive": np.isfinite(logs).all(axis=-1).sum(),
        "in_order": (np.diff(np.take_along_axis(logs, order, -1), axis=-1) > 0).all(axis=-1).sum(),
        "zeros_in_float32": (single == 0).sum(),
        "tied_in_float32": close[0] == close[1],
        "float32_off": np.abs(sums - 1).max(),
        "float16_off": abs(lesson.rounded(many, "float16").sum() - 1),
    }


def _any_input() -> Numbers:
    finite, infinite = _rows(), [np.full(5, -np.inf), np.array([0.0, np.inf]), np.full(3, np.inf)]
    sums = [lesson.softmax_in(row, "float64").sum() for row in infinite]
    return {
        "finite": len(finite),
        "finite_to_one": (np.abs(softmax(finite).sum(axis=-1) - 1) < 1e-12).sum(),
        "infinite": len(infinite),
        "infinite_to_one": sum(abs(total - 1) < 1e-12 for total in sums),
    }


def _axes() -> Numbers:
    rng = np.random.default_rng(4)
    over_keys, over_queries = 0.0, np.inf
    for shape in ((3, 5), (2, 4, 6), (2, 3, 5, 7)):
        scores = rng.standard_normal(shape)
        over_keys = max(over_keys, np.abs(softmax(scores).sum(axis=-1) - 1).max())
        over_queries = min(over_queries, np.abs(softmax(scores, axis=-2).sum(axis=-1) - 1).max())
    return {"over_keys": over_keys, "over_queries": over_queries, **_after_dropout()}


@cache
def _after_dropout() -> Numbers:
    weights = softmax(lesson.random_scores(512, 16, scaled=True))
    sums = lesson.dropped_row_sums(weights)
    return {
        "rows": len(weights),
        "within": ((weights >= 0) & (weights <= 1)).all(axis=-1).sum(),
        "to_one": (np.abs(weights.sum(axis=-1) - 1) < 1e-12).sum(),
        "dropout_mean": sums.mean(),
        "dropout_sd": sums.std(),
        "empty_row": softmax(np.full(5, -np.inf)).sum(),
    }


def _one_score_raised() -> Numbers:
    raised = _ALIVE + np.array([0, 0, 0, 0, 1])
    return {
        "weights": len(_ALIVE),
        "changed": (np.abs(softmax(raised) - softmax(_ALIVE)) > 1e-3).sum(),
    }


def _miss(row: list[float], printed: list[float]) -> Callable[[], Numbers]:
    """How far softmax of a row is from printed weights, which may be rounded to the last digit shown."""

    def compute() -> Numbers:
        weights = softmax(np.array(row, dtype=float))
        named = {f"w{i + 1}": w for i, w in enumerate(weights)}
        return {**named, "miss": np.abs(weights - printed).max()}

    return compute


# Which dtype breaks where ------------------------------------------------------------------------------------


def _fails(row: np.ndarray, dtype: str, subtract: str = "nothing") -> bool:
    return bool(np.isnan(lesson.softmax_in(row, dtype, subtract)).any())


def _hundreds() -> Numbers:
    row = np.array([100.0, 200.0, 300.0])
    return {
        "dtypes": len(lesson.DTYPES),
        "plain_fails": sum(_fails(row, dtype) for dtype in lesson.DTYPES),
        "shifted_fails": sum(_fails(row, dtype, "row maximum") for dtype in lesson.DTYPES),
        "plain_float64_fails": _fails(row, "float64"),
    }


def _scale_against_overflow() -> Numbers:
    raw = 128 * 256.0 * 256.0  # q·k for 128 coordinates of 256 each
    row = np.array([100.0, 200.0, 300.0])
    return {
        "raw": raw,
        "scaled": raw / np.sqrt(128),
        "largest_float16": float(np.finfo(np.float16).max),
        "scaled_row_fails": _fails(row / np.sqrt(64), "float16"),
        "shifted_row_fails": _fails(row, "float16", "row maximum"),
    }


def _large_and_small() -> Numbers:
    rows = [np.array([200.0, 201.0]), np.array([-200.0, -201.0])]
    plain = sum(_fails(row, "float32") for row in rows)
    return {
        "plain_fails": plain,
        "shifted_fails": sum(_fails(row, "float32", "row maximum") for row in rows),
    }


def _which_maximum() -> Numbers:
    rows = np.array([[0.0, 1.0], [200.0, 201.0]])

    def lost(dtype: str, subtract: str) -> int:
        return int(np.isnan(lesson.softmax_in(rows, dtype, subtract)).any(axis=-1).sum())

    return {
        "rows": len(rows),
        "lost_by_row_maximum": lost("float32", "row maximum"),
        "lost_by_global_maximum": lost("float32", "global maximum"),
        "lost_in_float64": lost("float64", "global maximum"),
    }


# Temperature -------------------------------------------------------------------------------------------------


def _one_far_ahead() -> Numbers:
    return {
        "as_it_is": softmax(_ALIVE).max(),
        "times_10": softmax(10 * _ALIVE).max(),
        "times_100": softmax(100 * _ALIVE).max(),
        "tie": softmax(np.array([1e9, 1e9, 0.0])).max(),
    }


def _what_the_root_is() -> Numbers:
    by_attention = softmax(_ALIVE / np.sqrt(64))
    as_temperature, as_inverse = lesson.with_temperature(_ALIVE, np.array([8.0, 1 / 8]))
    return {
        "as_temperature": np.abs(as_temperature - by_attention).max(),
        "as_inverse_temperature": np.abs(as_inverse - by_attention).max(),
    }


def _which_is_sharper() -> Numbers:
    low, high = lesson.with_temperature(_ALIVE, np.array([0.5, 2.0])).max(axis=-1)
    return {
        "low_temperature": low,
        "high_temperature": high,
        "divided_by_root_16": softmax(10 * _ALIVE / np.sqrt(16)).max(),
        "divided_by_root_64": softmax(10 * _ALIVE / np.sqrt(64)).max(),
    }


def _temperature_as_protection() -> Numbers:
    weights = softmax(_ALIVE)
    return {
        "moved_by_maximum": np.abs(softmax(_ALIVE - _ALIVE.max()) - weights).max(),
        "moved_by_temperature": np.abs(softmax(_ALIVE / 4) - weights).max(),
        "still_fails": _fails((1000 + _ALIVE) / 4, "float32"),
    }


def _pages() -> Numbers:
    plain, fit = softmax(_PAGES), lesson.best_fit(_PAGES, _PRINTED)
    inverse = list(lesson.implied_inverse_temperatures(_PAGES, _PRINTED).values())
    return {
        **{f"page{i + 1}": 100 * w for i, w in enumerate(plain)},
        "miss": 100 * np.abs(plain - _PRINTED).max(),
        "most_for_page3": 100 * lesson.most_it_can_get(_PAGES)[2],
        "smallest_inverse": min(inverse),
        "largest_inverse": max(inverse),
        "fit_inverse": round(fit.inverse_temperature, 4),
    }


# How sharp a row is ------------------------------------------------------------------------------------------


@cache
def _sharpness(d_k: int, n_k: int, scaled: bool, size: float = 1.0) -> lesson.Sharpness:
    rows = 20000 if n_k <= 128 else 4000
    return lesson.sharpness(lesson.random_scores(d_k, n_k, rows, scaled=scaled, size=size))


@cache
def _nearly_one_hot() -> Numbers:
    def share(d_k: int, n_k: int) -> float:
        return float((_sharpness(d_k, n_k, False).largest > 0.99).mean())

    in_float32 = lesson.softmax_in(lesson.random_scores(512, 128, 4000, scaled=False), "float32")
    return {
        "d64_n128": share(64, 128),
        "median_d64_n128": np.median(_sharpness(64, 128, False).largest),
        "d512_n4": share(512, 4),
        "d512_n128": share(512, 128),
        "d512_n512": share(512, 512),
        "exactly_one": (in_float32.max(axis=-1) == 1).mean(),
    }


@cache
def _what_the_scale_does() -> Numbers:
    def median(d_k: int, scaled: bool, size: float = 1.0) -> float:
        return float(np.median(_sharpness(d_k, 128, scaled, size).largest))

    return {
        "unscaled_64": median(64, False),
        "unscaled_1024": median(1024, False),
        "scaled_64": median(64, True),
        "scaled_1024": median(1024, True),
        "scaled_three_times_as_large": median(64, True, 3.0),
    }


def _saturated() -> Numbers:
    return {
        "unscaled": _sharpness(512, 16, False).entropy_share.mean(),
        "scaled": _sharpness(512, 16, True).entropy_share.mean(),
    }


_reduces_not_prevents = holds(
    lambda v: v["scaled_64"] < v["unscaled_64"], lambda v: v["scaled_three_times_as_large"] < 0.5
)
_scale_protects = right_if(
    lambda v: v["scaled"] <= v["largest_float16"] and v["scaled_row_fails"] <= v["shifted_row_fails"]
)
_always_one_hot = holds(lambda v: v["d512_n4"] > 0.5, lambda v: min(v["d64_n128"], v["d512_n512"]) > 0.95)
_rows_sum_to_one = right_if(lambda v: v["over_keys"] < 1e-12 and v["over_queries"] > 0.1)


def _claim(
    number: int,
    article: str,
    says: str,
    heading: str,
    finding: str,
    compute: Callable[[], Numbers],
    decide: Callable[[Numbers], Verdict],
    relative: float = 1e-6,
) -> Claim:
    where = f"{_LESSON}, {heading}"
    return Claim(number, article, says, where, finding, compute, decide, relative=relative)


CLAIMS = (
    _claim(
        13,
        "A",
        "Without the scale softmax saturates: one weight rounds to 1 and the rest to 0.",
        "How sharp is a row?",
        "In some rows. d_k = 512, not scaled: the largest weight exceeds 0.99 in {d512_n4:.0%} of rows with 4 keys, "
        "{d512_n128:.0%} with 128, {d512_n512:.0%} with 512; it is exactly 1 in float32 in {exactly_one:.0%} "
        "with 128.",
        _nearly_one_hot,
        _always_one_hot,
    ),
    _claim(
        17,
        "A",
        "Softmax makes a valid and differentiable probability distribution of any scores.",
        "What is always true",
        "{valid:.0f} of {rows:.0f} finite rows give one, and {smooth:.0f} have the slopes of the formula. A "
        "hole: of one row of −∞ throughout the formula makes {nan_without_a_finite_score:.0f} row of NaN.",
        _distributions,
        holds(
            lambda v: v["valid"] == v["smooth"] == v["rows"] > 0,
            lambda v: v["nan_without_a_finite_score"] == 0,
        ),
    ),
    _claim(
        21,
        "A",
        "Softmax runs over the keys, so that each query's weights sum to 1.",
        "Scores in, weights out",
        "Over the keys rows sum to 1 within 1e-12 (in three shapes); over the queries some row is off by "
        "{over_queries:.2f} or more. After dropout with p = 0.1 row sums have standard deviation {dropout_sd:.2f}.",
        _axes,
        _rows_sum_to_one,
    ),
    _claim(
        27,
        "B",
        "Without √d_k the outputs of softmax are near 0 or 1 everywhere.",
        "How sharp is a row?",
        "Not everywhere: with 128 keys the largest weight exceeds 0.99 in {d64_n128:.0%} of rows at d_k = 64 (median "
        "{median_d64_n128:.2f}) and in {d512_n128:.0%} at d_k = 512.",
        _nearly_one_hot,
        _always_one_hot,
    ),
    _claim(
        34,
        "B",
        "Softmax is written as a function of one score x_i.",
        "Scores in, weights out",
        "It needs the whole row: raising one score changes {changed:.0f} of {weights:.0f} weights. Write "
        "softmax(x)_i.",
        _one_score_raised,
        holds(lambda v: v["changed"] >= 1, lambda v: v["changed"] == 1),
    ),
    _claim(
        35,
        "B",
        "Softmax of (35, 2, −10, 1) is about (1, 0, 0, 0).",
        "Deeper: gaps, and what floats make of all this",
        "The others get {w2:.1e}, {w3:.1e} and {w4:.1e}.",
        _miss([35, 2, -10, 1], [1, 0, 0, 0]),
        right_if(lambda v: v["miss"] < 0.005),
        1e-5,
    ),
    _claim(
        36,
        "B",
        "With large scores softmax turns into a hard argmax.",
        "Temperature",
        "In the limit: the largest weight is {as_it_is:.2f}, for ten times the scores {times_10:.5f}, for a "
        "hundred times {times_100:.5f}. Equal largest scores share, however large: {tie:.1f} each.",
        _one_far_ahead,
        right_if(lambda v: v["as_it_is"] < v["times_10"] <= v["times_100"] and v["times_100"] > 0.99999),
    ),
    _claim(
        44,
        "B",
        "At d_k = 512 softmax is saturated without the scale and smooth with it.",
        "More claims, checked",
        "Entropy ÷ ln n with 16 keys, mean over rows: {unscaled:.2f} without, {scaled:.2f} with the scale.",
        _saturated,
        right_if(lambda v: v["unscaled"] < 0.1 and v["scaled"] > 0.5),
    ),
    _claim(
        62,
        "C",
        "Four pages with scores 0.92, 0.15, 0.78 and 0.45 get the weights 52%, 3%, 35% and 10%.",
        "Deeper: four pages",
        "Softmax gives {page1:.1f}%, {page2:.1f}%, {page3:.1f}% and {page4:.1f}%. No temperature helps: page 3 "
        "never gets more than {most_for_page3:.1f}%, and the pairs ask for 1/T from {smallest_inverse:.2f} to "
        "{largest_inverse:.2f} (nearest: {fit_inverse:.2f}).",
        _pages,
        holds(lambda v: v["most_for_page3"] >= 34.5, lambda v: v["miss"] <= 0.5),
        1e-4,
    ),
    _claim(
        63,
        "C",
        "The four printed weights of the pages sum to 1.",
        "Deeper: four pages",
        "They do: {total:.2f}. So do many rows that are no softmax.",
        lambda: {"total": _PRINTED.sum()},
        right_if(lambda v: abs(v["total"] - 1) < 1e-9),
    ),
    _claim(
        64,
        "C",
        "The factor √d_k prevents extreme softmax outputs.",
        "How sharp is a row?",
        "It makes them rarer: the median largest weight (d_k = 64, 128 keys) falls from {unscaled_64:.2f} to "
        "{scaled_64:.2f}. With coordinates three times as large it is {scaled_three_times_as_large:.2f}, scaled.",
        _what_the_scale_does,
        _reduces_not_prevents,
    ),
    _claim(
        76,
        "C",
        "Softmax of (1, 2, 3) is about (0.09, 0.24, 0.67).",
        "Deeper: gaps, and what floats make of all this",
        "{w1:.4f}, {w2:.4f}, {w3:.4f}.",
        _miss([1, 2, 3], [0.09, 0.24, 0.67]),
        right_if(lambda v: v["miss"] <= 0.005),
    ),
    _claim(
        77,
        "C",
        "Softmax of (10, 20, 30) is about (0, 0, 1).",
        "Deeper: gaps, and what floats make of all this",
        "{w1:.1e}, {w2:.1e}, {w3:.5f}.",
        _miss([10, 20, 30], [0, 0, 1]),
        right_if(lambda v: v["miss"] <= 0.005),
    ),
    _claim(
        78,
        "C",
        "Softmax of (100, 200, 300) overflows.",
        "Subtract the row's maximum",
        "With the row's maximum subtracted it fails in {shifted_fails:.0f} of {dtypes:.0f} dtypes. The formula "
        "as it stands fails in {plain_fails:.0f} (float16, bfloat16, float32), not in float64.",
        _hundreds,
        holds(
            lambda v: v["plain_fails"] > 0, lambda v: v["shifted_fails"] == v["plain_fails"] == v["dtypes"]
        ),
    ),
    _claim(
        80,
        "C",
        "Overflow of the exponential is a reason to divide by √d_k.",
        "Subtract the row's maximum",
        "The scale does not prevent it: a query and a key of 128 coordinates of 256 score {raw:.0f}, scaled "
        "{scaled:.0f}, and float16 overflows above {largest_float16:.0f}. In float16 the row (100, 200, 300)/8 fails "
        "too; with its maximum subtracted it does not.",
        _scale_against_overflow,
        _scale_protects,
    ),
    _claim(
        86,
        "C",
        "All outputs of softmax are positive.",
        "Deeper: gaps, and what floats make of all this",
        "As real numbers, in {positive:.0f} of {rows:.0f} rows. In float32 softmax of (0, 200) has "
        "{zeros_in_float32:.0f} weight that is exactly 0.",
        _properties_in_floats,
        holds(lambda v: v["positive"] == v["rows"] > 0, lambda v: v["zeros_in_float32"] == 0),
        1e-3,
    ),
    _claim(
        87,
        "C",
        "The outputs of softmax sum to 1.",
        "Deeper: gaps, and what floats make of all this",
        "Up to rounding: off by at most {float32_off:.0e} in float32 over {rows:.0f} rows, by {float16_off:.0e} "
        "for 4096 weights stored in float16.",
        _properties_in_floats,
        right_if(lambda v: v["float32_off"] < 1e-6 and v["float16_off"] < 1e-4),
        1e-3,
    ),
    _claim(
        88,
        "C",
        "A larger score always has a larger weight.",
        "Deeper: gaps, and what floats make of all this",
        "As real numbers, in {in_order:.0f} of {rows:.0f} rows. In float32 the scores 0 and 1e-9 get the same weight "
        "({tied_in_float32:.0f} of 1).",
        _properties_in_floats,
        holds(lambda v: v["in_order"] == v["rows"] > 0, lambda v: v["tied_in_float32"] == 0),
        1e-3,
    ),
    _claim(
        89,
        "C",
        "The factor √d_k acts like an inverse temperature.",
        "Temperature",
        "It is the temperature. At d_k = 64, attention's weights differ from softmax(x/T) by "
        "{as_temperature:.2f} for T = 8 and by {as_inverse_temperature:.2f} for T = 1/8.",
        _what_the_root_is,
        right_if(lambda v: v["as_inverse_temperature"] < 1e-9),
    ),
    _claim(
        90,
        "C",
        "A lower temperature, that is more scaling, is sharper; a higher one, less scaling, is softer.",
        "Temperature",
        "Lower is sharper: {low_temperature:.2f} at T = 0.5, {high_temperature:.2f} at T = 2. But more scaling "
        "means a larger divisor, and that is softer: {divided_by_root_16:.2f} for √16, {divided_by_root_64:.2f} "
        "for √64.",
        _which_is_sharper,
        holds(
            lambda v: v["low_temperature"] > v["high_temperature"],
            lambda v: v["divided_by_root_64"] > v["divided_by_root_16"],
        ),
    ),
    _claim(
        111,
        "C",
        "Softmax sums to 1 for any input vector.",
        "What is always true",
        "For any finite one: {finite_to_one:.0f} of {finite:.0f}. Of {infinite:.0f} rows that are −∞ throughout "
        "or hold +∞, {infinite_to_one:.0f} do: the formula gives NaN.",
        _any_input,
        holds(
            lambda v: v["finite_to_one"] == v["finite"] > 0, lambda v: v["infinite_to_one"] == v["infinite"]
        ),
    ),
    _claim(
        113,
        "C",
        "If one score is far ahead, as in (0, 0, 10), it takes nearly all the weight (posed as a question).",
        "Deeper: gaps, and what floats make of all this",
        "It gets {w3:.5f}, the others {w1:.1e} each.",
        _miss([0, 0, 10], [0, 0, 1]),
        right_if(lambda v: v["miss"] < 0.005),
    ),
    _claim(
        117,
        "D",
        "Softmax is taken along the last axis of the scores.",
        "Scores in, weights out",
        "Then rows sum to 1 (off by less than 1e-12); along the other axis some row is off by {over_queries:.2f} "
        "or more.",
        _axes,
        _rows_sum_to_one,
    ),
    _claim(
        119,
        "D",
        "Without the scale large dot products push softmax into saturation.",
        "How sharp is a row?",
        "The median largest weight with 128 keys goes from {unscaled_64:.2f} at d_k = 64 to {unscaled_1024:.4f} "
        "at 1024; scaled it stays at {scaled_64:.2f} and {scaled_1024:.2f}.",
        _what_the_scale_does,
        right_if(lambda v: v["unscaled_64"] < v["unscaled_1024"] > 0.99 and v["scaled_1024"] < 0.2),
    ),
    _claim(
        128,
        "D",
        "For very large or very small scores softmax can overflow.",
        "Deeper: which dtype breaks where",
        "Only the formula as it stands. Of the rows (200, 201) and (−200, −201) it loses {plain_fails:.0f} in "
        "float32, the second by 0/0; with the row's maximum subtracted {shifted_fails:.0f}.",
        _large_and_small,
        holds(lambda v: v["plain_fails"] > 0, lambda v: v["shifted_fails"] > 0),
    ),
    _claim(
        129,
        "D",
        "Dividing by √d_k is a measure against overflow.",
        "Subtract the row's maximum",
        "Scaled scores overflow too: {scaled:.0f} where float16 overflows above {largest_float16:.0f}. Subtracting the "
        "row's maximum prevents it.",
        _scale_against_overflow,
        _scale_protects,
    ),
    _claim(
        130,
        "D",
        "Subtracting the maximum of the scores prevents overflow.",
        "Subtract the row's maximum",
        "Each row's own. In float32 the rows (0, 1) and (200, 201) lose {lost_by_row_maximum:.0f} of {rows:.0f} "
        "with it, and {lost_by_global_maximum:.0f} with the maximum of all scores; in float64 "
        "{lost_in_float64:.0f}, since e^−200 is a number there.",
        _which_maximum,
        holds(lambda v: v["lost_by_row_maximum"] == 0, lambda v: v["lost_by_global_maximum"] == 0),
    ),
    _claim(
        131,
        "D",
        "Dividing by a temperature is a measure for numerical stability.",
        "Deeper: as sharp as you like, and what temperature can't fix",
        "It is another function: T = 4 moves a weight by {moved_by_temperature:.2f}, subtracting the maximum by "
        "{moved_by_maximum:.2f}. And scores near 1000 still fail in float32 at T = 4.",
        _temperature_as_protection,
        right_if(lambda v: v["moved_by_temperature"] < 1e-9 and v["still_fails"] == 0),
    ),
    _claim(
        148,
        "E",
        "Weights lie between 0 and 1, and rows sum to 1.",
        "More claims, checked",
        "In {within:.0f} and {to_one:.0f} of {rows:.0f} rows. After dropout only on average ({dropout_mean:.2f}, "
        "standard deviation {dropout_sd:.2f}), and a row with nothing to attend to sums to {empty_row:.0f} here.",
        _after_dropout,
        holds(lambda v: v["within"] == v["to_one"] == v["rows"] > 0, lambda v: v["empty_row"] == 1),
    ),
    _claim(
        163,
        "E",
        "Dividing by √d_k prevents the saturation of softmax.",
        "How sharp is a row?",
        "At the start, for coordinates of size 1: the median largest weight is {scaled_64:.2f}, not "
        "{unscaled_64:.2f}. A model can still saturate: {scaled_three_times_as_large:.2f} with coordinates three "
        "times as large.",
        _what_the_scale_does,
        _reduces_not_prevents,
    ),
)
