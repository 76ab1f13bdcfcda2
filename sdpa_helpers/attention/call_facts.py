"""What there is to know of a call without computing it: what backends and the choice among them decide by."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from sdpa_helpers.attention import arguments

if TYPE_CHECKING:
    from sdpa_helpers.attention.arguments import Kind, Shape


class Call(NamedTuple):
    """What there is to know of a call without computing it."""

    kind: Kind
    dtype: str
    device: str  # "cpu", "cuda", …
    lead: Shape
    n_q: int
    n_k: int
    d_k: int
    d_v: int
    mask: str  # "", "bool" or "float"
    wants_gradient: bool  # of any argument
    learned_mask: bool
    is_causal: bool
    scale: float
    dropout_p: float
    return_weights: bool

    @property
    def scores(self) -> int:
        """Of one head."""
        return self.n_q * self.n_k


def describe(query: Any, key: Any, value: Any, attn_mask: Any, *, lead: Shape, **options: Any) -> Call:
    """The call of these checked arguments."""
    mask = "" if attn_mask is None else "bool" if arguments.dtype_name(attn_mask) == "bool" else "float"
    return Call(
        kind=arguments.kind_of(query, "query"),
        dtype=arguments.dtype_name(query),
        device=str(getattr(getattr(query, "device", None), "type", "cpu")),
        lead=lead,
        n_q=query.shape[-2],
        n_k=key.shape[-2],
        d_k=query.shape[-1],
        d_v=value.shape[-1],
        mask=mask,
        wants_gradient=any(map(_requires_gradient, (query, key, value, attn_mask))),
        learned_mask=bool(getattr(attn_mask, "requires_grad", False)),
        **options,
    )


def _requires_gradient(array: Any) -> bool:
    """Whether it is a tensor whose gradient is being recorded; torch is not imported for this."""
    return bool(getattr(array, "requires_grad", False)) and sys.modules["torch"].is_grad_enabled()
