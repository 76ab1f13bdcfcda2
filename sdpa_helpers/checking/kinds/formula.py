"""Formulas that a learner typed, as text: read sign by sign, and compared with others by exact numbers.

A text is never evaluated by Python. Numbers, a few names, + − · / and powers are read, as a page prints them or as
Python writes them; what is not understood becomes one sentence. Two formulas count as equal when they agree, as
fractions, at several points: that takes neither time nor memory, whatever was typed, and no form is preferred.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

LONGEST = 200  # characters
DEEPEST = 20  # brackets inside each other
HIGHEST = 12  # factors in one term
LARGEST = 10**12

_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_SIGNS = str.maketrans("·⋅∙•×∗−–—÷⁄[]{}", "******---//()()")
_TEX = {r"\cdot": "*", r"\times": "*", r"\left": "", r"\right": "", r"\div": "/", "$": "", "~": " "}
_TEX_SPACE = re.compile(r"\\(?:[,;:!> ]|q?quad(?![a-z]))")
_FRACTION = "\\frac"
_SIGN = re.compile(r"\*\*|\\frac|[-+*/^()=,]")
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")

Point = Mapping[str, Fraction]
"""A value for every name."""


class Unreadable(ValueError):
    """Its text is a sentence for the learner."""


@dataclass(frozen=True)
class Formula:
    """A formula that was read: what to do, one after the other, on a stack of numbers."""

    program: tuple[tuple[str, Fraction | str | int], ...]

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset(str(what) for kind, what in self.program if kind == "name")

    def at(self, point: Point) -> Fraction | None:
        """Its value at a point; None where something is divided by 0."""
        stack: list[Fraction] = []
        for kind, what in self.program:
            if kind == "number":
                stack.append(Fraction(what))
            elif kind == "name":
                stack.append(point[str(what)])
            elif kind == "power":
                base = stack.pop()
                if base == 0 and int(what) < 0:
                    return None
                stack.append(base ** int(what))
            elif kind == "minus":
                stack.append(-stack.pop())
            else:
                right, left = stack.pop(), stack.pop()
                if kind == "/" and right == 0:
                    return None
                stack.append(_ARITHMETIC[kind](left, right))
        return stack.pop()


_ARITHMETIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


@dataclass(frozen=True, eq=False)
class Names:
    """The names that may stand in a formula."""

    spellings: Mapping[str, tuple[str, ...]]
    """The name as the course writes it → how it may be typed, in small letters and without underscores."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds a name, the longest first."""
        every = sorted((s for known in self.spellings.values() for s in known), key=len, reverse=True)
        return re.compile("|".join(every))

    def called(self, spelling: str) -> str:
        """The name that is typed so."""
        return next(name for name, known in self.spellings.items() if spelling in known)

    def only(self, names: Sequence[str]) -> "Names":
        """Some of them."""
        return Names({name: self.spellings[name] for name in names})

    @property
    def in_words(self) -> str:
        """A sentence that lists them."""
        *most, last = self.spellings
        return f"The names here are {', '.join(most)} and {last}." if most else f"The name here is {last}."


def read(text: str, names: Names) -> Formula:
    """The formula that a text holds; raises `Unreadable` with a sentence that says what to write instead."""
    if len(text) > LONGEST:
        raise Unreadable(f"That is longer than {LONGEST} characters. The steps have short answers.")
    tokens = _tokens(text, names)
    signs = {text for kind, text in tokens if kind == "sign"}
    if not tokens:
        raise Unreadable("The text is empty.")
    if "=" in signs:
        raise Unreadable("Write only what stands to the right of the equals sign.")
    if "," in signs:
        raise Unreadable("Write one formula, without commas. A decimal has a point.")
    return _Reader(tokens).whole()


def same(one: Formula, other: Formula, points: Sequence[Point]) -> bool:
    """Whether two formulas agree at all points at which neither divides by 0, and most of them are such points."""
    pairs = [(one.at(point), other.at(point)) for point in points]
    met = [(a, b) for a, b in pairs if a is not None and b is not None]
    return 2 * len(met) > len(pairs) and all(a == b for a, b in met)


def written(number: Fraction) -> str:
    """A number as a learner would write it: 0.35, or 2/7 where the decimals never end."""
    if abs(number) > 10**15:
        return "more than 10¹⁵" if number > 0 else "less than −10¹⁵"
    if 10**6 % number.denominator == 0:
        return f"{float(number):g}".replace("-", "−")
    return str(number).replace("-", "−") if len(str(number)) <= 12 else f"{float(number):.6g}"


def _tokens(text: str, names: Names) -> list[tuple[str, str]]:
    """Numbers, names, signs, each with its kind. Products without a sign stay so: the reader sees to them."""
    text = re.sub("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda high: "^" + high[0].translate(_SUPERSCRIPTS), text)
    text = re.sub(r"\\[dt]frac", r"\\frac", _TEX_SPACE.sub(" ", text))
    for tex, plain in _TEX.items():
        text = text.replace(tex, plain)
    text = re.sub(r"\\(?!frac)", "", text)
    text = re.sub(r"_\{(\w+)\}", r"\1", unicodedata.normalize("NFKC", text).lower()).replace("_", "")
    text, pattern = text.translate(_SIGNS), names.pattern
    found: list[tuple[str, str]] = []
    at = 0
    while rest := text[at:].lstrip():
        at = len(text) - len(rest)
        if met := _NUMBER.match(rest):
            found.append(("number", met[0]))
        elif met := pattern.match(rest):
            found.append(("name", names.called(met[0])))
        elif met := _SIGN.match(rest):
            found.append(("sign", "^" if met[0] == "**" else met[0]))
        else:
            word = re.match(r"[^\W\d]+\d*|.", rest)
            raise Unreadable(f"{word[0] if word else rest[0]!r} does not belong here. {names.in_words}")
        at += met.end()
    return found


class _Reader:
    """Sums of products of powers, from left to right. Each part tells how many factors its longest term has."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens, self.depth = tokens, 0
        self.program: list[tuple[str, Fraction | str | int]] = []

    def whole(self) -> Formula:
        self._sum()
        if self.tokens:
            raise Unreadable("A bracket is closed that was never opened.")
        return Formula(tuple(self.program))

    def _sign(self, *which: str) -> str:
        """Take the next token if it is one of these signs; "" if it is not."""
        if self.tokens and self.tokens[0][0] == "sign" and self.tokens[0][1] in which:
            return self.tokens.pop(0)[1]
        return ""

    def _sum(self) -> int:
        factors = self._product()
        while sign := self._sign("+", "-"):
            factors = max(factors, self._product())
            self.program.append((sign, ""))
        return factors

    def _product(self) -> int:
        factors = self._signed()
        while (sign := self._sign("*", "/")) or self._goes_on():
            factors = _limited(factors + self._signed())
            self.program.append((sign or "*", ""))
        if self.tokens and self.tokens[0][0] == "number":
            raise Unreadable("A number behind a name needs a sign: x^2 is the square, 2 x is twice x.")
        return factors

    def _goes_on(self) -> bool:
        """Whether a factor follows without a sign."""
        return bool(self.tokens) and (
            self.tokens[0][0] == "name" or self.tokens[0] in (("sign", "("), ("sign", _FRACTION))
        )

    def _signed(self) -> int:
        minus = False
        while sign := self._sign("+", "-"):
            minus ^= sign == "-"
        factors = self._power()
        if minus:
            self.program.append(("minus", ""))
        return factors

    def _power(self) -> int:
        factors = self._atom()
        if not self._sign("^"):
            return factors
        exponent = self._exponent()
        self.program.append(("power", exponent))
        return _limited(factors * max(1, abs(exponent)))

    def _exponent(self) -> int:
        bracket = self._sign("(")
        minus = self._sign("-")
        kind, text = self.tokens.pop(0) if self.tokens else ("", "")
        whole = kind == "number" and text.isdecimal() and len(text) <= 2 and int(text) <= HIGHEST
        if not whole or (bracket and not self._sign(")")) or self._sign("^"):
            raise Unreadable(
                f"A power here is a whole number from −{HIGHEST} to {HIGHEST}, as in x² or x^-1."
            )
        return -int(text) if minus else int(text)

    def _atom(self) -> int:
        kind, text = self.tokens.pop(0) if self.tokens else ("", "")
        if (kind, text) == ("sign", "("):
            return self._bracket()
        if (kind, text) == ("sign", _FRACTION):
            return self._fraction()
        if kind == "name":
            self.program.append((kind, text))
            return 1
        if kind != "number":
            raise Unreadable(f"Something is missing {f'before {text!r}' if text else 'at the end'}.")
        if Fraction(text) > LARGEST:
            raise Unreadable("There is a number in it that is far too large.")
        self.program.append((kind, Fraction(text)))
        return 1

    def _fraction(self) -> int:
        r"""What stands in the two pairs of braces of a \frac, which are brackets by now."""
        factors = 0
        for _ in ("above", "below"):
            if not self._sign("("):
                raise Unreadable(
                    r"\frac wants two pairs of braces, as in \frac{a}{b}. You can also write a/b."
                )
            factors += self._bracket()
        self.program.append(("/", ""))
        return _limited(factors)

    def _bracket(self) -> int:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("There are too many brackets inside each other.")
        factors = self._sum()
        self.depth -= 1
        if not self._sign(")"):
            raise Unreadable("A bracket is opened and never closed.")
        return factors


def _limited(factors: int) -> int:
    if factors > HIGHEST:
        raise Unreadable("There is a power in it that is far too high.")
    return factors
