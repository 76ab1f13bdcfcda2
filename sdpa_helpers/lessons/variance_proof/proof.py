"""Lesson 02, the variance of a score: the proof, whose steps SymPy checks. Experiments and figures lie beside it.

SymPy knows nothing here about normal curves: a random variable is a list of its moments, and independence is the
rule that the mean of a product of powers is the product of their means.
"""

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sdpa_helpers.lessons.variance_proof.typed import UnreadableError, as_expression, written

if TYPE_CHECKING:
    import sympy


POINTS = ((2, 3, 5, 7, 4), (0, 3, 5, 7, 4), (2, 3, 0, 1, 6))
"""Values of μ_q, v_q, μ_k, v_k, d_k at which a wrong answer is shown to differ."""


def expectation(
    polynomial: "sympy.Expr", moments: Mapping["sympy.Symbol", tuple["sympy.Expr", ...]]
) -> "sympy.Expr":
    """The mean of a polynomial in independent random variables; `moments[x]` is (1, E x, E x², …), as far as needed.

    Linearity takes the polynomial apart into terms; independence takes a term apart into powers.
    """
    import sympy

    total = sympy.Integer(0)
    for powers, coefficient in sympy.Poly(polynomial, *moments).terms():
        for variable, power in zip(moments, powers, strict=True):
            coefficient *= moments[variable][power]
        total += coefficient
    return sympy.expand(total)


class Step(NamedTuple):
    """A line of the proof: what it claims, the truth that SymPy derived, and slips with what they mean."""

    claim: str
    truth: "sympy.Expr"
    slips: tuple[tuple["sympy.Expr", str], ...] = ()


class Proof:
    """The mean and the variance of q·k, in steps that a reader fills in."""

    def __init__(self) -> None:
        import sympy

        names = "μ_q v_q μ_k v_k"
        self.symbols: Any = (
            *sympy.symbols(names, real=True),
            sympy.Symbol("d_k", positive=True, integer=True),
        )
        self._draw: Any = sympy.symbols("q1:5 k1:5", real=True)
        self.steps: dict[int, Step] = dict(enumerate(self._derive(), start=1))

    def _moments(self, d: int) -> dict[Any, tuple[Any, ...]]:
        """Moments of q₁…q_d and k₁…k_d: all that the proof may use."""
        mq, vq, mk, vk, _ = self.symbols
        of_q, of_k = (1, mq, vq + mq**2), (1, mk, vk + mk**2)
        return dict.fromkeys(self._draw[:d], of_q) | dict.fromkeys(self._draw[4 : 4 + d], of_k)

    def variance_expanded(self, d: int) -> "sympy.Expr":
        """Var(q·k) for one small number of coordinates, the long way: expand (q·k)², take the mean term by term."""
        score: Any = sum(q * k for q, k in zip(self._draw[:d], self._draw[4 : 4 + d], strict=True))
        moments = self._moments(d)
        return expectation(score**2, moments) - expectation(score, moments) ** 2

    def _derive(self) -> list[Step]:
        mq, vq, mk, vk, d = self.symbols
        (q1, q2), (k1, k2), two = self._draw[:2], self._draw[4:6], self._moments(2)
        square, mean = expectation(q1**2, two), expectation(q1 * k1, two)
        mean_square = expectation((q1 * k1) ** 2, two)
        variance = mean_square - mean**2
        covariance = expectation(q1 * k1 * q2 * k2, two) - mean * expectation(q2 * k2, two)
        whole = d * variance + d * (d - 1) * covariance
        return [
            Step(
                "E[q₁²]",
                square,
                (
                    (mq**2, "That is E[q₁]². A square is larger on average: by the variance."),
                    (vq, "That is the variance. It is the mean square only if the mean is 0."),
                    (vq**2 + mq**2, "v_q is the variance already: don't square it."),
                    (vq - mq**2, "v_q = E[q₁²] − μ_q². Solve it for E[q₁²]: which sign?"),
                ),
            ),
            Step(
                "E[q₁k₁]",
                mean,
                (
                    (
                        mq + mk,
                        "That is E[q₁ + k₁]. The mean of a product of independent variables is a product.",
                    ),
                    (self._zero(), "Only if one of the means is 0. Keep them general."),
                ),
            ),
            Step(
                "E[(q₁k₁)²]",
                mean_square,
                (
                    (mq**2 * mk**2, "That is E[q₁k₁]², the square of step 2: the variances are missing."),
                    (vq * vk, "That is so only for means 0. Use step 1 for q₁ and for k₁."),
                    (square, "That is E[q₁²] alone. Multiply by E[k₁²]."),
                ),
            ),
            Step(
                "Var(q₁k₁)",
                variance,
                (
                    (vq * vk, "Two terms are missing: a mean in one factor passes the other's variance on."),
                    (mean_square, "That is the mean square of step 3. Subtract the squared mean of step 2."),
                    (mean_square - mean, "Subtract the SQUARE of the mean."),
                ),
            ),
            Step(
                "Cov(q₁k₁, q₂k₂)",
                covariance,
                (
                    (mean**2, "That is E[q₁k₁q₂k₂]. The covariance subtracts the product of the two means."),
                    (
                        variance,
                        "That is the variance, where both terms are the same. These two are independent.",
                    ),
                ),
            ),
            Step(
                "Var(q·k)",
                whole,
                (
                    (variance, "That is one coordinate. There are d_k of them."),
                    (d**2 * variance, "Variances of independent terms add up: d_k of them, not d_k²."),
                    (d * vq * vk, "Right for means 0. Use all three terms of step 4."),
                ),
            ),
            Step(
                "Var(q·k), means 0, variances 1",
                whole.subs({mq: 0, mk: 0, vq: 1, vk: 1}),
                ((d**2, "The variance grows like d_k, not like its square."),),
            ),
        ]

    @staticmethod
    def _zero() -> "sympy.Expr":
        import sympy

        return sympy.Integer(0)

    def check(self, number: int, answer: object) -> None:
        """Say whether an answer equals what SymPy derived for a step, and if not, why.

        The answer is an expression, a number, or a string as the page prints it; `...` is an open answer.
        """
        import sympy

        if not isinstance(number, int) or number not in self.steps:
            print(f"There are the steps 1 to {len(self.steps)}.")
            return
        step = self.steps[number]
        if answer is ...:
            print(
                f"Step {number}, {step.claim}: no answer yet. Put an expression in place of the three dots."
            )
            return
        try:
            given = as_expression(answer, self.symbols)
        except UnreadableError as sentence:
            print(f"Step {number}, {step.claim}: {sentence}")
            return
        if unknown := given.free_symbols - set(self.symbols):
            names = ", ".join(sorted(map(str, unknown)))
            print(f"Step {number} has only μ_q, v_q, μ_k, v_k and d_k in it; yours has {names}.")
        elif self._same(given, step.truth):
            right = written(sympy.expand(given))
            print(f"Step {number} is right: {step.claim} = {right}. SymPy finds the difference 0.")
        else:
            print(f"Step {number} is not right yet. {self._why(step, given)}")

    def _same(self, given: "sympy.Expr", other: "sympy.Expr") -> bool:
        """Whether SymPy finds the difference 0. Long products are multiplied out only if one point does not tell."""
        import sympy

        difference = given - other
        point = dict(zip(self.symbols, POINTS[0], strict=True))
        here = difference.subs(point)
        return not (here.is_Rational and here != 0) and sympy.expand(difference) == 0

    def _why(self, step: Step, given: "sympy.Expr") -> str:
        for slip, means in step.slips:
            if self._same(given, slip):
                return means
        for values in POINTS:
            point = dict(zip(self.symbols, values, strict=True))
            yours, right = given.subs(point), step.truth.subs(point)
            if yours != right and yours.is_finite is not False:
                where = ", ".join(f"{symbol} = {value}" for symbol, value in point.items())
                return f"Take {where}: yours gives {yours}, the truth is {right}."
        return "It differs somewhere: compare it term by term."

    def whole(self) -> "Lines":
        """Every line as SymPy derived it, and the last one again by brute force for small d_k."""
        import sympy

        lines = [
            f"{number}.  {step.claim:<31} = {written(step.truth)}" for number, step in self.steps.items()
        ]
        lines += ["", "The long way, every product expanded:"]
        formula, d = self.steps[6].truth, self.symbols[4]
        for size in (1, 2, 3, 4):
            difference = sympy.expand(self.variance_expanded(size) - formula.subs(d, size))
            lines.append(f"    d_k = {size}: differs from step 6 by {difference}")
        return Lines("All seven lines, as SymPy derives them", "\n".join(lines))


class Lines(NamedTuple):
    """A text that a page shows when the reader opens it: the steps above it are theirs to find."""

    title: str
    text: str

    def _repr_html_(self) -> str:
        return f"<details><summary>{self.title}</summary><pre>{html.escape(self.text)}</pre></details>"

    def __repr__(self) -> str:
        return self.title
