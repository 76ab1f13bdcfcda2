"""FlashAttention's two passes in torch, the steps of `numpy_tiled.py` on any device: for `torch_tiled.py` and the ring.

Dao et al. 2022, "FlashAttention", algorithms 1 and 4. One tile of scores at a time is made, used and overwritten;
a sum of exponentials that is kept as exp(sⱼ − m), with m the largest score so far, is corrected when a larger one
comes (`attend_head`).

Exponentials are powers of two, with log₂ e folded into the scale: on a CPU torch.exp takes 50 times as long where
its result underflows, torch.exp2 does not. So `State.largest` and `State.total` are to base 2 here.
"""

from __future__ import annotations

import math

import torch

from sdpa_helpers.attention.layout import Head, Rule, State, Tiles, heads_of, leading_shape, rectangles
from sdpa_helpers.attention.small_scores import SMALL_SCORE, SMALL_VALUE

LOG2_E = math.log2(math.e)

# On a CPU a tile should stay in a core's own cache; a GPU wants work for thousands of threads at once.
TILES = Tiles(queries=512, keys=1024, diagonal=256)
GPU_TILES = Tiles(queries=2048, keys=4096, diagonal=1024)


# Forward ---------------------------------------------------------------------------------------------------


def forward(arrays: Head, rule: Rule, enable_gqa: bool) -> State:
    """The output, in float32 at least, and what else the backward pass needs, to base 2."""
    query, key, value = arrays
    lead = leading_shape(*arrays, enable_gqa)
    n_q, n_k = query.shape[-2], key.shape[-2]
    working = torch.promote_types(query.dtype, torch.float32)
    # As computed, not as rounded to half precision: the backward pass subtracts it from what is near it.
    output = query.new_empty((*lead, n_q, value.shape[-1]), dtype=working)
    whole = State(output, output.new_empty((*lead, n_q)), output.new_empty((*lead, n_q)))
    rule = rule.in_full(n_q, n_k)
    scratch = scratch_for(query, n_q, n_k, working)
    for index in heads_of(lead):
        attend_head(arrays.at(index, lead), rule.at(index, lead), scratch, whole.at(index))
    return whole


def attend_head(head: Head, rule: Rule, scratch: torch.Tensor, results: State) -> None:
    """One head: matrices in; `results` written."""
    query, key, value = head
    output, largest, total = results
    working = scratch.dtype
    small = scores_are_small(head, rule)
    tiles = tiles_for(query)
    # Scores to base 2. Not with a float mask, whose lowest numbers × log₂ e would overflow: then it comes later.
    early, late = (1.0, LOG2_E) if has_float(rule.mask) else (LOG2_E, 1.0)
    # Not −∞: a row that sees nothing would give −∞ − (−∞), which is NaN. So its exponentials are 0.
    largest.fill_(0 if small else torch.finfo(working).min)
    for first in range(0, len(query), tiles.queries):
        last = min(first + tiles.queries, len(query))
        scaled_query = query[first:last].to(working) * (rule.scale * early)
        m, sums = largest[first:last, None], torch.zeros_like(largest[first:last, None])
        values = scaled_query.new_zeros(last - first, value.shape[1])

        for top, bottom, left, right in rectangles(first, last, len(key), rule.is_causal, tiles):
            rows = slice(top - first, bottom - first)
            scores = part(scratch, bottom - top, right - left)
            torch.mm(scaled_query[rows], key[left:right].to(working).t(), out=scores)
            if small:  # no maximum is needed; what may not be attended to is hidden as a weight, 0
                weights = scores.exp2_()
                hide(weights, 0.0, top, left, rule)
            else:  # … and here as a score, −∞
                hide(scores, -torch.inf, top, left, rule)
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


def hide(tile: torch.Tensor, hidden: float, top: int, left: int, rule: Rule) -> None:
    """Put `hidden` where the query of that row may not attend to the key of that column; add a float mask."""
    height, width = tile.shape
    if rule.mask is not None:
        here = rule.mask[top : top + height, left : left + width]
        if here.dtype == torch.bool:
            tile.masked_fill_(~here, hidden)
        else:  # scores_are_small refuses these, so that `tile` holds scores
            tile.add_(here)
    if rule.is_causal and left + width > top + 1:  # some key here is after the first query
        start = max(0, top - left)  # from this column on
        keys = torch.arange(left + start, left + width, device=tile.device)
        queries = torch.arange(top, top + height, device=tile.device)
        tile[:, start:].masked_fill_(keys > queries[:, None], hidden)


def scores_are_small(head: Head, rule: Rule) -> bool:
    """As `small_scores.scores_are_small`. Never on a GPU, where the answer would have to be waited for."""
    query, key, value = head
    if query.device.type != "cpu" or has_float(rule.mask):
        return False
    if not (query.numel() and key.numel() and value.numel()):
        return False
    working = torch.promote_types(query.dtype, torch.float32)
    longest = [math.sqrt(float(x.to(working).square().sum(dim=1).amax())) for x in (query, key)]
    return abs(rule.scale) * longest[0] * longest[1] < SMALL_SCORE and float(value.abs().amax()) < SMALL_VALUE


# Backward --------------------------------------------------------------------------------------------------


def backward(arrays: Head, rule: Rule, enable_gqa: bool, whole: State, grad_output: torch.Tensor) -> Head:
    """Gradients for query, key and value.

    With P the weights and S the scaled scores (Dao et al. 2022, appendix B.4):

        P = exp(S − largest) / total     dV = Pᵀ dO          dP = dO Vᵀ
        dS = P ∘ (dP − D), D = rowsum(dO ∘ O)                dQ = dS K · scale          dK = dSᵀ Q · scale
    """
    query = arrays.query
    lead = leading_shape(*arrays, enable_gqa)
    n_q, n_k = query.shape[-2], arrays.key.shape[-2]
    working = torch.promote_types(query.dtype, torch.float32)
    gradients = Head(*(torch.zeros(x.shape, dtype=working, device=x.device) for x in arrays))
    rule = rule.in_full(n_q, n_k)
    scratch = [scratch_for(query, n_q, n_k, working) for _ in range(2)]
    for index in heads_of(lead):
        head, rule_here, results = arrays.at(index, lead), rule.at(index, lead), whole.at(index)
        # Heads that share a key get views of the same matrix here, in which their gradients add up.
        grads = gradients.at(index, lead)
        backward_head(head, rule_here, results, grad_output[index], scratch, grads)
    return Head(*(x.to(query.dtype) for x in gradients))


def backward_head(
    head: Head,
    rule: Rule,
    results: State,
    grad_output: torch.Tensor,
    scratch: list[torch.Tensor],
    gradients: Head,
) -> None:
    """One head: adds to its gradients."""
    working = scratch[0].dtype
    mask, scale = rule.mask, rule.scale
    output, largest, total = results
    query, key, value, grad_output = (x.to(working) for x in (*head, grad_output))
    # One more column on each side: the products then give dP − D, and S − LSE, in one go.
    # A row that saw nothing gets −∞ there, so that its weights are 0. Not so with a float mask: it may lift or
    # sink all scores of a row by so much that what is small beside it would be rounded away.
    empty = total == 0
    lse = (largest + total.log2()).masked_fill(empty, torch.inf)  # to base 2
    if has_float(mask):
        query_less = with_column(query * scale, torch.zeros_like(total))
    else:
        query_less = with_column(query * (scale * LOG2_E), -lse)
    key_one, value_one = (with_column(x, x.new_ones(len(x))) for x in (key, value))
    less = -(grad_output * output).sum(dim=1)
    grad_output_less = with_column(grad_output, less)

    tiles = tiles_for(query)
    for first in range(0, len(query), tiles.queries):
        last = min(first + tiles.queries, len(query))
        for top, bottom, left, right in rectangles(first, last, len(key), rule.is_causal, tiles):
            rows, columns = slice(top, bottom), slice(left, right)
            weights, dscores = (part(memory, bottom - top, right - left) for memory in scratch)
            torch.mm(query_less[rows], key_one[columns].t(), out=weights)
            hide(weights, -torch.inf, top, left, rule)
            if has_float(mask):
                weights.sub_(largest[rows, None]).mul_(LOG2_E).exp2_()
                weights.div_(total.masked_fill(empty, 1)[rows, None])
            else:
                weights.exp2_()
            gradients.value[columns].addmm_(weights.t(), grad_output[rows])
            torch.mm(grad_output_less[rows], value_one[columns].t(), out=dscores)
            dscores.mul_(weights)
            gradients.query[rows].addmm_(dscores, key[columns], alpha=scale)
            gradients.key[columns].addmm_(dscores.t(), query[rows], alpha=scale)


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
