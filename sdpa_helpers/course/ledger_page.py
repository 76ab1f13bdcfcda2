"""Write the ledger: numbers to docs/ledger.json, the page to docs/ledger.md (`make ledger`)."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sdpa_helpers.course.articles import ARTICLES, Article, article_of, part_of
from sdpa_helpers.course.claim import Claim, LedgerRow, run
from sdpa_helpers.course.generated import keep
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import all_claims
from sdpa_helpers.course.verdict_rules import RULES, rule_of

VERDICTS = {
    "right": "it holds in every case that the article's words include.",
    "needs a condition": "it holds in some of these cases and not in others, and the article does not say in which.",
    "wrong": "it holds in none of them.",
    "not shown": "the article gives no evidence, and what we can compute decides none of them.",
}

_SHOWN = {
    "right": "right",
    "needs a condition": "*needs a condition*",
    "wrong": "**wrong**",
    "not shown": "*not shown*",
}


def as_json(entries: Sequence[LedgerRow]) -> str:
    """The numbers and verdicts, for the test that computes them again. NaN and ±∞ become strings.

    What is no whole number ends at a hundredth of what its claim lets it differ by: later digits are one processor's
    rounding.
    """

    def plain(value: float, relative: float) -> float | str:
        if not math.isfinite(value):
            return str(value)
        digits = 2 - math.floor(math.log10(relative))
        return value if value == int(value) else float(f"{value:.{digits}g}")

    data = {
        str(entry.claim.number): {
            "verdict": entry.verdict,
            "values": {name: plain(value, entry.claim.relative) for name, value in entry.values.items()},
        }
        for entry in entries
    }
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def stored_entries(claims: Sequence[Claim], text: str) -> list[LedgerRow]:
    """The claims with the numbers that `as_json` wrote. KeyError for a claim that it does not have."""
    data: Mapping[str, Any] = json.loads(text)
    return [
        LedgerRow(claim, {name: float(value) for name, value in data[str(claim.number)]["values"].items()})
        for claim in claims
    ]


def as_page(entries: Sequence[LedgerRow]) -> str:
    """The ledger as a Markdown page: what the verdicts mean, how many there are, and a table for each article."""
    lines = [
        f"# The ledger: {len(entries)} claims, computed",
        "",
        "Five articles about scaled dot-product attention make these claims. We call the articles A to E, and give "
        "each claim in the article's words, with the place where they stand, and in ours. The lesson named in the last "
        "column runs or discusses it. What came out is computed: `make ledger` does it again and writes this page, and "
        "a test compares. `sdpa ledger 152` computes one claim in front of you.",
        "",
        "No verdict is written by hand. It follows from the cases that were measured:",
        "",
        *(f"- {_SHOWN[verdict]}: {meaning}" for verdict, meaning in VERDICTS.items()),
        "",
        "A few claims are opinions or history. They have no number, and name a source instead.",
        "",
        *_counts(entries),
        "",
        "Claims with the same hole get the same verdict. The [rules](#one-rule-for-each-kind-of-hole) stand at the "
        "end, and a test holds every claim to them.",
    ]
    for article in ARTICLES:
        lines += [
            "",
            f"## Article {article.letter}: {article.what}",
            "",
            *_table(
                [e for e in entries if e.claim.article == article.letter and not e.claim.same_as], entries
            ),
        ]
    lines += [
        "",
        "## One rule for each kind of hole",
        "",
        "| what is the same | verdict | claims |",
        "|:--|:--|:--|",
    ]
    for rule in RULES:
        lines.append(f"| {rule.says} | {_SHOWN[rule.verdict]} | {', '.join(map(str, rule.claims))} |")
    return "\n".join(lines) + "\n"


def _counts(entries: Sequence[LedgerRow]) -> list[str]:
    rows = [
        (
            f"[{article.letter}](#{_anchor(article)}), {article.what}",
            [e.verdict for e in entries if e.claim.article == article.letter],
        )
        for article in ARTICLES
    ]
    rows.append(("**all**", [e.verdict for e in entries]))
    lines = [f"| article | {' | '.join(VERDICTS)} | claims |", "|:--|--:|--:|--:|--:|--:|"]
    for name, verdicts in rows:
        count = Counter(verdicts)
        lines.append(f"| {name} | {' | '.join(str(count[v]) for v in VERDICTS)} | {len(verdicts)} |")
    return lines


def _anchor(article: Article) -> str:
    """The address that GitHub and JupyterLab's preview give to an article's heading."""
    return re.sub(r"[^\w -]", "", f"article {article.letter} {article.what}".lower()).replace(" ", "-")


def _table(entries: Sequence[LedgerRow], everything: Sequence[LedgerRow]) -> list[str]:
    lines = [
        "| # | in the article | claim | verdict | what came out | where |",
        "|--:|:--|:--|:--|:--|:--|",
    ]
    for entry in entries:
        claim = entry.claim
        notebook, _, section = claim.where.partition(", ")
        where = f"[{notebook.replace('_', ' ')}](../notebooks/{notebook}.ipynb), {section}"
        alike = doubles(entry, everything)
        numbers = ", ".join(str(e.claim.number) for e in (entry, *alike))
        says = " ".join([_said(claim), *(f"So too {e.claim.number}, article {e.claim.article}, {place(e.claim)}: "
                                         f"{quoted(e.claim)}." for e in alike)])  # fmt: skip
        came = " ".join(filter(None, (came_out(entry), cases_told(entry))))
        cells = (numbers, place(claim), says, _SHOWN[entry.verdict], came, where)
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return lines


def place(claim: Claim) -> str:
    """Where in its article a claim stands: "Why scale by √dₖ, line 37"."""
    return f"{part_of(claim.number).heading}, line {claim.line}"


def quoted(claim: Claim) -> str:
    """The article's own words, in quotation marks."""
    return f"“{claim.quotation}”"


def _said(claim: Claim) -> str:
    return f"{quoted(claim)} In our words: {claim.says}"


def doubles(entry: LedgerRow, everything: Sequence[LedgerRow]) -> list[LedgerRow]:
    """The claims that say the same as this one, and share its row."""
    return [other for other in everything if other.claim.same_as == entry.claim.number]


def cases_told(entry: LedgerRow) -> str:
    """In which cases a claim holds, and in which not; "" where there is one, which its verdict tells."""
    if len(entry.cases) == 1:
        return ""
    kinds = (("Holds", True), ("Fails", False), ("Open", None))
    lines = [
        (word, [case.name for case in entry.cases if case.within and case.holds is held])
        for word, held in kinds
    ]
    beyond = [
        f"{case.name} ({'holds' if case.holds else 'fails'})" for case in entry.cases if not case.within
    ]
    return " ".join(
        f"{word}: {'; '.join(names)}." for word, names in [*lines, ("Not what it says", beyond)] if names
    )


def as_text(claim: Claim) -> str:
    """One claim, computed now: for a terminal."""
    entry, article, rule = run(claim), article_of(claim.number), rule_of(claim.number)
    notebook, _, section = claim.where.partition(", ")
    lines = [
        f"Claim {claim.number}, article {article.letter} ({article.what}), {place(claim)}:",
        f"  {quoted(claim)}",
        "In our words:",
        f"  {claim.says}",
        "",
        f"Verdict: {entry.verdict}",
        f"  {_cell(came_out(entry))}",
    ]
    if told := cases_told(entry):
        lines.append(f"  {told}")
    if claim.same_as:
        lines += ["", f"It says what claim {claim.same_as} says, and is decided with it."]
    if rule is not None:
        others = ", ".join(str(number) for number in rule.claims if number != claim.number)
        lines += ["", f"The same rule decides {others}: {rule.says}"]
    if entry.values:
        lines += [
            "",
            "Computed just now:",
            *(f"  {name} = {value:g}" for name, value in entry.values.items()),
        ]
    return "\n".join([*lines, "", f"In the course: notebooks/{notebook}.ipynb, {section}"])


def came_out(entry: LedgerRow) -> str:
    """What came out, with the source of a piece of history, and what stood in for the claim's subject."""
    claim = entry.claim
    kind = f" (history; source: {claim.source})" if claim.source else ""
    stand_in = f" Measured in its place: {claim.stand_in}." if claim.stand_in else ""
    finding = entry.finding
    if finding[1:2].isalpha() or finding[1:2] == " ":  # a name such as d_k stays small
        finding = finding[0].upper() + finding[1:]
    return finding + ("" if finding.endswith((".", "?", ")")) else ".") + stand_in + kind


def _cell(text: str) -> str:
    """Text that stays in its table cell, with a true minus sign before a number."""
    one_line = " ".join(text.split()).replace("|", "\\|")
    return re.sub(r"(?<![\w\-./])-(?=\d)", "−", one_line)


def write(root: Path) -> None:
    """Compute every claim and write both files; neither is touched if a claim fails."""
    claims = all_claims()
    numbers = as_json([run(claim) for claim in claims])
    page = as_page(stored_entries(claims, numbers))
    keep(root, "docs/ledger.json", numbers)
    keep(root, "docs/ledger.md", page)


if __name__ == "__main__":
    write(course_root())
