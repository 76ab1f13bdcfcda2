"""Lesson 02, exercise `variance_proof`: the proof, step by step."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.lessons.variance_proof.exercises.shared import some_positive, some_signed, some_size

PROMPT = r"""`variance_proof(mean_q, var_q, mean_k, var_k, d_k)`: prove $\mathrm{Var}(q\cdot k) = d_k$, and more. Each number is one step of the proof, for any means and variances; all components are independent.

- `mean_q`, `var_q`: mean and variance of every component of the query. `mean_k`, `var_k`: of the key.
- `d_k`: an `int`, the number of components.
- Returns a tuple of four numbers: $E[q_ik_i]$, $E[(q_ik_i)^2]$, $\mathrm{Var}(q_ik_i)$, $\mathrm{Var}(q\cdot k)$.

Example: {example:1}: the last number is $d_k$, which is what an article asks its readers to prove. {example:2}.
"""


def variance_proof(mean_q, var_q, mean_k, var_k, d_k):
    """E[q_i k_i], E[(q_i k_i)^2], Var(q_i k_i), Var(q.k) -> a tuple of four numbers."""
    mean = mean_q * mean_k
    mean_square = (var_q + mean_q**2) * (var_k + mean_k**2)
    variance = mean_square - mean**2
    return mean, mean_square, variance, d_k * variance


def _four(mean, mean_square, d_k):
    variance = mean_square - mean**2
    return mean, mean_square, variance, d_k * variance


def _proof_from_three_terms(mean_q, var_q, mean_k, var_k, d_k):
    variance = var_q * var_k + var_q * mean_k**2 + var_k * mean_q**2
    return mean_q * mean_k, variance + (mean_q * mean_k) ** 2, variance, sum(variance for _ in range(d_k))


def _proof_by_two_points(mean_q, var_q, mean_k, var_k, d_k):
    """Any distribution with the right mean and variance will do: two values, each with probability 1/2."""
    q = mean_q + np.sqrt(var_q) * np.array([-1, 1])
    k = mean_k + np.sqrt(var_k) * np.array([-1, 1])
    products = np.outer(q, k)
    return products.mean(), (products**2).mean(), products.var(), d_k * products.var()


EXERCISE = Exercise(
    name="variance_proof",
    lesson="02_variance_proof",
    title="The proof, step by step",
    prompt=PROMPT,
    examples=(
        Example((0.0, 1.0, 0.0, 1.0, 5), form="call"),
        Example((2.0, 1.0, 0.0, 3.0, 5), form="call"),
    ),
    section="2. The proof, in seven steps",
    difficulty=3,
    minutes=15,
    reference=variance_proof,
    cases=(
        Case(
            "means 0, variances 1",
            lambda rng: (0.0, 1.0, 0.0, 1.0, some_size(rng)),
            says="The textbook case: the four numbers are 0, 1, 1, d_k.",
        ),
        Case(
            "means 0, other variances",
            lambda rng: (0.0, some_positive(rng), 0.0, some_positive(rng), some_size(rng)),
        ),
        Case(
            "one mean is not 0",
            lambda rng: (some_signed(rng), some_positive(rng), 0.0, some_positive(rng), some_size(rng)),
            says="A mean in q alone lets k's variance through.",
        ),
        Case(
            "both means are not 0",
            lambda rng: (
                some_signed(rng),
                some_positive(rng),
                some_signed(rng),
                some_positive(rng),
                some_size(rng),
            ),
            says="All four numbers of the proof differ here.",
        ),
        Case(
            "the query is a constant",
            lambda rng: (some_signed(rng), 0.0, some_signed(rng), some_positive(rng), some_size(rng)),
            says="A constant q only multiplies k: the variance is q²·Var(k).",
        ),
    ),
    wrong=(
        WrongAnswer(
            "means-ignored",
            lambda mq, vq, mk, vk, d: (0.0, vq * vk, vq * vk, d * vq * vk),
            "You took every mean as 0. The steps are asked for with any means: E[q²] = Var(q) + E[q]².",
            ("What is E[q²] when q is the constant 3?",),
        ),
        WrongAnswer(
            "mean-square-is-product-of-variances",
            lambda mq, vq, mk, vk, d: _four(mq * mk, vq * vk, d),
            "In step 2 you multiplied the variances. The mean square has the squared mean in it too: "
            "E[q²] = Var(q) + E[q]².",
        ),
        WrongAnswer(
            "mean-square-is-squared-mean",
            lambda mq, vq, mk, vk, d: _four(mq * mk, (mq * mk) ** 2, d),
            "In step 2 you squared the mean of step 1. The mean of a square is not the square of the mean: their "
            "difference IS the variance.",
        ),
        WrongAnswer(
            "mean-not-subtracted",
            lambda mq, vq, mk, vk, d: (
                mq * mk,
                e := (vq + mq**2) * (vk + mk**2),
                e,
                d * e,
            ),
            "In step 3 you kept the mean square. The variance is the mean square minus the squared mean.",
        ),
        WrongAnswer(
            "mean-subtracted-unsquared",
            lambda mq, vq, mk, vk, d: (
                mq * mk,
                e := (vq + mq**2) * (vk + mk**2),
                e - mq * mk,
                d * (e - mq * mk),
            ),
            "In step 3 you subtracted the mean itself; its square has to go.",
        ),
        WrongAnswer(
            "variance-is-product-of-variances",
            lambda mq, vq, mk, vk, d: (mq * mk, (vq + mq**2) * (vk + mk**2), vq * vk, d * vq * vk),
            "Steps 1 and 2 are right, but step 3 is not Var(q)·Var(k): that is so only for means 0. Subtract step 1 "
            "squared from step 2.",
        ),
        WrongAnswer(
            "variances-added",
            lambda mq, vq, mk, vk, d: (mq * mk, (vq + mq**2) * (vk + mk**2), vq + vk, d * (vq + vk)),
            "In step 3 you added the variances: that is the variance of q + k, not of q·k.",
        ),
        WrongAnswer(
            "means-added",
            lambda mq, vq, mk, vk, d: _four(mq + mk, (vq + mq**2) * (vk + mk**2), d),
            "In step 1 you added the means. The mean of a product of independent variables is the product of means.",
        ),
        WrongAnswer(
            "variance-squared-in-step-2",
            lambda mq, vq, mk, vk, d: _four(mq * mk, (vq**2 + mq**2) * (vk**2 + mk**2), d),
            "In step 2 you squared the variances. A variance is a mean square already: E[q²] = Var(q) + E[q]².",
        ),
        WrongAnswer(
            "mean-subtracted-in-step-2",
            lambda mq, vq, mk, vk, d: _four(mq * mk, (vq - mq**2) * (vk - mk**2), d),
            "Var(q) = E[q²] − E[q]², so E[q²] = Var(q) PLUS E[q]². You took it away in step 2.",
        ),
        WrongAnswer(
            "fourth-moment-of-a-bell-curve",
            lambda mq, vq, mk, vk, d: _four(mq * mk, 3 * vq * vk + mq**2 * mk**2, d),
            "In step 2 there is a 3, the fourth moment of a bell curve. q_i and k_i are two variables: only their "
            "second moments occur, and no bell curve is needed.",
        ),
        WrongAnswer(
            "variance-times-d-squared",
            lambda mq, vq, mk, vk, d: (
                mq * mk,
                e := (vq + mq**2) * (vk + mk**2),
                v := e - (mq * mk) ** 2,
                d**2 * v,
            ),
            "In step 4 you multiplied by d_k². That is right for d_k copies of ONE term; independent ones add up.",
        ),
        WrongAnswer(
            "not-summed-over-coordinates",
            lambda mq, vq, mk, vk, d: (
                mq * mk,
                e := (vq + mq**2) * (vk + mk**2),
                v := e - (mq * mk) ** 2,
                v,
            ),
            "Step 4 is still one coordinate. The score is a sum of d_k of them.",
        ),
        WrongAnswer(
            "standard-deviation-in-step-4",
            lambda mq, vq, mk, vk, d: (
                mq * mk,
                e := (vq + mq**2) * (vk + mk**2),
                v := e - (mq * mk) ** 2,
                np.sqrt(d * v),
            ),
            "Step 4 is the standard deviation. The variance is its square.",
        ),
        WrongAnswer(
            "mean-square-of-the-score-in-step-4",
            lambda mq, vq, mk, vk, d: (
                mq * mk,
                e := (vq + mq**2) * (vk + mk**2),
                e - (mq * mk) ** 2,
                d * (e - (mq * mk) ** 2) + (d * mq * mk) ** 2,
            ),
            "Step 4 is E[(q·k)²]. The variance is without the squared mean of the score.",
        ),
        WrongAnswer(
            "list-not-tuple",
            lambda mq, vq, mk, vk, d: list(variance_proof(mq, vq, mk, vk, d)),
            "You returned a list. Return the four numbers as a tuple: `return a, b, c, d`, without brackets.",
        ),
        WrongAnswer(
            "last-step-only",
            lambda mq, vq, mk, vk, d: variance_proof(mq, vq, mk, vk, d)[-1],
            "You returned the last number alone. All four steps are asked for, as a tuple.",
        ),
        WrongAnswer(
            "scaled-in-step-4",
            lambda mq, vq, mk, vk, d: (
                mq * mk,
                e := (vq + mq**2) * (vk + mk**2),
                v := e - (mq * mk) ** 2,
                v / d,
            ),
            "In step 4 you divided by d_k: that is the variance of a mean of d_k terms. The score is their sum.",
        ),
    ),
    also_right=(
        _proof_from_three_terms,
        _proof_by_two_points,
        lambda mq, vq, mk, vk, d: (
            float(mq * mk),
            float((v := vq * vk + vq * mk**2 + vk * mq**2) + (mq * mk) ** 2),
            v,
            d * v,
        ),
    ),
    hints=(
        "Which of the four numbers is wrong? The check names the part, counted from 0. Then read that step's line.",
        "Independence turns E[q²k²] into E[q²]·E[k²], and E[q²] is Var(q) + E[q]².",
        "`mean_square = (var_q + mean_q**2) * (var_k + mean_k**2)`; `variance = mean_square - mean**2`.",
    ),
)
