"""Write the ledger's page: a Markdown file for Sphinx with one table of HTML, which reads and prints without scripts.

Numbers and verdicts are those of docs/ledger.json; nothing is computed here. A link to the place in the lesson that
decides a claim is written as `where:LESSON:HEADING`, and `anchored` puts the address in when Sphinx knows its sections.
"""

import html
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from editions.look.pages import templates_in
from sdpa_helpers.course.articles import ARTICLES
from sdpa_helpers.course.claim import LedgerRow
from sdpa_helpers.course.ledger_page import VERDICTS, came_out, cases_told, doubles, place, stored_entries
from sdpa_helpers.course.registry import all_claims
from sdpa_helpers.course.verdict_rules import RULES

HERE = Path(__file__).parent
SIGNS = {"right": "✓", "needs a condition": "±", "wrong": "✗", "not shown": "?"}

_WHERE = re.compile(r'href="where:(\w+):([^"]*)"')


def entries_of(root: Path) -> list[LedgerRow]:
    """All claims with the numbers that are stored."""
    return stored_entries(all_claims(), (root / "docs" / "ledger.json").read_text(encoding="utf-8"))


def as_source(entries: Sequence[LedgerRow]) -> str:
    """The page as Markdown for Sphinx."""
    verdicts = [(verdict.replace(" ", "-"), verdict) for verdict in VERDICTS]
    articles = [(article.letter, f"{article.letter}: {article.what}") for article in ARTICLES]
    lessons = sorted({heading_wanted(entry.claim.where)[0] for entry in entries})
    numbered = [(lesson[:2], lesson.replace("_", " ")) for lesson in lessons]
    choices = [("Verdict", verdicts), ("Article", articles), ("Lesson", numbered)]
    rows = [_row(entry, entries) for entry in entries if not entry.claim.same_as]
    pages = templates_in(HERE)
    pages.filters |= {"rich": rich, "number": _number}
    pages.globals |= {
        "verdicts": VERDICTS,
        "signs": SIGNS,
        "articles": ARTICLES,
        "rules": RULES,
        "place": place,
    }
    page = pages.get_template("page.md.jinja")
    return page.render(entries=entries, rows=rows, count=partial(_count, entries), choices=choices)


def anchored(body: str, address: Callable[[str, str], str]) -> str:
    """The page with every `where:…` replaced by an address; `address` is given the lesson and the heading."""
    return _WHERE.sub(lambda found: f'href="{address(found[1], html.unescape(found[2]))}"', body)


def heading_wanted(where: str) -> tuple[str, str]:
    """Lesson and heading of a claim's `where`: "02_variance_proof, section 3"."""
    lesson, _, section = where.partition(", ")
    return lesson, section


def is_heading(heading: str, wanted: str) -> bool:
    """Whether a heading such as "3. Measured" is the one that is wanted: "Measured", or "section 3"."""
    number, _, words = heading.partition(". ") if re.match(r"\d+\. ", heading) else ("", "", heading)
    return _plain(words) == _plain(wanted) or wanted == f"section {number}"


def _plain(words: str) -> str:
    return words.replace("’", "'").strip()


def rich(text: str) -> Markup:
    """HTML of a claim's words: real subscripts, minus signs, code."""
    words = html.escape(" ".join(text.split()), quote=False)
    words = re.sub(r"(?<![\w\-./])-(?=\d)", "−", words)
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", words)
    return Markup(re.sub(r"\b([A-Za-z])_\{?([a-z]+)\}?(?!\w)", r"\1<sub>\2</sub>", words))


def _row(entry: LedgerRow, entries: Sequence[LedgerRow]) -> dict[str, Any]:
    alike = doubles(entry, entries)
    lesson, section = heading_wanted(entry.claim.where)
    articles = " ".join(one.claim.article for one in (entry, *alike))
    row = {"entry": entry, "alike": alike, "lesson": lesson, "section": section, "articles": articles}
    return {**row, "came_out": came_out(entry), "cases": cases_told(entry)}


def _count(entries: Sequence[LedgerRow], letter: str, verdict: str = "") -> int:
    """How many claims of an article, or of all, have a verdict, or any."""
    return sum(letter in ("", e.claim.article) and verdict in ("", e.verdict) for e in entries)


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−").replace("inf", "∞")
