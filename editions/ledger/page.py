"""Write the ledger's page: a Markdown file for Sphinx with one table of HTML, which reads and prints without scripts.

Numbers and verdicts are those of docs/ledger.json; nothing is computed here. A link to the place in the lesson that
decides a claim is written as `where:LESSON:HEADING`, and `anchored` puts the address in when Sphinx knows its sections.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sdpa_helpers.course.articles import ARTICLES
from sdpa_helpers.course.claim import Entry
from sdpa_helpers.course.ledger_page import VERDICTS, came_out, cases_told, doubles, place, stored_entries
from sdpa_helpers.course.registry import all_claims
from sdpa_helpers.course.verdict_rules import RULES

SIGNS = {"right": "✓", "needs a condition": "±", "wrong": "✗", "not shown": "?"}

_WHERE = re.compile(r'href="where:(\w+):([^"]*)"')


def entries_of(root: Path) -> list[Entry]:
    """All claims with the numbers that are stored."""
    return stored_entries(all_claims(), (root / "docs" / "ledger.json").read_text(encoding="utf-8"))


def as_source(entries: Sequence[Entry]) -> str:
    """The page as Markdown for Sphinx."""
    return (
        "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"
        f"# The ledger: {len(entries)} claims, computed\n\n"
        "Five articles about scaled dot-product attention make these claims, given here in their words and in ours. "
        "Each has a verdict that follows from the cases measured, the numbers that decide it, and a link to the place "
        "in a lesson where you can run or read it. "
        "`make ledger` computes everything again; `sdpa ledger 152` computes one claim in front of you.\n\n"
        f"```{{raw}} html\n{as_html(entries)}\n```\n\n"
        "## One rule for each kind of hole\n\n"
        "Claims with the same hole get the same verdict, whoever makes them. A test holds every claim to these "
        "rules.\n\n"
        f"```{{raw}} html\n{_rules()}\n```\n"
    )


def as_html(entries: Sequence[Entry]) -> str:
    """Meanings and counts, a form that a script shows, and the table."""
    return f'<div class="ledger">{_meanings()}{_counts(entries)}{_form(entries)}{_table(entries)}</div>'


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


def rich(text: str) -> str:
    """HTML of a claim's words: real subscripts, minus signs, code."""
    words = html.escape(" ".join(text.split()), quote=False)
    words = re.sub(r"(?<![\w\-./])-(?=\d)", "−", words)
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", words)
    return re.sub(r"\b([A-Za-z])_\{?([a-z]+)\}?(?!\w)", r"\1<sub>\2</sub>", words)


def _verdict(verdict: str) -> str:
    return (
        f'<span class="verdict" data-is="{verdict}"><span aria-hidden="true">{SIGNS[verdict]}</span> '
        f"{verdict}</span>"
    )


def _meanings() -> str:
    lines = "".join(f"<dt>{_verdict(name)}</dt><dd>{meaning}</dd>" for name, meaning in VERDICTS.items())
    return f'<dl class="meanings">{lines}</dl>'


def _counts(entries: Sequence[Entry]) -> str:
    head = "".join(f'<th scope="col">{_verdict(name)}</th>' for name in VERDICTS)
    rows = [(article.letter, rich(article.what)) for article in ARTICLES]
    lines = "".join(_count_row(entries, letter, what) for letter, what in [*rows, ("", "all five")])
    return _boxed(
        "How many of each",
        f'<table class="counts"><thead><tr><th scope="col">article</th>{head}<th scope="col">claims</th></tr></thead>'
        f"<tbody>{lines}</tbody></table>",
    )


def _count_row(entries: Sequence[Entry], letter: str, what: str) -> str:
    some = [entry.verdict for entry in entries if letter in ("", entry.claim.article)]
    count: Mapping[str, int] = Counter(some)

    def cell(verdict: str) -> str:
        said = f"{count[verdict]} claims: {verdict}, {f'article {letter}' if letter else 'all articles'}"
        filters = f'data-verdict="{verdict.replace(" ", "-")}" data-article="{letter}" data-said="{said}"'
        return f"<td {filters}>{count[verdict]}</td>"

    name = f"<b>{letter}</b>, {what}" if letter else f"<b>{what}</b>"
    return f'<tr><th scope="row">{name}</th>{"".join(map(cell, VERDICTS))}<td>{len(some)}</td></tr>'


def _form(entries: Sequence[Entry]) -> str:
    """Hidden until the script is there."""
    lessons = sorted({entry.claim.where.partition(",")[0] for entry in entries})
    return (
        '<form class="filters" role="search" aria-label="Filter the claims" hidden>'
        '<label>Search <input type="search" name="text" autocomplete="off" placeholder="softmax, d_k, 152 …"></label>'
        + _choice("verdict", "Verdict", [(name.replace(" ", "-"), name) for name in VERDICTS])
        + _choice("article", "Article", [(a.letter, f"{a.letter}: {a.what}") for a in ARTICLES])
        + _choice("lesson", "Lesson", [(name[:2], name.replace("_", " ")) for name in lessons])
        + '<button type="reset">Show all</button><p class="found" role="status"></p></form>'
    )


def _choice(name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    told = "".join(f'<option value="{value}">{html.escape(text)}</option>' for value, text in options)
    return f'<label>{label} <select name="{name}"><option value="">all</option>{told}</select></label>'


def _table(entries: Sequence[Entry]) -> str:
    rows = "".join(_row(entry, doubles(entry, entries)) for entry in entries if not entry.claim.same_as)
    return (
        '<table class="claims"><caption class="visually-hidden">All claims, with verdicts</caption><thead><tr>'
        '<th scope="col">#</th><th scope="col">claim</th><th scope="col">verdict</th>'
        '<th scope="col">what came out</th><th scope="col">decided in</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _row(entry: Entry, alike: Sequence[Entry]) -> str:
    claim, verdict = entry.claim, entry.verdict
    lesson, section = heading_wanted(claim.where)
    articles = " ".join(one.claim.article for one in (entry, *alike))
    where = html.escape(f"where:{lesson}:{section}")
    numbers = "".join(
        f"<li><code>{html.escape(name)}</code> = {_number(value)}</li>"
        for name, value in entry.values.items()
    )
    folded = (
        f"<details><summary>its numbers<span class='visually-hidden'> (claim {claim.number})</span></summary>"
        f"<ul>{numbers}</ul></details>"
        if numbers
        else ""
    )
    return (
        f'<tr id="claim-{claim.number}" data-verdict="{verdict.replace(" ", "-")}" data-article="{articles}" '
        f'data-lesson="{lesson[:2]}"><th scope="row"><a href="#claim-{claim.number}" '
        f'aria-label="Claim {claim.number}">{claim.number}</a></th>'
        f'<td class="says">{_said(entry)}<p>{rich(claim.says)}</p>{"".join(map(_double, alike))}</td>'
        f"<td>{_verdict(verdict)}</td>"
        f'<td class="out">{rich(came_out(entry))}{_cases(entry)}{folded}</td>'
        f'<td class="where"><a href="{where}">{lesson[:2]}: {html.escape(section)}</a></td></tr>'
    )


def _said(entry: Entry) -> str:
    """The article's words, and where they stand."""
    claim = entry.claim
    return f"<q>{rich(claim.quotation)}</q><small>Article {claim.article}, {rich(place(claim))}</small>"


def _double(entry: Entry) -> str:
    """A claim that says the same as that of its row, with an address of its own."""
    number = entry.claim.number
    return (
        f'<div id="claim-{number}"><a href="#claim-{number}">{number}</a> says so too: {_said(entry)}</div>'
    )


def _cases(entry: Entry) -> str:
    told = cases_told(entry)
    return f"<p><small>{rich(told)}</small></p>" if told else ""


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−").replace("inf", "∞")


def _rules() -> str:
    def links(numbers: Sequence[int]) -> str:
        return ", ".join(f'<a href="#claim-{number}">{number}</a>' for number in numbers)

    rows = "".join(
        f"<tr><td>{rich(rule.says)}</td><td>{_verdict(rule.verdict)}</td><td>{links(rule.claims)}</td></tr>"
        for rule in RULES
    )
    head = '<th scope="col">what is the same</th><th scope="col">verdict</th><th scope="col">claims</th>'
    return _boxed(
        "Rules", f'<table class="rules"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _boxed(label: str, table: str) -> str:
    """A table that is scrolled in its own box where a screen is narrow, by keys as well."""
    return f'<div class="scrolls" role="region" tabindex="0" aria-label="{label}">{table}</div>'
