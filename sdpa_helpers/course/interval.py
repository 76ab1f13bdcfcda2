"""A measured number with the interval around it, in lessons and in what is said of a class."""

from typing import NamedTuple


class Interval(NamedTuple):
    """A number and the 95% interval around it."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"
