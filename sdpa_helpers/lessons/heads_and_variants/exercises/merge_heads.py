"""Lesson 08, exercise `merge_heads`: the heads' results side by side again."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only_strided
from sdpa_helpers.lessons.heads_and_variants.exercises.shared import (
    SINGLE,
    joined,
    joined_by_reshape,
    joined_in_turns,
    single,
    turned,
)

PROMPT = r"""`merge_heads(x)`: the way back. Lay the heads' results side by side, so that every token has one row again.

- `x`, shape `(..., num_heads, n, d_head)`.
- Returns shape `(..., n, num_heads * d_head)`: in each row the coordinates of head 0 come first, then those of head 1, and so on. `merge_heads(split_heads(x, h))` is `x`.

Example: {example:1}.
"""


def merge_heads(x):
    """Heads side by side: x (..., num_heads, n, d_head) -> (..., n, num_heads * d_head)."""
    tokens_first = np.swapaxes(x, -2, -3)
    return tokens_first.reshape(*tokens_first.shape[:-2], -1)


def _heads(x):
    return [x[..., h, :, :] for h in range(x.shape[-3])]


def _fixed_order(x):
    x = x.transpose(0, 2, 1, 3)
    return x.reshape(x.shape[0], x.shape[1], -1)


def _turned_too_far(x):
    x = np.moveaxis(x, -2, -1)
    return x.reshape(*x.shape[:-3], x.shape[-1], -1)


def _first_axis(x):
    return np.concatenate(list(x), axis=-1)


def _draw(rng, heads, n, d_head, *batch):
    return (rng.normal(size=(*batch, heads, n, d_head)),)


EXERCISE = Exercise(
    name="merge_heads",
    lesson="08_heads_and_variants",
    title="Join the heads again",
    prompt=PROMPT,
    examples=(Example(([[[1, 2], [5, 6]], [[3, 4], [7, 8]]],), form="call"),),
    section="1. Heads",
    difficulty=2,
    minutes=5,
    reference=merge_heads,
    cases=(
        Case("three heads, five tokens", lambda rng: _draw(rng, 3, 5, 4)),
        Case("a batch of two", lambda rng: _draw(rng, 5, 4, 3, 2)),
        Case(
            "two leading axes",
            lambda rng: _draw(rng, 2, 7, 5, 2, 3),
            says="Any number of axes may stand in front: count from the end.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _draw(rng, 3, 3, 3, 3),
            says="Batch, heads, tokens and width of a head are all 3: no shape can warn you here.",
        ),
        Case("read-only, strided", lambda rng: (read_only_strided(_draw(rng, 2, 6, 7, 3)[0]),)),
        Case("one head", lambda rng: _draw(rng, 1, 5, 6, 2), says="The axis of heads goes, the others stay."),
        Case(
            "one token",
            lambda rng: _draw(rng, 3, 1, 4, 2),
            says="Decoding: one token. An axis of length 1 is an axis like any other: it stays.",
        ),
        Case("heads of width one", lambda rng: _draw(rng, 6, 4, 1, 2)),
        Case("a longer text, a batch of one", lambda rng: _draw(rng, 9, 12, 11, 1)),
    ),
    wrong=(
        WrongAnswer(
            "reshaped-not-transposed",
            joined_by_reshape,
            "The shape is right, and the numbers are in the wrong places: `reshape` read on through one head, from token "
            "to token, so a row holds several tokens of a single head. Swap axes first, so that a token's heads lie "
            "side by side.",
            ("`reshape` keeps the order of the numbers. Which axis has to stand next to the last one?",),
        ),
        WrongAnswer(
            "heads-interleaved",
            joined_in_turns,
            "A row takes one coordinate from each head in turn. Whole heads lie side by side: all of head 0 first.",
        ),
        WrongAnswer(
            "heads-averaged",
            lambda x: x.mean(axis=-3),
            "You took the mean over the heads. Every head's coordinates are kept, side by side.",
        ),
        WrongAnswer(
            "heads-added",
            lambda x: x.sum(axis=-3),
            "You added the heads together. Every head's coordinates are kept, side by side.",
        ),
        WrongAnswer(
            "heads-below-each-other",
            lambda x: np.concatenate(_heads(x), axis=-2),
            "The heads stand below each other: num_heads · n rows. Put them side by side, along the last axis.",
        ),
        WrongAnswer(
            "first-head-only",
            lambda x: x[..., 0, :, :] + 0.0,
            "Only head 0 came back. The row of a token holds the coordinates of all heads.",
        ),
        WrongAnswer(
            "not-flattened",
            lambda x: np.swapaxes(x, -2, -3) + 0.0,
            "The axes are swapped, and there is still one for the heads. Make one row of a token's heads.",
        ),
        WrongAnswer(
            "result-transposed",
            lambda x: turned(joined(x)),
            "The result is transposed: rows are tokens, columns the coordinates of all heads.",
        ),
        WrongAnswer(
            "width-of-the-tokens",
            _turned_too_far,
            "You put the tokens last before reshaping, so each of your rows mixes tokens. The axes have to come in the order "
            "tokens, heads, coordinates.",
        ),
        WrongAnswer(
            "heads-in-reverse",
            lambda x: np.concatenate(_heads(x)[::-1], axis=-1),
            "The heads are in reverse order: head 0 comes first.",
        ),
        WrongAnswer(
            "first-axis-taken-for-the-heads",
            _first_axis,
            "You joined what lies along axis 0. With a batch in front that is the batch; the heads are axis −3.",
        ),
        WrongAnswer(
            "joined-along-axis-1",
            lambda x: np.concatenate(list(x), axis=1),
            "You joined the entries of axis 0 along axis 1, as np.hstack does. That is right for three axes only: the "
            "heads are axis −3, and the coordinates axis −1.",
        ),
        WrongAnswer(
            "transpose-wants-all-axes",
            _fixed_order,
            "`transpose(0, 2, 1, 3)` needs exactly one batch axis. `np.swapaxes(x, -2, -3)` counts from the end and "
            "works for any number of axes.",
            errors_tell=True,
        ),
        WrongAnswer("float32-somewhere", lambda x: joined(single(x)), SINGLE, clue="float32"),
    ),
    also_right=(
        joined,
        lambda x: np.concatenate(_heads(x), axis=-1),
        lambda x: np.moveaxis(x, -3, -2).reshape(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1]),
    ),
    hints=(
        "Where in memory do the numbers of one token lie: next to each other, or one piece in each head?",
        "Swap axes so that they come as tokens, heads, coordinates. Then the last two can become one.",
        "`y = np.swapaxes(x, -2, -3)`, and then `y.reshape(*y.shape[:-2], -1)`.",
    ),
)
