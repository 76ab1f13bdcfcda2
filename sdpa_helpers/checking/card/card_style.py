"""The style sheet that every card brings along: `card.css`, for light and dark pages alike.

Ink is the page's own colour, lines and washes are that ink made thin: no theme has to be known. Only what says right
or wrong has a colour of its own, and always a sign or a word beside it. Nothing of it is needed to read a card.
"""

import re
from functools import cache
from pathlib import Path


def styled(*parts: str) -> str:
    """Cards with the style sheet, once for all of them."""
    return f"<style>{sheet()}</style>{''.join(parts)}"


def sheet() -> str:
    """The style sheet by itself, for a page that draws cards without theirs."""
    return style_sheet(_SHEET)


@cache
def style_sheet(path: Path) -> str:
    """A style sheet without the spaces that only its readers need."""
    return re.sub(r"\s*([{};,>])\s*|\s+", lambda m: m[1] or " ", path.read_text("utf-8")).strip()


def code_colours(within: str) -> str:
    """The rules for the words of code in a card, for those within another selector."""
    rules = re.findall(r"\.sdpa-card (\.\w\{[^}]*\})", style_sheet(_SHEET))
    return " ".join(f"{within} {rule}" for rule in rules)


_SHEET = Path(__file__).with_name("card.css")
