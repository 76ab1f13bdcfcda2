"""Lesson 01, exercise `best_key`: the hard lookup."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, redraw

PROMPT = """`best_key(q, K)`: the hard lookup. Which key has the largest dot product with the query?

- `q`, shape `(d_k,)`: one query.
- `K`, shape `(n_k, d_k)`: one key a row.
- Returns an `int`, the index of that key, from 0 to `n_k - 1`. When several keys share the largest score, the lowest index.

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
