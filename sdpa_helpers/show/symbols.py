"""The field's symbols in pictures: dₖ, QKᵀ, 10⁻³, with real sub- and superscripts.

Code writes d_k, a figure of matplotlib shows what Unicode has (dₖ), and SVG sets every small letter by itself.
"""

import re
from html import escape

_HIGH = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵃᵇᶜᵈᵉᵍⁱᵏᵐⁿᵒᵖʳˢᵗˣᵀ", "0123456789−+abcdegikmnoprstxT", strict=True))
_LOW = dict(zip("₀₁₂₃₄₅₆₇₈₉ₖᵥₙᵢⱼₘₐₓ", "0123456789kvnijmax", strict=True))
_RAISED = str.maketrans({plain: high for high, plain in _HIGH.items()} | {"-": "⁻"})
_SMALL = re.compile(f"([{''.join(_HIGH)}]+)|([{''.join(_LOW)}]+)|(?<=\\b[a-zA-Z])_([a-z]+)\\b")
_LOWERED = {plain: low for low, plain in _LOW.items()}
_SIZES = re.compile(r"\b([a-zA-Z])_([kvnij])\b")


def with_symbols(text: str) -> str:
    """Names of sizes as the field prints them: d_k as dₖ. (`marked_up` sets any subscript, also that of d_model.)"""
    return _SIZES.sub(lambda found: found[1] + _LOWERED[found[2]], text)


def with_index(text: str) -> str:
    """The size d of a key as pictures print it: 1/√d as 1/√dₖ, and d^¼ as ⁴√dₖ."""
    return re.sub(r"\bd\b", "dₖ", text.replace("d^¼", "⁴√d"))


def raised(text: str) -> str:
    """A number, or one of the letters that Unicode has, as an exponent: -3 is ⁻³."""
    return text.translate(_RAISED)


def marked_up(words: str) -> str:
    """Words as SVG's text holds them: escaped, raised and lowered letters set as such. Few fonts of a page have the
    letters that Unicode raises or lowers by itself: taken from another font they would be larger, or hard to read.

    >>> marked_up("10²")
    '10<tspan dy="-0.5em" font-size="70%">2</tspan>'
    """
    parts, at, line = [], 0, 0.0  # where the line of writing is, in the letters' size
    for found in _SMALL.finditer(words):
        high, low, name = found.groups()
        small = "".join(_HIGH[c] for c in high) if high else "".join(_LOW[c] for c in low) if low else name
        if between := words[at : found.start()]:
            parts.append(_span(between, -line))
            line = 0.0
        wanted = -0.35 if high else 0.21
        parts.append(_span(small, (wanted - line) / 0.7, ' font-size="70%"'))
        at, line = found.end(), wanted
    return "".join(parts) + (_span(words[at:], -line) if at < len(words) else "")


def _span(text: str, down: float, size: str = "") -> str:
    text = escape(text, quote=False)
    return f'<tspan dy="{round(down, 2):g}em"{size}>{text}</tspan>' if down else text


def without_mathtext(s: str) -> str:
    """What matplotlib writes at logarithmic axes, in plain letters: `$\\mathdefault{10^{-3}}$` is 10⁻³."""
    text = re.sub(r"\\mathdefault\{(.*)\}", r"\1", s.replace("$", ""))
    text = text.replace(r"\times", "×").replace(r"\/", "")
    return re.sub(r"\^\{([^}]*)\}", lambda found: raised(found[1]), text)
