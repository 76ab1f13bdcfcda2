"""The command `sdpa term`: one gradebook of several homeworks."""

from pathlib import Path
from typing import Annotated

import typer

from sdpa_helpers.cli.printing import complain_of, count, say
from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.cli.teachers import EXPORTS, bring_in_marks, graded_folder, say_exported
from sdpa_helpers.grading.refusal import Refusal


@refuses
def term(
    folders: Annotated[
        list[Path], typer.Argument(help="The --out folders of `sdpa grade`, one for each homework.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Default: term.csv beside the folders.")] = None,
    to: Annotated[
        str, typer.Option("--to", help="Write the totals for canvas or moodle too, beside the table.")
    ] = "",
    roster: Annotated[
        Path | None,
        typer.Option(help="The gradebook or grading worksheet that the system exports: keeps its ids."),
    ] = None,
    column: Annotated[
        str, typer.Option(help='Canvas: what its column is called, e.g. "Course total (4321)".')
    ] = "",
) -> None:
    """Write one gradebook of several homeworks. The term.toml beside their folders says what counts."""
    from sdpa_helpers.classroom.exports.order import Order
    from sdpa_helpers.classroom.exports.term import COLUMN, export_term
    from sdpa_helpers.classroom.term.book import check_folders, term_rows, write_term
    from sdpa_helpers.classroom.term.policy import term_beside

    if to:
        refuse_unknown("--to", to, EXPORTS)
    elif roster or column:
        raise Refusal("--roster and --column are for the system that --to names")
    if out and out.suffix != ".csv":
        raise Refusal(f"--out {out}: a table is written; expected a name that ends in .csv")
    graded = [graded_folder(folder) for folder in folders]
    policy = term_beside(folders[0])
    for note in check_folders(graded, policy):
        complain_of(note)
    for folder in graded:
        bring_in_marks(folder)
        say(f"{policy.homework(folder.path.absolute().name)}")
    rows, target = term_rows(graded, policy), out or folders[0].absolute().parent / "term.csv"
    write_term(target, rows, [folder.path.absolute().name for folder in graded], policy.worth)
    ungraded = sum(row.total == "grader-failed" for row in rows)
    say(f"{count(len(rows), 'learner')}; written: {target}")
    if ungraded:
        complain_of(
            f"{count(ungraded, 'learner')} without a total, for the grader itself failed: grade again"
        )
        raise typer.Exit(3)
    if to:
        order = Order(
            graded[0],
            out=target.with_name(f"{target.stem}-{to}.csv"),
            roster=roster,
            columns=(f"{COLUMN}={column}",) if column else (),
        )
        say_exported(export_term(to, order, rows, graded, policy.worth))
