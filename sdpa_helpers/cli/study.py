"""The commands `sdpa study …`: studies of a class that are planned before they are looked at."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdpa_helpers.cli.printing import complain_of, count, say, say_uncut
from sdpa_helpers.cli.refuse import refuses

if TYPE_CHECKING:
    from sdpa_helpers.classroom.study.gain import Gain
    from sdpa_helpers.classroom.teaching.numbers import Interval

study = typer.Typer(
    no_args_is_help=True,
    help="Ask a class by plan. A test before and after in two forms; two wordings of a sentence by lot.",
    rich_markup_mode=None,
)

Test = Annotated[Path, typer.Argument(metavar="FOLDER", help="Of the test: made for it.")]


@study.command("test")
@refuses
def write_test(
    folder: Test,
    learners: Annotated[
        Path, typer.Option(help="A learner in each line, or a table such as grades.csv: its first column.")
    ],
    lesson: Annotated[
        list[str] | None,
        typer.Option(help="Ask about this one, e.g. 03_softmax; may be repeated. Default: all."),
    ] = None,
    seed: Annotated[
        str, typer.Option(help="The same one draws the same questions. Default: a fresh one.")
    ] = "",
) -> None:
    """Write a test of 12 questions in two forms: sheets to print, the key, a table for the answers."""
    from sdpa_helpers.classroom.study import sheets
    from sdpa_helpers.classroom.study.forms import two_forms
    from sdpa_helpers.course.registry import LESSONS

    drawn = seed or secrets.token_hex(4)
    who = sheets.learners_in(learners)
    pairs = two_forms(tuple(dict.fromkeys(lesson or LESSONS)), drawn)
    sheets.write_test(folder, pairs, who, drawn)
    say(f"{count(len(pairs), 'question')}, form A and form B (seed {drawn}); written: {folder}")
    say(
        f"Who gets which form, before and after: {folder / sheets.ANSWERS}, for {count(len(who), 'learner')}."
    )


@study.command()
@refuses
def gain(folder: Test) -> None:
    """Say what a test before and after shows: the normalised gain, and how hard each question is."""
    from sdpa_helpers.classroom.study.gain import gain_of
    from sdpa_helpers.classroom.study.sheets import questions_in, read_sat

    found = gain_of(read_sat(folder))
    seen = f"{count(found.both, 'learner')} sat both forms"
    say(f"{seen}; {found.others} one, or the same twice." if found.others else f"{seen}.")
    _say_gain(found)
    lines = list(zip(found.questions, questions_in(folder), strict=False))
    if lines:
        say("")
        say_uncut(f"{'form':4} {'no.':>3}  {'right before':20} {'right after':20} question")
    for one, (lesson, name) in lines:
        shares = f"{_share(one.before):20} {_share(one.after):20}"
        say_uncut(f"{one.form:4} {one.number:3}  {shares} {name} ({lesson})")


def _say_gain(found: Gain) -> None:
    from sdpa_helpers.classroom.teaching.page import number

    if found.gain is None or found.forms is None:
        complain_of(found.why_not)
        return
    say(f"Right before: {found.before:.0%}, after: {found.after:.0%}.")
    shown = "" if found.shown else " Not shown: chance alone may have made it."
    say(f"Normalised gain {number(found.gain)}: the share of what wasn't known before.{shown}")
    easier = "A is easier" if found.forms.value > 0 else "B is easier"
    sure = "" if found.forms.low > 0 or found.forms.high < 0 else ", which chance may have made"
    say(f"{easier} by {abs(100 * found.forms.value):.0f} points of 100{sure}; the gain is free of that.")


def _share(value: Interval | None) -> str:
    from sdpa_helpers.classroom.teaching.page import percent

    return percent(value) if value else "too few"
