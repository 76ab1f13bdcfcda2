"""Exercises of lesson 01: the dot product, all pairs of them, length against direction, the soft lookup."""

import numpy as np

from sdpa_helpers.checking.exercise import (
    Case,
    Exercise,
    Invariant,
    WrongAnswer,
    read_only,
    redraw,
    signed,
    strided,
)

LESSON = "01_dot_product"


# ---- dot_product ----------------------------------------------------------------------------------------


def dot_product(q, k):
    """The dot product of two vectors of shape (d_k,): one number."""
    return (q * k).sum()


def _dot_loop(q, k):
    total = 0.0
    for a, b in zip(q, k, strict=True):
        total += a * b
    return total


DOT_PRODUCT = Exercise(
    name="dot_product",
    lesson=LESSON,
    title="The dot product of two vectors",
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
            lambda inputs, s: bool(abs(s) <= _both(*inputs) * (1 + 1e-9)),
        ),
    ),
)


def _cosine_of_angle(q, k):
    return (q / np.linalg.norm(q)) @ (k / np.linalg.norm(k))


# ---- attention_scores -----------------------------------------------------------------------------------


def attention_scores(Q, K):
    """The dot product of every query with every key: (..., n_q, d_k), (..., n_k, d_k) -> (..., n_q, n_k)."""
    return Q @ np.swapaxes(K, -1, -2)


def _scores_by_loops(Q, K):
    out = np.empty((*Q.shape[:-1], K.shape[-2]), dtype=Q.dtype)
    for i in range(Q.shape[-2]):
        for j in range(K.shape[-2]):
            out[..., i, j] = np.sum(Q[..., i, :] * K[..., j, :], axis=-1)
    return out


def _scores_changing_inputs(Q, K):
    Q /= 1.0
    return Q @ np.swapaxes(K, -1, -2)


def _pairs(rng, n_q, n_k, d_k, *batch, dtype=np.float64):
    Q, K = rng.normal(size=(*batch, n_q, d_k)), rng.normal(size=(*batch, n_k, d_k))
    return Q.astype(dtype), K.astype(dtype)


ATTENTION_SCORES = Exercise(
    name="attention_scores",
    lesson=LESSON,
    title="Every query against every key",
    section="5. All pairs at once",
    difficulty=2,
    minutes=10,
    reference=attention_scores,
    cases=(
        Case("three queries, five keys", lambda rng: _pairs(rng, 3, 5, 4)),
        Case(
            "as many queries as keys",
            lambda rng: _pairs(rng, 4, 4, 4),
            says="A square matrix hides a missing transpose.",
        ),
        Case("a batch of two", lambda rng: _pairs(rng, 3, 5, 7, 2)),
        Case("batch and heads", lambda rng: _pairs(rng, 2, 5, 3, 4, 6)),
        Case(
            "read-only, strided and large",
            lambda rng: tuple(read_only_strided(x * 200) for x in _pairs(rng, 5, 3, 6, 2)),
        ),
    ),
    wrong=(
        WrongAnswer(
            "reshaped-not-transposed",
            lambda Q, K: Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]),
            "You reshaped K where it has to be transposed. Reshaping keeps the numbers in memory order and cuts "
            "them into new rows, so the rows are no longer keys.",
            ("Print K and your version of Kᵀ for a 2 by 3 matrix: is column j the j-th key?",),
        ),
        WrongAnswer(
            "all-axes-transposed",
            lambda Q, K: Q @ K.T,
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
            ("np.swapaxes or np.matrix_transpose say which axes they mean.",),
        ),
        WrongAnswer(
            "not-transposed",
            lambda Q, K: Q @ K,
            "K is not transposed: the rows of K have to become columns, so that row i of Q meets key j.",
        ),
        WrongAnswer(
            "queries-and-keys-swapped",
            lambda Q, K: K @ np.swapaxes(Q, -1, -2),
            "Queries and keys are swapped: rows must belong to queries and columns to keys.",
            ("Entry [i, j] should be the score of query i with key j.",),
        ),
        WrongAnswer(
            "queries-with-queries",
            lambda Q, K: Q @ np.swapaxes(Q, -1, -2),
            "You scored the queries against themselves: K never comes in.",
        ),
        WrongAnswer(
            "features-with-features",
            lambda Q, K: np.swapaxes(Q, -1, -2) @ K,
            "You summed over the positions instead of the components: the transpose is on the wrong factor.",
        ),
        WrongAnswer(
            "elementwise",
            lambda Q, K: Q * K,
            "`*` multiplies entry by entry. All pairs of rows need a matrix product.",
        ),
        WrongAnswer(
            "row-by-row-only",
            lambda Q, K: np.sum(Q * K, axis=-1),
            "You compared query i with key i alone. Attention needs every query with every key.",
        ),
        WrongAnswer(
            "scaled-already",
            lambda Q, K: Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]),
            "You divided by √d_k. The raw scores QKᵀ are asked for; the scale is lesson 02's subject.",
        ),
        WrongAnswer(
            "cosine-not-dot",
            lambda Q, K: _unit_rows(Q) @ np.swapaxes(_unit_rows(K), -1, -2),
            "These are cosines: you divided the lengths away. Raw scores keep them.",
        ),
        WrongAnswer(
            "softmax-already",
            lambda Q, K: _softmax(Q @ np.swapaxes(K, -1, -2)),
            "You applied softmax: these are weights. The scores before it are asked for.",
        ),
        WrongAnswer(
            "absolute-value",
            lambda Q, K: np.abs(Q @ np.swapaxes(K, -1, -2)),
            "You dropped the signs: a negative score says that query and key point apart.",
        ),
        WrongAnswer(
            "mixes-batch-entries",
            lambda Q, K: np.dot(Q, np.swapaxes(K, -1, -2)),
            "With more than two axes np.dot (and np.inner) pair every batch entry with every other. Use `@` or "
            "np.matmul, which keep the batch entries apart.",
        ),
        WrongAnswer(
            "only-two-axes",
            lambda Q, K: np.einsum("id,jd->ij", Q, K),
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum.",
        ),
        WrongAnswer(
            "first-batch-entry-only",
            lambda Q, K: Q[(0,) * (Q.ndim - 2)] @ K[(0,) * (K.ndim - 2)].T,
            "Only the first batch entry was used: the leading axes are gone.",
        ),
        WrongAnswer(
            "single-precision",
            lambda Q, K: (Q.astype(np.float32) @ np.swapaxes(K.astype(np.float32), -1, -2)).astype(
                np.float64
            ),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _scores_changing_inputs,
            "Your function writes into the caller's array. Make a new array instead of using `/=` or `out=` on Q or K.",
        ),
    ),
    also_right=(
        lambda Q, K: np.einsum("...id,...jd->...ij", Q, K),
        lambda Q, K: np.matmul(Q, K.swapaxes(-2, -1)),
        lambda Q, K: np.matrix_transpose(K @ np.matrix_transpose(Q)),
        lambda Q, K: np.sum(Q[..., :, None, :] * K[..., None, :, :], axis=-1),
        _scores_by_loops,
    ),
    hints=(
        "Write down the shapes: (..., n_q, d_k) and (..., n_k, d_k) have to become (..., n_q, n_k).",
        "A matrix product sums over the left's last axis and the right's second last: turn K's last two axes.",
        "`np.swapaxes(K, -1, -2)` has shape (..., d_k, n_k). What is left is one `@`.",
    ),
    invariants=(
        Invariant(
            "larger-than-lengths-allow",
            "At least one score is larger than ‖q‖‖k‖, which no dot product can be (Cauchy–Schwarz).",
            lambda inputs, s: bool(np.all(np.abs(s) <= _length_products(*inputs) * (1 + 1e-9))),
        ),
    ),
    forbids=("torch.nn.functional.scaled_dot_product_attention", "sdpa_helpers.scaled_dot_product_attention"),
)


def read_only_strided(array):
    """Both at once: a layout that is not contiguous, in memory that cannot be written."""
    view = strided(array)
    view.flags.writeable = False
    return view


def _length_products(Q, K):
    return np.linalg.norm(Q, axis=-1)[..., :, None] * np.linalg.norm(K, axis=-1)[..., None, :]


def _unit_rows(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# ---- cosine_similarity ----------------------------------------------------------------------------------


def cosine_similarity(q, k):
    """The cosine of the angle between two vectors of shape (d_k,); 0.0 when one of them is the zero vector."""
    length_q, length_k = np.linalg.norm(q), np.linalg.norm(k)
    if length_q == 0 or length_k == 0:
        return 0.0
    return (q / length_q) @ (k / length_k)


def _norms(q, k):
    return np.linalg.norm(q), np.linalg.norm(k)


def _both(q, k):
    return np.linalg.norm(q) * np.linalg.norm(k)


COSINE_SIMILARITY = Exercise(
    name="cosine_similarity",
    lesson=LESSON,
    title="Direction without length",
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
            lambda q, k: 1.0 if 0 in _norms(q, k) else q @ k / _both(q, k),
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
            lambda q, k: 0.0 if 0 in _norms(q, k) else np.arccos(np.clip(q @ k / _both(q, k), -1, 1)),
            "This is the angle in radians: leave the arccos out.",
        ),
        WrongAnswer(
            "distance-not-similarity",
            lambda q, k: 1.0 if 0 in _norms(q, k) else 1 - q @ k / _both(q, k),
            "This is 1 minus the cosine, a distance: 0 where the vectors agree. The similarity itself is asked for.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda q, k: 0.0 if 0 in _norms(q, k) else abs(q @ k) / _both(q, k),
            "You dropped the sign: vectors that point apart have a negative cosine.",
        ),
        WrongAnswer(
            "clipped-at-zero",
            lambda q, k: 0.0 if 0 in _norms(q, k) else max(0.0, q @ k / _both(q, k)),
            "You cut negative values off: vectors that point apart have a negative cosine.",
        ),
        WrongAnswer(
            "small-is-not-zero",
            lambda q, k: 0.0 if min(_norms(q, k)) < 1e-6 else q @ k / _both(q, k),
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
        lambda q, k: 0.0 if 0 in _norms(q, k) else np.clip(q @ k / _both(q, k), -1.0, 1.0),
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
)


# ---- best_key -------------------------------------------------------------------------------------------


def best_key(q, K):
    """The index of the key with the largest dot product with q: the hard lookup. The first one wins a tie."""
    return int(np.argmax(K @ q))


def _best_key_loop(q, K):
    best, best_score = 0, -np.inf
    for j, k in enumerate(K):
        if k @ q > best_score:
            best, best_score = j, k @ q
    return best


def _long_key_wins(rng):
    q = np.array([1.0, 0.2, 0.0])
    K = np.array([[0.5, 0.0, 0.1], [1.0, 0.2, 0.0], [3.0, 4.0, 3.0], [-9.0, 0.0, 0.0]])
    return q + rng.normal(size=3) * 0.01, K


def _all_negative(rng):
    K = np.array([[-4.0, -1.0], [-1.0, -0.5], [-2.0, -6.0]])
    return redraw(
        rng, lambda rng: (rng.uniform(0.2, 2, size=2), K), lambda q, K: _by_cosine(q, K) != best_key(q, K)
    )


def _many_keys(rng):
    def every_rule_differs(q, K):
        places = {
            best_key(q, K),
            _by_cosine(q, K),
            int(np.argmax(np.linalg.norm(K, axis=-1))),
            int(np.argmax(q @ K.T @ K)),
        }
        return len(places | {best_key(q, K) + 1}) == 5 and np.argmin(K @ q) != np.argmax(np.abs(K @ q))

    return redraw(
        rng, lambda rng: (q := rng.normal(size=5), rng.normal(size=(40, 5)) + q), every_rule_differs
    )


def _by_cosine(q, K):
    return int(np.argmax(K @ q / np.linalg.norm(K, axis=-1)))


BEST_KEY = Exercise(
    name="best_key",
    lesson=LESSON,
    title="The hard lookup",
    section="4. One query, many keys",
    difficulty=1,
    minutes=5,
    reference=best_key,
    cases=(
        Case("a long key against an aligned one", _long_key_wins, says="The dot product rewards length too."),
        Case(
            "only negative scores",
            _all_negative,
            says="The largest of negative scores is the one nearest to 0.",
        ),
        Case(
            "a tie",
            lambda rng: (
                np.array([a := rng.uniform(1, 2), 0.0]),
                np.array([[0.0, 3.0], [a, 1.0], [a, -7.0], [-5.0, 0.0]]),
            ),
            says="When two keys score the same, the first one counts.",
        ),
        Case("many keys", _many_keys),
    ),
    wrong=(
        WrongAnswer(
            "largest-cosine",
            _by_cosine,
            "You picked the best direction, the largest cosine. The dot product also counts the key's length.",
        ),
        WrongAnswer(
            "largest-size-sign-dropped",
            lambda q, K: int(np.argmax(np.abs(K @ q))),
            "You picked the score that is largest in size and dropped the signs: −5 is not above 1.",
        ),
        WrongAnswer(
            "smallest-score",
            lambda q, K: int(np.argmin(K @ q)),
            "You picked the smallest score, not the largest.",
        ),
        WrongAnswer(
            "nearest-key",
            lambda q, K: int(np.argmin(np.linalg.norm(K - q, axis=-1))),
            "You picked the key whose tip is nearest to the query's: a distance, not a dot product.",
        ),
        WrongAnswer(
            "longest-key",
            lambda q, K: int(np.argmax(np.linalg.norm(K, axis=-1))),
            "You picked the longest key; the query never comes in.",
        ),
        WrongAnswer(
            "last-of-a-tie",
            lambda q, K: len(K) - 1 - int(np.argmax((K @ q)[::-1])),
            "With equal scores you take the last key; the first one is asked for.",
        ),
        WrongAnswer(
            "score-not-index",
            lambda q, K: np.max(K @ q),
            "You returned the largest score. Its index is asked for.",
        ),
        WrongAnswer(
            "key-not-index",
            lambda q, K: K[np.argmax(K @ q)],
            "You returned the key itself. Its index is asked for.",
        ),
        WrongAnswer(
            "all-scores",
            lambda q, K: K @ q,
            "These are all the scores. The index of the largest is asked for.",
        ),
        WrongAnswer(
            "counted-from-one",
            lambda q, K: int(np.argmax(K @ q)) + 1,
            "You count from 1; Python's indices start at 0.",
        ),
        WrongAnswer(
            "best-component",
            lambda q, K: int(np.argmax(q @ K.T @ K)),
            "You picked a component (a column of K), not a key (a row of K).",
        ),
        WrongAnswer(
            "largest-entry-of-keys",
            lambda q, K: int(np.argmax(K * q)),
            "You searched all products before adding them up: sum over the components first, then compare the keys.",
        ),
        WrongAnswer(
            "one-hot-not-index",
            lambda q, K: np.eye(len(K))[np.argmax(K @ q)],
            "You returned a one-hot vector. The index, a whole number, is asked for.",
        ),
    ),
    also_right=(
        lambda q, K: np.argmax(K @ q),
        lambda q, K: np.argmax(q @ K.T),
        lambda q, K: np.argmax(np.sum(q * K, axis=1)),
        lambda q, K: max(range(len(K)), key=lambda j: K[j] @ q),
        _best_key_loop,
    ),
    hints=(
        "First score every key, then find where the largest score stands.",
        "`K @ q` has shape (n_k,): the score of every key. The place of the largest is its argmax.",
        "`np.argmax` gives the first place of the largest entry, also when there is a tie.",
    ),
)


# ---- weighted_sum ---------------------------------------------------------------------------------------


def weighted_sum(weights, V):
    """The soft lookup's last step: (..., n_q, n_k) weights times (..., n_k, d_v) values -> (..., n_q, d_v)."""
    return weights @ V


def _lookup(rng, n_q, n_k, d_v, *batch):
    return _softmax(rng.normal(size=(*batch, n_q, n_k))), rng.normal(size=(*batch, n_k, d_v))


def _one_hot_rows(rng):
    return np.eye(5)[[3, 0, 3]], rng.normal(size=(5, 4))


WEIGHTED_SUM = Exercise(
    name="weighted_sum",
    lesson=LESSON,
    title="The soft lookup",
    section="6. From a dictionary to attention",
    difficulty=1,
    minutes=5,
    reference=weighted_sum,
    cases=(
        Case("two queries, five values", lambda rng: _lookup(rng, 2, 5, 3)),
        Case("square", lambda rng: _lookup(rng, 4, 4, 4), says="A square matrix hides a transpose too many."),
        Case(
            "one-hot weights pick a row",
            _one_hot_rows,
            says="With one weight of 1 the soft lookup is a plain lookup.",
        ),
        Case("a batch with heads", lambda rng: tuple(read_only(x) for x in _lookup(rng, 3, 5, 2, 2, 4))),
    ),
    wrong=(
        WrongAnswer(
            "average-of-values",
            lambda w, V: np.broadcast_to(V.mean(axis=-2, keepdims=True), (*w.shape[:-1], V.shape[-1])) + 0.0,
            "Every query got the plain average of the values: the weights are not used.",
        ),
        WrongAnswer(
            "hard-lookup",
            lambda w, V: np.take_along_axis(V, w.argmax(axis=-1)[..., None], axis=-2),
            "Every query got the one value with the largest weight. A soft lookup blends all of them.",
        ),
        WrongAnswer(
            "weights-transposed",
            lambda w, V: np.swapaxes(w, -1, -2) @ V,
            "The weights are transposed: row i of the weights belongs to query i and runs over the keys.",
        ),
        WrongAnswer(
            "values-transposed",
            lambda w, V: w @ np.swapaxes(V, -1, -2),
            "The values are transposed: V's rows are the values, and its rows are what the weights count.",
        ),
        WrongAnswer(
            "values-unweighted",
            lambda w, V: V + 0.0,
            "You returned the values as they came: no weights were used.",
        ),
        WrongAnswer(
            "elementwise",
            lambda w, V: w * V,
            "`*` multiplies entry by entry. The sum over the keys needs a matrix product.",
        ),
        WrongAnswer(
            "softmax-again",
            lambda w, V: _softmax(w) @ V,
            "You applied softmax to the weights once more: they are weights already, and this makes them nearly equal.",
        ),
        WrongAnswer(
            "averaged-over-keys",
            lambda w, V: w @ V / V.shape[-2],
            "You divided by the number of keys. The weights sum to 1 already, so nothing is left to divide.",
        ),
        WrongAnswer(
            "summed-over-queries",
            lambda w, V: np.sum(w @ V, axis=-2),
            "You added the outputs of all queries together: every query keeps its own row.",
        ),
        WrongAnswer(
            "columns-normalised",
            lambda w, V: (w / w.sum(axis=-2, keepdims=True)) @ V,
            "You normalised over the queries. Each query's weights, a row, sum to 1 already.",
        ),
        WrongAnswer(
            "only-two-axes",
            lambda w, V: np.einsum("ij,jd->id", w, V),
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum.",
        ),
        WrongAnswer(
            "mixes-batch-entries",
            lambda w, V: np.dot(w, V),
            "With more than two axes np.dot pairs every batch entry with every other. Use `@`.",
        ),
    ),
    also_right=(
        lambda w, V: np.matmul(w, V),
        lambda w, V: np.einsum("...ij,...jd->...id", w, V),
        lambda w, V: np.sum(w[..., :, :, None] * V[..., None, :, :], axis=-2),
        lambda w, V: np.swapaxes(np.swapaxes(V, -1, -2) @ np.swapaxes(w, -1, -2), -1, -2),
    ),
    hints=(
        "For one query: which value gets which weight, and what becomes of the weighted values?",
        "Output row i is the sum over j of weights[i, j] times V[j]: that is a matrix product.",
        "(..., n_q, n_k) `@` (..., n_k, d_v) is (..., n_q, d_v). Nothing has to be transposed.",
    ),
    invariants=(
        Invariant(
            "outside-the-values",
            "An output lies outside the range of the values. A weighted average, with weights that sum to 1, cannot.",
            lambda inputs, out: bool(
                np.all(out <= inputs[1].max(axis=-2, keepdims=True) + 1e-9)
                and np.all(out >= inputs[1].min(axis=-2, keepdims=True) - 1e-9)
            ),
        ),
    ),
)

EXERCISES = (DOT_PRODUCT, ATTENTION_SCORES, COSINE_SIMILARITY, BEST_KEY, WEIGHTED_SUM)
