"""Ladders to a proof: its statements, and false ones among them.

Every order is right in which each line stands below those that it uses.
"""

import ast
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.render import framed, heading
from sdpa_helpers.course.code_ladder import PRACTICE, passed_card, told
from sdpa_helpers.show.ladder import BLANK, LONGEST, Line, OrderVerdict, Rungs
from sdpa_helpers.show.predict import plain, rich


class Statement(NamedTuple):
    """A line of the proof. Texts are in the marks of `predict.rich`."""

    name: str
    text: str
    why: str
    uses: tuple[str, ...] = ()
    """The lines that have to stand above it, by name."""
    with_blank: str = ""
    """The same with `{}` where something is to be filled in on the second rung."""


class FalseStatement(NamedTuple):
    """A line that is no part of a proof."""

    text: str
    why: str
    says: str
    """What is wrong with it."""


class Slip(NamedTuple):
    """What somebody may type into a blank by mistake."""

    text: str
    says: str


class Blank(NamedTuple):
    """What belongs into a blank."""

    right: str
    slips: tuple[Slip, ...]


@dataclass(frozen=True)
class ProofLadder:
    """The way up to a proof in the reader's own words."""

    name: str
    """Of the question in words to which it leads."""
    title: str
    given: str
    """What the proof may assume."""
    statements: tuple[Statement, ...]
    """In an order that is right. The last one is what is to be proved, and needs all others."""
    wrong: tuple[FalseStatement, ...]
    blanks: tuple[Blank, ...]
    points: tuple[Mapping[str, float], ...]
    """Values of the names that may be typed; an expression is right when it is at all of them."""

    @cached_property
    def offered(self) -> tuple[Statement | FalseStatement, ...]:
        """All lines, as they are offered."""
        every = [*self.statements, *self.wrong]
        random.Random(self.name).shuffle(every)
        return tuple(every)

    def rungs(self) -> Rungs:
        """What a panel shows."""
        numbers = iter(range(len(self.blanks)))
        return Rungs(
            name=self.name,
            title=self.title,
            kind="proof",
            task="Put these lines in order, each below those that it uses. A few are false: leave them out.",
            head=f"<strong>Given:</strong> {rich(self.given)}",
            offered=tuple(Line(rich(line.text), 0, rich(line.why)) for line in self.offered),
            with_blanks=tuple(
                Line(_with_field(line, numbers), 0, rich(line.why)) for line in self.statements
            ),
            last=_LAST,
            answer_line="",
            try_order=self.try_order,
            try_blanks=self.try_blanks,
        )

    def try_order(self, order: Sequence[int]) -> OrderVerdict:
        """The verdict on lines in an order."""
        chosen = [(number, self.offered[number]) for number in order]
        wrong = [(n, line.says) for n, line in chosen if isinstance(line, FalseStatement)]
        above: set[str] = set()
        too_early: list[tuple[int, str]] = []
        for number, line in chosen:
            if isinstance(line, Statement):
                missing = [use for use in line.uses if use not in above]
                if missing:
                    too_early.append((number, self._needs(line, missing[0])))
                above.add(line.name)
        if found := wrong or too_early:
            return _said("Not right yet", [text for _, text in found], tuple(number for number, _ in found))
        left = len(self.statements) - len(above)
        if not above:
            return told("There is no line yet", "What can be said of one coordinate alone?")
        if left:
            lines = "One line is" if left == 1 else f"{left} lines are"
            return told("Right so far", f"Each line has what it uses above it. {lines} still missing.")
        return OrderVerdict(
            True, passed_card(f"{self.title}: right, each line uses what stands above it"), "Right."
        )

    def try_blanks(self, typed: Sequence[str]) -> OrderVerdict:
        """The verdict on what was typed into the blanks."""
        found = []
        for number, (text, blank) in enumerate(zip(typed, self.blanks, strict=True), 1):
            if why := self._wrong_with(text, blank):
                found.append(f"Blank {number}: {why}")
        if found:
            return _said("Not right yet", found, ())
        return OrderVerdict(True, passed_card(f"{self.title}: both blanks are right"), "Right.")

    def _needs(self, line: Statement, missing: str) -> str:
        needed = next(other for other in self.statements if other.name == missing)
        return f"**{line.text}** uses **{needed.text}**, which has to stand above it."

    def _wrong_with(self, text: str, blank: Blank) -> str:
        if not text.strip():
            return "it is empty."
        try:
            given = [value_of(text, point) for point in self.points]
        except ValueError as error:
            return f"{error}."
        if _same(given, self._values(blank.right)):
            return ""
        slip = next((slip for slip in blank.slips if _same(given, self._values(slip.text))), None)
        if slip:
            return slip.says
        where = ", ".join(f"{name} = {value:g}" for name, value in self.points[0].items())
        return f"take {where}: yours is {given[0]:g}, it has to be {self._values(blank.right)[0]:g}."

    def _values(self, text: str) -> list[float]:
        return [value_of(text, point) for point in self.points]


def _said(what: str, sentences: list[str], marked: tuple[int, ...]) -> OrderVerdict:
    items = "".join(f"<p>{rich(sentence)}</p>" for sentence in sentences[:3])
    more = f"<p>And {len(sentences) - 3} more.</p>" if len(sentences) > 3 else ""
    practice = f"<p class='about'>{PRACTICE}</p>"
    shown = framed(f"{heading('✗', what)}{practice}{items}{more}", "failed")
    return OrderVerdict(False, styled(shown), f"{what}. {plain(sentences[0])}", marked)


def _with_field(line: Statement, numbers) -> str:
    if not line.with_blank:
        return rich(line.text)
    return rich(line.with_blank).replace("{}", BLANK.format(next(numbers)))


_LAST = (
    "Now the empty cell below: write the proof in your own words, for somebody who knows what a mean and a variance "
    "are. Say at every step what it uses."
)


# ---- what is typed -----------------------------------------------------------------------------------------

_SPELLED = (("·", "*"), ("×", "*"), ("−", "-"), ("^", "**"), ("²", "**2"), ("dₖ", "d_k"), ("ₖ", "_k"))
_OPERATIONS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
_MOST = 1e6
_POWERS = ("1", "2", "3", "4", "0.5")


def value_of(text: str, names: Mapping[str, float]) -> float:
    """The value of a formula. Nothing of it is run: it is read, and only arithmetic is known.

    Raises:
        ValueError: it is no such formula, in words.
    """
    if len(text) > LONGEST:
        raise ValueError(f"it has more than {LONGEST} characters")
    text = re.sub(r"√\s*(\w+)", r"sqrt(\1)", text.strip())
    for sign, spelled in _SPELLED:
        text = text.replace(sign, spelled)
    try:
        return _value(ast.parse(text, mode="eval").body, names)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError("this is no formula that can be read; a product needs its `*`") from None
    except ArithmeticError:
        raise ValueError("it divides by zero, or grows too large") from None


def _value(node: ast.expr, names: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if abs(number) <= _MOST:
            return float(number)
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant() as power) if (
            ast.unparse(power) in _POWERS
        ):
            base, exponent = _value(left, names), float(ast.unparse(power))
            return _root(base) if exponent == 0.5 else math.pow(base, exponent)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id="sqrt"), args=[inside], keywords=[]):
            return _root(_value(inside, names))
    raise ValueError(f"use {', '.join(names)}, numbers, + − * / and sqrt")


def _root(number: float) -> float:
    if number < 0:
        raise ValueError("it has the root of a negative number")
    return math.sqrt(number)


def _same(some: Sequence[float], others: Sequence[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(some, others, strict=True))
