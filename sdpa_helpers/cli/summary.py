"""What `sdpa grade` prints when it is done: a page, however large the class is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from sdpa_helpers.cli.printing import complain_of, console, count, say, warn
from sdpa_helpers.grading.plain_text import one_line

if TYPE_CHECKING:  # the student edition has no classroom
    from sdpa_helpers.classroom.grade_folder import Summary
    from sdpa_helpers.classroom.overview import Overview
    from sdpa_helpers.classroom.results_folder import ResultsFolder

MOST_LINES = 10
"""Of files that were left out, and of the like."""

MOST_CHARACTERS, MOST_OF_A_NAME = 155, 70
"""In one of these: two lines of a narrow terminal. The whole text is in a file."""


def show_summary(summary: Summary, folder: ResultsFolder, *, all_rows: bool = False) -> None:
    """How it went, whom to look at first, and where everything is; with `all_rows` every learner before it."""
    from sdpa_helpers.classroom.overview import overview

    whole = overview(summary.submissions)
    if all_rows:
        console.print(_gradebook(summary))
        say("")
    graded = [noted for noted in summary.submissions if noted.status != "missing"]
    kept, again = sum(noted.kept for noted in graded), sum(noted.again for noted in graded)
    said = (f", {kept} from an earlier run" if kept else "") + (f", {again} graded again" if again else "")
    absent = f"; {whole.absent} not handed in" if whole.absent else ""
    handed_in = f"{count(whole.handed_in, 'notebook')} of {count(whole.learners, 'learner')}"
    say(f"{handed_in}{said}{absent}")
    if str(summary.changes):
        say(f"{summary.changes}" + (f"; {folder.marks_changed_csv}" if summary.changes.of_known else ""))
    say("")
    console.print(_notebooks(whole))
    say("")
    say(f"status: {_counted(whole.statuses)}")
    if whole.flags:
        say(f"flags: {_counted(whole.flags)}")
    if whole.look_at:
        left = whole.worth_a_look - len(whole.look_at)
        more = f" (the other {left}: {folder.class_page}, or --all-rows)" if left else ""
        say(f"\nlook at these first{more}:")
        console.print(_look_at(whole))
        say("")
    _show_given_up(summary, folder)
    renamed = [noted.renamed for noted in summary.submissions if noted.renamed]
    _show_some([f"another name: {why}" for why in dict.fromkeys(renamed)], 3, folder.class_page)
    left_out = [f"left out: {_short(name)}: {why}" for name, why in summary.left_out]
    _show_some(left_out, MOST_LINES, folder.left_out_csv)
    if summary.waiting:
        say(f"{count(summary.waiting, 'answer')} in words to be read: sdpa review {folder}")
    say(f"for the next session: {folder.class_page}; alike: {folder.similar_page}")
    say(f"every learner's points: {folder.grades_csv}; everything: {folder}")


def _show_given_up(summary: Summary, folder: ResultsFolder) -> None:
    for noted in summary.given_up[:5]:
        warn(f"no mark: {one_line(noted.student)}, {noted.notebook}: {noted.given_up}")
    if (left := len(summary.given_up) - 5) > 0:
        complain_of(f"  … and {left} more")
    if summary.given_up:
        notebooks = count(len(summary.given_up), "notebook")
        learners = count(len({noted.student for noted in summary.given_up}), "learner")
        complain_of(
            f"{notebooks} of {learners} without a mark, for the grader itself failed: {folder.grades_csv} has "
            "`grader-failed` for it, and sdpa export refuses. What else is in them is graded and kept. The same "
            "command tries again; if it fails again, report the lines above. Exit status 3."
        )


def _short(name: str, most: int = MOST_OF_A_NAME) -> str:
    """A name with its middle left out where it is long."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def _show_some(lines: list[str], most: int, where: object) -> None:
    for line in lines[:most]:
        say(line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…")
    if len(lines) > most:
        say(f"  … and {len(lines) - most} more such lines: {where}")


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{number} {name}" for name, number in pairs)


# ---- tables -----------------------------------------------------------------------------------------------


def _table() -> Table:
    return Table(box=box.SIMPLE, pad_edge=False, show_edge=False)


def _notebooks(whole: Overview) -> Table:
    table = _table()
    table.add_column("notebook")
    for name in ("handed in", "mean", "median", "of"):
        table.add_column(name, justify="right")
    for line in whole.notebooks:
        mean = "" if line.mean is None else f"{line.mean:.1f}"
        middle = "" if line.median is None else f"{line.median:g}"
        numbers = (f"{line.handed_in}", mean, middle, f"{line.max_points:g}")
        table.add_row(*map(_plain, (line.notebook, *numbers)))
    return table


def _look_at(whole: Overview) -> Table:
    table = _table()
    points = [
        "no mark" if row.noted.no_mark else f"{row.noted.points:g} of {row.noted.max_points:g}"
        for row in whole.look_at
    ]
    table.add_column("learner", overflow="fold", max_width=24)
    table.add_column("notebook", no_wrap=True, overflow="ellipsis", max_width=14)
    table.add_column("points", justify="right", no_wrap=True, min_width=max(map(len, points)))
    table.add_column("why", overflow="fold", min_width=16)
    for row, earned in zip(whole.look_at, points, strict=True):
        table.add_row(
            *map(_plain, (_short(row.noted.student, 2 * 24), row.noted.notebook, earned, ", ".join(row.why)))
        )
    return table


def _gradebook(summary: Summary) -> Table:
    """A row for each student, with what a human should look at."""
    table = _table()
    notebooks = sorted({notebook for row in summary.rows for notebook in row.points})
    table.add_column("learner", overflow="fold", max_width=24)
    for name in (*(_number_of(name) for name in notebooks), "total", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("remarks", overflow="fold")
    remarks: dict[str, dict[str, None]] = {}
    for noted in summary.submissions:
        said = (remark for remark in noted.remarks if remark != "missing" or noted.files)
        remarks.setdefault(noted.student, {}).update(dict.fromkeys(said))
    for row in summary.rows:
        points = (_cell(row.points.get(n, "")) for n in notebooks)
        total = (_cell(row.total), f"{row.max_points:g}")
        table.add_row(*map(_plain, (row.student, *points, *total, ", ".join(remarks[row.student]))))
    return table


def _cell(points: float | str) -> str:
    return points if isinstance(points, str) else f"{points:g}"


def _number_of(notebook: str) -> str:
    """The lesson's number, as "03": the whole name has no room where there are seven."""
    return notebook.partition("_")[0]


def _plain(text: str) -> Text:
    """Names come from outside: no console markup, no control characters."""
    return Text(one_line(text))
