"""What a function does, counted as it runs: its operations and its bytes. Exact, and the same on every machine."""

import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray as Array

# Operations -------------------------------------------------------------------------------------------------


class Counted:
    """A number that writes down what is done with it. NumPy computes with it in arrays of dtype object."""

    __array_ufunc__ = None  # NumPy scalars leave the arithmetic to this class
    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Counter):
        self.value, self.tally = value, tally

    def _new(self, name: str, value: float) -> "Counted":
        self.tally[name] += 1
        return Counted(value, self.tally)

    def __mul__(self, other: Any) -> "Counted":
        return self._new("multiply", self.value * _plain(other))

    def __add__(self, other: Any) -> "Counted":
        return self._new("add", self.value + _plain(other))

    def __sub__(self, other: Any) -> "Counted":
        return self._new("add", self.value - _plain(other))

    def __truediv__(self, other: Any) -> "Counted":
        return self._new("divide", self.value / _plain(other))

    def __ge__(self, other: Any) -> bool:
        self.tally["compare"] += 1
        return self.value >= _plain(other)

    def exp(self) -> "Counted":
        return self._new("exp", float(np.exp(self.value)))

    def tanh(self) -> "Counted":
        return self._new("tanh", float(np.tanh(self.value)))

    __radd__, __rmul__, __float__ = __add__, __mul__, lambda self: float(self.value)


def _plain(number: Any) -> float:
    return number.value if isinstance(number, Counted) else number


def count_operations(function: Callable, *arrays: Array) -> tuple[Array, Counter]:
    """Run `function` on arrays of counting numbers: its result, and how often each operation happened."""
    tally: Counter = Counter()
    counting = np.vectorize(lambda value: Counted(float(value), tally), otypes=[object])
    result = function(*(counting(array) for array in arrays))
    return result.astype(float), tally


# Memory -----------------------------------------------------------------------------------------------------


def peak_bytes(function: Callable, *arguments: Any) -> int:
    """The most memory that `function` held at once, beyond its arguments: tracemalloc's count.

    NumPy reports each array to tracemalloc, so the number is exact and the same on every machine. Memory that
    other libraries take (torch, a BLAS library's work space) is invisible to it.
    """
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        function(*arguments)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
