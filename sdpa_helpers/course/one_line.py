"""A line of the learner's own in a notebook: what it gives, beside what it should give. No points, nothing kept."""

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.render import Shown, framed, heading


@dataclass(frozen=True)
class LineTask:
    """What a line should give, and what to say once it does."""

    value: Any
    because: str


@dataclass(frozen=True, repr=False)
class OwnLine(Shown):
    """What came of a line."""

    yours: Any
    wanted: LineTask

    @property
    def passed(self) -> bool:
        """Whether it gives what it should, to rounding."""
        yours, right = np.asarray(self.yours), np.asarray(self.wanted.value)
        fits = yours.dtype.kind in "biuf" and yours.shape == right.shape
        return bool(fits and np.allclose(yours, right))

    @property
    def _lines(self) -> tuple[str, str]:
        """The first line, and what stands below it."""
        if self.yours is ...:
            return "Replace the dots, and run the cell again.", ""
        if self.passed:
            return self.wanted.because, ""
        yours, right = np.asarray(self.yours), np.asarray(self.wanted.value)
        if yours.dtype.kind not in "biuf":
            return f"Numbers are wanted here; yours is of type {type(self.yours).__name__}.", ""
        if yours.shape != right.shape:
            return f"Yours has shape {yours.shape}; shape {right.shape} is wanted.", ""
        return "The right shape, and other numbers.", f"yours:\n{_short(yours)}\nwanted:\n{_short(right)}"

    def text(self) -> str:
        """A line, and the numbers where they are wrong."""
        sign = "✓ " if self.passed else ""
        return sign + "\n".join(filter(None, self._lines))

    def html(self) -> str:
        """The same as a card."""
        first, below = self._lines
        sign, state = ("✓", "passed") if self.passed else ("✗", "failed")
        if self.yours is ...:
            sign, state = "○", "not-attempted"
        return styled(
            framed(heading(sign, first) + (f"<pre>{html.escape(below)}</pre>" if below else ""), state)
        )


def _short(array: np.ndarray) -> str:
    return np.array2string(array, precision=2, suppress_small=True, threshold=40)


def line_of(wanted: Mapping[str, Callable[[], LineTask]]) -> Callable[[str, Any], OwnLine]:
    """The function `line` of a notebook that wants these."""

    def line(name: str, yours: Any) -> OwnLine:
        """What your line gives, beside what it should give."""
        return OwnLine(yours, wanted[name]())

    return line
