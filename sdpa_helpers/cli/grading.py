"""The command `sdpa grade`."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdpa_helpers.cli.options import Memory, Seconds, Subprocesses, limits
from sdpa_helpers.cli.printing import complain_of, progress_bar, warn
from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.cli.startup import begin_to_warm_up, import_nbval, quick_imports
from sdpa_helpers.cli.summary import show_summary
from sdpa_helpers.grading.refusal import Refusal

if TYPE_CHECKING:
    from sdpa_helpers.classroom.collect import LatePolicy
    from sdpa_helpers.classroom.executors import Executor


@refuses
def grade(
    submissions: Annotated[
        Path,
        typer.Argument(
            help="A folder or a zip: <student>/<notebook>.ipynb, files with students' names, or what Canvas or Moodle "
            "exports.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Where the gradebook and the feedback go.")],
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Submissions graded at the same time.")] = 1,
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    subprocesses: Subprocesses = False,
    seed: Annotated[
        str | None,
        typer.Option(
            help="For tests: hidden inputs are drawn from it. Others on the machine can read a command line: "
            "--seed-file, or SDPA_SEED in the environment, keep it to you. Default: a fresh secret."
        ),
    ] = None,
    seed_file: Annotated[
        Path | None, typer.Option("--seed-file", help="A file whose first line is the seed.")
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
        str, typer.Option(help='Answers that use what is not there: "zero" points, or only a "flag".')
    ] = "zero",
    mistake_cap: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="At most this share of an exercise for an answer with a named mistake, e.g. 0.5.",
        ),
    ] = None,
    variants: Annotated[
        int, typer.Option(min=1, max=10, help="Sets of hidden inputs; each learner gets one of them.")
    ] = 1,
    deadline: Annotated[
        str | None,
        typer.Option(help="ISO time, e.g. 2026-05-01T23:59 or …+02:00: the newest file before it counts."),
    ] = None,
    late: Annotated[
        str,
        typer.Option(
            help='Late files: "use": graded where there is no other with an answer, and flagged; "ignore"; "penalty".'
        ),
    ] = "use",
    late_penalty: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="With --late penalty: the share of the points that each started day costs. Default: 0.1.",
        ),
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
    all_rows: Annotated[
        bool, typer.Option("--all-rows", help="Print a row for each learner too, not the summary alone.")
    ] = False,
) -> None:
    """Grade a folder or a zip of submissions.

    Exit 0 when the whole batch was processed, 2 when it could not run, 3 when the grader itself failed on an exercise.
    """
    refuse_unknown("--executor", re.sub("^dask=.+", "dask=ADDRESS", executor), ("local", "dask=ADDRESS"))
    refuse_unknown("--forbidden", forbidden, ("zero", "flag"))
    refuse_unknown("--sandbox", sandbox, ("auto", "require", "off"))
    policy = _late(late)
    if late_penalty is not None and policy != "penalty":
        raise Refusal("--late-penalty says what --late penalty costs: give both")
    with quick_imports():
        if executor == "local":
            begin_to_warm_up(sandbox)
        import_nbval()
        from sdpa_helpers.classroom.collect import Late
        from sdpa_helpers.classroom.grade_folder import Batch, grade_folder
        from sdpa_helpers.classroom.results_folder import ResultsFolder
        from sdpa_helpers.grading.grade_one import Settings

    secret = _seed(seed, seed_file)  # out of the environment before anything else is started
    where = _executor(executor, jobs)
    # A cluster's workers choose their levels themselves.
    level = _sandbox_level(sandbox) if executor == "local" else sandbox
    rule = Late(policy) if late_penalty is None else Late(policy, late_penalty)
    batch = Batch(submissions, out, fresh, gradebook, _time(deadline), roster, rule, warn)
    bounds = limits(timeout, memory, subprocesses)
    settings = Settings(secret, bounds, forbidden, level, mistake_cap, variants)
    with progress_bar() as bar:
        task = bar.add_task("grading", total=None)
        try:
            summary = grade_folder(
                batch,
                settings,
                where,
                on_start=lambda total: bar.update(task, total=total),
                on_done=lambda: bar.update(task, advance=1, refresh=True),
            )
        except KeyboardInterrupt:
            done = bar.tasks[task]
            bar.stop()
            warn(
                f"stopped: {done.completed:g} of {done.total or 0:g} are graded and kept; the same command goes on."
            )
            raise
    show_summary(summary, ResultsFolder(out), all_rows=all_rows)
    raise typer.Exit(3 if summary.given_up else 0)


# ---- what its options say ----------------------------------------------------------------------------------


def _seed(given: str | None, file: Path | None) -> str:
    """The seed that was named, on the command line, in a file or in the environment; "" when none was.

    It is taken out of the environment: no process that is started later inherits it.
    """
    from_environment = os.environ.pop("SDPA_SEED", "").strip()
    if file is None:
        return given or from_environment
    if given:
        raise Refusal("--seed and --seed-file: name one of them")
    try:
        with file.open(encoding="utf-8") as lines:
            seed = lines.readline(1000).strip()
    except (OSError, ValueError) as error:
        raise Refusal(f"--seed-file {file} cannot be read: {error}") from None
    if not seed:
        raise Refusal(f"--seed-file {file}: its first line is empty; expected the seed")
    return seed


def _late(policy: str) -> LatePolicy:
    """What becomes of late files."""
    if policy == "use" or policy == "ignore" or policy == "penalty":
        return policy
    raise Refusal(f"--late {policy} is unknown: --late takes use, ignore or penalty")


def _time(text: str | None) -> datetime | None:
    """An ISO time; without a zone it is this machine's."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        raise Refusal(f"--deadline {text} is no ISO time; expected e.g. 2026-05-01T23:59") from None


def _executor(name: str, jobs: int) -> Executor:
    """Where to grade."""
    from sdpa_helpers.classroom.executors import Processes

    if name == "local":
        return Processes(jobs)
    from sdpa_helpers.classroom.cluster import Cluster

    return Cluster(name.removeprefix("dask="), lambda note: complain_of(note, "yellow"))


def _sandbox_level(wanted: str) -> str:
    """The level of confinement to use; says loudly what is missing, and refuses when "require" cannot be met."""
    from sdpa_helpers.grading.kernel_package import kernel_package
    from sdpa_helpers.sandbox.choose_level import CannotTry, NoSandbox, choose, explain

    try:
        choice = choose(wanted, kernel_package())
    except NoSandbox as error:
        raise Refusal(f"--sandbox require: no sandbox holds on this machine.\n{error}") from None
    except CannotTry as error:
        raise Refusal(f"{error}. Nothing was graded") from None
    if choice.level == "off":
        warn(
            "No sandbox: submissions run as ordinary processes of your account, with limits on time and memory only. "
            "Grade only notebooks that you would run yourself."
        )
    elif choice.missing:
        warn(f"Sandbox: {choice.level}, which is not the best there is.")
    if choice.missing:
        complain_of(explain(choice.missing) + "\nSee docs/sandbox.md.")
    return choice.level
