"""Many inputs for a function, made from those of its exercise's cases: what a right answer should survive.

The domain of an argument is read from the cases: one that is never negative there is never negative here. Rows that
add up to 1 stay so. Everything else is tried: other sizes, lengths of 1, zeros, ties, tiny and huge numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpa_helpers.checking.exercise import Exercise, Inputs, stream
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED

SEEDS = (PUBLIC_SEED, *(f"wide {number}" for number in range(20)))
MAX_NUMBERS = 20_000
"""Larger inputs are left out: they show nothing that smaller ones don't, and take long."""


@dataclass(frozen=True)
class Domain:
    """What the cases show of one argument."""

    floats: bool
    """Arrays of floats that are neither 0 and 1 only, nor shares of 1."""
    shares: bool
    """Rows along some axis add up to 1."""
    lowest: float
    highest: float
    zero: bool
    nan: bool
    infinities: tuple[float, ...]
    axes: tuple[int, ...]
    """The numbers of axes that arrays have."""
    single: bool
    """Whether arrays of float32 come."""

    @property
    def signed(self) -> bool:
        """Whether negative numbers come."""
        return self.lowest < 0

    def like(self, other: "Domain") -> bool:
        """Whether the values of two arguments may be exchanged."""
        shapes = bool(set(self.axes) & set(other.axes)) or self.axes == other.axes
        return shapes and self.shares == other.shares and self.signed == other.signed

    def holds(self, value: Any) -> bool:
        """Whether a number is of the sizes that come. Arrays may be of any that their dtype holds in full."""
        if isinstance(value, np.ndarray):
            small, large = (1e-30, 1e30) if value.dtype != np.float64 else (1e-300, 1e300)
            sizes = np.abs(value[np.isfinite(value) & (value != 0)])
            return bool(((small < sizes) & (sizes < large)).all())
        return self.lowest <= value <= self.highest


def size(inputs: Inputs) -> int:
    """How many numbers inputs hold."""
    return sum(value.size if isinstance(value, np.ndarray) else 1 for value in inputs)


def many_inputs(exercise: Exercise) -> Iterator[tuple[Inputs, Inputs]]:
    """(inputs of a case, what became of them): as they are for many seeds, changed, and changed twice."""
    draws = [_drawn(exercise, seed) for seed in SEEDS]
    yield from ((inputs, inputs) for draw in draws for inputs in draw)
    domains = _domains([inputs for draw in draws for inputs in draw])
    changed = [
        (one, made) for one, other in zip(*draws[:2], strict=True) for made in _all(one, other, domains)
    ]
    yield from changed
    yield from ((base, again) for base, made in changed for again in _shorter(made, (1,)))


def _drawn(exercise: Exercise, seed: str) -> list[Inputs]:
    drawn = [case.make(stream(seed, exercise.name, case.name)) for case in exercise.cases]
    return [inputs for inputs in drawn if size(inputs) <= MAX_NUMBERS]


def _domains(draws: list[Inputs]) -> list[Domain]:
    longest = max(len(inputs) for inputs in draws)
    return [_domain([inputs[i] for inputs in draws if i < len(inputs)]) for i in range(longest)]


def _domain(values: list[Any]) -> Domain:
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    plain = [value for value in values if type(value) in (int, float)]
    numbers = [float(n) for n in plain]
    for array in arrays:
        numbers += array.astype(float).ravel().tolist() if array.dtype.kind in "fiu" else []
    finite = [n for n in numbers if np.isfinite(n)]
    shares = bool(arrays) and all(_axis_of_shares(array) is not None for array in arrays)
    return Domain(
        floats=bool(finite) and not shares and not set(finite) <= {0.0, 1.0},
        shares=shares,
        lowest=min(finite, default=0.0),
        highest=max(finite, default=0.0),
        zero=0.0 in finite,
        nan=any(np.isnan(n) for n in numbers),
        infinities=tuple(sorted({n for n in numbers if np.isinf(n)})),
        axes=tuple(sorted({array.ndim for array in arrays})),
        single=any(array.dtype == np.float32 for array in arrays),
    )


def _axis_of_shares(array: np.ndarray) -> int | None:
    """The axis along which numbers from 0 to 1 add up to 1, the last such; None when there is none."""
    if array.dtype.kind != "f" or not array.size or not (array >= 0).all():
        return None
    for axis in range(-1, -array.ndim - 1, -1):
        if np.allclose(array.sum(axis=axis), 1, atol=1e-3):
            return axis
    return None


# ---- transformations --------------------------------------------------------------------------------------


def _all(base: Inputs, other: Inputs, domains: list[Domain]) -> Iterator[Inputs]:
    """Changes of the inputs of a case; `other` are its inputs for another seed."""
    yield from _shorter(base, (1, 2))
    yield from _longer(base)
    yield from _scaled(base, domains)
    yield from _mirrored(base, domains)
    yield from _more_axes(base, other, domains)
    yield from _other_scalars(base, domains)
    yield from _at_a_number(base, domains)
    for i, value in enumerate(base):
        for made in _other_arrays(value, domains[i]):
            yield (*base[:i], made, *base[i + 1 :])


def _lengths(inputs: Inputs) -> list[int]:
    return sorted({n for value in inputs if isinstance(value, np.ndarray) for n in value.shape})


def _shorter(inputs: Inputs, to: tuple[int, ...]) -> Iterator[Inputs]:
    """Equal lengths in one call are the same axis: cut all of them, and the numbers that count them."""
    for length in _lengths(inputs):
        for n in to:
            if length > n:
                yield tuple(_cut(value, length, n) for value in inputs)
    arrays = [value for value in inputs if isinstance(value, np.ndarray)]
    if arrays and arrays[0].ndim > 2:  # the leading axes, whatever their length
        for axis in range(arrays[0].ndim - 2):
            yield tuple(_first_of(value, axis, arrays[0].ndim) for value in inputs)


def _cut(value: Any, length: int, n: int) -> Any:
    if not isinstance(value, np.ndarray):
        return n if type(value) is int and value == length else value
    index = tuple(slice(n) if size == length else slice(None) for size in value.shape)
    return _same_shares(value, value[index])


def _first_of(value: Any, axis: int, ndim: int) -> Any:
    if not isinstance(value, np.ndarray) or value.ndim != ndim:
        return value
    return np.take(value, [0], axis=axis)


def _longer(inputs: Inputs) -> Iterator[Inputs]:
    for length in _lengths(inputs):
        if length < 2:
            continue
        times = 70 // length + 1
        if size(inputs) * times**2 <= MAX_NUMBERS:
            yield tuple(_repeated(value, length, times) for value in inputs)


def _repeated(value: Any, length: int, times: int) -> Any:
    if not isinstance(value, np.ndarray):
        return times * length if type(value) is int and value == length else value
    grows = 0.5 if _has_size(value) else 0  # what comes late must matter, also to a maximum
    longer = value
    for axis, n in enumerate(value.shape):
        if n == length:
            parts = [
                np.roll(longer, k, axis) * (1 + k * grows) if grows else np.roll(longer, k, axis)
                for k in range(times)
            ]
            longer = np.concatenate(parts, axis=axis)
    return _same_shares(value, longer)


def _same_shares(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Shares add up to 1 again."""
    axis = _axis_of_shares(before)
    if axis is None or after.shape == before.shape:
        return after
    with np.errstate(all="ignore"):
        total = after.sum(axis=axis, keepdims=True)
        return np.where(total > 0, after / total, 1 / after.shape[axis])


def _scaled(inputs: Inputs, domains: list[Domain]) -> Iterator[Inputs]:
    here = [i for i in range(len(inputs)) if domains[i].floats and _has_size(inputs[i])]
    groups = [here, *([i] for i in here if len(here) > 1)]
    for group in groups:
        for factor in (1e-170, 1e-12, 1e-3, 1e3, 1e150, -1.0):
            if factor < 0 and not all(domains[i].signed for i in group):
                continue
            with np.errstate(all="ignore"):
                scaled = tuple(v * factor if i in group else v for i, v in enumerate(inputs))
            if all(domains[i].holds(scaled[i]) for i in group):
                yield scaled


def _has_size(value: Any) -> bool:
    """Whether a value is made of floats that may be larger or smaller; 0 and 1 alone are marks, not numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and not np.isin(value, (0.0, 1.0)).all()
    return type(value) is float


def _mirrored(inputs: Inputs, domains: list[Domain]) -> Iterator[Inputs]:
    for i, a in enumerate(inputs):
        for j, b in enumerate(inputs[:i]):
            if not domains[i].like(domains[j]) or type(a) is not type(b) or isinstance(a, str):
                continue
            swapped = list(inputs)
            swapped[i], swapped[j] = b, a
            yield tuple(swapped)
            if np.shape(a) == np.shape(b):
                yield (*inputs[:i], b, *inputs[i + 1 :])
                yield (*inputs[:j], a, *inputs[j + 1 :])
            if (
                np.shape(a) == np.shape(b)
                and isinstance(a, np.ndarray)
                and _has_size(a)
                and not domains[i].shares
            ):
                for little in (1e-12, 7e-10, 1.5e-9, 5e-8, 1e-5):
                    yield (*inputs[:j], a + little, *inputs[j + 1 :])


def _more_axes(inputs: Inputs, other: Inputs, domains: list[Domain]) -> Iterator[Inputs]:
    """Another leading axis, or one less, where the cases have several numbers of axes."""
    varied = [i for i, v in enumerate(inputs) if isinstance(v, np.ndarray) and len(domains[i].axes) > 1]
    if not varied:
        return
    yield tuple(v[None] if i in varied else v for i, v in enumerate(inputs))
    if all(np.shape(inputs[i]) == np.shape(other[i]) for i in varied):
        yield tuple(np.stack([v, other[i]]) if i in varied else v for i, v in enumerate(inputs))
        yield tuple(np.stack([v, other[i], v])[:, None] if i in varied else v for i, v in enumerate(inputs))
    if all(inputs[i].ndim > domains[i].axes[0] for i in varied):
        yield tuple(v[0] if i in varied else v for i, v in enumerate(inputs))


def _other_scalars(inputs: Inputs, domains: list[Domain]) -> Iterator[Inputs]:
    for i, value in enumerate(inputs):
        others: list[Any] = []
        if type(value) is int:
            low, zero = int(domains[i].lowest), domains[i].zero
            others = [value + 1, value - 1, 2 * value, 1, 0, -1, -2, 97]
            others = [n for n in others if n >= min(low, 1) and (n or zero or low < 0)]
        if type(value) is float:
            numbers = (0.0, 1e-300, 1e-12, 1e-5, 0.1, 1.0, 10.0, 1e5)
            others = [
                n for n in numbers if domains[i].holds(n) and (n or domains[i].zero or domains[i].signed)
            ]
            others += domains[i].infinities
        for other in others:
            yield (*inputs[:i], other, *inputs[i + 1 :])


def _at_a_number(inputs: Inputs, domains: list[Domain]) -> Iterator[Inputs]:
    """Arrays with an entry that equals a number among the arguments: a threshold that is met exactly."""
    for number in (value for value in inputs if type(value) is float):
        for i, value in enumerate(inputs):
            if isinstance(value, np.ndarray) and value.ndim and value.size and domains[i].floats:
                entry = _with(value, np.s_[..., 0], number)
                yield (*inputs[:i], entry, *inputs[i + 1 :])
                yield (*inputs[:i], _with(entry, np.s_[..., 1:], 0.0), *inputs[i + 1 :])


def _other_arrays(value: Any, domain: Domain) -> Iterator[np.ndarray]:
    """An array with zeros, ties, offsets, other precision: one array alone."""
    if not isinstance(value, np.ndarray) or not value.size:
        return
    if value.dtype.kind == "b":
        yield ~value
        yield np.ones_like(value)
        yield np.zeros_like(value)
        yield _with(value, np.s_[..., 0], False)
        yield _with(value, np.s_[0], False)
        return
    if domain.single:
        yield value.astype(np.float32)
    if domain.shares:
        yield np.flip(value)
        return
    if not _has_size(value) and value.dtype.kind == "f":
        yield 1 - value
        yield np.zeros_like(value)
        yield np.ones_like(value)
        return
    if value.ndim and value.shape[-1] > 1:
        yield _with(value, np.s_[..., 1], value[..., 0])
        yield _with(value, np.s_[..., -1], value[..., 0])
    if value.ndim > 1 and value.shape[-2] > 1:
        yield _with(value, np.s_[..., -1, :], value[..., 0, :])
    if value.dtype.kind == "f" and domain.floats:
        yield from _with_special_numbers(value, domain)


def _with_special_numbers(value: np.ndarray, domain: Domain) -> Iterator[np.ndarray]:
    specials = [*domain.infinities, *([np.nan] if domain.nan else [])]
    if domain.zero or domain.signed:
        specials.append(0.0)
    if domain.signed:
        yield np.abs(value)
        yield -np.abs(value)
        for offset in (1000.0, -1000.0, 5000.0, -5000.0):
            yield value + offset
        yield value - np.where(np.isfinite(value), value, -np.inf).max(axis=-1, keepdims=True)
    for special in specials:
        yield np.full_like(value, special)
        for where in (np.s_[..., 0], np.s_[..., -1], np.s_[0], np.s_[-1]):
            yield _with(value, where, special)
        flat = value.copy()
        flat.flat[0] = special
        yield flat


def _with(value: np.ndarray, where: Any, numbers: Any) -> np.ndarray:
    changed = value.copy()
    changed[where] = numbers
    return changed
