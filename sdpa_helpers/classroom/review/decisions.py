"""What a reader of an answer in words decides, kept as a mark in marks.db."""

from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.classroom.marks.store import AnswerKey, Mark, append, last_marks


@dataclass(frozen=True)
class Decision:
    """What a reader decided."""

    given: tuple[str, ...] = ()
    """The keys of the criteria that are met."""
    adjusted: float = 0.0
    """Points on top of those of the criteria."""
    points: float | None = None
    """What counts, as it was when the mark was given; None when there is only a comment so far."""
    comment: str = ""

    def as_mark(self, key: AnswerKey, who: str = "") -> Mark:
        """The same as a row; `who` is the account's name where nobody says otherwise."""
        about = (key.student, key.notebook, key.exercise, key.digest)
        return Mark(*about, self.points, self.adjusted, self.comment, who, met=self.given)


NOTHING = Decision()


def load_decisions(marks_db: Path) -> dict[AnswerKey, Decision]:
    """The decisions that count: the last one of every answer. {} where nobody has marked anything."""
    found = {key: decision_of(mark) for key, mark in last_marks(marks_db).items()}
    return {key: decision for key, decision in found.items() if decision != NOTHING}


def decision_of(mark: Mark) -> Decision:
    """What the row says."""
    return Decision(mark.met, mark.change, mark.points, mark.reason)


def save_decision(marks_db: Path, key: AnswerKey, decision: Decision, who: str = "") -> None:
    """Keep a decision; when this returns it is on the disk. Decision() takes one back."""
    append(marks_db, [decision.as_mark(key, who)])
