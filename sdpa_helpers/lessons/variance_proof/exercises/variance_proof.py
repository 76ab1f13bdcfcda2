"""Lesson 02, exercise `variance_proof`: the proof, step by step."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.variance_proof.exercises.shared import some_positive, some_signed, some_size

PROMPT = r"""`variance_proof(mean_q, var_q, mean_k, var_k, d_k)`: prove $\mathrm{Var}(q\cdot k) = d_k$, and more. Each number is one step of the proof, for any means and variances; all components are independent.

- `mean_q`, `var_q`: mean and variance of every component of the query. `mean_k`, `var_k`: of the key.
- `d_k`: an `int`, the number of components.
- Returns a tuple of four numbers, the lesson's steps 2, 3, 4 and 6: $E[q_ik_i]$, $E[(q_ik_i)^2]$, $\mathrm{Var}(q_ik_i)$, $\mathrm{Var}(q\cdot k)$. (Step 1 is used in step 3; steps 5 and 7 need no new number.)

Example: {example:1}: the last number is $d_k$, which is what an article asks its readers to prove. {example:2}.
"""


def variance_proof(mean_q, var_q, mean_k, var_k, d_k):
    """Steps 2, 3, 4, 6: E[q_i k_i], E[(q_i k_i)^2], Var(q_i k_i), Var(q.k) -> a tuple of four numbers."""
    mean = mean_q * mean_k
    mean_square = (var_q + mean_q**2) * (var_k + mean_k**2)
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


def _build(mean, square, variance, total):
    """Each step takes what it uses of the steps before it, and shows what it comes to."""

    def answer(mean_q, var_q, mean_k, var_k, d_k):
        shown_mean, used_mean = mean(mean_q, mean_k)
        shown_square, used_square = square(var_q, mean_q, var_k, mean_k)
        shown_variance, used_variance = variance(used_square, used_mean)
        return shown_mean, shown_square, shown_variance, total(used_variance, used_mean, d_k)

    return answer


def _mean(mq, mk):
    return mq * mk


def _square(vq, mq, vk, mk):
    return (vq + mq**2) * (vk + mk**2)


def _variance(square, mean):
    return square - mean**2


def _passed_on(step):
    """The step's result is shown, and used by the steps after it."""
    return lambda *known: (step(*known), step(*known))


def _shown_only(step, right):
    """The step's result is shown; the steps after it use the right one."""
    return lambda *known: (step(*known), right(*known))


def _both(name, step, right, says):
    return Option(name, _passed_on(step), says), Option(name, _shown_only(step, right), says)


MISTAKES = Products(
    (
        Factor(
            "mean",
            _passed_on(_mean),
            (
                *_both(
                    "means-added",
                    lambda mq, mk: mq + mk,
                    _mean,
                    "Step 2 is the sum of the means. The mean of a product of independent variables is the product of "
                    "their means.",
                ),
                *_both(
                    "mean-taken-for-0",
                    lambda mq, mk: 0.0,
                    _mean,
                    "Step 2 is 0 whatever the means are. It is their product.",
                ),
                *_both(
                    "mean-squared-in-step-2",
                    lambda mq, mk: (mq * mk) ** 2,
                    _mean,
                    "Step 2 is squared. E[q k] is the product of the means; the square comes in step 4.",
                ),
                *_both(
                    "one-mean-only",
                    lambda mq, mk: mq,
                    _mean,
                    "Step 2 is the mean of the query alone. It is the product of both means.",
                ),
            ),
        ),
        Factor(
            "square",
            _passed_on(_square),
            (
                *_both(
                    "mean-square-is-product-of-variances",
                    lambda vq, mq, vk, mk: vq * vk,
                    _square,
                    "Step 3 is the product of the variances. The mean square has the squared mean in it too: "
                    "E[q²] = Var(q) + E[q]².",
                ),
                *_both(
                    "mean-square-is-squared-mean",
                    lambda vq, mq, vk, mk: (mq * mk) ** 2,
                    _square,
                    "Step 3 is the square of step 2. The mean of a square is not the square of the mean: their "
                    "difference IS the variance.",
                ),
                *_both(
                    "variance-squared-in-step-3",
                    lambda vq, mq, vk, mk: (vq**2 + mq**2) * (vk**2 + mk**2),
                    _square,
                    "In step 3 you squared the variances. A variance is a mean square already: E[q²] = Var(q) + E[q]².",
                ),
                *_both(
                    "mean-subtracted-in-step-3",
                    lambda vq, mq, vk, mk: (vq - mq**2) * (vk - mk**2),
                    _square,
                    "Var(q) = E[q²] − E[q]², so E[q²] = Var(q) PLUS E[q]². You took it away in step 3.",
                ),
                *_both(
                    "mean-not-squared-in-step-3",
                    lambda vq, mq, vk, mk: (vq + mq) * (vk + mk),
                    _square,
                    "In step 3 the means are added as they are. E[q²] = Var(q) + E[q]²: squared.",
                ),
                *_both(
                    "mean-squares-added",
                    lambda vq, mq, vk, mk: vq + mq**2 + vk + mk**2,
                    _square,
                    "In step 3 you added the mean squares. Independence makes a product of them: E[q²]·E[k²].",
                ),
                *_both(
                    "cross-terms-forgotten",
                    lambda vq, mq, vk, mk: vq * vk + (mq * mk) ** 2,
                    _square,
                    "In step 3 the cross terms are missing: (Var(q) + E[q]²)·(Var(k) + E[k]²) has four.",
                ),
                *_both(
                    "fourth-moment-of-a-bell-curve",
                    lambda vq, mq, vk, mk: 3 * vq * vk + mq**2 * mk**2,
                    _square,
                    "In step 3 there is a 3, the fourth moment of a bell curve. q_i and k_i are two variables: only their "
                    "second moments occur, and no bell curve is needed.",
                ),
            ),
        ),
        Factor(
            "variance",
            _passed_on(_variance),
            (
                *_both(
                    "mean-not-subtracted",
                    lambda e, m: e,
                    _variance,
                    "Step 4 is the mean square. The variance is the mean square minus the squared mean.",
                ),
                *_both(
                    "mean-subtracted-unsquared",
                    lambda e, m: e - m,
                    _variance,
                    "In step 4 you subtracted the mean itself; its square has to go.",
                ),
                *_both(
                    "squared-mean-added",
                    lambda e, m: e + m**2,
                    _variance,
                    "In step 4 you added the squared mean. It has to be taken away.",
                ),
                *_both(
                    "turned-round-in-step-4",
                    lambda e, m: m**2 - e,
                    _variance,
                    "Step 4 has the wrong sign: the mean square minus the squared mean, not the other way round.",
                ),
                *_both(
                    "standard-deviation-in-step-4",
                    lambda e, m: np.sqrt(e - m**2),
                    _variance,
                    "Step 4 is the standard deviation of one product. The variance is its square.",
                ),
            ),
        ),
        Factor(
            "total",
            lambda v, m, d: d * v,
            (
                Option(
                    "variance-times-d-squared",
                    lambda v, m, d: d**2 * v,
                    "In step 6 you multiplied by d_k². That is right for d_k copies of ONE term; independent ones add up.",
                ),
                Option(
                    "not-summed-over-coordinates",
                    lambda v, m, d: v,
                    "Step 6 is still one coordinate. The score is a sum of d_k of them.",
                ),
                Option(
                    "standard-deviation-in-step-6",
                    lambda v, m, d: np.sqrt(d * v),
                    "Step 6 is the standard deviation. The variance is its square.",
                ),
                Option(
                    "root-of-d-in-step-6",
                    lambda v, m, d: np.sqrt(d) * v,
                    "In step 6 you multiplied by √d_k. Standard deviations of a sum grow like that; the variance grows "
                    "like d_k.",
                ),
                Option(
                    "mean-square-of-the-score-in-step-6",
                    lambda v, m, d: d * v + (d * m) ** 2,
                    "Step 6 is E[(q·k)²]. The variance is without the squared mean of the score.",
                ),
                Option(
                    "scaled-in-step-6",
                    lambda v, m, d: v / d,
                    "In step 6 you divided by d_k: that is the variance of a mean of d_k terms. The score is their sum.",
                ),
                Option(
                    "d-minus-one",
                    lambda v, m, d: (d - 1) * v,
                    "In step 6 you multiplied by d_k − 1. Nothing is estimated from a sample here: d_k terms add up.",
                ),
                Option(
                    "d-only",
                    lambda v, m, d: d,
                    "Step 6 is d_k whatever step 4 is. Each of the d_k terms has the variance of step 4.",
                ),
            ),
        ),
    ),
    _build,
)


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
                -abs(some_signed(rng)),
                some_positive(rng),
                abs(some_signed(rng)),
                some_positive(rng),
                some_size(rng),
            ),
            says="All four numbers of the proof differ here.",
        ),
        Case(
            "the query is a constant",
            lambda rng: (
                abs(some_signed(rng)),
                0.0,
                -abs(some_signed(rng)),
                some_positive(rng),
                some_size(rng),
            ),
            says="A constant q only multiplies k: the variance is q²·Var(k).",
        ),
        Case(
            "only the key's mean is not 0",
            lambda rng: (0.0, some_positive(rng), some_signed(rng), some_positive(rng), some_size(rng)),
            says="A mean in k alone lets q's variance through.",
        ),
        Case(
            "one component that hardly varies",
            lambda rng: (0.0, 1e-4 * some_positive(rng), 0.0, 1e-5 * some_positive(rng), 1),
            says="With d_k = 1 steps 4 and 6 are equal; small variances multiply to a tiny one.",
        ),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer(
            "means-ignored",
            lambda mq, vq, mk, vk, d: (0.0, vq * vk, vq * vk, d * vq * vk),
            "You took every mean as 0. The steps are asked for with any means: E[q²] = Var(q) + E[q]².",
            ("What is E[q²] when q is the constant 3?",),
        ),
        WrongAnswer(
            "variance-is-product-of-variances",
            lambda mq, vq, mk, vk, d: (mq * mk, (vq + mq**2) * (vk + mk**2), vq * vk, d * vq * vk),
            "Step 4 is not Var(q)·Var(k): that is so only for means 0. Subtract step 2 squared from step 3.",
        ),
        WrongAnswer(
            "variances-added",
            lambda mq, vq, mk, vk, d: (mq * mk, (vq + mq**2) * (vk + mk**2), vq + vk, d * (vq + vk)),
            "In step 4 you added the variances: that is the variance of q + k, not of q·k.",
        ),
        WrongAnswer(
            "every-step-for-the-whole-score",
            lambda mq, vq, mk, vk, d: (
                m := d * mq * mk,
                e := d * (vq + mq**2) * (vk + mk**2),
                e - m**2,
                e - m**2,
            ),
            "You multiplied by d_k from the start. Steps 2, 3 and 4 are about ONE product; d_k of them come together "
            "only in step 6.",
        ),
        WrongAnswer(
            "standard-deviations-in-steps-4-and-6",
            lambda mq, vq, mk, vk, d: (
                *(head := variance_proof(mq, vq, mk, vk, d))[:2],
                np.sqrt(head[2]),
                np.sqrt(head[3]),
            ),
            "Steps 4 and 6 are standard deviations. The variances are their squares.",
        ),
        WrongAnswer(
            "step-1-in-front",
            lambda mq, vq, mk, vk, d: (vq + mq**2, *variance_proof(mq, vq, mk, vk, d)),
            "There is a number too many in front: E[q²], the lesson's step 1. The tuple begins with step 2.",
        ),
        WrongAnswer(
            "steps-2-and-3-swapped",
            lambda mq, vq, mk, vk, d: (
                (four := variance_proof(mq, vq, mk, vk, d))[1],
                four[0],
                *four[2:],
            ),
            "Steps 2 and 3 have changed places: the mean comes first, then the mean square.",
        ),
        WrongAnswer(
            "list-not-tuple",
            lambda mq, vq, mk, vk, d: list(variance_proof(mq, vq, mk, vk, d)),
            "The four numbers come in a list or an array. Return them as a tuple: `return a, b, c, d`, without brackets.",
        ),
        WrongAnswer(
            "last-step-only",
            lambda mq, vq, mk, vk, d: variance_proof(mq, vq, mk, vk, d)[-1],
            "You returned the last number alone. All four steps are asked for, as a tuple.",
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
        "Which of the four numbers is wrong? The check counts the parts from 0: parts 0, 1, 2, 3 are steps 2, 3, 4, 6.",
        "Independence turns E[q²k²] into E[q²]·E[k²], and E[q²] is Var(q) + E[q]².",
        "`mean_square = (var_q + mean_q**2) * (var_k + mean_k**2)`; `variance = mean_square - mean**2`.",
    ),
)
