"""The command `sdpa grade`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

from sdpa_helpers.cli import grade_options as given
from sdpa_helpers.cli.options import Memory, Seconds, Subprocesses, limits
from sdpa_helpers.cli.printing import progress_bar, warn
from sdpa_helpers.cli.refuse import refuse_unknown, refuses
from sdpa_helpers.cli.startup import begin_to_warm_up, import_nbval, quick_imports
from sdpa_helpers.cli.summary import show_summary

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
    refuse_unknown("--executor", re.sub("^dask=.+", "dask=ADDRESS", executor), ("local", "dask=ADDRESS"))
    refuse_unknown("--forbidden", forbidden, ("zero", "flag"))
    refuse_unknown("--sandbox", sandbox, ("auto", "require", "off"))
    policy = given.read_late(late, late_penalty)
    secret = given.read_seed(seed, seed_file)  # out of the environment before anything else is started
    with quick_imports():
        if executor == "local":
            begin_to_warm_up(sandbox)
        import_nbval()
        from sdpa_helpers.classroom.collect import Late
        from sdpa_helpers.classroom.grade_folder import Batch
        from sdpa_helpers.classroom.results_folder import ResultsFolder
        from sdpa_helpers.grading.grade_one import Settings

    where = given.find_executor(executor, jobs)
    # A cluster's workers choose their levels themselves.
    level = given.sandbox_level(sandbox) if executor == "local" else sandbox
    until = given.read_time(deadline)
    rule = Late(policy) if late_penalty is None else Late(policy, late_penalty)
    batch = Batch(submissions, out, fresh, gradebook, until, roster, rule, warn)
    bounds = limits(timeout, memory, subprocesses)
    settings = Settings(secret, bounds, forbidden, level, mistake_cap, variants)
    summary = _grade_with_a_bar(batch, settings, where)
    show_summary(summary, ResultsFolder(out), all_rows=all_rows)
    raise typer.Exit(3 if summary.given_up else 0)


def _grade_with_a_bar(batch: Batch, settings: Settings, where: Executor) -> Summary:
    from sdpa_helpers.classroom.grade_folder import grade_folder

    with progress_bar() as bar:
        task = bar.add_task("grading", total=None)
        try:
            return grade_folder(
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
