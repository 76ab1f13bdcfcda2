"""Lesson 05, exercise `sliding_window_mask`: only the last few."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.masking.exercises.shared import (
    ADDITIVE,
    FORM,
    FUTURE,
    NUMBERS,
    SENSE,
    additive,
    no_future,
    some_size,
)

PROMPT = """`sliding_window_mask(n_q, n_k, window)`: query $i$ sees `window` keys at most: itself and those just before it.

- `n_q`, `n_k`: the numbers of queries and keys. Query $i$ stands at key $i$, counted from the top left.
- `window`: how many keys, the query's own position included. At least 1.
- Returns shape `(n_q, n_k)`, dtype bool, True = may attend.

Example: {example:1}: query 0 sees key 0, query 1 sees keys 0 and 1, query 2 sees keys 1 and 2.
"""


def sliding_window_mask(n_q, n_k, window):
    """Causal window: n_q, n_k, window -> (n_q, n_k) bool, True = may attend."""
    distance = np.arange(n_q)[:, None] - np.arange(n_k)
    return (distance >= 0) & (distance < window)


def _distance(n_q, n_k):
    return np.arange(n_q)[:, None] - np.arange(n_k)


def _by_slices(n_q, n_k, window):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        mask[i, i - window + 1 : i + 1] = True
    return mask


SIDE = Factor(
    "side",
    lambda distance, width: (distance >= 0) & (distance < width),
    (
        Option("both-sides", lambda distance, width: np.abs(distance) < width),
        Option("future-side", lambda distance, width: (distance <= 0) & (-distance < width)),
        Option("no-causality", lambda distance, width: distance < width),
        Option("no-window", lambda distance, width: distance >= 0),
        Option("itself-not-seen", lambda distance, width: (distance > 0) & (distance <= width)),
    ),
)
WIDTH = Factor(
    "width",
    lambda window: window,
    (
        Option("one-key-too-many", lambda window: window + 1),
        Option("one-key-too-few", lambda window: window - 1),
        Option("window-halved", lambda window: window // 2 + 1),
        Option("window-halved", lambda window: window // 2),
    ),
)
PLACE = Factor(
    "place",
    _distance,
    (
        Option("bottom-right", lambda n_q, n_k: _distance(n_q, n_k) + n_k - n_q),
        Option("square-only", lambda n_q, n_k: _distance(n_q, n_q)),
        Option("sizes-swapped", lambda n_q, n_k: _distance(n_k, n_q)),
    ),
)


def _build(side, width, place, sense, form):
    return lambda n_q, n_k, window: form(sense(side(place(n_q, n_k), width(window))))


EXERCISE = Exercise(
    name="sliding_window_mask",
    lesson="05_masking",
    title="Only the last few",
    prompt=PROMPT,
    examples=(Example((3, 3, 2), form="call"),),
    difficulty=2,
    minutes=10,
    reference=sliding_window_mask,
    cases=(
        Case("a window of three", lambda rng: (n := some_size(rng, 7, 40), n, 3)),
        Case(
            "a window of one",
            lambda rng: (n := some_size(rng, 4, 40), n, 1),
            says="A window of one holds the query's own position.",
        ),
        Case(
            "a window wider than the text",
            lambda rng: (n := some_size(rng, 4, 20), n, n + some_size(rng, 1, 9)),
            says="Then it is the causal mask.",
        ),
        Case(
            "more keys than queries", lambda rng: (n := some_size(rng, 6, 20), n + some_size(rng, 3, 20), 4)
        ),
        Case(
            "more queries than keys", lambda rng: ((n := some_size(rng, 5, 20)) + some_size(rng, 2, 20), n, 4)
        ),
        Case(
            "one query, many keys",
            lambda rng: (1, some_size(rng, 4, 60), 3),
            says="Query 0 sees key 0 alone, and the axis of the queries stays.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "one-key-too-many",
            lambda n_q, n_k, window: ((d := _distance(n_q, n_k)) >= 0) & (d <= window),
            "The window is one key too wide: it counts the query's own position, so window = 1 is itself alone.",
        ),
        WrongAnswer(
            "itself-not-seen",
            lambda n_q, n_k, window: ((d := _distance(n_q, n_k)) > 0) & (d <= window),
            "Query i sees the window keys BEFORE it but not itself.",
        ),
        WrongAnswer(
            "one-key-too-few",
            lambda n_q, n_k, window: ((d := _distance(n_q, n_k)) >= 0) & (d < window - 1),
            "The window is one key too narrow: with window = 1 nobody sees anything.",
        ),
        WrongAnswer(
            "both-sides",
            lambda n_q, n_k, window: np.abs(_distance(n_q, n_k)) < window,
            "The window reaches into the future as well: it has to be causal.",
        ),
        WrongAnswer(
            "future-side",
            lambda n_q, n_k, window: ((d := -_distance(n_q, n_k)) >= 0) & (d < window),
            "The window lies on the wrong side: itself and the keys AFTER it.",
        ),
        WrongAnswer(
            "no-window",
            lambda n_q, n_k, window: _distance(n_q, n_k) >= 0,
            "This is the plain causal mask: the window never closes behind the query.",
        ),
        WrongAnswer(
            "no-causality",
            lambda n_q, n_k, window: _distance(n_q, n_k) < window,
            "The window closes behind the query, but the whole future is open.",
        ),
        WrongAnswer(
            "inverted",
            lambda n_q, n_k, window: ~(((d := _distance(n_q, n_k)) >= 0) & (d < window)),
            "The mask is the wrong way round: True means that the query MAY attend to the key.",
        ),
        WrongAnswer(
            "window-halved",
            lambda n_q, n_k, window: ((d := _distance(n_q, n_k)) >= 0) & (d <= window // 2),
            "You used half of `window`, as for a window with a left and a right side. Here it lies on one side, and counts "
            "all keys that a query sees.",
        ),
        WrongAnswer(
            "negative-slice-start",
            _by_slices,
            "For the first queries `i - window + 1` is negative, and a negative start counts from the END: they lose "
            "their keys. Use `max(0, i - window + 1)`.",
        ),
        WrongAnswer(
            "blocks-not-a-window",
            lambda n_q, n_k, window: (
                (_distance(n_q, n_k) >= 0) & (np.arange(n_q)[:, None] // window == np.arange(n_k) // window)
            ),
            "You cut the text into blocks: the first token of a block sees nothing before it. A window slides along.",
        ),
        WrongAnswer(
            "first-keys-only",
            lambda n_q, n_k, window: (_distance(n_q, n_k) >= 0) & (np.arange(n_k) < window),
            "The window stands still at the first keys. It moves with the query.",
        ),
        WrongAnswer(
            "last-keys-only",
            lambda n_q, n_k, window: (_distance(n_q, n_k) >= 0) & (np.arange(n_k) >= n_k - window),
            "The window stands still at the last keys. It moves with the query.",
        ),
        WrongAnswer(
            "bottom-right",
            lambda n_q, n_k, window: ((d := _distance(n_q, n_k) + n_k - n_q) >= 0) & (d < window),
            "The window is aligned at the bottom right. Here query i stands at key i, counted from the top left.",
        ),
        WrongAnswer(
            "square-only",
            lambda n_q, n_k, window: ((d := _distance(n_q, n_q)) >= 0) & (d < window),
            "The mask is square, n_q by n_q. It has one column for each KEY.",
        ),
        WrongAnswer(
            "sizes-swapped",
            lambda n_q, n_k, window: ((d := _distance(n_k, n_q)) >= 0) & (d < window),
            "The sizes are swapped: rows are queries, columns are keys.",
        ),
        WrongAnswer(
            "every-so-many",
            lambda n_q, n_k, window: ((d := _distance(n_q, n_k)) >= 0) & (d % window == 0),
            "You kept every window-th key, as in dilated attention. Keep the last `window` keys.",
        ),
        WrongAnswer(
            "numbers-not-booleans",
            lambda n_q, n_k, window: (((d := _distance(n_q, n_k)) >= 0) & (d < window)).astype(int),
            NUMBERS,
        ),
        WrongAnswer(
            "additive",
            lambda n_q, n_k, window: additive(((d := _distance(n_q, n_k)) >= 0) & (d < window)),
            ADDITIVE,
        ),
    ),
    also_right=(
        lambda n_q, n_k, window: np.tri(n_q, n_k, dtype=bool) & ~np.tri(n_q, n_k, k=-window, dtype=bool),
        lambda n_q, n_k, window: np.triu(np.tri(n_q, n_k, dtype=bool), k=1 - window),
        lambda n_q, n_k, window: np.array([[i - window < j <= i for j in range(n_k)] for i in range(n_q)]),
        lambda n_q, n_k, window: (np.tri(n_q, n_k) - np.tri(n_q, n_k, k=-window)) > 0,
    ),
    hints=(
        "With window = 3, which keys does query 5 see? Write down i − j for each of them.",
        "The distance i − j runs from 0 (itself) to window − 1. Two comparisons, joined by &.",
        "`distance = np.arange(n_q)[:, None] - np.arange(n_k)`; both comparisons need parentheses around them.",
    ),
    invariants=(
        Invariant("sees-the-future", FUTURE, no_future()),
        Invariant(
            "window-too-wide",
            "Some query sees more keys than the window holds.",
            lambda inputs, mask: bool((mask.sum(axis=-1) <= inputs[2]).all()),
        ),
    ),
    mistakes=Products((WIDTH, SIDE, PLACE, SENSE, FORM), _build),
)
