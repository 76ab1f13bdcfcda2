"""Lesson 01, exercise `cosine_similarity`: direction without length."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only, signed
from sdpa_helpers.checking.ready_made import READY_COSINE
from sdpa_helpers.lessons.dot_product.exercises.shared import length_product

PROMPT = r"""`cosine_similarity(q, k)`: the cosine of the angle between two vectors. It forgets their lengths.

- `q`, shape `(d_k,)`, and `k`, shape `(d_k,)`.
- Returns one number between −1 and 1, $\dfrac{q \cdot k}{\|q\|\,\|k\|}$.
- A zero vector has no direction: then the answer is 0.

Examples: {example:1}. {example:2}. {example:3}.

The length must not matter, even when it is tiny: {example:4} again. A small constant added to the denominator spoils this. Ask first whether a length is zero.
"""


def cosine_similarity(q, k):
    """Cosine of the angle: q (d_k,), k (d_k,) -> one number, 0 for a zero vector."""
    length_q, length_k = np.linalg.norm(q), np.linalg.norm(k)
    if length_q == 0 or length_k == 0:
        return 0.0
    return (q / length_q) @ (k / length_k)


def _norms(q, k):
    return np.linalg.norm(q), np.linalg.norm(k)


EXERCISE = Exercise(
    name="cosine_similarity",
    lesson="01_dot_product",
    title="Direction without length",
    prompt=PROMPT,
    examples=(
        Example(([1, 0], [2, 2]), form="values"),
        Example(([3, 0], [-5, 0]), form="values"),
        Example(([0, 0], [1, 2]), form="values"),
        Example(([1e-9, 0], [1e-9, 1e-9]), form="values"),
    ),
    section="3. Length and angle",
    difficulty=2,
    minutes=10,
    reference=cosine_similarity,
    cases=(
        Case("two vectors", lambda rng: (signed(rng, [1, 1, -1, 1, 1]), signed(rng, [2, 3, 1, 2, 3]))),
        Case(
            "pointing apart",
            lambda rng: (q := signed(rng, [1, -1, 1], 2, 4), -2.5 * q + 0.3 * rng.normal(size=3)),
        ),
        Case(
            "a zero vector",
            lambda rng: (rng.normal(size=4), np.zeros(4)),
            says="A zero vector has no direction: 0 is agreed on.",
        ),
        Case(
            "tiny vectors",
            lambda rng: (signed(rng, [1, 1, -1, 1, 1, 1]) * 1e-9, signed(rng, [1, 2, 1, 2, 1, 2]) * 1e-9),
            says="The cosine does not depend on the lengths, however small they are.",
        ),
        Case(
            "long and short, read-only",
            lambda rng: (read_only(signed(rng, [1, 2, -1]) * 1000), read_only(signed(rng, [2, 1, 1]) * 0.01)),
        ),
    ),
    wrong=(
        WrongAnswer(
            "zero-vector-gives-nan",
            lambda q, k: q @ k / (np.linalg.norm(q) * np.linalg.norm(k)),
            "For a zero vector this is 0/0 = NaN, and one NaN spoils everything it meets. Return 0 there.",
            ("What is the length of a zero vector, and what do you divide by?",),
        ),
        WrongAnswer(
            "epsilon-in-denominator",
            lambda q, k: q @ k / (np.linalg.norm(q) * np.linalg.norm(k) + 1e-8),
            "The small number that you add to the denominator keeps zero vectors safe, and is far larger than the "
            "product of two tiny lengths: their cosine comes out near 0. Treat zero as its own case.",
        ),
        WrongAnswer(
            "smaller-epsilon-in-denominator",
            lambda q, k: q @ k / (np.linalg.norm(q) * np.linalg.norm(k) + 1e-12),
            "The small number that you add to the denominator is still far larger than the product of two tiny "
            "lengths: their cosine comes out near 0. Treat zero as its own case.",
        ),
        WrongAnswer(
            "zero-vector-gives-one",
            lambda q, k: 1.0 if 0 in _norms(q, k) else q @ k / length_product(q, k),
            "You return 1 for a zero vector: that says it points the same way as everything. Return 0.",
        ),
        WrongAnswer(
            "lengths-kept",
            lambda q, k: q @ k,
            "This is the dot product: the lengths are still in it. Divide by both.",
        ),
        WrongAnswer(
            "one-length-only",
            lambda q, k: 0.0 if 0 in _norms(q, k) else q @ k / _norms(q, k)[0],
            "You divided by the length of q only: k's length is still in the result.",
        ),
        WrongAnswer(
            "the-other-length-only",
            lambda q, k: 0.0 if 0 in _norms(q, k) else q @ k / _norms(q, k)[1],
            "You divided by the length of k only: q's length is still in the result.",
        ),
        WrongAnswer(
            "squared-lengths",
            lambda q, k: 0.0 if 0 in _norms(q, k) else q @ k / ((q @ q) * (k @ k)),
            "You divided by the squared lengths: the square roots are missing.",
        ),
        WrongAnswer(
            "sum-of-lengths",
            lambda q, k: 0.0 if not any(_norms(q, k)) else q @ k / sum(_norms(q, k)),
            "You divided by the sum of the lengths; it has to be their product.",
        ),
        WrongAnswer(
            "divided-by-dimension",
            lambda q, k: q @ k / q.shape[-1],
            "You divided by the number of components. The lengths are what has to go: ‖q‖ and ‖k‖.",
        ),
        WrongAnswer(
            "angle-not-cosine",
            lambda q, k: (
                0.0 if 0 in _norms(q, k) else np.arccos(np.clip(q @ k / length_product(q, k), -1, 1))
            ),
            "This is the angle in radians: leave the arccos out.",
        ),
        WrongAnswer(
            "distance-not-similarity",
            lambda q, k: 1.0 if 0 in _norms(q, k) else 1 - q @ k / length_product(q, k),
            "This is 1 minus the cosine, a distance: 0 where the vectors agree. The similarity itself is asked for.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda q, k: 0.0 if 0 in _norms(q, k) else abs(q @ k) / length_product(q, k),
            "You dropped the sign: vectors that point apart have a negative cosine.",
        ),
        WrongAnswer(
            "clipped-at-zero",
            lambda q, k: 0.0 if 0 in _norms(q, k) else max(0.0, q @ k / length_product(q, k)),
            "You cut negative values off: vectors that point apart have a negative cosine.",
        ),
        WrongAnswer(
            "small-is-not-zero",
            lambda q, k: 0.0 if min(_norms(q, k)) < 1e-6 else q @ k / length_product(q, k),
            "You treat short vectors like the zero vector. A short vector has a direction too; only length 0 has none.",
        ),
        WrongAnswer(
            "largest-component-as-length",
            lambda q, k: 0.0 if 0 in _norms(q, k) else q @ k / (np.abs(q).max() * np.abs(k).max()),
            "You divided by the largest components. The length is the square root of the sum of squares.",
        ),
        WrongAnswer(
            "sum-of-components-as-length",
            lambda q, k: 0.0 if 0 in _norms(q, k) else q @ k / (np.abs(q).sum() * np.abs(k).sum()),
            "You divided by the sums of absolute components. The length is the square root of the sum of squares.",
        ),
    ),
    also_right=(
        lambda q, k: 0.0 if not (q.any() and k.any()) else (q / np.linalg.norm(q)) @ (k / np.linalg.norm(k)),
        lambda q, k: (
            np.sum(q * k) / (np.sqrt(np.sum(q**2)) * np.sqrt(np.sum(k**2))) if q.any() and k.any() else 0
        ),
        lambda q, k: float(np.nan_to_num(q @ k / np.sqrt((q @ q) * (k @ k)))),
        lambda q, k: 0.0 if 0 in _norms(q, k) else np.clip(q @ k / length_product(q, k), -1.0, 1.0),
    ),
    hints=(
        "The dot product is ‖q‖‖k‖cos θ. Which part of that do you want?",
        "Divide the dot product by both lengths, after you looked whether one of them is 0.",
        "`lengths = np.linalg.norm(q) * np.linalg.norm(k)`; if it is 0 return 0.0, else divide by it.",
    ),
    invariants=(
        Invariant(
            "outside-minus-one-to-one",
            "A cosine lies between −1 and 1.",
            lambda inputs, c: bool(abs(c) <= 1 + 1e-9),
        ),
    ),
    forbids=(READY_COSINE,),
)
