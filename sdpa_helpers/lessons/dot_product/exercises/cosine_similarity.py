"""Lesson 01, exercise `cosine_similarity`: direction without length."""

import math

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, signed
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.dot_product.exercises.shared import length_product

PROMPT = r"""`cosine_similarity(q, k)`: the cosine of the angle between two vectors. It forgets their lengths.

- `q`, shape `(d_k,)`, and `k`, shape `(d_k,)`.
- Returns one number between −1 and 1, $\dfrac{q \cdot k}{\|q\|\,\|k\|}$.
- A zero vector has no direction: then the answer is 0.

Examples: {example:1}. {example:2}. {example:3}.

The length must not matter, even when it is tiny: {example:4} again. Lengths down to $10^{-140}$ occur. A small constant added to the denominator spoils this, and so does a threshold. Ask first whether a length is exactly zero.
"""


def cosine_similarity(q, k):
    """Cosine of the angle: q (d_k,), k (d_k,) -> one number, 0 for a zero vector."""
    largest_q, largest_k = np.abs(q).max(), np.abs(k).max()
    if largest_q == 0 or largest_k == 0:
        return 0.0
    q, k = q / largest_q, k / largest_k  # so that no square is too small or too large for a float
    return q @ k / (np.linalg.norm(q) * np.linalg.norm(k))


def _norms(q, k):
    return np.linalg.norm(q), np.linalg.norm(k)


def _cosine_in_float32(q, k):
    q, k = q.astype(np.float32), k.astype(np.float32)
    return float(q @ k / length_product(q, k)) if q.any() and k.any() else 0.0


def _balanced(rng):
    a, b = rng.uniform(1, 2, size=2)
    return np.array([a, -a, b, -b])


def _unit(x):
    return x / np.linalg.norm(x)


def _some(is_zero):
    """Whether one of the vectors that are looked at counts as a zero vector."""
    return lambda vectors: any(is_zero(x) for x in vectors)


def _shorter_than(least):
    return _some(lambda x: np.linalg.norm(x) < least)


def _product_less_than(least):
    return lambda vectors: len(vectors) > 0 and math.prod(float(np.linalg.norm(x)) for x in vectors) < least


def _build(looked, zero, undirected, divisor, end):
    def answer(q, k):
        if zero(looked(q, k)):
            return end(undirected, False)
        return end(np.float64(q @ k) / divisor(q, k), True)

    return answer


def _if_directed(change):
    """What is done to the cosine only, not to what is returned for a zero vector."""
    return lambda c, directed: change(c) if directed else c


def _angle(c):
    return np.arccos(np.clip(c, -1, 1))


def _divisors_with_epsilon():
    """The ways to put a small number into the denominator, and the small numbers that are taken."""
    ways = (
        ((8, 12, 10, 6, 9, 15, 16, 5, 7), lambda e: lambda q, k: length_product(q, k) + e),
        ((8, 12, 10, 6), lambda e: lambda q, k: (np.linalg.norm(q) + e) * (np.linalg.norm(k) + e)),
        ((8, 12, 6), lambda e: lambda q, k: np.maximum(length_product(q, k), e)),
        ((8, 12, 6), lambda e: lambda q, k: np.sqrt((q @ q) * (k @ k) + e)),
        ((8, 6), _norms_at_least),
    )
    return [way(10.0**-n) for exponents, way in ways for n in exponents]


def _norms_at_least(least):
    return lambda q, k: np.maximum(np.linalg.norm(q), least) * np.maximum(np.linalg.norm(k), least)


_EPSILON = (
    "The small number in the denominator keeps zero vectors safe, and is far larger than the lengths of tiny vectors: "
    "their cosine comes out wrong. Treat zero as its own case."
)
_COMPONENT = (
    "A vector that has a 0 in some place is taken for the zero vector. In the zero vector EVERY coordinate is 0: look at "
    "the length, or at `x.any()`."
)
_SMALL = (
    "Short vectors are treated like the zero vector: their cosine comes out as 0. A threshold does that, and so does a "
    "small number in the denominator. A short vector has a direction too; only length 0 has none."
)
_UNDERFLOW = (
    "Two very short vectors together count as zero vectors: their cosine comes out as 0. Squared lengths that are "
    "multiplied before the root is taken do that, because the product is too small for a float; so does a threshold. Take "
    "the roots first, then multiply, and ask of each vector by itself whether its length is 0."
)
_ONE_ONLY = (
    "Only one of the two vectors is looked at for zero; where the other one is, this is 0/0 = NaN. Either can be the "
    "zero vector."
)
_DISTANCE = "This is 1 minus the cosine, a distance: 0 where the vectors agree. Return the similarity itself."
_ROUNDED = "The cosine is rounded. Return it as it comes."

MISTAKES = Products(
    (
        Factor(
            "looked",
            lambda q, k: (q, k),
            (
                Option("zero-vector-gives-nan", lambda q, k: ()),
                Option("only-one-vector-checked", lambda q, k: (q,), _ONE_ONLY),
                Option("only-one-vector-checked", lambda q, k: (k,), _ONE_ONLY),
            ),
        ),
        Factor(
            "zero",
            _some(lambda x: not x.any()),
            (
                Option("zero-component-taken-for-zero-vector", _some(lambda x: not x.all()), _COMPONENT),
                Option("zero-component-taken-for-zero-vector", _some(lambda x: x[0] == 0), _COMPONENT),
                Option("zero-component-taken-for-zero-vector", _some(lambda x: x[-1] == 0), _COMPONENT),
                Option(
                    "sum-taken-for-length",
                    _some(lambda x: abs(x.sum()) < 1e-12 * np.abs(x).max() or not x.any()),
                    "A vector whose coordinates add up to 0 is taken for the zero vector. Its length is the square root "
                    "of the sum of SQUARES, which is 0 only where every coordinate is.",
                ),
                # Others between these return the same: the lengths that occur are 1e-140, 1e-70, 1e-9 and more.
                *(Option("small-is-not-zero", _shorter_than(10.0**-n), _SMALL) for n in (6, 12, 100)),
                *(Option("small-is-not-zero", _product_less_than(10.0**-n), _SMALL) for n in (12, 30, 100)),
                Option("product-of-squares-underflows", _product_less_than(1e-200), _UNDERFLOW),
            ),
        ),
        Factor(
            "undirected",
            0.0,
            (
                Option("zero-vector-gives-one", 1.0),
                Option(
                    "zero-vector-gives-minus-one",
                    -1.0,
                    "You return −1 for a zero vector: that says it points away from everything. Return 0.",
                ),
            ),
        ),
        Factor(
            "divisor",
            length_product,
            (
                *(
                    Option("epsilon-in-denominator", divisor, _EPSILON)
                    for divisor in _divisors_with_epsilon()
                ),
                Option(
                    "divided-by-an-underflow",
                    lambda q, k: np.sqrt((q @ q) * (k @ k)),
                    "For two very short vectors this divides by 0: the product of their squared lengths is too small for a "
                    "float. Take the roots first, then multiply.",
                ),
                Option("lengths-kept", lambda q, k: 1.0),
                Option("one-length-only", lambda q, k: _norms(q, k)[0]),
                Option("the-other-length-only", lambda q, k: _norms(q, k)[1]),
                Option("squared-lengths", lambda q, k: (q @ q) * (k @ k)),
                Option("sum-of-lengths", lambda q, k: sum(_norms(q, k))),
                Option("divided-by-dimension", lambda q, k: q.size),
                Option("largest-component-as-length", lambda q, k: np.abs(q).max() * np.abs(k).max()),
                Option("sum-of-components-as-length", lambda q, k: np.abs(q).sum() * np.abs(k).sum()),
                Option(
                    "scaled-too",
                    lambda q, k: length_product(q, k) * q.size**0.5,
                    "The cosine is divided by √d_k as well. It has no scale.",
                ),
            ),
        ),
        Factor(
            "end",
            lambda c, directed: c,
            (
                Option("angle-not-cosine", _if_directed(_angle)),
                Option(
                    "angle-not-cosine-a-right-one-for-zero",
                    lambda c, directed: _angle(c),
                    "This is the angle in radians, and a right angle for a zero vector: leave the arccos out.",
                ),
                Option(
                    "angle-in-degrees",
                    _if_directed(lambda c: np.degrees(_angle(c))),
                    "This is the angle in degrees: leave the arccos out.",
                ),
                Option("distance-not-similarity", lambda c, directed: 1 - c, _DISTANCE),
                Option("distance-not-similarity", _if_directed(lambda c: 1 - c), _DISTANCE),
                Option("sign-dropped", lambda c, directed: abs(c)),
                Option("clipped-at-zero", lambda c, directed: np.maximum(c, 0.0)),
                Option("sign-turned", _if_directed(lambda c: -c), "The sign of the cosine is flipped."),
                Option("squared", _if_directed(lambda c: c * c), "This is the square of the cosine."),
                *(
                    Option("rounded", _if_directed(lambda c, n=n: np.round(c, n)), _ROUNDED)
                    for n in (4, 2, 3, 1, 5, 6)
                ),
            ),
        ),
    ),
    _build,
)


_SPARED = "The prompt promises lengths down to 1e-140, and there the textbook formula is right too."

EXERCISE = Exercise(
    name="cosine_similarity",
    lesson="01_dot_product",
    title="Direction without length",
    prompt=PROMPT,
    examples=(
        Example(([1, 0], [2, 2]), form="values", points=0.0),
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
            points=2,
        ),
        Case(
            "a zero vector",
            lambda rng: (rng.normal(size=4), np.zeros(4)),
            says="A zero vector has no direction: we agree on 0.",
        ),
        Case(
            "the other is a zero vector",
            lambda rng: (np.zeros(4), rng.normal(size=4)),
            says="Either of the two can be the zero vector.",
        ),
        Case(
            "zeros among the coordinates",
            lambda rng: (np.pad(signed(rng, [1, -2, 1]), (2, 1)), np.pad(signed(rng, [2, 1, 1]), (2, 1))),
            says="A coordinate of 0 makes no zero vector: all of them have to be 0.",
        ),
        Case(
            "coordinates that add up to 0",
            lambda rng: (_balanced(rng), np.roll(_balanced(rng), 1)),
            says="Coordinates that add up to 0 make no zero vector: the squares count.",
        ),
        Case(
            "tiny vectors",
            lambda rng: (signed(rng, [1, 1, -1, 1, 1, 1]) * 1e-70, signed(rng, [1, 2, 1, 2, 1, 2]) * 1e-70),
            says="The cosine does not depend on the lengths, however small they are.",
        ),
        Case(
            "two tiny vectors, the tiniest that occur",
            lambda rng: (signed(rng, [2, 1, -1, 1]) * 1e-140, signed(rng, [1, 2, 1, 2]) * 1e-130),
            says="The cosine does not depend on the lengths, even where both are tiny.",
        ),
        Case(
            "a tiny query, a long key",
            lambda rng: (signed(rng, [-1, -1, -2]) * 1e-140, signed(rng, [1, 2, 1]) * 1e70),
            says="The cosine does not depend on the lengths, however far they are apart.",
        ),
        Case(
            "a long query, a tiny key",
            lambda rng: (signed(rng, [1, 1, -1]) * 1e70, signed(rng, [-1, -2, -3]) * 1e-140),
            says="The cosine does not depend on the lengths, however far they are apart.",
        ),
        Case(
            "one coordinate",
            lambda rng: (signed(rng, [2]), signed(rng, [-1])),
            says="On a line two vectors point the same way, 1, or opposite ways, −1.",
        ),
        Case(
            "forty coordinates, of length 1",
            lambda rng: (_unit(signed(rng, [1, -2] * 20)), _unit(signed(rng, [3, 1, -1, -1] * 10))),
            says="Every coordinate counts; and a vector of length 1 is no special case.",
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
            "You divided by the number of coordinates. The lengths are what has to go: ‖q‖ and ‖k‖.",
        ),
        WrongAnswer(
            "angle-not-cosine",
            lambda q, k: (
                0.0 if 0 in _norms(q, k) else np.arccos(np.clip(q @ k / length_product(q, k), -1, 1))
            ),
            "This is the angle in radians: leave the arccos out.",
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
            "largest-component-as-length",
            lambda q, k: 0.0 if 0 in _norms(q, k) else q @ k / (np.abs(q).max() * np.abs(k).max()),
            "You divided by the largest coordinates. The length is the square root of the sum of squares.",
        ),
        WrongAnswer(
            "sum-of-components-as-length",
            lambda q, k: 0.0 if 0 in _norms(q, k) else q @ k / (np.abs(q).sum() * np.abs(k).sum()),
            "You divided by the sums of absolute coordinates. The length is the square root of the sum of squares.",
        ),
        WrongAnswer(
            "float32-somewhere",
            _cosine_in_float32,
            "The numbers passed through float32: it keeps about seven digits, and nothing as small as 1e-50. Stay in "
            "the dtype you were given.",
        ),
    ),
    also_right=(
        lambda q, k: 0.0 if not (q.any() and k.any()) else (q / np.linalg.norm(q)) @ (k / np.linalg.norm(k)),
        lambda q, k: (
            np.sum(q * k) / (np.sqrt(np.sum(q**2)) * np.sqrt(np.sum(k**2))) if q.any() and k.any() else 0
        ),
        lambda q, k: float(np.nan_to_num(q @ k / np.sqrt(q @ q) / np.sqrt(k @ k))),
        lambda q, k: 0.0 if 0 in _norms(q, k) else np.clip(q @ k / length_product(q, k), -1.0, 1.0),
    ),
    hints=(
        "The dot product is ‖q‖‖k‖cos θ. Which part of that do you want?",
        "Check whether one of the lengths is 0, then divide the dot product by both.",
        "`lengths = np.linalg.norm(q) * np.linalg.norm(k)`; if it is 0 return 0.0, else divide by it.",
    ),
    mistakes=MISTAKES,
    invariants=(
        Invariant(
            "outside-minus-one-to-one",
            "A cosine lies between −1 and 1.",
            lambda inputs, c: bool(abs(c) <= 1 + 1e-9),
        ),
    ),
    spared=(
        ("q, k = (q / largest_q, k / largest_k) → pass", _SPARED),
        ("q, k = (q / largest_q, k / largest_k) → q, k = (q, k / largest_k)", _SPARED),
        ("q, k = (q / largest_q, k / largest_k) → q, k = (q / (largest_q + 1e-06), k / largest_k)", _SPARED),
        (
            "q, k = (q / largest_q, k / largest_k) → q, k = (q / np.maximum(largest_q, 1e-12), k / largest_k)",
            _SPARED,
        ),
        ("q, k = (q / largest_q, k / largest_k) → q, k = (q / largest_q, k)", _SPARED),
        ("q, k = (q / largest_q, k / largest_k) → q, k = (q / largest_q, k / (largest_k + 1e-06))", _SPARED),
        (
            "q, k = (q / largest_q, k / largest_k) → q, k = (q / largest_q, k / np.maximum(largest_k, 1e-12))",
            _SPARED,
        ),
    ),
)
