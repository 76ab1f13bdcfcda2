"""Lesson 04, exercise `softmax_jacobian`: all slopes of softmax."""

import numpy as np

from sdpa_helpers.attention import softmax
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
from sdpa_helpers.lessons.gradients.exercises.shared import as_it_is, half, single

PROMPT = r"""`softmax_jacobian(x)`: all slopes of softmax, for one row of scores.

- `x`, shape `(n,)`: the scores. They can be large: 1000 must not overflow.
- Returns shape `(n, n)`: entry `[i, j]` is $\partial s_i / \partial x_j$, how fast weight `i` moves when score `j` moves, where $s = \mathrm{softmax}(x)$.

Example: {inputs:1} has the weights `[0.5, 0.5]`; the slopes are {result:1}.

Write the formula, not finite differences.
"""


def softmax_jacobian(x):
    """All slopes of softmax: x (n,) -> (n, n), entry [i, j] = ds_i/dx_j."""
    e = np.exp(x - x.max())
    s = e / e.sum()
    return np.diag(s) - np.outer(s, s)


def _jacobian_by_loops(x):
    s = softmax(x)
    J = np.empty((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            J[i, j] = s[i] * ((1.0 if i == j else 0.0) - s[j])
    return J


def _jacobian_by_complex_steps(x):
    steps = x[:, None] - x.max() + 1e-30j * np.eye(len(x))
    e = np.exp(steps)
    return (e / e.sum(axis=0)).imag / 1e-30


def _forward_differences(h):
    def slopes(weights, x):
        return np.stack([(weights(x + h * row) - weights(x)) / h for row in np.eye(len(x))], axis=-1)

    return slopes


def _central_differences(h):
    def slopes(weights, x):
        return np.stack(
            [(weights(x + h * row) - weights(x - h * row)) / (2 * h) for row in np.eye(len(x))], axis=-1
        )

    return slopes


def _jacobian_changing_input(x):
    x -= x.max()
    return softmax_jacobian(x)


def _by_formula(diagonal, outer):
    return lambda weights, x: diagonal(s := weights(x)) - outer(s)


def _in_parts(*, convert, shift, exponential, slopes, after):
    """softmax_jacobian in five parts, each of which can be wrong; see MISTAKES."""

    def weights(x):
        e = exponential(x - shift(x))
        return convert[1](e / e.sum())

    return lambda x: after(slopes(weights, convert[0](x)))


def _outer(s):
    return np.outer(s, s)


def _nothing(s):
    return np.zeros((len(s), len(s)))


MISTAKES = Products(
    (
        Factor(
            "convert",
            (as_it_is, as_it_is),
            (
                Option("half-precision-somewhere", (as_it_is, half)),
                Option("half-precision-somewhere", (half, as_it_is)),
                Option("float32-somewhere", (as_it_is, single)),
                Option("float32-somewhere", (single, as_it_is)),
            ),
        ),
        Factor(
            "shift",
            lambda x: x.max(),
            (
                Option("no-max-subtraction", lambda x: 0.0),
                Option("mean-subtracted", lambda x: x.mean()),
                Option(
                    "largest-size-subtracted",
                    lambda x: np.abs(x).max(),
                    "You subtracted the largest absolute value. For scores near −800 that goes down to −1600, and every "
                    "exponential is 0. Subtract the maximum with its sign.",
                ),
            ),
        ),
        Factor(
            "exponential",
            np.exp,
            (
                Option(
                    "softmax-twice",
                    lambda x: np.exp(softmax(x)),
                    "You applied softmax twice: once more to its own weights.",
                ),
                Option(
                    "sign-dropped",
                    lambda x: np.exp(-x),
                    "You flipped the sign of the scores before the exponential.",
                ),
            ),
        ),
        Factor(
            "slopes",
            _by_formula(np.diag, _outer),
            (
                Option("outer-product-only", _by_formula(_nothing, _outer)),
                Option("identity-minus-outer", _by_formula(lambda s: np.eye(len(s)), _outer)),
                Option(
                    "weights-added-to-every-row",
                    _by_formula(lambda s: s + _nothing(s), _outer),
                    "You added s to every row of −s sᵀ, as broadcasting does without `np.diag`: s_i belongs on the "
                    "diagonal only.",
                ),
                Option("own-rule-for-all-pairs", _by_formula(lambda s: s[:, None] + _nothing(s), _outer)),
                Option("diag-of-weights-only", _by_formula(np.diag, _nothing)),
                Option("plus-outer-product", _by_formula(np.diag, lambda s: -np.outer(s, s))),
                Option("outer-product-of-a-vector-is-a-number", _by_formula(np.diag, lambda s: s @ s)),
                Option(
                    "squares-for-the-outer-product",
                    _by_formula(np.diag, lambda s: s * s),
                    "You subtracted s_j² from every entry of column j: `s * s` multiplies entry by entry. All products "
                    "s_i·s_j belong there: `np.outer(s, s)`.",
                ),
                Option(
                    "diag-of-a-column",
                    _by_formula(lambda s: s[:1], _outer),
                    "s_0 stands where diag(s) belongs: `np.diag` of a column of shape (n, 1) reads a diagonal, and that is "
                    "one number. Give it the vector.",
                ),
                Option("diagonal-only-as-matrix", _by_formula(np.diag, lambda s: np.diag(s * s))),
                *(
                    Option(name, make(h))
                    for name, make in (
                        ("forward-differences", _forward_differences),
                        ("central-differences", _central_differences),
                    )
                    for h in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
                    if (name, h)
                    != ("central-differences", 1e-4)  # right within the tolerance, but for large scores
                ),
            ),
        ),
        Factor("after", as_it_is, (Option("sign-flipped", lambda J: -J),)),
    ),
    _in_parts,
)
"""Mistakes that come together: the dot product for the outer one, and no maximum."""


EXERCISE = Exercise(
    name="softmax_jacobian",
    lesson="04_gradients",
    title="All slopes of softmax",
    prompt=PROMPT,
    examples=(Example(([0, 0],)),),
    section="2. All slopes at once",
    difficulty=2,
    minutes=10,
    reference=softmax_jacobian,
    cases=(
        Case("three scores", lambda rng: (rng.normal(size=3),)),
        Case("five scores, read-only", lambda rng: (read_only(2 * rng.normal(size=5)),)),
        Case(
            "ties and zeros",
            lambda rng: (np.array([a := rng.uniform(0.5, 2), 0.0, a, 0.0, -a, 0.0]),),
            says="Equal scores have equal weights, and still pull at each other.",
        ),
        Case(
            "scores of three thousand",
            lambda rng: (np.array([3000.0, a := 3000 + rng.uniform(0.2, 2), -3000.0, a - 3, -3000.0]),),
            says="Only differences of scores count, and the exponential of such scores as they are is ∞ or 0.",
        ),
        Case(
            "two scores, far below zero",
            lambda rng: (-8e6 + rng.uniform(0.1, 2, size=2),),
            says="Only differences of scores count, and the exponential of such scores as they are is ∞ or 0.",
        ),
        Case(
            "one score",
            lambda rng: (rng.normal(size=1),),
            says="One score alone has weight 1 whatever it is: its slope is 0, and stands in a matrix of shape (1, 1).",
        ),
        Case("forty scores", lambda rng: (rng.normal(size=40),)),
    ),
    wrong=(
        WrongAnswer(
            "diagonal-only",
            lambda x: (s := softmax(x)) * (1 - s),
            "These are the n slopes s(1 − s) of each weight with its OWN score. Every weight moves with every score, "
            "because all share one sum: there are n × n slopes.",
            ("Push the first score up. What has to happen to the other weights, if the sum stays 1?",),
        ),
        WrongAnswer(
            "diagonal-only-as-matrix",
            lambda x: np.diag((s := softmax(x)) * (1 - s)),
            "Only the diagonal is there, the slope of each weight with its OWN score. The others are −s_i·s_j, not 0: "
            "the weights share one sum.",
            ("Push the first score up. What has to happen to the other weights, if the sum stays 1?",),
        ),
        WrongAnswer(
            "outer-product-only",
            lambda x: -np.outer(s := softmax(x), s),
            "You have the part −s sᵀ, the same for all pairs. On the diagonal s_i has to be added: there the score "
            "also stands in the numerator.",
        ),
        WrongAnswer(
            "diag-of-weights-only",
            lambda x: np.diag(softmax(x)),
            "You have diag(s), the slope of the numerators. The denominator moves too: subtract s sᵀ.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda x: np.outer(s := softmax(x), s) - np.diag(s),
            "Every sign is flipped: a weight has to GROW with its own score.",
        ),
        WrongAnswer(
            "plus-outer-product",
            lambda x: np.diag(s := softmax(x)) + np.outer(s, s),
            "You added s sᵀ where it has to be subtracted. Check: each column of slopes adds up to 0, because the "
            "weights keep adding up to 1.",
        ),
        WrongAnswer(
            "off-diagonal-sign",
            lambda x: np.diag(2 * (s := softmax(x)) * (1 - s) - s + s * s) + np.outer(s, s) - np.diag(s * s),
            "The sign beside the diagonal is wrong: when another score grows, this weight shrinks.",
        ),
        WrongAnswer(
            "own-rule-for-all-pairs",
            lambda x: np.outer(s := softmax(x), 1 - s),
            "You used s_i(1 − s_j) for all pairs. The 1 belongs to the diagonal alone: elsewhere it is −s_i·s_j.",
        ),
        WrongAnswer(
            "identity-minus-outer",
            lambda x: np.eye(len(x)) - np.outer(s := softmax(x), s),
            "The diagonal starts from 1; it has to start from s_i: diag(s), not the identity.",
        ),
        WrongAnswer(
            "log-softmax-jacobian",
            lambda x: np.eye(len(x)) - softmax(x)[None, :],
            "These are the slopes of the LOGARITHM of softmax, δ_ij − s_j. Multiply row i by s_i.",
        ),
        WrongAnswer(
            "slope-of-the-sum",
            lambda x: np.zeros(len(x)) + 0 * softmax(x),
            "You added the slopes of all weights together, and that is 0 for every score, because the weights "
            "always add up to 1. (Calling backward() on softmax(x).sum() does the same.)",
        ),
        WrongAnswer(
            "scores-taken-for-weights",
            lambda x: np.diag(x) - np.outer(x, x),
            "The formula is about the weights s. You put the scores x in: apply softmax first.",
        ),
        WrongAnswer(
            "softmax-only",
            lambda x: softmax(x),
            "These are the weights themselves, not their slopes.",
        ),
        WrongAnswer(
            "sigmoid-slope",
            lambda x: np.diag((p := 1 / (1 + np.exp(-x))) * (1 - p)),
            "This is the slope of the logistic function of each score by itself. Softmax couples the scores.",
        ),
        WrongAnswer(
            "outer-product-of-a-vector-is-a-number",
            lambda x: np.diag(s := softmax(x)) - s @ s,
            "You subtracted one number, s·s, from every entry: `s @ s.T` of a vector is a dot product, because `.T` "
            "changes nothing about one axis. All products s_i·s_j belong there: `np.outer(s, s)`.",
            ("What is `(s @ s.T).shape` when `s` has one axis?",),
        ),
        WrongAnswer(
            "central-differences",
            lambda x: _central_differences(1e-5)(softmax, x),
            "These numbers are good to some digits only, as differences of softmax at two places are. They serve for "
            "checking a formula; write the formula here.",
        ),
        WrongAnswer(
            "no-max-subtraction",
            lambda x: np.diag(s := np.exp(x) / np.exp(x).sum()) - np.outer(s, s),
            "Without subtracting the largest score first, exp overflows (or gives 0/0) for large scores.",
            ("What is np.exp(1000)? And np.exp(-800)?",),
        ),
        WrongAnswer(
            "mean-subtracted",
            lambda x: np.diag(s := np.exp(x - x.mean()) / np.exp(x - x.mean()).sum()) - np.outer(s, s),
            "You subtracted the mean of the scores. The largest can still lie far above it, and exp overflows: "
            "subtract the largest.",
        ),
        WrongAnswer(
            "forward-differences",
            lambda x: _forward_differences(1e-6)(softmax, x),
            "One-sided differences leave an error of about the size of the step. They are good for checking a formula; "
            "here, write the formula.",
        ),
        WrongAnswer(
            "half-precision-somewhere",
            lambda x: np.diag(s := half(softmax(x))) - np.outer(s, s),
            "Your weights passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "float32-somewhere",
            lambda x: np.diag(s := single(softmax(x))) - np.outer(s, s),
            "Your weights passed through float32, which keeps seven digits of sixteen. Stay in float64.",
        ),
        WrongAnswer(
            "changes-its-input",
            _jacobian_changing_input,
            "You changed the caller's array: `x -= ...` works in place. Write x = x - ... instead.",
        ),
    ),
    also_right=(
        _jacobian_by_loops,
        _jacobian_by_complex_steps,
        lambda x: (s := softmax(x))[:, None] * (np.eye(len(x)) - s[None, :]),
        lambda x: np.diagflat(s := softmax(x)) - np.einsum("i,j->ij", s, s),
        lambda x: np.stack([(s := softmax(x)) * (row - s @ row) for row in np.eye(len(x))]),
    ),
    hints=(
        "Take two scores on paper. Write down weight 0 as a fraction, and differentiate it by each of the two scores.",
        "Slope [i, j] is s_i·(δ_ij − s_j): s_i on the diagonal, and s_i·s_j taken away everywhere.",
        "`np.diag(s)` puts the weights on a diagonal; `np.outer(s, s)` has entry [i, j] = s_i·s_j. Subtract. Compute s "
        "with `np.exp(x - x.max())`.",
    ),
    invariants=(
        Invariant(
            "slopes-do-not-add-up-to-zero",
            "A column of slopes has to add up to 0: whatever one weight gains, the others lose.",
            lambda inputs, J: bool(np.abs(J.sum(axis=0)).max() < 1e-9),
        ),
        Invariant(
            "not-symmetric",
            "Slope [i, j] has to equal slope [j, i].",
            lambda inputs, J: bool(np.abs(J - J.T).max() < 1e-9),
        ),
    ),
    allows=(COURSE_SOFTMAX,),
    mistakes=MISTAKES,
)
