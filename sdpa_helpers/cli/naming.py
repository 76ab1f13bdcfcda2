"""The commands `sdpa name` and `sdpa names`: one sentence for all who gave the same answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdpa_helpers.cli.printing import count, say, say_uncut
from sdpa_helpers.cli.refuse import refuses
from sdpa_helpers.cli.teachers import bring_in_marks, graded_folder
from sdpa_helpers.grading.refusal import Refusal

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The --out folder of `sdpa grade`.")]


@refuses
def name(
    run: Run,
    exercise: Annotated[str, typer.Argument(help="E.g. softmax.")],
    answer: Annotated[
        str, typer.Argument(help="Its key, as class.html shows it; the first letters will do.")
    ],
    sentence: Annotated[str, typer.Argument(help='What they are told; "" takes it back.')],
    points: Annotated[float, typer.Option(help="A change of their points, e.g. -1.")] = 0.0,
    called: Annotated[
        str, typer.Option("--as", help="What the mistake is called in tables; default: its first words.")
    ] = "",
) -> None:
    """Tell all who gave the same answer one sentence. It is kept in RUN/names.toml and told whenever it comes again."""
    from sdpa_helpers.classroom.sentences.command import givers, name_answer
    from sdpa_helpers.classroom.sentences.store import Sentence

    folder = graded_folder(run)
    told = name_answer(folder, Sentence(exercise, answer, sentence, points, called))
    bring_in_marks(folder, always=True)
    if told is None:
        say(f"taken back; written: {folder.names_toml}")
        return
    who = givers(folder.read_results()).get((told.exercise, told.key))
    learners = count(len(who.learners) if who else 0, "learner")
    say(f"{learners} told: {told.name}; written: {folder.names_toml}")


@refuses
def names(
    run: Run,
    as_mistakes: Annotated[
        bool, typer.Option("--as-mistakes", help="Print them as entries for the pages of their exercises.")
    ] = False,
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--from", help="First take over those of an earlier run or room: its folder or names.toml."
        ),
    ] = None,
) -> None:
    """List the sentences for answers without a name. Brings in what was edited in RUN/names.toml."""
    from sdpa_helpers.classroom.sentences import command

    folder = graded_folder(run)
    if as_mistakes and earlier:
        raise Refusal("--as-mistakes only prints; take over with --from first")
    if as_mistakes:
        for entry in command.as_mistakes(folder):
            say_uncut(entry)
        return
    if earlier:
        new = command.take_over(folder.names_toml, earlier)
        say(f"{count(new, 'sentence')} taken over from {earlier}")
    command.put_in_order(folder.names_toml)
    bring_in_marks(folder, always=True)
    for line in [*command.listed(folder)] or ["No two learners gave the same answer without a name."]:
        say_uncut(line)
