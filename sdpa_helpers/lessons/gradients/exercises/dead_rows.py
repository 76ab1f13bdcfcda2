"""Lesson 04, exercise `dead_rows`: count the queries that cannot learn."""

import numpy as np

from sdpa_helpers.checking.exercise import (
    COURSE_SOFTMAX,
    Case,
    Example,
    Exercise,
    Invariant,
    WrongAnswer,
    read_only,
)
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`dead_rows(grad_scores, threshold)`: what share of the queries gets almost no gradient?

- `grad_scores`, shape `(..., n_q, n_k)`: $dS$. One row for each query.
- `threshold`: a positive number, 1e-150 at least.
- Returns one number from 0 to 1: the share of rows, over all leading axes together, whose Euclidean norm is **below** the threshold. A row exactly at the threshold is not dead.

Example: {inputs:1}. The norms are `5`, `1.4142…` and `0`, so the answer is {result:1}.
"""


def dead_rows(grad_scores, threshold):
    """Share of rows shorter than the threshold: (..., n_q, n_k) -> a number from 0 to 1."""
    lengths = np.linalg.norm(grad_scores, axis=-1)
    return (lengths < threshold).mean()


def _rows_of_lengths(rng, lengths, n_k, *batch):
    """Rows that add up to 0, as rows of dS do, with the given lengths, in random order."""
    rows = rng.normal(size=(len(lengths), n_k))
    rows -= rows.mean(axis=-1, keepdims=True)
    rows *= (np.array(lengths) / np.linalg.norm(rows, axis=-1))[:, None]
    return rng.permutation(rows).reshape(*batch, -1, n_k)


def _near_threshold(rng):
    """Lengths around the threshold 0.01, where length, largest entry, square and sum of sizes all disagree."""
    spread = 0.006 * np.array([1, -1, 1, -1, 1, -1])  # length 0.0147, largest entry 0.006
    close = 0.003 * np.array([1, -1, -1, 1, 1, -1])  # length 0.0073, sizes add up to 0.018
    long = 0.05 * np.array([1, -1, 0, 0, 0, 0])  # length 0.0707, its square 0.005
    tiny = 1e-7 * np.array([3, -1, -2, 0, 0, 0])
    return rng.permutation(np.stack([spread, spread[::-1], close, long, tiny, -close, -spread])), 0.01


def _by_powers(rng):
    return _rows_of_lengths(
        rng, 10.0 ** np.array([-9, -8, -7, -5, -4, -3, -2, -1, 0, 1, -6.5, 2]), 5, 2, 3
    ), 1e-6


def _one_is_dead(rng, *shape):
    """Rows of length 1, the first of them far below."""
    rows = rng.normal(size=shape)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    rows[(0,) * (len(shape) - 1)] *= 1e-3
    return rows, 0.5


def _minute(rng):
    """Lengths and a threshold far below any constant; float32 would make them all 0."""
    return 1e-120 * _rows_of_lengths(rng, [0.5, 2, 1, 7, 0.25], 4), 0.75e-120


def _just_below(rng):
    """Lengths just below and just above 1: seven digits are too few."""
    lengths = 1 + 1e-9 * np.array([-2, -1, -3, 2, 1, -4, 3])
    return _rows_of_lengths(rng, lengths, 4), 1.0


def _late(rng):
    """Twelve rows of forty, of which the last are long, and those before get long in their last entries."""
    rows = 1e-3 * rng.normal(size=(12, 40))
    rows[2:8, -1] = 1.0
    rows[10:, 5] = 1.0
    return rows, 0.1


def _in_parts(*, length, axis, compare, share, after):
    """dead_rows in five parts, each of which can be wrong; see MISTAKES."""
    return lambda G, t: after(share(compare(length(G, axis), t)))


def _by_norm(G, axis):
    return np.linalg.norm(G, axis=axis) if axis is not None else np.linalg.norm(G.ravel())


MISTAKES = Products(
    (
        Factor(
            "length",
            _by_norm,
            (
                Option("entries-not-rows", lambda G, axis: np.abs(G)),
                Option("signed-entries", lambda G, axis: G),
                Option("row-sums", lambda G, axis: np.abs(G.sum(axis=axis))),
                Option("row-means-of-sizes", lambda G, axis: np.abs(G).mean(axis=axis)),
                Option("largest-entry", lambda G, axis: np.abs(G).max(axis=axis)),
                Option("sum-of-sizes", lambda G, axis: np.abs(G).sum(axis=axis)),
                Option("square-root-forgotten", lambda G, axis: (G * G).sum(axis=axis)),
                Option(
                    "root-of-the-mean-square",
                    lambda G, axis: np.sqrt((G * G).mean(axis=axis)),
                    "You took the root of the MEAN of the squares, which gets smaller when there are more keys. The "
                    "length is the root of their sum.",
                ),
            ),
        ),
        Factor(
            "axis",
            -1,
            (
                Option("columns-not-rows", -2),
                Option("axis-one-hard-coded", 1),
                Option(
                    "axis-zero-hard-coded",
                    0,
                    "You took the lengths along axis 0: the queries, or the batch. A row runs over the keys: axis −1.",
                ),
                Option("one-length-for-all", None),
            ),
        ),
        Factor(
            "compare",
            lambda lengths, t: lengths < t,
            (
                Option("the-living", lambda lengths, t: lengths >= t),
                Option(
                    "above-the-threshold",
                    lambda lengths, t: lengths > t,
                    "This counts the rows above the threshold; those below it are dead.",
                ),
                Option("at-the-threshold-too", lambda lengths, t: lengths <= t),
                Option("exact-zeros", lambda lengths, t: lengths == 0),
            ),
        ),
        Factor(
            "share",
            np.mean,
            (
                Option("a-count", np.sum),
                Option("per-batch-entry", lambda dead: np.mean(dead, axis=-1)),
                Option(
                    "first-axis-taken-for-the-number-of-rows",
                    lambda dead: np.sum(dead) / len(dead) if np.ndim(dead) else np.mean(dead),
                    "You divided by the length of the first axis. With a batch in front that is not the number of "
                    "rows: the mean over all of them is.",
                ),
            ),
        ),
        Factor(
            "after",
            lambda share: share,
            (Option("in-percent", lambda share: 100 * share),),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: a count, and in percent."""


EXERCISE = Exercise(
    name="dead_rows",
    lesson="04_gradients",
    title="Count the queries that cannot learn",
    prompt=PROMPT,
    examples=(Example(([[3, -4, 0], [0, 1, -1], [0, 0, 0]], 2), shows="2/3"),),
    section="10. The honest measurement",
    difficulty=2,
    minutes=5,
    reference=dead_rows,
    cases=(
        Case(
            "seven queries, six keys",
            _near_threshold,
            says="The length of a row is the root of its squares' sum.",
        ),
        Case("batch and heads", lambda rng: (_by_powers(rng)[0], 1e-6)),
        Case(
            "exactly at the threshold",
            lambda rng: (
                rng.permutation(np.array([[3.0, -4, 0], [0, 0, 0], [0, 1, -1], [4, 0, -3], [-5, 0, 0.0]])),
                5.0,
            ),
            says="Below the threshold means <, not <=.",
        ),
        Case(
            "nobody is dead, read-only",
            lambda rng: (read_only(_rows_of_lengths(rng, [0.5, 2, 1, 7], 3)), 0.25),
        ),
        Case(
            "one query, one head",
            lambda rng: _one_is_dead(rng, 2, 1, 1, 3),
            says="An axis of length 1 is an axis like any other: the share is that of all rows, here one of two.",
        ),
        Case(
            "one key",
            lambda rng: _one_is_dead(rng, 2, 4, 1),
            says="With one key a row is one number, and its length is that number without its sign.",
        ),
        Case(
            "a threshold of 10⁻¹²⁰",
            _minute,
            says="No gradient is small by itself: what counts is the threshold that is given.",
        ),
        Case("next to the threshold", _just_below, says="A length of 1 − 10⁻⁹ is below 1."),
        Case("twelve queries, forty keys", _late),
    ),
    wrong=(
        WrongAnswer(
            "a-count",
            lambda G, t: int((np.linalg.norm(G, axis=-1) < t).sum()),
            "You counted the dead rows. Return their share: divide by the number of rows.",
        ),
        WrongAnswer(
            "the-living",
            lambda G, t: (np.linalg.norm(G, axis=-1) >= t).mean(),
            "This is the share of rows that are alive.",
        ),
        WrongAnswer(
            "entries-not-rows",
            lambda G, t: (np.abs(G) < t).mean(),
            "You counted single entries. Most keys have a tiny weight and hence a tiny gradient, also in a "
            "healthy row: take the length of each row first.",
        ),
        WrongAnswer(
            "signed-entries",
            lambda G, t: np.less(G, t).mean(),
            "You compared entries with their sign: every negative gradient counts as dead.",
        ),
        WrongAnswer(
            "row-sums",
            lambda G, t: (np.abs(G.sum(axis=-1)) < t).mean(),
            "You added each row up. Rows of dS always add up to 0, so this calls every row dead. Take the length.",
        ),
        WrongAnswer(
            "row-means-of-sizes",
            lambda G, t: (np.abs(G).mean(axis=-1) < t).mean(),
            "You took the mean size of a row's entries, which gets smaller when there are more keys. Take the length.",
        ),
        WrongAnswer(
            "largest-entry",
            lambda G, t: (np.abs(G).max(axis=-1) < t).mean(),
            "You compared single entries, or a row's largest one, with the threshold. Many small entries together can "
            "make a long row: take the length.",
        ),
        WrongAnswer(
            "sum-of-sizes",
            lambda G, t: (np.abs(G).sum(axis=-1) < t).mean(),
            "You added the sizes of a row's entries. The length is the root of the sum of their squares.",
        ),
        WrongAnswer(
            "square-root-forgotten",
            lambda G, t: ((G * G).sum(axis=-1) < t).mean(),
            "You compared the SQUARE of the length with the threshold: the square root is missing.",
        ),
        WrongAnswer(
            "exact-zeros",
            lambda G, t: (np.linalg.norm(G, axis=-1) == 0).mean(),
            "You counted rows that are exactly 0. Use the threshold.",
        ),
        WrongAnswer(
            "at-the-threshold-too",
            lambda G, t: (np.linalg.norm(G, axis=-1) <= t).mean(),
            "A row exactly at the threshold is not below it: use <.",
        ),
        WrongAnswer(
            "columns-not-rows",
            lambda G, t: (np.linalg.norm(G, axis=-2) < t).mean(),
            "You took the length over the queries. A row runs over the keys: the last axis.",
        ),
        WrongAnswer(
            "axis-one-hard-coded",
            lambda G, t: (np.linalg.norm(G, axis=1) < t).mean(),
            "You took axis 1 for the keys. With a batch in front that is another axis. Count from the end: −1.",
        ),
        WrongAnswer(
            "loop-over-the-first-axis",
            lambda G, t: float(np.mean([np.linalg.norm(row) < t for row in G])),
            "You go along the first axis and take one length for all that lies there. For a single matrix those are "
            "rows; with a batch in front they are matrices. Take the lengths along the last axis.",
        ),
        WrongAnswer(
            "one-length-for-all",
            lambda G, t: float(np.linalg.norm(G) < t),
            "You took one length for the whole array. Each row has its own.",
        ),
        WrongAnswer(
            "per-batch-entry",
            lambda G, t: (np.linalg.norm(G, axis=-1) < t).mean(axis=-1),
            "You averaged within each batch entry. Return one number over all rows.",
        ),
        WrongAnswer(
            "in-percent",
            lambda G, t: 100 * (np.linalg.norm(G, axis=-1) < t).mean(),
            "You gave percent. A share is a number from 0 to 1.",
        ),
    ),
    also_right=(
        lambda G, t: float(np.mean(np.sqrt(np.sum(G**2, axis=-1)) < t)),
        lambda G, t: sum(np.sqrt(row @ row) < t for row in G.reshape(-1, G.shape[-1])) / G[..., 0].size,
        lambda G, t: np.count_nonzero(np.vecdot(G, G) < t * t) / G[..., 0].size,
    ),
    hints=(
        "One row, one verdict: what single number says how strong the gradient of a row is?",
        "Compute the length of every row along the last axis, compare with the threshold, and take the share of True.",
        "`np.linalg.norm(..., axis=-1)` gives the lengths; the mean of an array of True and False is the share "
        "of True.",
    ),
    invariants=(
        Invariant(
            "not-a-share",
            "A share lies between 0 and 1.",
            lambda inputs, share: bool(0 <= share <= 1),
        ),
    ),
    allows=(COURSE_SOFTMAX,),
    mistakes=MISTAKES,
)
