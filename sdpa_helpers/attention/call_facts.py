"""What there is to know of a call without computing it: what backends and the choice among them decide by.

Shapes and dtypes decide nearly all. The arrays are there too, for the few questions that only their numbers answer.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from sdpa_helpers.attention import arguments
from sdpa_helpers.attention.layout import Rule

if TYPE_CHECKING:
    from sdpa_helpers.attention.arguments import Kind, Shape
    from sdpa_helpers.attention.layout import Head
    from sdpa_helpers.attention.variants.checked_mods import Mods


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
    wants_gradient: bool  # of any argument, or of what score_mod was made with
    learned_mask: bool
    is_causal: bool
    scale: float
    dropout_p: float
    return_weights: bool
    return_lse: bool
    mask_mod: Any  # or None
    score_mod: Any
    learned_mod: bool  # a tensor that score_mod was made with requires a gradient
    query: Any
    key: Any
    value: Any
    attn_mask: Any

    @property
    def scores(self) -> int:
        """Of all heads."""
        return math.prod(self.lead) * self.n_q * self.n_k

    @property
    def has_mask_mod(self) -> bool:
        return self.mask_mod is not None

    @property
    def has_score_mod(self) -> bool:
        return self.score_mod is not None

    @property
    def rule(self) -> Rule:
        """Which scores count, and how they are changed."""
        return Rule(self.attn_mask, self.is_causal, self.scale, self.mask_mod, self.score_mod)


def describe(arrays: Head, attn_mask: Any, mods: Mods, *, lead: Shape, **options: Any) -> Call:
    """The call of these checked arguments."""
    query, key, value = arrays
    mask = "" if attn_mask is None else "bool" if arguments.dtype_name(attn_mask) == "bool" else "float"
    kind = arguments.kind_of(query, "query")
    return Call(
        kind=kind,
        dtype=arguments.dtype_name(query),
        device=query.device.type if kind == "torch" else "cpu",
        lead=lead,
        n_q=query.shape[-2],
        n_k=key.shape[-2],
        d_k=query.shape[-1],
        d_v=value.shape[-1],
        mask=mask,
        wants_gradient=mods.learned
        or (kind == "torch" and _one_requires_gradient(query, key, value, attn_mask)),
        learned_mask=bool(getattr(attn_mask, "requires_grad", False)),
        query=query,
        key=key,
        value=value,
        attn_mask=attn_mask,
        mask_mod=mods.mask_mod,
        score_mod=mods.score_mod,
        learned_mod=mods.learned,
        **options,
    )


def _one_requires_gradient(*tensors: Any) -> bool:
    """Whether a gradient is being recorded; torch is not imported for this."""
    for tensor in tensors:
        if tensor is not None and tensor.requires_grad:
            return sys.modules["torch"].is_grad_enabled()
    return False
