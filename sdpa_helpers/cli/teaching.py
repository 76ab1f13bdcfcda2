"""The command `sdpa teaching`: what a class says of the course."""

from pathlib import Path
from typing import Annotated

import typer

from sdpa_helpers.cli.printing import complain_of, count, say
from sdpa_helpers.cli.refuse import refuses
from sdpa_helpers.cli.teachers import bring_in_marks, graded_folder

SHOWN = 3
"""Findings that are printed: as many as somebody acts on before the next term."""


@refuses
def teaching(
    folders: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="The --out folders of `sdpa grade`, of one class.")
    ],
    attempts: Annotated[
        list[Path] | None,
        typer.Option(
            help="A learner's table of `sdpa attempts --csv`, or a folder of them; may be repeated."
        ),
    ] = None,
    room: Annotated[
        list[Path] | None, typer.Option(help="The file of a room: its logs and votes; may be repeated.")
    ] = None,
) -> None:
    """Ask whether it teaches. Exercises and sentences that don't, by grades and logs: teaching.html."""
    from sdpa_helpers.classroom.teaching.command import look
    from sdpa_helpers.classroom.teaching.page import in_words_if_too_small

    graded = [graded_folder(folder) for folder in folders]
    for folder in graded:
        bring_in_marks(folder)
    given = attempts or []
    tables = [table for path in given for table in (sorted(path.glob("*.csv")) if path.is_dir() else [path])]
    found = look(graded, tables, room or [])
    if small := in_words_if_too_small(found):
        complain_of(small)
    for finding in found.findings[:SHOWN]:
        say(f"- {finding.says} {finding.do}")
    if not found.findings:
        say(f"Nothing stands out from chance, of {count(found.looked, 'thing')} that could be tested.")
    seen = f"{count(found.learners, 'learner')}, {count(found.logs, 'log')}"
    say(f"{seen}; written: {graded[0].teaching_page}")
