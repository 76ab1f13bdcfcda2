"""Exercises of lesson 05: masks, their conventions, softmax and attention under a mask, a leak detector."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer, read_only, strided
from sdpa_helpers.lessons.masking.exercises_attention import ATTENTION, MASKED_SOFTMAX

LESSON = "05_masking"
FORBIDS = ("sdpa_helpers.causal_mask", "sdpa_helpers.padding_mask", "sdpa_helpers.attention")


def _size(rng, low, high):
    """A plain int from low to high, both included."""
    return int(rng.integers(low, high + 1))


def _additive(mask, hidden=-np.inf):
    return np.where(mask, 0.0, hidden)


def _nobody_is_blind(inputs, mask):
    return bool(mask.any(axis=-1).all())


def _no_future(offset=lambda inputs: 0):
    """Query i sees no key after i + offset."""
    return lambda inputs, mask: not np.triu(mask, k=1 + offset(inputs)).any()


BLIND = Invariant("a-query-sees-nothing", "At least one query sees no key at all.", _nobody_is_blind)
FUTURE = "Some query sees a key that comes after it."


# ---- causal_mask ----------------------------------------------------------------------------------------


def causal_mask(n_q, n_k):
    """True where query i may attend to key j: j ≤ i, aligned at the top left."""
    return np.arange(n_k) <= np.arange(n_q)[:, None]


def _causal_loops(n_q, n_k):
    mask = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        for j in range(n_k):
            mask[i, j] = j <= i
    return mask


CAUSAL_MASK = Exercise(
    name="causal_mask",
    lesson=LESSON,
    title="Nobody sees the future",
    difficulty=1,
    minutes=5,
    reference=causal_mask,
    cases=(
        Case("as many queries as keys", lambda rng: (n := _size(rng, 4, 7), n)),
        Case(
            "more keys than queries",
            lambda rng: (n := _size(rng, 3, 5), n + _size(rng, 2, 4)),
            says="Aligned at the top left: query 0 sees key 0 alone, whatever the number of keys.",
        ),
        Case(
            "more queries than keys",
            lambda rng: (4 + (n := _size(rng, 3, 5)), n),
            says="Late queries see all the keys there are.",
        ),
        Case("one query, many keys", lambda rng: (1, _size(rng, 4, 9)), says="Query 0 sees key 0 alone."),
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
            "integers-not-booleans",
            lambda n_q, n_k: np.tri(n_q, n_k, dtype=int),
            "The mask holds whole numbers. As 0 and 1 it would be added or refused; make it bool.",
        ),
        WrongAnswer(
            "floats-not-booleans",
            lambda n_q, n_k: np.tri(n_q, n_k),
            "The mask holds floats 0 and 1: the kind that is silently added to the scores. Make it bool.",
        ),
        WrongAnswer(
            "additive",
            lambda n_q, n_k: _additive(np.tri(n_q, n_k, dtype=bool)),
            "This is the additive form, 0 and −∞. The boolean form is asked for.",
        ),
        WrongAnswer(
            "additive-finite",
            lambda n_q, n_k: _additive(np.tri(n_q, n_k, dtype=bool), -1e9),
            "This is the additive form, 0 and −1e9. The boolean form is asked for.",
        ),
        WrongAnswer(
            "infinity-times-zero",
            lambda n_q, n_k: np.triu(np.ones((n_q, n_k)), k=1) * -np.inf,
            "0 · (−∞) is NaN, so the visible half is NaN. And the boolean form is asked for.",
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
            "The values are right, with two axes too many. A mask of shape (n_q, n_k) broadcasts by itself.",
        ),
        WrongAnswer(
            "nested-list",
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
        Invariant("sees-the-future", FUTURE, _no_future()),
        BLIND,
    ),
    forbids=FORBIDS,
)


# ---- padding_mask ---------------------------------------------------------------------------------------


def padding_mask(lengths, n_k):
    """True for the first lengths[b] keys of each sequence b: (batch,), n_k -> (batch, n_k)."""
    return np.arange(n_k) < np.asarray(lengths)[:, None]


def _padding_loops(lengths, n_k):
    mask = np.zeros((len(lengths), n_k), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, :length] = True
    return mask


def _some_lengths(rng, batch, n_k):
    """All different, and the first is not the longest."""
    lengths = rng.permutation(np.arange(1, n_k))[:batch]
    return lengths[::-1].copy() if lengths.argmax() == 0 else lengths


PADDING_MASK = Exercise(
    name="padding_mask",
    lesson=LESSON,
    title="Nobody looks at padding",
    difficulty=1,
    minutes=5,
    reference=padding_mask,
    cases=(
        Case("three sequences", lambda rng: (_some_lengths(rng, 3, 6), 6)),
        Case("lengths in a list", lambda rng: (_some_lengths(rng, 2, 7).tolist(), 7)),
        Case(
            "a full one and an empty one",
            lambda rng: (np.array([5, 0, _size(rng, 1, 4), 5]), 5),
            says="A length of n_k hides nothing, a length of 0 hides everything.",
        ),
        Case(
            "room to spare",
            lambda rng: (read_only(_some_lengths(rng, 4, 5)), 9),
            says="n_k may be larger than the longest sequence.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "inverted",
            lambda lengths, n_k: np.arange(n_k) >= np.asarray(lengths)[:, None],
            "The mask is the wrong way round: True is for real keys, False for padding. "
            "(torch's key_padding_mask is the other way round.)",
        ),
        WrongAnswer(
            "one-key-too-many",
            lambda lengths, n_k: np.arange(n_k) <= np.asarray(lengths)[:, None],
            "Each sequence shows one padding key: with length 3 the keys 0, 1 and 2 are real.",
        ),
        WrongAnswer(
            "one-key-too-few",
            lambda lengths, n_k: np.arange(n_k) < np.asarray(lengths)[:, None] - 1,
            "The last real key of each sequence is hidden: with length 3 the keys 0, 1 and 2 are real.",
        ),
        WrongAnswer(
            "padded-on-the-left",
            lambda lengths, n_k: np.arange(n_k) >= n_k - np.asarray(lengths)[:, None],
            "You hide the FIRST keys. Here the real keys come first and the padding after them.",
        ),
        WrongAnswer(
            "only-the-last-real-key",
            lambda lengths, n_k: np.arange(n_k) == np.asarray(lengths)[:, None] - 1,
            "Only the last real key of each sequence is visible. All the ones before it are real too.",
        ),
        WrongAnswer(
            "integers-not-booleans",
            lambda lengths, n_k: (np.arange(n_k) < np.asarray(lengths)[:, None]).astype(int),
            "The mask holds whole numbers. Make it bool: 0 and 1 would be refused, or added to the scores.",
        ),
        WrongAnswer(
            "floats-not-booleans",
            lambda lengths, n_k: (np.arange(n_k) < np.asarray(lengths)[:, None]) * 1.0,
            "The mask holds floats 0 and 1: the kind that is silently added to the scores. Make it bool.",
        ),
        WrongAnswer(
            "additive",
            lambda lengths, n_k: _additive(np.arange(n_k) < np.asarray(lengths)[:, None]),
            "This is the additive form, 0 and −∞. The boolean form is asked for.",
        ),
        WrongAnswer(
            "transposed",
            lambda lengths, n_k: np.arange(n_k)[:, None] < np.asarray(lengths),
            "The mask is transposed: one row for each sequence, one column for each key.",
        ),
        WrongAnswer(
            "n_k-not-used",
            lambda lengths, n_k: np.arange(max(lengths)) < np.asarray(lengths)[:, None],
            "You made as many columns as the longest sequence has tokens. There may be more keys than that: n_k.",
        ),
        WrongAnswer(
            "first-length-for-all",
            lambda lengths, n_k: np.tile(np.arange(n_k) < lengths[0], (len(lengths), 1)),
            "Every sequence got the length of the first one.",
        ),
        WrongAnswer(
            "longest-for-all",
            lambda lengths, n_k: np.tile(np.arange(n_k) < max(lengths), (len(lengths), 1)),
            "Every sequence got the length of the longest one.",
        ),
        WrongAnswer(
            "empty-one-keeps-a-key",
            lambda lengths, n_k: np.arange(n_k) < np.maximum(np.asarray(lengths), 1)[:, None],
            "An empty sequence still shows its first key, perhaps to avoid NaN. That key is padding: hide it, and let "
            "attention deal with empty rows.",
        ),
        WrongAnswer(
            "everything-visible",
            lambda lengths, n_k: np.ones((len(lengths), n_k), dtype=bool),
            "Everything is visible: the padding too.",
        ),
        WrongAnswer(
            "query-rows-hidden-too",
            lambda lengths, n_k: (
                (m := np.arange(n_k) < np.asarray(lengths)[:, None])[:, :, None] & m[:, None, :]
            ),
            "You hid rows as well as columns: a square per sequence. One row per sequence is asked for; it hides keys.",
        ),
        WrongAnswer(
            "extra-axes",
            lambda lengths, n_k: (np.arange(n_k) < np.asarray(lengths)[:, None])[:, None, None, :],
            "The values are right, with axes for heads and queries already in. Shape (batch, n_k) is asked for.",
        ),
        WrongAnswer(
            "needs-an-array",
            lambda lengths, n_k: np.arange(n_k) < lengths[:, None],
            "This fails when lengths is a list: np.asarray turns it into an array, and leaves an array as it is.",
        ),
        WrongAnswer(
            "nested-list",
            lambda lengths, n_k: [[j < length for j in range(n_k)] for length in lengths],
            "This is a nested list. np.array(..., dtype=bool) makes an array of it.",
        ),
    ),
    also_right=(
        lambda lengths, n_k: np.less.outer(np.arange(n_k), np.asarray(lengths)).T,
        lambda lengths, n_k: np.array([[j < length for j in range(n_k)] for length in lengths]),
        lambda lengths, n_k: np.array([np.arange(n_k) < length for length in lengths]),
        lambda lengths, n_k: ~(np.arange(n_k)[None, :] >= np.array(lengths).reshape(-1, 1)),
        lambda lengths, n_k: np.tri(n_k + 1, n_k, k=-1, dtype=bool)[np.asarray(lengths)],
        _padding_loops,
    ),
    hints=(
        "For one sequence of length 3 out of n_k = 5, write down which keys are real.",
        "Key j is real when j < length. Compare a row of key numbers with a column of lengths.",
        "`np.asarray(lengths)[:, None]` is that column; `np.arange(n_k)` is the row.",
    ),
    invariants=(
        Invariant(
            "wrong-number-of-real-keys",
            "Some row does not show as many keys as its sequence is long.",
            lambda inputs, mask: bool((mask.sum(axis=-1) == np.asarray(inputs[0])).all()),
        ),
    ),
    forbids=FORBIDS,
)


# ---- causal_mask_with_cache -----------------------------------------------------------------------------


def causal_mask_with_cache(n_new, n_cached):
    """n_new queries, n_cached + n_new keys: query i is token n_cached + i and sees itself and all before it."""
    return np.arange(n_cached + n_new) <= n_cached + np.arange(n_new)[:, None]


CAUSAL_MASK_WITH_CACHE = Exercise(
    name="causal_mask_with_cache",
    lesson=LESSON,
    title="Decoding with a cache",
    difficulty=2,
    minutes=10,
    reference=causal_mask_with_cache,
    cases=(
        Case("three new tokens after some", lambda rng: (3, _size(rng, 4, 7))),
        Case(
            "one new token",
            lambda rng: (1, _size(rng, 3, 9)),
            says="The newest token sees everything: the whole cache, and itself.",
        ),
        Case(
            "no cache yet",
            lambda rng: (_size(rng, 4, 6), 0),
            says="Without a cache this is the ordinary causal mask.",
        ),
        Case("more new than cached", lambda rng: (_size(rng, 5, 7), 2)),
    ),
    wrong=(
        WrongAnswer(
            "top-left",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, dtype=bool),
            "The diagonal starts at the top left: with one new token this shows key 0 alone, the oldest of all. "
            "Query i is token n_cached + i.",
            ("What does your mask show when n_new is 1?",),
        ),
        WrongAnswer(
            "new-keys-only",
            lambda n_new, n_cached: np.tri(n_new, dtype=bool),
            "The mask covers the new keys alone. The cached keys are columns too, in front.",
        ),
        WrongAnswer(
            "cache-hidden",
            lambda n_new, n_cached: np.hstack([np.zeros((n_new, n_cached), bool), np.tri(n_new, dtype=bool)]),
            "The cached keys are hidden. They are the past: everybody may see them.",
        ),
        WrongAnswer(
            "new-tokens-see-each-other",
            lambda n_new, n_cached: np.ones((n_new, n_cached + n_new), dtype=bool),
            "Everything is visible. Among several new tokens, the earlier ones must not see the later ones.",
        ),
        WrongAnswer(
            "cannot-see-itself",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached - 1, dtype=bool),
            "Each token sees what came before it but not itself: one column too few.",
        ),
        WrongAnswer(
            "sees-one-future-key",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached + 1, dtype=bool),
            "Each token also sees the one after it: one column too many.",
        ),
        WrongAnswer(
            "cache-only",
            lambda n_new, n_cached: np.hstack(
                [np.ones((n_new, n_cached), bool), np.zeros((n_new, n_new), bool)]
            ),
            "Only the cache is visible. A new token sees itself, and the new ones before it.",
        ),
        WrongAnswer(
            "cache-and-itself-only",
            lambda n_new, n_cached: np.hstack([np.ones((n_new, n_cached), bool), np.eye(n_new, dtype=bool)]),
            "Each new token sees the cache and itself, but not the new tokens before it.",
        ),
        WrongAnswer(
            "no-column-for-the-new",
            lambda n_new, n_cached: np.ones((n_new, n_cached), dtype=bool),
            "There are n_cached + n_new keys: the new tokens have keys too.",
        ),
        WrongAnswer(
            "cache-behind",
            lambda n_new, n_cached: np.hstack([np.tri(n_new, dtype=bool), np.ones((n_new, n_cached), bool)]),
            "The cached keys come after the new ones. They are older, so they come first.",
        ),
        WrongAnswer(
            "rows-for-the-cache-too",
            lambda n_new, n_cached: np.tri(n_cached + n_new, dtype=bool),
            "This has a row for the cached tokens too. Only the new tokens ask: n_new rows.",
        ),
        WrongAnswer(
            "transposed",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached, dtype=bool).T,
            "The mask is transposed: rows are queries, columns are keys.",
        ),
        WrongAnswer(
            "inverted",
            lambda n_new, n_cached: ~np.tri(n_new, n_cached + n_new, k=n_cached, dtype=bool),
            "The mask is the wrong way round: True means that the query MAY attend to the key.",
        ),
        WrongAnswer(
            "integers-not-booleans",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached, dtype=int),
            "The mask holds whole numbers. Make it bool.",
        ),
        WrongAnswer(
            "floats-not-booleans",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached),
            "The mask holds floats 0 and 1: the kind that is silently added to the scores. Make it bool.",
        ),
    ),
    also_right=(
        lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached, dtype=bool),
        lambda n_new, n_cached: np.tri(n_cached + n_new, dtype=bool)[n_cached:],
        lambda n_new, n_cached: np.hstack([np.ones((n_new, n_cached), bool), np.tri(n_new, dtype=bool)]),
        lambda n_new, n_cached: ~np.triu(np.ones((n_new, n_cached + n_new), dtype=bool), k=n_cached + 1),
        lambda n_new, n_cached: np.array(
            [[j <= n_cached + i for j in range(n_cached + n_new)] for i in range(n_new)]
        ),
    ),
    hints=(
        "Number the tokens of the whole text. Which number has new query 0, and which keys come before it?",
        "Query i is token n_cached + i. Key j is token j. Compare the two numbers as in the causal mask.",
        "It is the causal mask of all n_cached + n_new tokens, of which you keep the last n_new rows.",
    ),
    invariants=(
        Invariant("sees-the-future", FUTURE, _no_future(lambda inputs: inputs[1])),
        BLIND,
    ),
    forbids=FORBIDS,
)


# ---- sliding_window_mask --------------------------------------------------------------------------------


def sliding_window_mask(n_q, n_k, window):
    """Query i sees itself and the window − 1 keys before it: i − window < j ≤ i."""
    distance = np.arange(n_q)[:, None] - np.arange(n_k)
    return (distance >= 0) & (distance < window)


def _distance(n_q, n_k):
    return np.arange(n_q)[:, None] - np.arange(n_k)


SLIDING_WINDOW_MASK = Exercise(
    name="sliding_window_mask",
    lesson=LESSON,
    title="Only the last few",
    difficulty=2,
    minutes=10,
    reference=sliding_window_mask,
    cases=(
        Case("a window of three", lambda rng: (n := _size(rng, 7, 9), n, 3)),
        Case(
            "a window of one",
            lambda rng: (n := _size(rng, 4, 6), n, 1),
            says="A window of one holds the query's own position.",
        ),
        Case(
            "a window wider than the text",
            lambda rng: (n := _size(rng, 4, 6), n, n + _size(rng, 0, 3)),
            says="Then it is the causal mask.",
        ),
        Case("more keys than queries", lambda rng: (6, 6 + _size(rng, 3, 5), 4)),
        Case("more queries than keys", lambda rng: (9, 9 - _size(rng, 2, 4), 4)),
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
            "You kept every window-th key, as in dilated attention. The last `window` keys are asked for.",
        ),
        WrongAnswer(
            "integers-not-booleans",
            lambda n_q, n_k, window: (((d := _distance(n_q, n_k)) >= 0) & (d < window)).astype(int),
            "The mask holds whole numbers. Make it bool.",
        ),
        WrongAnswer(
            "additive",
            lambda n_q, n_k, window: _additive(((d := _distance(n_q, n_k)) >= 0) & (d < window)),
            "This is the additive form, 0 and −∞. The boolean form is asked for.",
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
        "`distance = np.arange(n_q)[:, None] - np.arange(n_k)`; both comparisons need brackets around them.",
    ),
    invariants=(
        Invariant("sees-the-future", FUTURE, _no_future()),
        Invariant(
            "window-too-wide",
            "Some query sees more keys than the window holds.",
            lambda inputs, mask: bool((mask.sum(axis=-1) <= inputs[2]).all()),
        ),
    ),
    forbids=FORBIDS,
)


# ---- to_boolean -----------------------------------------------------------------------------------------


def to_boolean(mask, convention):
    """A mask of any convention as a boolean one, True = may attend."""
    if convention == "true-may-attend":
        return mask
    if convention == "true-blocked":
        return ~mask
    if convention == "additive":
        return mask > -1e4
    return mask != 0  # "one-may-attend"


def _to_boolean_table(mask, convention):
    rules = {
        "true-may-attend": lambda m: np.array(m),
        "true-blocked": np.logical_not,
        "additive": lambda m: np.logical_not(m <= -10_000),
        "one-may-attend": lambda m: m == 1,
    }
    return rules[convention](mask)


def _converter(**changed):
    """The right converter with some rules exchanged (names with _ for -)."""
    rules = {
        "true_may_attend": lambda m: m,
        "true_blocked": lambda m: ~m,
        "additive": lambda m: m > -1e4,
        "one_may_attend": lambda m: m != 0,
        **changed,
    }
    return lambda mask, convention: rules[convention.replace("-", "_")](mask)


def _allowed(rng, *shape):
    """A random mask with both kinds in every row."""
    mask = rng.random(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    return mask


def _biased(rng):
    """Small biases where the query may attend; four ways to write 'hidden' elsewhere, one in each row."""
    mask = _allowed(rng, 4, 5)
    hidden = np.array([[-np.inf], [-1e9], [-20_000.0], [-10_000.0]])
    bias = rng.uniform(-30.0, 2.0, size=(4, 5))
    bias[:, 0] = [-8.0, 0.0, 1.5, -30.0]
    return np.where(mask, bias, hidden), "additive"


TO_BOOLEAN = Exercise(
    name="to_boolean",
    lesson=LESSON,
    title="One convention for all",
    difficulty=2,
    minutes=10,
    reference=to_boolean,
    cases=(
        Case("True = may attend", lambda rng: (_allowed(rng, 3, 5), "true-may-attend")),
        Case("True = blocked", lambda rng: (read_only(_allowed(rng, 2, 3, 5)), "true-blocked")),
        Case("0 and −∞, added", lambda rng: (_additive(_allowed(rng, 4, 6)), "additive")),
        Case(
            "the lowest float32, added",
            lambda rng: (_additive(_allowed(rng, 2, 1, 4, 6), float(np.finfo(np.float32).min)), "additive"),
        ),
        Case(
            "small biases as well",
            _biased,
            says="An additive mask may carry small numbers too, like a bonus for near keys. Those keys stay visible.",
        ),
        Case(
            "whole numbers 0 and 1",
            lambda rng: (strided(_allowed(rng, 3, 5).astype(int)), "one-may-attend"),
        ),
        Case("floats 0 and 1", lambda rng: (_allowed(rng, 2, 3, 5) * 1.0, "one-may-attend")),
    ),
    wrong=(
        WrongAnswer(
            "returned-as-it-came",
            lambda mask, convention: mask,
            "The mask comes back as it came: nothing was converted.",
        ),
        WrongAnswer(
            "nonzero-is-true-for-all",
            lambda mask, convention: mask.astype(bool),
            "You turned every mask into bool alike: nonzero is True. For 'blocked' and for additive masks that is the "
            "wrong way round.",
        ),
        WrongAnswer(
            "blocked-not-turned-round",
            _converter(true_blocked=lambda m: m),
            "With 'true-blocked' True means hidden: it has to be turned round.",
        ),
        WrongAnswer(
            "both-booleans-turned-round",
            _converter(true_may_attend=lambda m: ~m),
            "'true-may-attend' is what is asked for already: leave it as it is.",
        ),
        WrongAnswer(
            "booleans-exchanged",
            _converter(true_may_attend=lambda m: ~m, true_blocked=lambda m: m),
            "You exchanged the two boolean conventions.",
        ),
        WrongAnswer(
            "all-inverted",
            lambda mask, convention: ~to_boolean(mask, convention),
            "Everything is the wrong way round: True has to mean that the query MAY attend.",
        ),
        WrongAnswer(
            "additive-inverted",
            _converter(additive=lambda m: m <= -1e4),
            "For additive masks you return where keys are HIDDEN. A very low number hides; True means visible.",
        ),
        WrongAnswer(
            "additive-nonzero-is-true",
            _converter(additive=lambda m: m != 0),
            "In an additive mask 0 changes nothing: the key is visible. You made it False.",
        ),
        WrongAnswer(
            "only-infinity-hides",
            _converter(additive=lambda m: m != -np.inf),
            "You let only −∞ hide. Large finite numbers are used as well: −1e9, −10 000, the lowest float32.",
        ),
        WrongAnswer(
            "only-zero-is-visible",
            _converter(additive=lambda m: m == 0),
            "You let only 0 be visible. A small bias, say −8 or 1.5, leaves the key visible.",
        ),
        WrongAnswer(
            "any-negative-hides",
            _converter(additive=lambda m: m >= 0),
            "You let every negative number hide. A small bias, say −8, leaves the key visible.",
        ),
        WrongAnswer(
            "threshold-below-1e9",
            _converter(additive=lambda m: m > -1e9),
            "−10 000 hides too, by the rule of this exercise: everything at or below it.",
        ),
        WrongAnswer(
            "threshold-itself-is-visible",
            _converter(additive=lambda m: m >= -1e4),
            "Exactly −10 000 hides as well: at or below it.",
        ),
        WrongAnswer(
            "ones-turned-round",
            _converter(one_may_attend=lambda m: m == 0),
            "For 0 and 1 you return where keys are HIDDEN. In 'one-may-attend' the 1 means visible.",
        ),
        WrongAnswer(
            "ones-not-converted",
            _converter(one_may_attend=lambda m: m),
            "0 and 1 come back as numbers: compare them, so that the result is bool.",
        ),
        WrongAnswer(
            "ones-taken-for-additive",
            _converter(one_may_attend=lambda m: m > -1e4),
            "You treated 0 and 1 as an additive mask: everything is visible then. That is how a 0/1 mask fails when "
            "it is added.",
        ),
        WrongAnswer(
            "numbers-not-booleans",
            lambda mask, convention: to_boolean(mask, convention) * 1,
            "The answer is right in 0 and 1, but has to be of dtype bool.",
        ),
    ),
    also_right=(
        _to_boolean_table,
        _converter(additive=lambda m: ~(m <= -1e4), one_may_attend=lambda m: m.astype(bool)),
        _converter(true_blocked=lambda m: m == False),  # noqa: E712
    ),
    hints=(
        "Take a key that may be seen. What does each convention write for it? And for a hidden one?",
        "One of them needs nothing, one `~`, two a comparison. For 'additive' ask how low a number has to be to hide.",
        "`~mask`, `mask > -1e4` and `mask != 0` are three of the four.",
    ),
)


# ---- leaking_queries ------------------------------------------------------------------------------------


def leaking_queries(before, after, changed):
    """Which queries before position `changed` moved: (..., n_q, d_v) twice, int -> (n_q,) bool."""
    moved = ~(np.abs(after - before) <= 1e-9)
    moved = moved.any(axis=-1)
    moved = moved.reshape(-1, moved.shape[-1]).any(axis=0)
    return moved & (np.arange(moved.shape[-1]) < changed)


def _moved(before, after):
    return ~(np.abs(after - before) <= 1e-9)


def _any_lead(x):
    return x.reshape(-1, x.shape[-1]).any(axis=0)


def _early(x, changed):
    return x & (np.arange(x.shape[-1]) < changed)


def _leaking_loops(before, after, changed):
    n_q = before.shape[-2]
    leaks = np.zeros(n_q, dtype=bool)
    for i in range(min(changed, n_q)):
        a, b = before[..., i, :], after[..., i, :]
        leaks[i] = bool(np.isnan(a).any() or np.isnan(b).any() or np.max(np.abs(a - b)) > 1e-9)
    return leaks


def _experiment(rng, shape, changed, leaks):
    """Outputs before and after the key at `changed` moved. Later rows move; rows in `leaks` (of the last head) move
    by the numbers given for them; all others by rounding."""
    before = rng.choice([-1.0, 1.0], size=shape) * rng.uniform(1, 3, size=shape)
    after = before + 1e-14 * rng.choice([-1.0, 1.0], size=shape)
    after[..., changed:, :] += rng.normal(size=after[..., changed:, :].shape)
    for row, step in leaks.items():
        after[(-1,) * (len(shape) - 2) + (row,)] += np.array(step) * rng.uniform(1, 2)
    return before, after, changed


def _two_leaks(rng):
    """One whose components cancel, one that leaves component 0 alone."""
    return _experiment(rng, (7, 3), 5, {1: [2.0, -3.0, 1.0], 4: [0.0, 1.0, 1.0]})


def _nan_leak(rng):
    before, after, changed = _experiment(rng, (6, 2), 4, {1: [1.0, 2.0]})
    after[2] = np.nan
    return before, after, changed


LEAKING_QUERIES = Exercise(
    name="leaking_queries",
    lesson=LESSON,
    title="A leak detector",
    difficulty=3,
    minutes=10,
    reference=leaking_queries,
    cases=(
        Case("two leaks", _two_leaks),
        Case("no leak", lambda rng: _experiment(rng, (6, 4), 3, {}), says="Rounding alone is no leak."),
        Case(
            "a small leak",
            lambda rng: _experiment(rng, (6, 2), 4, {2: [1e-7, 2e-7]}),
            says="A leak of a ten-millionth is still a leak.",
        ),
        Case(
            "a leak in one head",
            lambda rng: _experiment(rng, (2, 3, 6, 2), 4, {0: [-1.0, -2.0], 3: [0.5, -0.1]}),
            says="One head of one batch entry is enough.",
        ),
        Case("a leak of NaN", _nan_leak, says="NaN is not close to anything: a comparison with it is False."),
    ),
    wrong=(
        WrongAnswer(
            "blind-to-nan",
            lambda before, after, changed: _early(
                _any_lead((np.abs(after - before) > 1e-9).any(axis=-1)), changed
            ),
            "A row that turned into NaN is not found: every comparison with NaN is False. Ask 'not within the "
            "tolerance' instead of 'beyond it'.",
            ("What is `np.nan > 1e-9`? And `~(np.nan <= 1e-9)`?",),
        ),
        WrongAnswer(
            "tolerance-too-wide",
            lambda before, after, changed: _early(
                _any_lead((~np.isclose(after, before)).any(axis=-1)), changed
            ),
            "The tolerance is too wide: np.isclose and np.allclose accept differences of 1e-5 of the size, and a leak "
            "may be smaller.",
        ),
        WrongAnswer(
            "rounding-taken-for-a-leak",
            lambda before, after, changed: _early(_any_lead((after != before).any(axis=-1)), changed),
            "Differences in the fifteenth digit are rounding. Only more than 1e-9 counts.",
        ),
        WrongAnswer(
            "every-row-that-moved",
            lambda before, after, changed: _any_lead(_moved(before, after).any(axis=-1)),
            "Rows from the changed position on are allowed to move: they may see it.",
        ),
        WrongAnswer(
            "changed-row-counted",
            lambda before, after, changed: (
                (m := _any_lead(_moved(before, after).any(axis=-1))) & (np.arange(len(m)) <= changed)
            ),
            "The changed position itself may move, since a query sees its own key. Only rows BEFORE it leak.",
        ),
        WrongAnswer(
            "later-rows-instead",
            lambda before, after, changed: (
                (m := _any_lead(_moved(before, after).any(axis=-1))) & (np.arange(len(m)) > changed)
            ),
            "These are the rows after the changed position, which may see it. Leaks are rows before it.",
        ),
        WrongAnswer(
            "rows-that-stayed",
            lambda before, after, changed: _early(~_any_lead(_moved(before, after).any(axis=-1)), changed),
            "These are the early rows that did NOT move. True has to mean a leak.",
        ),
        WrongAnswer(
            "differences-cancel",
            lambda before, after, changed: _early(
                _any_lead(~(np.abs((after - before).sum(axis=-1)) <= 1e-9)), changed
            ),
            "You added the differences before taking their size: what moves up in one component and down in another "
            "cancels.",
        ),
        WrongAnswer(
            "upward-only",
            lambda before, after, changed: _early(
                _any_lead((~(after - before <= 1e-9)).any(axis=-1)), changed
            ),
            "Only increases were counted. An output may leak downwards too: take the absolute value.",
        ),
        WrongAnswer(
            "first-component-only",
            lambda before, after, changed: _early(_any_lead(_moved(before, after)[..., 0]), changed),
            "Only the first component of each output was looked at.",
        ),
        WrongAnswer(
            "all-components-must-move",
            lambda before, after, changed: _early(
                _moved(before, after).reshape(-1, *before.shape[-2:]).all(axis=(0, -1)), changed
            ),
            "You ask that everything moved: every head and every component. One is enough for a leak.",
        ),
        WrongAnswer(
            "first-head-only",
            lambda before, after, changed: _early(
                _moved(before, after)[(0,) * (before.ndim - 2)].any(axis=-1), changed
            ),
            "Only the first head of the first batch entry was looked at.",
        ),
        WrongAnswer(
            "one-answer-for-all",
            lambda before, after, changed: bool(
                _early(_any_lead(_moved(before, after).any(axis=-1)), changed).any()
            ),
            "This says whether there is a leak at all. One True or False for each query is asked for.",
        ),
        WrongAnswer(
            "numbers-of-the-rows",
            lambda before, after, changed: np.flatnonzero(
                _early(_any_lead(_moved(before, after).any(axis=-1)), changed)
            ),
            "These are the row numbers. One True or False for each query is asked for.",
        ),
        WrongAnswer(
            "cut-off-at-the-change",
            lambda before, after, changed: _any_lead(_moved(before, after).any(axis=-1))[:changed],
            "Only the rows before the change came back. The answer has one entry for each of the n_q queries; the "
            "later ones are False.",
        ),
        WrongAnswer(
            "per-component",
            lambda before, after, changed: (
                _moved(before, after) & (np.arange(before.shape[-2]) < changed)[:, None]
            ),
            "This is one answer for each number. Join the components, and the batch and heads, with any.",
        ),
        WrongAnswer(
            "per-head",
            lambda before, after, changed: _early(_moved(before, after).any(axis=-1), changed),
            "This is right for two axes. With batch and heads in front, join those with any too: shape (n_q,).",
        ),
        WrongAnswer(
            "amounts-not-answers",
            lambda before, after, changed: (
                np.abs(after - before).reshape(-1, *before.shape[-2:]).max(axis=(0, -1))
                * (np.arange(before.shape[-2]) < changed)
            ),
            "This says how far each row moved. True or False is asked for: more than 1e-9, or NaN.",
        ),
    ),
    also_right=(
        lambda before, after, changed: _early(
            _any_lead((~np.isclose(after, before, rtol=0, atol=1e-9)).any(axis=-1)), changed
        ),
        lambda before, after, changed: _early(
            _any_lead(((np.abs(after - before) > 1e-9) | np.isnan(after) | np.isnan(before)).any(axis=-1)),
            changed,
        ),
        _leaking_loops,
    ),
    hints=(
        "Which rows are allowed to move when the key at position `changed` moves? The others are suspects.",
        "A number moved if it is NOT within 1e-9 of what it was: that also catches NaN. Then join with any over "
        "everything but the queries.",
        "`moved = ~(np.abs(after - before) <= 1e-9)`; any over the last axis, then over the leading ones; and finally "
        "`& (np.arange(n_q) < changed)`.",
    ),
)

EXERCISES = (
    CAUSAL_MASK,
    PADDING_MASK,
    CAUSAL_MASK_WITH_CACHE,
    SLIDING_WINDOW_MASK,
    TO_BOOLEAN,
    MASKED_SOFTMAX,
    ATTENTION,
    LEAKING_QUERIES,
)
