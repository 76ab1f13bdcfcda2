"""FlashAttention's two passes in torch, the steps of `numpy_tiled.py` on any device: for `torch_tiled.py` and the ring.

Dao et al. 2022, "FlashAttention", algorithms 1 and 4. One tile of scores at a time is made, used and overwritten;
a sum of exponentials that is kept as exp(sⱼ − m), with m the largest score so far, is corrected when a larger one
comes (`attend`). Which heads and queries go through that together is said in `torch_blocks.py`.

Exponentials are powers of two, with log₂ e folded into the scale: on a CPU torch.exp takes many times as long
where its result underflows, torch.exp2 does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from sdpa_helpers.attention.layout import BackendResult, Head, Rule, Shape, Tiles, leading_shape
from sdpa_helpers.attention.small_scores import changes_scores
from sdpa_helpers.attention.torch_blocks import (
    LOG2_E,
    ScoreTile,
    TileStep,
    counted_through,
    is_run,
    places_of,
    steps_of,
)

# On a CPU a tile should stay in a core's own cache; a GPU wants work for thousands of threads at once.
TILES = Tiles(queries=512, keys=1024, diagonal=256)
GPU_TILES = Tiles(queries=2048, keys=4096, diagonal=1024)


class Attended(NamedTuple):
    """What the forward pass found, and the backward pass needs."""

    output: Any  # (..., n_q, d_v), in float32 at least: as computed, not as rounded to half precision
    lse: Any  # (..., n_q): log Σⱼ exp(scoreⱼ); −∞ for a row that sees nothing
    # What rounding took from the LSE. A float mask or a score_mod may move all scores of a row so far that the
    # logarithm of their number is lost beside them, and with it the weights. (..., 0) where there is neither.
    rest: Any  # (..., n_q)


def room_for(arrays: Head, rule: Rule, enable_gqa: bool) -> Attended:
    """Zeros, in place of what the forward pass finds."""
    query, _, value = arrays
    lead, n_q = leading_shape(*arrays, enable_gqa), query.shape[-2]
    working = torch.promote_types(query.dtype, torch.float32)
    output = query.new_zeros((*lead, n_q, value.shape[-1]), dtype=working)
    rest = output.new_zeros((*lead, n_q if changes_scores(rule) else 0))
    return Attended(output, output.new_zeros((*lead, n_q)), rest)


# Forward ---------------------------------------------------------------------------------------------------


class Sums(NamedTuple):
    """What is added up of some queries, tile by tile."""

    values: torch.Tensor  # (heads, rows, d_v): Σⱼ exp(scoreⱼ − largest) · valueⱼ
    total: torch.Tensor  # (heads, rows, 1): Σⱼ exp(scoreⱼ − largest)
    # (heads, rows, 1): the largest score so far, multiplied by `Step.early` as the scores are, until the last tile of
    # its row; or 0 where none need be subtracted
    largest: torch.Tensor


def forward(arrays: Head, rule: Rule, enable_gqa: bool) -> Attended:
    """Output and LSE, in float32 at least."""
    lead = leading_shape(*arrays, enable_gqa)
    whole = room_for(arrays, rule, enable_gqa)
    total = torch.zeros_like(whole.lse)
    sums = Sums(*map(counted_through, (whole.output, total[..., None], whole.lse[..., None])))
    scratch = Scratch(whole.output)
    for step in steps_of(arrays, rule, lead, tiles_on(arrays.query)):
        attend(step, Sums(*(x[step.heads.start : step.heads.stop] for x in sums)), scratch)
    return finished(whole, total)


def finished(whole: Attended, total: torch.Tensor) -> Attended:
    """The averages from the sums, and the LSE from the largest scores. A row that saw nothing has a total of 0."""
    empty = total == 0
    total.masked_fill_(empty, 1)
    whole.output.div_(total[..., None])
    log_total = total.log_()
    lse = whole.lse + log_total
    if whole.rest.shape == lse.shape:
        whole.rest.copy_((whole.lse - lse) + log_total).masked_fill_(empty, 0)
    return whole._replace(lse=lse.masked_fill_(empty, -torch.inf))


def attend(step: TileStep, sums: Sums, scratch: Scratch) -> None:
    """A tile of some heads: adds its keys to the sums of its queries. Read `TileStep` and `ScoreTile` first."""
    part = step.part
    query, key, value = tile_of(step, sums.values.dtype)
    query = torch.mul(query, step.scale * step.early, out=scratch("query", *query.shape))
    if part.begins and not step.is_small:
        # Not −∞: a row that sees nothing would give −∞ − (−∞), which is NaN. So its exponentials are 0.
        sums.largest[:, part.begins] = torch.finfo(query.dtype).min
    values, total, largest = (x[:, part.rows] for x in sums)
    scores = make_scores(query, key, step, scratch)
    if not step.is_small:
        new_largest = torch.maximum(largest, scores.amax(dim=2, keepdim=True))
        shrink = torch.exp2((largest - new_largest) * step.late)
        values.mul_(shrink)
        total.mul_(shrink)
        largest.copy_(new_largest)
        scores.sub_(new_largest)
        if part.is_far:
            scores.mul_(step.late)
    weights = scores.exp2_()
    total.add_(weights.sum(dim=2, keepdim=True))
    add_product(values, weights, value)
    if part.ends and not step.is_small:
        sums.largest[:, part.ends] /= step.early


def tile_of(step: TileStep, dtype: torch.dtype) -> Head:
    """The queries, keys and values of a tile."""
    (query, key, value), rows, columns = step.arrays, step.part.rows, step.part.columns
    return Head(*(x.to(dtype) for x in (query[:, rows], key[:, columns], value[:, columns])))


def make_scores(query: torch.Tensor, key: torch.Tensor, step: TileStep, scratch: Scratch) -> torch.Tensor:
    """(heads, rows, columns) in the scratch memory, with what is added and hidden."""
    part, scores = step.part, scratch("scores", len(query), query.shape[1], key.shape[1])
    if part.added is not None and not part.is_far:
        torch.baddbmm(part.added, query, key.mT, out=scores)  # added on the way
        return hide(scores, step)
    torch.bmm(query, key.mT, out=scores)
    if part.modify is not None:
        scores.copy_(part.modify(scores))
    return hide(scores if part.added is None else scores.add_(part.added), step)


def hide(scores: torch.Tensor, step: TileStep) -> torch.Tensor:
    """−∞ where a key is not seen, also in place of what −∞ was added to in vain: NaN − ∞ is NaN."""
    if step.part.seen is not None and not step.is_finite:
        scores.masked_fill_(~step.part.seen, -torch.inf)
    return scores


def add_product(to: torch.Tensor, left: torch.Tensor, right: torch.Tensor, scale: float = 1.0) -> None:
    """Adds the products of matrices, (heads, …, …). One alone takes less time as a matrix."""
    if len(to) == 1:
        to[0].addmm_(left[0], right[0], alpha=scale)
    else:
        to.baddbmm_(left, right, alpha=scale)


# Backward --------------------------------------------------------------------------------------------------


def backward(arrays: Head, rule: Rule, enable_gqa: bool, whole: Attended, grads: BackendResult) -> Head:
    """Gradients for query, key and value, from those for output and LSE.

    With P the weights and S the scaled scores (Dao et al. 2022, appendix B.4; dLSE as if it were one more output):

        P = exp(S − LSE)     dV = Pᵀ dO          dP = dO Vᵀ
        dS = P ∘ (dP − D), D = rowsum(dO ∘ O) − dLSE         dQ = dS K · scale          dK = dSᵀ Q · scale
    """
    query = arrays.query
    lead = leading_shape(*arrays, enable_gqa)
    working = torch.promote_types(query.dtype, torch.float32)
    gradients = Head(*(torch.zeros(x.shape, dtype=working, device=x.device) for x in arrays))
    # A row that saw nothing has weights of exp(… − ∞) = 0.
    lse = whole.lse.masked_fill(whole.lse == -torch.inf, torch.inf)[..., None]
    less = grads.lse[..., None] - (grads.output * whole.output).sum(dim=-1, keepdim=True)
    known = RowGradients(*map(counted_through, (grads.output, lse, whole.rest[..., None], less)))
    scratch = Scratch(gradients.query)
    for step in steps_of(arrays, rule, lead, tiles_on(query)):
        of_heads = RowGradients(*(x[step.heads.start : step.heads.stop] for x in known))
        with gradients_of_heads(gradients, lead, step.heads) as into:
            add_gradients(step, of_heads, into, scratch)
    return Head(*(x.to(query.dtype) for x in gradients))


class RowGradients(NamedTuple):
    """Of the queries of some heads: the gradients for their output, and numbers of a row."""

    grad_output: torch.Tensor  # (heads, n_q, d_v)
    lse: torch.Tensor  # (heads, n_q, 1); ∞ where a row saw nothing
    rest: torch.Tensor  # (heads, n_q or 0, 1)
    less: torch.Tensor  # (heads, n_q, 1): −D


def add_gradients(step: TileStep, known: RowGradients, into: Head, scratch: Scratch) -> None:
    """A tile of some heads: what comes from it is added to their gradients."""
    part, rows, columns, scale = step.part, step.part.rows, step.part.columns, step.scale
    query, key, value = tile_of(step, into.query.dtype)
    grad_output = known.grad_output[:, rows].to(query.dtype)
    # One more column on each side: the products then give dP − D, and S − LSE, in one go.
    scaled, key_one = query * (scale * step.early), key
    if not part.is_far:
        scaled, key_one = with_column(scaled, known.lse[:, rows] * -LOG2_E), with_column(key, 1)
    before, after = with_graph(scaled, key_one, part)
    if after is None:
        weights = make_scores(scaled, key_one, step, scratch)
    else:
        weights = after.detach().clone()
        weights = hide(weights if part.added is None else weights.add_(part.added), step)
    if part.is_far:
        weights.sub_(known.lse[:, rows]).sub_(known.rest[:, rows]).mul_(LOG2_E)
    if step.is_rough:
        weights.clamp_(max=0)
    weights.exp2_()
    add_product(into.value[:, columns], weights.mT, grad_output)
    dscores = scratch("dscores", *weights.shape)
    torch.bmm(with_column(grad_output, known.less[:, rows]), with_column(value, 1).mT, out=dscores)
    dscores.mul_(weights)
    if after is not None:
        dscores = through(before, after, dscores)
    add_product(into.query[:, rows], dscores, key, scale)
    add_product(into.key[:, columns], dscores.mT, query, scale)


def with_graph(query: torch.Tensor, keys: torch.Tensor, part: ScoreTile) -> tuple[Any, Any]:
    """A tile of scores before and after a score_mod, for autograd; (None, None) where there is none."""
    if part.modify is None:
        return None, None
    # A backward pass inside torch.autocast would round this product, and nothing else here.
    with torch.autocast(query.device.type, enabled=False):
        before = torch.bmm(query, keys.mT).requires_grad_()
        with torch.enable_grad():
            return before, part.modify(before)


def through(before: torch.Tensor, after: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """The gradient for the scores before a score_mod, from that for those after."""
    if not after.requires_grad:  # the new scores do not depend on the old
        return torch.zeros_like(gradient)
    (found,) = torch.autograd.grad(after, before, gradient, allow_unused=True)
    return torch.zeros_like(gradient) if found is None else found


@contextmanager
def gradients_of_heads(gradients: Head, lead: Shape, heads: range) -> Iterator[Head]:
    """The gradients of the matrices that serve these heads, to be added to.

    Where heads share a matrix each has a gradient of its own until the end, for one product writes all of them.
    """
    into, shared = [], []
    for gradient in gradients:
        matrices, places = counted_through(gradient), places_of(heads, lead, tuple(gradient.shape[:-2]))
        if is_run(places):
            into.append(matrices[places[0] : places[-1] + 1])
        else:
            into.append(matrices.new_zeros(len(places), *matrices.shape[1:]))
            shared.append((matrices, torch.tensor(places, device=matrices.device), into[-1]))
    yield Head(*into)
    for matrices, places, own in shared:
        matrices.index_add_(0, places, own)


# Memory ----------------------------------------------------------------------------------------------------


def tiles_on(query: torch.Tensor) -> Tiles:
    """By the device that computes."""
    return TILES if query.device.type == "cpu" else GPU_TILES


class Scratch:
    """Memory by name, used again for every tile: it grows to the largest."""

    def __init__(self, like: torch.Tensor) -> None:
        self.empty = like.new_empty(0)
        self.memory: dict[str, torch.Tensor] = {}

    def __call__(self, name: str, *shape: int) -> torch.Tensor:
        size = math.prod(shape)
        memory = self.memory.get(name, self.empty)
        if memory.numel() < size:
            memory = self.memory[name] = memory.new_empty(size)
        return memory[:size].view(shape)


def with_column(matrices: torch.Tensor, column: torch.Tensor | float) -> torch.Tensor:
    """Matrices (heads, rows, columns) with one more column at their right."""
    wider = matrices.new_empty(*matrices.shape[:2], matrices.shape[2] + 1)
    wider[..., :-1] = matrices
    wider[..., -1:] = column
    return wider
