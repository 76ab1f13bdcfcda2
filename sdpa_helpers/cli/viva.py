"""The command `sdpa viva`: questions on learners' own answers, for two minutes each."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from sdpa_helpers.cli import grade_options as given
from sdpa_helpers.cli.options import Seed, limits
from sdpa_helpers.cli.printing import count, progress_bar, say
from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.cli.teachers import graded_folder

SECONDS, MEMORY = 40.0, 1024
"""For all runs of one answer with its edits."""


@refuses
def viva(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The --out folder of `sdpa grade`.")],
    exercise: Annotated[
        list[str] | None, typer.Option(help="Ask about this one; may be repeated. Default: drawn by seed.")
    ] = None,
    learner: Annotated[list[str] | None, typer.Option(help="Only this one; may be repeated.")] = None,
    each: Annotated[int, typer.Option(min=1, max=2, help="Answers of each learner.")] = 1,
    seed: Seed = "",
    sandbox: given.Sandbox = "auto",
) -> None:
    """Ask learners about their own answers. Writes a page of three questions for each, and a key: viva.html."""
    refuse_unknown("--sandbox", sandbox, given.SANDBOXES)
    from sdpa_helpers.classroom.viva.sheets import VivaOrder, answers_in, sheets_of, write_sheets

    folder = graded_folder(run)
    wanted = VivaOrder(each, seed or secrets.token_hex(4), tuple(exercise or ()), tuple(learner or ()))
    answers = answers_in(folder, wanted)
    where = limits(SECONDS, MEMORY), given.sandbox_level(sandbox)
    with progress_bar() as bar:
        made = [
            (who, tuple(sheets_of(who, mine, wanted, where)))
            for who, mine in bar.track(sorted(answers.items()), description="asking")
        ]
    there = [(who, sheets) for who, sheets in made if sheets]
    if without := [who for who, sheets in made if not sheets]:
        say(f"No sheet for {', '.join(without)}: nothing of theirs that runs has three things to ask.")
    page, key = write_sheets(folder, there)
    say(f"{count(len(there), 'learner')} (seed {wanted.seed}); to print: {page}; for you alone: {key}")
