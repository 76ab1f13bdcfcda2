"""Arguments of a learner's own test cases, as an exercise takes them: lists become arrays, and all of it is small.

What is not as promised raises ValueError with the words for it. Nothing here may take long, whatever comes.
"""

from typing import Any

import numpy as np

MAX_NUMBERS = 60
"""In each array: small ones are read at a glance, and tried with every wrong answer at once."""


def floats(value: Any, name: str, axes: tuple[int, int], largest: float = np.inf) -> np.ndarray:
    """An array of floats with so many axes, at least and at most; integers and lists become one of float64."""
    array = _array(value, name)
    if array.dtype not in (np.float32, np.float64):
        if array.dtype.kind not in "iu":
            raise ValueError(f"`{name}` is no array of numbers")
        array = array.astype(np.float64)
    _shape(array, name, axes)
    if np.isnan(array).any():
        raise ValueError(f"`{name}` holds NaN")
    if not (np.abs(array[np.isfinite(array)]) <= largest).all():
        raise ValueError(f"a number in `{name}` is larger than {largest:g}")
    return array


def finite(value: Any, name: str, axes: tuple[int, int], largest: float = np.inf) -> np.ndarray:
    """The same, without infinities."""
    array = floats(value, name, axes, largest)
    if not np.isfinite(array).all():
        raise ValueError(f"`{name}` is not finite")
    return array


def truth_values(value: Any, name: str, axes: tuple[int, int]) -> np.ndarray:
    """An array of True and False."""
    array = _array(value, name)
    if array.dtype != bool:
        raise ValueError(f"`{name}` has dtype {array.dtype}, not bool")
    _shape(array, name, axes)
    return array


def number(value: Any, name: str, least: float, most: float) -> float:
    """One number between two, as a float."""
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"`{name}` is no number between {least:g} and {most:g}")
    return float(value)


def whole(value: Any, name: str, least: int, most: int) -> int:
    """One whole number between two."""
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"`{name}` is no whole number from {least:,} to {most:,}")
    return value


def so_many(inputs: tuple, *counts: int) -> None:
    """Raise ValueError unless there are so many arguments."""
    if len(inputs) not in counts:
        raise ValueError(f"it takes {' or '.join(map(str, counts))} arguments, and {len(inputs)} are there")


def _array(value: Any, name: str) -> np.ndarray:
    if not isinstance(value, np.ndarray | np.generic | list | tuple | int | float):
        raise ValueError(f"`{name}` is no array")
    try:
        return np.array(value)
    except (ValueError, OverflowError):
        raise ValueError(f"the rows of `{name}` have different lengths") from None


def _shape(array: np.ndarray, name: str, axes: tuple[int, int]) -> None:
    least, most = axes
    if not least <= array.ndim <= most:
        so_many_axes = f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(f"`{name}` needs {so_many_axes} axes, and has {array.ndim}")
    if not 0 < array.size <= MAX_NUMBERS:
        raise ValueError(f"`{name}` needs 1 to {MAX_NUMBERS} numbers, and has {array.size}")
