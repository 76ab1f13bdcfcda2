"""The commands `sdpa grade` and `sdpa regrade`."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdpa_helpers.cli import grade_options as given
from sdpa_helpers.cli.options import Memory, Seconds, Subprocesses, limits
from sdpa_helpers.cli.printing import progress_bar, warn
from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.cli.startup import begin_to_warm_up, import_nbval, quick_imports
from sdpa_helpers.cli.summary import show_summary
from sdpa_helpers.grading.refusal import Refusal

if TYPE_CHECKING:
    from sdpa_helpers.classroom.executors import Executor
    from sdpa_helpers.classroom.grade_folder import Batch, Summary
    from sdpa_helpers.grading.grade_one import Settings


@refuses
def grade(
    submissions: given.Submissions,
    out: given.Out,
    jobs: given.Jobs = 1,
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    subprocesses: Subprocesses = False,
    seed: given.Seed = None,
    seed_file: given.SeedFile = None,
    gradebook: given.Gradebook = None,
    executor: given.Where = "local",
    sandbox: given.Sandbox = "auto",
    forbidden: given.Forbidden = "zero",
    mistake_cap: given.MistakeCap = None,
    variants: given.Variants = 1,
    deadline: given.Deadline = None,
    late: given.LateFiles = "use",
    late_penalty: given.LatePenalty = None,
    roster: given.Roster = None,
    fresh: given.Fresh = False,
    all_rows: given.AllRows = False,
) -> None:
    """Grade a folder or a zip of submissions.

    Exit 0 when the whole batch was processed, 2 when it could not run, 3 when the grader itself failed on an exercise.
    """
    where = Where(executor, jobs, sandbox, gradebook)
    bounds = (timeout, memory, subprocesses)
    rules = (forbidden, mistake_cap, variants, deadline, late, late_penalty)
    asked = MarkOptions(str(submissions), *bounds, *rules, str(roster) if roster else None)
    _run(asked, where, Now(out, fresh, all_rows, seed=(seed, seed_file)))


@refuses
def regrade(
    folder: Annotated[Path, typer.Argument(help="The --out folder of `sdpa grade`.")],
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this learner, and whatever needs it or not; may be repeated."),
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Default: as many as before.")] = None,
    all_rows: given.AllRows = False,
) -> None:
    """Grade again as before, and say which marks changed. Only what depends on something that changed runs again."""
    from sdpa_helpers.classroom.run_json import read_run

    command: dict[str, Any] = dict(read_run(folder / "run.json").command)
    names = [[field.name for field in fields(kind)] for kind in (MarkOptions, Where)]
    if not command.keys() >= {*names[0], *names[1]}:
        raise Refusal(
            f"{folder}/run.json does not tell how it was graded: call `sdpa grade` once more, with --out {folder}"
        )
    asked = MarkOptions(**{name: command[name] for name in names[0]})
    before = Where(**{name: command[name] for name in names[1]})
    where = before if jobs is None else replace(before, jobs=jobs)
    _run(asked, where, Now(folder, all_rows=all_rows, only=frozenset(only or ())))


@dataclass(frozen=True)
class MarkOptions:
    """What marks depend on, as it was typed."""

    submissions: str
    timeout: float
    memory: int
    subprocesses: bool
    forbidden: str
    mistake_cap: float | None
    variants: int
    deadline: str | None
    late: str
    late_penalty: float | None
    roster: str | None


@dataclass(frozen=True)
class Where:
    """Where it is done."""

    executor: str
    jobs: int
    sandbox: str
    gradebook: str | None


@dataclass(frozen=True)
class Now:
    """What holds for this call alone."""

    out: Path
    fresh: bool = False
    all_rows: bool = False
    only: frozenset[str] = frozenset()
    seed: tuple[str | None, Path | None] = (None, None)


def _run(asked: MarkOptions, where: Where, now: Now) -> None:
    """Grade, and print what came of it."""
    executor, sandbox = where.executor, where.sandbox
    refuse_unknown("--executor", re.sub("^dask=.+", "dask=ADDRESS", executor), ("local", "dask=ADDRESS"))
    refuse_unknown("--forbidden", asked.forbidden, ("zero", "flag"))
    refuse_unknown("--sandbox", sandbox, given.SANDBOXES)
    policy = given.read_late(asked.late, asked.late_penalty)
    secret = given.read_seed(*now.seed)  # out of the environment before anything else is started
    with quick_imports():
        if executor == "local":
            begin_to_warm_up(sandbox)
        import_nbval()
        from sdpa_helpers.classroom.collect import Late
        from sdpa_helpers.classroom.grade_folder import Batch
        from sdpa_helpers.classroom.results_folder import ResultsFolder
        from sdpa_helpers.grading.grade_one import Settings

    workers = given.find_executor(executor, where.jobs)
    # A cluster's workers choose their levels themselves.
    level = given.sandbox_level(sandbox) if executor == "local" else sandbox
    rule = Late(policy) if asked.late_penalty is None else Late(policy, asked.late_penalty)
    roster = Path(asked.roster) if asked.roster else None
    command = (*asdict(_from_anywhere(asked)).items(), *asdict(where).items())
    source, when = Path(asked.submissions), given.read_time(asked.deadline)
    batch = Batch(source, now.out, now.fresh, where.gradebook, when, roster, rule, warn, now.only, command)
    bounds = limits(asked.timeout, asked.memory, asked.subprocesses)
    settings = Settings(secret, bounds, asked.forbidden, level, asked.mistake_cap, asked.variants)
    summary = _grade_with_a_bar(batch, settings, workers)
    show_summary(summary, ResultsFolder(now.out), all_rows=now.all_rows)
    raise typer.Exit(3 if summary.given_up else 0)


def _from_anywhere(asked: MarkOptions) -> MarkOptions:
    """The same with whole paths, for a later call from another folder."""
    roster = str(Path(asked.roster).absolute()) if asked.roster else None
    return replace(asked, submissions=str(Path(asked.submissions).absolute()), roster=roster)


def _grade_with_a_bar(batch: Batch, settings: Settings, workers: Executor) -> Summary:
    from sdpa_helpers.classroom.grade_folder import grade_folder

    with progress_bar() as bar:
        task = bar.add_task("grading", total=None)
        try:
            return grade_folder(
                batch,
                settings,
                workers,
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
