"""Simpler inputs: from the arguments of a call, others that are smaller or easier to read.

Pure functions that propose; whether a proposal is an input of the exercise, and whether an answer is still wrong for
it, is asked in `shrink`. What holds for an array stays so: its dtype, its layout, read-only or not, rows that add up
to 1, numbers that are not negative.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sdpa_helpers.checking.exercise import Inputs, strided

Place = tuple[int, int]
"""An axis of an argument: (position of the argument, axis counted from the end, −1 for the last)."""

LOW, HIGH = -2, 3
"""Between these lie the integers that a reader can multiply in the head."""


@dataclass(frozen=True)
class Nature:
    """What holds for all numbers of an array, and has to hold for a simpler one too."""

    lowest: float
    """0 where no number is negative, the least number above 0 where all are positive, else −∞."""
    is_zero: bool
    """Nothing but zeros; an array that is more than that stays more."""
    is_increasing: bool
    """Each number of a vector is larger than the one before."""
    sums_to_one: tuple[int, ...]
    """The axes, counted from the end, along which the numbers add up to 1 (or are all 0)."""

    def fits(self, array: np.ndarray) -> bool:
        """Whether all of it holds for another array."""
        if array.dtype.kind not in "fiu":
            return True
        numbers = array[np.isfinite(array)]
        if not (self.is_zero or array.any()) or (numbers.size and numbers.min() < self.lowest):
            return False
        if self.is_increasing and array.ndim == 1 and not (np.diff(array) > 0).all():
            return False
        return all(_adds_up(array, axis) for axis in self.sums_to_one if -axis <= array.ndim)


def nature_of(array: np.ndarray) -> Nature:
    """What holds for the numbers of an array."""
    if array.dtype.kind not in "fiu" or not array.size:
        return Nature(-math.inf, is_zero=True, is_increasing=False, sums_to_one=())
    least = float(array.min())
    lowest = 5e-324 if least > 0 else 0.0 if least == 0 else -math.inf
    increasing = array.ndim == 1 and array.size > 1 and bool((np.diff(array) > 0).all())
    axes = range(-array.ndim, 0) if array.dtype.kind == "f" and least >= 0 else ()
    return Nature(lowest, not array.any(), increasing, tuple(a for a in axes if _adds_up(array, a)))


def limits_of(inputs: Inputs) -> list[tuple[int, int]]:
    """(whole number, array of whole numbers), by position, where no entry of the array is above the number."""
    numbers = [(i, value) for i, value in enumerate(inputs) if type(value) is int]
    arrays = [
        (j, a) for j, a in enumerate(inputs) if isinstance(a, np.ndarray) and a.dtype.kind in "iu" and a.size
    ]
    return [(i, j) for i, value in numbers for j, array in arrays if array.max() <= value]


def numbers_in(inputs: Inputs) -> int:
    """How many numbers a reader of the call has to look at."""
    return sum(value.size if isinstance(value, np.ndarray) else 1 for value in inputs)


def lengths_of(inputs: Inputs) -> list[int]:
    """The lengths of all axes, each once, in the order in which they are met."""
    return list(dict.fromkeys(n for value in inputs if isinstance(value, np.ndarray) for n in value.shape))


# ---- fewer axes, shorter axes --------------------------------------------------------------------------------


def without_the_first_axis(inputs: Inputs) -> Iterator[Inputs]:
    """The arrays with most axes lose the first, all at the same index; not where one of them has no such index."""
    most = max((value.ndim for value in inputs if isinstance(value, np.ndarray)), default=0)
    if most < 2:
        return
    tall = [isinstance(value, np.ndarray) and value.ndim == most for value in inputs]
    lengths = [value.shape[0] for value, is_tall in zip(inputs, tall, strict=True) if is_tall]
    for at in range(min(max(lengths), 4) if min(lengths) else 0):
        yield tuple(
            like(value, value[min(at, len(value) - 1)]) if is_tall else value
            for value, is_tall in zip(inputs, tall, strict=True)
        )


def with_shorter_axes(inputs: Inputs, length: int, to: int, effort: int) -> Iterator[Inputs]:
    """Every axis of this length is cut to `to`: the first, the last, or both ends are kept.

    With effort 1 some of the axes are cut, since lengths coincide by chance: those at the same place from the end. With
    effort 2 one axis alone; and of the others a half is kept, or all but one. A whole number that equals the length is
    cut with it, or left; one below the length (an index, perhaps) stays below.
    """
    places = _places(inputs, length)
    by_axis = [[p for p in places if p[1] == axis] for axis in dict.fromkeys(p[1] for p in places)]
    ends = [range(to), range(length - to, length), [*range(to - 1), length - 1]]
    if effort == 0:
        groups, ways = [places], ends
    elif effort == 1:
        groups, ways = [group for group in by_axis if group != places], ends
    else:
        groups, ways = [[p] for p in places if [p] not in (places, *by_axis)], ends
        yield from _cuts(inputs, length, [places, *by_axis], _longer(length, to))
    yield from _cuts(inputs, length, groups, ways)


def _longer(length: int, to: int) -> list[Sequence[int]]:
    """Where two are not enough: a half is kept, or all but one."""
    halves = [range(length // 2), range(length // 2, length)] if length > 2 * to else []
    without_one = [[i for i in range(length) if i != at] for at in range(length)] if length <= 6 else []
    return [*halves, *without_one]


def _cuts(
    inputs: Inputs, length: int, groups: list[list[Place]], ways: Sequence[Sequence[int]]
) -> Iterator[Inputs]:
    for group in groups:
        for kept in dict.fromkeys(map(tuple, ways)):
            cut = tuple(_below(value, length, len(kept)) for value in _cut(inputs, group, list(kept)))
            if any(type(value) is int and value == length for value in inputs):
                yield tuple(len(kept) if type(value) is int and value == length else value for value in cut)
            yield cut


def _below(value: object, length: int, new_length: int) -> object:
    return min(value, new_length - 1) if type(value) is int and value < length else value


def _places(inputs: Inputs, length: int) -> list[Place]:
    return [
        (i, axis - value.ndim)
        for i, value in enumerate(inputs)
        if isinstance(value, np.ndarray)
        for axis, n in enumerate(value.shape)
        if n == length
    ]


def _cut(inputs: Inputs, places: list[Place], kept: list[int]) -> Inputs:
    cut = list(inputs)
    for i, axis in places:
        shorter = np.take(cut[i], kept, axis=axis)
        cut[i] = like(inputs[i], _with_sums(shorter, nature_of(inputs[i])))
    return tuple(cut)


# ---- rounder numbers -----------------------------------------------------------------------------------------


def with_rounder_numbers(inputs: Inputs) -> Iterator[Inputs]:
    """Arrays of small integers, with zeros and without; of halves, of any integers, of two digits: all, or one."""
    floats = [
        i for i, value in enumerate(inputs) if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    ]
    for chosen in dict.fromkeys([tuple(floats), *((i,) for i in floats)]):
        for rounded in _ROUNDINGS:
            new = tuple(_rounded(value, rounded) if i in chosen else value for i, value in enumerate(inputs))
            if any(not np.array_equal(new[i], inputs[i], equal_nan=True) for i in chosen):
                yield new


def with_rounder_entries(inputs: Inputs) -> Iterator[Inputs]:
    """One number of one array, as a small integer."""
    for i, value in enumerate(inputs):
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.size > 12:
            continue
        for at in np.ndindex(value.shape):
            for rounded in _ROUNDINGS[:2] if np.isfinite(value[at]) else ():
                new = np.array(value)
                new[at] = rounded(value[at])
                if new[at] != value[at]:
                    yield (*inputs[:i], like(value, new), *inputs[i + 1 :])


def with_smaller_numbers(inputs: Inputs) -> Iterator[Inputs]:
    """One plain number at a time: 2, 3 or 1, or half of it; with its sign, 0 stays 0, and up to 1 up to 1."""
    for i, value in enumerate(inputs):
        for smaller in _smaller(value):
            yield (*inputs[:i], smaller, *inputs[i + 1 :])


def _smaller(value: object) -> list[int] | list[float]:
    if type(value) is int and value > 3:
        return list(dict.fromkeys([2, 3, 1, value // 2]))
    if type(value) is float and math.isfinite(value) and value not in (0.0, 0.5, 1.0, 2.0, 3.0, -1.0, -2.0):
        sign = math.copysign(1.0, value)
        sizes = [2.0, 3.0, 1.0, 0.5, float(np.rint(abs(value))), float(_two_digits(np.array(abs(value))))]
        most = 1.0 if abs(value) <= 1 else math.inf  # a correlation, a share
        return [sign * size for size in dict.fromkeys(sizes) if 0 < size <= most and size != abs(value)]
    return []


def _small_integers(numbers: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(numbers), LOW, HIGH)


def _small_and_not_zero(numbers: np.ndarray) -> np.ndarray:
    return np.clip(np.copysign(np.ceil(np.abs(numbers)), numbers), LOW, HIGH)


def _halves(numbers: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(2 * numbers) / 2, LOW, HIGH)


def _two_digits(numbers: np.ndarray) -> np.ndarray:
    flat = [float(f"{number:.1e}") for number in numbers.ravel().tolist()]
    return np.array(flat).reshape(numbers.shape)


_ROUNDINGS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    _small_integers,
    _small_and_not_zero,
    _halves,
    np.rint,
    _two_digits,
)


def _rounded(array: np.ndarray, rounded: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Rounded where it is finite; rows that add up to 1 become quarters that do."""
    nature = nature_of(array)
    if nature.sums_to_one:
        return like(array, _quarters(array, nature.sums_to_one[-1]))
    finite = np.isfinite(array)
    numbers = np.array(array)
    numbers[finite] = rounded(array[finite]) + 0.0  # + 0.0: no −0
    return like(array, numbers)


def _quarters(array: np.ndarray, axis: int) -> np.ndarray:
    rows = np.moveaxis(np.array(array), axis, -1)
    quarters = np.maximum(np.rint(4 * rows), 1.0 * (rows.min() > 0))
    missing = np.where(rows.any(axis=-1), 4 - quarters.sum(axis=-1), 0.0)
    largest = rows.argmax(axis=-1)[..., None]
    np.put_along_axis(quarters, largest, np.take_along_axis(quarters, largest, -1) + missing[..., None], -1)
    return np.moveaxis(quarters / 4, -1, axis)


def like(original: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The numbers as an array of the same dtype and layout as the original, writeable when that is."""
    array = np.array(numbers, dtype=original.dtype, order="C")
    if not original.flags.c_contiguous and array.ndim:
        array = strided(array)
    array.flags.writeable = original.flags.writeable
    return array


def _adds_up(array: np.ndarray, axis: int) -> bool:
    totals = array.sum(axis=axis)
    return bool(np.all(np.isclose(totals, 1.0, atol=1e-5) | (totals == 0)) and np.any(totals))


def _with_sums(array: np.ndarray, nature: Nature) -> np.ndarray:
    """After a cut: rows that added up to 1 do so again."""
    if not nature.sums_to_one:
        return array
    totals = array.sum(axis=nature.sums_to_one[-1], keepdims=True)
    return array / np.where(totals == 0, 1.0, totals)
