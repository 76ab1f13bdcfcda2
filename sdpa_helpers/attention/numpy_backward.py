"""The gradients of `numpy_tiled.py`. The weights are not kept, but made again, tile by tile.

With P the weights, S the scaled scores, and of each query its LSE and D:

    P = exp(S − LSE)                               dV = Pᵀ dO          dP = dO Vᵀ
    dS = P ∘ (dP − D),  D = rowsum(dO ∘ O)         dQ = dS K · scale   dK = dSᵀ Q · scale

D is what rowsum(P ∘ dP), the softmax's own derivative, comes to (Dao et al. 2022, appendix B.4).

Each tile adds to the gradients of its keys, which other queries and other heads share. So threads share out runs of
queries, each with gradients of its own, and these are added up at the end, in an order that does not depend on the
number of threads: the same numbers come out on every machine with the same NumPy.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sdpa_helpers.attention.layout import Head, Rule, State, Tiles, matrices_at
from sdpa_helpers.attention.numpy_plan import (
    EXP2_IS_FAST,
    Plan,
    Rows,
    add_mask,
    as_blas_takes_it,
    batches,
    blocks,
    hide,
    multiply_adds,
    part,
    plan_of,
    room_for,
    tiles_of,
)
from sdpa_helpers.attention.small_scores import ROUGH_SCORE, SMALL_SCORE, bound_of_scores
from sdpa_helpers.attention.threads import for_each
from sdpa_helpers.attention.walk import is_boolean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxtyping import Float

    from sdpa_helpers.attention.layout import Shape

TILES = Tiles(queries=512, keys=256, diagonal=128)  # two tiles at once in a core's own cache
RUNS = 4  # at least so many for threads to share out, where there are as many heads, or twice as many blocks


class Run(NamedTuple):
    """Blocks of queries that one thread goes through one after the other."""

    blocks: list[Rows]
    number: int  # of the gradients that it adds to: no other run adds to the same matrices of these


class SharedByThreads(NamedTuple):
    """What all threads read."""

    plan: Plan
    whole: State
    grad_output: np.ndarray


def attention_backward(
    arrays: Head, rule: Rule, enable_gqa: bool, whole: State, grad_output: Float[np.ndarray, "... n_q d_v"]
) -> Head:
    """Gradients for query, key and value, from what `numpy_tiled.attention_forward` returned; no score_mod."""
    if rule.score_mod is not None:
        raise ValueError("the backward pass does not know the derivative of a score_mod")
    plan = plan_of(arrays, rule, enable_gqa, TILES)
    working = plan.arrays.query.dtype
    whole = whole._replace(output=as_blas_takes_it(whole.output, working))
    known = SharedByThreads(plan, whole, as_blas_takes_it(grad_output, working))
    runs = list(runs_of(plan))
    gradients = [Head(*(np.zeros(x.shape, working) for x in arrays))]
    for _ in range(max((run.number for run in runs), default=0)):
        gradients.append(Head(gradients[0].query, *(np.zeros(x.shape, working) for x in arrays[1:])))
    for_each(
        lambda run, rooms: backward_run(run, known, gradients[run.number], rooms),
        runs,
        lambda run: 2.5 * sum(multiply_adds(rows, plan) for rows in run.blocks),
        lambda: (room_for(plan), room_for(plan)),
    )
    for more in gradients[1:]:
        gradients[0].key[...] += more.key
        gradients[0].value[...] += more.value
    return Head(*(x.astype(arrays.query.dtype, copy=False) for x in gradients[0]))


def runs_of(plan: Plan) -> Iterator[Run]:
    """All queries of all heads. Heads that share a gradient are in one run, or in several with gradients of their own.

    That is for calls with few heads. It depends on shapes alone, so that results do too, not on the number of threads.
    """
    n_q = plan.arrays.query.shape[-2]
    groups: dict[Shape, list[Rows]] = {}
    for some in batches(plan):
        groups.setdefault(group_of(some.start, plan), []).extend(blocks(some, 0, n_q, plan))
    own_queries = plan.arrays.query.shape[:-2] == plan.lead  # else heads share the gradients of queries too
    wanted = -(-RUNS // max(1, len(groups))) if own_queries else 1
    for group in groups.values():
        count = max(1, min(wanted, len(group) // 2))  # each run prepares its keys anew
        for number in range(count):
            yield Run(group[number::count], number)  # with is_causal, later blocks are more work


def group_of(index: Shape, plan: Plan) -> Shape:
    """The same for two heads that share a matrix with each other, or with a third that shares one with the other.

    Of 8 heads that share 4 keys and 2 values, it is that of the values: each dimension falls into as many groups as
    the greatest common divisor says.
    """
    owns = [(1,) * (len(plan.lead) - x.ndim + 2) + x.shape[:-2] for x in plan.arrays]
    return tuple(i * math.gcd(*own) // size for i, size, *own in zip(index, plan.lead, *owns, strict=True))


class Keys(NamedTuple):
    """The key and value of some heads, (h or 1, n_k, …), as all their queries need them."""

    scaled_key: np.ndarray
    key_one: np.ndarray  # one more column, of ones
    value_one: np.ndarray
    are_small: bool  # their scores
    are_rough: bool


def backward_run(
    run: Run, known: SharedByThreads, gradients: Head, rooms: tuple[np.ndarray, np.ndarray]
) -> None:
    """Adds to the gradients what comes through the output of these queries."""
    for some, of_some in itertools.groupby(run.blocks, lambda rows: rows.some):
        head, rule = known.plan.arrays.some_at(some, known.plan.lead), known.plan.rule
        key, value = head.key, head.value  # (h, n_k, d), or (1, n_k, d) for all these heads
        bound = bound_of_scores(head, rule, key.dtype)
        keys = Keys(
            key * key.dtype.type(rule.scale),
            with_column(key, 1),
            with_column(value, 1),
            are_small=bound < SMALL_SCORE,
            are_rough=not bound < ROUGH_SCORE,
        )
        for rows in of_some:
            backward_rows(rows, keys, known, gradients.some_at(some, known.plan.lead), rooms)


def backward_rows(
    rows: Rows, keys: Keys, known: SharedByThreads, gradients: Head, rooms: tuple[np.ndarray, np.ndarray]
) -> None:
    """As `backward_run`, for one block of queries; gradients: of its heads."""
    plan, some, these = known.plan, rows.some, slice(rows.first, rows.last)
    rule = plan.rule.at(some.start, plan.lead)
    power, unit = (np.exp2, math.log(2)) if keys.are_small and EXP2_IS_FAST else (np.exp, 1.0)
    query = matrices_at(some, plan.lead, plan.arrays.query)[:, these]  # (h, rows, d_k)
    grad_output = matrices_at(some, plan.lead, known.grad_output)[:, these]  # (h, rows, d_v)
    output, largest, total = (array[:, these] for array in known.whole.some_at(some, plan.lead))

    # One more column on each side: the products then give dP − D, and S − LSE, in one go.
    # A row that saw nothing gets −∞ there, so that its weights are 0. Not so with a float mask: it may lift or
    # sink all scores of a row by so much that what is small beside it would be rounded away.
    floating = rule.mask is not None and not is_boolean(rule.mask)
    with np.errstate(divide="ignore"):  # a total of NaN is not 0, and stays NaN
        lse = np.zeros_like(total) if floating else np.where(total == 0, np.inf, largest + np.log(total))
    total = np.where(total == 0, 1, total)  # (h, rows, 1), as are `lse` and `largest`
    scaled_query = query * query.dtype.type(rule.scale)
    query_less = with_column(scaled_query / query.dtype.type(unit), -lse / unit)
    grad_output_less = with_column(grad_output, -np.einsum("hnd,hnd->hn", grad_output, output)[..., None])

    for tile in tiles_of(rows, rule, plan):
        here, columns = slice(tile.top - rows.first, tile.bottom - rows.first), slice(tile.left, tile.right)
        shape = some.heads, tile.bottom - tile.top, tile.right - tile.left
        weights, dscores = (part(room, *shape) for room in rooms)
        np.matmul(query_less[:, here], keys.key_one[:, columns].swapaxes(1, 2), out=weights)
        if keys.are_small:
            power(weights, out=weights)
            hide(weights, 0, tile, rule)
        else:
            add_mask(weights, tile, rule)
            hide(weights, -np.inf, tile, rule)
            if floating:
                weights -= largest[:, here]
            elif keys.are_rough:
                np.minimum(weights, 0, out=weights)
            power(weights, out=weights)
            if floating:
                weights /= total[:, here]
        add_up(gradients.value[:, columns], weights.swapaxes(1, 2) @ grad_output[:, here])
        np.matmul(grad_output_less[:, here], keys.value_one[:, columns].swapaxes(1, 2), out=dscores)
        dscores *= weights
        add_up(gradients.query[:, tile.top : tile.bottom], dscores @ keys.scaled_key[:, columns])
        add_up(gradients.key[:, columns], dscores.swapaxes(1, 2) @ scaled_query[:, here])


def add_up(gradient: np.ndarray, more: np.ndarray) -> None:
    """(h, n, d) to (h, n, d), or, where these heads share it, to (1, n, d)."""
    gradient += more if len(gradient) == len(more) else more.sum(axis=0, keepdims=True)


def with_column(matrices: np.ndarray, column: np.ndarray | float) -> np.ndarray:
    """The matrices with one more column at the right."""
    lead = np.broadcast_shapes(matrices.shape[:-1], np.shape(column)[:-1])
    wider = np.empty((*lead, matrices.shape[-1] + 1), matrices.dtype)
    wider[..., :-1] = matrices
    wider[..., -1:] = column
    return wider
