"""Exercises of lesson 02: the variance of a score, proved and computed; the scale, applied, folded, detected."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer, read_only, redraw, strided

LESSON = "02_variance_proof"

_NO_SHORTCUT = (
    "torch.nn.functional.scaled_dot_product_attention",
    "sdpa_helpers.scaled_dot_product_attention",
)


def _size(rng, low=5, high=40):
    """A number of coordinates that has no meaning elsewhere: not 8, not 64, not a square."""
    return int(rng.choice([n for n in range(low, high) if n != 8 and round(n**0.5) ** 2 != n]))


def _positive(rng):
    return float(rng.uniform(0.3, 3.0))


def _signed(rng):
    return float(rng.choice([-1, 1]) * rng.uniform(0.4, 2.5))


def _softmax(x, axis: int | None = -1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# ---- variance_proof -------------------------------------------------------------------------------------


def variance_proof(mean_q, var_q, mean_k, var_k, d_k):
    """The proof as numbers: E[q_i k_i], E[(q_i k_i)^2], Var(q_i k_i), Var(q.k) for independent components."""
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


VARIANCE_PROOF = Exercise(
    name="variance_proof",
    lesson=LESSON,
    title="The proof, step by step",
    section="2. The proof, in seven steps",
    difficulty=3,
    minutes=15,
    reference=variance_proof,
    cases=(
        Case(
            "means 0, variances 1",
            lambda rng: (0.0, 1.0, 0.0, 1.0, _size(rng)),
            says="The textbook case: the four numbers are 0, 1, 1, d_k.",
        ),
        Case("means 0, other variances", lambda rng: (0.0, _positive(rng), 0.0, _positive(rng), _size(rng))),
        Case(
            "one mean is not 0",
            lambda rng: (_signed(rng), _positive(rng), 0.0, _positive(rng), _size(rng)),
            says="A mean in q alone lets k's variance through.",
        ),
        Case(
            "both means are not 0",
            lambda rng: (_signed(rng), _positive(rng), _signed(rng), _positive(rng), _size(rng)),
            says="All four numbers of the proof differ here.",
        ),
        Case(
            "the query is a constant",
            lambda rng: (_signed(rng), 0.0, _signed(rng), _positive(rng), _size(rng)),
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


# ---- score_variance -------------------------------------------------------------------------------------


def score_variance(d_k, var_q=1.0, var_k=1.0, mean_q=0.0, mean_k=0.0):
    """Exact Var(q.k) of d_k independent components with these variances and means."""
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


SCORE_VARIANCE = Exercise(
    name="score_variance",
    lesson=LESSON,
    title="The variance of a score",
    section="2. The proof, in seven steps",
    difficulty=2,
    minutes=10,
    reference=score_variance,
    cases=(
        Case(
            "only d_k given",
            lambda rng: (_size(rng),),
            says="With the defaults, means 0 and variances 1, the variance is d_k.",
        ),
        Case("other variances", lambda rng: (_size(rng), _positive(rng), _positive(rng))),
        Case(
            "one mean is not 0",
            lambda rng: (_size(rng), _positive(rng), _positive(rng), _signed(rng)),
            says="A mean in q alone lets k's variance through.",
        ),
        Case(
            "both means are not 0",
            lambda rng: (_size(rng), _positive(rng), _positive(rng), _signed(rng), _signed(rng)),
        ),
        Case(
            "the query is a constant",
            lambda rng: (_size(rng), 0.0, _positive(rng), _signed(rng), _signed(rng)),
            says="A constant query has variance 0; the score still varies, with k.",
        ),
    ),
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
            "You added the variances: that is for q + k. Here the components are multiplied.",
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
            "This is the mean of the score, d_k·E[q]·E[k]. Its variance is asked for.",
        ),
        WrongAnswer(
            "d-minus-one",
            _score_variance_form(lambda d, vq, vk, mq, mk: (d - 1) * _full(vq, vk, mq, mk)),
            "You multiplied by d_k − 1. Nothing is estimated from a sample here: d_k terms add up.",
        ),
        WrongAnswer(
            "means-before-variances",
            lambda d, mq=0.0, mk=0.0, vq=1.0, vk=1.0: d * _full(vq, vk, mq, mk),
            "Your arguments are in another order: after d_k come var_q and var_k, then mean_q and mean_k.",
        ),
        WrongAnswer(
            "whole-numbers",
            _score_variance_form(lambda d, vq, vk, mq, mk: int(d * _full(vq, vk, mq, mk))),
            "You cut the decimals off. A variance is a real number.",
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
        "`d_k * ((var_q + mean_q**2) * (var_k + mean_k**2) - (mean_q * mean_k)**2)`.",
    ),
    invariants=(
        Invariant(
            "negative-variance",
            "A variance can't be negative.",
            lambda inputs, v: bool(v >= 0),
        ),
    ),
)


# ---- scaled_scores --------------------------------------------------------------------------------------


def scaled_scores(Q, K):
    """Q K^T / sqrt(d_k): (..., n_q, d_k), (..., n_k, d_k) -> (..., n_q, n_k)."""
    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5


def _raw(Q, K):
    return Q @ np.swapaxes(K, -1, -2)


def _scaled_by_loops(Q, K):
    out = np.empty((*Q.shape[:-1], K.shape[-2]), dtype=Q.dtype)
    for i in range(Q.shape[-2]):
        for j in range(K.shape[-2]):
            out[..., i, j] = np.sum(Q[..., i, :] * K[..., j, :], axis=-1) / Q.shape[-1] ** 0.5
    return out


def _scaled_changing_inputs(Q, K):
    Q /= Q.shape[-1] ** 0.5
    return Q @ np.swapaxes(K, -1, -2)


def _unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def _pairs(rng, n_q, n_k, d_k, *batch, dtype: type = np.float64):
    Q, K = rng.normal(size=(*batch, n_q, d_k)), rng.normal(size=(*batch, n_k, d_k))
    return Q.astype(dtype), K.astype(dtype)


def _read_only_strided(array):
    view = strided(array)
    view.flags.writeable = False
    return view


SCALED_SCORES = Exercise(
    name="scaled_scores",
    lesson=LESSON,
    title="Scaled scores",
    section="6. Four scales, side by side",
    difficulty=2,
    minutes=10,
    reference=scaled_scores,
    cases=(
        Case("three queries, five keys", lambda rng: _pairs(rng, 3, 5, 7)),
        Case(
            "five of everything",
            lambda rng: _pairs(rng, 5, 5, 5),
            says="Square matrices hide a missing transpose and a wrong axis.",
        ),
        Case("a batch of six", lambda rng: _pairs(rng, 3, 5, 10, 6)),
        Case("batch and heads", lambda rng: _pairs(rng, 5, 7, 11, 2, 3)),
        Case(
            "read-only, strided and large",
            lambda rng: tuple(_read_only_strided(x * 200) for x in _pairs(rng, 6, 3, 13, 2)),
        ),
        Case(
            "float32",
            lambda rng: _pairs(rng, 2, 3, 6, 4, dtype=np.float32),
            says="float32 in: at least float32 out.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "no-scaling",
            _raw,
            "These are the raw scores QKᵀ: the division by √d_k is missing.",
            ("By how much does each number differ from the right one?",),
        ),
        WrongAnswer(
            "divided-by-d",
            lambda Q, K: _raw(Q, K) / Q.shape[-1],
            "You divided by d_k, or by √d_k twice (once in Q, once in the scores). Divide by √d_k once.",
        ),
        WrongAnswer(
            "multiplied-by-root-d",
            lambda Q, K: _raw(Q, K) * Q.shape[-1] ** 0.5,
            "You multiplied by √d_k: the fraction bar got lost. Divide.",
        ),
        WrongAnswer(
            "root-of-number-of-keys",
            lambda Q, K: _raw(Q, K) / K.shape[-2] ** 0.5,
            "You divided by √n_k, the square root of the number of keys. d_k is the length of ONE key: the last axis.",
        ),
        WrongAnswer(
            "root-of-number-of-queries",
            lambda Q, K: _raw(Q, K) / Q.shape[-2] ** 0.5,
            "You divided by √n_q, the sequence length. d_k is the length of ONE query: the last axis.",
        ),
        WrongAnswer(
            "root-of-first-axis",
            lambda Q, K: _raw(Q, K) / len(Q) ** 0.5,
            "You divided by the square root of the FIRST axis, which `len(Q)` and `Q.shape[0]` give. d_k is the last.",
        ),
        WrongAnswer(
            "root-of-second-axis",
            lambda Q, K: _raw(Q, K) / Q.shape[1] ** 0.5,
            "You divided by the square root of axis 1. That is d_k only for two axes; `shape[-1]` is right for any.",
        ),
        WrongAnswer(
            "root-of-first-axis-of-keys",
            lambda Q, K: _raw(Q, K) / len(K) ** 0.5,
            "You divided by the square root of K's FIRST axis, which `len(K)` and `K.shape[0]` give. d_k is the last.",
        ),
        WrongAnswer(
            "root-of-second-axis-of-keys",
            lambda Q, K: _raw(Q, K) / K.shape[1] ** 0.5,
            "You divided by the square root of K's axis 1. That is d_k for two axes only; `shape[-1]` always is.",
        ),
        WrongAnswer(
            "root-of-model-width",
            lambda Q, K: _raw(Q, K) / (Q.shape[-1] * (Q.shape[-3] if Q.ndim > 2 else 1)) ** 0.5,
            "You divided by the square root of d_k times the number of heads, the model's width. The sum that became "
            "too large has d_k terms: the width of one head.",
        ),
        WrongAnswer(
            "root-of-size",
            lambda Q, K: _raw(Q, K) / Q.size**0.5,
            "You divided by the square root of ALL numbers in Q. Only the length of one query counts.",
        ),
        WrongAnswer(
            "fourth-root-once",
            lambda Q, K: _raw(Q, K) / Q.shape[-1] ** 0.25,
            "You divided by the fourth root of d_k. That is right in Q AND in K; once alone it is half the work.",
        ),
        WrongAnswer(
            "root-of-two-d",
            lambda Q, K: _raw(Q, K) / (2 * Q.shape[-1]) ** 0.5,
            "You divided by √(2d_k). Only the d_k products of one score are added up.",
        ),
        WrongAnswer(
            "always-eight",
            lambda Q, K: _raw(Q, K) / 8,
            "You divided by 8, which is √64. Here d_k is another number: read it off the shape.",
        ),
        WrongAnswer(
            "rounded-root",
            lambda Q, K: _raw(Q, K) // Q.shape[-1] ** 0.5,
            "`//` rounds down. Scores are real numbers: use `/`.",
        ),
        WrongAnswer(
            "root-cut-to-integer",
            lambda Q, K: _raw(Q, K) / int(Q.shape[-1] ** 0.5),
            "The square root was cut to a whole number: √d_k is rarely whole.",
        ),
        WrongAnswer(
            "logarithm-for-root",
            lambda Q, K: _raw(Q, K) / np.log(Q.shape[-1]),
            "You divided by log d_k. The standard deviation grows like the square root.",
        ),
        WrongAnswer(
            "divided-by-measured-spread",
            lambda Q, K: _raw(Q, K) / _raw(Q, K).std(),
            "You divided by the standard deviation of these scores. The scale depends on d_k only, not on the data.",
        ),
        WrongAnswer(
            "divided-by-maximum",
            lambda Q, K: _raw(Q, K) / _raw(Q, K).max(axis=-1, keepdims=True),
            "You divided each row by its maximum. A negative maximum turns the order round; divide by √d_k.",
        ),
        WrongAnswer(
            "cosine-not-scaled-dot",
            lambda Q, K: _raw(_unit(Q), _unit(K)),
            "These are cosines: you divided by the lengths ‖q‖‖k‖ of the vectors. d_k is the number of coordinates.",
        ),
        WrongAnswer(
            "divided-by-length-of-key",
            lambda Q, K: _raw(Q, _unit(K)),
            "You divided by ‖k‖, how long each key is. d_k counts its coordinates.",
        ),
        WrongAnswer(
            "softmax-already",
            lambda Q, K: _softmax(_raw(Q, K) / Q.shape[-1] ** 0.5),
            "The scale is right, but you went on to the softmax. The scaled scores are asked for.",
        ),
        WrongAnswer(
            "softmax-then-scaled",
            lambda Q, K: _softmax(_raw(Q, K)) / Q.shape[-1] ** 0.5,
            "You applied softmax and then divided its weights. No softmax here; and the scale belongs before it.",
        ),
        WrongAnswer(
            "queries-and-keys-swapped",
            lambda Q, K: _raw(K, Q) / Q.shape[-1] ** 0.5,
            "Queries and keys are swapped: rows must belong to queries and columns to keys.",
        ),
        WrongAnswer(
            "queries-with-queries",
            lambda Q, K: _raw(Q, Q) / Q.shape[-1] ** 0.5,
            "You scored the queries against themselves: K never comes in.",
        ),
        WrongAnswer(
            "not-transposed",
            lambda Q, K: Q @ K / Q.shape[-1] ** 0.5,
            "K is not transposed: its rows have to become columns, so that row i of Q meets key j.",
        ),
        WrongAnswer(
            "reshaped-not-transposed",
            lambda Q, K: Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]) / Q.shape[-1] ** 0.5,
            "You reshaped K where it has to be transposed: the keys are torn apart.",
        ),
        WrongAnswer(
            "all-axes-transposed",
            lambda Q, K: Q @ K.T / Q.shape[-1] ** 0.5,
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
        ),
        WrongAnswer(
            "only-two-axes",
            lambda Q, K: np.einsum("id,jd->ij", Q, K) / Q.shape[-1] ** 0.5,
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum.",
        ),
        WrongAnswer(
            "half-precision",
            lambda Q, K: (
                _raw(Q.astype(np.float16), K.astype(np.float16)).astype(Q.dtype) / Q.shape[-1] ** 0.5
            ),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "single-precision",
            lambda Q, K: (
                _raw(Q.astype(np.float32), K.astype(np.float32)).astype(np.float64) / Q.shape[-1] ** 0.5
            ),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _scaled_changing_inputs,
            "Your function writes into the caller's Q. Make a new array instead of using `/=`.",
        ),
    ),
    also_right=(
        lambda Q, K: np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(Q.shape[-1]),
        lambda Q, K: (Q / Q.shape[-1] ** 0.5) @ np.swapaxes(K, -1, -2),
        lambda Q, K: Q @ np.swapaxes(K / np.sqrt(K.shape[-1]), -1, -2),
        lambda Q, K: (Q * Q.shape[-1] ** -0.25) @ np.swapaxes(K * K.shape[-1] ** -0.25, -1, -2),
        lambda Q, K: np.matmul(Q, np.matrix_transpose(K)) * Q.shape[-1] ** -0.5,
        _scaled_by_loops,
    ),
    hints=(
        "Lesson 01's scores, and one more operation. Which axis of Q is d_k, for any number of axes?",
        "The standard deviation of a sum of d_k independent terms is √d_k: divide the scores by that.",
        "`scores = Q @ np.swapaxes(K, -1, -2)`, then divide by `Q.shape[-1] ** 0.5`.",
    ),
    forbids=_NO_SHORTCUT,
)


# ---- scale_folded_into_query ----------------------------------------------------------------------------


def scale_folded_into_query(Q):
    """The Q' with Q' K^T = Q K^T / sqrt(d_k) for every K: (..., n_q, d_k) -> the same shape."""
    return Q / Q.shape[-1] ** 0.5


def _folded_in_place(Q):
    Q /= Q.shape[-1] ** 0.5
    return Q


SCALE_FOLDED_INTO_QUERY = Exercise(
    name="scale_folded_into_query",
    lesson=LESSON,
    title="The scale, folded into the query",
    difficulty=1,
    minutes=5,
    reference=scale_folded_into_query,
    cases=(
        Case("three queries", lambda rng: (rng.normal(size=(3, 5)),)),
        Case("a batch with heads", lambda rng: (rng.normal(size=(2, 3, 4, 7)),)),
        Case(
            "one query alone",
            lambda rng: (rng.normal(size=(11,)),),
            says="A single vector has one axis, d_k.",
        ),
        Case(
            "read-only, strided and large",
            lambda rng: (_read_only_strided(1000 * rng.normal(size=(4, 2, 6))),),
        ),
    ),
    wrong=(
        WrongAnswer("unchanged", lambda Q: Q + 0.0, "You returned Q as it came: no scale is in it."),
        WrongAnswer(
            "divided-by-d",
            lambda Q: Q / Q.shape[-1],
            "You divided by d_k. The scores are linear in Q, so Q has to be divided by what the scores are: √d_k.",
        ),
        WrongAnswer(
            "fourth-root",
            lambda Q: Q / Q.shape[-1] ** 0.25,
            "You divided by the fourth root of d_k. That is right if K is divided by it too; here K stays as it is.",
        ),
        WrongAnswer(
            "multiplied-by-root-d",
            lambda Q: Q * Q.shape[-1] ** 0.5,
            "You multiplied by √d_k; divide.",
        ),
        WrongAnswer(
            "root-of-number-of-queries",
            lambda Q: Q / Q.shape[-2] ** 0.5,
            "You divided by the square root of the number of queries. d_k is the last axis.",
        ),
        WrongAnswer(
            "root-of-first-axis",
            lambda Q: Q / len(Q) ** 0.5,
            "You divided by the square root of the FIRST axis. d_k is the last one.",
        ),
        WrongAnswer(
            "root-of-second-axis",
            lambda Q: Q / Q.shape[1] ** 0.5,
            "You divided by the square root of axis 1. That is d_k only for two axes; `shape[-1]` is right for any.",
        ),
        WrongAnswer(
            "root-of-size",
            lambda Q: Q / Q.size**0.5,
            "You divided by the square root of ALL numbers in Q. Only the length of one query counts.",
        ),
        WrongAnswer(
            "always-eight",
            lambda Q: Q / 8,
            "You divided by 8, which is √64. Here d_k is another number: read it off the shape.",
        ),
        WrongAnswer(
            "root-cut-to-integer",
            lambda Q: Q / int(Q.shape[-1] ** 0.5),
            "The square root was cut to a whole number: √d_k is rarely whole.",
        ),
        WrongAnswer(
            "unit-length",
            _unit,
            "You made every query one unit long. d_k counts coordinates; a query's length stays its own.",
        ),
        WrongAnswer(
            "divided-by-measured-spread",
            lambda Q: Q / Q.std(),
            "You divided by the measured standard deviation. The scale depends on d_k only, not on the numbers in Q.",
        ),
        WrongAnswer(
            "standardised",
            lambda Q: (Q - Q.mean(axis=-1, keepdims=True)) / Q.shape[-1] ** 0.5,
            "The scale is right, but you also subtracted the mean: that changes the scores.",
        ),
        WrongAnswer(
            "scores-with-itself",
            lambda Q: Q @ np.swapaxes(Q, -1, -2) / Q.shape[-1] ** 0.5 if Q.ndim > 1 else Q @ Q / Q.size**0.5,
            "You computed scores of Q with itself. Only the new Q is asked for, of the same shape as Q.",
        ),
        WrongAnswer(
            "root-of-the-entries",
            lambda Q: np.sqrt(np.abs(Q)),
            "You took the root of Q's entries. The root belongs to d_k, the number of coordinates.",
        ),
        WrongAnswer(
            "changes-its-input",
            _folded_in_place,
            "Your function writes into the caller's Q. Make a new array instead of using `/=`.",
        ),
    ),
    also_right=(
        lambda Q: Q * Q.shape[-1] ** -0.5,
        lambda Q: np.divide(Q, np.sqrt(Q.shape[-1])),
        lambda Q: Q @ (np.eye(Q.shape[-1]) / np.sqrt(Q.shape[-1])),
        lambda Q: Q / Q.shape[-1] ** 0.25 / Q.shape[-1] ** 0.25,
    ),
    hints=(
        "Q' must give the scaled scores for EVERY K. Try a K whose only key is e₁.",
        "(cQ)Kᵀ = c(QKᵀ): a number can move from the scores into Q.",
        "`Q / Q.shape[-1] ** 0.5`, as a new array.",
    ),
    invariants=(
        Invariant(
            "direction-changed",
            "The new queries don't point where the old ones do: only one number may be multiplied in.",
            lambda inputs, out: bool(
                np.allclose(
                    np.sum(inputs[0] * out, axis=-1),
                    np.linalg.norm(inputs[0], axis=-1) * np.linalg.norm(out, axis=-1),
                )
            ),
        ),
    ),
)


# ---- correlated_mean_and_variance -----------------------------------------------------------------------


def correlated_mean_and_variance(d_k, rho):
    """Mean and variance of q.k when each k_i = rho q_i + sqrt(1 - rho^2) e_i, with q_i and e_i standard normal."""
    return d_k * rho, d_k * (1 + rho**2)


def _correlated_from_moments(d_k, rho):
    """Build it from k = rho q + noise: E[q^4] = 3, E[q^2] = 1, and noise independent of q."""
    mean_square = rho**2 * 3 + (1 - rho**2) * 1
    return rho * d_k, (mean_square - rho**2) * d_k


def _correlated_by_diagonalising(d_k, rho):
    """q k = ((q + k)^2 - (q - k)^2) / 4, two independent squares of variance 2 (1 + rho) and 2 (1 - rho)."""
    plus, minus = 2 * (1 + rho), 2 * (1 - rho)
    return np.float64(d_k * (plus - minus) / 4), np.float64(d_k * (2 * plus**2 + 2 * minus**2) / 16)


CORRELATED = Exercise(
    name="correlated_mean_and_variance",
    lesson=LESSON,
    title="When queries go with keys",
    section="5. Break the assumptions, one at a time",
    difficulty=4,
    minutes=15,
    reference=correlated_mean_and_variance,
    cases=(
        Case("correlated", lambda rng: (_size(rng), float(rng.uniform(0.2, 0.8)))),
        Case(
            "correlated the other way",
            lambda rng: (_size(rng), float(rng.uniform(-0.8, -0.2))),
            says="A negative ρ: query and key point apart on average.",
        ),
        Case(
            "independent",
            lambda rng: (_size(rng), 0.0),
            says="With ρ = 0 the answer is the proof's: mean 0, variance d_k.",
        ),
        Case(
            "the same vector",
            lambda rng: (_size(rng), 1.0),
            says="With ρ = 1, k is q, and q·k is the squared length.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "correlation-ignored",
            lambda d, r: (0.0, float(d)),
            "This is the answer for independent q and k. With ρ, each q_i k_i has mean ρ.",
        ),
        WrongAnswer(
            "variance-unchanged",
            lambda d, r: (d * r, float(d)),
            "The mean is right. The variance of one product is E[q²k²] − ρ², and E[q²k²] is 1 + 2ρ², not 1 + ρ².",
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
            "The variance is right. The mean is that of one coordinate: d_k of them add up.",
        ),
        WrongAnswer(
            "scaled-already",
            lambda d, r: (np.sqrt(d) * r, 1 + r**2),
            "You divided the score by √d_k. Mean and variance of the raw score are asked for.",
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
            "You returned a list. Return two numbers: `return mean, variance`, without brackets.",
        ),
        WrongAnswer(
            "array-not-tuple",
            lambda d, r: np.array([d * r, d * (1 + r**2)]),
            "The numbers are right but come as an array. Return two numbers: `return mean, variance`.",
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


# ---- scale_that_was_used --------------------------------------------------------------------------------


def scale_that_was_used(q, K, weights):
    """The factor c in weights = softmax(c * K q): q (d_k,), K (n_k, d_k), weights (n_k,) -> one number."""
    scores = K @ q
    high, low = scores.argmax(), scores.argmin()
    return np.log(weights[high] / weights[low]) / (scores[high] - scores[low])


def _scale_by_least_squares(q, K, weights):
    scores, logs = K @ q, np.log(weights)
    centred = scores - scores.mean()
    return float(centred @ logs / (centred @ centred))


def _scale_by_line(q, K, weights):
    return np.polyfit(K @ q, np.log(weights), 1)[0]


def _weights_with(rng, n_k, d_k, scale):
    q, K = rng.normal(size=d_k), rng.normal(size=(n_k, d_k))
    K /= np.abs(K @ q).max() * scale / 3 if abs(scale) > 0.5 else 1.0  # keep every weight well above 0
    return q, K, _softmax(scale * (K @ q))


def _probe(rng):
    """The scale probe: the query e₁, the keys e₁ and 0, with 1/√d_k as it should be."""
    d = _size(rng)
    q, K = np.zeros(d), np.zeros((2, d))
    q[0] = K[0, 0] = 1.0
    return q, K, _softmax(K @ q / d**0.5)


def _first_two_tie(rng):
    d = _size(rng, 5, 12)
    q, K = rng.normal(size=d), rng.normal(size=(4, d))
    K[1] = K[0]
    return q, K, _softmax(K @ q / d**0.5)


SCALE_THAT_WAS_USED = Exercise(
    name="scale_that_was_used",
    lesson=LESSON,
    title="Which scale did they use?",
    section="8. Which scale did the code use?",
    difficulty=3,
    minutes=10,
    reference=scale_that_was_used,
    cases=(
        Case("the probe: e₁ against e₁ and 0", _probe, says="Raw scores 1 and 0: the scale is log(w₀/w₁)."),
        Case(
            "no scale at all",
            lambda rng: _weights_with(rng, 5, 7, 1.0),
            says="Somebody forgot it: the answer is 1.",
        ),
        Case(
            "any scale, read-only",
            lambda rng: tuple(read_only(x) for x in _weights_with(rng, 4, 6, float(rng.uniform(0.1, 0.4)))),
        ),
        Case(
            "a negative scale",
            lambda rng: _weights_with(rng, 3, 5, float(rng.uniform(-2, -0.6))),
            says="A sign error.",
        ),
        Case(
            "the first two keys are equal",
            _first_two_tie,
            says="A pair with equal scores tells nothing: 0/0.",
        ),
        Case(
            "multiplied instead of divided",
            lambda rng: _weights_with(rng, 6, d := _size(rng, 5, 12), d**0.5),
            says="The fraction bar got lost.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "the-scale-that-should-be",
            lambda q, K, w: q.size**-0.5,
            "You returned 1/√d_k, the scale that SHOULD be used. Read from the weights which one WAS used.",
        ),
        WrongAnswer(
            "the-temperature",
            lambda q, K, w: 1 / scale_that_was_used(q, K, w),
            "This is the number that the scores were divided by, the temperature. The factor is 1 over it.",
        ),
        WrongAnswer(
            "relative-to-the-right-one",
            lambda q, K, w: scale_that_was_used(q, K, w) * q.size**0.5,
            "You multiplied by √d_k: that is the scale in units of the right one. The factor itself is asked for.",
        ),
        WrongAnswer(
            "no-logarithm",
            lambda q, K, w: _slope(q, K, w, lambda high, low: high / low),
            "You used the ratio of two weights. It is e to the power c·(difference of scores): take its logarithm.",
        ),
        WrongAnswer(
            "difference-of-weights",
            lambda q, K, w: _slope(q, K, w, lambda high, low: high - low),
            "You took the difference of two weights. Weights are exponentials of scores: compare their logarithms.",
        ),
        WrongAnswer(
            "not-divided-by-scores",
            lambda q, K, w: np.log(w[(K @ q).argmax()] / w[(K @ q).argmin()]),
            "log(w_i/w_j) is c times the difference of the two scores. Divide by that difference.",
        ),
        WrongAnswer(
            "only-for-the-probe",
            lambda q, K, w: np.log(w[0] / w[1]),
            "log(w₀/w₁) is the scale only for the probe, whose raw scores differ by 1. In general divide by the "
            "difference of the two scores, and choose keys whose scores differ.",
        ),
        WrongAnswer(
            "first-two-keys",
            lambda q, K, w: np.log(w[0] / w[1]) / ((K[0] - K[1]) @ q),
            "You used keys 0 and 1. When their scores are equal that is 0/0: choose a pair that differs.",
        ),
        WrongAnswer(
            "distance-of-keys",
            lambda q, K, w: (
                np.log(w[(i := (K @ q).argmax())] / w[(j := (K @ q).argmin())]) / np.linalg.norm(K[i] - K[j])
            ),
            "You divided by the distance of two keys. What the softmax saw is their scores with q.",
        ),
        WrongAnswer(
            "one-weight-only",
            lambda q, K, w: np.log(w.max()) / (K @ q)[w.argmax()],
            "You used one weight. log w = c·s − log Σ: the unknown sum cancels only in a difference of two.",
        ),
        WrongAnswer(
            "cosine-for-score",
            lambda q, K, w: scale_that_was_used(_unit(q), K, w),
            "You made q one unit long first. The scores are with q as it is.",
        ),
        WrongAnswer(
            "base-two",
            lambda q, K, w: scale_that_was_used(q, K, w) / np.log(2),
            "You took the logarithm to base 2. Softmax uses e: take np.log.",
        ),
        WrongAnswer(
            "base-ten",
            lambda q, K, w: scale_that_was_used(q, K, w) / np.log(10),
            "You took the logarithm to base 10. Softmax uses e: take np.log.",
        ),
        WrongAnswer(
            "sign-turned",
            lambda q, K, w: -scale_that_was_used(q, K, w),
            "The sign is turned round: subtract scores and logarithms in the same order.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda q, K, w: abs(scale_that_was_used(q, K, w)),
            "You dropped the sign. A negative scale is a mistake worth finding.",
        ),
        WrongAnswer(
            "rounded",
            lambda q, K, w: round(float(scale_that_was_used(q, K, w)), 3),
            "You rounded. Return the number as it comes.",
        ),
    ),
    also_right=(
        _scale_by_least_squares,
        _scale_by_line,
        lambda q, K, w: np.log(w.max() / w.min()) / ((K[w.argmax()] - K[w.argmin()]) @ q),
    ),
    hints=(
        "Write down the weights of two keys. What do you divide by what to get rid of the sum in the denominator?",
        "log(w_i / w_j) = c·(s_i − s_j), for every pair of keys.",
        "Take the keys with the largest and the smallest score, so that the difference isn't 0.",
    ),
)


def _slope(q, K, weights, of):
    scores = K @ q
    high, low = scores.argmax(), scores.argmin()
    return of(weights[high], weights[low]) / (scores[high] - scores[low])


# ---- try_scales -----------------------------------------------------------------------------------------


def try_scales(Q, K, V, scales):
    """Attention's output for each scale, (m, n_q, d_v), and whether every two of them differ by more than 1e-6."""
    outputs = []
    for scale in scales:
        scores = scale * (Q @ K.T)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        outputs.append(weights @ V)
    outputs = np.stack(outputs)
    differ = all(np.abs(outputs[a] - outputs[b]).max() > 1e-6 for a in range(len(scales)) for b in range(a))
    return outputs, differ


def _outputs(Q, K, V, scales, scale=lambda c: c, weigh=_softmax):
    return np.stack([weigh(scale(c) * (Q @ K.T)) @ V for c in scales])


def _gaps(outputs):
    """The largest difference of every two outputs, (m, m)."""
    return np.abs(outputs[:, None] - outputs[None]).max(axis=(-1, -2))


def _all_differ(outputs):
    m = len(outputs)
    return bool((_gaps(outputs)[~np.eye(m, dtype=bool)] > 1e-6).all())


def _with_outputs(outputs_of):
    return lambda *inputs: (out := outputs_of(*inputs), _all_differ(out))


def _with_verdict(verdict):
    return lambda Q, K, V, scales: (out := _outputs(Q, K, V, scales), bool(verdict(out, Q, K, V, scales)))


def _blind_data(rng):
    """An article's exercise, with other numbers: two equal scores, one 0 (or reversed), values in arithmetic steps."""
    start, step = rng.uniform(-3, 3, size=2), rng.uniform(1, 3, size=2) * [1, -1]
    return (
        np.array([[1.0, 0.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        start + np.array([[0.0], [1.0], [2.0]]) * step,
    )


def _article(rng):
    """Scores 1, 0, 1: keys 0 and 2 share the rest evenly, and the middle value is their average."""
    return (*_blind_data(rng), np.array([2**-0.5, 1.0, 0.5, float(rng.uniform(2, 10))]))


def _mended(rng):
    Q, K, V = _blind_data(rng)
    V[2, 1] += rng.uniform(1, 4)
    return Q, K, V, np.array([2**-0.5, 1.0, 0.5])


def _wide(rng, scales):
    """Every value adds up to 0, and so does every output: who compares sums sees nothing."""
    V = rng.normal(size=(5, 4))
    V -= V.mean(axis=-1, keepdims=True)
    return rng.normal(size=(2, 3)), rng.normal(size=(5, 3)), V, np.array(scales)


def _one_query_sees(rng):
    Q, K, V = _blind_data(rng)
    return np.vstack([Q, [[0.3, 1.7]]]), K, V, np.array([2**-0.5, 1.0, 0.5])


def _same_keys(rng):
    return (
        rng.normal(size=(2, 3)),
        np.tile(rng.normal(size=3), (4, 1)),
        rng.normal(size=(4, 5)),
        np.array([0.5, 1.0]),
    )


def _large_scores(rng):
    def draw(rng):
        Q, K, V = rng.normal(size=(2, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 5))
        return 1000 * _unit(Q), K, V, np.array([1.0, 1e-3, 1e-3])

    return redraw(rng, draw, lambda Q, K, V, scales: (Q @ K.T).max() > 900)  # exp overflows above 709.78


TRY_SCALES = Exercise(
    name="try_scales",
    lesson=LESSON,
    title="Data that can tell scales apart",
    section="8. Which scale did the code use?",
    difficulty=3,
    minutes=15,
    reference=try_scales,
    cases=(
        Case(
            "an article's data: blind",
            _article,
            says="Every scale gives the same output here: the data can't tell them apart.",
        ),
        Case("the same data, mended", _mended, says="One number of V was moved, and now the scales differ."),
        Case("two queries, five keys", lambda rng: _wide(rng, [1.0, 0.25, 0.0625])),
        Case(
            "two neighbours are nearly equal",
            lambda rng: _wide(rng, [1.0, 0.5, 0.5 + 1e-9, 0.25]),
            says="Scales 1 and 2 differ by 1e-9, and so do their outputs: that is below 1e-6.",
        ),
        Case(
            "the first and the last are nearly equal",
            lambda rng: _wide(rng, [0.7, 0.2, 0.7 + 1e-9]),
            says="Scales 0 and 2 differ by 1e-9, and so do their outputs: that is below 1e-6.",
        ),
        Case(
            "only the second query sees it",
            _one_query_sees,
            says="One query that tells them apart is enough.",
        ),
        Case(
            "all keys are the same", _same_keys, says="Equal scores give equal weights, whatever the scale."
        ),
        Case(
            "scores up to about 1000",
            _large_scores,
            says="exp(1000) overflows: subtract each row's maximum. And two of the scales are equal here.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "scale-not-used",
            _with_outputs(lambda Q, K, V, scales: _outputs(Q, K, V, scales, lambda c: 1.0)),
            "Every output is the same: the scale is not used.",
        ),
        WrongAnswer(
            "divided-by-the-scale",
            _with_outputs(lambda Q, K, V, scales: _outputs(Q, K, V, scales, lambda c: 1 / c)),
            "You divided the scores by the scale. A scale is a factor: 1/√d_k is one.",
        ),
        WrongAnswer(
            "scaled-by-root-d-as-well",
            lambda Q, K, V, scales: (
                out := _outputs(Q / Q.shape[-1] ** 0.5, K, V, scales),
                _all_differ(out),
            ),
            "You divided by √d_k as well: the scale that is given is the whole scale.",
        ),
        WrongAnswer(
            "no-softmax",
            _with_outputs(lambda Q, K, V, scales: _outputs(Q, K, V, scales, weigh=lambda s: s)),
            "The softmax is missing: scores are not weights yet.",
        ),
        WrongAnswer(
            "softmax-over-queries",
            _with_outputs(
                lambda Q, K, V, scales: _outputs(Q, K, V, scales, weigh=lambda s: _softmax(s, axis=0))
            ),
            "You applied softmax over the queries: each query's row of weights has to add up to 1.",
        ),
        WrongAnswer(
            "softmax-over-everything",
            _with_outputs(
                lambda Q, K, V, scales: _outputs(Q, K, V, scales, weigh=lambda s: _softmax(s, axis=None))
            ),
            "All weights of all queries together add up to 1: apply softmax row by row.",
        ),
        WrongAnswer(
            "scaled-after-softmax",
            _with_outputs(lambda Q, K, V, scales: np.stack([c * _softmax(Q @ K.T) @ V for c in scales])),
            "You multiplied the weights by the scale. It belongs to the scores, before the softmax.",
        ),
        WrongAnswer(
            "exponentials-overflow",
            lambda Q, K, V, scales: (
                out := _outputs(
                    Q, K, V, scales, weigh=lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)
                ),
                _all_differ(out),
            ),
            "exp of a large score overflows and gives NaN. Subtract each row's maximum first; the weights stay.",
        ),
        WrongAnswer(
            "some-differ",
            _with_verdict(lambda out, *_: (_gaps(out) > 1e-6).any()),
            "You say True as soon as SOME two outputs differ. EVERY two of them must, or a wrong scale stays hidden.",
        ),
        WrongAnswer(
            "compared-with-the-first-only",
            _with_verdict(lambda out, *_: (_gaps(out)[0, 1:] > 1e-6).all()),
            "You compared every output with the first one only. Two later ones may be equal.",
        ),
        WrongAnswer(
            "compared-with-the-next-only",
            _with_verdict(lambda out, *_: (np.diagonal(_gaps(out), 1) > 1e-6).all()),
            "You compared neighbours only. Two outputs further apart may be equal.",
        ),
        WrongAnswer(
            "verdict-turned-round",
            _with_verdict(lambda out, *_: not _all_differ(out)),
            "The verdict is the wrong way round: True when the data tell every two scales apart.",
        ),
        WrongAnswer(
            "scales-compared-not-outputs",
            _with_verdict(lambda out, Q, K, V, scales: len(set(scales)) == len(scales)),
            "You compared the scales. Different scales can give equal outputs: that is what this exercise is about.",
        ),
        WrongAnswer(
            "weights-compared-not-outputs",
            _with_verdict(
                lambda out, Q, K, V, scales: _all_differ(np.stack([_softmax(c * (Q @ K.T)) for c in scales]))
            ),
            "You compared the weights. They differ, and the outputs can still be equal, when the values are symmetric.",
        ),
        WrongAnswer(
            "first-query-only",
            _with_verdict(lambda out, *_: _all_differ(out[:, :1])),
            "You looked at the first query only. Any query that sees a difference is enough.",
        ),
        WrongAnswer(
            "compared-exactly",
            _with_verdict(lambda out, *_: (_gaps(out)[~np.eye(len(out), dtype=bool)] > 0).all()),
            "You compared exactly. Rounding makes equal outputs differ in the last digit: ask for more than 1e-6.",
        ),
        WrongAnswer(
            "sums-compared",
            _with_verdict(lambda out, *_: _all_differ(out.sum(axis=(-1, -2), keepdims=True))),
            "You compared sums of outputs. Two outputs can differ and have the same sum: compare number by number.",
        ),
        WrongAnswer(
            "sign-kept-in-the-difference",
            _with_verdict(
                lambda out, *_: all((out[a] - out[b]).max() > 1e-6 for a in range(len(out)) for b in range(a))
            ),
            "The largest difference may be a negative one: take the absolute value before the maximum.",
        ),
        WrongAnswer(
            "every-number-must-differ",
            _with_verdict(
                lambda out, *_: all(
                    (np.abs(out[a] - out[b]) > 1e-6).all() for a in range(len(out)) for b in range(a)
                )
            ),
            "You ask that EVERY number of two outputs differs. One that does is enough.",
        ),
        WrongAnswer(
            "outputs-not-stacked",
            lambda Q, K, V, scales: (list(out := _outputs(Q, K, V, scales)), _all_differ(out)),
            "The outputs come as a list. Stack them into one array of shape (m, n_q, d_v): np.stack.",
        ),
        WrongAnswer(
            "scales-on-the-last-axis",
            lambda Q, K, V, scales: (np.moveaxis(out := _outputs(Q, K, V, scales), 0, -1), _all_differ(out)),
            "The scales are on the last axis; they belong on the first: (m, n_q, d_v).",
        ),
        WrongAnswer(
            "weights-not-outputs",
            lambda Q, K, V, scales: (
                np.stack([_softmax(c * (Q @ K.T)) for c in scales]),
                _all_differ(_outputs(Q, K, V, scales)),
            ),
            "You returned the weights. The outputs are asked for: weights @ V.",
        ),
        WrongAnswer(
            "verdict-missing",
            lambda Q, K, V, scales: _outputs(Q, K, V, scales),
            "The verdict is missing: return the outputs AND whether every two of them differ.",
        ),
    ),
    also_right=(
        lambda Q, K, V, scales: (out := _outputs(Q, K, V, scales), _all_differ(out)),
        lambda Q, K, V, scales: (
            out := _softmax(np.asarray(scales)[:, None, None] * (Q @ K.T)) @ V,
            np.bool_(_all_differ(out)),
        ),
        lambda Q, K, V, scales: (
            out := _outputs(Q, K, V, scales),
            not any(
                np.allclose(out[a], out[b], rtol=0, atol=1e-6)
                for a in range(len(out))
                for b in range(a + 1, len(out))
            ),
        ),
    ),
    hints=(
        "Two parts: the outputs, one for each scale; then one yes or no about all pairs of them.",
        "For each scale: scores, softmax over the keys (subtract the row's maximum), weights @ V. "
        "Then compare a with b for all a and b < a.",
        "`np.abs(outputs[a] - outputs[b]).max() > 1e-6` for one pair; `all(...)` over the pairs.",
    ),
)


# ---- order_survives -------------------------------------------------------------------------------------


def order_survives(scores):
    """Whether dividing a row by its maximum keeps the order of its keys: (..., n_k) -> bool (...)."""
    largest, smallest = scores.max(axis=-1), scores.min(axis=-1)
    return (largest > 0) | ((largest == smallest) & (largest != 0))


def _order_by_trying(scores):
    """Divide, and compare every pair of keys before and after."""
    divided = scores / scores.max(axis=-1, keepdims=True)
    before = np.sign(scores[..., :, None] - scores[..., None, :])
    after = np.sign(divided[..., :, None] - divided[..., None, :])
    return (before == after).all(axis=(-1, -2))


def _shifted_to_maximum(rng, shape, maxima):
    rows = rng.normal(size=shape)
    return rows - rows.max(axis=-1, keepdims=True) + np.asarray(maxima, dtype=float)[..., None]


def _rows(rng):
    """Maximum above 0, below 0, exactly 0, all equal (below 0, above 0, 0), and one row with two equal scores."""
    rows = _shifted_to_maximum(rng, (8, 5), [1.5, -1.5, 0.0, 20.0, -0.3, 1.0, 1.0, 1.0])
    rows[3:6] = np.array([-2.0, 2.0, 0.0])[:, None]
    rows[-1] = [-9.0, 1.0, -3.0, 0.5, -9.0]
    return (rows,)


ORDER_SURVIVES = Exercise(
    name="order_survives",
    lesson=LESSON,
    title="Why not divide by the maximum?",
    section="7. Why not divide by the maximum?",
    difficulty=2,
    minutes=10,
    reference=order_survives,
    cases=(
        Case(
            "maximum above 0",
            lambda rng: (_shifted_to_maximum(rng, (4, 5), [0.5, 2.0, 30.0, 1.0]),),
            says="A positive maximum keeps the order.",
        ),
        Case(
            "only negative scores",
            lambda rng: (_shifted_to_maximum(rng, (3, 4), [-0.5, -3.0, -200.0]),),
            says="A negative divisor turns the order round.",
        ),
        Case(
            "one row alone, maximum 0",
            lambda rng: (_shifted_to_maximum(rng, (6,), 0.0),),
            says="0 divided by 0 has no order.",
        ),
        Case(
            "all scores equal",
            lambda rng: (
                np.repeat((np.array([-2.0, 0.0, 3.0, -0.25]) * rng.uniform(1, 2))[:, None], 5, axis=1),
            ),
            says="Where nothing is ahead, nothing can be turned round; but 0/0 is still no number.",
        ),
        Case("everything mixed", _rows),
        Case(
            "a batch with heads",
            lambda rng: (
                _shifted_to_maximum(rng, (2, 3, 4, 5), np.resize([1.0, -1.0, -1.0, 1.0, 1.0], (2, 3, 4))),
            ),
        ),
    ),
    wrong=(
        WrongAnswer(
            "always",
            lambda s: np.ones(s.shape[:-1], dtype=bool),
            "You say that the order always survives. Divide (−1, −2) by −1: it becomes (1, 2).",
        ),
        WrongAnswer(
            "never",
            lambda s: np.zeros(s.shape[:-1], dtype=bool),
            "You say that it never survives. Divide (4, 2) by 4: the order is the same.",
        ),
        WrongAnswer(
            "equal-scores-forgotten",
            lambda s: s.max(axis=-1) > 0,
            "Nearly: a row of equal scores below 0 becomes a row of ones, and its order, all equal, is kept.",
        ),
        WrongAnswer(
            "zero-let-through",
            lambda s: (s.max(axis=-1) >= 0) | (s.max(axis=-1) == s.min(axis=-1)),
            "You let a maximum of 0 through: 0/0 is NaN, and NaN has no order.",
        ),
        WrongAnswer(
            "zero-let-through-equal-forgotten",
            lambda s: s.max(axis=-1) >= 0,
            "You let a maximum of 0 through: 0/0 is NaN. (And equal scores below 0 keep their order.)",
        ),
        WrongAnswer(
            "equal-zeros-let-through",
            lambda s: (s.max(axis=-1) > 0) | (s.max(axis=-1) == s.min(axis=-1)),
            "A row of zeros is all equal, but 0/0 is NaN: nothing is kept.",
        ),
        WrongAnswer(
            "only-zero-is-bad",
            lambda s: s.max(axis=-1) != 0,
            "You only ruled out division by 0. A negative maximum gives numbers, in the wrong order.",
        ),
        WrongAnswer(
            "all-must-be-positive",
            lambda s: s.min(axis=-1) > 0,
            "You ask that every score is above 0. Only the divisor's sign counts, and that is the maximum's.",
        ),
        WrongAnswer(
            "sum-instead-of-maximum",
            lambda s: s.sum(axis=-1) > 0,
            "You looked at the sum. The divisor is the maximum.",
        ),
        WrongAnswer(
            "largest-in-size",
            lambda s: (
                (np.take_along_axis(s, np.abs(s).argmax(axis=-1)[..., None], -1)[..., 0] > 0)
                | ((s.max(axis=-1) == s.min(axis=-1)) & (s.max(axis=-1) != 0))
            ),
            "You looked at the score that is largest in size. The maximum is the largest with its sign.",
        ),
        WrongAnswer(
            "one-maximum-for-all-rows",
            lambda s: np.broadcast_to(s.max() > 0, s.shape[:-1]) | (_all_equal(s) & (s.max() != 0)),
            "You took one maximum for the whole array. Each row has its own.",
        ),
        WrongAnswer(
            "maximum-down-the-columns",
            lambda s: s.max(axis=0) > 0,
            "You took the maximum along the first axis. Each row, along the last axis, has its own.",
        ),
        WrongAnswer(
            "one-answer-for-all-rows",
            lambda s: bool(np.all(order_survives(s))),
            "You gave one answer for the whole array. Every row gets its own True or False.",
        ),
        WrongAnswer(
            "axis-kept",
            lambda s: order_survives(s)[..., None],
            "The answers are right, but the last axis is still there, with length 1: leave out keepdims.",
        ),
        WrongAnswer(
            "turned-round",
            lambda s: ~order_survives(s),
            "The verdict is the wrong way round: True when the order is kept.",
        ),
    ),
    also_right=(
        _order_by_trying,
        lambda s: (s.max(-1) > 0) | ((np.ptp(s, axis=-1) == 0) & (s[..., 0] != 0)),
        lambda s: np.array(
            [bool(r.max() > 0 or (r.max() == r.min() != 0)) for r in s.reshape(-1, s.shape[-1])]
        ).reshape(s.shape[:-1]),
    ),
    hints=(
        "Try it by hand: (4, 2), (−1, −2), (0, −1), (−3, −3). What do you divide by each time?",
        "Dividing by a positive number keeps every order; by a negative one reverses it; by 0 destroys it.",
        "The maximum along the last axis decides. Then think of rows in which all scores are equal.",
    ),
)


def _all_equal(scores):
    return scores.max(axis=-1) == scores.min(axis=-1)


EXERCISES = (
    VARIANCE_PROOF,
    SCORE_VARIANCE,
    SCALED_SCORES,
    SCALE_FOLDED_INTO_QUERY,
    CORRELATED,
    SCALE_THAT_WAS_USED,
    TRY_SCALES,
    ORDER_SURVIVES,
)
