"""Lesson 01, exercise `dot_product`: the dot product of two vectors."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only, signed
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.dot_product.exercises.shared import length_product

PROMPT = r"""`dot_product(q, k)`: the dot product of one query and one key.

- `q`, shape `(d_k,)`: the query, one number per coordinate.
- `k`, shape `(d_k,)`: the key, in the same coordinates.
- Returns one number, $\sum_i q_i k_i$.

Example: {example:1}.
"""


def dot_product(q, k):
    """Dot product: q (d_k,), k (d_k,) -> one number."""
    return (q * k).sum()


def _dot_loop(q, k):
    total = 0.0
    for a, b in zip(q, k, strict=True):
        total += a * b
    return total


def _cosine_of_angle(q, k):
    return (q / np.linalg.norm(q)) @ (k / np.linalg.norm(k))


def _read_in(dtype):
    return lambda q, k: (q.astype(dtype), k.astype(dtype))


def _build(read, combine, lengths, dimension, end):
    def answer(q, k):
        a, b = read(q, k)
        return np.float64(
            end(combine(a, b) * lengths(a, b) * dimension(a))
        )  # else float32 would be compared loosely

    return answer


def _decimals(n):
    return lambda number: np.round(number, n)


MISTAKES = Products(
    (
        Factor(
            "read",
            lambda q, k: (q, k),
            (
                Option(
                    "float32-somewhere",
                    _read_in(np.float32),
                    "Somewhere your numbers passed through float32, which keeps about seven digits. Stay in the "
                    "dtype you were given.",
                ),
                Option(
                    "half-precision-somewhere",
                    _read_in(np.float16),
                    "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were "
                    "given.",
                ),
                Option(
                    "half-precision-somewhere",
                    lambda q, k: (np.float64(x.astype(np.float16)) for x in (q, k)),
                ),
                Option("last-component-forgotten", lambda q, k: (q[:-1], k[:-1])),
                Option(
                    "first-component-forgotten",
                    lambda q, k: (q[1:], k[1:]),
                    "The first pair of coordinates is missing from the sum: Python counts from 0.",
                ),
                Option("first-product-only", lambda q, k: (q[:1], k[:1])),
                Option("squared-length", lambda q, k: (q, q)),
                Option(
                    "squared-length-of-the-key",
                    lambda q, k: (k, k),
                    "You used k twice: this is the squared length of k, and q never comes in.",
                ),
                Option(
                    "one-vector-reversed",
                    lambda q, k: (q, k[::-1]),
                    "The first coordinate of one vector met the last of the other: pair the coordinates that have the "
                    "same index.",
                ),
            ),
        ),
        Factor(
            "combine",
            lambda a, b: a @ b,
            (
                Option("sum-of-sums", lambda a, b: np.sum(a + b)),
                Option("absolute-value", lambda a, b: np.abs(a) @ np.abs(b)),
                Option(
                    "rounded-to-integer",
                    lambda a, b: np.trunc(a * b).sum(),
                    "Decimals were lost: something on the way was made a whole number. A dot product of real vectors "
                    "is a real number.",
                ),
                Option(
                    "not-summed",
                    lambda a, b: a * b,
                ),
                Option(
                    "outer-product",
                    np.outer,
                ),
                Option(
                    "squares-multiplied",
                    lambda a, b: (a * a) @ (b * b),
                    "Each product is squared before the sum. Multiply, then add: no square is taken.",
                ),
            ),
        ),
        Factor(
            "lengths",
            lambda a, b: 1.0,
            (
                Option("cosine-not-dot", lambda a, b: 1 / length_product(a, b)),
                Option(
                    "one-length-divided-away",
                    lambda a, b: 1 / np.linalg.norm(a),
                    "One vector's length is divided away: the dot product keeps both.",
                ),
                Option("one-length-divided-away", lambda a, b: 1 / np.linalg.norm(b)),
            ),
        ),
        Factor(
            "dimension",
            lambda a: 1.0,
            (
                Option("mean-not-sum", lambda a: 1 / max(1, a.size)),
                Option("scaled-already", lambda a: a.size**-0.5),
                Option(
                    "twice", lambda a: 2.0, "The result is twice the right one: every product counts once."
                ),
            ),
        ),
        Factor(
            "end",
            lambda number: number,
            (
                Option("sign-of-total-dropped", np.abs),
                Option(
                    "sign-turned",
                    lambda number: -number,
                    "The sign of the result is flipped. It is a plain sum.",
                ),
                Option("rounded-to-integer", lambda number: np.trunc(number)),
                Option("rounded-to-integer", lambda number: np.rint(number)),
                Option(
                    "rounded",
                    _decimals(1),
                    "The result is rounded. Return the number as it comes.",
                ),
                *(Option("rounded", _decimals(n)) for n in (2, 3, 4, 5, 6)),
                Option(
                    "negative-cut-off",
                    lambda number: np.maximum(number, 0),
                    "A negative result became 0. Vectors that point apart have a negative dot product.",
                ),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="dot_product",
    lesson="01_dot_product",
    title="The dot product of two vectors",
    prompt=PROMPT,
    examples=(Example(([1, 0, -1], [1, 0, -0.5]), shows="1·1 + 0·0 + (-1)·(-0.5) = 1.5"),),
    section="2. A sum of products",
    difficulty=1,
    minutes=5,
    reference=dot_product,
    cases=(
        # One negative product, a positive total: whoever drops a sign is seen, whatever the seed.
        Case("two short vectors", lambda rng: (signed(rng, [1, 1, -1]), signed(rng, [4, -1, -1]))),
        Case(
            "longer vectors, read-only",
            lambda rng: (
                read_only(signed(rng, [1, -1, 1, 1, -1, 1, 1])),
                read_only(signed(rng, [1, 1, 1, 1, -1, 1, 1])),
            ),
        ),
        Case(
            "large numbers, pointing apart",
            lambda rng: (q := signed(rng, [1, -1, 1, 1, -1], 50, 100), -q + signed(rng, [1] * 5)),
        ),
        Case(
            "orthogonal vectors",
            lambda rng: (np.array([a := rng.uniform(1, 9), 0.0, 3.0, 0.0]), np.array([0.0, 2.0, 0.0, a])),
            says="Vectors at a right angle have dot product 0.",
        ),
        Case(
            "one coordinate",
            lambda rng: (signed(rng, [3]), signed(rng, [-1])),
            says="With d_k = 1 a single product is left, and the answer is still one number.",
        ),
        Case(
            "forty coordinates",
            lambda rng: (signed(rng, [1, -2] * 20), signed(rng, [3, 1] * 20)),
            says="Every coordinate counts, even the fortieth.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "not-summed",
            lambda q, k: q * k,
            "You multiplied the coordinates pair by pair and stopped: the dot product also adds the products up.",
            ("How many numbers should come out, and how many came out?",),
        ),
        WrongAnswer(
            "outer-product",
            np.outer,
            "This is the outer product: every coordinate of q with every coordinate of k, a matrix. Only the pairs "
            "with equal index belong to the dot product.",
        ),
        WrongAnswer(
            "product-of-sums",
            lambda q, k: q.sum() * k.sum(),
            "You added each vector up first and multiplied the sums: that also multiplies coordinates which do not "
            "belong together. Multiply pair by pair first, then add.",
        ),
        WrongAnswer(
            "sum-of-sums",
            lambda q, k: np.sum(q + k),
            "You added the coordinates where they have to be multiplied.",
        ),
        WrongAnswer(
            "mean-not-sum",
            lambda q, k: np.mean(q * k),
            "This is the mean of the products, d_k times too small: the dot product is their sum.",
            ("Compare the number that you got with d_k times it.",),
        ),
        WrongAnswer(
            "cosine-not-dot",
            lambda q, k: q @ k / (np.linalg.norm(q) * np.linalg.norm(k)),
            "This is the cosine of the angle: you divided the lengths away. The dot product keeps them.",
        ),
        WrongAnswer(
            "scaled-already",
            lambda q, k: q @ k / np.sqrt(q.shape[-1]),
            "You divided by √d_k. That comes in lesson 02; the plain dot product has no scale.",
        ),
        WrongAnswer(
            "absolute-value",
            lambda q, k: np.sum(np.abs(q * k)),
            "You dropped the signs of the products: a negative product has to pull the sum down.",
        ),
        WrongAnswer(
            "sign-of-total-dropped",
            lambda q, k: abs(q @ k),
            "You dropped the sign of the result: vectors that point apart have a negative dot product.",
        ),
        WrongAnswer(
            "distance-not-dot",
            lambda q, k: np.linalg.norm(q - k),
            "This is the distance between the tips of the vectors, which is small when they agree. "
            "The dot product is large when they agree.",
        ),
        WrongAnswer(
            "squared-length",
            lambda q, k: q @ q,
            "You used q twice: this is the squared length of q, and k never comes in.",
        ),
        WrongAnswer(
            "one-element-array",
            lambda q, k: q[None, :] @ k[:, None],
            "The number is right but it comes in an array. Two vectors of shape (d_k,) give one plain number.",
        ),
        WrongAnswer(
            "last-component-forgotten",
            lambda q, k: q[:-1] @ k[:-1],
            "The last pair of coordinates is missing from the sum: `range(n)` ends at n − 1 by itself.",
        ),
        WrongAnswer(
            "first-product-only",
            lambda q, k: q[0] * k[0],
            "Only the first product came back. A `return` inside the loop ends it in its first round.",
        ),
    ),
    mistakes=MISTAKES,
    also_right=(
        lambda q, k: q @ k,
        lambda q, k: np.dot(q, k),
        lambda q, k: float(np.einsum("i,i->", q, k)),
        lambda q, k: sum(a * b for a, b in zip(q, k, strict=True)),
        _dot_loop,
        lambda q, k: np.inner(q, k),
        lambda q, k: np.linalg.norm(q) * np.linalg.norm(k) * _cosine_of_angle(q, k),
    ),
    hints=(
        "Look at one pair of coordinates at a time: what happens to q[0] and k[0]?",
        "Multiply coordinate by coordinate, which gives d_k products, then add those up.",
        "`q * k` has shape (d_k,); `np.sum(...)` of it is one number. `q @ k` does both at once.",
    ),
    invariants=(
        Invariant(
            "larger-than-lengths-allow",
            "Its size is larger than ‖q‖‖k‖, which no dot product can be (Cauchy–Schwarz).",
            lambda inputs, s: bool(abs(s) <= length_product(*inputs) * (1 + 1e-9)),
        ),
    ),
)
