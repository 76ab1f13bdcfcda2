"""Calls whose numbers are of any size that their dtype holds; what is right for them, and how far off it may come.

Exponents of query, key, value, mask, scale and of the gradient of the output are drawn at random, but so that scores
are often of a size at which something happens: near 0, near ±30, in the thousands. `expected` computes in longdouble.
Its bounds follow the rounding errors of a computation in the working dtype (float32; float64 for float64), whatever
way it takes:

    score       d_k + 8 roundings of Σ |q k| · |scale|, and some of the score and of the mask beside it
    weight      e^(error of its score), relative to itself; beside that, a weight below FAINT may come out as 0
    sum         as many roundings as it has terms, of the sum of the terms' sizes
    underflow   half of the smallest number there is, at each product. Kernels that put the weights into bfloat16
                multiply in it: processors with instructions for that (AVX512_BF16, AMX) take whatever is below the
                smallest number with all digits, 2^−126, as 0, in what they multiply and in what they add

Where a score is so large that its own rounding says nothing of the weights any more, the output is still an average of
the values that the query sees, and gradients are no larger than such weights can make them. What overflows on the way
is left out: |q · k| before and after it is scaled, sums of |values|, products of gradients (docs/semantic-corners.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from .cases import EPS, to_float64, to_kind

EXPONENTS = {"float16": (-24, 15), "bfloat16": (-133, 127), "float32": (-149, 127), "float64": (-1074, 1023)}
LONG = np.longdouble
HAS_LONG = np.finfo(LONG).eps < np.finfo(np.float64).eps  # not so on every processor
# Weights that may be 0: in float32 because a sum of exp(score) may be as small as e^−30, and a product with a value as
# small as 10^−12 beside it (`small_scores.py`); half precision, where a kernel rounds the weights to it.
FAINT = {"float32": 1e-20, "float64": 1e-280}
SIZES_OF_SCORES = (1e-3, 1.0, 8.0, 27.0, 28.0, 28.5, 29.2, 31.0, 60.0, 95.0, 300.0, 5e3, 1e7)
MASKS = (0.0, 0.0, -1.0, -29.0, -60.0, -95.0, -103.0, 40.0, -1e4, -1e9, -inf)


@dataclass(frozen=True, eq=False)
class Call:
    """Arrays in float64, of numbers that `dtype` holds; a float mask in a dtype of its own."""

    dtype: str
    query: np.ndarray  # (..., n_q, d_k)
    key: np.ndarray
    value: np.ndarray
    grad_output: np.ndarray  # (..., n_q, d_v)
    mask: np.ndarray | None
    is_causal: bool
    scale: float | None

    @property
    def arrays(self) -> list[np.ndarray]:
        return [self.query, self.key, self.value]

    @property
    def working(self) -> str:
        return "float64" if self.dtype == "float64" else "float32"

    @property
    def factor(self) -> float:
        return 1 / sqrt(self.query.shape[-1]) if self.scale is None else self.scale


# Calls -----------------------------------------------------------------------------------------------------


def call(seed: int, dtype: str) -> Call:
    """The call of that number."""
    rng = np.random.default_rng([seed, *dtype.encode()])
    lead = ((), (), (2,))[rng.integers(3)]
    n_q, n_k = (int(rng.choice([1, 3, 7, 20])) for _ in range(2))
    d_k, d_v = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    lowest, highest = EXPONENTS[dtype]
    of_scale = rng.uniform(-1.3, 1.3) * highest if rng.random() < 0.8 else rng.uniform(-1000, 1000)
    of_scale = float(np.clip(of_scale, -1020, 1020))
    scale = _sign(rng) * 2.0**of_scale if rng.random() < 0.4 else None
    of_query = float(rng.uniform(lowest + 8, highest - 3) if rng.random() < 0.5 else rng.uniform(-2, 2))
    log_scale = np.log2(abs(scale)) if scale is not None else -0.5 * np.log2(d_k)
    wanted = np.log2(rng.choice(SIZES_OF_SCORES) / d_k) - log_scale  # of |q k|
    if not lowest + 2 < wanted - of_query < highest - 2:  # rather both halfway
        of_query = wanted / 2
    of_key = np.clip(wanted - of_query, lowest + 2, highest - 3)
    of_query = np.clip(of_query, lowest + 2, highest - 3)
    if rng.random() < 0.6:  # all scores of one sign, and of about one size
        query, key = (1 + 0.02 * rng.standard_normal((*lead, n, d_k)) for n in (n_q, n_k))
        key *= 1.0 if rng.random() < 0.2 else -1.0
    else:
        query, key = (rng.standard_normal((*lead, n, d_k)) for n in (n_q, n_k))
    return Call(
        dtype,
        _held(query * 2.0**of_query, dtype),
        _held(key * 2.0**of_key, dtype),
        _of_any_size(rng, (*lead, n_k, d_v), dtype),
        _of_any_size(rng, (*lead, n_q, d_v), dtype),
        _mask(rng, lead, n_q, n_k, dtype),
        is_causal=rng.random() < 0.3,
        scale=scale,
    )


def _sign(rng: np.random.Generator) -> float:
    return float(rng.choice([-1.0, 1.0]))


def _held(array: np.ndarray, dtype: str) -> np.ndarray:
    """As the dtype holds it."""
    with np.errstate(under="ignore"):
        kind = "torch" if dtype == "bfloat16" else "numpy"
        return to_float64(to_kind(array, kind, dtype))


def _of_any_size(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Columns of a size of their own; some with numbers of every size, some with one sign, some with zeros."""
    lowest, highest = EXPONENTS[dtype]
    columns = shape[-1]
    size = rng.uniform(lowest, highest - 9, columns) if rng.random() < 0.8 else np.zeros(columns)
    size = np.where(rng.random(columns) < 0.3, rng.uniform(lowest, 0.6 * lowest, columns), size)
    spread = rng.choice([0.0, 0.0, 3.0, 40.0, 200.0], columns)
    exponents = np.clip(size + spread * rng.uniform(-0.5, 0.5, shape), lowest, highest - 9)
    array = (1 + rng.random(shape)) * 2.0**exponents
    array *= np.where(rng.random(columns) < 0.5, 1.0, rng.choice([-1.0, 1.0], shape))
    return _held(np.where(rng.random(shape) < rng.choice([0.0, 0.2]), 0.0, array), dtype)


def _mask(
    rng: np.random.Generator, lead: tuple[int, ...], n_q: int, n_k: int, dtype: str
) -> np.ndarray | None:
    shape = ((n_q, n_k), (1, n_k), (*lead, n_q, n_k))[rng.integers(3)]
    kind = rng.choice(["none", "bool", "rows", "numbers"], p=[0.5, 0.1, 0.2, 0.2])
    if kind == "none":
        return None
    if kind == "bool":
        return np.asarray(rng.random(shape) < rng.choice([0.1, 0.6, 0.95]))
    own = str(rng.choice([dtype, "float32", "float64"]))
    own = "float32" if own == "bfloat16" else own
    lowest = float(np.finfo(own).min)
    some = np.array([*MASKS, lowest, lowest / 2])
    if kind == "rows":
        mask = rng.choice(some, (*shape[:-1], 1)) + np.where(rng.random(shape) < 0.2, rng.choice(some), 0.0)
    else:
        mask = rng.choice(some[rng.integers(len(some), size=3)], shape) * rng.choice([1, rng.random()])
    return np.maximum(mask, np.where(mask == -inf, -inf, lowest)).astype(own)


# What is right, and how far off --------------------------------------------------------------------------------


class Near(NamedTuple):
    """Numbers, and how far off each may be: NaN where nothing is said of it."""

    right: np.ndarray
    bound: np.ndarray

    def misses(self, came: np.ndarray) -> np.ndarray:
        """Where `came` is further off."""
        with np.errstate(invalid="ignore"):
            same = came == self.right  # ±∞ too
            return ~np.isnan(self.bound) & ~same & ~(np.abs(came - self.right) <= self.bound)


class Expected(NamedTuple):
    output: Near
    hull: Near  # the output, as an average of the values that are seen: their middle, and half their spread
    lse: Near
    gradients: tuple[Near, Near, Near]


@cache  # the same for every backend
def expected(seed: int, dtype: str, rounds_weights: bool = False) -> Expected:
    """Of the call of that number; rounds_weights: by a kernel that puts them into half precision."""
    with np.errstate(all="ignore"):
        return _expected(call(seed, dtype), rounds_weights)


def _expected(asked: Call, rounds_weights: bool) -> Expected:
    query, key, value, grad = (x.astype(LONG) for x in (*asked.arrays, asked.grad_output))
    scale, working = LONG(asked.factor), np.dtype(asked.working)
    u, least = LONG(EPS[asked.working]), _least(asked, rounds_weights)
    most = LONG(np.finfo(working).max) / 4
    n_k, d_k = key.shape[-2:]
    root = np.sqrt(np.abs(scale))

    # Scores
    sizes = np.abs(query) @ _t(np.abs(key))
    added, seen = _added(asked, sizes.shape)
    scores = scale * (query @ _t(key)) + added
    of_scores = u * ((d_k + 8) * np.abs(scale) * sizes + 6 * np.abs(scores) + 4 * np.abs(added))
    row_sum, column_sum = np.abs(query).sum(-1)[..., None], np.abs(key).sum(-1)[..., None, :]
    of_scores += least * (np.maximum(root, 1) * (row_sum + column_sum) + d_k * (1 + np.abs(scale)))
    fits = (np.abs(scale) * sizes < most) & (np.abs(added) <= np.finfo(working).max)
    if 2.0**-20 <= abs(asked.factor) <= 2.0**20:
        fits &= (sizes < most) & (np.abs(query).max(-1) * np.abs(scale) < most)[..., None]
    else:
        fits &= (row_sum * root < most) & (column_sum * root < most)
    seen_fits = fits.all(-1)  # (..., n_q); a hidden score too: a float mask adds −∞ to it
    empty = ~seen.any(-1)

    # Weights
    largest = np.where(seen, scores, -inf).max(-1, keepdims=True)
    exponentials = np.where(seen, np.exp(scores - np.where(empty[..., None], 0, largest)), 0)
    total = exponentials.sum(-1, keepdims=True)
    weights = exponentials / np.where(total == 0, 1, total)
    of_scores = np.where(seen, of_scores, 0)
    off = np.expm1(np.minimum(of_scores, 50))
    off = off + (weights * off).sum(-1, keepdims=True) + (n_k + 32) * u  # relative
    known = (of_scores.max(-1) < 0.1) & seen_fits
    off = off * 1.3
    faint = LONG(FAINT[asked.working])
    if rounds_weights:
        off, faint = off + 4 * LONG(EPS[asked.dtype]), LONG(2.0**-24 if asked.dtype == "float16" else faint)

    # Output and LSE
    output, value_sizes = weights @ value, np.where(seen, 1, 0).astype(LONG) @ np.abs(value)
    of_output = (off * weights) @ np.abs(value) + u * (n_k + 8) * (weights @ np.abs(value))
    of_output += faint * value_sizes + least * (n_k + 2)
    own = LONG(EPS[asked.dtype]) if asked.dtype != asked.working else LONG(0)
    own_least = LONG(2.0) ** EXPONENTS[asked.dtype][0]
    rounding = own * (np.abs(output) + of_output) + own_least
    sums_fit = (np.abs(value).sum(-2) < most)[..., None, :] & (np.abs(output) < _most(asked.dtype))
    known_output = sums_fit & known[..., None]
    hull = _hull(value, seen)
    slack = u * (n_k + 40) * np.where(seen[..., None], np.abs(value)[..., None, :, :], 0).max(-2)
    slack += rounding + least * (n_k + 2) + (own * 8 * np.abs(hull.right) + faint * value_sizes)
    lse = np.where(empty, -inf, np.where(empty, 0, largest[..., 0] + np.log(total[..., 0])))
    of_lse = of_scores.max(-1) + (n_k + 32) * u + 8 * u * np.abs(lse) + 8 * u * np.abs(largest[..., 0])
    return Expected(
        Near(output, np.where(known_output, of_output + rounding, np.nan)),
        Near(hull.right, np.where(sums_fit & seen_fits[..., None], hull.bound + slack, np.nan)),
        Near(lse, np.where(seen_fits & (empty | (np.abs(lse) < most)), np.where(empty, 0, of_lse), np.nan)),
        _gradients(
            asked,
            (query, key, value, grad),
            Near(weights, off),
            Near(output, of_output + rounding * rounds_weights),
            bool(known_output.all())
            if known.all()
            else None
            if (seen_fits.all() and sums_fit.all())
            else False,
            rounds_weights,
        ),
    )


def _gradients(asked: Call, arrays, of_weights: Near, of_output: Near, known: bool | None, rounds: bool):
    """dS = P ∘ (dP − D) and what comes of it, each with a bound of its own. The weights' is relative.

    known: whether that bound says anything; None: only that they are weights.
    """
    query, key, value, grad = arrays
    weights, off = of_weights
    output, off_output = of_output
    scale = LONG(asked.factor)
    u, least = LONG(EPS[asked.working]), _least(asked, rounds)
    most = LONG(np.finfo(asked.working).max) / 64
    faint = LONG(FAINT[asked.working])
    if rounds and asked.dtype == "float16":
        faint, most = LONG(2.0**-24), LONG(3e4)
    n_q, n_k, d_v = query.shape[-2], *value.shape[-2:]
    root = np.maximum(1, np.sqrt(np.abs(scale)))
    d_weights, sizes = grad @ _t(value), np.abs(grad) @ _t(np.abs(value))
    mean = (grad * output).sum(-1, keepdims=True)
    mean_size = (np.abs(grad) * (weights @ np.abs(value))).sum(-1, keepdims=True)
    of_mean = (np.abs(grad) * off_output).sum(-1, keepdims=True) + u * (d_v + 8) * mean_size
    d_scores = weights * (d_weights - mean)
    of_d_weights = u * (d_v + 8) * (sizes + mean_size) + of_mean + least * (d_v + 4)
    if rounds and asked.dtype == "bfloat16":  # what is below `least` is 0
        of_d_weights += least * (np.abs(grad).sum(-1)[..., None] + np.abs(value).sum(-1)[..., None, :])
    of_d_scores = (off + 8 * u) * weights * (sizes + mean_size) + weights * of_d_weights
    of_d_scores += (faint * (sizes + mean_size) + least) * 2
    d_sizes = sizes + mean_size
    of_d_value = off * weights + faint
    if known is None:
        largest = np.abs(value).max((-1, -2), keepdims=True)
        d_sizes = np.abs(grad).sum(-1, keepdims=True) * largest + 0 * sizes
        of_d_scores, of_d_value = 8 * d_sizes, LONG(2) + 0 * weights
    own = LONG(EPS[asked.dtype]) if asked.dtype != asked.working else LONG(0)
    own_least = LONG(2.0) ** EXPONENTS[asked.dtype][0]
    if rounds:
        of_d_scores += own * (np.abs(d_scores) + of_d_scores) + own_least

    def near(left, of_left, right, factor, terms) -> Near:
        """left @ right · factor."""
        answer = factor * (left @ right)
        sizes = (np.abs(left) + of_left) @ np.abs(right)
        bound = np.abs(factor) * (of_left @ np.abs(right) + u * (terms + 8) * sizes)
        bound += least * (terms + 4) * (root + np.abs(factor) + root * np.abs(right).sum(-2, keepdims=True))
        bound += least * root * (np.abs(left) + of_left).sum(-1, keepdims=True)
        rounded = own * (np.abs(answer) + bound) + own_least
        widest = np.maximum(1, np.abs(factor)) * (np.abs(left) + of_left + 1).max(-1, keepdims=True)
        fits = (widest * np.maximum(1, np.abs(right).max(-2, keepdims=True)) * terms * root < most) & (
            np.abs(answer) + bound < _most(asked.dtype)
        )
        return Near(
            answer, np.where(fits & (known is not False) & (d_sizes.max() < most), bound + rounded, np.nan)
        )

    return (
        near(d_scores, of_d_scores, key, scale, n_k),
        near(_t(d_scores), _t(of_d_scores), query, scale, n_q),
        near(_t(weights), _t(of_d_value), grad, LONG(1), n_q),
    )


def _least(asked: Call, rounds_weights: bool) -> np.longdouble:
    """By how much a product that is too small may come out wrong."""
    least = np.finfo(asked.working)
    return LONG(least.tiny if rounds_weights and asked.dtype == "bfloat16" else least.smallest_subnormal)


def _t(matrices: np.ndarray) -> np.ndarray:
    return matrices.swapaxes(-2, -1)


def _most(dtype: str) -> float:
    return {"float16": 6e4, "bfloat16": 8e37, "float32": 8e37, "float64": 4e307}[dtype]


def _added(asked: Call, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """What is added to the scores, finite where the mask is; and which keys are seen."""
    seen, added = np.ones(shape, bool), np.zeros(shape, LONG)
    if asked.mask is not None and asked.mask.dtype == bool:
        seen &= asked.mask
    elif asked.mask is not None:
        largest = np.finfo(asked.working).max
        seen &= asked.mask != -inf
        added = added + np.clip(np.where(seen, asked.mask, 0).astype(LONG), -LONG(largest), LONG(largest))
    if asked.is_causal:
        seen &= np.tri(*shape[-2:], dtype=bool)
    return added, seen


def _hull(value: np.ndarray, seen: np.ndarray) -> Near:
    """Of the values (..., n_k, d_v) that each query sees the middle and half the spread; 0 and 0 where it sees none."""
    each = np.broadcast_to(value[..., None, :, :], (*seen.shape, value.shape[-1]))
    low = np.where(seen[..., None], each, inf).min(-2)
    high = np.where(seen[..., None], each, -inf).max(-2)
    none = ~seen.any(-1)[..., None]
    low, high = np.where(none, 0, low), np.where(none, 0, high)
    return Near((low + high) / 2, (high - low) / 2)
