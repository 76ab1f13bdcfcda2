"""Lesson 06, exercise `attention_flops`: FLOPs of attention."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, redraw
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`attention_flops(n_q, n_k, d_k, d_v)`: the FLOPs of attention's two matrix products, $QK^{\mathsf T}$ and $AV$.

- `n_q` queries and `n_k` keys with `d_k` coordinates, values with `d_v`: four whole numbers.
- Returns one number. A multiplication with its addition counts as **2** FLOPs. Softmax, scale and projections are left out.

Example: {inputs:1} is {result:1}: 60 multiply-adds for the scores and 40 for the output.
"""


def attention_flops(n_q, n_k, d_k, d_v):
    """FLOPs of QKᵀ and A·V together, 2 for each multiply-add: one number."""
    return 2.0 * n_q * n_k * (d_k + d_v)


def _flops_counted(n_q, n_k, d_k, d_v):
    scores = sum(2 * d_k for _ in range(n_q)) * n_k
    return scores + n_q * d_v * (2 * n_k)


def _long(rng):
    return int(rng.integers(30_000, 40_000)), 50_001, 127, 96


def _needs_float64(*sizes):
    """Whether float32 would show in the result."""
    count = attention_flops(*sizes)
    return abs(float(np.float32(count)) / count - 1) > 2e-8


def _in_int32(n_q, n_k, d_k, d_v):
    exact = 2 * n_q * n_k * (d_k + d_v)
    return (exact + 2**31) % 2**32 - 2**31


def _build(each, pairs, widths, more):
    return lambda n_q, n_k, d_k, d_v: each * pairs(n_q, n_k) * widths(d_k, d_v) + more * n_q * n_k


MISTAKES = Products(
    (
        Factor(
            "each",
            2,
            (
                Option("one-flop-per-multiply-add", 1),
                Option("four-per-multiply-add", 4),
                Option("backward-counted-too", 6),
            ),
        ),
        Factor(
            "widths",
            lambda d_k, d_v: d_k + d_v,
            (
                Option("scores-only", lambda d_k, d_v: d_k),
                Option("output-only", lambda d_k, d_v: d_v),
                Option("d-k-in-both", lambda d_k, d_v: 2 * d_k),
                Option("d-v-in-both", lambda d_k, d_v: 2 * d_v),
                Option("widths-multiplied", lambda d_k, d_v: d_k * d_v),
            ),
        ),
        Factor(
            "pairs",
            lambda n_q, n_k: n_q * n_k,
            (
                Option("square-of-queries", lambda n_q, n_k: n_q**2),
                Option("square-of-keys", lambda n_q, n_k: n_k**2),
                Option("linear-in-length", lambda n_q, n_k: n_q + n_k),
            ),
        ),
        Factor("more", 0, (Option("softmax-counted-too", 5), Option("exponentials-counted-too", 1))),
    ),
    _build,
)


EXERCISE = Exercise(
    name="attention_flops",
    lesson="06_complexity",
    title="FLOPs of attention",
    prompt=PROMPT,
    examples=(Example((4, 5, 3, 2), form="call"),),
    difficulty=1,
    minutes=5,
    reference=attention_flops,
    section="1. Count what is done",
    cases=(
        Case(
            "four different sizes",
            lambda rng: (int(rng.integers(4, 40)), 11, 3, 2),
            says="Write down both products: how many entries has the result, and how many multiply-adds has an entry?",
        ),
        Case(
            "values wider than keys",
            lambda rng: (5, 7, int(rng.integers(3, 15)), int(rng.integers(17, 60))),
            says="The first product sums over d_k; the second makes d_v numbers for each query.",
        ),
        Case(
            "one query, many keys",
            lambda rng: (1, int(rng.integers(900, 1100)), 80, 48),
            says="Decoding: one query meets all stored keys.",
        ),
        Case(
            "a long sequence",
            lambda rng: redraw(rng, _long, _needs_float64),
            says="The count has to be right for large sizes too.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "one-flop-per-multiply-add",
            lambda n_q, n_k, d_k, d_v: n_q * n_k * (d_k + d_v),
            "You counted multiply-adds. By the convention of this course each is 2 FLOPs, a "
            "multiplication and an addition.",
            ("How many operations is one multiplication together with its addition?",),
        ),
        WrongAnswer(
            "scores-only",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_k,
            "You counted QKᵀ only. The product of the weights with V has as many scores to work through.",
        ),
        WrongAnswer(
            "output-only",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_v,
            "You counted A·V only. The scores QKᵀ are a matrix product too.",
        ),
        WrongAnswer(
            "d-k-in-both",
            lambda n_q, n_k, d_k, d_v: 4 * n_q * n_k * d_k,
            "You used d_k in both products. The second one, A·V, makes d_v numbers for each query.",
        ),
        WrongAnswer(
            "d-v-in-both",
            lambda n_q, n_k, d_k, d_v: 4 * n_q * n_k * d_v,
            "You used d_v in both products. The first one, QKᵀ, sums over d_k.",
        ),
        WrongAnswer(
            "square-of-queries",
            lambda n_q, n_k, d_k, d_v: 2 * n_q**2 * (d_k + d_v),
            "You used n_q² where it is n_q · n_k: there may be more keys than queries.",
        ),
        WrongAnswer(
            "square-of-keys",
            lambda n_q, n_k, d_k, d_v: 2 * n_k**2 * (d_k + d_v),
            "You used n_k² where it is n_q · n_k: there may be fewer queries than keys.",
        ),
        WrongAnswer(
            "backward-counted-too",
            lambda n_q, n_k, d_k, d_v: 6 * n_q * n_k * (d_k + d_v),
            "That is forward and backward together, three times the forward pass. Count only the two products of the "
            "forward pass.",
        ),
        WrongAnswer(
            "overflow-in-int32",
            _in_int32,
            "A count of more than 2³¹ does not fit into 32 bits and wraps round. Python's ints have no limit; floats, or "
            "np.int64, are large enough.",
        ),
        WrongAnswer(
            "softmax-counted-too",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * (d_k + d_v) + 5 * n_q * n_k,
            "You added operations for softmax, 5 per score. Count only the two matrix products.",
        ),
        WrongAnswer(
            "exponentials-counted-too",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * (d_k + d_v) + n_q * n_k,
            "You added one operation per score, for the exponential or the scale. Count only the "
            "two matrix products.",
        ),
        WrongAnswer(
            "one-addition-less",
            lambda n_q, n_k, d_k, d_v: n_q * n_k * (2 * d_k - 1) + n_q * d_v * (2 * n_k - 1),
            "You counted d − 1 additions for d products. That is exact, but the convention rounds it up: 2 FLOPs for "
            "each multiply-add.",
        ),
        WrongAnswer(
            "widths-multiplied",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_k * d_v,
            "You multiplied d_k by d_v. The two products are done one after the other: their costs add up.",
        ),
        WrongAnswer(
            "output-squared-too",
            lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_k + 2 * n_q * d_k * d_v,
            "In the second product you summed over d_k. A·V sums over the keys: each of its n_q · d_v entries takes "
            "n_k multiply-adds.",
        ),
        WrongAnswer(
            "linear-in-length",
            lambda n_q, n_k, d_k, d_v: 2 * (n_q + n_k) * (d_k + d_v),
            "You added n_q and n_k. Every query meets every key: multiply them.",
        ),
        WrongAnswer(
            "projections-counted-too",
            lambda n_q, n_k, d_k, d_v: (
                2 * n_q * n_k * (d_k + d_v) + 2 * n_q * d_k**2 + 2 * n_k * (d_k**2 + d_v**2)
            ),
            "You added the projections that make Q, K and V. Attention itself starts from Q, K and V.",
        ),
        WrongAnswer(
            "larger-width-in-both",
            lambda n_q, n_k, d_k, d_v: 4 * n_q * n_k * max(d_k, d_v),
            "You used the larger of the two widths in both products. Each product has its own: d_k, then d_v.",
        ),
        WrongAnswer(
            "four-per-multiply-add",
            lambda n_q, n_k, d_k, d_v: 4 * n_q * n_k * (d_k + d_v),
            "Twice too many. The 4 in 4n²d holds both products already; with d_k and d_v apart it is 2 for each.",
        ),
    ),
    also_right=(
        lambda n_q, n_k, d_k, d_v: 2 * n_q * n_k * d_k + 2 * n_q * n_k * d_v,
        lambda n_q, n_k, d_k, d_v: np.int64(2) * n_q * n_k * (d_k + d_v),
        lambda n_q, n_k, d_k, d_v: float(n_q * n_k) * 2 * d_k + float(n_q * d_v) * 2 * n_k,
        _flops_counted,
    ),
    hints=(
        "Write down the shapes of the two products, QKᵀ and A·V. How many entries has each result?",
        "An entry of QKᵀ is a sum of d_k products; an entry of A·V is a sum of n_k products. 2 FLOPs "
        "for each product.",
        "`2 * n_q * n_k * d_k` for the scores. The second product has n_q · d_v entries with n_k "
        "products each: add it.",
    ),
    mistakes=MISTAKES,
)
