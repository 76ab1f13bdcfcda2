"""Lesson 10, exercise `paired_interval`: by how much do two arms differ, and how sure is that?"""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`paired_interval(found, other, picked, level=0.95)`: a bootstrap interval of the difference between two arms that share their seeds.

- `found`, `other`, shape `(n_seeds,)`: what came out for each seed, of one arm and of the other.
- `picked`, shape `(draws, n_seeds)`: integers. Each row is one resample: the seeds drawn, with replacement. (You are given them, so nothing in your function is random.)
- `level`: the share of the resamples that the interval should hold.
- Returns an array `[low, high]`. Take the difference `found − other` seed by seed, and its mean in every resample. The interval holds the middle share `level` of these means; `np.quantile` finds its ends.

Example: {inputs:1}. The differences are `1` and `3`, the means `1`, `2` and `3`, and half of these lie in the middle: {result:1}.
"""


def paired_interval(found, other, picked, level=0.95):
    """Bootstrap interval of the mean difference, seed by seed: (s,), (s,), (draws, s) -> (2,)."""
    means = (found - other)[picked].mean(axis=1)
    tail = (1 - level) / 2
    return np.quantile(means, [tail, 1 - tail])


def _in_parts(*, difference, resample, summary, cut):
    """paired_interval in four parts, each of which can be wrong; see MISTAKES."""

    def answer(found, other, picked, level=0.95):
        return cut(summary(resample(difference(found, other), picked)), level)

    return answer


def _middle(means, level):
    return np.quantile(means, [(1 - level) / 2, (1 + level) / 2])


def _normal(means, level):
    return means.mean() + np.array([-1.96, 1.96]) * means.std()


_RIGHT = {
    "difference": lambda found, other: found - other,
    "resample": lambda differences, picked: differences[picked],
    "summary": lambda drawn: drawn.mean(axis=1),
    "cut": _middle,
}


def _answer(**parts):
    return _in_parts(**(_RIGHT | parts))


def _not_paired(found, other, picked, level=0.95):
    """The other arm with other draws: each row of `picked` is used for the neighbor's."""
    return _middle(found[picked].mean(axis=1) - other[np.roll(picked, 1, axis=0)].mean(axis=1), level)


def _ends_subtracted(found, other, picked, level=0.95):
    return _middle(found[picked].mean(axis=1), level) - _middle(other[picked].mean(axis=1), level)


def _ends_crossed(found, other, picked, level=0.95):
    return _middle(found[picked].mean(axis=1), level) - _middle(other[picked].mean(axis=1), level)[::-1]


MISTAKES = Products(
    (
        Factor(
            "difference",
            _RIGHT["difference"],
            (
                Option("the-other-way-round", lambda found, other: other - found),
                Option("sizes-of-differences", lambda found, other: np.abs(found - other)),
                Option("other-arm-ignored", lambda found, other: found),
                Option("a-ratio", lambda found, other: found / other),
            ),
        ),
        Factor(
            "resample",
            _RIGHT["resample"],
            (
                Option("nothing-resampled", lambda differences, picked: differences[:, None]),
                Option("resampled-over-the-wrong-axis", lambda differences, picked: differences[picked].T),
            ),
        ),
        Factor(
            "summary",
            _RIGHT["summary"],
            (
                Option("sums-not-means", lambda drawn: drawn.sum(axis=1)),
                Option("medians-not-means", lambda drawn: np.median(drawn, axis=1)),
            ),
        ),
        Factor(
            "cut",
            _middle,
            (
                Option("tails-twice-too-large", lambda means, level: np.quantile(means, [1 - level, level])),
                Option("from-the-bottom", lambda means, level: np.quantile(means, [0, level])),
                Option("level-ignored", lambda means, level: _middle(means, 0.95)),
                Option("the-whole-range", lambda means, level: np.array([means.min(), means.max()])),
                Option("a-normal-interval", _normal),
                Option("low-and-high-exchanged", lambda means, level: _middle(means, level)[::-1]),
            ),
        ),
    ),
    _in_parts,
)


def _arms(rng, seeds, draws):
    """Two arms whose seeds have much in common, and the draws."""
    shared = rng.normal(90, 20, seeds)
    found = shared + rng.gamma(1.5, 4.0, seeds)
    other = shared + rng.normal(2, 9, seeds)
    other[0] = found[0] + 5.5  # one seed at least says the opposite of the mean
    return found, other, rng.integers(seeds, size=(draws, seeds))


EXERCISE = Exercise(
    name="paired_interval",
    lesson="10_does_scaling_matter",
    title="How sure is the difference?",
    prompt=PROMPT,
    examples=(Example(([2, 5], [1, 2], np.array([[0, 0], [0, 1], [1, 1]]), 0.5), shows="[1.5, 2.5]"),),
    section="5. What came out",
    difficulty=3,
    minutes=10,
    reference=paired_interval,
    cases=(
        Case("ten seeds", lambda rng: _arms(rng, 10, 60)),
        Case(
            "a level of 80%",
            lambda rng: (*_arms(rng, 7, 50), 0.8),
            says="The middle 80% leaves out a tenth at each end.",
        ),
        Case("five seeds, read-only", lambda rng: tuple(map(read_only, _arms(rng, 5, 40)))),
        Case("as many draws as seeds", lambda rng: (*_arms(rng, 6, 6), 0.5)),
        Case("one draw", lambda rng: _arms(rng, 5, 1), says="With one draw both ends are its mean."),
        Case("one seed", lambda rng: _arms(rng, 1, 4)),
        Case("a level of one half", lambda rng: (*_arms(rng, 9, 33), 0.5)),
    ),
    wrong=(
        WrongAnswer(
            "the-other-way-round",
            _answer(difference=lambda found, other: other - found),
            "This is the interval of other − found. Subtract the other way around.",
        ),
        WrongAnswer(
            "sizes-of-differences",
            _answer(difference=lambda found, other: np.abs(found - other)),
            "You dropped the signs of the differences: then every two arms differ.",
        ),
        WrongAnswer(
            "other-arm-ignored",
            _answer(difference=lambda found, other: found),
            "This is the interval of one arm. Take the difference first.",
        ),
        WrongAnswer(
            "not-paired",
            _not_paired,
            "The two arms got different draws, which throws away what their seeds have in common. Subtract first, then "
            "draw.",
        ),
        WrongAnswer(
            "ends-subtracted",
            _ends_subtracted,
            "You subtracted the ends of two intervals. That is not the interval of the difference: subtract first.",
        ),
        WrongAnswer(
            "ends-crossed",
            _ends_crossed,
            "You made an interval of each arm and took the worst and the best of both. What the seeds have in common cancels "
            "only if you subtract first, seed by seed; so your interval is too wide.",
        ),
        WrongAnswer(
            "nothing-resampled",
            _answer(resample=lambda differences, picked: differences[:, None]),
            "These are quantiles of the differences themselves: they say how much seeds spread, not how well the mean "
            "is known.",
        ),
        WrongAnswer(
            "resampled-over-the-wrong-axis",
            _answer(resample=lambda differences, picked: differences[picked].T),
            "You took means over the draws. Each row of `picked` is one resample: take the mean of each row.",
        ),
        WrongAnswer(
            "sums-not-means",
            _answer(summary=lambda drawn: drawn.sum(axis=1)),
            "You added up the differences of each resample. Take their mean.",
        ),
        WrongAnswer(
            "medians-not-means",
            _answer(summary=lambda drawn: np.median(drawn, axis=1)),
            "You took the median of each resample. Take its mean.",
        ),
        WrongAnswer(
            "tails-twice-too-large",
            _answer(cut=lambda means, level: np.quantile(means, [1 - level, level])),
            "You cut 1 − level off at each end, twice as much as you may: half of it belongs to each.",
        ),
        WrongAnswer(
            "from-the-bottom",
            _answer(cut=lambda means, level: np.quantile(means, [0, level])),
            "Your interval begins at the lowest mean. Leave out as much at the bottom as at the top.",
        ),
        WrongAnswer(
            "level-ignored",
            _answer(cut=lambda means, level: _middle(means, 0.95)),
            "This is the interval for 95%, whatever `level` says.",
        ),
        WrongAnswer(
            "the-whole-range",
            _answer(cut=lambda means, level: np.array([means.min(), means.max()])),
            "These are the smallest and the largest mean. The more draws, the wider that gets.",
        ),
        WrongAnswer(
            "a-normal-interval",
            _answer(cut=_normal),
            "This is the mean plus and minus 1.96 standard deviations, right for a bell curve. Take quantiles.",
        ),
        WrongAnswer(
            "low-and-high-exchanged",
            _answer(cut=lambda means, level: _middle(means, level)[::-1]),
            "The two ends are exchanged: first the low one, then the high one.",
        ),
    ),
    also_right=(
        lambda found, other, picked, level=0.95: np.quantile(
            found[picked].mean(axis=1) - other[picked].mean(axis=1), [0.5 - level / 2, 0.5 + level / 2]
        ),
        lambda found, other, picked, level=0.95: np.percentile(
            np.array([(found - other)[row].mean() for row in picked]), [50 * (1 - level), 50 * (1 + level)]
        ),
    ),
    hints=(
        "Both arms ran with the same seeds. What is left of a difference between seeds when you subtract first?",
        "`differences[picked]` has one row for each resample. Each row has a mean; the interval holds the middle ones.",
        "A level of 0.95 leaves out 0.05, half of it at each end: `np.quantile(means, [0.025, 0.975])`.",
    ),
    invariants=(
        Invariant(
            "ends-out-of-order",
            "The low end can't be above the high one.",
            lambda inputs, ends: bool(ends[0] <= ends[1] + 1e-9),
        ),
    ),
    mistakes=MISTAKES,
)
