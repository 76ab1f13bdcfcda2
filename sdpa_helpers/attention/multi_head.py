"""Multi-head attention as a torch module that can take the place of nn.MultiheadAttention.

    MultiHead(Q, K, V) = Concat(head₁ … head_h) W_O,  headᵢ = Attention(Q W_Qᵢ, K W_Kᵢ, V W_Vᵢ)

Vaswani et al. 2017, "Attention Is All You Need", §3.2.2. Every token is projected to a query, a key and a value for
each head. The heads attend side by side, which is what leading dimensions are for. Their answers are laid side by side
and projected once more.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from sdpa_helpers.attention import arguments
from sdpa_helpers.attention.call import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    """nn.MultiheadAttention: the same arguments, the same parameters by name and shape, and the same numbers.

    So load_state_dict takes the parameters of one into the other, and either may serve in a layer of a transformer.
    What differs: a query that may attend to no key gets zeros from its heads, not NaN; and kdim, vdim, add_bias_kv and
    add_zero_attn are not supported, and refused.
    """

    # else nn.TransformerEncoderLayer takes the parameters in eval() and goes its own way
    _qkv_same_embed_dim = False

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
        check_options(embed_dim, num_heads, dropout)
        check_unsupported(
            embed_dim, add_bias_kv=add_bias_kv, add_zero_attn=add_zero_attn, kdim=kdim, vdim=vdim
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
        check_inputs(query, key, value, self.embed_dim, self.batch_first)
        check_mask_kinds(attn_mask, key_padding_mask)
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
        if not is_causal:
            check_mask_shapes(attn_mask, key_padding_mask, (*heads[0].shape[:-1], key.shape[-2]))
        if attn_mask is not None and attn_mask.dim() == 3 and not is_causal:
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


def check_options(embed_dim: int, num_heads: int, dropout: float) -> None:
    """TypeError or ValueError for numbers that the constructor refuses."""
    for name, number in (("embed_dim", embed_dim), ("num_heads", num_heads)):
        if not isinstance(number, Integral):
            raise TypeError(f"{name} is {number!r}, but must be an integer")
    if embed_dim < 1 or num_heads < 1 or embed_dim % num_heads:
        raise ValueError(
            f"embed_dim is {embed_dim} and num_heads {num_heads}: the heads share out the features evenly, so that "
            "num_heads must divide embed_dim"
        )
    if not isinstance(dropout, Real) or not 0 <= dropout <= 1:
        raise ValueError(f"dropout is {dropout!r}, but must be a probability from 0 to 1")


def check_unsupported(embed_dim: int, **options: int | bool | None) -> None:
    """ValueError for options of nn.MultiheadAttention that would change something."""
    for name, value in options.items():
        if value is True or value not in (None, False, embed_dim):  # kdim=embed_dim changes nothing
            raise ValueError(f"{name}={value} is not supported here; use torch.nn.MultiheadAttention")


def check_inputs(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, batch_first: bool) -> None:
    """TypeError or ValueError, with the shapes that the caller knows, for what nn.MultiheadAttention refuses too."""
    named = {"query": query, "key": key, "value": value}
    for name, x in named.items():
        check_tensor(x, name)
    layout = "(batch, tokens, embed_dim)" if batch_first else "(tokens, batch, embed_dim)"
    for name, x in named.items():
        if x.dim() not in (2, 3):
            raise ValueError(
                f"{name} has shape {tuple(x.shape)}, but must be {layout}, or (tokens, embed_dim) of one sequence"
            )
        if x.shape[-1] != embed_dim:
            raise ValueError(
                f"{name} has shape {tuple(x.shape)}, but its last dimension must be embed_dim = {embed_dim}"
            )
        pair = f"query has shape {tuple(query.shape)} and {name} {tuple(x.shape)}"
        if x.dim() != query.dim():
            raise ValueError(f"{pair}: all must be {layout}, or all (tokens, embed_dim) of one sequence")
        batch = 0 if batch_first else 1
        if x.dim() == 3 and x.shape[batch] != query.shape[batch]:
            raise ValueError(
                f"{pair}: they must be {layout} with the same batch, got {query.shape[batch]} and {x.shape[batch]}. "
                f"batch_first={not batch_first} puts the batch into dimension {1 - batch}"
            )
    if key.shape != value.shape:
        raise ValueError(
            f"key has shape {tuple(key.shape)} and value {tuple(value.shape)}: each token has one of both"
        )


def check_tensor(x: Any, name: str) -> None:
    """TypeError unless it is a dense tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{name} is of type {type(x).__name__}, but must be a torch tensor: pass torch.as_tensor({name})"
        )
    arguments.kind_of(x, name)  # refuses nested and sparse ones


def check_mask_kinds(attn_mask: Tensor | None, key_padding_mask: Tensor | None) -> None:
    """TypeError for integers: 1 mostly means "may attend" where they come from, while True hides here."""
    advice = {
        "attn_mask": "(True = may not attend) or floating. Where 1 means 'may attend', pass attn_mask=mask == 0",
        "key_padding_mask": "(True = ignore this key) or floating. A tokenizer's mask, 1 = real, is "
        "key_padding_mask=mask == 0",
    }
    for name, mask in (("attn_mask", attn_mask), ("key_padding_mask", key_padding_mask)):
        if mask is None:
            continue
        check_tensor(mask, name)
        if mask.dtype != torch.bool and not mask.is_floating_point():
            raise TypeError(f"{name} is {arguments.dtype_name(mask)}, but must be bool {advice[name]}")


def check_mask_shapes(
    attn_mask: Tensor | None, key_padding_mask: Tensor | None, weights: tuple[int, ...]
) -> None:
    """ValueError unless both fit; `weights` is (batch, heads, n_q, n_k), or without batch."""
    *batch, heads, n_q, n_k = weights
    padding = (*batch, n_k)
    if key_padding_mask is not None and tuple(key_padding_mask.shape) != padding:
        raise ValueError(
            f"key_padding_mask has shape {tuple(key_padding_mask.shape)}, but must be "
            f"{'(batch, n_k)' if batch else '(n_k,)'} = {padding}, also where batch_first=False"
        )
    many = (batch[0] * heads if batch else heads, n_q, n_k)
    if attn_mask is None or tuple(attn_mask.shape) in ((n_q, n_k), many):
        return
    hints = {
        padding: ". If it is a padding mask, pass it as key_padding_mask",
        (
            *batch,
            n_q,
            n_k,
        ): ". If it has one for each sequence, pass attn_mask.repeat_interleave(num_heads, 0)",
        weights: ". If it is (batch, heads, n_q, n_k), pass attn_mask.flatten(0, 1)",
    }
    raise ValueError(
        f"attn_mask has shape {tuple(attn_mask.shape)}, but must be (n_q, n_k) = {(n_q, n_k)} or "
        f"({'batch * heads' if batch else 'heads'}, n_q, n_k) = {many}{hints.get(tuple(attn_mask.shape), '')}"
    )
