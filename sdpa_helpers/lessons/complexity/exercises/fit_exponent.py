"""Lesson 06, exercise `fit_exponent`: the exponent in measured times."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`fit_exponent(sizes, times)`: times were measured for several sizes. If time $\approx c \cdot \text{size}^p$, what is $p$?

- `sizes`, shape `(m,)`, and `times`, shape `(m,)`: positive numbers, the sizes in any order.
- Returns $p$: the slope of the straight line, with a constant, that fits $\log(\text{times})$ against $\log(\text{sizes})$ best by least squares, all points with equal weight.

Examples: {example:1}: twice the size, four times the time. With the same sizes, {example:2}.
"""


def fit_exponent(sizes, times):
    """The exponent p in times ≈ c · sizes**p, by least squares in logarithms: one number."""
    x, y = np.log(sizes), np.log(times)
    x = x - x.mean()
    return (x @ y) / (x @ x)


def _power_law(rng, sizes, exponent, noise):
    sizes = np.array(sizes, dtype=float)
    return sizes, rng.uniform(1e-6, 1e-5) * sizes**exponent * np.exp(noise * rng.normal(size=len(sizes)))


def _line_through_origin(sizes, times):
    x, y = np.log(sizes), np.log(times)
    return (x @ y) / (x @ x)


def _slope(x, y):
    return np.polyfit(x, y, 1)[0]


def _fit_changing_inputs(sizes, times):
    times /= times[0]
    return _slope(np.log(sizes), np.log(times))


def _median_of_all_pairs(sizes, times):
    first, second = np.triu_indices(len(sizes), k=1)
    x, y = np.log(sizes), np.log(times)
    return np.median((y[second] - y[first]) / (x[second] - x[first]))


def _build(of_sizes, of_times, swapped, result):
    def fit_exponent(sizes, times):
        x, y = of_sizes(sizes), of_times(times)
        return result(np.polyfit(y, x, 1) if swapped else np.polyfit(x, y, 1))

    return fit_exponent


MISTAKES = Products(
    (
        Factor(
            "of_sizes",
            np.log,
            (
                Option("logarithm-of-times-only", lambda sizes: sizes),
                Option("log10-of-sizes-only", np.log10),
            ),
        ),
        Factor(
            "of_times",
            np.log,
            (
                Option("logarithm-of-sizes-only", lambda times: times),
                Option("two-different-logarithms", np.log2),
                Option("log10-and-natural", np.log10),
            ),
        ),
        Factor("swapped", False, (Option("axes-swapped", True),)),
        Factor(
            "result",
            lambda fit: fit[0],
            (
                Option("constant-not-slope", lambda fit: fit[1]),
                Option("slope-and-constant", lambda fit: fit),
                Option("factor-per-doubling", lambda fit: 2 ** fit[0]),
                *(
                    Option("rounded", lambda fit, digits=digits: round(float(fit[0]), digits))
                    for digits in range(5)
                ),
                Option("sign-dropped", lambda fit: abs(fit[0])),
            ),
        ),
    ),
    _build,
)


_SPARED = "Sizes that differ by a millionth of a millionth are no measurement of growth."

EXERCISE = Exercise(
    name="fit_exponent",
    lesson="06_complexity",
    title="The exponent in measured times",
    prompt=PROMPT,
    examples=(
        Example(([1, 2, 4], [3, 12, 48])),
        Example(([1, 2, 4], [3, 12, 12]), writes=("times",)),
    ),
    difficulty=2,
    minutes=10,
    reference=fit_exponent,
    section="Deeper: does the clock agree?",
    cases=(
        Case(
            "an exact power law",
            lambda rng: _power_law(rng, [100, 150, 400, 1000], rng.uniform(1.6, 1.9), 0.0),
            says="These times follow a power law exactly: every pair of points gives the same exponent.",
        ),
        Case(
            "measured, with noise",
            lambda rng: _power_law(rng, [128, 256, 512, 1024, 2048], rng.uniform(2.1, 2.3), 0.3),
            says="With noise it matters how you fit: least squares, all points, equal weight.",
        ),
        Case(
            "not in order, read-only",
            lambda rng: tuple(
                read_only(x)
                for x in _power_law(rng, [900, 30, 200, 5000, 70, 310], rng.uniform(0.6, 0.8), 0.2)
            ),
        ),
        Case(
            "unevenly spaced sizes",
            lambda rng: _power_law(rng, [10, 11, 12, 13, 700], rng.uniform(1.2, 1.4), 0.4),
        ),
        Case(
            "times that fall",
            lambda rng: _power_law(rng, [3, 5, 9, 21], rng.uniform(-1.4, -1.1), 0.1),
            says="Something that gets faster with size has a negative exponent.",
        ),
        Case(
            "forty points",
            lambda rng: _power_law(
                rng, rng.permutation(np.geomspace(10, 9000, 40)), rng.uniform(0.6, 0.9), 0.5
            ),
            says="Forty points, all of equal weight.",
        ),
        Case(
            "two sizes only",
            lambda rng: _power_law(rng, [300, 2100], rng.uniform(1.3, 1.7), 0.2),
            says="Two points are enough for a line: its slope is the exponent.",
        ),
        Case(
            "small sizes, close together",
            lambda rng: _power_law(rng, 3e-9 * (1 + 0.003 * rng.permutation(7)), rng.uniform(1.3, 1.7), 1e-3),
            says="Sizes may be small numbers, here in the region of 1e-9: add nothing to them, and keep all digits.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "no-logarithms",
            lambda sizes, times: _slope(sizes, times),
            "You fitted a straight line to the times themselves. A power law is straight only when "
            "both axes are logarithmic.",
            ("What does time = c · n^p become when you take the logarithm of both sides?",),
        ),
        WrongAnswer(
            "logarithm-of-times-only",
            lambda sizes, times: _slope(sizes, np.log(times)),
            "You took the logarithm of the times only: that line fits an exponential, time = c · aⁿ.",
        ),
        WrongAnswer(
            "logarithm-of-sizes-only",
            lambda sizes, times: _slope(np.log(sizes), times),
            "You took the logarithm of the sizes only. Both sides need it.",
        ),
        WrongAnswer(
            "axes-swapped",
            lambda sizes, times: _slope(np.log(times), np.log(sizes)),
            "You fitted the size against the time: that is about 1/p.",
        ),
        WrongAnswer(
            "ends-only",
            lambda sizes, times: np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0]),
            "You used the first and the last point only. Two noisy points decide everything then; fit all of them.",
        ),
        WrongAnswer(
            "smallest-and-largest-only",
            lambda sizes, times: (
                np.log(times[np.argmax(sizes)] / times[np.argmin(sizes)])
                / np.log(np.max(sizes) / np.min(sizes))
            ),
            "You used the smallest and the largest size only. Two noisy points decide everything "
            "then; fit all of them.",
        ),
        WrongAnswer(
            "mean-of-local-slopes",
            lambda sizes, times: np.mean(np.diff(np.log(times)) / np.diff(np.log(sizes))),
            "You averaged the slopes between neighbors. Close neighbours with noise then count as much as distant "
            "ones; least squares weighs them rightly.",
        ),
        WrongAnswer(
            "mean-of-slopes-in-order",
            lambda sizes, times: np.mean(
                np.diff(np.log(times)[np.argsort(sizes)]) / np.diff(np.log(np.sort(sizes)))
            ),
            "You sorted and averaged the slopes between neighbors. Close neighbours with noise then count as much "
            "as distant ones; least squares weighs them rightly.",
        ),
        WrongAnswer(
            "median-of-local-slopes",
            lambda sizes, times: np.median(
                np.diff(np.log(times)[np.argsort(sizes)]) / np.diff(np.log(np.sort(sizes)))
            ),
            "You took the median of the slopes between neighbors. That is robust, but another fit: use least "
            "squares.",
        ),
        WrongAnswer(
            "median-of-all-pairs",
            _median_of_all_pairs,
            "You took the median of the slopes of all pairs of points (Theil–Sen). That is robust, but another fit: use "
            "least squares.",
        ),
        WrongAnswer(
            "through-the-origin",
            _line_through_origin,
            "You forced the line through the origin, as if the constant c were 1. Subtract the means "
            "first, or fit a constant.",
        ),
        WrongAnswer(
            "constant-not-slope",
            lambda sizes, times: np.polyfit(np.log(sizes), np.log(times), 1)[1],
            "This is log c, the height of the line. Return its slope.",
        ),
        WrongAnswer(
            "slope-and-constant",
            lambda sizes, times: np.polyfit(np.log(sizes), np.log(times), 1),
            "You returned the slope together with the constant. Return the slope alone.",
        ),
        WrongAnswer(
            "two-different-logarithms",
            lambda sizes, times: _slope(np.log(sizes), np.log2(times)),
            "You used two different logarithms, log2 for the times: the slope is then 1.44 times too large. Any base "
            "will do, but the same for both.",
        ),
        WrongAnswer(
            "log10-and-natural",
            lambda sizes, times: _slope(np.log(sizes), np.log10(times)),
            "You used two different logarithms, log10 for the times. Any base will do, but the same for both.",
        ),
        WrongAnswer(
            "log10-of-sizes-only",
            lambda sizes, times: _slope(np.log10(sizes), np.log(times)),
            "You used two different logarithms, log10 for the sizes. Any base will do, but the same for both.",
        ),
        WrongAnswer(
            "factor-per-doubling",
            lambda sizes, times: 2 ** _slope(np.log(sizes), np.log(times)),
            "This is the factor that a doubling costs, 2^p. Return the exponent p itself.",
        ),
        WrongAnswer(
            "rounded",
            lambda sizes, times: np.round(_slope(np.log(sizes), np.log(times))),
            "You rounded the result. A measured exponent is what it is; round when you print.",
        ),
        WrongAnswer(
            "correlation-not-slope",
            lambda sizes, times: np.corrcoef(np.log(sizes), np.log(times))[0, 1],
            "This is the correlation: how straight the points are, not how steep the line is.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda sizes, times: abs(_slope(np.log(sizes), np.log(times))),
            "You dropped the sign: times that fall have a negative exponent.",
        ),
        WrongAnswer(
            "covariance-and-variance-differ",
            lambda sizes, times: np.cov(np.log(sizes), np.log(times))[0, 1] / np.var(np.log(sizes)),
            "You divided a covariance over n − 1 by a variance over n, np.cov's and np.var's "
            "defaults. Use the same for both.",
        ),
        WrongAnswer(
            "changes-its-input",
            _fit_changing_inputs,
            "Your function writes into the caller's array. Make a new array: no `+=`, `/=`, `out=` or `x[...] =` on "
            "an argument.",
        ),
    ),
    also_right=(
        lambda sizes, times: np.polyfit(np.log(sizes), np.log(times), 1)[0],
        lambda sizes, times: np.polyfit(np.log2(sizes), np.log2(times), 1)[0],
        lambda sizes, times: np.cov(np.log(sizes), np.log(times))[0, 1] / np.var(np.log(sizes), ddof=1),
        lambda sizes, times: np.linalg.lstsq(
            np.stack([np.log10(sizes), np.ones(len(sizes))], axis=1), np.log10(times)
        )[0][0],
        lambda sizes, times: float(
            np.corrcoef(np.log(sizes), np.log(times))[0, 1] * np.log(times).std() / np.log(sizes).std()
        ),
    ),
    hints=(
        "Take the logarithm of time = c · n^p. What is the slope of that line?",
        "Take logarithms of both arrays, then fit a straight line by least squares, with a constant. "
        "Return its slope.",
        "`x, y = np.log(sizes), np.log(times)`; `np.polyfit(x, y, 1)` gives slope and constant, in this order.",
    ),
    mistakes=MISTAKES,
    spared=(("return x @ y / (x @ x) → return x @ y / np.maximum(x @ x, 1e-12)", _SPARED),),
)
