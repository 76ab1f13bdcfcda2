"""Lesson 05, exercise `leaking_queries`: a leak detector."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`leaking_queries(before, after, changed)`: somebody ran a causal attention twice. The second time, key and value number `changed` were different. Which queries saw it although it lies in their future?

- `before`, `after`, shape `(..., n_q, d_v)`: the outputs of the two runs.
- `changed`: the position that was changed, an int.
- Returns shape `(n_q,)`, dtype bool: True for each query $i <$ `changed` whose output moved, in any coordinate and any batch entry or head.

A number moved when it differs by more than 1e-9; less is rounding. A NaN, in either run, counts as moved.

Example: {example:1}. Query 1 leaks; query 2 may see what was changed.
"""


def leaking_queries(before, after, changed):
    """Which queries leak: before, after (..., n_q, d_v), changed -> (n_q,) bool."""
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
    """One whose coordinates cancel, one that leaves coordinate 0 alone."""
    return _experiment(rng, (7, 3), 5, {1: [2.0, -3.0, 1.0], 4: [0.0, 1.0, 1.0]})


def _nan_leak(rng):
    before, after, changed = _experiment(rng, (6, 2), 4, {1: [1.0, 2.0]})
    before[2], after[2] = 0.0, [np.nan, 0.0]
    return before, after, changed


def _nan_before(rng):
    before, after, changed = _experiment(rng, (2, 7, 3), 5, {})
    before[0, 1], after[0, 1] = [0.0, 0.0, np.nan], 0.0
    after[0, 2] += 1.0
    before[1, 3, 0] = after[1, 3, 0] = np.nan
    return before, after, changed


def _just_above(rng):
    """Differences of 1.3e-9 in one number of rows 1 and 3, whose mean is below 1e-9, and of 8e-10 in the other rows."""
    before, after, changed = _experiment(rng, (6, 2), 4, {})
    steps = np.full((4, 2), 8e-10)
    steps[[1, 3]] = [1.3e-9, 1e-10], [1e-10, 1.3e-9]
    after[:4] = before[:4] + steps * rng.choice([-1.0, 1.0], size=steps.shape)
    return before, after, changed


def _build(moved, summed, over_components, over_leads, rows):
    def leaking_queries(before, after, changed):
        found = over_leads(over_components(moved(summed(before), summed(after))))
        return rows(found, changed)

    return leaking_queries


def _not_close_nan_equal(before, after):
    return ~np.isclose(after, before, rtol=0, atol=1e-9, equal_nan=True)


ALL_COMPONENTS = "You require every coordinate of a row to move. One is enough for a leak."
FIRST_AXIS = (
    "Axis 0 is the queries only when there is no batch in front: count from the end. The queries are the last axis but "
    "one, and everything else is joined with any."
)

MISTAKES = Products(
    (
        Factor(
            "moved",
            _moved,
            (
                Option("blind-to-nan", lambda a, b: np.abs(b - a) > 1e-9),
                Option("nan-in-both-taken-for-equal", _not_close_nan_equal),
                Option("nan-in-the-first-run-overlooked", lambda a, b: (np.abs(b - a) > 1e-9) | np.isnan(b)),
                Option("nan-in-the-second-run-overlooked", lambda a, b: (np.abs(b - a) > 1e-9) | np.isnan(a)),
                Option("tolerance-too-wide", lambda a, b: ~np.isclose(b, a)),
                *(
                    Option("tolerance-too-wide", lambda a, b, at=at: ~(np.abs(b - a) <= at))
                    for at in (1e-8, 1e-6, 1e-5, 1e-3)
                ),
                Option(
                    "tolerance-too-wide-and-nan-equal",
                    lambda a, b: ~np.isclose(b, a, equal_nan=True),
                    "The tolerance is too wide (np.isclose and np.allclose accept 1e-5 of the size), and NaN in both "
                    "runs passes for equal.",
                ),
                Option("rounding-taken-for-a-leak", lambda a, b: a != b),
                Option("upward-only", lambda a, b: ~(b - a <= 1e-9)),
            ),
        ),
        Factor(
            "summed",
            lambda x: x,
            (Option("differences-cancel", lambda x: x.sum(axis=-1, keepdims=True)),),
        ),
        Factor(
            "over_components",
            lambda moved: moved.any(axis=-1),
            (
                Option("first-component-only", lambda moved: moved[..., 0]),
                Option("all-components-of-a-row-must-move", lambda moved: moved.all(axis=-1), ALL_COMPONENTS),
            ),
        ),
        Factor(
            "over_leads",
            _any_lead,
            (
                Option("per-head", lambda x: x),
                Option("first-head-only", lambda x: x[(0,) * (x.ndim - 1)]),
                Option(
                    "first-axis-taken-for-the-queries",
                    lambda x: x.any(axis=tuple(range(1, x.ndim))),
                    FIRST_AXIS,
                ),
            ),
        ),
        Factor(
            "rows",
            _early,
            (
                Option("every-row-that-moved", lambda x, changed: x),
                Option("changed-row-counted", lambda x, changed: _early(x, changed + 1)),
                Option("later-rows-instead", lambda x, changed: x & (np.arange(x.shape[-1]) > changed)),
                Option("cut-off-at-the-change", lambda x, changed: x[..., :changed]),
                Option("numbers-of-the-rows", lambda x, changed: np.flatnonzero(_early(x, changed))),
                Option("one-answer-for-all", lambda x, changed: bool(_early(x, changed).any())),
                Option("rows-that-stayed", lambda x, changed: _early(~x, changed)),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="leaking_queries",
    lesson="05_masking",
    title="A leak detector",
    prompt=PROMPT,
    examples=(Example(([[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2.5], [4, 4]], 2)),),
    difficulty=3,
    minutes=10,
    reference=leaking_queries,
    cases=(
        Case("two leaks", _two_leaks),
        Case("no leak", lambda rng: _experiment(rng, (6, 4), 3, {}), says="Rounding alone is no leak."),
        Case(
            "a small leak",
            lambda rng: _experiment(rng, (6, 1), 4, {2: [1e-7]}),
            says="A leak of a ten-millionth is still a leak.",
        ),
        Case(
            "a leak in one head",
            lambda rng: _experiment(rng, (2, 3, 6, 2), 4, {0: [-1.0, -2.0], 3: [0.5, -0.1]}),
            says="One head of one batch entry is enough.",
        ),
        Case("a leak of NaN", _nan_leak, says="NaN in the second run: `>` and `<=` with NaN are False."),
        Case(
            "NaN in the first run, and in both",
            _nan_before,
            says="A NaN, in either run, counts as moved; in both runs as well.",
        ),
        Case(
            "one query, one coordinate",
            lambda rng: _experiment(rng, (1, 1, 1), 1, {0: [0.5]}),
            says="An axis of length 1 is an axis like any other: the result has shape (1,).",
        ),
        Case(
            "wide outputs, many queries",
            lambda rng: _experiment(rng, (40, 12), 30, {3: [0.0] * 11 + [1.0], 25: [0.0] * 9 + [-1.0] * 3}),
            says="Forty queries with twelve coordinates: a leak may show in the last of them alone.",
        ),
        Case(
            "as many heads as queries",
            lambda rng: _experiment(rng, (5, 5, 5), 3, {0: [0.0, 0.0, 0.0, 0.0, 2.0], 2: [1.0] * 5}),
            says="Heads, queries and coordinates are all 5: here no shape tells that an axis is not the one it should be.",
        ),
        Case(
            "just above the tolerance",
            _just_above,
            says="A difference of 1.3e-9 is more than 1e-9, and 8e-10 is less.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "blind-to-nan",
            lambda before, after, changed: _early(
                _any_lead((np.abs(after - before) > 1e-9).any(axis=-1)), changed
            ),
            "A row that turned into NaN is not found: `>` and `<=` with NaN are both False. Ask 'not within the "
            "tolerance' instead of 'beyond it'.",
            ("What is `np.nan > 1e-9`? And `~(np.nan <= 1e-9)`?",),
        ),
        WrongAnswer(
            "mean-of-the-differences",
            lambda before, after, changed: _early(
                ~(np.abs(after - before).mean(-1).reshape(-1, before.shape[-2]).mean(0) <= 1e-9), changed
            ),
            "You compare the mean of the differences with 1e-9. One number that moves is a leak, and a mean waters it down: "
            "compare every number, or the largest difference.",
        ),
        WrongAnswer(
            "nan-in-both-taken-for-equal",
            lambda before, after, changed: _early(
                _any_lead(_not_close_nan_equal(before, after).any(axis=-1)), changed
            ),
            "A NaN that stands in both runs passes for equal, as with `equal_nan=True`. It counts as moved: of such a row "
            "nothing can be said.",
        ),
        WrongAnswer(
            "nan-in-the-first-run-overlooked",
            lambda before, after, changed: _early(
                _any_lead(((np.abs(after - before) > 1e-9) | np.isnan(after)).any(axis=-1)), changed
            ),
            "A NaN in `before` alone is not found: you look for NaN in `after` only. It counts in either run.",
        ),
        WrongAnswer(
            "nan-in-the-second-run-overlooked",
            lambda before, after, changed: _early(
                _any_lead(((np.abs(after - before) > 1e-9) | np.isnan(before)).any(axis=-1)), changed
            ),
            "A NaN in `after` alone is not found: you look for NaN in `before` only. It counts in either run.",
        ),
        WrongAnswer(
            "first-axis-taken-for-the-queries",
            lambda before, after, changed: _early(
                (m := _moved(before, after)).any(axis=tuple(range(1, m.ndim))), changed
            ),
            FIRST_AXIS,
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
            "You added the differences before taking their size: what moves up in one coordinate and down in another "
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
            "You looked at the first coordinate of each output only.",
        ),
        WrongAnswer(
            "all-components-must-move",
            lambda before, after, changed: _early(
                _moved(before, after).reshape(-1, *before.shape[-2:]).all(axis=(0, -1)), changed
            ),
            "You require everything to move: every head and every coordinate. One is enough for a leak.",
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
            "This says whether there is a leak at all. Return one True or False for each query.",
        ),
        WrongAnswer(
            "numbers-of-the-rows",
            lambda before, after, changed: np.flatnonzero(
                _early(_any_lead(_moved(before, after).any(axis=-1)), changed)
            ),
            "These are the row numbers. Return one True or False for each query.",
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
            "This is one answer for each number. Join the coordinates, the batch and the heads with any.",
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
            "This says how far each row moved. Return True or False: more than 1e-9, or NaN.",
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
    mistakes=MISTAKES,
)
