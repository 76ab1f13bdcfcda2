"""Lesson 02, exercise `score_variance`: the variance of a score."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.variance_proof.exercises.shared import some_positive, some_signed, some_size

PROMPT = r"""`score_variance(d_k, var_q=1.0, var_k=1.0, mean_q=0.0, mean_k=0.0)`: the exact variance of $q\cdot k$ when all coordinates are independent.

- `d_k`: an `int`, the number of coordinates.
- `var_q`, `var_k`, `mean_q`, `mean_k`: variance and mean of every coordinate of the query and of the key. Note the order, and the defaults.
- Returns one number. Nothing is sampled.

Examples: {example:1}. {example:2}. {example:3}.
"""


def score_variance(d_k, var_q=1.0, var_k=1.0, mean_q=0.0, mean_k=0.0):
    """Exact Var(q.k) of d_k independent coordinates -> one number."""
    mean_square = (var_q + mean_q**2) * (var_k + mean_k**2)
    return d_k * (mean_square - (mean_q * mean_k) ** 2)


def _variance_by_enumeration(d_k, var_q=1.0, var_k=1.0, mean_q=0.0, mean_k=0.0):
    q = mean_q + np.sqrt(var_q) * np.array([-1, 1])
    k = mean_k + np.sqrt(var_k) * np.array([-1, 1])
    return d_k * np.outer(q, k).var()


def _score_variance_form(form):
    """A function with the defaults of score_variance that answers with `form`."""
    return lambda d, vq=1.0, vk=1.0, mq=0.0, mk=0.0: form(d, vq, vk, mq, mk)


def _full(vq, vk, mq, mk):
    return vq * vk + vq * mk**2 + vk * mq**2


def _build(count, product, order, end):
    def answer(d_k, *given):
        vq, vk, mq, mk = order(*given, *(1.0, 1.0, 0.0, 0.0)[len(given) :])
        return end(count(d_k) * product(vq, vk, mq, mk))

    return answer


_WHOLE = "The decimals are lost. A variance is a real number."

MISTAKES = Products(
    (
        Factor(
            "count",
            lambda d: d,
            (
                Option("square-root-of-d", lambda d: d**0.5),
                Option("d-squared", lambda d: d**2),
                Option("one-coordinate-only", lambda d: 1),
                Option("d-minus-one", lambda d: d - 1),
                Option("d-plus-one", lambda d: d + 1, "You added up d_k + 1 terms: there are d_k of them."),
                Option(
                    "divided-by-d",
                    lambda d: 1 / d,
                    "You divided by d_k. A sum of d_k terms varies d_k times as much.",
                ),
                Option(
                    "twice",
                    lambda d: 2 * d,
                    "The result is twice the right one: every coordinate counts once.",
                ),
            ),
        ),
        Factor(
            "product",
            _full,
            (
                Option("means-ignored", lambda vq, vk, mq, mk: vq * vk),
                Option("mean-square-not-variance", lambda vq, vk, mq, mk: (vq + mq**2) * (vk + mk**2)),
                Option(
                    "mean-subtracted-unsquared", lambda vq, vk, mq, mk: (vq + mq**2) * (vk + mk**2) - mq * mk
                ),
                Option("variances-added", lambda vq, vk, mq, mk: vq + vk),
                Option(
                    "variances-and-squared-means-added",
                    lambda vq, vk, mq, mk: vq + vk + mq**2 + mk**2,
                    "Everything is added up. For a product the mean squares are multiplied: E[q²k²] = E[q²]·E[k²].",
                ),
                Option("taken-for-standard-deviations", lambda vq, vk, mq, mk: _full(vq**2, vk**2, mq, mk)),
                Option(
                    "square-roots-of-the-variances",
                    lambda vq, vk, mq, mk: _full(vq**0.5, vk**0.5, mq, mk),
                    "You took square roots of the variances first. A variance is a mean square already.",
                ),
                Option("means-not-squared", lambda vq, vk, mq, mk: vq * vk + vq * mk + vk * mq),
                Option(
                    "means-on-their-own-variances", lambda vq, vk, mq, mk: vq * vk + vq * mq**2 + vk * mk**2
                ),
                Option("mean-of-q-forgotten", lambda vq, vk, mq, mk: vq * vk + vq * mk**2),
                Option("mean-of-k-forgotten", lambda vq, vk, mq, mk: vq * vk + vk * mq**2),
                Option("first-order-only", lambda vq, vk, mq, mk: vq * mk**2 + vk * mq**2),
                Option(
                    "squared-mean-added",
                    lambda vq, vk, mq, mk: (vq + mq**2) * (vk + mk**2) + (mq * mk) ** 2,
                    "You added the squared mean of a product to its mean square. It has to be subtracted.",
                ),
                Option(
                    "order-of-the-difference",
                    lambda vq, vk, mq, mk: (mq * mk) ** 2 - (vq + mq**2) * (vk + mk**2),
                    "The sign is wrong: the mean square minus the squared mean, not the other way round.",
                ),
                Option(
                    "mean-squares-added",
                    lambda vq, vk, mq, mk: vq + mq**2 + vk + mk**2 - (mq * mk) ** 2,
                    "You added the two mean squares. Independence makes a product of them: E[q²]·E[k²].",
                ),
                Option(
                    "mean-not-squared-in-the-mean-square",
                    lambda vq, vk, mq, mk: (vq + mq) * (vk + mk) - (mq * mk) ** 2,
                    "In the mean squares the means are added as they are. E[q²] = Var(q) + E[q]²: squared.",
                ),
                Option(
                    "mean-subtracted-in-the-mean-square",
                    lambda vq, vk, mq, mk: (vq - mq**2) * (vk - mk**2) - (mq * mk) ** 2,
                    "Var(q) = E[q²] − E[q]², so E[q²] = Var(q) PLUS E[q]². You took it away.",
                ),
                Option(
                    "product-of-squared-means-added",
                    lambda vq, vk, mq, mk: vq * vk + mq**2 * mk**2,
                    "You added the product of the squared means to the product of the variances. What the means let "
                    "through are the cross terms Var(q)·E[k]² and Var(k)·E[q]².",
                ),
                Option(
                    "squared-means-added",
                    lambda vq, vk, mq, mk: vq * vk + mq**2 + mk**2,
                    "You added the squared means alone. Each of them multiplies the OTHER factor's variance.",
                ),
                Option(
                    "means-subtracted-inside",
                    lambda vq, vk, mq, mk: (vq - mq**2) * (vk - mk**2),
                    "Var(q) = E[q²] − E[q]², so E[q²] is Var(q) PLUS E[q]²; and at the end the squared mean of the "
                    "product has to be subtracted.",
                ),
                Option(
                    "squared-mean-subtracted-twice",
                    lambda vq, vk, mq, mk: _full(vq, vk, mq, mk) - (mq * mk) ** 2,
                    "The squared mean is taken away twice. Once is right.",
                ),
                Option(
                    "fourth-moments-of-a-bell-curve",
                    lambda vq, vk, mq, mk: 3 * vq * vk + vq * mk**2 + vk * mq**2,
                    "There is a 3, as in the fourth moment of a bell curve. q_i and k_i are two variables: only their "
                    "second moments occur.",
                ),
            ),
        ),
        Factor(
            "order",
            lambda vq, vk, mq, mk: (vq, vk, mq, mk),
            (
                Option(
                    "query-only",
                    lambda vq, vk, mq, mk: (vq, vq, mq, mq),
                    "The moments of the query are used for both. The key has its own.",
                ),
                Option(
                    "key-only",
                    lambda vq, vk, mq, mk: (vk, vk, mk, mk),
                    "The moments of the key are used for both. The query has its own.",
                ),
            ),
        ),
        Factor(
            "end",
            lambda v: v,
            (
                Option("standard-deviation", np.sqrt),
                Option("variance-squared", lambda v: v * v, "This is the square of the variance."),
                Option("whole-numbers", np.trunc, _WHOLE),
                Option("whole-numbers", np.rint, _WHOLE),
                *(
                    Option(
                        "rounded",
                        lambda v, n=n: np.round(v, n),
                        "The variance is rounded. Return it as it comes.",
                    )
                    for n in (2, 1, 3, 4, 5, 6)
                ),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="score_variance",
    lesson="02_variance_proof",
    title="The variance of a score",
    prompt=PROMPT,
    examples=(
        Example((5,), form="call", points=0.0),
        Example((5, 2.0, 3.0), form="call"),
        Example((5,), (("mean_q", 1.0), ("mean_k", 1.0)), form="call"),
    ),
    section="2. The proof, in seven steps",
    difficulty=2,
    minutes=10,
    reference=score_variance,
    cases=(
        Case(
            "only d_k given",
            lambda rng: (some_size(rng, high=500),),
            says="With the defaults, means 0 and variances 1, the variance is d_k.",
        ),
        Case(
            "other variances", lambda rng: (some_size(rng), some_positive(rng), some_positive(rng)), points=2
        ),
        Case(
            "one mean is not 0",
            lambda rng: (some_size(rng), some_positive(rng), some_positive(rng), some_signed(rng)),
            says="A mean in q alone lets k's variance through.",
        ),
        Case(
            "both means are not 0",
            lambda rng: (
                some_size(rng),
                some_positive(rng),
                some_positive(rng),
                some_signed(rng),
                some_signed(rng),
            ),
        ),
        Case(
            "the query is a constant",
            lambda rng: (some_size(rng), 0.0, some_positive(rng), some_signed(rng), some_signed(rng)),
            says="A constant query has variance 0; the score still varies, with k.",
        ),
        Case(
            "only the key's mean is not 0",
            lambda rng: (some_size(rng), some_positive(rng), some_positive(rng), 0.0, some_signed(rng)),
            says="A mean in k alone lets q's variance through.",
        ),
        Case(
            "one coordinate that hardly varies",
            lambda rng: (1, 1e-4 * some_positive(rng), 1e-5 * some_positive(rng)),
            says="With d_k = 1 the score is one product; small variances multiply to a tiny one.",
        ),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer(
            "means-ignored",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * vq * vk),
            "d_k·Var(q)·Var(k) is right only for means 0. A mean in one factor lets the other's variance through.",
            ("What varies when q is the constant 3 and k varies?",),
        ),
        WrongAnswer(
            "arguments-ignored",
            _score_variance_form(lambda d, vq, vk, mq, mk: d),
            "You returned d_k whatever the variances and means are. That is the standard case alone.",
        ),
        WrongAnswer(
            "standard-deviation",
            _score_variance_form(lambda d, vq, vk, mq, mk: np.sqrt(d * _full(vq, vk, mq, mk))),
            "This is the standard deviation. The variance is its square: leave the square root out.",
        ),
        WrongAnswer(
            "square-root-of-d",
            _score_variance_form(lambda d, vq, vk, mq, mk: np.sqrt(d) * _full(vq, vk, mq, mk)),
            "You multiplied by √d_k. The standard deviation grows like √d_k, the variance like d_k.",
        ),
        WrongAnswer(
            "d-squared",
            _score_variance_form(lambda d, vq, vk, mq, mk: d**2 * _full(vq, vk, mq, mk)),
            "You multiplied by d_k². That is right for d_k copies of ONE term; independent ones add up.",
        ),
        WrongAnswer(
            "one-coordinate-only",
            _score_variance_form(lambda d, vq, vk, mq, mk: _full(vq, vk, mq, mk)),
            "This is the variance of one product, or of the scaled score. q·k is a sum of d_k products.",
        ),
        WrongAnswer(
            "mean-square-not-variance",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * (vq + mq**2) * (vk + mk**2)),
            "You added up the mean squares of the products. From each one, the squared mean has to be subtracted.",
        ),
        WrongAnswer(
            "mean-square-of-the-score",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * _full(vq, vk, mq, mk) + (d * mq * mk) ** 2),
            "This is E[(q·k)²]. The variance is without the squared mean, (d_k·E[q]·E[k])².",
        ),
        WrongAnswer(
            "whole-mean-subtracted",
            _score_variance_form(
                lambda d, vq, vk, mq, mk: d * (vq + mq**2) * (vk + mk**2) - (d * mq * mk) ** 2
            ),
            "You subtracted the squared mean of the whole score from a sum of mean squares of single products. Take "
            "the variance of one product first, then multiply by d_k.",
        ),
        WrongAnswer(
            "mean-subtracted-unsquared",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * ((vq + mq**2) * (vk + mk**2) - mq * mk)),
            "You subtracted the mean of a product; its square has to be subtracted.",
        ),
        WrongAnswer(
            "variances-added",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * (vq + vk)),
            "You added the variances: that is for q + k. Here the coordinates are multiplied.",
        ),
        WrongAnswer(
            "taken-for-standard-deviations",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * _full(vq**2, vk**2, mq, mk)),
            "You squared the variances, as if they were standard deviations.",
        ),
        WrongAnswer(
            "means-not-squared",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * (vq * vk + vq * mk + vk * mq)),
            "The means come in squared: E[q²] = Var(q) + E[q]².",
        ),
        WrongAnswer(
            "means-on-their-own-variances",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * (vq * vk + vq * mq**2 + vk * mk**2)),
            "The cross terms are the wrong way round: the mean of q lets the variance of K through, not its own.",
        ),
        WrongAnswer(
            "mean-of-q-forgotten",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * (vq * vk + vq * mk**2)),
            "One term is missing: Var(k)·E[q]².",
        ),
        WrongAnswer(
            "mean-of-k-forgotten",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * (vq * vk + vk * mq**2)),
            "One term is missing: Var(q)·E[k]².",
        ),
        WrongAnswer(
            "first-order-only",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * (vq * mk**2 + vk * mq**2)),
            "The term Var(q)·Var(k) is missing. Error propagation drops it as small; here, with means 0, it is all "
            "there is.",
        ),
        WrongAnswer(
            "the-mean-not-the-variance",
            _score_variance_form(lambda d, vq, vk, mq, mk: d * mq * mk),
            "This is the mean of the score, d_k·E[q]·E[k]. Return its variance.",
        ),
        WrongAnswer(
            "d-minus-one",
            _score_variance_form(lambda d, vq, vk, mq, mk: (d - 1) * _full(vq, vk, mq, mk)),
            "You multiplied by d_k − 1. Nothing is estimated from a sample here: d_k terms add up.",
        ),
        WrongAnswer(
            "arguments-by-vector",
            lambda d, mq=0.0, vq=1.0, mk=0.0, vk=1.0: d * _full(vq, vk, mq, mk),
            "Your arguments are in another order: after d_k come var_q and var_k, then mean_q and mean_k.",
        ),
        WrongAnswer(
            "variance-then-mean-of-each",
            lambda d, vq=1.0, mq=0.0, vk=1.0, mk=0.0: d * _full(vq, vk, mq, mk),
            "Your arguments are in another order: after d_k come var_q and var_k, then mean_q and mean_k.",
        ),
        WrongAnswer(
            "means-before-variances",
            lambda d, mq=0.0, mk=0.0, vq=1.0, vk=1.0: d * _full(vq, vk, mq, mk),
            "Your arguments are in another order: after d_k come var_q and var_k, then mean_q and mean_k.",
        ),
    ),
    also_right=(
        _score_variance_form(lambda d, vq, vk, mq, mk: d * (vq * vk + vq * mk**2 + vk * mq**2)),
        lambda d_k, var_q=1.0, var_k=1.0, mean_q=0.0, mean_k=0.0: float(
            sum((var_q + mean_q**2) * (var_k + mean_k**2) - mean_q**2 * mean_k**2 for _ in range(d_k))
        ),
        _variance_by_enumeration,
    ),
    hints=(
        "Take one product q_i·k_i first. What are its mean and its mean square?",
        "Var = E[x²] − E[x]² for x = q_i·k_i, and E[q²k²] = E[q²]·E[k²]. Then d_k such terms add up.",
        "`square = (var_q + mean_q**2) * (var_k + mean_k**2)` is the mean square of one product. What turns it into a "
        "variance, and how many products are there?",
    ),
    invariants=(
        Invariant(
            "negative-variance",
            "A variance can't be negative.",
            lambda inputs, v: bool(v >= 0),
        ),
    ),
)
