"""Two people at work: bring the rows of two files together, and list where they contradict each other."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.classroom.marks.store import AnswerKey, CannotKeep, Mark, append, read


@dataclass(frozen=True)
class Conflict:
    """Marks of several people for one answer that don't give the same; the last one counts until that is settled."""

    marks: tuple[Mark, ...]
    """The last one of each, in the order in which they were given."""

    def __str__(self) -> str:
        last = self.marks[-1]
        said = "; ".join(f"{mark.who or 'somebody'} {in_words(mark)}" for mark in self.marks)
        return f"{last.learner}, {last.exercise}: {said}. What {last.who or 'somebody'} gave counts"


def in_words(mark: Mark) -> str:
    """What a mark gives, e.g. "7 points" or "+2"."""
    if mark.points is not None:
        return f"{mark.points:g} point{'' if mark.points == 1 else 's'}"
    if mark.change:
        return f"{mark.change:+g}"
    return "a remark" if mark.reason else "taken back"


def merge(marks_db: Path, other: Path) -> tuple[Mark, ...]:
    """Add the rows of another file that are not there yet, with who gave them and when; returns them."""
    if not other.is_file():
        raise CannotKeep(f"{other} does not exist; expected the marks.db of somebody else")
    there = set(read(marks_db))
    new = tuple(mark for mark in read(other) if mark not in there)
    return append(marks_db, new) if new else ()


def conflicts(marks: Iterable[Mark]) -> list[Conflict]:
    """Where the last marks of two people for one answer give different things.

    Whoever gave one knowing the other has settled it: these stand no longer.
    """
    standing: dict[AnswerKey, dict[str, Mark]] = {}
    for mark in marks:
        mine = standing.setdefault(mark.key, {})
        if mark.settles:
            mine.clear()
        mine.pop(mark.who, None)  # the order is that of the last ones
        mine[mark.who] = mark
    found = [Conflict(tuple(each.values())) for each in standing.values()]
    return [conflict for conflict in found if len({mark.gives for mark in conflict.marks}) > 1]
