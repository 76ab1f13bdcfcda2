"""The commands that every learner needs: `sdpa lab`, `sdpa reset`, `sdpa doctor`, `sdpa check`."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from sdpa_helpers.cli.options import Memory, Seconds, limits
from sdpa_helpers.cli.printing import complain_of, say_uncut
from sdpa_helpers.cli.refuse import refuses
from sdpa_helpers.cli.startup import import_nbval, quick_imports
from sdpa_helpers.grading.refusal import Refusal

PASSES_FLAGS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
"""What a command does not know is for JupyterLab."""


@refuses
def lab(
    flags: typer.Context,
    room: Annotated[
        str, typer.Option(help="Join your instructor's room, as 192.168.1.5:8642.", metavar="ADDRESS")
    ] = "",
) -> None:
    """Open your own copies of the lessons in JupyterLab. Flags go on to it.

    The copies lie in work/. What you have changed there is never overwritten.
    """
    from sdpa_helpers.course.places import course_root
    from sdpa_helpers.desk import launch
    from sdpa_helpers.desk.deciding import Done
    from sdpa_helpers.desk.home import move_in
    from sdpa_helpers.desk.laying import lay, lines_on
    from sdpa_helpers.desk.running import open_in_work
    from sdpa_helpers.desk.trusting import trust
    from sdpa_helpers.desk.where import HOME, work_of

    root = course_root()
    if move_in(root):
        say_uncut(
            f"Your home folder cannot be written: points and Jupyter's own files are kept in work/{HOME}."
        )
    steps = lay(root, open_in_work(work_of(root)))
    if written := [
        work_of(root) / step.write for step in steps if step.write and step.done is not Done.SKIPPED
    ]:
        trust(written)
    for line in lines_on(steps):
        say_uncut(line)
    if room:
        from sdpa_helpers.course.joined import join_room

        say_uncut(join_room(room))
    launch.start(root, flags.args)


@refuses
def reset(
    exercises: Annotated[
        list[str], typer.Argument(help="Names of exercises, e.g. softmax", metavar="NAME...")
    ],
) -> None:
    """Give exercises in work/ their stub back. Your answer is kept, in work/answers-put-aside.md."""
    from sdpa_helpers.course.places import course_root
    from sdpa_helpers.desk.home import move_in
    from sdpa_helpers.desk.putting_aside import reset_saved, stub_of
    from sdpa_helpers.desk.running import open_in_work
    from sdpa_helpers.desk.trusting import staying_trusted
    from sdpa_helpers.desk.where import DeskProblem, work_of

    root = course_root()
    move_in(root)
    is_open = open_in_work(work_of(root))
    for name in exercises:
        notebook = f"exercises/{stub_of(root, name).notebook}"
        if notebook in is_open:
            raise DeskProblem(
                f"work/{notebook} is open in JupyterLab: reset {name} there, with the button at its cell. Or close the "
                "notebook and shut its kernel down, and do this again"
            )
        with staying_trusted(work_of(root) / notebook):
            done = reset_saved(root, name)
        kept = f"Your answer is kept in {done.kept}." if done.kept else "There was no answer to keep."
        say_uncut(f"{name} has its stub again, in {done.notebook}. {kept}")


@refuses
def ledger(
    number: Annotated[
        int, typer.Argument(help="The claim's number in docs/ledger.md, e.g. 152", metavar="N")
    ],
) -> None:
    """Compute one claim of the ledger in front of you. Who says it, what comes out, the verdict."""
    from sdpa_helpers.course.ledger_page import as_text
    from sdpa_helpers.course.registry import claim_numbered

    try:
        claim = claim_numbered(number)
    except LookupError as error:
        raise Refusal(str(error)) from None
    say_uncut(as_text(claim))


@refuses
def attempts(
    table: Annotated[
        Path | None, typer.Option("--csv", help="Write the log into this file, for a spreadsheet.")
    ] = None,
) -> None:
    """Say how long you were at work, from the log of your checks. It never leaves this machine by itself."""
    from sdpa_helpers.course import attempts as log
    from sdpa_helpers.course import saved
    from sdpa_helpers.course.places import course_root
    from sdpa_helpers.desk.home import move_in

    with suppress(FileNotFoundError):
        move_in(course_root())
    lines = log.read()
    if table is None:
        said = log.in_words(lines) or "There are no five minutes of work in the log yet."
        say_uncut(f"{said} The log: {saved.home() / log.FILE}, {len(lines)} lines.")
        return
    try:
        table.write_text(log.as_csv(lines), encoding="utf-8")
    except OSError as error:
        raise Refusal(f"the table was not written: {error}") from None
    say_uncut(f"{table}: {len(lines)} lines.")


@refuses
def remember(
    count: Annotated[int, typer.Option(help="How many questions, 1 to 50.", min=1, max=50)] = 10,
    lesson: Annotated[str, typer.Option(help="Of one lesson only, e.g. 03.")] = "",
    anki: Annotated[
        Path | None, typer.Option(help="Write the deck into this file for Anki, and ask nothing.")
    ] = None,
) -> None:
    """Ask what you would soon forget, again after days, then weeks. q ends."""
    from sdpa_helpers.course.remember import asking
    from sdpa_helpers.course.remember.anki import write_anki
    from sdpa_helpers.course.remember.panel import of_lesson

    try:
        items = of_lesson(lesson)
    except ValueError as error:
        raise Refusal(str(error)) from None
    if anki is not None:
        try:
            write_anki(items, anki)
        except OSError as error:
            raise Refusal(f"the deck was not written: {error}") from None
        say_uncut(f"{anki}: {len(items)} notes. In Anki: File, Import.")
        return
    asking.ask(items, count, say_uncut, input)


@refuses
def interview(
    count: Annotated[int, typer.Option(help="How many questions, by chance.", min=1)] = 10,
    lesson: Annotated[str, typer.Option(help="Of one lesson only, e.g. 03.")] = "",
    route: Annotated[
        bool,
        typer.Option("--route", help="A plan of 90 minutes: questions, two blanks, a bug, a whiteboard."),
    ] = False,
    seed: Annotated[int | None, typer.Option(help="For the same route again.")] = None,
) -> None:
    """Ask what interviews ask, from easy to hard. You answer aloud, then see ours and the trap. q ends."""
    from sdpa_helpers.course.interview import asking
    from sdpa_helpers.course.interview.deck import chosen

    if route:
        from sdpa_helpers.course.interview.route import drawn

        plan = drawn(seed)
        say_uncut(f"{plan}\n")
        return asking.ask(plan.asked, say_uncut, input)
    try:
        asked = chosen(lesson, count)
    except ValueError as error:
        raise Refusal(str(error)) from None
    asking.ask(asked, say_uncut, input)


@refuses
def cheat_sheet(
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("cheat-sheet.html"),
) -> None:
    """Write every lesson's cheat card on one page, to be printed. Open it in a browser; it fits A4 and Letter."""
    from sdpa_helpers.course.cheat_sheet import write_sheet

    try:
        write_sheet(out)
    except OSError as error:
        raise Refusal(f"the sheet was not written: {error}") from None
    say_uncut(f"{out}: open it in a browser, and print it. One page, A4 or Letter.")


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Look at this machine: Python, packages, GPU, kernel. Exit 0 when the course can run."""
    from dataclasses import asdict

    from sdpa_helpers.course.checkup import Doctor

    report = Doctor()
    if as_json:
        print(json.dumps({"can_run": report.can_run, "facts": [asdict(f) for f in report.facts]}, indent=1))
    else:
        say_uncut(str(report))
    raise typer.Exit(0 if report.can_run else 1)


@refuses
def check(
    notebooks: Annotated[
        list[Path], typer.Argument(help="Your exercise notebooks, e.g. work/exercises/01_dot_product.ipynb")
    ],
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
) -> None:
    """Check your own notebook: verdicts and points.

    Exit 0 when all passes, 1 when not, 2 when a file cannot be used.
    """
    with quick_imports():
        import_nbval()
        from sdpa_helpers.checking.judging.judge import PUBLIC_SEED
        from sdpa_helpers.course.registry import LESSONS
        from sdpa_helpers.grading.grade_one import Settings, grade
        from sdpa_helpers.grading.read import Submission, notebook_of
        from sdpa_helpers.grading.report import report

    worst = 0
    settings = Settings(PUBLIC_SEED, limits(timeout, memory))
    for path in notebooks:
        name = notebook_of(path.name, list(LESSONS))
        there = os.path.isfile(path)  # Path.is_file raises an error for a name that is too long
        if not there or name is None:
            reason = "no such file" if not there else f"expected a name like {', '.join(LESSONS)}"
            complain_of(f"{path}: {reason}", "bold")
            worst = 2
            continue
        result = grade(Submission("you", name, path), settings)
        say_uncut(report(result))
        if result.status == "unreadable":
            worst = 2
        elif any(exercise.points < exercise.max_points for exercise in result.code):
            worst = max(worst, 1)
    raise typer.Exit(worst)
