"""Lesson 05, exercise `causal_mask`: nobody sees the future."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer
from sdpa_helpers.lessons.masking.exercises.shared import (
    ADDITIVE,
    ADDITIVE_FINITE,
    BLIND,
    FUTURE,
    NUMBERS,
    additive,
    masks,
    no_future,
    rules,
    some_size,
)

PROMPT = r"""`causal_mask(n_q, n_k)`: query $i$ may attend to key $j$ when $j \le i$.

- `n_q`, `n_k`: the numbers of queries and keys, two ints. They may differ.
- Returns shape `(n_q, n_k)`, dtype bool: True where the query **may attend**. The triangle starts at the top left.

Example: {example:1}.
"""


def causal_mask(n_q, n_k):
    """Causal mask: n_q, n_k -> (n_q, n_k) bool, True = may attend."""
    return np.arange(n_k) <= np.arange(n_q)[:, None]


def _causal_loops(n_q, n_k):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        for j in range(n_k):
            mask[i, j] = j <= i
    return mask


EXERCISE = Exercise(
    name="causal_mask",
    lesson="05_masking",
    title="Nobody sees the future",
    prompt=PROMPT,
    examples=(Example((2, 3), form="call"),),
    difficulty=1,
    minutes=5,
    reference=causal_mask,
    cases=(
        Case("as many queries as keys", lambda rng: (n := some_size(rng, 4, 40), n)),
        Case(
            "more keys than queries",
            lambda rng: (n := some_size(rng, 3, 20), n + some_size(rng, 2, 20)),
            says="Aligned at the top left: query 0 sees key 0 alone, whatever the number of keys.",
        ),
        Case(
            "more queries than keys",
            lambda rng: ((n := some_size(rng, 3, 20)) + some_size(rng, 2, 20), n),
            says="Late queries see all the keys there are.",
        ),
        Case(
            "one query, many keys", lambda rng: (1, some_size(rng, 4, 60)), says="Query 0 sees key 0 alone."
        ),
    ),
    wrong=(
        WrongAnswer(
            "inverted",
            lambda n_q, n_k: ~np.tri(n_q, n_k, dtype=bool),
            "The mask is the wrong way round: here True means that the query MAY attend to the key.",
        ),
        WrongAnswer(
            "cannot-see-itself",
            lambda n_q, n_k: np.tri(n_q, n_k, k=-1, dtype=bool),
            "Query i does not see key i: the diagonal is missing, and query 0 sees nothing at all.",
        ),
        WrongAnswer(
            "sees-one-future-key",
            lambda n_q, n_k: np.tri(n_q, n_k, k=1, dtype=bool),
            "Query i also sees key i + 1, one step of the future: the diagonal is shifted by one.",
        ),
        WrongAnswer(
            "upper-triangle",
            lambda n_q, n_k: np.tri(n_k, n_q, dtype=bool).T,
            "The triangle is the upper one: each query sees itself and the FUTURE. (Or rows and columns are swapped.)",
        ),
        WrongAnswer(
            "bottom-right",
            lambda n_q, n_k: np.tri(n_q, n_k, k=n_k - n_q, dtype=bool),
            "The diagonal ends at the bottom right. That is what decoding with a cache needs; here it starts at the "
            "top left.",
        ),
        WrongAnswer(
            "bottom-right-without-itself",
            lambda n_q, n_k: np.tri(n_q, n_k, k=n_k - n_q - 1, dtype=bool),
            "The diagonal is aligned at the bottom right, and one step too far to the left as well.",
        ),
        WrongAnswer(
            "inverted-bottom-right",
            lambda n_q, n_k: ~np.tri(n_q, n_k, k=n_k - n_q, dtype=bool),
            "The mask is inverted, and aligned at the bottom right.",
        ),
        WrongAnswer(
            "numbers-not-booleans",
            lambda n_q, n_k: np.tri(n_q, n_k, dtype=int),
            NUMBERS,
        ),
        WrongAnswer(
            "additive",
            lambda n_q, n_k: additive(np.tri(n_q, n_k, dtype=bool)),
            ADDITIVE,
        ),
        WrongAnswer(
            "additive-finite",
            lambda n_q, n_k: additive(np.tri(n_q, n_k, dtype=bool), -1e9),
            ADDITIVE_FINITE,
        ),
        WrongAnswer(
            "infinity-times-zero",
            lambda n_q, n_k: np.triu(np.ones((n_q, n_k)), k=1) * -np.inf,
            "0 · (−∞) is NaN, so the visible half is NaN. And the mask has to be boolean.",
        ),
        WrongAnswer(
            "arguments-swapped",
            lambda n_q, n_k: np.tri(n_k, n_q, k=n_q - n_k, dtype=bool),
            "Rows and columns are exchanged, and the triangle ends at the bottom right: n_q, the rows, comes first.",
        ),
        WrongAnswer(
            "square-of-queries",
            lambda n_q, n_k: np.tri(n_q, dtype=bool),
            "The mask is square, n_q by n_q. It has one column for each KEY.",
        ),
        WrongAnswer(
            "square-of-keys",
            lambda n_q, n_k: np.tri(n_k, dtype=bool),
            "The mask is square, n_k by n_k. It has one row for each QUERY.",
        ),
        WrongAnswer(
            "sizes-swapped",
            lambda n_q, n_k: np.tri(n_k, n_q, dtype=bool),
            "The sizes are swapped: rows are queries, columns are keys.",
        ),
        WrongAnswer(
            "everything-visible",
            lambda n_q, n_k: np.ones((n_q, n_k), dtype=bool),
            "Everything is visible: the future too.",
        ),
        WrongAnswer(
            "nothing-visible",
            lambda n_q, n_k: np.zeros((n_q, n_k), dtype=bool),
            "Nothing is visible: every query is blind.",
        ),
        WrongAnswer(
            "only-itself",
            lambda n_q, n_k: np.eye(n_q, n_k, dtype=bool),
            "Each query sees itself alone. The past is missing.",
        ),
        WrongAnswer(
            "mirrored",
            lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool)[:, ::-1],
            "The triangle is mirrored left to right: query 0 sees the LAST key.",
        ),
        WrongAnswer(
            "upside-down",
            lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool)[::-1],
            "The triangle is upside down: query 0 sees the most and the last query the least.",
        ),
        WrongAnswer(
            "extra-axes",
            lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool)[None, None],
            "There are two axes too many in front. A mask of shape (n_q, n_k) broadcasts by itself.",
        ),
        WrongAnswer(
            "list-not-array",
            lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool).tolist(),
            "This is a nested list. np.array(..., dtype=bool) makes an array of it.",
        ),
    ),
    also_right=(
        lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool),
        lambda n_q, n_k: np.tril(np.ones((n_q, n_k), dtype=bool)),
        lambda n_q, n_k: ~np.triu(np.ones((n_q, n_k), dtype=bool), k=1),
        lambda n_q, n_k: np.tri(n_q, n_k) == 1,
        lambda n_q, n_k: np.greater_equal.outer(np.arange(n_q), np.arange(n_k)),
        lambda n_q, n_k: np.array([[j <= i for j in range(n_k)] for i in range(n_q)]),
        _causal_loops,
    ),
    hints=(
        "Say in words which keys query 2 may see, then write it as a comparison of i and j.",
        "Key j is allowed for query i when j ≤ i. Compare a row of key numbers with a column of query numbers.",
        "`np.arange(n_k) <= np.arange(n_q)[:, None]`, or np.tri, which takes a dtype.",
    ),
    invariants=(
        Invariant("sees-the-future", FUTURE, no_future()),
        BLIND,
    ),
    ready=("numpy.tri", "numpy.tril", "numpy.triu"),
    mistakes=masks(
        rules(
            causal_mask,
            cannot_see_itself=lambda n_q, n_k: np.tri(n_q, n_k, k=-1, dtype=bool),
            sees_one_future_key=lambda n_q, n_k: np.tri(n_q, n_k, k=1, dtype=bool),
            upper_triangle=lambda n_q, n_k: np.tri(n_k, n_q, dtype=bool).T,
            bottom_right=lambda n_q, n_k: np.tri(n_q, n_k, k=n_k - n_q, dtype=bool),
            square_of_queries=lambda n_q, n_k: np.tri(n_q, dtype=bool),
            square_of_keys=lambda n_q, n_k: np.tri(n_k, dtype=bool),
            sizes_swapped=lambda n_q, n_k: np.tri(n_k, n_q, dtype=bool),
        )
    ),
)
