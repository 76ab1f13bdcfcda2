"""Grade one submission, or a folder of them with several workers; one broken file never stops the rest."""

import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat

from sdpa_helpers import __version__
from sdpa_helpers.course import pristine_exercise
from sdpa_helpers.exercises import exercises_of
from sdpa_helpers.exercises.definition import Exercise
from sdpa_helpers.exercises.diagnose import Result, explain
from sdpa_helpers.exercises.judge import Truth, Verdict, judge, truths
from sdpa_helpers.exercises.probe import Answer
from sdpa_helpers.grading import scratch
from sdpa_helpers.grading.assemble import answer_cells, assemble
from sdpa_helpers.grading.runner import Limits, Outcome, run
from sdpa_helpers.grading.sandbox.worker import OFF
from sdpa_helpers.grading.submission import Flag, Lifted, Submission, Unreadable, lift, read_cells

Record = dict[str, Any]
"""The graded result of one submission, in the form of results/<student>/<notebook>.json."""

RECORD_FORM = "2"
"""Changes when records get new fields: earlier ones are then graded again."""

FORBIDDEN_EARNS_NOTHING = "zero"


MAX_KEPT_CHARACTERS = 10_000


@dataclass(frozen=True)
class Settings:
    """What holds for a whole run. sandbox: the level of confinement; results do not depend on it."""

    seed: str
    limits: Limits = field(default_factory=Limits)
    forbidden: str = FORBIDDEN_EARNS_NOTHING
    sandbox: str = OFF


def fingerprint(submission: Submission, settings: Settings) -> str:
    """Changes whenever the result could: the file, the exercise, the seed, the limits, the version."""
    parts = [__version__, settings.seed, repr(settings.limits), settings.forbidden]
    parts += [repr(submission.flags), repr(submission.handed_in), RECORD_FORM]
    digest = hashlib.sha256("\0".join(parts).encode())
    digest.update(pristine_exercise(submission.notebook).read_bytes())
    if submission.path is not None:
        digest.update(submission.path.read_bytes())
    return digest.hexdigest()[:32]


# ---- one submission ---------------------------------------------------------------------------------------


def grade(submission: Submission, settings: Settings) -> Record:
    """The record of one submission. Whatever is wrong with the file ends up in the record, not as an exception."""
    return attempt(submission, settings)[0]


def attempt(submission: Submission, settings: Settings) -> tuple[Record, bool]:
    """The record, and whether a limit on the clock was met with CPU time left: then a calmer moment may do better."""
    started = time.monotonic()
    exercises = exercises_of(submission.notebook)
    if submission.path is None:
        reason = "No notebook was handed in."
        return _without_run(submission, exercises, settings, "missing", reason, started), False
    try:
        cells = read_cells(submission.path)
    except (Unreadable, OSError) as error:
        return _without_run(submission, exercises, settings, "unreadable", str(error), started), False
    pristine = nbformat.read(pristine_exercise(submission.notebook), as_version=4)
    stubs = answer_cells(pristine)
    lifted = lift(cells, exercises, stubs)
    if not lifted.answers:
        reason = (
            "No answer cell was found. The first line of an answer cell, `# exercise: NAME`, says which exercise "
            f"it answers; this notebook's are: {', '.join(stubs)}."
        )
        return _without_run(
            submission, exercises, settings, "unreadable", reason, started, lifted.flags
        ), False
    outcome, stops = _run_all(pristine, lifted, exercises, settings)
    results = [_result(e, lifted, outcome, stops, settings) for e in exercises]
    flags = [*submission.flags, *lifted.flags, *_forged(outcome)]
    status = _status(results, stops)
    record = _record(submission, settings, status, "", results, flags, started, lifted.answers)
    return record, outcome.slow


def _run_all(
    pristine: Any, lifted: Lifted, exercises: tuple[Exercise, ...], settings: Settings
) -> tuple[Outcome, dict[str, str]]:
    """Run the notebook; when one exercise ends the run, run again without it, so that it costs only itself.

    Gives everything that came out, and for each exercise that ended a run, why. All runs share the limits on
    time, so that an exercise which takes all of it leaves nothing to the next.
    """
    by_name = {e.name: truths(e, settings.seed) for e in exercises}
    todo = [e.name for e in exercises if e.name in lifted.answers]
    answers, total, stops = dict(lifted.answers), Outcome(), {}
    left, clock = settings.limits.seconds, settings.limits.wall_seconds
    while todo:
        limits = replace(settings.limits, seconds=left, wall=clock)
        outcome = run(assemble(pristine, answers, by_name, todo), limits, settings.sandbox)
        total.answers.update(outcome.answers)
        total.cell_errors.update(outcome.cell_errors)
        total.forged.update(outcome.forged)
        total.slow |= outcome.slow
        left, clock = left - outcome.seconds, clock - outcome.wall
        if not outcome.stopped:
            break
        culprit = outcome.stopped_in
        stops[culprit] = outcome.stopped
        if culprit not in answers or min(left, clock) < 1.0:
            stops.update({name: outcome.stopped for name in todo if not _arrived(name, total)})
            break
        del answers[culprit]
        todo = [name for name in todo if name != culprit and not _arrived(name, total)]
    return total, stops


def _arrived(exercise: str, outcome: Outcome) -> bool:
    came = {name for name, _ in (*outcome.answers, *outcome.forged)}
    return exercise in came or exercise in outcome.cell_errors


def _result(
    e: Exercise, lifted: Lifted, outcome: Outcome, stops: dict[str, str], settings: Settings
) -> Result:
    verdicts = [_verdict(e, truth, lifted, outcome, stops) for truth in truths(e, settings.seed)]
    if e.name in lifted.forbidden and settings.forbidden == FORBIDDEN_EARNS_NOTHING:
        names = ", ".join(lifted.forbidden[e.name])
        seen = f"the answer uses {names}, which this exercise does not allow: write the steps yourself"
        verdicts = [
            replace(v, status="failed", points=0.0, fault="forbidden-call", seen=seen, explained_by=())
            for v in verdicts
        ]
    return explain(e, verdicts)


def _verdict(e: Exercise, truth: Truth, lifted: Lifted, outcome: Outcome, stops: dict[str, str]) -> Verdict:
    """One case: judged when an answer arrived, else why none did."""
    key = (e.name, truth.case.name)
    nothing = Verdict(truth.case.name, "failed", 0.0, truth.case.points)
    if e.name not in lifted.answers:
        return replace(
            nothing, status="missing", fault="missing", seen=f"no answer cell for {e.name} was found"
        )
    if key in outcome.forged:
        seen = f"the result of this check was not accepted: {outcome.forged[key]}"
        return replace(nothing, fault="forged-output", seen=seen)
    if e.name in outcome.cell_errors:
        return replace(
            nothing, status="error", fault="answer-cell-failed", seen=_cell_error(outcome.cell_errors[e.name])
        )
    if key in outcome.answers:
        answer = outcome.answers[key]
        if answer == Answer("other", "nothing"):
            seen = f"the answer cell defines no function called {e.name}"
            return replace(nothing, status="error", fault="no-function", seen=seen)
        if answer.error == "MemoryError":
            seen = "the memory limit was reached while this case ran"
            return replace(nothing, status="out-of-memory", fault="out-of-memory", seen=seen)
        verdict = judge(e, truth, answer)
        helper = answer.error == "NameError" and _HELPERS
        return replace(verdict, seen=verdict.seen + helper) if helper else verdict
    why = stops.get(e.name, "not-run")
    status = why if why in ("timeout", "out-of-memory") else "not-run"
    return replace(nothing, status=status, fault=why, seen=_STOPPED[why])


_HELPERS = (
    ". Only answer cells are graded: helper functions and imports have to stand in the answer cell itself"
)
_STOPPED = {
    "timeout": "this did not finish within the time limit: is there a loop that never ends?",
    "kernel-died": "the Python process ended while this exercise ran",
    "out-of-memory": "the memory limit was reached while this exercise ran",
    "output-limit": "this exercise printed or displayed far more than can be read",
    "start-failed": "the Python process could not be started; that is the grader's problem, not yours",
    "not-run": "this case was not reached",
}


def _cell_error(text: str) -> str:
    return f"the answer cell did not run: {text}" + (
        _HELPERS if text.startswith(("NameError", "ImportError")) else ""
    )


def _forged(outcome: Outcome) -> list[Flag]:
    return [
        Flag("forged-output", f"{exercise}, {case}: {why}")
        for (exercise, case), why in outcome.forged.items()
    ]


def _status(results: list[Result], stops: dict[str, str]) -> str:
    cases = [c.verdict for r in results for c in r.cases]
    if "timeout" in stops.values():
        return "timeout"
    if any(v.status == "out-of-memory" for v in cases):
        return "out-of-memory"
    return "kernel-died" if stops else "graded"


def _without_run(
    submission: Submission,
    exercises: tuple[Exercise, ...],
    settings: Settings,
    status: str,
    reason: str,
    started: float,
    flags: tuple[Flag, ...] = (),
) -> Record:
    def verdict(truth: Truth) -> Verdict:
        return Verdict(
            truth.case.name, "missing", 0.0, truth.case.points, "missing", f"{status}: {reason}".rstrip(".")
        )

    results = [explain(e, [verdict(t) for t in truths(e, settings.seed)]) for e in exercises]
    return _record(submission, settings, status, reason, results, [*submission.flags, *flags], started)


def _record(
    submission: Submission,
    settings: Settings,
    status: str,
    reason: str,
    results: list[Result],
    flags: list[Flag],
    started: float,
    answers: dict[str, str] | None = None,
) -> Record:
    """The record in the form of the results file; `reason`, `flags`, `title` and so on are additions to it."""
    exercises = {}
    for result in results:
        cases = [
            {
                "case": c.verdict.case,
                "passed": c.verdict.passed,
                "points": c.verdict.points,
                "max_points": c.verdict.max_points,
                "status": c.verdict.status,
                "diagnosis": c.diagnosis,
                "message": c.message,
            }
            for c in result.cases
        ]
        exercises[result.exercise.name] = {
            "title": result.exercise.title,
            "points": result.points,
            "max_points": result.exercise.max_points,
            "mistake": result.mistake,
            "cases": cases,
        }
    return {
        "student": submission.student,
        "notebook": submission.notebook,
        "status": status,
        "reason": reason,
        "points": sum(r.points for r in results),
        "max_points": sum(r.exercise.max_points for r in results),
        "exercises": exercises,
        "flags": [{"kind": f.kind, "message": f.message} for f in flags],
        "answers": {name: _kept_text(source) for name, source in (answers or {}).items()},
        "handed_in": list(submission.handed_in),
        "lms": submission.lms,
        "fingerprint": fingerprint(submission, settings),
        "seconds": round(time.monotonic() - started, 2),
    }


def _kept_text(source: str) -> str:
    """An answer as the record keeps it, for a human to read: not endless, and in characters that a file can hold."""
    return source[:MAX_KEPT_CHARACTERS].encode("utf-8", "backslashreplace").decode()


# ---- many submissions -------------------------------------------------------------------------------------


def grade_all(
    submissions: list[Submission], settings: Settings, jobs: int, tick: Callable[[], None]
) -> Iterator[Record]:
    """Grade every submission, `jobs` at a time; records come in the order in which they are finished.

    A worker that dies takes down its pool: what was under way is then graded one by one, each in a worker of
    its own, and a submission that kills its worker again is recorded as "kernel-died". A submission that ran
    out of time on the clock, but not of CPU time, is graded once more, alone, when the others are done.
    """
    left, slow = list(submissions), []
    scratch.sweep()
    with _pool(jobs) as pool:
        futures = {pool.submit(attempt, s, settings): s for s in left}
        for future in as_completed(futures):
            try:
                record, was_slow = future.result()
            except BrokenProcessPool:
                break
            left.remove(futures[future])
            if was_slow and len(futures) > 1:
                slow.append(futures[future])
                continue
            tick()
            yield record
    for submission in (*left, *slow):
        yield _alone(submission, settings)
        tick()
    scratch.sweep()  # what a worker that was killed has left


def _alone(submission: Submission, settings: Settings) -> Record:
    with _pool(1) as pool:
        try:
            return pool.submit(grade, submission, settings).result()
        except BrokenProcessPool:
            reason = "The grading process ended twice while it worked on this notebook."
            exercises = exercises_of(submission.notebook)
            return _without_run(submission, exercises, settings, "kernel-died", reason, time.monotonic())


def _pool(jobs: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """A worker whose grader was killed ends at once, and with it its kernels; by itself it would wait forever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            multiprocessing.connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def kept_record(path: Path, expected: str) -> Record | None:
    """The record of an earlier run, when it is whole and still holds."""
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("fingerprint") == expected else None
