"""What a learner typed for a step of the proof, as a SymPy expression: an expression, a number, or a string.

A string is never evaluated, by Python or by SymPy (whose `sympify` runs code): `checking.kinds.formula` reads it sign
by sign. Whatever is not understood becomes one sentence that says what to write instead.
"""

import numbers
import operator
import re
from typing import TYPE_CHECKING, Any

from sdpa_helpers.checking.kinds.formula import HIGHEST, LARGEST, Formula, Names, Unreadable, read

if TYPE_CHECKING:
    import sympy

NAMES = Names(
    {
        "m_q": ("mq", "μq", "muq"),
        "v_q": ("vq", "varq"),
        "m_k": ("mk", "μk", "muk"),
        "v_k": ("vk", "vark"),
        "d": ("dk", "d"),
        "v": ("v",),
    }
)
"""The names of the proof, and how they may be typed."""

_BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def as_expression(answer: Any, symbols: "tuple[Any, ...]") -> "sympy.Expr":
    """The answer as an expression in `symbols`, which are m_q, v_q, m_k, v_k, d, v.

    Raises:
        Unreadable: it is none; the text says what to do.
    """
    import sympy

    if isinstance(answer, str):
        return _of_a_sensible_size(_with_symbols(read(answer, NAMES), symbols))
    if answer is None:
        raise Unreadable("None is not an answer yet. Write an expression; the folded answer above shows one.")
    if isinstance(answer, sympy.Expr):
        return _of_a_sensible_size(_exact(answer))
    if isinstance(answer, (bool, sympy.logic.boolalg.Boolean)):
        raise Unreadable("A comparison is True or False. Write the expression alone, without == or <.")
    if isinstance(answer, numbers.Real):
        size: Any = abs(answer)
        if not size <= LARGEST:
            raise Unreadable("That number is not finite, or far too large.")
        return sympy.Rational(str(answer))
    if isinstance(answer, (tuple, list, set, dict)):
        raise Unreadable("Write one expression, not several in brackets or with commas.")
    if callable(answer):
        raise Unreadable("That is a function. Write the expression that it computes.")
    raise Unreadable(
        f"An object of type {type(answer).__name__} is not an expression. Write it with the names, or as a string."
    )


def written(expression: "sympy.Expr") -> str:
    """As the page prints it, e.g. "d (m_q² v_k + v_k v_q)"."""
    digits = {ord(plain): high for high, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)}
    text = re.sub(r"\*\*(\d+)", lambda power: power[1].translate(digits), str(expression))
    return text.replace("*", " ").replace("-", "−")


def _with_symbols(formula: Formula, symbols: "tuple[Any, ...]") -> Any:
    """A formula that was read, worked out with symbols in place of numbers."""
    import sympy

    value_of = dict(zip(NAMES.spellings, symbols, strict=True))
    stack: list[Any] = []
    for kind, what in formula.program:
        if kind == "number":
            stack.append(sympy.Rational(what))
        elif kind == "name":
            stack.append(value_of[str(what)])
        elif kind == "power":
            stack.append(stack.pop() ** int(what))
        elif kind == "minus":
            stack.append(-stack.pop())
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(_BINARY[kind](left, right))
    return stack.pop()


def _exact(expression: Any) -> Any:
    """Decimals as fractions: `d**0.5` is √d."""
    import sympy

    floats = [number for number in expression.atoms(sympy.Float) if number.is_finite]
    return expression.xreplace({number: sympy.Rational(str(number)) for number in floats})


def _of_a_sensible_size(expression: Any) -> Any:
    import sympy

    kinds = (sympy.Add, sympy.Mul, sympy.Pow, sympy.Symbol, sympy.Number)
    if not all(isinstance(part, (*kinds, type(sympy.zoo))) for part in sympy.preorder_traversal(expression)):
        raise Unreadable("Only sums, products and powers of the names and of numbers belong here.")
    too_large = any(not abs(n) <= LARGEST for n in expression.atoms(sympy.Number) if n.is_real)
    too_high = any(not abs(p.exp) <= HIGHEST for p in expression.atoms(sympy.Pow) if p.exp.is_number)
    if too_large or too_high or expression.has(sympy.nan, sympy.zoo, sympy.oo):
        raise Unreadable("There is a power or a number in it that is far too large, or a division by 0.")
    return expression
