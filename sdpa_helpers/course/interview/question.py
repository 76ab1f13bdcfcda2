"""What a question of the interview deck is: data, with references for whatever the course has said or measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Claimed(NamedTuple):
    """A trap that an article has walked into: a claim of the ledger that is not right as it stands."""

    number: int


class Mistaken(NamedTuple):
    """A trap that answers to an exercise walk into: one of its known wrong answers."""

    exercise: str
    wrong: str


class Tempted(NamedTuple):
    """A trap among the answers of a prediction."""

    lesson: str
    prediction: str
    option: str


Trap = Claimed | Mistaken | Tempted

LEVELS = ("warm-up", "solid ground", "going deep")


@dataclass(frozen=True)
class InterviewQuestion:
    """One question. Texts have the marks of `predict.rich`."""

    key: str
    lesson: str
    """The lesson that treats it, e.g. "03_softmax"."""
    level: int
    """From 0, easy, to 2: one of LEVELS."""
    question: str
    answer: str
    """Two to four sentences. `<c13.d64_n128:.0%>` is a number of claim 13 of the ledger, `<mib:.0f>` of `numbers`."""
    trap: Trap
    seen: tuple[int | str, ...]
    """Where it is measured: a claim's number, an exercise's name, or "03_softmax, a heading"."""
    numbers: Callable[[], Mapping[str, float]] = field(default=dict, repr=False)
    """Computes what the ledger does not have."""
