"""Lesson 02, exercise `scale_folded_into_query`: the scale, folded into the query."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only_strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.variance_proof.exercises.shared import unit_rows

PROMPT = r"""`scale_folded_into_query(Q)`: the $Q'$ for which $Q'K^{\mathsf T} = QK^{\mathsf T}/\sqrt{d_k}$, whatever $K$ is.

- `Q`, shape `(..., d_k)`: any number of leading axes, including none. Don't change it.
- Returns a new array of the same shape.

Example: {inputs:1} has `d_k = 4` and gives {result:1}.
"""


def scale_folded_into_query(Q):
    """Q with the scale in it: (..., d_k) -> the same shape."""
    return Q / Q.shape[-1] ** 0.5


def _folded_in_place(Q):
    Q /= Q.shape[-1] ** 0.5
    return Q


def _build(vectors, divisor, end):
    return lambda Q: end(vectors(Q) / divisor(Q))


_HALF = "A number passed through float16, which keeps about three digits. Stay in float64."
_SINGLE = "Somewhere a number passed through float32, which keeps about seven digits. Stay in float64."
_WHOLE = "The square root was made a whole number: √d_k is rarely whole."

MISTAKES = Products(
    (
        Factor(
            "vectors",
            lambda Q: Q,
            (
                Option("standardised", lambda Q: Q - Q.mean(axis=-1, keepdims=True)),
                Option(
                    "unit-length-and-scaled",
                    unit_rows,
                    "You made every query one unit long before you divided by √d_k. A query's length stays its own.",
                ),
                Option("half-precision-somewhere", lambda Q: np.float64(Q.astype(np.float16)), _HALF),
                Option("float32-somewhere", lambda Q: np.float64(Q.astype(np.float32)), _SINGLE),
                Option(
                    "sign-turned", lambda Q: -Q, "All signs are reversed. The scale is a positive number."
                ),
            ),
        ),
        Factor(
            "divisor",
            lambda Q: Q.shape[-1] ** 0.5,
            (
                Option("unchanged", lambda Q: 1.0),
                Option("divided-by-d", lambda Q: Q.shape[-1]),
                Option("fourth-root", lambda Q: Q.shape[-1] ** 0.25),
                Option("multiplied-by-root-d", lambda Q: Q.shape[-1] ** -0.5),
                Option(
                    "multiplied-by-d",
                    lambda Q: 1 / Q.shape[-1],
                    "You multiplied by d_k. Divide, and by its square root.",
                ),
                Option("root-of-number-of-queries", lambda Q: Q.shape[-2] ** 0.5),
                Option("root-of-first-axis", lambda Q: len(Q) ** 0.5),
                Option("always-eight", lambda Q: 8.0),
                Option("root-of-size", lambda Q: Q.size**0.5),
                Option(
                    "root-of-half-d",
                    lambda Q: (Q.shape[-1] / 2) ** 0.5,
                    "You divided by √(d_k/2). All d_k products of a score are added up.",
                ),
                Option(
                    "root-of-two-d",
                    lambda Q: (2 * Q.shape[-1]) ** 0.5,
                    "You divided by √(2d_k). Only the d_k products of one score are added up.",
                ),
                Option(
                    "root-of-d-minus-one",
                    lambda Q: max(1, Q.shape[-1] - 1) ** 0.5,
                    "You divided by √(d_k − 1). Nothing is estimated from a sample here: d_k products add up.",
                ),
                Option("root-cut-to-integer", lambda Q: int(Q.shape[-1] ** 0.5), _WHOLE),
                Option("root-cut-to-integer", lambda Q: round(Q.shape[-1] ** 0.5), _WHOLE),
                Option("half-precision-somewhere", lambda Q: float(np.float16(Q.shape[-1] ** 0.5)), _HALF),
                Option(
                    "half-precision-somewhere", lambda Q: 1 / float(np.float16(Q.shape[-1] ** -0.5)), _HALF
                ),
                Option("float32-somewhere", lambda Q: float(np.float32(Q.shape[-1] ** 0.5)), _SINGLE),
                Option("float32-somewhere", lambda Q: 1 / float(np.float32(Q.shape[-1] ** -0.5)), _SINGLE),
                Option(
                    "logarithm-for-root",
                    lambda Q: np.log(Q.shape[-1]),
                    "You divided by log d_k. The standard deviation grows like the square root.",
                ),
                *(
                    Option(
                        "one-number-for-every-size",
                        lambda Q, divisor=divisor: divisor,
                        "You divided by the same number whatever d_k is. Read d_k off the shape.",
                    )
                    for divisor in (64.0, 16.0, 4.0, 2.0, 512**0.5, 22.6)
                ),
            ),
        ),
        Factor(
            "end",
            lambda result: result,
            (
                *(
                    Option(
                        "rounded", lambda Q, n=n: np.round(Q, n), "The numbers are rounded. Keep all digits."
                    )
                    for n in (2, 3, 4, 1, 5, 6)
                ),
                Option(
                    "cut-to-integers",
                    np.trunc,
                    "The numbers are cut to whole ones. Divide with `/`, into an array of floats.",
                ),
                Option(
                    "cut-to-integers",
                    np.floor,
                    "The numbers are rounded down to whole ones: use `/`, not `//`.",
                ),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="scale_folded_into_query",
    lesson="02_variance_proof",
    title="The scale, folded into the query",
    prompt=PROMPT,
    examples=(Example(([[2, 0, 0, 4]],)),),
    difficulty=1,
    minutes=5,
    reference=scale_folded_into_query,
    cases=(
        Case("three queries", lambda rng: (rng.normal(size=(3, 5)),)),
        Case("a batch with heads", lambda rng: (rng.normal(size=(2, 3, 4, 7)),)),
        Case(
            "one query alone",
            lambda rng: (rng.normal(size=(11,)),),
            says="A single vector has one axis, d_k.",
        ),
        Case(
            "read-only, strided and large",
            lambda rng: (read_only_strided(1000 * rng.normal(size=(4, 2, 6))),),
        ),
        Case(
            "one query in a batch of one",
            lambda rng: (rng.normal(size=(1, 1, 5)),),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "queries of length one",
            lambda rng: (rng.normal(size=(3, 1)),),
            says="√1 = 1: with d_k = 1 nothing changes.",
        ),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer("unchanged", lambda Q: Q + 0.0, "You returned Q as it came: no scale is in it."),
        WrongAnswer(
            "divided-by-d",
            lambda Q: Q / Q.shape[-1],
            "You divided by d_k. The scores are linear in Q, so Q has to be divided by what the scores are: √d_k.",
        ),
        WrongAnswer(
            "fourth-root",
            lambda Q: Q / Q.shape[-1] ** 0.25,
            "You divided by the fourth root of d_k. That is right if K is divided by it too; here K stays as it is.",
        ),
        WrongAnswer(
            "multiplied-by-root-d",
            lambda Q: Q * Q.shape[-1] ** 0.5,
            "You multiplied by √d_k; divide.",
        ),
        WrongAnswer(
            "root-of-number-of-queries",
            lambda Q: Q / Q.shape[-2] ** 0.5,
            "You divided by the square root of the number of queries. d_k is the last axis.",
        ),
        WrongAnswer(
            "root-of-first-axis",
            lambda Q: Q / len(Q) ** 0.5,
            "You divided by the square root of the FIRST axis. d_k is the last one.",
        ),
        WrongAnswer(
            "root-of-second-axis",
            lambda Q: Q / Q.shape[1] ** 0.5,
            "You divided by the square root of axis 1. That is d_k only for two axes; `shape[-1]` is right for any.",
        ),
        WrongAnswer(
            "root-of-size",
            lambda Q: Q / Q.size**0.5,
            "You divided by the square root of ALL numbers in Q. Only the length of one query counts.",
        ),
        WrongAnswer(
            "always-eight",
            lambda Q: Q / 8,
            "You divided by 8, which is √64. Here d_k is another number: read it off the shape.",
        ),
        WrongAnswer(
            "unit-length",
            unit_rows,
            "You made every query one unit long. d_k counts coordinates; a query's length stays its own.",
        ),
        WrongAnswer(
            "divided-by-measured-spread",
            lambda Q: Q / Q.std(),
            "You divided by the measured standard deviation. The scale depends on d_k only, not on the numbers in Q.",
        ),
        WrongAnswer(
            "standardised",
            lambda Q: (Q - Q.mean(axis=-1, keepdims=True)) / Q.shape[-1] ** 0.5,
            "You also subtracted the mean: that changes the scores.",
        ),
        WrongAnswer(
            "scores-with-itself",
            lambda Q: Q @ np.swapaxes(Q, -1, -2) / Q.shape[-1] ** 0.5 if Q.ndim > 1 else Q @ Q / Q.size**0.5,
            "You computed scores of Q with itself. Return only the new Q, of the same shape as Q.",
        ),
        WrongAnswer(
            "root-of-the-entries",
            lambda Q: np.sqrt(np.abs(Q)),
            "You took the root of Q's entries. The root belongs to d_k, the number of coordinates.",
        ),
        WrongAnswer(
            "two-axes-only",
            lambda Q: np.einsum("id->id", Q) / Q.shape[-1] ** 0.5,
            "This works for two axes only. Q can have any number of them, even one: `Q.shape[-1]` is d_k for all.",
            errors_tell=True,
        ),
        WrongAnswer(
            "extra-leading-axis",
            lambda Q: np.atleast_2d(Q) / Q.shape[-1] ** 0.5,
            "There is one axis too many in front, of length 1: what comes as a single vector returns as one.",
        ),
        WrongAnswer(
            "changes-its-input",
            _folded_in_place,
            "Your function writes into the caller's Q. Make a new array: no `/=`, `*=`, `out=` or `Q[...] =`.",
        ),
    ),
    also_right=(
        lambda Q: Q * Q.shape[-1] ** -0.5,
        lambda Q: np.divide(Q, np.sqrt(Q.shape[-1])),
        lambda Q: Q @ (np.eye(Q.shape[-1]) / np.sqrt(Q.shape[-1])),
        lambda Q: Q / Q.shape[-1] ** 0.25 / Q.shape[-1] ** 0.25,
    ),
    hints=(
        "Q' must give the scaled scores for EVERY K. Try a K whose only key is e₁.",
        "(cQ)Kᵀ = c(QKᵀ): a number can move from the scores into Q.",
        "Which number of `Q.shape` is d_k, however many axes there are? Divide by its square root, into a new array.",
    ),
    invariants=(
        Invariant(
            "direction-changed",
            "The new queries don't point where the old ones do: only one positive number may be multiplied in.",
            lambda inputs, out: bool(
                np.allclose(
                    np.sum(inputs[0] * out, axis=-1),
                    np.linalg.norm(inputs[0], axis=-1) * np.linalg.norm(out, axis=-1),
                )
            ),
        ),
    ),
)
