"""The commands `sdpa study …`: studies of a class that are planned before they are looked at."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdpa_helpers.cli.options import Seed
from sdpa_helpers.cli.printing import complain_of, count, say, say_uncut
from sdpa_helpers.cli.refuse import refuses

if TYPE_CHECKING:
    from sdpa_helpers.classroom.study.gain import Gain
    from sdpa_helpers.course.interval import Interval

study = typer.Typer(
    no_args_is_help=True,
    help="Ask a class by plan. A test before and after in two forms; two wordings of a sentence by lot.",
    rich_markup_mode=None,
)

Test = Annotated[Path, typer.Argument(metavar="FOLDER", help="Of the test: made for it.")]
Exercise = Annotated[str, typer.Argument(help="E.g. softmax.")]
Key = Annotated[str, typer.Argument(help="The answer's key in names.toml; its first letters will do.")]


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
    seed: Seed = "",
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


@study.command()
@refuses
def register(
    exercise: Exercise,
    key: Key,
    where: Annotated[Path, typer.Argument(help="The room's file, or a run's folder: names.toml lies there.")],
    question: Annotated[str, typer.Option(help="What you want to know, in a sentence.")],
    learners: Annotated[int, typer.Option(help="How many have to have tried again before you look.")],
    seed: Seed = "",
) -> None:
    """Plan to compare both wordings of a sentence of names.toml: from now on half of its readers get the second."""
    from sdpa_helpers.classroom.study import wordings

    names = wordings.names_of(where)
    one = wordings.sentence_of(names, exercise, key)
    plan = wordings.register(names, one, question, learners, seed or secrets.token_hex(8))
    say(f"Registered {plan.when[:16]}: {plan.question} By {plan.outcome}, of {plan.learners} learners.")
    say(
        f"Written: {names.with_name(wordings.FILE)}. Leave both wordings as they are until that number is there."
    )


@study.command("wordings")
@refuses
def compare_wordings(
    exercise: Exercise,
    key: Key,
    rooms: Annotated[
        list[Path], typer.Argument(metavar="ROOM…", help="Files of rooms, names.toml beside the first.")
    ],
) -> None:
    """Say which of two wordings helps more, once as many have tried again as was planned."""
    from itertools import chain

    from sdpa_helpers.classroom.study import wordings
    from sdpa_helpers.classroom.teaching.page import number, percent
    from sdpa_helpers.classroom.teaching.reading import events_of
    from sdpa_helpers.course.interval import Interval

    names = wordings.names_of(rooms[0])
    one = wordings.sentence_of(names, exercise, key)
    plan = wordings.plan_of(names, one)
    tried = chain.from_iterable(wordings.tried_in(events_of(room), one, plan.since) for room in rooms)
    found = wordings.compare(list(tried), one, plan)
    say(f"{plan.question} Registered {plan.when[:16]}, for {plan.learners} learners: {plan.outcome}.")
    if found.first is None or found.second is None or found.difference is None:
        say(f"Too early: {found.tried} of {plan.learners} have tried again. Nothing is compared before.")
        return
    say(f"The first wording:  {percent(found.first)} made the same mistake again. {one.says}")
    say(f"The second wording: {percent(found.second)}. {one.second}")
    better = "second" if found.difference.value < 0 else "first"
    says = f"The {better} helps more." if found.shown else "Not shown: chance alone may have made it."
    of_100 = Interval(*(100 * share for share in found.difference))
    say(f"Difference {number(of_100, digits=0)} points of 100. {says}")
