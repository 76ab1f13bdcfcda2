"""FlashAttention's algorithm, compiled: what NumPy does in passes over a tile, here is one loop over its rows.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

The algorithm is that of `numpy_tiled.py`; read that first. There, each operation (hide, maximum, subtract, exp, sum)
reads and writes the whole tile. Numba compiles a loop in which a row is finished while it is in the first cache
(`exponentials`). Only the matrix products still go to BLAS.

exp is written out (`exp2`), because a call to a library's exp in a loop keeps the compiler from working on 8 or 16
numbers at once. Everything is to base 2, with log₂ e folded into the scale: 2^x is easier to take apart.

The first call compiles for some seconds; the result is kept on disk.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numba.extending
import numpy as np

from sdpa_helpers.attention.layout import Answer, Head, Rule, State, Tiles, Wants, heads_of, leading_shape
from sdpa_helpers.attention.small_scores import scores_are_small

if TYPE_CHECKING:
    from jaxtyping import Float

    from sdpa_helpers.attention.call_facts import Call

TILES = Tiles(queries=512, keys=512, diagonal=64)
BACKWARD_TILES = Tiles(queries=512, keys=256, diagonal=128)

LOG2_E = math.log2(math.e)

# What the compiler may do to the loops below: add in any order, and a · b + c in one go. Not assume that there is
# no infinity and no NaN: −∞ hides a score, and NaN must come through.
FAST = {"reassoc", "contract", "nsz", "arcp"}


def compiled(function: Any = None, **options: Any) -> Any:
    """Numba's njit; keeps the machine code on disk where there is a place for it."""
    if function is None:
        return lambda f: compiled(f, **options)
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written to
        return numba.njit(nogil=True, error_model="numpy", **options)(function)


class RowsRule(NamedTuple):
    """`layout.Rule` for one tile of queries, as compiled functions take it."""

    allowed: np.ndarray  # the boolean mask of these rows; empty where there is none
    bias: np.ndarray  # the float mask of these rows; empty where there is none
    first: int  # the number of the first of these queries
    is_causal: bool
    scale: float


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
    working = np.result_type(query.dtype, np.float32)
    output = np.zeros((*lead, n_q, value.shape[-1]), dtype=working)
    whole = State(output, *np.zeros((2, *lead, n_q), dtype=working))
    rule = rule.in_full(n_q, n_k)
    scratch = scratch_for(TILES, n_q, n_k, working)
    for index in heads_of(lead):
        head = Head(*(matrix(x, working) for x in arrays.at(index, lead)))
        rule_here, results = rule.at(index, lead), whole.at(index)
        small = scores_are_small(head, rule_here, working)
        if not small:
            results.largest[:] = np.finfo(working).min
        for first in range(0, n_q, TILES.queries):
            rows = slice(first, first + TILES.queries)
            some = head._replace(query=head.query[rows])
            of_rows = rule_of_rows(rule_here, rows, working)
            attend_rows(some, of_rows, small, TILES, scratch, State(*(x[rows] for x in results)))
    return whole._replace(output=output.astype(query.dtype, copy=False))


@compiled
def attend_rows(head, rule, small, tiles, scratch, results):
    """One tile of queries against all keys that they see: writes to `results`."""
    query, key, value = head
    output, largest, total = results
    bias = rule.bias
    # With a float mask the scores stay to base e until their largest is subtracted: the lowest float32 · log₂ e
    # would overflow.
    early, late = (1.0, LOG2_E) if bias.size else (LOG2_E, 1.0)
    scaled_query = query * query.dtype.type(rule.scale * early)
    late = query.dtype.type(late)
    for number in range(rectangles(rule, len(query), len(key), tiles)):
        top, bottom, left, right = rectangle(number, rule, len(query), len(key), tiles)
        scores = scratch[0, : (bottom - top) * (right - left)].reshape(bottom - top, right - left)
        np.dot(scaled_query[top:bottom], key[left:right].T, scores)
        hide(scores, top, left, rule)
        if not small:
            subtract_largest(scores, late, output[top:bottom], largest[top:bottom], total[top:bottom])
        exponentials(scores, total[top:bottom])
        values = np.dot(scores, value[left:right])
        add(output[top:bottom], values)
    for i in range(len(output)):
        if total[i] != 0:  # a row that has seen nothing keeps its zeros
            output[i] /= total[i]
        if bias.size == 0:
            largest[i] /= LOG2_E


@compiled
def subtract_largest(scores, late, values, largest, total):
    """score − largest, in place; where a row brings a larger score, its sums so far shrink."""
    for i in range(scores.shape[0]):
        m = max(largest[i], largest_of(scores, i))
        shrink = exp2((largest[i] - m) * late)
        if shrink != 1:
            total[i] *= shrink
            for c in range(values.shape[1]):
                values[i, c] *= shrink
        largest[i] = m
        for j in range(scores.shape[1]):
            scores[i, j] = (scores[i, j] - m) * late


@compiled(fastmath=FAST)
def exponentials(scores, total):
    """2^score in place; the sums of the rows are added to `total`."""
    for i in range(scores.shape[0]):
        subtotal = scores.dtype.type(0)
        for j in range(scores.shape[1]):
            weight = exp2(scores[i, j])
            scores[i, j] = weight
            subtotal += weight
        total[i] += subtotal


@compiled(fastmath=FAST)
def largest_of(scores, i):
    """Of row i. Four maxima side by side: one alone would have to wait for each comparison."""
    a = b = c = d = scores[i, 0]
    whole = scores.shape[1] // 4 * 4
    for j in range(0, whole, 4):
        a, b = max(a, scores[i, j]), max(b, scores[i, j + 1])
        c, d = max(c, scores[i, j + 2]), max(d, scores[i, j + 3])
    for j in range(whole, scores.shape[1]):
        a = max(a, scores[i, j])
    return max(max(a, b), max(c, d))


@compiled
def hide(scores, top, left, rule):
    """−∞ where the query of that row may not attend to the key of that column; add a float mask."""
    n, width = scores.shape
    allowed, bias = rule.allowed, rule.bias
    for i in range(n if allowed.size else 0):
        for j in range(width):
            if not allowed[top + i, left + j]:
                scores[i, j] = -np.inf
    for i in range(n if bias.size else 0):
        for j in range(width):
            scores[i, j] += bias[top + i, left + j]
    for i in range(n if rule.is_causal else 0):
        for j in range(max(0, rule.first + top + i + 1 - left), width):
            scores[i, j] = -np.inf


@compiled(fastmath=FAST)
def add(to, what):
    """to += what: NumPy's own would go through more general, slower loops here."""
    for i in range(to.shape[0]):
        for c in range(to.shape[1]):
            to[i, c] += what[i, c]


# `layout.rectangles` in a form that can be compiled: how many there are, and number so and so.


@compiled
def rectangles(rule, n, n_k, tiles):
    if not rule.is_causal:
        return (n_k + tiles.keys - 1) // tiles.keys
    thin = (n + tiles.diagonal - 1) // tiles.diagonal if rule.first < n_k else 0
    return (min(rule.first, n_k) + tiles.keys - 1) // tiles.keys + thin


@compiled
def rectangle(number, rule, n, n_k, tiles):
    """(top, bottom, left, right); rows are counted from `rule.first`."""
    straight = min(rule.first, n_k) if rule.is_causal else n_k
    full = (straight + tiles.keys - 1) // tiles.keys
    if number < full:
        return 0, n, number * tiles.keys, min((number + 1) * tiles.keys, straight)
    top = (number - full) * tiles.diagonal
    bottom = min(top + tiles.diagonal, n)
    return top, bottom, rule.first, min(rule.first + bottom, n_k)


# 2^x -------------------------------------------------------------------------------------------------------

# 2^x = 2^n · 2^f, with n the nearest integer. 2^n is made by putting n into the exponent's bits; 2^f, for
# −½ ≤ f ≤ ½, is a polynomial of degree 5, whose relative error of 10⁻⁷ is float32's own.
_OF_2_TO_F = np.polynomial.Chebyshev.interpolate(lambda f: 2**f, 5, domain=[-0.5, 0.5])
C0, C1, C2, C3, C4, C5 = (np.float32(c) for c in _OF_2_TO_F.convert(kind=np.polynomial.Polynomial).coef)
HALF = np.float32(0.5)
LOWEST = np.float32(-127)  # 2^−127 and below become 0


def exp2(x: Any) -> Any:
    """2^x for x < 128; 0 for x ≤ −127. Here for readers; compiled functions get one of the two below."""
    return np.exp2(x)


@numba.extending.overload(exp2)
def _compiled_exp2(x):
    return _exp2_float32 if x == numba.float32 else np_exp2


def np_exp2(x):
    return np.exp2(x)  # float64 is for accuracy, not for speed


def _exp2_float32(x):
    x = LOWEST if x < LOWEST else x  # written so that NaN stays NaN
    n = np.floor(x + HALF)
    f = x - n
    bits = np.int32((np.int32(n) + 127) << 23)  # n and the exponent's bias, above the 23 bits of the rest
    power = bits.view(np.float32)
    return power * (C0 + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * C5)))))


# Backward --------------------------------------------------------------------------------------------------


def attention_backward(
    arrays: Head, rule: Rule, enable_gqa: bool, whole: State, grad_output: Float[np.ndarray, "... n_q d_v"]
) -> Head:
    """Gradients for query, key and value; the derivation is in `numpy_tiled.attention_backward`."""
    lead = leading_shape(*arrays, enable_gqa)
    n_q, n_k = arrays.query.shape[-2], arrays.key.shape[-2]
    working = np.result_type(arrays.query.dtype, np.float32)
    rule = rule.in_full(n_q, n_k)
    gradients = Head(*(np.zeros(x.shape, working) for x in arrays))
    scratch = scratch_for(BACKWARD_TILES, n_q, n_k, working)
    for index in heads_of(lead):
        head = Head(*(matrix(x, working) for x in arrays.at(index, lead)))
        # Heads that share a key get views of the same matrix here, in which their gradients add up.
        grads = gradients.at(index, lead)
        grad = matrix(grad_output[index], working)
        results = whole.at(index)._replace(output=matrix(whole.output[index], working))
        for first in range(0, n_q, BACKWARD_TILES.queries):
            rows = slice(first, first + BACKWARD_TILES.queries)
            backward_rows(
                head._replace(query=head.query[rows]),
                rule_of_rows(rule.at(index, lead), rows, working),
                State(*(x[rows] for x in results)),
                grad[rows],
                BACKWARD_TILES,
                scratch,
                grads._replace(query=grads.query[rows]),
            )
    return Head(*(x.astype(arrays.query.dtype, copy=False) for x in gradients))


@compiled
def backward_rows(head, rule, results, grad_output, tiles, scratch, gradients):
    """One tile of queries against all keys that they see: adds to `gradients`."""
    query, key, value = head
    output, largest, total = results
    dq, dk, dv = gradients
    bias = rule.bias
    scaled_query = query * query.dtype.type(rule.scale)
    shift, factor = np.empty_like(total), np.empty_like(total)
    for i in range(len(total)):
        # Without a float mask the total goes into the exponent too; a row that saw nothing gets 2^−∞.
        factor[i] = 1 / total[i] if bias.size and total[i] != 0 else 1
        shift[i] = largest[i] if bias.size else largest[i] + np.log(total[i]) if total[i] != 0 else np.inf
    dq_unscaled = np.zeros_like(query)
    less = np.empty_like(total)
    for i in range(len(total)):
        less[i] = np.sum(grad_output[i] * output[i])

    for number in range(rectangles(rule, len(query), len(key), tiles)):
        top, bottom, left, right = rectangle(number, rule, len(query), len(key), tiles)
        size = (bottom - top) * (right - left)
        weights = scratch[0, :size].reshape(bottom - top, right - left)
        dscores = scratch[1, :size].reshape(bottom - top, right - left)
        np.dot(scaled_query[top:bottom], key[left:right].T, weights)
        np.dot(grad_output[top:bottom], value[left:right].T, dscores)
        hide(weights, top, left, rule)
        differentiate(weights, dscores, shift[top:bottom], factor[top:bottom], less[top:bottom])
        add(dv[left:right], np.dot(weights.T, grad_output[top:bottom]))
        add(dq_unscaled[top:bottom], np.dot(dscores, key[left:right]))
        add(dk[left:right], np.dot(dscores.T, scaled_query[top:bottom]))
    add(dq, dq_unscaled * query.dtype.type(rule.scale))


@compiled(fastmath=FAST)
def differentiate(scores, grad_weights, shift, factor, less):
    """In place: scores become weights P, and grad_weights dP becomes P ∘ (dP − D)."""
    log2_e = scores.dtype.type(LOG2_E)
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            weight = exp2((scores[i, j] - shift[i]) * log2_e) * factor[i]
            scores[i, j] = weight
            grad_weights[i, j] = weight * (grad_weights[i, j] - less[i])


# Arrays as the compiled functions take them: of one type each, or all would be compiled again --------------


def matrix(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Of that dtype, rows one after the other, writable: a copy only where the array is not so already."""
    array = np.ascontiguousarray(array, dtype=dtype)
    return array if array.flags.writeable else array.copy()


def rule_of_rows(rule: Rule, rows: slice, dtype: Any) -> RowsRule:
    """A head's rule for these rows."""
    allowed, bias = np.empty((0, 0), bool), np.empty((0, 0), dtype)
    if rule.mask is not None and rule.mask.dtype == bool:
        allowed = matrix(rule.mask[rows], bool)
    elif rule.mask is not None:
        with np.errstate(over="ignore"):
            bias = matrix(rule.mask[rows], dtype)
    return RowsRule(allowed, bias, rows.start, rule.is_causal, rule.scale)


def scratch_for(tiles: Tiles, n_q: int, n_k: int, dtype: Any) -> np.ndarray:
    """Room for two of the largest tiles, to be used again for every tile."""
    return np.empty((2, min(tiles.queries, n_q) * min(max(tiles.keys, tiles.queries), n_k)), dtype)
