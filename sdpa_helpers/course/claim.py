"""One claim of the articles that the course checks, as data with the computation that decides it.

The words of a lesson's claims stand in its `claims.md`, what computes and decides them in its `claims.py`:

    ## 27: How sharp is a row?

    > softmax outputs near 0 or 1 everywhere (line 7)

    Without √d_k the outputs of softmax are near 0 or 1 everywhere.

    Not everywhere: with 128 keys the largest weight exceeds 0.99 in {d64_n128:.0%} of rows at d_k = 64.

The number is the claim's, behind it stands where the lesson runs it. First come the article's own words, with the line
of its text at which they begin, then ours, then what came out. An entry `- source` has where a piece of history comes
from, `- measured in its place` what was measured instead, where the thing itself could not be. A claim that another
article made before it has its words, and `- same as 16` in place of what came out.

A verdict is never written down. Each claim has cases, and `verdict_of` makes the verdict of what holds in them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from sdpa_helpers.course import content
from sdpa_helpers.course.articles import article_of

Verdict = Literal["right", "needs a condition", "wrong", "not shown"]


Numbers = Mapping[str, float]
"""What a claim's computation returns, by name."""
Test = Callable[[Numbers], bool | None]
"""Whether a claim holds in a case, from the numbers; None where they can't decide it."""
Cases = Mapping[str, Test]
"""By name."""


def verdict_of(holds: Iterable[bool | None]) -> Verdict:
    """The verdict, from what came out in each case that the article's words include.

    So *wrong* is only what holds in none of them, and *right* what holds in all.
    """
    decided = [held for held in holds if held is not None]
    if not decided:
        return "not shown"
    if all(decided):
        return "right"
    return "needs a condition" if any(decided) else "wrong"


@dataclass(frozen=True)
class Claim:
    """A claim in the article's words and in ours, where the course runs it, and what decides it."""

    number: int
    """1 to 163, the place in the list of all claims."""
    article: str
    """ "A" to "E", the article that says it."""
    quotation: str
    """The article's own words; "…" where some are left out."""
    line: int
    """The line of the article's text at which they begin."""
    says: str
    """The claim, in our own words."""
    where: str
    """The notebook, a comma, and one of its headings without the number, e.g. "02_variance_proof, Break each
    assumption", or the number of a section: "02_variance_proof, section 3"."""
    finding: str
    """What came out, with {names} of the computed values and a format, e.g. "Var = {variance:.1f}"."""
    compute: Callable[[], Numbers] | None
    """Returns the numbers by name, deterministic (seeded), in well under a second; None only for a piece of history,
    which then has its `source`."""
    within: Cases
    """The cases that the article's words include: these decide."""
    outside: Cases = field(default_factory=dict)
    """Cases that the article rules out itself, by what it takes for granted: worth knowing, and no part of the
    verdict."""
    relative: float = 1e-6
    """How far a number may move on another machine."""
    source: str = ""
    """Where a piece of history comes from."""
    stand_in: str = ""
    """What was measured in place of what the claim is about, where that could not be."""
    same_as: int = 0
    """The number of the claim that says the same and has what came out; 0 where none does."""

    def verdict(self, values: Numbers) -> Verdict:
        """The verdict that some numbers give."""
        return verdict_of(test(values) for test in self.within.values())


class Check(NamedTuple):
    """What a lesson's `claims.py` says of a claim."""

    compute: Callable[[], Numbers] | None
    within: Cases
    outside: Cases = {}  # noqa: RUF012 - nobody changes it
    relative: float = 1e-6


def claims_of(lesson: str, checks: Mapping[int, Check]) -> tuple[Claim, ...]:
    """The claims of a lesson: its page's words, and what computes and decides each of them."""
    claims = dict[int, Claim]()
    for section in content.page_of(lesson, "claims").sections:
        number, _, place = section.title.partition(": ")
        about = {entry.text: entry.says for entry in section.of(content.Entry)}
        same_as = next((int(text[8:]) for text in about if text.startswith("same as ")), 0)
        if not number.isdecimal() or (int(number) not in checks and same_as not in claims):
            raise section.wrong(f"`{number}` is the number of no claim in claims.py")
        paragraphs = [" ".join(paragraph.text.split()) for paragraph in section.of(content.Paragraph)]
        quoted = re.fullmatch(r"> (.+) \(line (\d+)\)", paragraphs[0]) if paragraphs else None
        if quoted is None or len(paragraphs) != (2 if same_as else 3):
            raise section.wrong(
                "three paragraphs are expected: `> the article's words (line 7)`, ours, and what came out"
            )
        article, where = article_of(int(number)).letter, f"{lesson}, {place}"
        words = (article, quoted[1], int(quoted[2]), paragraphs[1], where)
        if same_as:
            keys = ("number", "article", "quotation", "line", "says", "where")
            claim = replace(
                claims[same_as], same_as=same_as, **dict(zip(keys, (int(number), *words), strict=True))
            )
        else:
            more = (about.get("source", ""), about.get("measured in its place", ""))
            claim = Claim(int(number), *words, paragraphs[2], *checks[int(number)], *more)
        claims[claim.number] = claim
    if missing := checks.keys() - claims.keys():
        raise LookupError(f"claims.md of {lesson} has no words for the claims {sorted(missing)}")
    return tuple(claims.values())


@dataclass(frozen=True)
class Entry:
    """What came out for a claim: one row of the ledger."""

    claim: Claim
    values: Numbers = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The verdict that the values give."""
        return self.claim.verdict(self.values)

    @property
    def finding(self) -> str:
        """What came out, in words and numbers."""
        return self.claim.finding.format(**self.values)

    @property
    def cases(self) -> list["Case"]:
        """What came out in each of the claim's cases, those that decide first."""
        claim = self.claim
        return [
            Case(name, test(self.values), cases is claim.within)
            for cases in (claim.within, claim.outside)
            for name, test in cases.items()
        ]


class Case(NamedTuple):
    """What came out in one of a claim's cases."""

    name: str
    holds: bool | None
    """None where nothing here can decide it."""
    within: bool
    """Whether the article's words include it."""


def run(claim: Claim) -> Entry:
    """Compute a claim's numbers; an error carries a note with the claim's number."""
    try:
        return Entry(claim, {k: float(v) for k, v in claim.compute().items()} if claim.compute else {})
    except Exception as error:
        error.add_note(f"while computing claim {claim.number} of the ledger")
        raise


def so_it_is(values: Numbers) -> bool:
    """For history: it holds, and there is no number to tell it from."""
    return True


def so_it_is_not(values: Numbers) -> bool:
    """For history: it fails, and there is no number to tell it from."""
    return False
