"""`sdpa term`: one gradebook of several homeworks, by the policy of term.toml. The same folders give the same bytes."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.classroom.files import whole_table
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.tables import EXCUSED, StudentRow, rows_of
from sdpa_helpers.classroom.term.policy import NAME, Homework, Term
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GRADER_FAILED

MISSING = "missing"
DROPPED = "dropped"


class CannotSum(Refusal):
    """No gradebook can be made of these folders; the text says why."""


@dataclass(frozen=True)
class HomeworkMark:
    """What a learner has in one homework."""

    homework: Homework
    cell: float | str
    """Points, or the word in their place."""
    most: float

    @property
    def share(self) -> float:
        """Of the points of the homework: a word is none."""
        return self.cell / self.most if not isinstance(self.cell, str) and self.most else 0.0


@dataclass(frozen=True)
class TermRow:
    """A learner's line."""

    learner: str
    parts: tuple[HomeworkMark, ...]
    dropped: frozenset[str]
    """The names of homeworks that don't count, as the lowest."""
    total: float | str
    """Of what the term is worth, "grader-failed" where there is one, or "excused" from everything."""


def term_rows(folders: Iterable[ResultsFolder], term: Term) -> list[TermRow]:
    """Every learner's line, by name."""
    columns = [
        (_rules(folder, term), {row.student: row for row in _rows(folder, term)}) for folder in folders
    ]
    learners = sorted({learner for _, rows in columns for learner in rows})
    return [_row(learner, columns, term) for learner in learners]


def write_term(path: Path, rows: Iterable[TermRow], names: list[str], worth: float) -> None:
    """Write the table: points and maximum of each homework, which ones are dropped, the total."""
    columns = [column for name in names for column in (name, f"{name} of")]
    with whole_table(path, ("student", *columns, DROPPED, "total", "of")) as table:
        for row in rows:
            cells = (cell for part in row.parts for cell in (part.cell, part.most))
            total = row.total if isinstance(row.total, str) else round(row.total, 4)
            table.add((row.learner, *cells, " ".join(n for n in names if n in row.dropped), total, worth))


def check_folders(folders: list[ResultsFolder], term: Term) -> list[str]:
    """What to tell before; CannotSum where two have the same name, or lie beside two policies."""
    names = [folder.path.absolute().name for folder in folders]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise CannotSum(f"{', '.join(twice)}: given twice; expected each homework once")
    places = {folder.path.absolute().parent for folder in folders}
    if len(places) > 1 and any((place / NAME).is_file() for place in places):
        raise CannotSum(
            f"expected all folders beside one {NAME}; they lie in {', '.join(map(str, sorted(places)))}"
        )
    if term.path is None:
        return [f"no {NAME} beside them: all weigh the same, and all count"]
    absent, unknown = sorted(set(term.homeworks) - {*names}), sorted({*names} - set(term.homeworks))
    notes = [f"not among the folders, so not counted yet: {', '.join(absent)}"] if absent else []
    return [*notes, *([f"not in {term.path}, so of weight 1: {', '.join(unknown)}"] if unknown else [])]


def _rules(folder: ResultsFolder, term: Term) -> Homework:
    return term.homework(folder.path.absolute().name)


def _rows(folder: ResultsFolder, term: Term) -> list[StudentRow]:
    return rows_of(folder.read_results(), _rules(folder, term))


def _row(learner: str, columns: list[tuple[Homework, dict[str, StudentRow]]], term: Term) -> TermRow:
    parts = tuple(_part(learner, homework, rows) for homework, rows in columns)
    counting = [i for i, part in enumerate(parts) if part.cell != EXCUSED]
    lowest = sorted(counting, key=lambda i: (parts[i].share, -parts[i].homework.weight, i))
    dropped = {*lowest[: min(term.drop_lowest, len(counting) - 1)]} if counting else set()
    left = [parts[i] for i in counting if i not in dropped]
    return TermRow(learner, parts, frozenset(parts[i].homework.name for i in dropped), _total(left, term))


def _total(parts: list[HomeworkMark], term: Term) -> float | str:
    if any(part.cell == GRADER_FAILED for part in parts):
        return GRADER_FAILED
    weights = sum(part.homework.weight for part in parts)
    if not weights:
        return EXCUSED if not parts else 0.0
    return term.worth * sum(part.homework.weight * part.share for part in parts) / weights


def _part(learner: str, homework: Homework, rows: dict[str, StudentRow]) -> HomeworkMark:
    row = rows.get(learner)
    most = max((each.max_points for each in rows.values()), default=0.0)
    if learner in homework.excused:
        return HomeworkMark(homework, EXCUSED, most)
    return HomeworkMark(homework, MISSING if row is None else row.total, most)
