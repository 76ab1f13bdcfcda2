"""What the commands print: plain lines, the gradebook as a table, the bar while grading."""

from __future__ import annotations

from os.path import relpath
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sdpa_helpers.grading.plain_text import one_line, plain

if TYPE_CHECKING:  # the student edition has no classroom
    from rich.progress import Progress

    from sdpa_helpers.checking.survivors import Hunt
    from sdpa_helpers.classroom.grade_folder import Summary
    from sdpa_helpers.classroom.results_folder import ResultsFolder

console = Console(markup=False, emoji=False)
complain = Console(stderr=True, markup=False, emoji=False)


def say(text: str) -> None:
    """Print a line; like all that is printed it may hold names from outside."""
    console.print(plain(text))


def complain_of(text: str, style: str = "") -> None:
    """Print a line to standard error."""
    complain.print(plain(text), style=style)


def warn(text: str) -> None:
    """Print a line that must not be overlooked, to standard error."""
    complain_of(text, "bold yellow")


def say_uncut(text: str) -> None:
    """Print lines that somebody may copy: however wide the terminal is, none is broken."""
    console.print(plain(text), highlight=False, soft_wrap=True)


def progress_bar() -> Progress:
    """A bar on standard error that goes away when all is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # It refreshes when something has happened: a thread of its own would keep the grader from forking workers.
    return Progress(*columns, console=complain, transient=True, auto_refresh=False)


def show_summary(summary: Summary, folder: ResultsFolder) -> None:
    """The gradebook, and everything that a human should know about the run."""
    console.print(_gradebook(summary))
    for noted in summary.given_up:
        warn(f"not graded: {noted.student}, {noted.notebook}: {noted.given_up}")
    if summary.given_up:
        complain_of(f"{len(summary.given_up)} have 0 points for that; the same command tries them again.")
    for name, why in summary.left_out:
        say(f"left out: {name}: {why}")
    say(f"for the next session: {folder.class_page}; alike: {folder.similar_page}")
    if summary.waiting:
        say(f"{summary.waiting} answers in words wait for a reader: sdpa review {folder}")
    resumed = f", {summary.kept} of them from an earlier run" if summary.kept else ""
    say(f"{len(summary.submissions)} submissions{resumed}; written to {folder}")


def show_hunt(hunt: Hunt, seeds: int) -> None:
    """What became of the mutants of an exercise for some seeds: a line, and a paragraph for each that survives."""
    count = f"{hunt.mutants} mutants, {hunt.equivalent} of them the same function"
    say_uncut(f"{hunt.exercise.name}: {count}, {len(hunt.survivors)} pass every case and are wrong")
    for survivor in hunt.survivors:
        mutant = survivor.mutant
        luck = "" if len(survivor.seeds) == seeds else f", for {len(survivor.seeds)} of {seeds} seeds"
        say_uncut(f"  {relpath(mutant.file)}:{mutant.line}, {mutant.kind}{luck}")
        say_uncut(f"    {mutant.name}")
        say_uncut(f"    {survivor.example}")
    for name in hunt.stale:
        say_uncut(f"  spared, and no survivor: {name}")


def _gradebook(summary: Summary) -> Table:
    """A row for each student, with what a human should look at."""
    table = Table(title="Gradebook", title_justify="left")
    handed_in = {notebook for row in summary.rows for notebook in row.points}
    notebooks = sorted(handed_in)
    table.add_column("student", overflow="fold")
    for name in (*notebooks, "total", "max"):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("remarks", overflow="fold")
    remarks: dict[str, dict[str, None]] = {}
    for noted in summary.submissions:
        remarks.setdefault(noted.student, {}).update(dict.fromkeys(noted.remarks))
    for row in summary.rows:
        points = (f"{row.points[n]:g}" if n in row.points else "" for n in notebooks)
        cells = (
            row.student,
            *points,
            f"{row.total:g}",
            f"{row.max_points:g}",
            ", ".join(remarks[row.student]),
        )
        table.add_row(*map(_plain, cells))
    return table


def _plain(text: str) -> Text:
    """Names come from outside: no console markup, no control characters."""
    return Text(one_line(text))
