"""Give the marks back to a learning system: a CSV for Canvas or Moodle, results.json for Gradescope.

With a roster, the file that the system itself exports, its ids and its other columns are kept, and its rows are
matched by id where the submissions' names told it. Nothing is written for learners who are not in it.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdpa_helpers.classroom.results_folder import no_formula, write_text
from sdpa_helpers.grading.result import GradedNotebook, GradedWords, LmsIdentity

TOTAL = "total"
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
MOODLE = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade", "Grade can be changed",
          "Last modified (submission)", "Last modified (grade)", "Feedback comments"]  # fmt: skip


class CannotExport(Exception):
    """The export cannot be made as asked; its text says what to change."""


@dataclass
class Exported:
    """What was written. notes: what a human should know, e.g. who is not in the roster."""

    paths: list[Path] = field(default_factory=list)
    learners: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass
class Totals:
    """One learner's points."""

    student: str
    lms: LmsIdentity | None
    points: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By notebook: (points, of how many)."""
    notes: list[str] = field(default_factory=list)
    """What to say of each exercise."""

    @property
    def name(self) -> str:
        """What the learning system calls them, else what the submissions do."""
        return (self.lms.name if self.lms else "") or self.student

    def id_in(self, system: str) -> str:
        """Their id in a learning system; "" when nobody knows."""
        return self.lms.id if self.lms and self.lms.system == system else ""

    def of(self, notebook: str) -> tuple[float, float] | None:
        """(points, maximum) for a notebook, or for all together under "total"."""
        if notebook != TOTAL:
            return self.points.get(notebook)
        return sum(p for p, _ in self.points.values()), sum(m for _, m in self.points.values())


def totals_of(results: Iterable[GradedNotebook]) -> list[Totals]:
    """Every learner's points, by name."""
    found: dict[str, Totals] = {}
    for result in results:
        totals = found.setdefault(result.student, Totals(result.student, result.lms))
        totals.points[result.notebook] = (result.points, result.max_points)
        for exercise in result.exercises:
            waits = isinstance(exercise, GradedWords) and exercise.waits
            earned = "not read yet" if waits else f"{exercise.points:g} of {exercise.max_points:g}"
            totals.notes.append(f"{exercise.name}: {earned}")
    return [found[student] for student in sorted(found)]


# ---- rosters ----------------------------------------------------------------------------------------------


@dataclass
class Roster:
    """A CSV that a learning system exported: its header and rows as they are."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str = ","

    def column(self, *names: str) -> int | None:
        """The index of the first of these columns that is there."""
        return next((self.header.index(n) for n in names if n in self.header), None)


def read_roster(path: Path) -> Roster:
    """Read a roster; CannotExport when it is none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotExport(f"--roster {path} cannot be read: {error}") from None
    first = text.split("\n", 1)[0]
    delimiter = ";" if first.count(";") > first.count(",") else ","
    rows = [
        row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise CannotExport(f"--roster {path} is empty")
    width = len(rows[0])
    return Roster([h.strip() for h in rows[0]], [(row + [""] * width)[:width] for row in rows[1:]], delimiter)


Key = tuple[int | None, Callable[[Totals], str]]
"""A column of a roster, and what a learner's cell in it would hold."""


def _match(rows: list[list[str]], marks: list[Totals], keys: list[Key]) -> dict[int, Totals]:
    """Row index → learner. Each key is (column, what a learner's cell would hold); a tie matches nobody."""
    matched: dict[int, Totals] = {}
    left = list(marks)
    for column, key in keys:
        if column is None:
            continue
        cells: dict[str, list[int]] = {}
        for i, row in enumerate(rows):
            cells.setdefault(_plain(row[column]), []).append(i)
        wanted: dict[str, list[Totals]] = {}
        for m in left:
            wanted.setdefault(_plain(key(m)), []).append(m)
        for value, who in wanted.items():
            where = [i for i in cells.get(value, []) if i not in matched]
            if value and len(who) == 1 and len(where) == 1:
                matched[where[0]] = who[0]
        left = [m for m in left if m not in matched.values()]
    return matched


def _plain(text: str) -> str:
    """For comparing: case, spaces, commas and the order of names do not count."""
    return " ".join(sorted(re.findall(r"\w+", text.lower())))


def _squeezed(text: str) -> str:
    return "".join(re.findall(r"[^\W_]", text.lower()))


# ---- Canvas -----------------------------------------------------------------------------------------------


def to_canvas(
    marks: list[Totals], notebooks: list[str], target: Path, roster: Roster | None, columns: dict[str, str]
) -> Exported:
    """A gradebook CSV as Canvas imports it: identity columns, one column per assignment, "Points Possible".

    `columns`: notebook → title of its column in Canvas, e.g. "Homework 1 (4321)", where the names differ.
    """
    if roster is None:
        header = [*CANVAS, *(columns.get(n, n) for n in notebooks)]
        worth = {n: max((m.points[n][1] for m in marks if n in m.points), default=0.0) for n in notebooks}
        rows: list[list[Any]] = [
            ["    Points Possible", "", "", "", "", *(_number(worth[n]) for n in notebooks)]
        ]
        for m in marks:
            number = m.id_in("canvas")
            identity = [m.name, number, "", "", ""] if number else [m.student, "", "", m.student, ""]
            rows.append([*map(no_formula, identity), *(_given(m, n, worth[n]) for n in notebooks)])
        _write(target, header, rows, ",")
        return Exported([target], len(marks), _only_with_ids(marks, "canvas"))
    section = roster.column("Section")
    if roster.column("Student", "LastName") != 0 or roster.column("ID") is None or section is None:
        raise CannotExport(
            '--roster is no Canvas gradebook: it needs the columns "Student", "ID" and "Section"'
        )
    found = {n: _canvas_column(roster, columns.get(n, n)) for n in notebooks}
    possible = next((r for r in roster.rows if "Points Possible" in r[0]), None)
    worth, notes = {}, []
    for n, column in found.items():
        own = max((m.points[n][1] for m in marks if n in m.points), default=0.0)
        worth[n] = (_as_number(possible[column]) if possible and column is not None else None) or own
        if column is None:
            notes.append(
                f"{n}: the roster has no such column; Canvas will ask which assignment it is, or make one"
            )
        elif worth[n] != own:
            notes.append(f"{n}: {own:g} points were scaled to the {worth[n]:g} that its column is worth")
    titles = [columns.get(n, n) if c is None else roster.header[c] for n, c in found.items()]
    first = [""] * (section + 1) if possible is None else possible[: section + 1]
    first[0] = first[0] or "    Points Possible"
    rows = [[*first, *(_number(worth[n]) for n in notebooks)]]
    login, sis = roster.column("SIS Login ID"), roster.column("SIS User ID")
    people = [r for r in roster.rows if r is not possible and r[0].strip()]
    keys: list[Key] = [
        (roster.column("ID"), lambda t: t.id_in("canvas")),
        (login, lambda t: t.student),
        (sis, lambda t: t.student),
    ]
    if roster.header[0] == "Student":
        keys.append((0, lambda t: t.name))
    matched = _match(people, marks, keys)
    rows += [
        [*row[: section + 1], *(_given(matched[i], n, worth[n]) for n in notebooks)]
        for i, row in enumerate(people)
        if i in matched
    ]
    _write(target, [*roster.header[: section + 1], *titles], rows, roster.delimiter)
    return Exported([target], len(matched), notes + _unmatched(marks, matched, len(people)))


def _canvas_column(roster: Roster, title: str) -> int | None:
    """The column with this title, whether or not Canvas put the assignment's id behind it."""
    bare = [re.sub(r"\s*\(\d+\)$", "", h) for h in roster.header]
    squeezed = [_squeezed(h) for h in bare]
    for names, wanted in ((roster.header, title), (bare, title), (squeezed, _squeezed(title))):
        if wanted in names:
            return names.index(wanted)
    return next((i for i, name in enumerate(squeezed) if _squeezed(title) in name), None)


# ---- Moodle -----------------------------------------------------------------------------------------------


def to_moodle(marks: list[Totals], notebook: str, target: Path, roster: Roster | None) -> Exported:
    """A grading worksheet as Moodle's assignment takes it back. `notebook`: which one counts, or "total"."""
    if roster is None:
        rows: list[list[Any]] = []
        for m in marks:
            points = m.of(notebook)
            if points:
                number = m.id_in("moodle")
                identifier = f"Participant {number}" if number else m.student
                grade = [_number(points[0]), _number(points[1]), "Yes", "-", "-", _comment(m)]
                rows.append([*map(no_formula, (identifier, m.name, "", "")), *grade])
        _write(target, MOODLE, rows, ",")
        return Exported([target], len(rows), _only_with_ids(marks, "moodle"))
    grade, identifier = roster.column("Grade"), roster.column("Identifier")
    if grade is None or identifier is None:
        raise CannotExport(
            '--roster is no grading worksheet of Moodle: it needs the columns "Identifier" and "Grade"'
        )
    maximum, may, comment = (
        roster.column(*n)
        for n in (("Maximum grade", "Maximum Grade"), ("Grade can be changed",), ("Feedback comments",))
    )
    keys: list[Key] = [
        (identifier, lambda t: f"Participant {t.id_in('moodle')}" if t.id_in("moodle") else ""),
        (roster.column("ID number"), lambda t: t.student),
        (roster.column("Email address"), lambda t: t.student),
        (roster.column("Full name"), lambda t: t.name),
    ]
    matched = _match(roster.rows, marks, keys)
    rows, notes, scaled = [], [], set()
    for i, row in enumerate(roster.rows):
        points = matched[i].of(notebook) if i in matched else None
        if points is None:
            continue
        if may is not None and row[may].strip().lower() == "no":
            notes.append(f"{matched[i].student}: Moodle says that this grade cannot be changed; left out")
            continue
        worth = (_as_number(row[maximum]) if maximum is not None else None) or points[1]
        if worth != points[1]:
            scaled.add((points[1], worth))
        changed = list(row)
        changed[grade] = _number(_scaled(points, worth))
        if comment is not None and not row[comment].strip():
            changed[comment] = _comment(matched[i])
        rows.append(changed)
    notes += [
        f"{own:g} points were scaled to the {worth:g} of the assignment" for own, worth in sorted(scaled)
    ]
    _write(target, roster.header, rows, roster.delimiter)
    return Exported([target], len(rows), notes + _unmatched(marks, matched, len(roster.rows)))


def _comment(marks: Totals) -> str:
    """What the learner reads beside the grade: our own words only, as Moodle shows them as HTML."""
    return "; ".join(marks.notes)


# ---- Gradescope -------------------------------------------------------------------------------------------


def to_gradescope(results: Iterable[GradedNotebook], folder: Path) -> Exported:
    """results.json of each learner, in the form that Gradescope reads from /autograder/results/."""
    done = Exported()
    tests: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        mine = tests.setdefault(result.student, [])
        for exercise in result.exercises:
            for case in exercise.cases:
                decided = {"status": "passed" if case.passed else "failed"}
                mine.append(
                    {
                        "name": f"{exercise.name}: {case.case}",
                        "number": f"{result.notebook[:2]}.{len(mine) + 1}",
                        "score": case.points,
                        "max_score": case.max_points,
                        **(decided if case.status != "to-review" else {}),
                        "output": case.message,
                        "output_format": "text",
                        "tags": [result.notebook, exercise.name],
                        "visibility": "visible",
                    }
                )
    for student, mine in sorted(tests.items()):
        score = sum(t["score"] for t in mine)
        whole = {"score": score, "visibility": "visible", "stdout_visibility": "hidden", "tests": mine}
        path = folder / student / "results.json"
        write_text(path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
        done.paths.append(path)
    done.learners = len(tests)
    return done


# ---- numbers and files --------------------------------------------------------------------------------------


def _scaled(points: tuple[float, float], worth: float) -> float:
    return points[0] * worth / points[1] if points[1] else points[0]


def _given(marks: Totals, notebook: str, worth: float) -> str:
    points = marks.points.get(notebook)
    return "" if points is None else _number(_scaled(points, worth))


def _number(value: float) -> str:
    return f"{round(value, 2):.12g}"


def _as_number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def _only_with_ids(marks: list[Totals], system: str) -> list[str]:
    without = [m.student for m in marks if not m.id_in(system)]
    if not without:
        return []
    return [
        f"{len(without)} of {len(marks)} learners have no {system.capitalize()} id in their files' names: give the "
        "file that the system exports with --roster"
    ]


def _unmatched(marks: list[Totals], matched: dict[int, Totals], people: int) -> list[str]:
    notes = [f"not in the roster: {m.student}" for m in marks if m not in matched.values()]
    if people > len(matched):
        notes.append(f"{people - len(matched)} people of the roster have no marks; their rows are left out")
    return notes


def _write(target: Path, header: list[str], rows: list[list[Any]], delimiter: str) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(header)
    writer.writerows(rows)
    write_text(target, text.getvalue())
