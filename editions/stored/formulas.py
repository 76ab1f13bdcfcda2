"""Formulas as pictures or MathML, made once when a page is built: it needs neither MathJax nor its fonts."""

import html
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from editions.npm import npm_folder
from editions.programs import output_of

SCRIPT = Path(__file__).with_suffix(".mjs")

_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$(?![\s$])([^$]+?)(?<![\s\\])\$(?![\d$])", re.DOTALL)


class Formula(NamedTuple):
    """A formula of a text."""

    tex: str
    display: bool
    """Whether it stands in a line of its own."""


Drawn = Mapping[Formula, str]


def formulas_in(text: str) -> list[Formula]:
    """The formulas of a text in Markdown, without what stands in code."""
    return [_formula(found) for found in _FORMULA.finditer(_CODE.sub("", text))]


def _formula(found: re.Match[str]) -> Formula:
    return Formula((found[1] or found[2]).strip(), found[1] is not None)


def draw(formulas: Iterable[Formula]) -> Drawn:
    """Each formula as HTML with an SVG in the text's color; its TeX is its text for a screen reader.

    Raises:
        RuntimeError: MathJax cannot read one of them.
    """
    wanted = list(dict.fromkeys(formulas))
    name = 'role="img" aria-label="{}"'
    return {
        one: picture.replace('role="img"', name.format(html.escape(one.tex)), 1)
        for one, picture in zip(wanted, _made(wanted, "svg"), strict=True)
    }


def mathml(formulas: Iterable[Formula]) -> Drawn:
    """Each formula as MathML. RuntimeError as in `draw`."""
    wanted = list(dict.fromkeys(formulas))
    return dict(zip(wanted, _made(wanted, "mathml"), strict=True))


def _made(formulas: list[Formula], kind: str) -> list[str]:
    if not formulas:
        return []
    command = ["node", str(SCRIPT), str(npm_folder() / "mathjax" / "node-main.mjs"), kind]
    return json.loads(
        output_of(command, "MathJax failed", input=json.dumps([one._asdict() for one in formulas]))
    )


def take_out(text: str) -> tuple[str, list[Formula]]:
    """A text with a mark in place of each formula, and the formulas: Markdown would read their stars and lines."""
    kept: list[str] = []
    held = _CODE.sub(lambda found: kept.append(found[0]) or f"\x01{len(kept) - 1}\x01", text)
    formulas: list[Formula] = []

    def mark(found: re.Match[str]) -> str:
        formulas.append(_formula(found))
        return f"\x02{len(formulas) - 1}\x02"

    held = _FORMULA.sub(mark, held)
    return re.sub("\x01(\\d+)\x01", lambda found: kept[int(found[1])], held), formulas


def put_back(text: str, formulas: list[Formula], drawn: Drawn) -> str:
    """HTML with the pictures where `take_out` left marks."""
    return re.sub("\x02(\\d+)\x02", lambda found: drawn[formulas[int(found[1])]], text)
