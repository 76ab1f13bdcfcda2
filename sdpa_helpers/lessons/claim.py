"""One claim of the articles that the course checks, as data with the computation that decides it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["right", "needs a condition", "wrong"]
Kind = Literal["measured", "opinion", "history"]


@dataclass(frozen=True)
class Claim:
    """A claim in our own words, where the course runs it, and what decides it.

    number: 1 to 163, the place in the list of all claims. article: "A" to "E", which article says it.
    says: the claim, in our own words. where: the notebook, a comma, and one of its headings without the number,
    e.g. "02_variance_proof, Break each assumption", or the number of a section: "02_variance_proof, section 3".
    finding: what came out, with {names} of the computed values and a format, e.g. "Var = {variance:.1f}".
    compute: gives the numbers by name, deterministic (seeded), in well under a second; None only for an opinion
    or a piece of history, which then has its `source`. decide: the verdict from the numbers: a function, so that
    a changed number changes the verdict. relative: how far a number may move on another machine.
    """

    number: int
    article: str
    says: str
    where: str
    finding: str
    compute: Callable[[], Mapping[str, float]] | None
    decide: Callable[[Mapping[str, float]], Verdict]
    kind: Kind = "measured"
    source: str = ""
    relative: float = 1e-6


@dataclass(frozen=True)
class Entry:
    """What came out for a claim: one row of the ledger."""

    claim: Claim
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The verdict that the values give."""
        return self.claim.decide(self.values)

    @property
    def finding(self) -> str:
        """What came out, in words and numbers."""
        return self.claim.finding.format(**self.values)


def run(claim: Claim) -> Entry:
    """Compute a claim's numbers. What goes wrong says of which claim."""
    try:
        return Entry(claim, {k: float(v) for k, v in claim.compute().items()} if claim.compute else {})
    except Exception as error:
        error.add_note(f"while computing claim {claim.number} of the ledger")
        raise


def always(verdict: Verdict) -> Callable[[Mapping[str, float]], Verdict]:
    """For opinions and history: there is no number to decide from."""
    return lambda values: verdict
