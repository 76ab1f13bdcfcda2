"""The claims that lesson 03 runs: what softmax keeps, where dtypes break it, temperature, and how sharp rows are."""

from collections.abc import Callable
from functools import cache

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.course.claim import Numbers, claims_of
from sdpa_helpers.lessons.softmax import experiments as lesson

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
        "row_fails_float32": _fails(row, "float32"),
        "scaled_row_fails_float32": _fails(row / np.sqrt(64), "float32"),
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
    weights, hundreds = softmax(_ALIVE), np.array([100.0, 200.0, 300.0])
    return {
        "moved_by_maximum": np.abs(softmax(_ALIVE - _ALIVE.max()) - weights).max(),
        "moved_by_temperature": np.abs(softmax(_ALIVE / 4) - weights).max(),
        "rescued": _fails(hundreds, "float32") and not _fails(hundreds / 4, "float32"),
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


CLAIMS = claims_of(
    "03_softmax",
    {
        13: _nearly_one_hot,
        17: _distributions,
        21: _axes,
        34: _one_score_raised,
        35: _miss([35, 2, -10, 1], [1, 0, 0, 0]),
        36: _one_far_ahead,
        44: _saturated,
        62: _pages,
        63: lambda: {"total": _PRINTED.sum()},
        64: _what_the_scale_does,
        76: _miss([1, 2, 3], [0.09, 0.24, 0.67]),
        77: _miss([10, 20, 30], [0, 0, 1]),
        78: _hundreds,
        80: _scale_against_overflow,
        86: _properties_in_floats,
        87: _properties_in_floats,
        88: _properties_in_floats,
        89: _what_the_root_is,
        90: _which_is_sharper,
        111: _any_input,
        113: _miss([0, 0, 10], [0, 0, 1]),
        119: _what_the_scale_does,
        128: _large_and_small,
        130: _which_maximum,
        131: _temperature_as_protection,
        148: _after_dropout,
    },
)
