"""One claim of the articles that the course checks, as data with the computation that decides it.

A lesson's claims, and what decides them, stand in its `claims.md`; its `claims.py` computes their numbers:

    ## 27: How sharp is a row?

    > softmax outputs near 0 or 1 everywhere (line 7)

    Without √d_k the outputs of softmax are near 0 or 1 everywhere.

    Not everywhere: with 128 keys the largest weight exceeds 0.99 in {d64_n128:.0%} of rows at d_k = 64.

    - d_k = 512, 4 keys: `d512_n4 > 0.5`
    - d_k = 64 or 512 keys: `min(d64_n128, d512_n512) > 0.95`

The number is the claim's, behind it stands where the lesson runs it. First come the article's own words, with the line
of its text at which they begin, then ours, then what came out.

Then come the cases that the article's words include, and behind each when the claim holds in it: an expression of the
numbers, or None where they can't decide it. `beside it, …` begins a case that the article rules out itself, by what it
takes for granted: worth knowing, and no part of the verdict. A verdict is never written down: `verdict_of` makes it.

Further entries: `- decided as 10`, by the numbers and cases of that claim; `- numbers may move by 1e-3` on another
machine, relatively; `- source`, where a piece of history comes from, which has no numbers; `- measured in its place`,
what was measured instead, where the thing itself could not be. A claim that another article made before it has its
words, and `- same as 16` in place of what came out.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from sdpa_helpers.course import content
from sdpa_helpers.course.articles import article_of

Verdict = Literal["right", "needs a condition", "wrong", "not shown"]


Numbers = Mapping[str, float]
"""What a claim's computation returns, by name."""
Compute = Callable[[], Numbers]
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


def near(value: float, target: float, relative: float = 0.03) -> bool:
    """Whether a number is as far from another as that share of it, or less. Cases may say it."""
    return abs(value - target) <= relative * abs(target)


def claims_of(lesson: str, computed: Mapping[int, Compute]) -> tuple[Claim, ...]:
    """The claims of a lesson: what its page says of them, with what computes the numbers of each."""
    claims = dict[int, Claim]()
    for section in content.page_of(lesson, "claims").sections:
        claim = _claim(lesson, section, computed, claims)
        claims[claim.number] = claim
    if missing := computed.keys() - claims.keys():
        raise LookupError(f"claims.md of {lesson} has no words for the claims {sorted(missing)}")
    return tuple(claims.values())


def _claim(
    lesson: str, section: content.Section, computed: Mapping[int, Compute], before: Mapping[int, Claim]
) -> Claim:
    number, _, place = section.title.partition(": ")
    about, same_as, decided_as, moves, within, outside = _entries(section)
    other = before.get(same_as or decided_as)
    if not number.isdecimal() or (int(number) not in computed and other is None and "source" not in about):
        raise section.wrong(f"`{number}` is the number of no claim in claims.py")
    paragraphs = [" ".join(paragraph.text.split()) for paragraph in section.of(content.Paragraph)]
    quoted = re.fullmatch(r"> (.+) \(line (\d+)\)", paragraphs[0]) if paragraphs else None
    if quoted is None or len(paragraphs) != (2 if same_as else 3):
        raise section.wrong(
            "three paragraphs are expected: `> the article's words (line 7)`, ours, and what came out"
        )
    words: dict[str, Any] = {
        "number": int(number),
        "article": article_of(int(number)).letter,
        "quotation": quoted[1],
        "line": int(quoted[2]),
        "says": paragraphs[1],
        "where": f"{lesson}, {place}",
    }
    if other and same_as:
        return replace(other, same_as=same_as, **words)
    words |= {"finding": paragraphs[2], "source": about.get("source", "")}
    words |= {"stand_in": about.get("measured in its place", "")}
    if other:
        return replace(other, **words)
    if not within:
        raise section.wrong("a case is expected, e.g. - 4 keys: `weight > 0.5`")
    return Claim(**words, compute=computed.get(int(number)), within=within, outside=outside, relative=moves)


_ENTRY = re.compile(
    r"(?P<beside>beside it, )?(?P<case>.+): `(?P<when>.+)`|(?P<about>source|measured in its place) (?P<says>.+)"
    r"|same as (?P<same>\d+)|decided as (?P<decided>\d+)|numbers may move by (?P<moves>[\de.-]+)"
)
_FUNCTIONS = {"near": near, "sqrt": math.sqrt}


class _Entries(NamedTuple):
    """What a section's entries say."""

    about: dict[str, str]
    same_as: int
    decided_as: int
    moves: float
    within: Cases
    outside: Cases


def _entries(section: content.Section) -> _Entries:
    about, same_as, decided_as, moves = dict[str, str](), 0, 0, 1e-6
    within, outside = dict[str, Test](), dict[str, Test]()
    for entry in section.of(content.ContentEntry):
        found = _ENTRY.fullmatch(f"{entry.text} {entry.says}".strip())
        if found is None:
            raise section.wrong(
                f"`- {entry.text}` is no entry of a claim, e.g. - 4 keys: `weight > 0.5`", entry.line
            )
        if found["case"]:
            cases = outside if found["beside"] else within
            cases[found["case"]] = _test(section, entry.line, found["when"])
        elif found["about"]:
            about[found["about"]] = found["says"]
        same_as, decided_as = int(found["same"] or same_as), int(found["decided"] or decided_as)
        moves = float(found["moves"] or moves)
    return _Entries(about, same_as, decided_as, moves, within, outside)


def _test(section: content.Section, line: int, expression: str) -> Test:
    try:
        code = compile(expression, str(section.path), "eval")
    except SyntaxError as error:
        raise section.wrong(f"`{expression}` is no Python: {error.msg}", line) from None

    def holds(values: Numbers) -> bool | None:
        """Whether the case holds for what was measured; None where that decides nothing."""
        try:
            return eval(code, _FUNCTIONS | dict(values))
        except NameError as error:
            raise section.wrong(f"`{expression}`: {error}", line) from None

    return holds


@dataclass(frozen=True)
class LedgerRow:
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


def run(claim: Claim) -> LedgerRow:
    """Compute a claim's numbers; an error carries a note with the claim's number."""
    try:
        return LedgerRow(claim, {k: float(v) for k, v in claim.compute().items()} if claim.compute else {})
    except Exception as error:
        error.add_note(f"while computing claim {claim.number} of the ledger")
        raise
