"""What marks were and what they are: marks-changed.csv, and history/ with a table for each time that marks changed.

Compared is with what the last run or the last mark left, `history/last.txt`, so that a run that was killed, or a result
that somebody edited, hides nothing.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields

from sdpa_helpers.classroom.files import whole_table
from sdpa_helpers.classroom.marks.digests import digest_of
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.grading.result import GradedNotebook

ALL = "(all)"
"""In the column of exercises: the notebook as a whole."""
COLUMNS = ("learner", "notebook", "exercise", "before", "after", "why")
MOST_NAMED = 6
"""Kinds of changes that the sentence names; the table has all."""


@dataclass(frozen=True)
class Standing:
    """What one exercise of a learner counts, or a notebook as a whole; all as text, as the table has it."""

    learner: str
    notebook: str
    exercise: str
    counts: str
    """Points, or the word in the place of a mark."""
    by_person: str = ""
    """What a person put on top, or gave."""
    text: str = ""
    """The digest of the answer."""
    late: str = ""
    """The share that being late costs."""

    @property
    def place(self) -> tuple[str, str, str]:
        """Where it stands."""
        return self.learner, self.notebook, self.exercise


@dataclass(frozen=True)
class Change:
    """One mark that is another one now; `before` is "" for a new one."""

    learner: str
    notebook: str
    exercise: str
    before: str
    after: str
    why: str


@dataclass(frozen=True)
class Changes:
    """What is another than before."""

    rows: tuple[Change, ...] = ()
    compared: int = 0
    """Notebooks that had a mark, or a word in its place, before too."""

    @property
    def of_known(self) -> tuple[Change, ...]:
        """Those of notebooks that are not new."""
        return tuple(row for row in self.rows if row.before)

    def __str__(self) -> str:
        """E.g. "3 of 397 marks changed: entropy +2 (3 learners)"; "" for a first run."""
        if not self.compared:
            return ""
        changed = {(row.learner, row.notebook) for row in self.of_known}
        if not changed:
            return f"0 of {self.compared} marks changed"
        kinds = Counter(_kind(row) for row in self.of_known if row.exercise != ALL or row.why)
        named = [f"{kind} ({n} learner{'' if n == 1 else 's'})" for kind, n in kinds.most_common(MOST_NAMED)]
        more = [f"and {len(kinds) - MOST_NAMED} more kinds"] if len(kinds) > MOST_NAMED else []
        return f"{len(changed)} of {self.compared} marks changed: {', '.join([*named, *more])}"


def _kind(row: Change) -> str:
    what = row.notebook if row.exercise == ALL else row.exercise
    try:
        step = f"{float(row.after) - float(row.before):+g}"
    except ValueError:
        step = f"{row.before} → {row.after}"
    return f"{what} {step}" + (f", {row.why}" if row.why != ANEW else "")


ANEW = "graded anew"
NOW = "last.txt"
"""CSV too, but without what keeps a spreadsheet from running a name: so it is not called so."""


def noting(results: Iterable[GradedNotebook], into: list[Standing]) -> Iterator[GradedNotebook]:
    """The same results; what they count is noted as they pass."""
    for result in results:
        into += _standings(result)
        yield result


def keep_history(folder: ResultsFolder, now: list[Standing]) -> Changes:
    """Compare with what was before; where anything changed, write the tables."""
    before = {standing.place: standing for standing in _before(folder)}
    changes = _compare(before, now)
    if changes.rows:
        number = len(list(folder.history.glob("[0-9]*.csv"))) + 1
        for path in (folder.history / f"{number:03}.csv", folder.marks_changed_csv):
            with whole_table(path, COLUMNS) as table:
                for row in changes.rows:
                    table.add(astuple(row))
    if now != list(before.values()):
        with whole_table(folder.history / NOW, (field.name for field in fields(Standing))) as table:
            for standing in now:
                table.writer.writerow(astuple(standing))
    return changes


def _standings(result: GradedNotebook) -> Iterator[Standing]:
    who = (result.student, result.notebook)
    counts = result.no_mark or f"{result.points:g}"
    yield Standing(*who, ALL, counts, late=f"{result.late_penalty:g}" if result.late_penalty else "")
    for graded in () if result.no_mark in ("missing", "unreadable") else result.exercises:
        points = "grader-failed" if graded.failed else f"{graded.points:g}"
        by = "" if graded.mark is None else f"{graded.mark.adjusted:+g} {graded.mark.comment}".strip()
        yield Standing(*who, graded.name, points, by, digest_of(result, graded))


def _before(folder: ResultsFolder) -> list[Standing]:
    try:
        with (folder.history / NOW).open(newline="", encoding="utf-8") as file:
            return [Standing(**row) for row in csv.DictReader(file)]
    except (OSError, ValueError, TypeError, csv.Error):
        return []


def _compare(before: dict[tuple[str, str, str], Standing], now: list[Standing]) -> Changes:
    rows, compared = [], 0
    for standing in now:
        was = before.get(standing.place)
        whole = standing.exercise == ALL
        compared += whole and was is not None
        if was is None:
            if whole:  # a new one is one row
                rows.append(Change(*standing.place, "", standing.counts, "new"))
        elif was.counts != standing.counts:
            rows.append(Change(*standing.place, was.counts, standing.counts, _why(was, standing)))
    return Changes(tuple(rows), compared)


def _why(was: Standing, now: Standing) -> str:
    """Of a whole notebook only what its exercises do not say."""
    if now.exercise == ALL:
        words = not (_is_number(was.counts) and _is_number(now.counts))
        return "another status" if words else "late" if was.late != now.late else ""
    if was.by_person != now.by_person:
        return "a person's mark"
    return "another answer" if was.text != now.text else ANEW


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or text[:1] == "-"
