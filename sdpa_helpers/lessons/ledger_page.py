"""Write the ledger: numbers to docs/ledger.json, the page to docs/ledger.md (`make ledger`)."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sdpa_helpers.lessons.claim import Claim, Entry, run
from sdpa_helpers.lessons.places import course_root
from sdpa_helpers.lessons.registry import all_claims

ARTICLES = {
    "A": "a short explainer with a visualisation",
    "B": "a blog post on why √d_k matters",
    "C": "a chapter of an online course",
    "D": "a reference card",
    "E": "an interview tutorial with code",
}

VERDICTS = {
    "right": "it holds as it stands.",
    "needs a condition": "it holds in some cases, and the article does not say in which; or it leaves out "
    "something that changes the meaning.",
    "wrong": "the numbers say otherwise.",
}

_SHOWN = {"right": "right", "needs a condition": "*needs a condition*", "wrong": "**wrong**"}


def as_json(entries: Sequence[Entry]) -> str:
    """The numbers and verdicts, for the test that computes them again. NaN and ±∞ become strings."""

    def plain(value: float) -> float | str:
        return value if math.isfinite(value) else str(value)

    data = {
        str(entry.claim.number): {
            "verdict": entry.verdict,
            "values": {name: plain(value) for name, value in entry.values.items()},
        }
        for entry in entries
    }
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def stored_entries(claims: Sequence[Claim], text: str) -> list[Entry]:
    """The claims with the numbers that `as_json` wrote. KeyError for a claim that it does not have."""
    data: Mapping[str, Any] = json.loads(text)
    return [
        Entry(claim, {name: float(value) for name, value in data[str(claim.number)]["values"].items()})
        for claim in claims
    ]


def as_page(entries: Sequence[Entry]) -> str:
    """The ledger as a Markdown page: what the verdicts mean, how many there are, and a table for each article."""
    lines = [
        f"# The ledger: {len(entries)} claims, computed",
        "",
        "Five articles about scaled dot-product attention make these claims. We call the articles A to E, and give "
        "each claim in our own words. The lesson named in the last column runs or discusses it. What came out is "
        "computed: `make ledger` does it again and writes this page, and a test compares.",
        "",
        *(f"- {_SHOWN[verdict]}: {meaning}" for verdict, meaning in VERDICTS.items()),
        "",
        "A few claims are opinions or history. They have no number, and name a source instead.",
        "",
        *_counts(entries),
    ]
    for letter, what in ARTICLES.items():
        lines += [
            "",
            f"## Article {letter}: {what}",
            "",
            *_table([e for e in entries if e.claim.article == letter]),
        ]
    return "\n".join(lines) + "\n"


def _counts(entries: Sequence[Entry]) -> list[str]:
    rows = [
        (
            f"[{letter}](#{_anchor(letter, what)}), {what}",
            [e.verdict for e in entries if e.claim.article == letter],
        )
        for letter, what in ARTICLES.items()
    ]
    rows.append(("**all**", [e.verdict for e in entries]))
    lines = [f"| article | {' | '.join(VERDICTS)} | claims |", "|:--|--:|--:|--:|--:|"]
    for name, verdicts in rows:
        count = Counter(verdicts)
        lines.append(f"| {name} | {' | '.join(str(count[v]) for v in VERDICTS)} | {len(verdicts)} |")
    return lines


def _anchor(letter: str, what: str) -> str:
    """The address that GitHub and JupyterLab's preview give to an article's heading."""
    return re.sub(r"[^\w -]", "", f"article {letter} {what}".lower()).replace(" ", "-")


def _table(entries: Sequence[Entry]) -> list[str]:
    lines = ["| # | claim | verdict | what came out | where |", "|--:|:--|:--|:--|:--|"]
    for entry in entries:
        claim = entry.claim
        kind = "" if claim.kind == "measured" else f" ({claim.kind}; source: {claim.source})"
        notebook, _, section = claim.where.partition(", ")
        where = f"[{notebook.replace('_', ' ')}](../notebooks/{notebook}.ipynb), {section}"
        cells = (str(claim.number), claim.says, _SHOWN[entry.verdict], entry.finding + kind, where)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return lines


def _cell(text: str) -> str:
    """Text that stays in its table cell, with a true minus sign before a number."""
    one_line = " ".join(text.split()).replace("|", "\\|")
    return re.sub(r"(?<![\w\-./])-(?=\d)", "−", one_line)


def write(root: Path) -> None:
    """Compute every claim and write both files; neither is touched if a claim fails."""
    entries = [run(claim) for claim in all_claims()]
    numbers, page = as_json(entries), as_page(entries)
    docs = root / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "ledger.json").write_text(numbers, encoding="utf-8")
    (docs / "ledger.md").write_text(page, encoding="utf-8")
    print(f"wrote docs/ledger.json and docs/ledger.md: {len(entries)} claims")


if __name__ == "__main__":
    write(course_root())
