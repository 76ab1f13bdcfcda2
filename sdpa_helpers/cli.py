"""The command line `sdpa`: parse, call, print. What the commands do lives in the parts they call."""

import json as json_
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__, rich_markup_mode=None)
console = Console()
complain = Console(stderr=True)

Seconds = Annotated[
    float, typer.Option("--timeout", min=1.0, help="Wall time for each submission, in seconds.")
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

    from sdpa_helpers.checkup import Doctor

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
    from sdpa_helpers.exercises import LESSONS
    from sdpa_helpers.exercises.judge import PUBLIC_SEED
    from sdpa_helpers.grading.batch import Settings, grade
    from sdpa_helpers.grading.runner import Limits
    from sdpa_helpers.grading.submission import Submission, notebook_of

    worst = 0
    settings = Settings(PUBLIC_SEED, Limits(seconds=timeout, memory_mb=memory))
    for path in notebooks:
        name = notebook_of(path.name, list(LESSONS))
        if not path.is_file() or name is None:
            reason = "no such file" if not path.is_file() else f"expected a name like {', '.join(LESSONS)}"
            complain.print(f"{path}: {reason}", style="bold", markup=False)
            worst = 2
            continue
        try:
            record = grade(Submission("you", name, path), settings)
        except FileNotFoundError as error:
            complain.print(str(error), markup=False)
            raise typer.Exit(2) from None
        _print_record(record)
        if record["status"] == "unreadable":
            worst = 2
        elif record["points"] < record["max_points"]:
            worst = max(worst, 1)
    raise typer.Exit(worst)


@app.command()
def grade(
    submissions: Annotated[
        Path, typer.Argument(help="A folder <student>/<notebook>.ipynb, or a zip of one.")
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
    executor: Annotated[str, typer.Option(help='Only "local" so far.')] = "local",
    sandbox: Annotated[
        str, typer.Option(help='"auto" or "off"; "require" is refused until there is one.')
    ] = "auto",
    forbidden: Annotated[
        str, typer.Option(help='Forbidden calls: "zero" points, or only a "flag".')
    ] = "zero",
    fresh: Annotated[
        bool, typer.Option("--fresh/--resume", help="Start over, or go on where a run stopped.")
    ] = False,
) -> None:
    """Grade a folder or a zip of submissions. Exit 0 when the whole batch was processed, 2 when it could not run."""
    _refuse_unknown("--executor", executor, ("local",))
    _refuse_unknown("--forbidden", forbidden, ("zero", "flag"))
    _refuse_unknown("--sandbox", sandbox, ("auto", "off"))
    try:
        from sdpa_helpers.grading.command import Unusable, grade_folder
    except ModuleNotFoundError as error:
        complain.print(
            f'{error.name} is not installed; grading needs: pip install -e ".[grade]"', markup=False
        )
        raise typer.Exit(2) from None
    from sdpa_helpers.grading.batch import Settings
    from sdpa_helpers.grading.runner import Limits

    if sandbox == "auto":
        complain.print(
            "No sandbox: submissions run as ordinary processes of your account, with limits on time and memory only. "
            "Grade only notebooks that you would run yourself.",
            style="yellow",
        )
    limits = Limits(seconds=timeout, memory_mb=memory)
    with _progress() as progress:
        task = progress.add_task("grading", total=None)

        def begin(total: int):
            progress.update(task, total=total)
            return lambda: progress.advance(task)

        try:
            batch = grade_folder(
                submissions,
                out,
                lambda chosen: Settings(chosen, limits, forbidden),
                seed=seed,
                jobs=jobs,
                fresh=fresh,
                gradebook=gradebook,
                progress=begin,
            )
        except (Unusable, FileNotFoundError) as error:
            progress.stop()
            complain.print(str(error), markup=False)
            raise typer.Exit(2) from None
    _print_gradebook(batch, out)


def _refuse_unknown(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        complain.print(
            f"{option} {value} is not available in this version; available: {', '.join(known)}", markup=False
        )
        raise typer.Exit(2)


def _progress():
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=complain, transient=True)


def _print_record(record: dict) -> None:
    print(f"{record['notebook']}: {record['points']:g} of {record['max_points']:g} points")
    if record["status"] in ("unreadable", "missing"):
        print(f"  {record['status']}: {record['reason']}")
        return
    if record["status"] != "graded":
        print(f"  status: {record['status']}")
    for name, exercise in record["exercises"].items():
        print(f"  {name}: {exercise['points']:g} of {exercise['max_points']:g}")
        messages = dict.fromkeys(case["message"] for case in exercise["cases"] if case["message"])
        for message in messages:
            cases = [c["case"] for c in exercise["cases"] if c["message"] == message]
            print(
                f"    {', '.join(cases) if len(cases) < len(exercise['cases']) else 'every case'}: {message}"
            )
    for flag in record["flags"]:
        print(f"  note ({flag['kind']}): {flag['message']}")


def _print_gradebook(batch, out: Path) -> None:
    table = Table(title="Gradebook", title_justify="left")
    columns = [key for key in batch.rows[0] if any(row[key] for row in batch.rows)]
    for key in columns:
        table.add_column(key, justify="left" if key == "student" else "right", overflow="fold")
    table.add_column("remarks", overflow="fold")
    for row in batch.rows:
        mine = [r for r in batch.records if r["student"] == row["student"]]
        remarks = [f"{r['status']}" for r in mine if r["status"] != "graded"]
        remarks += sorted({flag["kind"] for r in mine for flag in r["flags"]})
        table.add_row(*(_plain(row[key]) for key in columns), _plain(", ".join(remarks)))
    console.print(table)
    for name, why in batch.ignored:
        console.print(f"left out: {name}: {why}", markup=False)
    resumed = f", {batch.kept} of them from an earlier run" if batch.kept else ""
    console.print(f"{len(batch.records)} submissions{resumed}; written to {out}", markup=False)


def _plain(text: str):
    """Names come from outside: no console markup, no control characters."""
    from rich.text import Text

    return Text("".join(c if c.isprintable() else "?" for c in text))
