"""One rule for each kind of hole: claims that share it have the same verdict, whoever makes them.

Two articles say the same thing in other words, or leave out the same thing. Decided one by one, such claims could get
different verdicts. A test holds the ledger to these rules.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from sdpa_helpers.course.claim import Verdict
from sdpa_helpers.course.content import Paragraph, Section, read_content


@dataclass(frozen=True)
class Rule:
    """What is the same about some claims, and the verdict that follows from it."""

    says: str
    verdict: Verdict
    claims: tuple[int, ...]


def _rule(section: Section) -> Rule:
    """From a section such as "wrong: 3, 19", whose paragraph says what is the same."""
    verdict, _, numbers = section.title.partition(": ")
    if verdict not in get_args(Verdict) or not section.of(Paragraph):
        raise section.wrong("a rule has a verdict, the numbers of claims, and a paragraph")
    return Rule(section.of(Paragraph)[0].text, cast("Verdict", verdict), tuple(map(int, numbers.split(", "))))


RULES = tuple(map(_rule, read_content(Path(__file__).with_suffix(".md")).sections))


def rule_of(number: int) -> Rule | None:
    """The rule that a claim shares with others; None where it stands alone."""
    return next((rule for rule in RULES if number in rule.claims), None)
