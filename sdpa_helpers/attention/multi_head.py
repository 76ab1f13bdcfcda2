"""Multi-head attention as a torch module that can take the place of nn.MultiheadAttention.

    MultiHead(Q, K, V) = Concat(head₁ … head_h) W_O,  headᵢ = Attention(Q W_Qᵢ, K W_Kᵢ, V W_Vᵢ)

Vaswani et al. 2017, "Attention Is All You Need", §3.2.2. Every token is projected to a query, a key and a value for
each head. The heads attend side by side, which is what leading dimensions are for. Their answers are laid side by side
and projected once more.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from sdpa_helpers.attention.call import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    """nn.MultiheadAttention: the same arguments, the same parameters by name and shape, and the same numbers.

    So load_state_dict takes the parameters of one into the other, and either may serve in a layer of a transformer.
    What differs: a query that may attend to no key gets zeros from its heads, not NaN; and kdim, vdim, add_bias_kv and
    add_zero_attn are left out, and refused.
    """

    _qkv_same_embed_dim = (
        False  # else nn.TransformerEncoderLayer takes the parameters in eval() and goes its own way
    )

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check(
            embed_dim, num_heads, add_bias_kv=add_bias_kv, add_zero_attn=add_zero_attn, kdim=kdim, vdim=vdim
        )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.dropout, self.batch_first = dropout, batch_first
        factory: Any = {"device": device, "dtype": dtype}
        # W_Q, W_K and W_V one below the other, each of all heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim, **factory))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim, **factory)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias, **factory)  # W_O
        nn.init.xavier_uniform_(self.in_proj_weight)
        if bias:
            nn.init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,  # (n_q, batch, embed_dim); with batch_first (batch, n_q, embed_dim); or (n_q, embed_dim)
        key: Tensor,  # likewise with n_k tokens
        value: Tensor,
        key_padding_mask: Tensor | None = None,  # (batch, n_k) or (n_k,)
        need_weights: bool = True,
        attn_mask: Tensor | None = None,  # (n_q, n_k) or (batch · heads, n_q, n_k)
        average_attn_weights: bool = True,
        is_causal: bool = False,  # only says that attn_mask is causal
    ) -> tuple[Tensor, Tensor | None]:
        """The output, of the shape of query; and the weights (batch, n_q, n_k), their mean over the heads, or None."""
        tokens_first = query.dim() == 3 and not self.batch_first
        if tokens_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))  # (batch, n, embed_dim)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        projected = map(linear, (query, key, value), self.in_proj_weight.chunk(3), biases)
        heads = [split_heads(x, self.num_heads) for x in projected]  # each (batch, heads, n, d)

        if is_causal and attn_mask is None:
            raise ValueError("is_causal only says that attn_mask is causal: pass attn_mask too")
        # nn.MultiheadAttention takes the word for the mask only where it needs neither weights nor a second mask.
        is_causal = is_causal and key_padding_mask is None and not need_weights
        if attn_mask is not None and attn_mask.dim() == 3:
            attn_mask = attn_mask.unflatten(0, heads[0].shape[:-2])  # (batch, heads, n_q, n_k)
        attend = partial(
            scaled_dot_product_attention,
            *heads,
            attn_mask=None if is_causal else may_attend(attn_mask, key_padding_mask),
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=is_causal,
        )
        output, weights = attend(return_weights=True) if need_weights else (attend(), None)
        output = self.out_proj(merge_heads(output))  # (batch, n_q, embed_dim)
        if weights is not None and average_attn_weights:
            weights = weights.mean(dim=-3)
        return output.transpose(0, 1) if tokens_first else output, weights


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """(..., n, embed_dim) as (..., heads, n, d), d = embed_dim / heads: a view."""
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """(..., heads, n, d) as (..., n, heads · d)."""
    return x.transpose(-3, -2).flatten(-2)


def may_attend(attn_mask: Tensor | None, key_padding_mask: Tensor | None) -> Tensor | None:
    """Both masks as one that scaled_dot_product_attention takes.

    Here, and nowhere else, the meaning turns: True in a boolean mask of nn.MultiheadAttention hides a key; for
    scaled_dot_product_attention, ours and torch's, it lets the key be attended to. Floating masks mean the same to all:
    numbers that are added to the scores.
    """
    if key_padding_mask is not None:
        key_padding_mask = key_padding_mask[..., None, None, :]  # for all heads, for all queries
    given = [mask for mask in (attn_mask, key_padding_mask) if mask is not None]
    given = [~mask if mask.dtype == torch.bool else mask for mask in given]
    if len(given) < 2:
        return given[0] if given else None
    if given[0].dtype == given[1].dtype == torch.bool:
        return given[0] & given[1]
    first, second = (torch.where(x, 0.0, -torch.inf) if x.dtype == torch.bool else x for x in given)
    return first + second


def check(embed_dim: int, num_heads: int, **left_out: int | bool | None) -> None:
    """ValueError for what the constructor refuses."""
    if embed_dim < 1 or num_heads < 1 or embed_dim % num_heads:
        raise ValueError(
            f"embed_dim is {embed_dim} and num_heads {num_heads}: the heads share out the features evenly, so that "
            "num_heads must divide embed_dim"
        )
    for name, value in left_out.items():
        if value is True or value not in (None, False, embed_dim):  # kdim=embed_dim changes nothing
            raise ValueError(f"{name}={value} is left out here: torch.nn.MultiheadAttention has it")
