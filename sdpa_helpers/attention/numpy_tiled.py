"""FlashAttention in NumPy, made fast: the algorithm of `numpy_flash.py`, which is to be read first.

In NumPy each operation is a pass over a tile: the fewer passes, and the less memory they touch, the better. What was
added, and how many times as long it takes without it, for 8 heads of 2048 queries and keys, d = 64, float32, one core,
unless it says otherwise (Intel Xeon with AVX-512, two cores that others used too, version 0.2):

- 1.35: no maximum is subtracted where no score is large (`small_scores.py`).
- 1.1: exp2, with log₂ e in the scale, where NumPy has it in vector instructions.
- 1.04: the memory of a tile is used again.
- 1.05: row sums are products, with ones; the first tile is no sum: it goes where the output belongs.
- 2.5: tiles of 512 × 512, not 64 × 64. They still fit into a core's own cache, and products are faster.
- 1.3: tiles on the diagonal are thin, so that less of them is computed in vain (is_causal, 512 queries).
- 1.25: several short heads at a time, as many as have the scores of one tile (32 heads of 128 queries, d = 128).
- 7: keys that nobody sees are left out (90 % padding).
- 1.2: tiles seen in full have no mask (10 % padding).
- threads, which take whole pieces, rather than BLAS's own, which divide each product: on a busy machine anything from
  0.9 to 17 (both cores, by the clock).

That it begins without a maximum has a price: a float mask may make it begin again (`careful`). The
scale is applied to queries, n × d numbers, not to scores. Gradients: `numpy_backward.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sdpa_helpers.attention import numpy_backward
from sdpa_helpers.attention.layout import BackendResult, Head, Rule, State, Tiles, Wants
from sdpa_helpers.attention.numpy_plan import (
    EXP2_IS_FAST,
    Plan,
    Rows,
    add_mask,
    batches,
    blocks,
    hide,
    multiply_adds,
    part,
    plan_of,
    room_for,
    tiles_of,
)
from sdpa_helpers.attention.small_scores import (
    SMALL_SCORE,
    are_moderate,
    changes_scores,
    largest_norm,
)
from sdpa_helpers.attention.threads import for_each

if TYPE_CHECKING:
    from sdpa_helpers.attention.call_facts import Call
    from sdpa_helpers.attention.layout import SomeHeads
    from sdpa_helpers.attention.walk import Tile

# 512 × 512 float32 are 1 MiB: in a core's own cache, and large enough for the matrix products to be fast.
TILES = Tiles(queries=512, keys=512, diagonal=128)
# · d_k keys, from which on to prove that all scores are small costs less than to look at them.
WORTH_A_PROOF = 16
SMALLEST_TOTAL = math.exp(-SMALL_SCORE)  # beside which what underflowed, below 10^−38, does not count

attention_backward = numpy_backward.attention_backward


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    return "it never holds all weights, so it cannot return them" if call.return_weights else ""


def attention(arrays: Head, rule: Rule, wants: Wants) -> BackendResult:
    """The attended values, in the dtype of the query, and each query's LSE."""
    whole = attention_forward(arrays, rule, wants.enable_gqa)
    return BackendResult(whole.output, None, whole.lse() if wants.return_lse else None)


class TileMemory(NamedTuple):
    """Memory that a thread uses again for each tile."""

    scores: np.ndarray
    values: np.ndarray  # a tile's part of the output


def attention_forward(arrays: Head, rule: Rule, enable_gqa: bool = False) -> State:
    """The attended values and, for the backward pass, each query's m and Σⱼ exp(sⱼ − m)."""
    plan = plan_of(arrays, rule, enable_gqa, TILES)
    n_q, d_v, working = arrays.query.shape[-2], arrays.value.shape[-1], plan.arrays.query.dtype
    whole = State(np.zeros((*plan.lead, n_q, d_v), working), *np.zeros((2, *plan.lead, n_q), working))
    rows_of_all = [rows for some in batches(plan) for rows in blocks(some, 0, n_q, plan)]
    most = max((rows.some.heads * (rows.last - rows.first) for rows in rows_of_all), default=0)
    for_each(
        lambda rows, room: attend(rows, plan, room, whole),
        rows_of_all,
        lambda rows: multiply_adds(rows, plan),
        lambda: TileMemory(room_for(plan), np.empty(most * d_v, working)),
    )
    return whole._replace(output=whole.output.astype(arrays.query.dtype, copy=False))


def attend(rows: Rows, plan: Plan, room: TileMemory, whole: State, careful: bool = False) -> None:
    """Some queries of some heads against all keys that they see: writes to `whole`, which is 0.

    It begins without a maximum. Where scores are not `proved` to be small, each tile is looked at; from the first one
    with a large score on, it is `subtracting`, as `numpy_flash.py` is from the start. Under a float mask all begins
    again there, for rows before may have lost what it sank, and so it does if it has left some row next to no total.

    careful: subtract the largest score of each row in any case. So it is with values that are very large or small, and
    with a score_mod: many, like ALiBi, lower the scores of a row so far that all would have to begin again.
    """
    some, first, last = rows
    # (h, n, d), or (1, n, d) for all these heads.
    all_queries, key, value = plan.arrays.some_at(some, plan.lead)
    rule = plan.rule.at(some.start, plan.lead)
    proved, changed = are_proved_small(rows, plan), changes_scores(rule)
    careful = careful or rule.score_mod is not None or not (proved or have_moderate_values(some, plan))
    output, largest, total = (array[:, first:last] for array in whole.some_at(some, plan.lead))
    unit = math.log(2) if EXP2_IS_FAST and not (changed or careful) else 1.0  # scores are multiples of it
    query = scaled(all_queries[:, first:last], rule.scale / unit)  # (h, rows, d_k)
    subtracting = False  # the largest score of each row, from its other scores

    tiles = tiles_of(rows, rule, plan)
    for tile in tiles:
        top, bottom, left, right, _ = tile
        here, columns = slice(top - first, bottom - first), slice(left, right)
        sums_here = State(output[:, here], largest[:, here], total[:, here])
        scores = part(room.scores, some.heads, bottom - top, right - left)
        np.matmul(query[:, here], key[:, columns].swapaxes(1, 2), out=scores)  # (h, rows, keys)
        if not proved:
            change(scores, tile, rule)
        if not (proved or subtracting) and (careful or not are_small(scores, unit, changed)):
            if changed and not careful and tile is not tiles[0]:
                return attend_again(rows, plan, room, whole)
            subtracting = True
            if unit != 1:  # made anew, not multiplied, so that equal scores are equal in all tiles
                query, unit = scaled(all_queries[:, first:last], rule.scale), 1.0
                np.matmul(query[:, here], key[:, columns].swapaxes(1, 2), out=scores)
            # Not −∞: −∞ − (−∞) is NaN, where a row sees nothing.
            largest[...] = np.where(total == 0, np.finfo(scores.dtype).min, 0)
        begun = total[:, here].any()  # else the output need not be read and added to
        if subtracting:  # what may not be attended to is hidden as a score, −∞
            hide(scores, -np.inf, tile, rule)
            weights = exponentials(scores, sums_here)
        else:  # … and here as a weight, 0
            weights = np.exp(scores, out=scores) if unit == 1 else np.exp2(scores, out=scores)
            hide(weights, 0, tile, rule)
        add(weights, value[:, columns], sums_here, room.values if begun else None)
    if changed and not (subtracting or careful) and total.min(initial=1) < SMALLEST_TOTAL:
        return attend_again(rows, plan, room, whole)
    output /= np.where(total == 0, 1, total)
    return None


def attend_again(rows: Rows, plan: Plan, room: TileMemory, whole: State) -> None:
    """`attend`, careful, after what it has written is put back to 0."""
    for array in whole.some_at(rows.some, plan.lead):
        array[:, rows.first : rows.last] = 0
    attend(rows, plan, room, whole, careful=True)


def scaled(query: np.ndarray, factor: float) -> np.ndarray:
    """n × d numbers times the scale, rather than n × n."""
    return query * query.dtype.type(factor)


def are_proved_small(rows: Rows, plan: Plan) -> bool:
    """As `small_scores.scores_are_small`, for these queries; what is to be known of their keys is found out once."""
    query, key, _ = plan.arrays.some_at(rows.some, plan.lead)
    n_k, d_k = key.shape[1:]
    if changes_scores(plan.rule) or d_k == 0 or n_k < WORTH_A_PROOF * d_k:
        return False
    if not have_moderate_values(rows.some, plan):
        return False
    if rows.some not in plan.bounds:
        plan.bounds[rows.some] = largest_norm(key)
    largest = largest_norm(query[:, rows.first : rows.last])
    return abs(plan.rule.scale) * largest * plan.bounds[rows.some] < SMALL_SCORE


def have_moderate_values(some: SomeHeads, plan: Plan) -> bool:
    """`small_scores.are_moderate`, of these heads' values, found out once."""
    if some not in plan.moderate:
        plan.moderate[some] = are_moderate(plan.arrays.some_at(some, plan.lead).value)
    return plan.moderate[some]


def are_small(scores: np.ndarray, unit: float, changed: bool) -> bool:
    """Whether weights may be exp(score), without a maximum that is subtracted first. NaN makes it false.

    A mask or a score_mod may make some of them as low as it likes, if only the row's total is not too small in the end.
    """
    limit = SMALL_SCORE / unit
    high = bool(scores.max(initial=0) < limit)
    low = changed or bool(scores.min(initial=0) > -limit)
    return high and low


def change(scores: np.ndarray, tile: Tile, rule: Rule) -> None:
    """Apply a score_mod, and add a float mask."""
    if rule.score_mod is not None:  # such a rule is of one head alone
        i, j = np.arange(tile.top, tile.bottom)[:, None], np.arange(tile.left, tile.right)
        scores[0] = rule.score_mod(scores[0], i, j)
    add_mask(scores, tile, rule)


def exponentials(scores: np.ndarray, sums: State) -> np.ndarray:
    """exp(score − largest), in place; when a tile brings a larger score, the sums so far shrink."""
    output, largest, total = sums
    larger = np.maximum(largest, scores.max(axis=-1, keepdims=True))  # (h, rows, 1)
    shrink = np.exp(largest - larger)
    total *= shrink
    output *= shrink
    largest[...] = larger
    scores -= larger
    return np.exp(scores, out=scores)


def add(weights: np.ndarray, value: np.ndarray, sums: State, room: np.ndarray | None) -> None:
    """Add this tile to both sums; the first one needs no room, for it goes where the sum belongs."""
    output, _, total = sums
    total += weights @ np.ones((weights.shape[-1], 1), weights.dtype)  # (h, rows, 1): faster than a sum
    if room is None:
        np.matmul(weights, value, out=output)
    else:
        output += np.matmul(weights, value, out=part(room, *output.shape))
