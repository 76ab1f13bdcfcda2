"""One claim of the articles that the course checks, as data with the computation that decides it.

The words of a lesson's claims stand in its `claims.md`, what computes and decides them in its `claims.py`:

    ## 27: How sharp is a row?

    Without √d_k the outputs of softmax are near 0 or 1 everywhere.

    Not everywhere: with 128 keys the largest weight exceeds 0.99 in {d64_n128:.0%} of rows at d_k = 64.

The number is the claim's, behind it stands where the lesson runs it. An entry `- source` has where a piece of history
comes from, `- measured in its place` what was measured instead, where the thing itself could not be.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sdpa_helpers.course import content
from sdpa_helpers.course.articles import article_of

Verdict = Literal["right", "needs a condition", "wrong", "not shown"]


Numbers = Mapping[str, float]
"""What a claim's computation returns, by name."""
Test = Callable[[Numbers], bool]
Decide = Callable[[Numbers], Verdict]


@dataclass(frozen=True)
class Claim:
    """A claim in our own words, where the course runs it, and what decides it."""

    number: int
    """1 to 163, the place in the list of all claims."""
    article: str
    """ "A" to "E", the article that says it."""
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
    decide: Decide
    """The verdict from the numbers: a function, so that a changed number changes the verdict."""
    relative: float = 1e-6
    """How far a number may move on another machine."""
    source: str = ""
    """Where a piece of history comes from."""
    stand_in: str = ""
    """What was measured in place of what the claim is about, where that could not be."""


class Check(NamedTuple):
    """What a lesson's `claims.py` says of a claim."""

    compute: Callable[[], Numbers] | None
    decide: Decide
    relative: float = 1e-6


def claims_of(lesson: str, checks: Mapping[int, Check]) -> tuple[Claim, ...]:
    """The claims of a lesson: its page's words, and what computes and decides each of them."""
    claims = []
    for section in content.page_of(lesson, "claims").sections:
        number, _, place = section.title.partition(": ")
        if not number.isdecimal() or int(number) not in checks:
            raise section.wrong(f"`{number}` is the number of no claim in claims.py")
        paragraphs = [paragraph.text for paragraph in section.of(content.Paragraph)]
        if len(paragraphs) != 2:
            raise section.wrong("two paragraphs are expected: what the article says, and what came out")
        about = {entry.text: entry.says for entry in section.of(content.Entry)}
        words = (article_of(int(number)).letter, paragraphs[0], f"{lesson}, {place}", paragraphs[1])
        more = (about.get("source", ""), about.get("measured in its place", ""))
        claims.append(Claim(int(number), *words, *checks[int(number)], *more))
    if missing := checks.keys() - {claim.number for claim in claims}:
        raise LookupError(f"claims.md of {lesson} has no words for the claims {sorted(missing)}")
    return tuple(claims)


@dataclass(frozen=True)
class Entry:
    """What came out for a claim: one row of the ledger."""

    claim: Claim
    values: Numbers = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The verdict that the values give."""
        return self.claim.decide(self.values)

    @property
    def finding(self) -> str:
        """What came out, in words and numbers."""
        return self.claim.finding.format(**self.values)


def run(claim: Claim) -> Entry:
    """Compute a claim's numbers; an error carries a note with the claim's number."""
    try:
        return Entry(claim, {k: float(v) for k, v in claim.compute().items()} if claim.compute else {})
    except Exception as error:
        error.add_note(f"while computing claim {claim.number} of the ledger")
        raise


def always(verdict: Verdict) -> Decide:
    """For history: there is no number to decide from."""
    return lambda values: verdict


def right_if(test: Test) -> Decide:
    """Right if the test holds, else wrong."""
    return lambda values: "right" if test(values) else "wrong"


def holds(somewhere: Test, everywhere: Test) -> Decide:
    """Wrong if it does not even hold in the claim's own case, right if it holds in the other cases as well."""

    def decide(values: Numbers) -> Verdict:
        if not somewhere(values):
            return "wrong"
        return "right" if everywhere(values) else "needs a condition"

    return decide


def needs_if(test: Test, exception: Test) -> Decide:
    """Wrong if it does not hold in the claim's own case; where it does, an exception makes it need a condition."""
    return holds(test, lambda values: not exception(values))


def not_shown_if(test: Test) -> Decide:
    """Not shown where the numbers say that nothing here could show it; else it needs a condition."""
    return lambda values: "not shown" if test(values) else "needs a condition"
