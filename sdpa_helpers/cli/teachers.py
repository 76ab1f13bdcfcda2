"""The commands of those who teach: report, review, export, release, and mutants for those who write exercises.

The student edition says so instead.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdpa_helpers.cli.printing import complain_of, count, say, say_uncut, show_hunt, warn
from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.grading.refusal import Refusal

try:
    from sdpa_helpers.classroom.exports import EXPORTS
except ModuleNotFoundError:  # the student edition
    EXPORTS = {}

if TYPE_CHECKING:
    from sdpa_helpers.checking.authors.survivors import MutantHunt
    from sdpa_helpers.checking.exercise import Exercise
    from sdpa_helpers.classroom.exports.order import Exported
    from sdpa_helpers.classroom.homework import Homework
    from sdpa_helpers.classroom.results_folder import ResultsFolder
    from sdpa_helpers.classroom.review.apply_marks import Applied


@refuses
def room(
    port: Annotated[int, typer.Option(help="Where it listens.", min=1, max=65535)] = 8642,
    host: Annotated[str, typer.Option(help="127.0.0.1: this machine only.")] = "0.0.0.0",
    site: Annotated[
        Path | None, typer.Option(help="The built site, to serve it too.", exists=True, file_okay=False)
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="What is kept; default: room-DATE.sqlite, here.", dir_okay=False)
    ] = None,
) -> None:
    """Open a room: a board for the projector, a page for your phone. Learners join with `sdpa lab --room`."""
    from sdpa_helpers.classroom.room.run import open_room

    open_room((host, port), site, file, say_uncut)


@refuses
def report(
    folder: Annotated[Path, typer.Argument(help="The --out folder of `sdpa grade`.")],
    earlier: Annotated[
        list[Path] | None,
        typer.Option(help="The folder of an earlier term, to compare answers with too; may be repeated."),
    ] = None,
) -> None:
    """Write the class report again. From the results in a folder: class.html, cockpit.html and similar.html."""
    from sdpa_helpers.classroom.pages import write_class_pages
    from sdpa_helpers.classroom.term.policy import term_beside

    graded = graded_folder(folder)
    bring_in_marks(graded)
    old = [graded_folder(path).path for path in earlier or ()]
    if not write_class_pages(graded, earlier=old):
        raise Refusal(f"{folder}: no results of this course's notebooks in it")
    if (policy := term_beside(folder)).path:
        say(f"{policy.path}: {policy.homework(folder.absolute().name)}")
    say(f"written: {graded.class_page}, {graded.cockpit_page}, {graded.similar_page}")


@refuses
def review(
    lab: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The --out folder of `sdpa grade`.")],
    gradebook: Annotated[
        str | None, typer.Option(help="SQLAlchemy URL; default: the SQLite file in the folder.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--csv", help="No notebook: read marks from this table, and write it as it is now."),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="No notebook: only bring the marks into grades and pages.")
    ] = False,
) -> None:
    """Read the answers in words and mark them, in JupyterLab. Its flags, as --no-browser, are passed on."""
    from sdpa_helpers.classroom.review.command import open_lab, write_notebook
    from sdpa_helpers.classroom.review.table import sync_table

    status, graded = 0, graded_folder(folder)
    if lab.args and (table or apply):
        raise Refusal(f"{' '.join(lab.args)}: flags for JupyterLab go with neither --csv nor --apply")
    if table:
        changed, rows = sync_table(graded, table)
        say(f"{count(changed, 'mark')} read; written: {table}, {count(rows, 'answer')}")
    elif not apply:
        write_notebook(graded)
        status = open_lab(graded, lab.args, gradebook)
    done = _apply_marks(graded, gradebook)
    say(f"{done} Folder: {folder}")
    raise typer.Exit(2 if status else 0)


@refuses
def export(
    folder: Annotated[Path, typer.Argument(help="The --out folder of `sdpa grade`.")],
    to: Annotated[str, typer.Option("--to", help=f"One of {', '.join(EXPORTS)}.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File to write, for gradescope a folder; default: FOLDER/export/…."),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(help="The gradebook or grading worksheet that the system exports: keeps its ids."),
    ] = None,
    notebook: Annotated[
        list[str] | None,
        typer.Option(help="Only this notebook; may be repeated. Default: all that were graded."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help='Canvas: NOTEBOOK=TITLE, e.g. "01_dot_product=Homework 1 (4321)".'),
    ] = None,
    gradebook: Annotated[
        str | None,
        typer.Option(help="nbgrader: SQLAlchemy URL of its gradebook; default: a new SQLite file."),
    ] = None,
    assignment: Annotated[
        str, typer.Option(help="nbgrader: the assignment that holds the notebooks; default: one each.")
    ] = "",
    allow_ungraded: Annotated[
        bool,
        typer.Option(
            "--allow-ungraded",
            help="Although the grader itself failed on some: these get no mark, not 0, and are named.",
        ),
    ] = False,
) -> None:
    """Give the marks back to a learning system. Exit 2 when that cannot be done as asked."""
    from sdpa_helpers.classroom.exports.export import export_folder
    from sdpa_helpers.classroom.exports.order import Order

    refuse_unknown("--to", to, EXPORTS)
    graded = graded_folder(folder)
    bring_in_marks(graded)
    notebooks, columns = tuple(notebook or ()), tuple(column or ())
    order = Order(graded, notebooks, out, roster, columns, gradebook, assignment, allow_ungraded)
    say_exported(export_folder(to, order))


def _several(paths: tuple[Path, ...]) -> str:
    several = f"{len(paths)} files in {os.path.commonpath(paths)}" if len(paths) > 1 else ""
    return several or "".join(map(str, paths))


@refuses
def release(
    folder: Annotated[Path, typer.Argument(help="A new folder for the edition.")],
    edition: Annotated[
        str,
        typer.Option(
            help='"student"; "instructor": with solutions, rubrics and kit; "both": each in a folder of its own, '
            "as a zip, and SHA256SUMS."
        ),
    ] = "student",
    track: Annotated[
        str,
        typer.Option(
            help='"all"; "core": the lessons without what goes deeper; "short": their shorts alone.'
        ),
    ] = "all",
    graded: Annotated[
        bool, typer.Option("--graded", help="For homework: without answers, `check` says right or wrong.")
    ] = False,
    exercise: Annotated[
        list[str] | None,
        typer.Option(
            help="With --graded: an exercise or a lesson; may be repeated. Default: all but dot_product."
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            help="A names.toml: its sentences go along, without the points.", exists=True, dir_okay=False
        ),
    ] = None,
    zipped: Annotated[bool, typer.Option("--zip", help="Also FOLDER.zip, the same bytes each time.")] = False,
) -> None:
    """Write the student edition, or the instructor's. The former has no solutions and no tests."""
    try:
        from sdpa_helpers.classroom.editions import EDITIONS, EditionOrder, write_editions
        from sdpa_helpers.classroom.homework import homework
        from sdpa_helpers.classroom.release import TRACKS
    except ModuleNotFoundError:
        raise Refusal("this is the student edition already") from None

    refuse_unknown("--edition", edition, EDITIONS)
    refuse_unknown("--track", track, TRACKS)
    if exercise and not graded:
        raise Refusal("--exercise says what is homework; it goes with --graded")
    if graded and edition == "instructor":
        raise Refusal("--graded keeps answers from learners; the instructor's edition has them all")
    if names and edition == "instructor":
        raise Refusal("--names is for learners' own checks; it goes with the student edition")
    try:
        kept_back = homework(exercise or ()) if graded else None
    except LookupError as error:
        raise Refusal(error.args[0]) from None
    for written in write_editions(folder, EditionOrder(edition, track, kept_back, zipped, names)):
        say(f"{written.path}: {', '.join(written.holds)}" if written.holds else f"{written.path}")
        if kept_back and written.is_students:
            _say_what_is_kept_back(kept_back, written.path)


@refuses
def mutants(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="EXERCISE", help="Exercises; default: all.")
    ] = None,
    all_styles: Annotated[
        bool, typer.Option(help="Change every right answer that is known, not the reference alone.")
    ] = False,
) -> None:
    """Find small changes of a right answer that pass every case. Exit 1 when there is one."""
    from sdpa_helpers.checking.authors.survivors import hunt
    from sdpa_helpers.course.registry import all_exercises, find

    try:
        exercises = [find(name) for name in names] if names else list(all_exercises().values())
    except LookupError as error:
        raise Refusal(error.args[0]) from None
    if homework := [exercise.name for exercise in exercises if exercise.sealed]:
        raise Refusal(f"this edition has no answers to {', '.join(homework)}")
    if made := [exercise.name for exercise in exercises if names and exercise.is_made]:
        raise Refusal(
            f"what one makes is judged, not compared, so no case can miss a mutant: {', '.join(made)}"
        )
    clean = True
    for exercise in (e for e in exercises if not e.is_made and (names or not e.whole)):
        found = _hunt_in_styles(exercise) if all_styles else hunt(exercise)
        show_hunt(found, len(found.seeds))
        clean = clean and found.clean
    raise typer.Exit(0 if clean else 1)


@refuses
def try_exercise(
    wanted: Annotated[str, typer.Argument(metavar="EXERCISE", help="Its name, or the path of a page.")],
) -> None:
    """Say what the page of an exercise still lacks.

    Its prompt, what each mistake is told, what can't be told apart, what survives. Exit 1 when there is something to
    mend.
    """
    from sdpa_helpers.checking.pages.page import read
    from sdpa_helpers.checking.pages.page_text import PageError
    from sdpa_helpers.classroom.try_exercise import trial
    from sdpa_helpers.course.registry import find

    if Path(f"{wanted}.md").is_file():  # the page that lies here, called without its ending
        wanted = f"{wanted}.md"
    try:
        exercise = read(Path(wanted).resolve()) if wanted.endswith(".md") else find(wanted)
    except FileNotFoundError:
        raise Refusal(f"there is no page {wanted} here") from None
    except PageError as error:
        raise Refusal(str(error)) from None
    except LookupError as error:
        raise Refusal(error.args[0]) from None
    if exercise.sealed:
        raise Refusal(f"this edition has no answer to {exercise.name}")
    clean = True
    for line in trial(exercise):
        (say_uncut if line.startswith("- ") else say)(line)  # a mutant is copied into the page
        clean = clean and not line.startswith("✗")
    if clean:
        say_uncut(
            "All is well. Next, for a page in a lesson's exercises/: "
            f"`pytest tests/lessons tests/checking tests/classroom -q -k {exercise.name}`, then `make notebooks`"
        )
    raise typer.Exit(0 if clean else 1)


@refuses
def new(
    kind: Annotated[str, typer.Argument(help="exercise")],
    name: Annotated[str, typer.Argument(help="What its function is called.")],
    lesson: Annotated[str, typer.Option(help="The lesson whose folder it goes into, e.g. 03_softmax.")] = "",
    folder: Annotated[
        Path | None, typer.Option(help="Instead: a folder of your own, `.` is this one.")
    ] = None,
) -> None:
    """Write the page of an exercise to begin with. `sdpa try` can try it at once."""
    from sdpa_helpers.classroom.try_exercise import new_page

    refuse_unknown("the kind", kind, ("exercise",))
    path = new_page(name, lesson, folder)
    say(f"{path}: edit it, then `sdpa try {path}`")


def _hunt_in_styles(exercise: Exercise) -> MutantHunt:
    from sdpa_helpers.checking.authors.survivors import hunt_in_styles
    from sdpa_helpers.classroom.answers_as_written import in_other_styles, spared_mutants

    return hunt_in_styles(exercise, in_other_styles(exercise), spared_mutants(exercise))


def _say_what_is_kept_back(kept_back: Homework, folder: Path) -> None:
    """What is homework, and what an edition tells of it all the same."""
    from sdpa_helpers.classroom.answered_by import answered_by
    from sdpa_helpers.classroom.copies import copies_in
    from sdpa_helpers.classroom.homework import SOLVED_AT_THE_START
    from sdpa_helpers.course.registry import all_exercises

    say(f"without answers: {kept_back.in_words}")
    if kept_back.besides:
        say(f"of these not chosen, but defined with answers that were: {', '.join(kept_back.besides)}")
    if kept_back.hints:
        say(
            f"without hints that are as good as the answer, by number: {', '.join(map(str, kept_back.hints))}"
        )
    if made := [name for name in kept_back.names if all_exercises()[name].is_made]:
        say(f"judged by your grader alone, as nothing there can be sealed: {', '.join(made)}")
    if SOLVED_AT_THE_START in kept_back.names:
        say(
            f"notebooks/00_start_here.ipynb answers {SOLVED_AT_THE_START}, and shows a check that names mistakes"
        )
    exercises = [all_exercises()[name] for name in kept_back.names]
    for path, names in copies_in(folder, exercises):
        say(f"{path} still shows the answer to {', '.join(names)}: learners can copy it")
    if answered := answered_by(folder, kept_back.texts, exercises):
        by = [f"{name} ({', '.join(functions)})" for name, functions in answered.items()]
        say(f"answered by functions of the course, whose code learners can copy: {'; '.join(by)}")


# ---- what they share --------------------------------------------------------------------------------------


def graded_folder(path: Path) -> ResultsFolder:
    """The folder of an earlier run; says so when another version has written some of it."""
    from sdpa_helpers.classroom.results_folder import ResultsFolder

    folder = ResultsFolder(path)
    if not folder.holds_results():
        raise Refusal(f"{path} holds no results/; name the --out folder of `sdpa grade`")
    passed_over = folder.passed_over()
    if edited := passed_over.edited:
        more = f" and {len(edited) - 10} more" if len(edited) > 10 else ""
        raise Refusal(
            f"{path}: edited by hand, and believed no more: {', '.join(map(str, edited[:10]))}{more}. "
            "`sdpa regrade` writes what the answers earn; marks of your own go in with `sdpa mark add`"
        )
    if older := passed_over.older:
        warn(f"{count(len(older), 'result')} passed over: {older[0]}")
    return folder


def say_exported(done: Exported) -> None:
    """Where an export lies, and what to know of it."""
    for note in done.notes:
        complain_of(note)
    elsewhere = "the gradebook that you named" if done.learners else "nothing"
    say(f"{count(done.learners, 'learner')}; written: {_several(done.paths) or elsewhere}")


def bring_in_marks(folder: ResultsFolder, *, always: bool = False) -> None:
    """Bring in marks and sentences given since then, and what term.toml says now; `always`: also none at all."""
    from sdpa_helpers.classroom.term.policy import term_beside

    given = folder.marks_db.is_file() or folder.names_toml.is_file()
    if not (always or given or term_beside(folder.path).path):
        return
    done = _apply_marks(folder, None)
    if done.changes.of_known:
        say(f"{done.changes}; {folder.marks_changed_csv}")


def _apply_marks(folder: ResultsFolder, gradebook: str | None) -> Applied:
    """Bring marks of written answers into the results; says what to do when that is not possible."""
    from sdpa_helpers.classroom.review.apply_marks import apply_marks

    try:
        return apply_marks(folder, gradebook)
    except (Refusal, OSError) as error:
        raise Refusal(f"{error}. Marks are kept: sdpa review {folder} --apply brings them in") from error
