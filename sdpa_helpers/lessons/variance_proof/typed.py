"""Read what a learner types for a step of the proof: an expression, a number, or a string as the page prints it.

A string is never evaluated, by Python or by SymPy (whose `sympify` runs code). It is read sign by sign: six names,
numbers, + − · / and powers. Whatever is not understood becomes one sentence that says what to write instead.
"""

import numbers
import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sympy

LONGEST = 200  # characters
DEEPEST = 20  # brackets inside each other
HIGHEST = 8  # factors in one term: SymPy multiplies out what is read here
LARGEST = 10**12

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SIGNS = str.maketrans("·⋅∙•×∗−–—÷⁄[]{}", "******---//()()")
_TEX = {r"\cdot": "*", r"\times": "*", r"\left": "", r"\right": "", "\\": "", "$": ""}
_NAMES = {
    "mq": ("mq", "μq", "muq"),
    "vq": ("vq", "varq"),
    "mk": ("mk", "μk", "muk"),
    "vk": ("vk", "vark"),
    "sq": ("σq", "sigmaq"),
    "sk": ("σk", "sigmak"),
    "d": ("dk", "d"),
    "v": ("v",),
}
_NAME_OF = {spelling: name for name, spellings in _NAMES.items() for spelling in spellings}
_A_NAME = "|".join(sorted(_NAME_OF, key=len, reverse=True))
_TOKEN = re.compile(r"\s*(?:([0-9]+\.?[0-9]*|\.[0-9]+)|([^\W\d]+)|(\*\*|[-+*/^()=,]))")
_KNOWN = "The names are m_q, v_q, m_k, v_k, d and v."


class UnreadableError(ValueError):
    """Its text is a sentence for the learner."""


def as_expression(answer: Any, symbols: "tuple[Any, ...]") -> "sympy.Expr":
    """The answer as an expression in `symbols`, which are m_q, v_q, m_k, v_k, d, v.

    Raises:
        UnreadableError: it is none; the text says what to do.
    """
    import sympy

    if isinstance(answer, str):
        return _read(answer, symbols)
    if answer is None:
        raise UnreadableError(
            "None is not an answer yet. Write an expression; the folded answer above shows one."
        )
    if isinstance(answer, sympy.Expr):
        return _of_a_sensible_size(_exact(answer))
    if isinstance(answer, (bool, sympy.logic.boolalg.Boolean)):
        raise UnreadableError("A comparison is True or False. Write the expression alone, without == or <.")
    if isinstance(answer, numbers.Real):
        size: Any = abs(answer)
        if not size <= LARGEST:
            raise UnreadableError("That number is not finite, or far too large.")
        return sympy.Rational(str(answer))
    if isinstance(answer, (tuple, list, set, dict)):
        raise UnreadableError("Write one expression, not several in brackets or with commas.")
    if callable(answer):
        raise UnreadableError("That is a function. Write the expression that it computes.")
    raise UnreadableError(
        f"An object of type {type(answer).__name__} is not an expression. Write it with the names, or as a string."
    )


def written(expression: "sympy.Expr") -> str:
    """As the page prints it, e.g. "d (m_q² v_k + v_k v_q)"."""
    digits = {ord(plain): high for high, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)}
    text = re.sub(r"\*\*(\d+)", lambda power: power[1].translate(digits), str(expression))
    return text.replace("*", " ").replace("-", "−")


def _exact(expression: Any) -> Any:
    """Decimals as fractions: `d**0.5` is √d."""
    import sympy

    floats = [number for number in expression.atoms(sympy.Float) if number.is_finite]
    return expression.xreplace({number: sympy.Rational(str(number)) for number in floats})


def _of_a_sensible_size(expression: Any) -> Any:
    import sympy

    kinds = (sympy.Add, sympy.Mul, sympy.Pow, sympy.Symbol, sympy.Number)
    if not all(isinstance(part, (*kinds, type(sympy.zoo))) for part in sympy.preorder_traversal(expression)):
        raise UnreadableError("Only sums, products and powers of the names and of numbers belong here.")
    too_large = any(not abs(n) <= LARGEST for n in expression.atoms(sympy.Number) if n.is_real)
    too_high = any(not abs(p.exp) <= HIGHEST for p in expression.atoms(sympy.Pow) if p.exp.is_number)
    if too_large or too_high or expression.has(sympy.nan, sympy.zoo, sympy.oo):
        raise UnreadableError("There is a power or a number in it that is far too large, or a division by 0.")
    return expression


# Strings --------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A part that has been read, and how many factors its longest term has at most."""

    value: Any
    factors: int


def _read(text: str, symbols: tuple[Any, ...]) -> Any:
    if len(text) > LONGEST:
        raise UnreadableError(f"That is longer than {LONGEST} characters. The steps have short answers.")
    tokens = _tokens(text)
    if not tokens:
        raise UnreadableError('The string is empty. Write an expression, for example "2 v_q + m_k²".')
    if "=" in tokens:
        raise UnreadableError("Write only what stands on the right of the equals sign.")
    if "," in tokens:
        raise UnreadableError("Write one expression, not several with commas. A decimal has a point.")
    return _Reader(tokens, symbols).whole()


def _tokens(text: str) -> list[str]:
    """Numbers, names ("mq", "d", …), signs. Products without a sign stay so: the reader sees to them."""
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda high: "^" + high[0].translate(_SUPERSCRIPTS), text)
    for tex, plain in _TEX.items():
        text = text.replace(tex, plain)
    text = re.sub(r"_\{(\w)\}", r"_\1", unicodedata.normalize("NFKC", text).lower()).translate(_SIGNS)
    found, at = [], 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if not token:
            raise UnreadableError(f"{text[at:].strip()[0]!r} does not belong here. {_KNOWN}")
        number, word, sign = token.groups()
        found += [number or sign] if number or sign else _names_in(word)
        at = token.end()
    return found


def _names_in(word: str) -> list[str]:
    """ "v_qv_k" is two names: ["vq", "vk"]."""
    plain = word.replace("_", "")
    if not re.fullmatch(f"(?:{_A_NAME})+", plain):
        raise UnreadableError(f"{word!r} is not one of the names. {_KNOWN}")
    return [_NAME_OF[name] for name in re.findall(_A_NAME, plain)]


class _Reader:
    """Sums of products of powers, from left to right."""

    def __init__(self, tokens: list[str], symbols: tuple[Any, ...]) -> None:
        import sympy

        mq, vq, mk, vk, d, v = symbols
        self.names: Mapping[str, Any] = {
            "mq": mq, "vq": vq, "mk": mk, "vk": vk, "d": d, "v": v, "sq": sympy.sqrt(vq), "sk": sympy.sqrt(vk)
        }  # fmt: skip
        self.number = sympy.Rational
        self.tokens, self.depth = tokens, 0

    def whole(self) -> Any:
        total = self._sum()
        if self.tokens:
            raise UnreadableError("A bracket is closed that was never opened.")
        return _of_a_sensible_size(total.value)

    def _next(self, *which: str) -> str:
        """Take the next token if it is one of these, or any if none are given; "" if it is not."""
        if self.tokens and (not which or self.tokens[0] in which):
            return self.tokens.pop(0)
        return ""

    def _sum(self) -> _Part:
        total = self._product()
        while sign := self._next("+", "-"):
            more = self._product()
            value = total.value + more.value if sign == "+" else total.value - more.value
            total = _Part(value, max(total.factors, more.factors))
        return total

    def _product(self) -> _Part:
        whole = self._signed()
        while (sign := self._next("*", "/")) or (self.tokens and self.tokens[0] in (*self.names, "(")):
            more = self._signed()
            if sign == "/" and more.value == 0:
                raise UnreadableError("There is a division by 0 in it.")
            value = whole.value / more.value if sign == "/" else whole.value * more.value
            whole = _limited(_Part(value, whole.factors + more.factors))
        if self.tokens and self.tokens[0][0] in "0123456789.":
            raise UnreadableError(
                "A number after a name needs a sign: m_q^2 is the square, 2 m_q is twice m_q."
            )
        return whole

    def _signed(self) -> _Part:
        minus = False
        while sign := self._next("+", "-"):
            minus ^= sign == "-"
        base = self._power()
        return base._replace(value=-base.value) if minus else base

    def _power(self) -> _Part:
        base = self._atom()
        if not self._next("^", "**"):
            return base
        exponent = self._atom()
        if not (exponent.value.is_Integer and 0 <= exponent.value <= HIGHEST) or self._next("^", "**"):
            raise UnreadableError(f"A power here is a whole number from 0 to {HIGHEST}, as in m_q² or m_q^2.")
        return _limited(_Part(base.value**exponent.value, base.factors * max(1, int(exponent.value))))

    def _atom(self) -> _Part:
        token = self._next()
        if token == "(":
            return self._bracket()
        if token in self.names:
            return _Part(self.names[token], 1)
        if not token or token[0] not in "0123456789.":
            raise UnreadableError(f"Something is missing {f'before {token!r}' if token else 'at the end'}.")
        if float(token) > LARGEST:
            raise UnreadableError("There is a number in it that is far too large.")
        return _Part(self.number(token), 1)

    def _bracket(self) -> _Part:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnreadableError("There are too many brackets inside each other.")
        inside = self._sum()
        self.depth -= 1
        if not self._next(")"):
            raise UnreadableError("A bracket is opened and never closed.")
        return inside


def _limited(part: _Part) -> _Part:
    if part.factors > HIGHEST:
        raise UnreadableError("There is a power in it that is far too high.")
    return part
