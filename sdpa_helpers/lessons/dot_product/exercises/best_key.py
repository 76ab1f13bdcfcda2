"""Lesson 01, exercise `best_key`: the hard lookup."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, redraw, signed
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`best_key(q, K)`: the hard lookup. Which key has the largest dot product with the query?

- `q`, shape `(d_k,)`: one query.
- `K`, shape `(n_k, d_k)`: one key a row.
- Returns an `int`, the index of that key, from 0 to `n_k - 1`. When several keys share the largest score exactly, the lowest index.

Example: {inputs:1} give the scores `[1, 3, -9]`, so the answer is {result:1}: the longer key wins, although key 0 points exactly along the query.
"""


def best_key(q, K):
    """Index of the highest score: q (d_k,), K (n_k, d_k) -> int, lowest on ties."""
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
    return 1000 * (q + rng.normal(size=3) * 0.01), K  # e to the power of such a score is infinite


def _all_negative(rng):
    """All scores are far below 0, so that a running maximum which starts at a finite number sees none."""
    K = np.array([[-4.0, -1.0], [-1.0, -0.5], [-2.0, -6.0]])
    return redraw(
        rng,
        lambda rng: (rng.uniform(1, 9, size=2) * 1e35, K),
        lambda q, K: _by_cosine(q, K) != best_key(q, K) and (K @ q).max() < -1.1,
    )


def _many_keys(rng):
    def every_rule_differs(q, K):
        places = {
            best_key(q, K),
            _by_cosine(q, K),
            int(np.argmax(np.linalg.norm(K, axis=-1))),
            int(np.argmax(q @ K.T @ K)),
        }
        others = {int(np.argmax((K * q).max(axis=-1))), int(np.argmax(K.sum(axis=-1)))} - {best_key(q, K)}
        return (
            len(places | {best_key(q, K) + 1}) == 5
            and len(others) == 2
            and np.argmin(K @ q) != np.argmax(np.abs(K @ q))
        )

    return redraw(
        rng, lambda rng: (q := rng.normal(size=5), rng.normal(size=(40, 5)) + q), every_rule_differs
    )


def _by_cosine(q, K):
    return int(np.argmax(K @ q / np.linalg.norm(K, axis=-1)))


def _nearly_a_tie(rng):
    """Key 1 is ahead of key 0 by less than a billionth; whoever rounds anything on the way takes key 0."""

    def draw(rng):
        a, b = rng.uniform(1, 2, size=2)
        return np.array([1.0, a]), np.array([[b, 1.0], [a + b + 2e-11, 0.0], [-a, 1.0]])

    def rounding_shows(q, K):
        q32, K32 = q.astype(np.float32), K.astype(np.float32)
        scores = [
            K32 @ q32,
            K32 @ q,
            K @ q32,
            *(np.round(K @ q, n) for n in (3, 6, 7, 8)),
            (K @ q).astype(np.float32),
        ]
        return best_key(q, K) == 1 and all(np.argmax(s) == 0 for s in scores)

    return redraw(rng, draw, rounding_shows)


def _less_than_one_apart(rng):
    q = rng.uniform(0.2, 0.9, size=4)
    return q, q * np.array([0.1, 0.2, 0.45, 0.3, -0.2])[:, None] / (q @ q)


def _last_wins(rng):
    def draw(rng):
        q = rng.normal(size=12)
        K = rng.normal(size=(30, 12))
        K -= np.outer(K @ q - rng.uniform(-9, 3, size=30), q) / (q @ q)  # scores from -9 to 3
        K[-1] += (8 - K[-1] @ q) * q / (q @ q)
        return q, K

    return redraw(rng, draw, lambda q, K: all(best_key(q[:n], K[:, :n]) != 29 for n in (4, 7, 8)))


def _build(score, pick, end):
    def answer(q, K):
        scores = score(q, K)
        return end(pick(scores), scores, K)

    return answer


def _from_zero(nothing):
    """A running maximum that starts at 0: what is never above it is never seen."""
    return lambda scores: int(np.argmax(scores)) if np.max(scores) > 0 else nothing


def _from_number(start):
    """The same, from another number."""
    return lambda scores: int(np.argmax(scores)) if np.max(scores) > start else 0


def _exponentials(q, K):
    e = np.exp(K @ q)
    return e / e.sum()


def _among(part, offset=0):
    def pick(scores):
        return int(np.argmax(scores[part])) + offset if scores[part].size else 0

    return pick


def _last_of_largest(scores):
    return len(scores) - 1 - int(np.argmax(scores[::-1]))


_NEARLY = "Two scores that differ by a billionth are taken as equal, as happens in float32, after rounding, or with "
_NEARLY += "`np.isclose`. Compare the scores as they are."
_CUT = "Scores were cut or rounded to whole numbers, so that 0.7 and 0.2 are equal. Keep them as floats."

MISTAKES = Products(
    (
        Factor(
            "score",
            lambda q, K: K @ q,
            (
                Option("largest-cosine", lambda q, K: K @ q / np.linalg.norm(K, axis=-1)),
                Option("largest-size-sign-dropped", lambda q, K: np.abs(K @ q)),
                Option("nearest-key", lambda q, K: -np.linalg.norm(K - q, axis=-1)),
                Option("longest-key", lambda q, K: np.linalg.norm(K, axis=-1)),
                Option("nearly-equal-taken-for-equal", lambda q, K: (K @ q).astype(np.float32), _NEARLY),
                Option("nearly-equal-taken-for-equal", lambda q, K: np.round(K @ q, 6), _NEARLY),
                Option("nearly-equal-taken-for-equal", lambda q, K: np.round(K @ q, 3), _NEARLY),
                Option("scores-cut-to-integers", lambda q, K: np.trunc(K @ q), _CUT),
                Option("scores-cut-to-integers", lambda q, K: np.rint(K @ q), _CUT),
                Option(
                    "softmax-taken-first",
                    lambda q, K: softmax(K @ q),
                    "You compared weights, after a softmax. Scores of 1e-20 and 2e-20 get the same weight there, and "
                    "exponentials without a shift overflow. Compare the scores themselves.",
                ),
                Option("softmax-taken-first", _exponentials),
                Option(
                    "largest-sum-of-components",
                    lambda q, K: K.sum(axis=-1),
                    "You picked the key with the largest sum of coordinates; the query never comes in.",
                ),
                Option(
                    "largest-single-product",
                    lambda q, K: (K * q).max(axis=-1),
                    "You picked the key with the largest single product: add a key's products up first.",
                ),
            ),
        ),
        Factor(
            "pick",
            lambda scores: int(np.argmax(scores)),
            (
                Option("smallest-score", lambda scores: int(np.argmin(scores))),
                Option("last-of-a-tie", _last_of_largest),
                Option(
                    "running-maximum-starts-at-zero",
                    _from_zero(0),
                    "Your running maximum begins at a number, 0 or −1 or one far below. Where no score is above it, your "
                    "answer stays where it started. Begin with the first score, or with −∞.",
                ),
                *(
                    Option("running-maximum-starts-at-zero", _from_number(start))
                    for start in (-1e3, -1e9, -1e6, -1e18)
                ),
                Option("running-maximum-starts-at-zero", _from_zero(-1)),
                Option(
                    "last-key-never-looked-at",
                    _among(slice(None, -1)),
                    "The last key is never looked at: `range(n)` ends at n − 1 by itself.",
                ),
                Option(
                    "first-key-never-looked-at",
                    _among(slice(1, None), 1),
                    "The first key, number 0, is never looked at.",
                ),
            ),
        ),
        Factor(
            "end",
            lambda index, scores, K: index,
            (
                Option("counted-from-one", lambda index, scores, K: index + 1),
                Option("score-not-index", lambda index, scores, K: scores[index]),
                Option("key-not-index", lambda index, scores, K: K[index]),
                Option("one-hot-not-index", lambda index, scores, K: np.eye(len(K))[index]),
                Option(
                    "order-not-index",
                    lambda index, scores, K: np.argsort(-scores, kind="stable"),
                    "These are the indices of all keys, in the order of their scores. Return the best one's only.",
                ),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="best_key",
    lesson="01_dot_product",
    title="The hard lookup",
    prompt=PROMPT,
    examples=(Example(([1, 0], [[1, 0], [3, 4], [-9, 0]])),),
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
                np.array([1e-20 * (a := rng.uniform(1, 2)), 0.0]),
                np.array([[0.0, 3.0], [a, 1.0], [a, -7.0], [-5.0, 0.0]]),
            ),
            says="When two keys score the same, the first one counts. However small scores are, 2e-20 is above 0.",
        ),
        Case("many keys", _many_keys),
        Case(
            "one key",
            lambda rng: (rng.normal(size=3), rng.normal(size=(1, 3))),
            says="One key is the best one.",
        ),
        Case(
            "keys of length one",
            lambda rng: (signed(rng, [-1]), np.array([[-3.0], [2.0], [1.0], [4.0]])),
            says="With d_k = 1 a score is one product.",
        ),
        Case(
            "nearly a tie",
            _nearly_a_tie,
            says="Two scores differ by less than a billionth: that is no tie.",
        ),
        Case(
            "scores less than 1 apart",
            _less_than_one_apart,
            says="Scores are real numbers: 0.7 is above 0.2.",
        ),
        Case("the last of thirty keys", _last_wins, says="Every key is a candidate, also the last."),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer(
            "largest-cosine",
            _by_cosine,
            "You picked the best direction, the largest cosine. The dot product also counts the key's length.",
        ),
        WrongAnswer(
            "largest-size-sign-dropped",
            lambda q, K: int(np.argmax(np.abs(K @ q))),
            "You dropped the signs and picked the score of the largest size: −5 is not above 1.",
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
            "With equal scores you take the last key. Take the first.",
        ),
        WrongAnswer(
            "score-not-index",
            lambda q, K: np.max(K @ q),
            "You returned the largest score. Return its index.",
        ),
        WrongAnswer(
            "key-not-index",
            lambda q, K: K[np.argmax(K @ q)],
            "You returned the key itself. Return its index.",
        ),
        WrongAnswer(
            "all-scores",
            lambda q, K: K @ q,
            "These are all the scores. Return the index of the largest.",
        ),
        WrongAnswer(
            "counted-from-one",
            lambda q, K: int(np.argmax(K @ q)) + 1,
            "You count from 1; Python's indices start at 0.",
        ),
        WrongAnswer(
            "best-component",
            lambda q, K: int(np.argmax(q @ K.T @ K)),
            "You picked a coordinate (a column of K), not a key (a row of K).",
        ),
        WrongAnswer(
            "largest-entry-of-keys",
            lambda q, K: int(np.argmax(K * q)),
            "You searched all products before adding them up: sum over the coordinates first, then compare the keys.",
        ),
        WrongAnswer(
            "one-hot-not-index",
            lambda q, K: np.eye(len(K))[np.argmax(K @ q)],
            "You returned a one-hot vector. Return the index, a whole number.",
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
