"""Lesson 02, the variance of a score: the proof, whose steps SymPy checks. Experiments and figures lie beside it.

SymPy knows nothing here about normal curves, and no theorem about sums: a random variable is a list of its moments,
linearity takes a polynomial apart into terms, and independence makes the mean of a product a product of means. What
holds for every number of coordinates is proved by induction, with the number a symbol.
"""

import html
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sdpa_helpers.checking.kinds.formula import Unreadable
from sdpa_helpers.course.content import ContentEntry, Paragraph, Section, read_content
from sdpa_helpers.lessons.variance_proof.typed import as_expression, written

if TYPE_CHECKING:
    import sympy

POINTS = ((2, 3, 5, 7, 4, 9), (0, 3, 5, 7, 4, 9), (2, 3, 0, 1, 6, 9))
"""Values of m_q, v_q, m_k, v_k, d, v at which a wrong answer is shown to differ."""


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


def factored(expression: Any) -> str:
    """As the page prints it, common factors in front."""
    import sympy

    return written(cast("sympy.Expr", sympy.factor(expression)))


class ProofStep(NamedTuple):
    """A line of the proof: what it claims, the truth that SymPy derived and from what, and slips with their meaning."""

    claim: str
    uses: str
    truth: "sympy.Expr"
    slips: tuple[tuple["sympy.Expr", str], ...] = ()


def _step(section: Section, truth: "sympy.Expr", names: dict[str, Any]) -> ProofStep:
    """A section of `proof.md`: its slips are formulas of the symbols, and of what the steps before found."""
    import sympy

    read: Any = sympy.sympify
    slips = [(read(slip.text.strip("`"), names), slip.says) for slip in section.of(ContentEntry)]
    (uses,) = section.of(Paragraph)
    return ProofStep(section.title.partition(": ")[2], uses.text, truth, tuple(slips))


class Proof:
    """The mean and the variance of q·k, in steps that a reader fills in."""

    def __init__(self) -> None:
        import sympy

        self.symbols: Any = (
            *sympy.symbols("m_q v_q m_k v_k", real=True),
            sympy.Symbol("d", positive=True, integer=True),
            sympy.Symbol("v", real=True),
        )
        self.steps: dict[int, ProofStep] = dict(enumerate(self._derive(), start=1))

    def _moments(self, queries: Any, keys: Any) -> dict[Any, tuple[Any, ...]]:
        """Moments of coordinates of the query and of the key: all that the proof may use."""
        mq, vq, mk, vk, *_ = self.symbols
        return dict.fromkeys(queries, (1, mq, vq + mq**2)) | dict.fromkeys(keys, (1, mk, vk + mk**2))

    def variance_expanded(self, size: int) -> "sympy.Expr":
        """Var(q·k) for one small number of coordinates, the long way: expand (q·k)², take the mean term by term."""
        import sympy

        queries, keys = (sympy.symbols(f"{name}1:{size + 1}") for name in "qk")
        score: Any = sum(q * k for q, k in zip(queries, keys, strict=True))
        moments = self._moments(queries, keys)
        return expectation(score**2, moments) - expectation(score, moments) ** 2

    def _derive(self) -> list[ProofStep]:
        import sympy

        mq, vq, mk, vk, d, v = self.symbols
        q, k, so_far, x, mean_of_x = sympy.symbols("q k S x m")
        one = self._moments([q], [k])
        mean, square = expectation(q * k, one), expectation((q * k) ** 2, one)
        variance = sympy.expand(square - mean**2)
        # Induction: let the sum of d products have the mean and the variance that are claimed. It is independent of
        # the next pair of coordinates, and these two are independent of each other: q, k and S are independent.
        more: dict[Any, Any] = one | {so_far: (1, d * mean, d * variance + (d * mean) ** 2)}
        next_mean = expectation(so_far + q * k, more)
        next_variance = sympy.expand(expectation((so_far + q * k) ** 2, more) - next_mean**2)
        any_x: dict[Any, Any] = {x: (1, mean_of_x, v + mean_of_x**2)}
        scaled = expectation((x / sympy.sqrt(d)) ** 2, any_x) - expectation(x / sympy.sqrt(d), any_x) ** 2
        standard = {mq: 0, mk: 0, vq: 1, vk: 1}
        sections = read_content(Path(__file__).with_suffix(".md")).sections
        truths = (
            mean,
            square,
            variance,
            next_mean,
            next_variance,
            scaled,
            sympy.Integer(0) + scaled.subs(v, d * variance).subs(standard),
        )
        names: dict[str, Any] = dict(zip(map(str, self.symbols), self.symbols, strict=True))
        names |= {"mean": mean, "square": square, "variance": variance, "next_mean": next_mean}
        names |= {"next_variance": next_variance}
        return [_step(section, truth, names) for section, truth in zip(sections, truths, strict=True)]

    def gaps(self) -> dict[str, "sympy.Expr"]:
        """What has to be 0 for the induction: steps 4 and 5 minus what is claimed for d + 1 coordinates."""
        import sympy

        d = self.symbols[4]
        mean, variance = ((d + 1) * self.steps[number].truth for number in (1, 3))
        return {
            "step 4 − (d + 1) · step 1": sympy.expand(self.steps[4].truth - mean),
            "step 5 − (d + 1) · step 3": sympy.expand(self.steps[5].truth - variance),
        }

    def check(self, number: int, answer: object) -> None:
        """Say whether an answer equals what SymPy derived for a step, and if not, why.

        The answer is an expression, a number, or a string as the page prints it; `...` is an open answer.
        """
        if not isinstance(number, int) or number not in self.steps:
            print(f"The steps are 1 to {len(self.steps)}.")
            return
        step = self.steps[number]
        if answer is ...:
            print(
                f"Step {number}, {step.claim}: no answer yet. Put an expression in place of the three dots."
            )
            return
        try:
            given = as_expression(answer, self.symbols)
        except Unreadable as sentence:
            print(f"Step {number}, {step.claim}: {sentence}")
            return
        if unknown := given.free_symbols - set(self.symbols):
            names = ", ".join(sorted(map(str, unknown)))
            print(f"Step {number} may use m_q, v_q, m_k, v_k, d and v; yours has {names}.")
        elif self._same(given, step.truth):
            right = factored(given)
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

    def _why(self, step: ProofStep, given: "sympy.Expr") -> str:
        for slip, means in step.slips:
            if self._same(given, slip):
                return means
        for values in POINTS:
            point = dict(zip(self.symbols, values, strict=True))
            yours, right = given.subs(point), step.truth.subs(point)
            if yours != right and yours.is_finite is not False:
                used = given.free_symbols | step.truth.free_symbols
                where = ", ".join(f"{symbol} = {value}" for symbol, value in point.items() if symbol in used)
                return f"{f'Take {where}: yours' if where else 'Yours'} gives {yours}, the truth is {right}."
        return "It differs somewhere: compare it term by term."

    def whole(self) -> "Lines":
        """Every line as SymPy derived it, the induction, and the variance again by brute force for small d."""
        import sympy

        lines = [
            f"{number}.  {step.claim + ',':<36}{step.uses}\n      = {factored(step.truth)}"
            for number, step in self.steps.items()
        ]
        lines += ["", "The induction. For d = 1 the claims are steps 1 and 3. From d to d + 1:"]
        lines += [f"    {name} = {written(gap)}" for name, gap in self.gaps().items()]
        lines += ["", "A check without any cleverness: (q·k)² multiplied out, its mean taken term by term."]
        variance = self.steps[3].truth
        for size in (1, 2, 3, 4):
            difference = sympy.expand(self.variance_expanded(size) - size * variance)
            lines.append(f"    d = {size}: differs by {written(difference)}")
        return Lines("The whole proof, as SymPy derives it", "\n".join(lines))


class Lines(NamedTuple):
    """A text that a page shows when the reader opens it: the steps above it are theirs to find."""

    title: str
    text: str

    def _repr_html_(self) -> str:
        return f"<details><summary>{self.title}</summary><pre>{html.escape(self.text)}</pre></details>"

    def __repr__(self) -> str:
        return self.title
