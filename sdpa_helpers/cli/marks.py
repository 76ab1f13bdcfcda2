"""The commands `sdpa mark …`: what people decide about answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdpa_helpers.cli.printing import count, say, warn
from sdpa_helpers.cli.refuse import refuses
from sdpa_helpers.cli.teachers import bring_in_marks, graded_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdpa_helpers.classroom.marks.store import Mark
    from sdpa_helpers.classroom.results_folder import ResultsFolder

mark = typer.Typer(
    no_args_is_help=True,
    help="Marks of your own. For any exercise: give, list, merge those of two people, answer requests.",
    rich_markup_mode=None,
)

Folder = Annotated[Path, typer.Argument(help="The --out folder of `sdpa grade`.")]
Who = Annotated[str, typer.Option("--who", help="Your name. Default: SDPA_GRADER, else your account's name.")]


@mark.command()
@refuses
def add(
    folder: Folder,
    learner: Annotated[str, typer.Argument(help="As grades.csv calls them.")],
    exercise: Annotated[str, typer.Argument(help="Its name.")],
    reason: Annotated[str, typer.Option(help="Why: the learner reads it.")] = "",
    points: Annotated[
        float | None, typer.Option(help="What the exercise counts, whatever the program gave.")
    ] = None,
    change: Annotated[float, typer.Option(help="Points on top of the program's, e.g. --change=-2.")] = 0.0,
    take_back: Annotated[
        bool, typer.Option("--take-back", help="What the program gave counts again.")
    ] = False,
    who: Who = "",
) -> None:
    """Give a mark: points, a change of the program's, or a remark alone; grades and pages follow."""
    from sdpa_helpers.classroom.marks.giving import WantedMark, give
    from sdpa_helpers.classroom.marks.merge import in_words

    graded = graded_folder(folder)
    (given,) = give(graded, [WantedMark(learner, exercise, points, change, reason, take_back=take_back)], who)
    bring_in_marks(graded)
    say(f"{given.learner}, {given.exercise}: {in_words(given)}, by {given.who}. {_now(graded, given)}")


@mark.command("list")
@refuses
def list_marks(
    folder: Folder,
    learner: Annotated[str, typer.Option(help="Only of this learner.")] = "",
    history: Annotated[bool, typer.Option("--history", help="Also those that count no more.")] = False,
) -> None:
    """List the marks that count, and where two people contradict each other."""
    from sdpa_helpers.classroom.marks.merge import in_words
    from sdpa_helpers.classroom.marks.store import counting, read

    rows = read(graded_folder(folder).marks_db)
    last = {*counting(rows).values()}
    shown = [row for row in rows if (history or row in last) and learner in ("", row.learner)]
    for row in shown:
        why = f": {row.reason}" if row.reason else ""
        over = "" if row in last else " (no longer)"
        say(
            f"{row.when[:16]}  {row.who or 'somebody'}  {row.learner}, {row.exercise}  {in_words(row)}{over}{why}"
        )
    say(f"{count(len(shown), 'mark')}")
    _say_conflicts(rows)


@mark.command()
@refuses
def merge(
    folder: Folder,
    other: Annotated[Path, typer.Argument(metavar="OTHER.db", help="The marks.db of somebody else.")],
) -> None:
    """Bring in the marks that somebody else gave in a copy of the folder, and list what contradicts them."""
    from sdpa_helpers.classroom.marks.merge import merge as merge_marks
    from sdpa_helpers.classroom.marks.store import read

    graded = graded_folder(folder)
    added = merge_marks(graded.marks_db, other)
    bring_in_marks(graded)
    by = ", ".join(sorted({row.who or "somebody" for row in added}))
    say(f"{count(len(added), 'mark')} brought in" + (f", by {by}" if by else ""))
    _say_conflicts(read(graded.marks_db))


@mark.command()
@refuses
def requests(
    folder: Folder,
    table: Annotated[
        Path | None,
        typer.Option(
            "--csv", help="Columns learner, exercise, asks, and your answer, points, change; written back."
        ),
    ] = None,
    who: Who = "",
) -> None:
    """Take in what learners ask for, and what you answer in the same table. What is open stands first in it then."""
    from sdpa_helpers.classroom.marks.requests import sync_requests

    graded = graded_folder(folder)
    done = sync_requests(graded, table, who)
    bring_in_marks(graded)
    say(f"{count(done.new, 'new request')}, {done.answered} answered now, {done.open} open")
    if table and done.open:
        say(f"{table}: fill in answer, and points or change where you give some; then the same command again")


def _now(folder: ResultsFolder, given: Mark) -> str:
    """What the exercise counts after it."""
    (result,) = folder.read_results([(given.learner, given.notebook)])
    graded = result.exercise(given.exercise)
    return f"It counts {graded.points:g} of {graded.max_points:g}"


def _say_conflicts(rows: Iterable[Mark]) -> None:
    from sdpa_helpers.classroom.marks.merge import conflicts

    found = conflicts(rows)
    for conflict in found[:20]:
        warn(f"two opinions: {conflict}")
    if found:
        more = f" (20 of {len(found)} are shown)" if len(found) > 20 else ""
        warn(f"`sdpa mark add` settles each{more}")
