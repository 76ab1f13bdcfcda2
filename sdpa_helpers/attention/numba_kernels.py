"""FlashAttention's algorithm, compiled: what NumPy does in passes over a tile, here is one loop over its rows.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

The algorithm is that of `numpy_flash.py`; read that first, then `attend_rows` here. In NumPy each operation (hide,
maximum, subtract, exp, sum) reads and writes the whole tile. Numba compiles a loop in which a row is finished while it
is in the first cache (`exponentials`). Only the matrix products still go to BLAS.

exp is written out (`exp2`), because a call to a library's exp in a loop keeps the compiler from working on 8 or 16
numbers at once. Everything is to base 2, with log₂ e folded into the scale: 2^x is easier to take apart.

The first call compiles for some seconds; the result is kept on disk. All compiled functions are in this file, because
Numba compiles anew where the file of a function has changed, and does not look at the files of others that it calls.
Who calls them, with which heads and tiles: `numba_tiled.py`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numba.extending
import numpy as np

from sdpa_helpers.attention.layout import Head, State
from sdpa_helpers.attention.small_scores import LEAST_VALUE, SMALL_SCORE, SMALL_VALUE

LOG2_E = math.log2(math.e)

# What the compiler may do to the loops below: add in any order, and a · b + c in one go. Not assume that there is
# no infinity and no NaN: −∞ hides a score, and NaN must come through.
FAST = {"reassoc", "contract", "nsz", "arcp"}


def compiled(function: Any = None, **options: Any) -> Any:
    """Numba's njit; keeps the machine code on disk where there is a place for it."""
    if function is None:
        return lambda f: compiled(f, **options)
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True} | options
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither this folder nor the user's cache can be written to
        return numba.njit(**options)(function)


def compiled_part(function: Any = None, **options: Any) -> Any:
    """For what only compiled functions call: without the entry for Python, which takes long to compile."""
    return compiled(function, no_cpython_wrapper=True, **options)


# What the compiled functions are given ----------------------------------------------------------------------


class Matrices(NamedTuple):
    """The matrices of all heads, numbered: (how many, rows, columns)."""

    query: np.ndarray  # (·, n_q, d_k)
    key: np.ndarray  # (·, n_k, d_k)
    value: np.ndarray  # (·, n_k, d_v)
    # (heads, 3): the numbers of the query, the key and the value of each head of the answer
    serves: np.ndarray


class Task(NamedTuple):
    """Some queries of some heads, and the tiles of scores that these need: the same for each of the heads."""

    heads: np.ndarray  # their numbers
    first: int  # of the queries first … last − 1
    last: int
    # (tiles, 6): top, bottom, left, right, start, rows; top and bottom are counted from `first`
    tiles: np.ndarray
    # What a tile sees, (rows, width), begins at start; rows is 1 if all see the same, 0 if all is seen.
    seen: np.ndarray
    bias: np.ndarray  # (rows, n_k), or (1, n_k) for all rows: the float mask; (0, 0): there is none
    scale: float


class Derivative(NamedTuple):
    """Of all heads: what the forward pass left, and the derivative that comes from behind."""

    output: np.ndarray  # (heads, n_q, d_v)
    largest: np.ndarray  # (heads, n_q)
    total: np.ndarray  # (heads, n_q)
    grad_output: np.ndarray  # (heads, n_q, d_v)


# Forward ----------------------------------------------------------------------------------------------------


@compiled
def attend(matrices, task, scratch, whole):
    """Each head of the task: writes to its rows of `whole`, a State of all heads."""
    rows = slice(task.first, task.last)
    for number in task.heads:
        q, k, v = matrices.serves[number, 0], matrices.serves[number, 1], matrices.serves[number, 2]
        head = Head(matrices.query[q, rows], matrices.key[k], matrices.value[v])
        state = State(whole.output[number, rows], whole.largest[number, rows], whole.total[number, rows])
        attend_rows(head, task, scratch, state)


@compiled_part
def attend_rows(head, task, scratch, state, change=None):
    """Some queries of one head against all keys that they see: writes to `state`.

    change(scores, top, left), if there is one, changes a tile of scores in place before anything else is done to it.
    """
    query, key, value = head  # (n, d_k), (n_k, d_k), (n_k, d_v)
    output, largest, total = state  # (n, d_v), (n,), (n,)
    number = query.dtype.type
    # With a float mask the scores stay to base e until their largest is subtracted: the lowest float32 · log₂ e
    # would overflow. A score_mod wants them to base e too.
    is_plain = change is None and task.bias.size == 0
    is_small = is_plain and scores_are_small(query, key, value, task.scale)
    late = number(1 if is_plain else LOG2_E)
    scaled_query = times(query, number(task.scale * LOG2_E if is_plain else task.scale))  # (n, d_k)
    # Not −∞: a row that sees nothing would give −∞ − (−∞), which is NaN. So its exponentials are 0.
    begin(state, number(0 if is_small else np.finfo(query.dtype).min))

    for tile in range(len(task.tiles)):
        top, bottom = task.tiles[tile, 0], task.tiles[tile, 1]
        left, right = task.tiles[tile, 2], task.tiles[tile, 3]
        scores = scratch[: (bottom - top) * (right - left)].reshape(bottom - top, right - left)
        np.dot(scaled_query[top:bottom], key[left:right].T, scores)  # (n, d_k) @ (d_k, width)
        if change is not None:
            change(scores, task.first + top, left)
        hide(scores, task, tile)
        if not is_small:
            raise_largest(scores, late, State(output[top:bottom], largest[top:bottom], total[top:bottom]))
        exponentials(scores, largest[top:bottom], late, total[top:bottom])
        add(output[top:bottom], np.dot(scores, value[left:right]))  # (n, width) @ (width, d_v)
    finish(state, number(1 / LOG2_E if is_plain else 1))


@compiled(fastmath=FAST)
def hide(scores, task, tile):
    """In one tile, (n, width): add the float mask; −∞ where a query may not attend to a key."""
    n, width = scores.shape
    top, left, start, rows = (
        task.tiles[tile, 0],
        task.tiles[tile, 2],
        task.tiles[tile, 4],
        task.tiles[tile, 5],
    )
    for i in range(n if task.bias.size else 0):
        bias = task.bias[top + i if len(task.bias) > 1 else 0, left : left + width]
        for j in range(width):
            scores[i, j] += bias[j]
    hidden = scores.dtype.type(-np.inf)  # of the same type: else the choice would be made in float64
    seen = task.seen[start : start + rows * width].reshape(rows, width)
    for i in range(n if rows else 0):
        row = i if rows > 1 else 0
        for j in range(width):  # a choice, not a branch: the compiler makes 8 or 16 of them at once
            scores[i, j] = scores[i, j] if seen[row, j] else hidden


@compiled(fastmath=FAST)
def raise_largest(scores, late, state):
    """Where the tile brings a row a larger score than it has seen, its sums so far shrink."""
    output, largest, total = state  # (n, d_v), (n,), (n,)
    for i in range(len(scores)):
        m = max(largest[i], largest_of(scores, i))
        shrink = exp2((largest[i] - m) * late)
        if shrink != 1:
            total[i] *= shrink
            for c in range(output.shape[1]):
                output[i, c] *= shrink
        largest[i] = m


@compiled(fastmath=FAST)
def exponentials(scores, largest, late, total):
    """2^((score − largest) · late) in place; the sums of the rows are added to `total`."""
    for i in range(len(scores)):
        m, subtotal = largest[i], scores.dtype.type(0)
        for j in range(scores.shape[1]):
            weight = exp2((scores[i, j] - m) * late)
            scores[i, j] = weight
            subtotal += weight
        total[i] += subtotal


@compiled_part(fastmath=FAST)
def largest_of(x, i):
    """Of row i. Eight maxima side by side: one alone would have to wait for each comparison."""
    a = b = c = d = e = f = g = h = x[i, 0]
    whole = x.shape[1] // 8 * 8
    for j in range(0, whole, 8):
        a, b, c, d = max(a, x[i, j]), max(b, x[i, j + 1]), max(c, x[i, j + 2]), max(d, x[i, j + 3])
        e, f, g, h = max(e, x[i, j + 4]), max(f, x[i, j + 5]), max(g, x[i, j + 6]), max(h, x[i, j + 7])
    for j in range(whole, x.shape[1]):
        a = max(a, x[i, j])
    return max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))


@compiled(fastmath=FAST)
def begin(state, largest):
    """Rows that have seen nothing yet."""
    for i in range(len(state.output)):
        state.largest[i], state.total[i] = largest, 0
        for c in range(state.output.shape[1]):
            state.output[i, c] = 0


@compiled(fastmath=FAST)
def finish(state, to_base_e):
    """The sums of the values divided by their weights'; a row that has seen nothing keeps its zeros."""
    output, largest, total = state
    for i in range(len(output)):
        largest[i] *= to_base_e
        share = 1 / total[i] if total[i] != 0 else total.dtype.type(1)
        for c in range(output.shape[1]):
            output[i, c] *= share


@compiled_part(fastmath=FAST)
def scores_are_small(query, key, value, scale):
    """As `small_scores.scores_are_small`, for some queries of one head: |q · k| ≤ ‖q‖ ‖k‖."""
    return (
        are_moderate(value)
        and abs(scale) * math.sqrt(largest_square(query)) * math.sqrt(largest_square(key)) < SMALL_SCORE
    )


@compiled_part(fastmath=FAST)
def are_moderate(value):
    """As `small_scores.are_moderate`. Counted without a branch, so that the compiler takes 8 or 16 at once."""
    least, most = value.dtype.type(LEAST_VALUE), value.dtype.type(SMALL_VALUE)
    outside = 0
    for i in range(len(value)):
        for c in range(value.shape[1]):
            size = abs(value[i, c])
            outside += not ((size > least and size < most) or size == 0)
    return outside == 0


@compiled_part(fastmath=FAST)
def largest_square(vectors):
    """The largest ‖v‖²; ∞ where there is a NaN, so that nothing counts as small."""
    largest = vectors.dtype.type(0)
    for i in range(len(vectors)):
        square = vectors.dtype.type(0)
        for c in range(vectors.shape[1]):
            square += vectors[i, c] * vectors[i, c]
        if not (square <= largest):
            largest = square if square == square else vectors.dtype.type(np.inf)
    return largest


# NumPy's own operators would go through more general loops here, slower to run and far slower to compile.


@compiled(fastmath=FAST)
def add(to, what):
    """to += what, matrices."""
    for i in range(to.shape[0]):
        for c in range(to.shape[1]):
            to[i, c] += what[i, c]


@compiled(fastmath=FAST)
def times(matrix, factor):
    """matrix · factor, a new one."""
    product = np.empty_like(matrix)
    for i in range(matrix.shape[0]):
        for c in range(matrix.shape[1]):
            product[i, c] = matrix[i, c] * factor
    return product


# 2^x --------------------------------------------------------------------------------------------------------

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


# Backward ---------------------------------------------------------------------------------------------------


@compiled
def attend_backward(matrices, task, scratch, whole, gradients):
    """Each head of the task: adds to its matrices of `gradients`; `whole` is a Derivative."""
    rows = slice(task.first, task.last)
    for number in task.heads:
        q, k, v = matrices.serves[number, 0], matrices.serves[number, 1], matrices.serves[number, 2]
        head = Head(matrices.query[q, rows], matrices.key[k], matrices.value[v])
        here = Derivative(
            whole.output[number, rows],
            whole.largest[number, rows],
            whole.total[number, rows],
            whole.grad_output[number, rows],
        )
        grads = Head(gradients.query[q, rows], gradients.key[k], gradients.value[v])
        backward_rows(head, task, scratch, here, grads)


@compiled_part
def backward_rows(head, task, scratch, whole, gradients):
    """Some queries of one head against all keys that they see: adds to `gradients`.

    The derivation is in the docstring of `numpy_backward.py`.
    """
    query, key, value = head  # (n, d_k), (n_k, d_k), (n_k, d_v)
    dq, dk, dv = gradients  # likewise
    grad_output = whole.grad_output  # (n, d_v)
    shift, factor, less = row_numbers(whole, task.bias.size > 0)
    scaled_query = times(query, query.dtype.type(task.scale))
    dq_unscaled = times(query, query.dtype.type(0))

    for tile in range(len(task.tiles)):
        top, bottom = task.tiles[tile, 0], task.tiles[tile, 1]
        left, right = task.tiles[tile, 2], task.tiles[tile, 3]
        size = (bottom - top) * (right - left)
        weights = scratch[:size].reshape(bottom - top, right - left)
        dscores = scratch[size : 2 * size].reshape(bottom - top, right - left)
        np.dot(scaled_query[top:bottom], key[left:right].T, weights)  # S, (n, width)
        np.dot(grad_output[top:bottom], value[left:right].T, dscores)  # dP, likewise
        hide(weights, task, tile)
        differentiate(weights, dscores, shift[top:bottom], factor[top:bottom], less[top:bottom])
        add(dv[left:right], np.dot(weights.T, grad_output[top:bottom]))
        add(dq_unscaled[top:bottom], np.dot(dscores, key[left:right]))
        add(dk[left:right], np.dot(dscores.T, scaled_query[top:bottom]))
    add(dq, times(dq_unscaled, query.dtype.type(task.scale)))


@compiled_part
def row_numbers(whole, has_bias):
    """Of each row: shift and factor, for the weights exp(score − shift) · factor; and D = Σ dO · O."""
    output, largest, total, grad_output = whole
    shift, factor, less = np.empty_like(total), np.empty_like(total), np.empty_like(total)
    for i in range(len(total)):
        factor[i] = 1 / total[i] if has_bias and total[i] != 0 else 1
        if has_bias:
            shift[i] = largest[i]
        elif total[i] != 0:  # without a float mask the total goes into the exponent too
            shift[i] = largest[i] + np.log(total[i])
        else:  # a row that saw nothing gets 2^−∞
            shift[i] = np.inf
        less[i] = inner_product(grad_output[i], output[i])
    return shift, factor, less


@compiled_part(fastmath=FAST)
def inner_product(a, b):
    """Σ a · b of two vectors (d,)."""
    total = a.dtype.type(0)
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


@compiled_part(fastmath=FAST)
def differentiate(scores, grad_weights, shift, factor, less):
    """In place: scores become weights P, and grad_weights dP becomes P ∘ (dP − D)."""
    log2_e, none = scores.dtype.type(LOG2_E), scores.dtype.type(0)
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            exponent = (scores[i, j] - shift[i]) * log2_e
            exponent = none if exponent > 0 else exponent  # by rounding alone; written so that NaN stays NaN
            weight = exp2(exponent) * factor[i]
            scores[i, j] = weight
            grad_weights[i, j] = weight * (grad_weights[i, j] - less[i])
