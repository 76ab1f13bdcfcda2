"""Lesson 01, exercise `dot_product`: the dot product of two vectors."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only, signed
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
    ),
    wrong=(
        WrongAnswer(
            "not-summed",
            lambda q, k: q * k,
            "You multiplied the components pair by pair and stopped: the dot product also adds the products up.",
            ("How many numbers should come out, and how many came out?",),
        ),
        WrongAnswer(
            "product-of-sums",
            lambda q, k: q.sum() * k.sum(),
            "You added each vector up first and multiplied the sums: that also multiplies components which do not "
            "belong together. Multiply pair by pair first, then add.",
        ),
        WrongAnswer(
            "sum-of-sums",
            lambda q, k: np.sum(q + k),
            "You added the components where they have to be multiplied.",
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
            "outer-product",
            lambda q, k: np.outer(q, k),
            "This is the outer product: every component of q with every component of k, a matrix. "
            "Only the pairs with equal index belong to the dot product.",
        ),
        WrongAnswer(
            "squared-length",
            lambda q, k: q @ q,
            "You used q twice: this is the squared length of q, and k never comes in.",
        ),
        WrongAnswer(
            "a-matrix-of-one",
            lambda q, k: q[None, :] @ k[:, None],
            "The number is right but it comes as a 1 by 1 matrix. Two vectors of shape (d_k,) give one plain number.",
        ),
        WrongAnswer(
            "rounded-to-integer",
            lambda q, k: int(q @ k),
            "You cut the decimals off. A dot product of real vectors is a real number.",
        ),
        WrongAnswer(
            "half-precision",
            lambda q, k: float(
                q.astype(np.float16).astype(np.float32) @ k.astype(np.float16).astype(np.float32)
            ),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
    ),
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
        "Look at one pair of components at a time: what happens to q[0] and k[0]?",
        "Multiply component by component, which gives d_k products, then add those up.",
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
