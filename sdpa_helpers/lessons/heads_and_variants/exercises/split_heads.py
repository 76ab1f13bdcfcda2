"""Lesson 08, exercise `split_heads`: the width of a token, cut into heads."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only_strided
from sdpa_helpers.lessons.heads_and_variants.exercises.shared import (
    SINGLE,
    cut,
    cut_by_reshape,
    cut_in_turns,
    single,
    turned,
)

PROMPT = r"""`split_heads(x, num_heads)`: every token is a row of `d_model` numbers. Cut each row into `num_heads` pieces of equal length, and give each head its piece of every token.

- `x`, shape `(..., n, d_model)`; `num_heads` divides `d_model`.
- Returns shape `(..., num_heads, n, d_head)` with `d_head = d_model // num_heads`. Head 0 has the first `d_head` coordinates of every token, head 1 the next ones, and so on.

Example: with two tokens of width 4 and two heads, {example:1}.
"""


def split_heads(x, num_heads):
    """Cut the width into heads: x (..., n, d_model) -> (..., num_heads, n, d_head)."""
    pieces = x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads)
    return np.swapaxes(pieces, -2, -3)


def _slices(x, num_heads):
    width = x.shape[-1] // num_heads
    return [x[..., h * width : (h + 1) * width] for h in range(num_heads)]


def _tokens_cut(x, num_heads):
    return np.stack(np.split(x, num_heads, axis=-2), axis=-3)


def _heads_as_width(x, num_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], -1, num_heads), -2, -3)


def _fixed_order(x, num_heads):
    return x.reshape(*x.shape[:-1], num_heads, -1).transpose(0, 2, 1, 3)


def _zeros(x, num_heads):
    return np.zeros((*x.shape[:-2], num_heads, x.shape[-2], x.shape[-1] // num_heads))


def _draw(rng, n, heads, d_head, *batch):
    return rng.normal(size=(*batch, n, heads * d_head)), heads


def _read_only(rng):
    x, heads = _draw(rng, 6, 2, 7, 3)
    return read_only_strided(x), heads


EXERCISE = Exercise(
    name="split_heads",
    lesson="08_heads_and_variants",
    title="Cut the width into heads",
    prompt=PROMPT,
    examples=(Example(([[1, 2, 3, 4], [5, 6, 7, 8]], 2), form="call"),),
    section="1. Heads",
    difficulty=2,
    minutes=5,
    reference=split_heads,
    cases=(
        Case("five tokens, three heads", lambda rng: _draw(rng, 5, 3, 4)),
        Case("a batch of two", lambda rng: _draw(rng, 4, 5, 3, 2)),
        Case(
            "two leading axes",
            lambda rng: _draw(rng, 7, 2, 5, 2, 3),
            says="Any number of axes may stand in front: count from the end.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _draw(rng, 3, 3, 3, 3),
            says="Batch, tokens, heads and width of a head are all 3: no shape can warn you here.",
        ),
        Case("read-only, strided", _read_only),
        Case("one head", lambda rng: _draw(rng, 5, 1, 6, 2), says="One head still has an axis of its own."),
        Case(
            "one token",
            lambda rng: _draw(rng, 1, 3, 4, 2),
            says="Decoding: one token. An axis of length 1 is an axis like any other: it stays.",
        ),
        Case("heads of width one", lambda rng: _draw(rng, 4, 6, 1, 2)),
        Case("one head of width one", lambda rng: _draw(rng, 5, 1, 1)),
        Case("a longer text, a batch of one", lambda rng: _draw(rng, 12, 9, 11, 1)),
    ),
    wrong=(
        WrongAnswer(
            "reshaped-not-transposed",
            cut_by_reshape,
            "The shape is right, and the numbers are in the wrong places: `reshape` filled the axis of heads with whole "
            "tokens, so a head holds pieces of a few tokens instead of one piece of each. Cut the width first, then "
            "swap axes.",
            ("`reshape` keeps the order of the numbers. Which numbers lie next to each other in x?",),
        ),
        WrongAnswer(
            "axes-not-swapped",
            lambda x, num_heads: x.reshape(*x.shape[:-1], num_heads, -1),
            "The width is cut correctly, but the axes still come as (..., n, num_heads, d_head). The axis of heads "
            "belongs in front of the tokens.",
        ),
        WrongAnswer(
            "heads-interleaved",
            cut_in_turns,
            "Your head h holds coordinates h, h + num_heads, and so on. A head gets neighboring coordinates: head 0 "
            "has the first d_head.",
        ),
        WrongAnswer(
            "heads-taken-for-their-width",
            _heads_as_width,
            "You made heads of width num_heads. num_heads says how many there are; each has d_model // num_heads "
            "coordinates.",
        ),
        WrongAnswer(
            "tokens-cut-not-coordinates",
            _tokens_cut,
            "You cut the sequence: each head got a few whole tokens. Every head sees every token, and a part of its "
            "coordinates.",
        ),
        WrongAnswer(
            "heads-in-front-of-the-batch",
            lambda x, num_heads: np.stack(_slices(x, num_heads)),
            "The axis of heads stands first, in front of the batch. It belongs directly in front of the tokens.",
        ),
        WrongAnswer(
            "heads-at-axis-1",
            lambda x, num_heads: np.stack(_slices(x, num_heads), axis=1),
            "The axis of heads is axis 1. That is its place with exactly one axis in front of the tokens; axis −3 is "
            "right for any number.",
        ),
        WrongAnswer(
            "head-transposed",
            lambda x, num_heads: turned(cut(x, num_heads)),
            "Each head is transposed: rows are tokens, columns are the coordinates of the head.",
        ),
        WrongAnswer(
            "whole-width-for-every-head",
            lambda x, num_heads: np.stack([x] * num_heads, axis=-3),
            "Every head got the whole width. The heads share it: each has d_model // num_heads coordinates of its own.",
        ),
        WrongAnswer(
            "first-head-for-all",
            lambda x, num_heads: np.stack([_slices(x, num_heads)[0]] * num_heads, axis=-3),
            "Every head got the first d_head coordinates. Head h starts at coordinate h · d_head.",
        ),
        WrongAnswer(
            "heads-in-reverse",
            lambda x, num_heads: cut(x, num_heads)[..., ::-1, :, :],
            "The heads are in reverse order: head 0 has the first coordinates.",
        ),
        WrongAnswer(
            "transpose-wants-all-axes",
            _fixed_order,
            "`transpose(0, 2, 1, 3)` needs exactly one batch axis. `np.swapaxes(x, -2, -3)` counts from the end and "
            "works for any number of axes.",
            errors_tell=True,
        ),
        WrongAnswer(
            "zeros-returned",
            _zeros,
            "Everything is zero: the array has the right shape, but nothing was written into it.",
        ),
        WrongAnswer("float32-somewhere", lambda x, h: cut(single(x), h), SINGLE, clue="float32"),
    ),
    also_right=(
        cut,
        lambda x, num_heads: np.stack(_slices(x, num_heads), axis=-3),
        lambda x, num_heads: np.stack(np.split(x, num_heads, axis=-1), axis=-3),
        lambda x, num_heads: np.moveaxis(x.reshape(*x.shape[:-1], num_heads, -1), -2, -3),
    ),
    hints=(
        "Write the shape down after each step. In which order do the axes come when only the last one is cut in two?",
        "Cutting the last axis gives (..., n, num_heads, d_head), and no number has moved. One swap is left.",
        "`x.reshape(*x.shape[:-1], num_heads, -1)`, then swap axes −2 and −3.",
    ),
)
