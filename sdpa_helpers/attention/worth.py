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


COMPUTED: set[tuple[str, str, str]] = set()
"""The backends that this process has machine code of, with the dtypes of arrays and of masks that it is for."""


def remember(module: str, query: Any, mask: Any) -> None:
    """That a backend which compiles has computed such a call."""
    COMPUTED.add(_compiled(module, query, mask))


def _compiled(module: str, query: Any, mask: Any) -> tuple[str, str, str]:
    return module, str(query.dtype), "" if mask is None else str(mask.dtype)


def why_not(module: str, worth: Worth, call: Call) -> str:
    """Why such a call is too small for the backend in that module; "" when it is not."""
    here = f"here {call.scores:,}".replace(",", " ")
    if call.scores < worth.ready:
        return f"worth it from about {rounded(worth.ready)} scores in all heads, {here}"
    if call.scores >= worth.compiling or _compiled(module, call.query, call.attn_mask) in COMPUTED:
        return ""
    if call.scores < worth.loading:
        first = f"its first such call in a process is worth it from about {rounded(worth.loading)} scores"
        return f"{first}, {here}; after it, from {rounded(worth.ready)}"
    if not machine.is_compiled(module):
        return f"compiling it takes seconds, worth it from about {rounded(worth.compiling)} scores, {here}"
    return ""


def rounded(scores: int) -> str:
    """In words that can be read: a count is not exact to the last digit."""
    return f"{scores / 1e6:.3g} million" if scores >= 1e6 else f"{scores:,}".replace(",", " ")
