"""FlashAttention's algorithm in NumPy: the formula of `numpy_formula.py`, one tile of scores at a time.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Dao et al. 2022, "FlashAttention", algorithm 1; Milakov and Gimelshein 2018, "Online normalizer calculation for
softmax". The formula needs a whole row of scores before its first weight. But a sum of exponentials can be kept
while the scores arrive: with m the largest score so far,

    total  = Σⱼ exp(sⱼ − m)           values = Σⱼ exp(sⱼ − m) vⱼ           output = values / total

and when a larger score comes, both sums are multiplied by exp(m_old − m_new). So a tile of scores is made, used
and overwritten by the next one, and no more than one tile is ever in memory. It is faster too: the tile is still
in the processor's cache when the exponential and the second product read it.

Read `attend_head`, then `RunningSums`. What makes it fast in NumPy, where each operation is one pass over a tile:
- the scale goes into the queries, n × d numbers, not into the scores, n × n;
- every operation writes where its result belongs (out=), and the row sums are a product with a vector of ones;
- where no score can be large, there is no maximum to keep (`small_scores.py`);
- with is_causal, tiles beyond the diagonal are not made, and those on it are thin (`layout.rectangles`).

The arguments were checked by `call.py`; `layout.py` walks through batch and heads.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention.layout import (
    Answer,
    Head,
    Rule,
    State,
    Tiles,
    Wants,
    heads_of,
    leading_shape,
    rectangles,
)
from sdpa_helpers.attention.small_scores import scores_are_small

if TYPE_CHECKING:
    from jaxtyping import Float

    from sdpa_helpers.attention.call_facts import Call


# 512 × 512 float32 are 1 MiB: in a core's own cache, and large enough for the matrix products to be fast.
# The backward pass holds two tiles at once.
TILES = Tiles(queries=512, keys=512, diagonal=128)
BACKWARD_TILES = Tiles(queries=512, keys=256, diagonal=128)


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    if call.return_weights:
        return "tiles of weights are overwritten, never returned"
    if call.has_mask_mod or call.has_score_mod:
        return "it knows masks as arrays only, no mask_mod and no score_mod"
    return "it does not return its LSE" if call.return_lse else ""


def attention(arrays: Head, rule: Rule, wants: Wants) -> Answer:
    """The attended values, in the dtype of the query."""
    return Answer(attention_forward(arrays, rule, wants.enable_gqa).output)


# Forward ---------------------------------------------------------------------------------------------------


def attention_forward(arrays: Head, rule: Rule, enable_gqa: bool = False) -> State:
    """The attended values and, for the backward pass, each query's m and Σⱼ exp(sⱼ − m)."""
    query, key, value = arrays
    lead = leading_shape(*arrays, enable_gqa)
    n_q, n_k = query.shape[-2], key.shape[-2]
    working = np.result_type(query.dtype, np.float32)  # float16 ends at 65504: too soon for a sum of products
    output = np.empty((*lead, n_q, value.shape[-1]), dtype=query.dtype)
    whole = State(output, *np.empty((2, *lead, n_q), dtype=working))
    rule = rule.in_full(n_q, n_k)
    tiles = TILES._replace(keys=max(1, TILES.keys * 4 // working.itemsize))  # as many bytes in float64
    scratch = scratch_for(tiles, n_q, n_k, working)
    for index in heads_of(lead):
        attend_head(arrays.at(index, lead), rule.at(index, lead), tiles, scratch, whole.at(index))
    return whole


def attend_head(head: Head, rule: Rule, tiles: Tiles, scratch: np.ndarray, results: State) -> None:
    """One head: matrices in; `results` written."""
    query, key, value = head
    working = scratch.dtype
    small = scores_are_small(head, rule, working)
    power, factor = (np.exp2, rule.scale / math.log(2)) if small and EXP2_IS_FAST else (np.exp, rule.scale)

    for first in range(0, len(query), tiles.queries):
        last = min(first + tiles.queries, len(query))
        scaled_query = np.multiply(query[first:last], factor, dtype=working)
        running = RunningSums(
            last - first, value.shape[1], working, lowest=0 if small else np.finfo(working).min
        )
        for top, bottom, left, right in rectangles(first, last, len(key), rule.is_causal, tiles):
            rows = slice(top - first, bottom - first)
            scores = part(scratch, bottom - top, right - left)
            np.matmul(scaled_query[rows], matrix(key[left:right], working).T, out=scores)
            if small:  # what may not be attended to is hidden as a weight, 0
                weights = power(scores, out=scores)
                hide(weights, 0, top, left, rule)
            else:  # … and here as a score, −∞
                hide(scores, -np.inf, top, left, rule)
                weights = running.exponentials(rows, scores)
            running.add(rows, weights, matrix(value[left:right], working))
        results.output[first:last] = running.average()
        results.largest[first:last] = running.largest[:, 0]
        results.total[first:last] = running.total[:, 0]


class RunningSums:
    """What is known of some rows while the tiles of their scores go by."""

    def __init__(self, n: int, d_v: int, dtype: Any, lowest: float) -> None:
        # Not −∞: a row that sees nothing would give −∞ − (−∞), which is NaN. So its exponentials are 0.
        self.largest = np.full((n, 1), lowest, dtype)
        self.total = np.zeros((n, 1), dtype)
        self.values = np.zeros((n, d_v), dtype)
        self._new_values = np.empty((n, d_v), dtype)

    def exponentials(self, rows: slice, scores: np.ndarray) -> np.ndarray:
        """exp(score − largest), in place; when a tile brings a larger score, the sums so far shrink."""
        largest = np.maximum(self.largest[rows], scores.max(axis=1, keepdims=True))
        shrink = np.exp(self.largest[rows] - largest)
        self.total[rows] *= shrink
        self.values[rows] *= shrink
        self.largest[rows] = largest
        scores -= largest
        return np.exp(scores, out=scores)

    def add(self, rows: slice, weights: np.ndarray, value: np.ndarray) -> None:
        """Add this tile to both sums."""
        self.total[rows, 0] += weights @ np.ones(weights.shape[1], weights.dtype)
        self.values[rows] += np.matmul(weights, value, out=self._new_values[: len(weights)])

    def average(self) -> np.ndarray:
        """The values under their weights; 0 for a row that has seen nothing."""
        return self.values / np.where(self.total == 0, 1, self.total)


def hide(tile: np.ndarray, hidden: float, top: int, left: int, rule: Rule) -> None:
    """Put `hidden` where the query of that row may not attend to the key of that column; add a float mask."""
    height, width = tile.shape
    if rule.mask is not None:
        here = rule.mask[top : top + height, left : left + width]
        if here.dtype == bool and hidden == 0:
            np.multiply(tile, here, out=tile)  # far faster than a choice for each number
        elif here.dtype == bool:
            np.copyto(tile, hidden, where=~here)
        else:  # scores_are_small refuses these, so that `tile` holds scores
            np.add(tile, here, out=tile, casting="same_kind")
    if rule.is_causal and left + width > top + 1:  # some key here is after the first query
        start = max(0, top - left)  # from this column on
        later = np.arange(left + start, left + width) > np.arange(top, top + height)[:, None]
        np.copyto(tile[:, start:], hidden, where=later)


def exp2_is_fast() -> bool:
    """Whether NumPy has a vector instruction form of exp2 for this processor (AVX-512): else exp is faster.

    Only for scores that are small: where the result underflows, that form takes 100 times as long.
    """
    try:
        chosen = np.lib.introspect.opt_func_info(func_name="^exp2$", signature="float32")
        return "baseline" not in chosen["exp2"]["ff"]["current"]
    except (AttributeError, KeyError):
        return False


EXP2_IS_FAST = exp2_is_fast()


# Memory: one tile of scores for the whole call --------------------------------------------------------------


def scratch_for(tiles: Tiles, n_q: int, n_k: int, dtype: Any) -> np.ndarray:
    """Room for the largest tile. Fresh memory for every tile would cost a page fault every 4 KiB."""
    widest = min(max(tiles.keys, tiles.queries), n_k)
    return np.empty(min(tiles.queries, n_q) * widest, dtype)


def part(scratch: np.ndarray, height: int, width: int) -> np.ndarray:
    """The first numbers of the scratch memory, as a matrix."""
    return scratch[: height * width].reshape(height, width)


def matrix(rows: np.ndarray, dtype: Any) -> np.ndarray:
    """As BLAS takes it; a copy only where the dtype or the strides need one, and then of one tile."""
    return np.ascontiguousarray(rows, dtype=dtype)


# Backward --------------------------------------------------------------------------------------------------


def attention_backward(
    arrays: Head, rule: Rule, enable_gqa: bool, whole: State, grad_output: Float[np.ndarray, "... n_q d_v"]
) -> Head:
    """Gradients for query, key and value, from what `attention_forward` returned.

    The weights are not kept, but made again, tile by tile. With P the weights, S the scaled scores:

        P = exp(S − largest) / total     dV = Pᵀ dO          dP = dO Vᵀ
        dS = P ∘ (dP − D), D = rowsum(dO ∘ O)                dQ = dS K · scale          dK = dSᵀ Q · scale

    D is what rowsum(P ∘ dP), the softmax's own derivative, comes to (Dao et al. 2022, appendix B.4).
    """
    lead = leading_shape(*arrays, enable_gqa)
    n_q, n_k = arrays.query.shape[-2], arrays.key.shape[-2]
    working = np.result_type(arrays.query.dtype, np.float32)
    rule = rule.in_full(n_q, n_k)
    gradients = Head(*(np.zeros(x.shape, working) for x in arrays))
    scratch = [scratch_for(BACKWARD_TILES, n_q, n_k, working) for _ in range(2)]
    for index in heads_of(lead):
        head, rule_here, results = arrays.at(index, lead), rule.at(index, lead), whole.at(index)
        # Heads that share a key get views of the same matrix here, in which their gradients add up.
        grads = gradients.at(index, lead)
        backward_head(head, rule_here, results, grad_output[index], scratch, grads)
    return Head(*(x.astype(arrays.query.dtype, copy=False) for x in gradients))


def backward_head(
    head: Head,
    rule: Rule,
    results: State,
    grad_output: np.ndarray,
    scratch: list[np.ndarray],
    gradients: Head,
) -> None:
    """One head: adds to its gradients."""
    working = scratch[0].dtype
    output, largest, total = results
    small = scores_are_small(head, rule, working)
    power, unit = (np.exp2, math.log(2)) if small and EXP2_IS_FAST else (np.exp, 1.0)

    # One more column on each side: the products then give dP − D, and S − LSE, in one go.
    # A row that saw nothing gets −∞ there, so that its weights are 0. Not so with a float mask: it may lift or
    # sink all scores of a row by so much that what is small beside it would be rounded away.
    floating = rule.mask is not None and rule.mask.dtype != bool
    with np.errstate(divide="ignore"):  # a total of NaN is not 0, and stays NaN
        lse = np.zeros_like(total) if floating else np.where(total == 0, np.inf, largest + np.log(total))
    query, key, value, grad_output = (matrix(x, working) for x in (*head, grad_output))
    scaled_query, scaled_key = query * rule.scale, key * rule.scale
    query_less = with_column(scaled_query / unit, -lse / unit)
    key_one = with_column(key, 1)
    grad_output_less = with_column(grad_output, -np.einsum("nd,nd->n", grad_output, output, dtype=working))
    value_one = with_column(value, 1)

    for first in range(0, len(query), BACKWARD_TILES.queries):
        last = min(first + BACKWARD_TILES.queries, len(query))
        for top, bottom, left, right in rectangles(first, last, len(key), rule.is_causal, BACKWARD_TILES):
            rows, columns = slice(top, bottom), slice(left, right)
            weights, dscores = (part(memory, bottom - top, right - left) for memory in scratch)
            np.matmul(query_less[rows], key_one[columns].T, out=weights)
            if small:
                power(weights, out=weights)
                hide(weights, 0, top, left, rule)
            else:
                hide(weights, -np.inf, top, left, rule)
                if floating:
                    weights -= largest[rows, None]
                power(weights, out=weights)
                if floating:
                    weights /= np.where(total == 0, 1, total)[rows, None]
            gradients.value[columns] += weights.T @ grad_output[rows]
            np.matmul(grad_output_less[rows], value_one[columns].T, out=dscores)
            dscores *= weights
            gradients.query[rows] += dscores @ scaled_key[columns]
            gradients.key[columns] += dscores.T @ scaled_query[rows]


def with_column(matrix: np.ndarray, column: np.ndarray | float) -> np.ndarray:
    """The matrix with one more column at its right."""
    wider = np.empty((matrix.shape[0], matrix.shape[1] + 1), matrix.dtype)
    wider[:, :-1] = matrix
    wider[:, -1] = column
    return wider
