"""The command line `sdpa`: parse, call, print. What the commands do lives in the parts they call."""

import contextlib
import gc
import json as json_
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__, rich_markup_mode=None)
console = Console()
complain = Console(stderr=True)

Seconds = Annotated[
    float,
    typer.Option(
        "--timeout",
        min=1.0,
        help="CPU-seconds for each submission; on the clock it may take four times that.",
    ),
]
Memory = Annotated[int, typer.Option("--memory", min=256, help="Memory for each submission, in MB.")]


def main() -> None:
    """Run the command line."""
    app()


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
) -> None:
    """Look at this machine: Python, packages, GPU, kernel. Exit 0 when the course can run."""
    from dataclasses import asdict

    from sdpa_helpers.lessons.checkup import Doctor

    report = Doctor()
    if as_json:
        print(json_.dumps({"can_run": report.can_run, "facts": [asdict(f) for f in report.facts]}, indent=1))
    else:
        print(report)
    raise typer.Exit(0 if report.can_run else 1)


@app.command()
def check(
    notebooks: Annotated[
        list[Path], typer.Argument(help="Your exercise notebooks, e.g. exercises/01_dot_product.ipynb")
    ],
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
) -> None:
    """Check your own notebook: exit 0 when all passes, 1 when not, 2 when a file cannot be used."""
    from sdpa_helpers.checking.judge import PUBLIC_SEED
    from sdpa_helpers.grading.grade_one import Settings, grade
    from sdpa_helpers.grading.read import Submission, notebook_of
    from sdpa_helpers.grading.report import report as report_of
    from sdpa_helpers.lessons.registry import LESSONS

    worst = 0
    settings = Settings(PUBLIC_SEED, _limits(timeout, memory))
    for path in notebooks:
        name = notebook_of(path.name, list(LESSONS))
        if not path.is_file() or name is None:
            reason = "no such file" if not path.is_file() else f"expected a name like {', '.join(LESSONS)}"
            complain.print(f"{path}: {reason}", style="bold", markup=False)
            worst = 2
            continue
        try:
            result = grade(Submission("you", name, path), settings)
        except FileNotFoundError as error:
            complain.print(str(error), markup=False)
            raise typer.Exit(2) from None
        print(report_of(result))
        if result.status == "unreadable":
            worst = 2
        elif any(e.points < e.max_points for e in result.code):
            worst = max(worst, 1)
    raise typer.Exit(worst)


@app.command()
def grade(
    submissions: Annotated[
        Path,
        typer.Argument(
            help="A folder or a zip: <student>/<notebook>.ipynb, files with students' names, or what Canvas or Moodle "
            "exports."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Where the gradebook and the feedback go.")],
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Submissions graded at the same time.")] = 1,
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    seed: Annotated[
        str | None, typer.Option(help="Hidden inputs are drawn from it; default: a fresh secret.")
    ] = None,
    gradebook: Annotated[
        str | None, typer.Option(help="SQLAlchemy URL; default: SQLite in the --out folder.")
    ] = None,
    executor: Annotated[
        str,
        typer.Option(
            help='"local": --jobs processes of this machine; "dask=ADDRESS": the workers of a Dask scheduler.'
        ),
    ] = "local",
    sandbox: Annotated[
        str, typer.Option(help='"auto": the best that holds here; "require": refuse to run without; "off".')
    ] = "auto",
    forbidden: Annotated[
        str, typer.Option(help='Forbidden calls: "zero" points, or only a "flag".')
    ] = "zero",
    deadline: Annotated[
        str | None,
        typer.Option(help="ISO time, e.g. 2026-05-01T23:59 or …+02:00: the newest file before it counts."),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(
            help="Moodle's grading worksheet: says when each submission came, which its zip does not."
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh/--resume", help="Start over, or go on where a run stopped.")
    ] = False,
) -> None:
    """Grade a folder or a zip of submissions. Exit 0 when the whole batch was processed, 2 when it could not run."""
    _refuse_unknown("--executor", re.sub("^dask=.+", "dask=ADDRESS", executor), ("local", "dask=ADDRESS"))
    _refuse_unknown("--forbidden", forbidden, ("zero", "flag"))
    _refuse_unknown("--sandbox", sandbox, ("auto", "require", "off"))
    with _without_garbage():
        try:
            from sdpa_helpers.classroom.grade_folder import Unusable, grade_folder
        except ModuleNotFoundError as error:
            _no_grading(error)
        from sdpa_helpers.grading.grade_one import Settings
        from sdpa_helpers.sandbox import choose_level  # noqa: F401

    place = _place(executor, jobs)
    # A cluster's workers choose their levels themselves.
    level = _sandbox_level(sandbox) if executor == "local" else sandbox
    limits = _limits(timeout, memory)
    with _progress() as progress:
        task = progress.add_task("grading", total=None)

        def begin(total: int):
            progress.update(task, total=total)
            return lambda: progress.update(task, advance=1, refresh=True)

        try:
            batch = grade_folder(
                submissions,
                out,
                lambda chosen: Settings(chosen, limits, forbidden, level),
                seed=seed,
                place=place,
                fresh=fresh,
                gradebook=gradebook,
                progress=begin,
                deadline=_time(deadline),
                roster=roster,
            )
        except (Unusable, FileNotFoundError) as error:
            progress.stop()
            complain.print(str(error), markup=False)
            raise typer.Exit(2) from None
    _print_gradebook(batch, out)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The --out folder of `sdpa grade`.")],
) -> None:
    """Write class.html and similar.html again from the results in a folder."""
    _needs_grading()
    from sdpa_helpers.classroom.pages.class_pages import write_class_pages

    _bring_in_marks(_graded(folder))
    if not write_class_pages(folder):
        complain.print(f"{folder}: no results of this course's notebooks in it", markup=False)
        raise typer.Exit(2)
    console.print(f"written: {folder / 'class.html'}, {folder / 'similar.html'}", markup=False)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
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
    """Read the answers in words and mark them, in JupyterLab; its flags, e.g. --no-browser, are passed on."""
    _needs_grading()
    from sdpa_helpers.classroom.review.command import NothingToReview, open_lab, write_notebook
    from sdpa_helpers.classroom.review.table import BadTable, sync_table

    status = 0
    try:
        _graded(folder)
        if lab.args and (table or apply):
            raise BadTable(f"{' '.join(lab.args)}: flags for JupyterLab go with neither --csv nor --apply")
        if table:
            changed, rows = sync_table(folder, table)
            console.print(f"{changed} marks read; written: {table}, {rows} answers", markup=False)
        elif not apply:
            write_notebook(folder)
            status = open_lab(folder, lab.args, gradebook)
    except (NothingToReview, BadTable) as error:
        complain.print(str(error), markup=False)
        raise typer.Exit(2) from None
    done = _apply_marks(folder, gradebook)
    console.print(f"{done} Folder: {folder}", markup=False)
    raise typer.Exit(2 if status else 0)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="The --out folder of `sdpa grade`.")],
    to: Annotated[str, typer.Option("--to", help="canvas, moodle, gradescope or nbgrader.")],
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
) -> None:
    """Give the marks back to a learning system. Exit 2 when that cannot be done as asked."""
    _refuse_unknown("--to", to, ("canvas", "moodle", "gradescope", "nbgrader"))
    _needs_grading()
    from sdpa_helpers.classroom.exports.export import export_folder
    from sdpa_helpers.classroom.exports.roster import CannotExport

    _bring_in_marks(_graded(folder))
    try:
        done = export_folder(folder, to, out, roster, notebook or [], column or [], gradebook, assignment)
    except CannotExport as error:
        complain.print(str(error), markup=False)
        raise typer.Exit(2) from None
    for note in done.notes:
        complain.print(note, markup=False)
    where = f"{done.paths[0]}" if len(done.paths) == 1 else f"{len(done.paths)} files"
    console.print(f"{done.learners} learners; written: {where}", markup=False)


@app.command()
def release(
    folder: Annotated[Path, typer.Argument(help="A new folder for the student edition.")],
) -> None:
    """Write the student edition: lessons, exercises, package, set-up files; no solutions, no tests."""
    try:
        from sdpa_helpers.classroom.release import CannotRelease
        from sdpa_helpers.classroom.release import release as write
    except ModuleNotFoundError:
        complain.print("this is the student edition already", markup=False)
        raise typer.Exit(2) from None

    try:
        names = write(folder)
    except (CannotRelease, FileNotFoundError) as error:
        complain.print(str(error), markup=False)
        raise typer.Exit(2) from None
    console.print(f"{folder}: {', '.join(names)}", markup=False)


@app.command()
def bench(
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for attention.csv, .json and .png; default: only print."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds in which every backend takes its turn.")] = 9,
    shape: Annotated[
        list[str] | None,
        typer.Option(help="batch,heads,length,features; may be repeated. Default: the course's three."),
    ] = None,
    device: Annotated[
        str, typer.Option(help='"cpu"; "cuda": Triton against torch\'s FLASH and cuDNN kernels on this GPU.')
    ] = "cpu",
) -> None:
    """Time every attention backend against torch's fused call: one thread, medians of interleaved rounds."""
    _refuse_unknown("--device", device, ("cpu", "cuda"))
    from sdpa_helpers.bench.attention_cpu import run

    try:
        shapes = [tuple(int(n) for n in text.split(",")) for text in shape or []]
        if any(len(sizes) != 4 or min(sizes) < 1 for sizes in shapes):
            raise ValueError
    except ValueError:
        complain.print(f"--shape {' '.join(shape or [])}: expected e.g. 1,8,1024,64", markup=False)
        raise typer.Exit(2) from None
    if device == "cuda":
        from sdpa_helpers.bench import attention_cuda as bench_cuda

        if not bench_cuda.device_name():
            complain.print(
                "--device cuda: torch sees no CUDA device here; nothing was measured. Without it: the CPU",
                markup=False,
            )
            raise typer.Exit(2)
        bench_cuda.run(out, rounds, shapes or None)
        return
    run(out, rounds, shapes or None)


@contextlib.contextmanager
def _without_garbage() -> Iterator[None]:
    """For imports: looking for garbage among what stays for ever takes a fifth of their time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _needs_grading() -> None:
    """Exit 2 with a sentence where the parts for teachers are not there."""
    try:
        import sdpa_helpers.classroom.grade_folder  # noqa: F401
    except ModuleNotFoundError as error:
        _no_grading(error)


def _no_grading(error: ModuleNotFoundError) -> NoReturn:
    if (error.name or "").startswith("sdpa_helpers"):
        complain.print(
            "this is the student edition: it checks your own notebooks, with `sdpa check`", markup=False
        )
    else:
        complain.print(
            f'{error.name} is not installed; grading needs: pip install -e ".[grade]"', markup=False
        )
    raise typer.Exit(2)


def _graded(folder: Path) -> Path:
    if not (folder / "results").is_dir():
        complain.print(f"{folder} holds no results/; name the --out folder of `sdpa grade`", markup=False)
        raise typer.Exit(2)
    return folder


def _bring_in_marks(folder: Path) -> None:
    """Marks that were given since the results were written."""
    from sdpa_helpers.classroom.review.marks_store import marks_file

    if marks_file(folder).is_file():
        _apply_marks(folder, None)


def _apply_marks(folder: Path, gradebook: str | None):
    """Bring marks of written answers into the results; says what happened when that is not possible."""
    from sdpa_helpers.classroom.lock import Taken
    from sdpa_helpers.classroom.results_folder import CannotWrite
    from sdpa_helpers.classroom.review.apply_marks import apply_marks
    from sdpa_helpers.classroom.review.marks_store import CannotKeep

    try:
        return apply_marks(folder, gradebook)
    except (Taken, CannotKeep, CannotWrite, OSError) as error:
        complain.print(f"{error}. Marks are kept: sdpa review {folder} --apply brings them in", markup=False)
        raise typer.Exit(2) from None


def _time(text: str | None) -> datetime | None:
    """An ISO time; without a zone it is this machine's."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        complain.print(f"--deadline {text} is no ISO time; expected e.g. 2026-05-01T23:59", markup=False)
        raise typer.Exit(2) from None


def _limits(timeout: float, memory: int):
    """One cell may take a quarter of the time, so that an endless loop leaves some to the other exercises."""
    from sdpa_helpers.sandbox.limits import Limits

    return Limits(seconds=timeout, cell_seconds=min(10.0, timeout / 4), memory_mb=memory)


def _place(executor: str, jobs: int):
    """Where to grade; exits when a cluster does not answer."""
    from sdpa_helpers.classroom.executors import CannotGrade, Processes

    if executor == "local":
        return Processes(jobs)
    from sdpa_helpers.classroom.cluster import Cluster

    try:
        return Cluster(
            executor.removeprefix("dask="), lambda note: complain.print(note, style="yellow", markup=False)
        )
    except CannotGrade as error:
        complain.print(str(error), markup=False)
        raise typer.Exit(2) from None


def _sandbox_level(wanted: str) -> str:
    """The level of confinement to use; says loudly what is missing, and exits when "require" cannot be met."""
    from sdpa_helpers.grading.kernel_package import kernel_package
    from sdpa_helpers.sandbox import choose_level

    try:
        choice = choose_level.choose(wanted, kernel_package())
    except choose_level.NoSandbox as error:
        complain.print(f"--sandbox require: no sandbox holds on this machine.\n{error}", markup=False)
        raise typer.Exit(2) from None
    if choice.level == "off":
        complain.print(
            "No sandbox: submissions run as ordinary processes of your account, with limits on time and memory only. "
            "Grade only notebooks that you would run yourself.",
            style="bold yellow",
        )
    elif choice.missing:
        complain.print(f"Sandbox: {choice.level}, which is not the best there is.", style="bold yellow")
    if choice.missing:
        complain.print(choose_level.explain(choice.missing) + "\nSee docs/sandbox.md.", markup=False)
    return choice.level


def _refuse_unknown(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        complain.print(
            f"{option} {value} is not available in this version; available: {', '.join(known)}", markup=False
        )
        raise typer.Exit(2)


def _progress():
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # It refreshes when something has happened: a thread of its own would keep the grader from forking workers.
    return Progress(*columns, console=complain, transient=True, auto_refresh=False)


def _print_gradebook(batch, out: Path) -> None:
    table = Table(title="Gradebook", title_justify="left")
    columns = [key for key in batch.rows[0] if any(row[key] for row in batch.rows)]
    for key in columns:
        table.add_column(key, justify="left" if key == "student" else "right", overflow="fold")
    table.add_column("remarks", overflow="fold")
    remarks: dict[str, list[str]] = {}
    for (student, _), said in sorted(batch.remarks.items()):
        remarks.setdefault(student, []).extend(said)
    for row in batch.rows:
        said = ", ".join(dict.fromkeys(remarks[row["student"]]))
        table.add_row(*(_plain(row[key]) for key in columns), _plain(said))
    console.print(table)
    for student, name, why in batch.given_up:
        complain.print(f"not graded: {student}, {name}: {why}", style="bold yellow", markup=False)
    if batch.given_up:
        complain.print(f"{len(batch.given_up)} have 0 points for that; the same command tries them again.")
    for name, why in batch.ignored:
        console.print(f"left out: {name}: {why}", markup=False)
    console.print(f"for the next session: {out / 'class.html'}; alike: {out / 'similar.html'}", markup=False)
    if batch.waiting:
        console.print(f"{batch.waiting} answers in words wait for a reader: sdpa review {out}", markup=False)
    resumed = f", {batch.kept} of them from an earlier run" if batch.kept else ""
    console.print(f"{len(batch.remarks)} submissions{resumed}; written to {out}", markup=False)


def _plain(text: str):
    """Names come from outside: no console markup, no control characters."""
    from rich.text import Text

    return Text("".join(c if c.isprintable() else "?" for c in text))
