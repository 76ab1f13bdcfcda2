"""Lesson 02, exercise `correlated_mean_and_variance`: when queries are correlated with keys."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.variance_proof.exercises.shared import some_size

PROMPT = r"""`correlated_mean_and_variance(d_k, rho)`: mean and variance of the raw score $q\cdot k$ when each coordinate of the key is correlated with the same coordinate of the query:

$$k_i = \rho\, q_i + \sqrt{1-\rho^2}\; e_i$$

All $q_i$ and $e_i$ are independent and standard normal: mean 0, variance 1, fourth moment $E[q_i^4] = 3$.

- `d_k`: an `int`, the number of coordinates. `rho`: a number from −1 to 1.
- Returns a tuple `(mean, variance)`.

Example: {example:1}. There $k = q$, and $q\cdot q$ is a squared length.
"""


def correlated_mean_and_variance(d_k, rho):
    """Mean and variance of q.k when corr(q_i, k_i) = rho -> a tuple of two numbers."""
    return d_k * rho, d_k * (1 + rho**2)


def _correlated_from_moments(d_k, rho):
    """Build it from k = rho q + noise: E[q^4] = 3, E[q^2] = 1, and noise independent of q."""
    mean_square = rho**2 * 3 + (1 - rho**2) * 1
    return rho * d_k, (mean_square - rho**2) * d_k


def _correlated_by_diagonalising(d_k, rho):
    """q k = ((q + k)^2 - (q - k)^2) / 4, two independent squares of variance 2 (1 + rho) and 2 (1 - rho)."""
    plus, minus = 2 * (1 + rho), 2 * (1 - rho)
    return np.float64(d_k * (plus - minus) / 4), np.float64(d_k * (2 * plus**2 + 2 * minus**2) / 16)


def _build(mean, variance, end):
    return lambda d_k, rho: end(mean(d_k, rho), variance(d_k, rho))


def _decimals(n):
    return lambda mean, variance: (np.round(mean, n), np.round(variance, n))


MISTAKES = Products(
    (
        Factor(
            "mean",
            lambda d, r: d * r,
            (
                Option(
                    "mean-taken-for-0", lambda d, r: 0.0, "Your mean is 0. With ρ, each q_i k_i has mean ρ."
                ),
                Option("mean-of-one-coordinate", lambda d, r: r),
                Option("mean-grows-like-root", lambda d, r: d**0.5 * r),
                Option("sign-dropped", lambda d, r: d * abs(r)),
                Option("rho-squared-in-the-mean", lambda d, r: d * r**2),
                Option(
                    "mean-plus-one",
                    lambda d, r: d * (1 + r),
                    "Your mean is d_k·(1 + ρ). E[q k] = ρ·E[q²] = ρ, with nothing added.",
                ),
                Option(
                    "mean-is-d",
                    lambda d, r: d,
                    "Your mean is d_k, that of a squared length. With ρ, each q_i k_i has mean ρ.",
                ),
            ),
        ),
        Factor(
            "variance",
            lambda d, r: d * (1 + r**2),
            (
                Option("variance-unchanged", lambda d, r: d),
                Option("mean-square-not-variance", lambda d, r: d * (1 + 2 * r**2)),
                Option("variance-falls", lambda d, r: d * (1 - r**2)),
                Option("rho-not-squared", lambda d, r: d * (1 + r)),
                Option(
                    "root-of-rho",
                    lambda d, r: d * (1 + abs(r)),
                    "Your variance has |ρ| in it, where ρ² belongs.",
                ),
                Option("mean-square-of-the-score", lambda d, r: d * (1 + r**2) + (d * r) ** 2),
                Option(
                    "whole-mean-subtracted",
                    lambda d, r: d * (1 + 2 * r**2) - (d * r) ** 2,
                    "You subtracted the squared mean of the whole score from a sum of mean squares of single products. "
                    "Take the variance of one product first, then multiply by d_k.",
                ),
                Option("terms-not-independent", lambda d, r: d**2 * (1 + r**2)),
                Option(
                    "variance-of-one-coordinate",
                    lambda d, r: 1 + r**2,
                    "Your variance is that of one coordinate: d_k of them add up.",
                ),
                Option("standard-deviation", lambda d, r: (d * (1 + r**2)) ** 0.5),
                Option(
                    "fourth-moment-taken-for-one",
                    lambda d, r: d * (1 - r**4),
                    "Your variance is d_k·(1 − ρ⁴). One product has mean square 1 + 2ρ², with E[q⁴] = 3.",
                ),
                Option(
                    "fourth-moment-without-noise",
                    lambda d, r: d * (3 * r**2 - r**2),
                    "The noise is missing from your variance: E[q²k²] = 3ρ² + (1 − ρ²).",
                ),
                Option(
                    "variance-of-the-squared-length",
                    lambda d, r: 2 * d,
                    "Your variance is 2 d_k, that of a squared length: so it is for ρ = ±1 only.",
                ),
            ),
        ),
        Factor(
            "end",
            lambda mean, variance: (mean, variance),
            (
                Option("swapped", lambda mean, variance: (variance, mean)),
                Option(
                    "only-the-mean",
                    lambda mean, variance: mean,
                    "You returned the mean alone. Return both, mean and variance: `return mean, variance`.",
                ),
                Option(
                    "only-the-variance",
                    lambda mean, variance: variance,
                    "You returned the variance alone. Return both, mean and variance: `return mean, variance`.",
                ),
                Option("rounded", _decimals(2), "The numbers are rounded. Return them as they come."),
                *(Option("rounded", _decimals(n)) for n in (1, 3, 4, 5, 6)),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="correlated_mean_and_variance",
    lesson="02_variance_proof",
    title="When queries are correlated with keys",
    prompt=PROMPT,
    examples=(Example((10, 1.0), form="call"),),
    section="5. Break the assumptions, one at a time",
    difficulty=4,
    minutes=15,
    reference=correlated_mean_and_variance,
    cases=(
        Case("correlated", lambda rng: (some_size(rng), float(rng.uniform(0.2, 0.8)))),
        Case(
            "correlated the other way",
            lambda rng: (some_size(rng), float(rng.uniform(-0.8, -0.2))),
            says="A negative ρ: query and key point apart on average.",
        ),
        Case(
            "independent",
            lambda rng: (some_size(rng), 0.0),
            says="With ρ = 0 the answer is the proof's: mean 0, variance d_k.",
        ),
        Case(
            "the same vector",
            lambda rng: (some_size(rng), 1.0),
            says="With ρ = 1, k is q, and q·k is the squared length.",
        ),
        Case(
            "the opposite vector",
            lambda rng: (some_size(rng), -1.0),
            says="With ρ = −1, k is −q, and q·k is minus the squared length.",
        ),
        Case(
            "one coordinate",
            lambda rng: (1, float(rng.uniform(0.2, 0.8))),
            says="With d_k = 1 the score is one product.",
        ),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer(
            "correlation-ignored",
            lambda d, r: (0.0, float(d)),
            "This is the answer for independent q and k. With ρ, each q_i k_i has mean ρ.",
        ),
        WrongAnswer(
            "variance-unchanged",
            lambda d, r: (d * r, float(d)),
            "Your variance is d_k, as for independent q and k. With ρ, one product has E[q²k²] = 1 + 2ρ², and its variance is "
            "that less ρ².",
        ),
        WrongAnswer(
            "mean-square-not-variance",
            lambda d, r: (d * r, d * (1 + 2 * r**2)),
            "You used E[q²k²] = 1 + 2ρ². Its squared mean ρ² still has to be subtracted.",
        ),
        WrongAnswer(
            "variance-falls",
            lambda d, r: (d * r, d * (1 - r**2)),
            "You used 1 − ρ², as if q were fixed and only the noise varied. q varies too: E[q⁴] = 3.",
        ),
        WrongAnswer(
            "rho-not-squared",
            lambda d, r: (d * r, d * (1 + r)),
            "The variance has ρ squared in it: it is the same for ρ and −ρ.",
        ),
        WrongAnswer(
            "mean-square-of-the-score",
            lambda d, r: (d * r, d * (1 + r**2) + (d * r) ** 2),
            "Your second number is E[(q·k)²]. The variance is without the squared mean (d_k ρ)².",
        ),
        WrongAnswer(
            "coordinates-correlated-instead",
            lambda d, r: (0.0, d + d * (d - 1) * r**2),
            "That is for coordinates of one vector that correlate with each other. Here q_i correlates with k_i.",
        ),
        WrongAnswer(
            "terms-not-independent",
            lambda d, r: (d * r, d**2 * (1 + r**2)),
            "You multiplied the variance by d_k². The d_k products are still independent of each other: add them up.",
        ),
        WrongAnswer(
            "one-coordinate-only",
            lambda d, r: (r, 1 + r**2),
            "This is one coordinate. The score is a sum of d_k products.",
        ),
        WrongAnswer(
            "mean-of-one-coordinate",
            lambda d, r: (r, d * (1 + r**2)),
            "The mean is that of one coordinate: d_k of them add up.",
        ),
        WrongAnswer(
            "scaled-already",
            lambda d, r: (np.sqrt(d) * r, 1 + r**2),
            "You divided the score by √d_k. The mean and variance wanted here are those of the raw score.",
        ),
        WrongAnswer(
            "mean-grows-like-root",
            lambda d, r: (np.sqrt(d) * r, d * (1 + r**2)),
            "You let the mean grow like √d_k. Spreads add up like that, means don't: d_k means of ρ make d_k ρ.",
        ),
        WrongAnswer(
            "standard-deviation",
            lambda d, r: (d * r, np.sqrt(d * (1 + r**2))),
            "Your second number is the standard deviation. The variance is its square.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda d, r: (d * abs(r), d * (1 + r**2)),
            "You dropped the sign of ρ: a negative ρ gives a negative mean.",
        ),
        WrongAnswer(
            "swapped",
            lambda d, r: (d * (1 + r**2), d * r),
            "Mean and variance are swapped: the mean comes first.",
        ),
        WrongAnswer(
            "rho-squared-in-the-mean",
            lambda d, r: (d * r**2, d * (1 + r**2)),
            "The mean has ρ in it, not ρ²: E[q k] = ρ E[q²] = ρ.",
        ),
        WrongAnswer(
            "list-not-tuple",
            lambda d, r: [d * r, d * (1 + r**2)],
            "The two numbers come in a list or an array. Return a tuple: `return mean, variance`, without brackets.",
        ),
    ),
    also_right=(
        _correlated_from_moments,
        _correlated_by_diagonalising,
        lambda d_k, rho: (sum(rho for _ in range(d_k)), sum(1 + rho * rho for _ in range(d_k))),
    ),
    hints=(
        "Put k = ρq + √(1−ρ²)e into q·k, for one coordinate. Which parts have mean 0?",
        "E[q k] = ρ E[q²], and E[q²k²] = ρ² E[q⁴] + (1−ρ²) E[q²] E[e²]. For a bell curve E[q⁴] = 3.",
        "One product has mean ρ and mean square 1 + 2ρ². Subtract ρ², then take d_k of them.",
    ),
)
