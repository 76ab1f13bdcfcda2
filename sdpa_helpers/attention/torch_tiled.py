"""FlashAttention's algorithm in torch: the steps of `numpy_tiled.py`, on any device, with its own backward pass.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Dao et al. 2022, "FlashAttention", algorithms 1 and 4. One tile of scores at a time is made, used and overwritten;
a sum of exponentials that is kept as exp(sⱼ − m), with m the largest score so far, is corrected when a larger one
comes (`attend_head`).

Autograd would keep every tile for the backward pass, which is what tiling is to avoid. So the gradient is written
by hand, in a torch.autograd.Function that keeps the inputs, the output and one number for each query, and makes the
weights again. A second derivative is rare enough to go through the plain formula.

Exponentials are powers of two, with log₂ e folded into the scale: on a CPU torch.exp takes 50 times as long where
its result underflows, torch.exp2 does not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from sdpa_helpers.attention import torch_formula
from sdpa_helpers.attention.heads import full_rows, heads_of, leading_shape, matrix_at
from sdpa_helpers.attention.tiles import Tiles, rectangles

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

    from sdpa_helpers.attention.call_facts import Call

LOG2_E = math.log2(math.e)

# On a CPU a tile should stay in a core's own cache; a GPU wants work for thousands of threads at once.
TILES = Tiles(queries=512, keys=1024, diagonal=256)
GPU_TILES = Tiles(queries=2048, keys=4096, diagonal=1024)

SMALL_SCORE = 30.0  # exp(±30) ≈ 10^±13: far from the ends of float32 (10^±38), also after a million additions
SMALL_VALUE = 1e18


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    if call.return_weights:
        return "tiles of weights are overwritten, never returned"
    if call.dropout_p > 0:
        return "it has no dropout"
    if call.learned_mask:
        return "it has no gradient for a mask"
    return ""


def attention(
    query: Float[torch.Tensor, "... n_q d_k"],
    key: Float[torch.Tensor, "... n_k d_k"],
    value: Float[torch.Tensor, "... n_k d_v"],
    *,
    attn_mask: Bool[torch.Tensor, "... n_q n_k"] | Float[torch.Tensor, "... n_q n_k"] | None,
    dropout_p: float,  # always 0 here, as `cannot` says
    is_causal: bool,
    scale: float,
    enable_gqa: bool,
    return_weights: bool,  # always False here, likewise
) -> tuple[Float[torch.Tensor, "... n_q d_v"], None]:
    """The attended values, in the dtype of `query`."""
    return Tiled.apply(query, key, value, attn_mask, is_causal, scale, enable_gqa), None  # pyright: ignore


class Tiled(torch.autograd.Function):
    """The two passes, and what the first keeps for the second."""

    @staticmethod
    def forward(ctx: Any, query, key, value, mask, is_causal: bool, scale: float, enable_gqa: bool):
        lead = leading_shape(query, key, value, enable_gqa)
        n_q, n_k = query.shape[-2], key.shape[-2]
        working = torch.promote_types(query.dtype, torch.float32)
        # As computed, not as rounded to half precision: the backward pass subtracts it from what is near it.
        output = query.new_empty((*lead, n_q, value.shape[-1]), dtype=working)
        largest, total = query.new_empty((2, *lead, n_q), dtype=working)
        masks = None if mask is None else full_rows(mask, n_q, n_k)
        scratch = scratch_for(query, n_q, n_k, working)
        for head in heads_of(lead):
            q, k, v = (matrix_at(head, lead, x) for x in (query, key, value))
            mask_head = None if masks is None else matrix_at(head, lead, masks)
            results = (output[head], largest[head], total[head])
            attend_head(q, k, v, mask_head, is_causal, scale, scratch, *results)
        ctx.save_for_backward(query, key, value, mask, output, largest, total)
        ctx.options = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
        return output.to(query.dtype)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        query, key, value, mask, output, largest, total = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody is going to differentiate this gradient
            gradients = differentiable_gradients(query, key, value, mask, grad_outputs[0], ctx.options)
        else:
            gradients = attention_backward(
                query, key, value, output, largest, total, grad_outputs[0], attn_mask=mask, **ctx.options
            )
        return (*gradients, None, None, None, None)


# Forward ---------------------------------------------------------------------------------------------------


def attend_head(query, key, value, mask, is_causal, scale, scratch, output, largest, total) -> None:
    """One head: matrices in; `output`, `largest` and `total` written."""
    working = scratch.dtype
    small = scores_are_small(query, key, value, mask, scale)
    tiles = tiles_for(query)
    # Scores to base 2. Not with a float mask, whose lowest numbers × log₂ e would overflow: then it comes later.
    early, late = (1.0, LOG2_E) if has_float(mask) else (LOG2_E, 1.0)
    # Not −∞: a row that sees nothing would give −∞ − (−∞), which is NaN. So its exponentials are 0.
    largest.fill_(0 if small else torch.finfo(working).min)
    for first in range(0, len(query), tiles.queries):
        last = min(first + tiles.queries, len(query))
        scaled_query = query[first:last].to(working) * (scale * early)
        m, sums = largest[first:last, None], torch.zeros_like(largest[first:last, None])
        values = scaled_query.new_zeros(last - first, value.shape[1])

        for top, bottom, left, right in rectangles(first, last, len(key), is_causal, tiles):
            rows = slice(top - first, bottom - first)
            scores = part(scratch, bottom - top, right - left)
            torch.mm(scaled_query[rows], key[left:right].to(working).t(), out=scores)
            if small:  # no maximum is needed; what may not be attended to is hidden as a weight, 0
                weights = scores.exp2_()
                hide(weights, 0.0, top, left, mask, is_causal)
            else:  # … and here as a score, −∞
                hide(scores, -torch.inf, top, left, mask, is_causal)
                new_m = torch.maximum(m[rows], scores.amax(dim=1, keepdim=True))
                shrink = torch.exp2((m[rows] - new_m) * late)
                sums[rows] *= shrink
                values[rows] *= shrink
                m[rows] = new_m
                scores.sub_(new_m)
                weights = (scores.mul_(late) if late != 1 else scores).exp2_()
            sums[rows] += weights.sum(dim=1, keepdim=True)
            values[rows].addmm_(weights, value[left:right].to(working))

        output[first:last] = values / sums.masked_fill(sums == 0, 1)
        total[first:last] = sums[:, 0]


def has_float(mask) -> bool:
    return mask is not None and mask.dtype != torch.bool


def hide(tile, hidden: float, top: int, left: int, mask, is_causal: bool) -> None:
    """Put `hidden` where the query of that row may not attend to the key of that column; add a float mask."""
    height, width = tile.shape
    if mask is not None:
        here = mask[top : top + height, left : left + width]
        if here.dtype == torch.bool:
            tile.masked_fill_(~here, hidden)
        else:  # scores_are_small refuses these, so that `tile` holds scores
            tile.add_(here)
    if is_causal and left + width > top + 1:  # some key here is after the first query
        start = max(0, top - left)  # from this column on
        keys = torch.arange(left + start, left + width, device=tile.device)
        queries = torch.arange(top, top + height, device=tile.device)
        tile[:, start:].masked_fill_(keys > queries[:, None], hidden)


def scores_are_small(query, key, value, mask, scale: float) -> bool:
    """Whether exp of every score is so far from overflow and underflow that no maximum need be subtracted.

    Cauchy and Schwarz: |q · k| ≤ ‖q‖ ‖k‖. Costs n·d to prove, and saves two passes over n² scores. A float mask
    could add anything. On a GPU the answer would have to be waited for. NaN makes it false.
    """
    if query.device.type != "cpu" or has_float(mask):
        return False
    if not (query.numel() and key.numel() and value.numel()):
        return False
    working = torch.promote_types(query.dtype, torch.float32)
    longest = [math.sqrt(float(x.to(working).square().sum(dim=1).amax())) for x in (query, key)]
    return abs(scale) * longest[0] * longest[1] < SMALL_SCORE and float(value.abs().amax()) < SMALL_VALUE


# Backward --------------------------------------------------------------------------------------------------


def attention_backward(
    query, key, value, output, largest, total, grad_output, *, attn_mask, is_causal, scale, enable_gqa
) -> tuple[torch.Tensor, ...]:
    """Gradients for query, key and value.

    With P the weights and S the scaled scores (Dao et al. 2022, appendix B.4):

        P = exp(S − largest) / total     dV = Pᵀ dO          dP = dO Vᵀ
        dS = P ∘ (dP − D), D = rowsum(dO ∘ O)                dQ = dS K · scale          dK = dSᵀ Q · scale
    """
    lead = leading_shape(query, key, value, enable_gqa)
    n_q, n_k = query.shape[-2], key.shape[-2]
    working = torch.promote_types(query.dtype, torch.float32)
    gradients = [torch.zeros(x.shape, dtype=working, device=x.device) for x in (query, key, value)]
    masks = None if attn_mask is None else full_rows(attn_mask, n_q, n_k)
    scratch = [scratch_for(query, n_q, n_k, working) for _ in range(2)]
    for head in heads_of(lead):
        q, k, v = (matrix_at(head, lead, x) for x in (query, key, value))
        # Heads that share a key get views of the same matrix here, in which their gradients add up.
        dq, dk, dv = (matrix_at(head, lead, x) for x in gradients)
        mask_head = None if masks is None else matrix_at(head, lead, masks)
        given = (output[head], largest[head], total[head], grad_output[head])
        backward_head(q, k, v, *given, mask_head, is_causal, scale, scratch, dq, dk, dv)
    return tuple(x.to(query.dtype) for x in gradients)


def backward_head(
    query, key, value, output, largest, total, grad_output, mask, is_causal, scale, scratch, dq, dk, dv
) -> None:
    """One head: adds to dq, dk, dv."""
    working = scratch[0].dtype
    query, key, value, grad_output = (x.to(working) for x in (query, key, value, grad_output))
    # One more column on each side: the products then give dP − D, and S − log₂(total · 2^largest), in one go.
    # A row that saw nothing gets −∞ there, so that its weights are 0. Not so with a float mask: it may lift or
    # sink all scores of a row by so much that what is small beside it would be rounded away.
    empty = total == 0
    log_total = (largest + total.log2()).masked_fill(empty, torch.inf)
    if has_float(mask):
        query_less = with_column(query * scale, torch.zeros_like(total))
    else:
        query_less = with_column(query * (scale * LOG2_E), -log_total)
    key_one, value_one = (with_column(x, x.new_ones(len(x))) for x in (key, value))
    less = -(grad_output * output).sum(dim=1)
    grad_output_less = with_column(grad_output, less)

    tiles = tiles_for(query)
    for first in range(0, len(query), tiles.queries):
        last = min(first + tiles.queries, len(query))
        for top, bottom, left, right in rectangles(first, last, len(key), is_causal, tiles):
            rows, columns = slice(top, bottom), slice(left, right)
            weights, dscores = (part(memory, bottom - top, right - left) for memory in scratch)
            torch.mm(query_less[rows], key_one[columns].t(), out=weights)
            hide(weights, -torch.inf, top, left, mask, is_causal)
            if has_float(mask):
                weights.sub_(largest[rows, None]).mul_(LOG2_E).exp2_()
                weights.div_(total.masked_fill(empty, 1)[rows, None])
            else:
                weights.exp2_()
            dv[columns].addmm_(weights.t(), grad_output[rows])
            torch.mm(grad_output_less[rows], value_one[columns].t(), out=dscores)
            dscores.mul_(weights)
            dq[rows].addmm_(dscores, key[columns], alpha=scale)
            dk[columns].addmm_(dscores.t(), query[rows], alpha=scale)


def differentiable_gradients(query, key, value, mask, grad_output, options) -> tuple[torch.Tensor, ...]:
    """The same gradients, of the plain formula, in a form that can be differentiated again."""
    output, _ = torch_formula.attention(
        query, key, value, attn_mask=mask, dropout_p=0.0, return_weights=False, **options
    )
    wanted = [x for x in (query, key, value) if x.requires_grad]
    gradients = iter(torch.autograd.grad(output, wanted, grad_output, create_graph=True))
    return tuple(next(gradients) if x.requires_grad else None for x in (query, key, value))  # pyright: ignore


# Memory ----------------------------------------------------------------------------------------------------


def tiles_for(query: torch.Tensor) -> Tiles:
    """By the device that computes."""
    return TILES if query.device.type == "cpu" else GPU_TILES


def scratch_for(query: torch.Tensor, n_q: int, n_k: int, dtype: torch.dtype) -> torch.Tensor:
    """Room for the largest tile, to be used again for every tile."""
    tiles = tiles_for(query)
    widest = min(max(tiles.keys, tiles.queries), n_k)
    return query.new_empty(min(tiles.queries, n_q) * widest, dtype=dtype)


def part(scratch: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """The first numbers of the scratch memory, as a matrix."""
    return scratch[: height * width].view(height, width)


def with_column(matrix: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
    """The matrix with one more column at its right."""
    return torch.cat([matrix, column.to(matrix.dtype)[:, None]], dim=1)
