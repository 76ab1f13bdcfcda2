"""Corners of attention: NaN, ±∞, rows that see nothing, empty arrays, half precision; and what is right there.

Each corner is one call. Row 130 of 300 is the one with something odd in it: more rows than a vector of any processor
has places, and far from the borders of blocks. `semantic_corners.py` makes the page docs/semantic-corners.md of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import torch

N, D = 300, 8  # rows of queries and of keys, and features
ROW = 130
FEW = 3  # keys: fewer than a vector of any processor has places
FINFO_MIN = float(np.finfo(np.float32).min)
LOWEST_FLOAT64 = float(np.finfo(np.float64).min)


@dataclass(frozen=True)
class Corner:
    """One call, and in words what is special about it."""

    says: str
    query: np.ndarray = field(repr=False)  # (1, 1, n_q, d_k), float32
    key: np.ndarray = field(repr=False)  # (1, 1, n_k, d_k)
    value: np.ndarray = field(repr=False)  # (1, 1, n_k, d_v)
    mask: np.ndarray | None = field(default=None, repr=False)
    is_causal: bool = False
    scale: float | None = None
    dtype: str = "float32"  # that the arrays are put into; a float mask too, unless mask_dtype says otherwise
    mask_dtype: str = ""
    autocast: str = ""  # the dtype of torch.autocast around the call
    gradients: bool = False  # whether the page tells of the gradients too
    unit: float = 1.0  # of what comes out: where that is 10⁻³², a 0 is no rounding

    @property
    def tensors_only(self) -> bool:
        """Whether NumPy has no such call."""
        return bool(self.autocast) or self.dtype == "bfloat16"

    @property
    def computed_in(self) -> str:
        """The dtype that the arrays have on arrival: autocast leaves float64 alone."""
        return self.autocast if self.autocast and self.dtype != "float64" else self.dtype


class Right(NamedTuple):
    """What a corner's arithmetic gives in float64; NaN where that has no answer."""

    output: np.ndarray
    d_query: np.ndarray  # for the gradient `upstream` of the output
    d_key: np.ndarray
    d_value: np.ndarray


def call(says: str, n_q: int = N, n_k: int = N, d_k: int = D, d_v: int = D, **more: Any) -> Corner:
    """A call of ordinary numbers. Feature 0 of queries and keys is positive: ±∞ there is ±∞ in every score."""
    rng = np.random.default_rng(0)
    shapes = [(1, 1, n_q, d_k), (1, 1, n_k, d_k), (1, 1, n_k, d_v)]
    query, key, value = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    for array in (query, key):
        array[..., :1] = np.abs(array[..., :1]) + 0.1
    return Corner(says, query, key, value + 1, **more)


def with_bad(bad: float, where: str, corner: Corner, row: int = ROW) -> Corner:
    """The corner with `bad` in that row: of a value the whole row, of a query or key its feature 0."""
    array = getattr(corner, where).copy()
    array[..., row, slice(None) if where == "value" else 0] = bad
    return replace(corner, **{where: array})


def times(corner: Corner, factor: float) -> Corner:
    """The corner with larger queries and keys."""
    return replace(corner, query=corner.query * np.float32(factor), key=corner.key * np.float32(factor))


def large_values(says: str) -> Corner:
    """Values of some 10³⁶. A backend that divides by the sum of weights at the end adds up 300 of them before."""
    corner = call(says)
    return replace(corner, value=np.abs(corner.value) * np.float32(4e36))


def small_values(says: str, size: float, score: float = 0.0) -> Corner:
    """Values of some `size`. With a score, queries and keys of which all scores are about that."""
    corner = call(says, unit=1 / size)
    corner = replace(corner, value=corner.value * np.float32(size))
    if score:
        side = sqrt(abs(score)) / D**0.25
        query, key = (side * (1 + 0.01 * x) for x in (corner.query, corner.key))
        corner = replace(corner, query=query, key=np.sign(score) * key)
    return corner


def hidden_row(filled_with: float, dtype: type = np.float32) -> np.ndarray:
    """A mask in which query 130 gets `filled_with` for every key, and the others 0."""
    mask = np.zeros((N, N), dtype)
    mask[ROW] = filled_with
    return mask


def hidden_key(filled_with: float, n_k: int = N, row: int = ROW) -> np.ndarray:
    """A mask for all queries: `filled_with` for one key."""
    mask = np.zeros((1, n_k), np.float32)
    mask[:, row] = filled_with
    return mask


def as_boolean(mask: np.ndarray) -> np.ndarray:
    """True where a mask of numbers hides nothing."""
    return mask == 0


def left(filled_with: float) -> np.ndarray:
    """A mask for all queries: `filled_with` for the first three keys."""
    return np.where(np.arange(N) < FEW, np.float32(filled_with), np.float32(0))[None]


def _bad_rows() -> list[Corner]:
    """NaN and ±∞ in a row of the query, of the key and of the value, seen and hidden."""
    hidings: dict[str, dict[str, Any]] = {
        "": {},
        ", is_causal": {"is_causal": True},
        ", hidden by a boolean mask": {"mask": as_boolean(hidden_key(-inf))},
        ", hidden by −∞ in a float mask": {"mask": hidden_key(-inf)},
    }
    found = []
    for where in ("query", "key", "value"):
        for how, options in list(hidings.items())[: 2 if where == "query" else None]:
            for name, bad in {"NaN": nan, "+∞": inf, "−∞": -inf}.items():
                gradients = name == "NaN" and bool(options)
                corner = call(f"{name} in {where} {ROW}{how}", **options, gradients=gradients)
                found.append(with_bad(bad, where, corner))
    few: dict[str, Any] = {"n_q": 5, "n_k": FEW}
    hides: dict[str, Any] = {"mask": as_boolean(hidden_key(-inf, FEW, 1))}
    found.append(with_bad(nan, "query", call(f"NaN in query 1, with {FEW} keys", **few), row=1))
    found.append(with_bad(nan, "key", call(f"NaN in key 1 of {FEW}", **few), row=1))
    hidden = call(f"NaN in key 1 of {FEW}, hidden by a boolean mask", **few, **hides)
    return [*found, with_bad(nan, "key", hidden, row=1)]


def _masks() -> list[Corner]:
    """Rows that may attend to nothing, or to what a finite number hides."""
    row = f"query {ROW} gets"
    found = [
        call(f"{row} False for every key", mask=as_boolean(hidden_row(-inf))),
        call(f"{row} −∞ for every key", mask=hidden_row(-inf)),
        call(f"{row} finfo.min for every key", mask=hidden_row(FINFO_MIN)),
        call(f"{row} −10⁹ for every key", mask=hidden_row(-1e9)),
        call(
            f"{row} float64's finfo.min for every key, in a float64 mask",
            mask=hidden_row(LOWEST_FLOAT64, np.float64),
            mask_dtype="float64",
        ),
        call(
            "padding on the left: finfo.min for the first 3 keys, is_causal",
            mask=left(FINFO_MIN),
            is_causal=True,
        ),
        call("padding on the left: −∞ for the first 3 keys, is_causal", mask=left(-inf), is_causal=True),
        call(f"key {ROW} gets finfo.min", mask=hidden_key(FINFO_MIN)),
    ]
    odd = [call(f"key {ROW} gets {name}", mask=hidden_key(bad)) for name, bad in (("+∞", inf), ("NaN", nan))]
    return [*(replace(corner, gradients=True) for corner in found), *odd]


def _lengths() -> list[Corner]:
    """Empty arrays, and lengths that differ."""
    return [
        call("n_k = 0", n_k=0, gradients=True),
        call("n_q = 0", n_q=0, gradients=True),
        call("d_v = 0", d_v=0),
        call("d_k = 0, scale = 1", d_k=0, scale=1.0),
        call(
            "is_causal, n_q = 100, n_k = 300: query i sees the keys 0 … i",
            n_q=100,
            is_causal=True,
            gradients=True,
        ),
        call("is_causal, n_q = 300, n_k = 100", n_k=100, is_causal=True),
        call(
            "is_causal, n_q = 1, n_k = 300: the query sees key 0 only", n_q=1, is_causal=True, gradients=True
        ),
        call("is_causal and a boolean mask", mask=as_boolean(hidden_key(-inf)), is_causal=True),
    ]


def _sizes() -> list[Corner]:
    """Odd scales, and large scores."""
    return [
        call("scale = 0", scale=0.0, gradients=True),
        call("scale = 0, is_causal", scale=0.0, is_causal=True, gradients=True),
        call("scale = −1", scale=-1.0, gradients=True),
        call("scale = −1, is_causal", scale=-1.0, is_causal=True, gradients=True),
        call("scale = NaN", scale=nan),
        times(call("scores in the thousands"), 30.0),
        times(call("scores of some 10¹²"), 1e6),
        times(call("scores above float32's largest number"), 1e20),
        times(
            call("scale = 10⁻⁵⁰, queries and keys of some 10²⁵", scale=1e-50, unit=1e25, gradients=True), 1e25
        ),
        times(call("scale = 10⁵⁰, queries and keys of some 10⁻²⁵", scale=1e50, gradients=True), 1e-25),
        replace(small_values("values of some 10⁻³², scores near −29", 1e-32, -29.0), gradients=True),
        small_values("values of some 10⁻³⁹, below float32's smallest number with all digits", 1e-39),
        large_values("values whose sum is above float32's largest number, 3.4 · 10³⁸"),
    ]


def _precisions() -> list[Corner]:
    """Half precision, and torch.autocast."""
    least = {"float16": -65504.0, "bfloat16": -3.3895313892515355e38}
    found = [
        call("float16", dtype="float16"),
        times(call("float16, scores above its largest number, 65504", dtype="float16"), 300.0),
        call(
            f"float16, query {ROW} gets its finfo.min for every key",
            dtype="float16",
            mask=hidden_row(least["float16"]),
        ),
        call(
            f"float16, query {ROW} gets float32's finfo.min for every key, in a float32 mask",
            dtype="float16",
            mask=hidden_row(FINFO_MIN),
            mask_dtype="float32",
        ),
        call("bfloat16", dtype="bfloat16"),
        call(
            f"bfloat16, query {ROW} gets its finfo.min for every key",
            dtype="bfloat16",
            mask=hidden_row(least["bfloat16"]),
        ),
        call("float32 under autocast to bfloat16", autocast="bfloat16"),
        call("float64 under autocast to bfloat16", dtype="float64", autocast="bfloat16"),
        call(
            f"float32 under autocast to float16, query {ROW} gets finfo.min for every key",
            autocast="float16",
            mask=hidden_row(FINFO_MIN),
        ),
    ]
    return [replace(corner, gradients=not corner.says.startswith("float16, scores")) for corner in found]


def corners() -> dict[str, list[Corner]]:
    """All of them, under the headings of the page."""
    return {
        "NaN and ±∞ in the arrays": _bad_rows(),
        "Rows that may attend to nothing, and masks of numbers": _masks(),
        "Empty arrays, and lengths that differ": _lengths(),
        "Scale, and large scores": _sizes(),
        "Half precision and autocast": _precisions(),
    }


def upstream(corner: Corner) -> np.ndarray:
    """The gradient of the output: some numbers, other ones in every row."""
    shape = (*corner.query.shape[:-1], corner.value.shape[-1])
    return np.cos(np.arange(np.prod(shape))).reshape(shape)


def rounded(array: np.ndarray, dtype: str) -> np.ndarray:
    """In float64, as the dtype holds it."""
    return torch.tensor(array).to(getattr(torch, dtype)).double().numpy()


def right(corner: Corner) -> Right:
    """What the corner's arithmetic gives, from scores in float32 on in float64; a hidden key counts in nothing.

    A finite mask is added in float32, as every implementation does: beside −10⁹ the score itself is lost.
    """
    query, key, value = (rounded(x, corner.computed_in) for x in (corner.query, corner.key, corner.value))
    scale = corner.scale if corner.scale is not None else 1 / sqrt(max(1, query.shape[-1]))
    scores = query @ key.swapaxes(-2, -1) * scale
    if corner.mask is not None and corner.mask.dtype != bool:
        added = rounded(corner.mask, corner.mask_dtype or corner.computed_in)
        added = np.where(added == -inf, added, np.maximum(added, FINFO_MIN))  # what is finite stays finite
        scores = (scores.astype(np.float32) + added.astype(np.float32)).astype(np.float64)
    seen = scores != -inf
    if corner.mask is not None and corner.mask.dtype == bool:
        seen &= corner.mask
    if corner.is_causal:
        seen &= np.tri(*scores.shape[-2:], dtype=bool)
    weights = _softmax(scores, seen)
    grad_output = upstream(corner)
    grad_weights = np.where(seen, grad_output @ value.swapaxes(-2, -1), 0)
    mean = np.where(seen, weights * grad_weights, 0).sum(-1, keepdims=True)
    grad_scores = np.where(seen, weights * (grad_weights - mean) * scale, 0)
    return Right(
        _product(weights, value),
        _product(grad_scores, key),
        _product(grad_scores.swapaxes(-2, -1), query),
        weights.swapaxes(-2, -1) @ grad_output,
    )


def _softmax(scores: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The weights: 0 where a key is not seen, whatever its score is."""
    largest = np.where(seen, scores, -inf).max(-1, keepdims=True, initial=-inf)
    exponentials = np.where(seen, np.exp(scores - np.where(largest == -inf, 0, largest)), 0)
    total = exponentials.sum(-1, keepdims=True)
    return np.where(seen, exponentials / np.where(total == 0, 1, total), 0)


def _product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left @ right, in which 0 · NaN is 0: what has weight 0 counts in nothing."""
    product = left @ np.where(np.isfinite(right), right, 0)
    for i in np.unique(np.argwhere(~np.isfinite(right))[:, -2]):
        counts = left[..., i, None] != 0
        product += np.where(counts, left[..., i, None] * right[..., i, None, :], 0)
    return product
