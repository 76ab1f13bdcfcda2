"""Lesson 05, exercise `padding_mask`: nobody looks at padding."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only
from sdpa_helpers.lessons.masking.exercises.shared import (
    ADDITIVE,
    NUMBERS,
    additive,
    masks,
    rules,
    some_size,
)

PROMPT = """`padding_mask(lengths, n_k)`: only the first `lengths[b]` keys of sequence `b` are real.

- `lengths`: how many tokens of each sequence are real, 0 to `n_k`. An array of ints, or a list.
- `n_k`: the number of keys, padding included. It may be larger than the longest sequence.
- Returns shape `(batch, n_k)`, dtype bool: True for real keys.

Example: {example:1}.
"""


def padding_mask(lengths, n_k):
    """Padding mask: lengths (batch,), n_k -> (batch, n_k) bool, True = real key."""
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


def _cut_from_the_end(lengths, n_k):
    mask = np.ones((len(lengths), n_k), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, length - n_k :] = False
    return mask


def _counted_from_the_end(lengths, n_k):
    mask = np.zeros((len(lengths), n_k), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, -length:] = True
    return mask


def _rows_and_columns(lengths, n_k):
    return np.arange(n_k), np.asarray(lengths)[:, None]


EXERCISE = Exercise(
    name="padding_mask",
    lesson="05_masking",
    title="Nobody looks at padding",
    prompt=PROMPT,
    examples=(Example((np.array([1, 3]), 4), form="call"),),
    difficulty=1,
    minutes=5,
    reference=padding_mask,
    cases=(
        Case("three sequences", lambda rng: (_some_lengths(rng, 3, n := some_size(rng, 6, 14)), n)),
        Case(
            "lengths in a list", lambda rng: (_some_lengths(rng, 2, n := some_size(rng, 7, 15)).tolist(), n)
        ),
        Case(
            "a full one and an empty one",
            lambda rng: (np.array([n := some_size(rng, 5, 20), 0, some_size(rng, 1, n - 1), n]), n),
            says="A length of n_k hides nothing, a length of 0 hides everything.",
        ),
        Case(
            "room to spare",
            lambda rng: (
                read_only(_some_lengths(rng, 4, n := some_size(rng, 5, 9))),
                n + some_size(rng, 2, 6),
            ),
            says="n_k may be larger than the longest sequence.",
        ),
        Case(
            "a batch of one",
            lambda rng: (np.array([n := some_size(rng, 2, 9)]), n + some_size(rng, 2, 9)),
            says="An axis of length 1 is an axis like any other: the result has shape (1, n_k).",
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
            "counted-from-the-end",
            _counted_from_the_end,
            "You show the LAST keys. Here the real keys come first and the padding after them. (And an empty sequence "
            "shows all of them: `mask[-0:]` is `mask[0:]`.)",
        ),
        WrongAnswer(
            "cut-from-the-end",
            _cut_from_the_end,
            "You hide by a slice that starts at length − n_k. For a full sequence that is 0, and `mask[0:]` is all of it: "
            "slice from the length on, `mask[length:]`.",
        ),
        WrongAnswer(
            "only-the-last-real-key",
            lambda lengths, n_k: np.arange(n_k) == np.asarray(lengths)[:, None] - 1,
            "Only the last real key of each sequence is visible. All the ones before it are real too.",
        ),
        WrongAnswer(
            "numbers-not-booleans",
            lambda lengths, n_k: (np.arange(n_k) < np.asarray(lengths)[:, None]).astype(int),
            NUMBERS,
        ),
        WrongAnswer(
            "additive",
            lambda lengths, n_k: additive(np.arange(n_k) < np.asarray(lengths)[:, None]),
            ADDITIVE,
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
            "n_k-not-used-and-no-lists",
            lambda lengths, n_k: np.arange(lengths.max()) < lengths[:, None],
            "You made as many columns as the longest sequence has tokens. There may be more keys than that: n_k. And this "
            "fails when lengths is a list: np.asarray turns it into an array.",
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
            "You hid rows as well as columns: a square per sequence. Return one row per sequence; it hides keys.",
        ),
        WrongAnswer(
            "extra-axes",
            lambda lengths, n_k: (np.arange(n_k) < np.asarray(lengths)[:, None])[:, None, None, :],
            "You put in axes for heads and queries already. Return shape (batch, n_k).",
        ),
        WrongAnswer(
            "needs-an-array",
            lambda lengths, n_k: np.arange(n_k) < lengths[:, None],
            "This fails when lengths is a list: np.asarray turns it into an array, and leaves an array as it is.",
            errors_tell=True,
        ),
        WrongAnswer(
            "list-not-array",
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
    mistakes=masks(
        rules(
            padding_mask,
            one_key_too_many=lambda lengths, n_k: np.less_equal(*_rows_and_columns(lengths, n_k)),
            one_key_too_few=lambda lengths, n_k: np.less(*_rows_and_columns(np.asarray(lengths) - 1, n_k)),
            padded_on_the_left=lambda lengths, n_k: padding_mask(lengths, n_k)[:, ::-1],
            counted_from_the_end=_counted_from_the_end,
            transposed=lambda lengths, n_k: padding_mask(lengths, n_k).T,
            **{"n_k-not-used": lambda lengths, n_k: np.arange(max(lengths)) < np.asarray(lengths)[:, None]},
            **{"n_k-not-used-and-no-lists": lambda lengths, n_k: np.arange(lengths.max()) < lengths[:, None]},
            needs_an_array=lambda lengths, n_k: np.arange(n_k) < lengths.reshape(-1, 1),
            first_length_for_all=lambda lengths, n_k: np.tile(np.arange(n_k) < lengths[0], (len(lengths), 1)),
        )
    ),
)
