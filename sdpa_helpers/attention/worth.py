"""From which size on a backend is worth its trouble, for backend="auto": its overhead, and its first call.

A backend that compiles is slow in the first call of its kind in a process, when its machine code has to be loaded, and
very slow in the first call on a machine, when that has to be made. `benchmarks/auto_choice.py` measures all this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sdpa_helpers.attention import machine

if TYPE_CHECKING:
    from sdpa_helpers.attention.call_facts import Call


class Worth(NamedTuple):
    """Scores, of all heads together, from which a backend is taken. Below, others are as fast."""

    ready: int = 0
    loading: int = 0  # where this process has not computed such a call with it; 0: that makes no difference
    compiling: int = 0  # where none of its machine code is on disk either
    rows: int = 0  # queries to the same keys; with fewer, all scores are no larger than the keys themselves
    slow_in: str = ""  # a dtype in which another backend is faster at any size


COMPUTED: set[tuple[str, str, str]] = set()
"""The backends that this process has machine code of, with the dtypes of arrays and of masks that it is for."""


def remember(module: str, query: Any, mask: Any) -> None:
    """That a backend which compiles has computed such a call."""
    COMPUTED.add(_compiled(module, query, mask))


def _compiled(module: str, query: Any, mask: Any) -> tuple[str, str, str]:
    return module, str(query.dtype), "" if mask is None else str(mask.dtype)


class NotWorthIt(NamedTuple):
    """Why a backend is not worth its trouble: put into words only for those who ask, because a small call is short."""

    scores: int
    worth: Worth
    because: str  # of "size"; it has to "load" or "compile" first; of too few "rows"; of its slow "dtype"

    def __str__(self) -> str:
        if self.because == "dtype":
            return f"in {self.worth.slow_in} it is slower than NumPy's own loops"
        if self.because == "rows":
            return f"its tiles save nothing with fewer than {self.worth.rows} queries to the same keys"
        here = f"this call has {self.scores:,}"
        if self.because == "compile":
            return f"compiling it takes seconds: pays off from about {rounded(self.worth.compiling)} scores; {here}"
        if self.because == "load":
            first = (
                f"its first such call in a process pays off from about {rounded(self.worth.loading)} scores"
            )
            return f"{first}, later ones from {rounded(self.worth.ready)}; {here}"
        return f"too small: pays off from about {rounded(self.worth.ready)} scores in all heads; {here}"


def why_not(module: str, worth: Worth, call: Call) -> NotWorthIt | None:
    """Why the backend in that module is not worth its trouble for such a call; None when it is."""
    scores = call.scores
    if scores < worth.ready:
        return NotWorthIt(scores, worth, "size")
    if call.n_q < worth.rows and call.n_q * _sharing(call) < worth.rows:
        return NotWorthIt(scores, worth, "rows")
    if call.dtype == worth.slow_in:
        return NotWorthIt(scores, worth, "dtype")
    if scores >= worth.compiling or _compiled(module, call.query, call.attn_mask) in COMPUTED:
        return None
    if scores < worth.loading:
        return NotWorthIt(scores, worth, "load")
    return None if machine.is_compiled(module.partition("_")[0]) else NotWorthIt(scores, worth, "compile")


def _sharing(call: Call) -> int:
    """How many heads of the query share one of the key."""
    heads = call.key.shape[-3] if call.key.ndim > 2 else 0
    return call.lead[-1] // heads if heads else 1


def rounded(scores: int) -> str:
    """In words that can be read: a count is not exact to the last digit."""
    return f"{scores / 1e6:.3g} million" if scores >= 1e6 else f"{scores:,}"
