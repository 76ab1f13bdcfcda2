"""Grade one submission: whatever is wrong with it ends up in its record."""

import hashlib
import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sdpa_helpers import __version__
from sdpa_helpers.checking.diagnose import Result, explain
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judge import Truth, Verdict, judge, truths
from sdpa_helpers.checking.observe import Answer
from sdpa_helpers.grading.assemble import answer_cells, assemble, pristine_notebook, pristine_text
from sdpa_helpers.grading.lift_words import Words, entry, lift_words
from sdpa_helpers.grading.read import (
    MAX_NOTEBOOK_BYTES,
    Flag,
    Lifted,
    Submission,
    Unreadable,
    lift,
    read_cells,
)
from sdpa_helpers.grading.run import Outcome, run
from sdpa_helpers.lessons.registry import exercises_of, written_of
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.start import OFF

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


@dataclass(frozen=True)
class Attempt:
    """What came of grading one submission.

    slow: a limit on the clock was met with CPU time left, so a calmer moment may do better. trouble: "", or why
    this machine could not do the work: then the record says nothing about the submission. note: what the
    instructor should know about the machine that did it. seconds: how long it took.
    """

    record: Record
    slow: bool = False
    trouble: str = ""
    note: str = ""
    seconds: float = 0.0

    @property
    def timed(self) -> Record:
        """The record with its time, which is not kept in it: the same seed gives the same bytes."""
        return {**self.record, "seconds": self.seconds}


def fingerprint(submission: Submission, settings: Settings) -> str:
    """Changes whenever the result could: the file, the exercise, the seed, the limits, the version."""
    parts = [__version__, settings.seed, repr(settings.limits), settings.forbidden]
    parts += [repr(submission.flags), repr(submission.handed_in), RECORD_FORM]
    digest = hashlib.sha256("\0".join(parts).encode())
    digest.update(pristine_text(submission.notebook).encode())
    if submission.path is not None:
        digest.update(_content(submission.path))
    return digest.hexdigest()[:32]


def _content(path: Path) -> bytes:
    """What the result can depend on: of a file that is too large to be read, its size alone."""
    try:
        size = path.stat().st_size
        return path.read_bytes() if size <= MAX_NOTEBOOK_BYTES else f"{size} bytes".encode()
    except OSError as error:
        return str(error.strerror).encode()


# ---- one submission ---------------------------------------------------------------------------------------


def grade(submission: Submission, settings: Settings) -> Record:
    """The record of one submission. Whatever is wrong with the file ends up in the record, not as an exception."""
    return attempt(submission, settings).record


def attempt(submission: Submission, settings: Settings) -> Attempt:
    """Grade one submission once."""
    started = time.monotonic()
    exercises = exercises_of(submission.notebook)
    if submission.path is None:
        return Attempt(without_run(submission, settings, "missing", "No notebook was handed in."))
    try:
        cells = read_cells(submission.path)
    except (Unreadable, OSError) as error:
        return Attempt(without_run(submission, settings, "unreadable", str(error)))
    pristine = pristine_notebook(submission.notebook)
    stubs = answer_cells(pristine)
    lifted = lift(cells, exercises, stubs)
    words = lift_words(cells, written_of(submission.notebook), [c.source for c in pristine.cells])
    if not lifted.answers and not any(words.answers.values()):
        reason = (
            "No answer cell was found. The first line of an answer cell, `# exercise: NAME`, says which exercise "
            f"it answers; this notebook's are: {', '.join(stubs)}."
        )
        return Attempt(without_run(submission, settings, "unreadable", reason, lifted.flags))
    outcome, stops = _run_all(pristine, lifted, exercises, settings)
    results = [_result(e, lifted, outcome, stops, settings) for e in exercises]
    flags = [*submission.flags, *lifted.flags, *words.flags, *_forged(outcome)]
    status = _status(results, stops)
    record = _record(submission, settings, status, "", results, flags, lifted.answers, words)
    trouble = outcome.reason if "start-failed" in stops.values() else ""
    return Attempt(record, outcome.slow, trouble, seconds=time.monotonic() - started)


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
        total.reason = outcome.reason
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
    known = truths(e, settings.seed)
    # Which known mistake an answer resembles is asked only where one was made.
    verdicts = [_verdict(e, replace(truth, wrong={}), lifted, outcome, stops) for truth in known]
    if not all(v.passed for v in verdicts):
        verdicts = [_verdict(e, truth, lifted, outcome, stops) for truth in known]
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


def without_run(
    submission: Submission, settings: Settings, status: str, reason: str, flags: tuple[Flag, ...] = ()
) -> Record:
    """The record of a submission of which nothing could be run; `reason` is what the learner reads."""

    def verdict(truth: Truth) -> Verdict:
        return Verdict(
            truth.case.name, "missing", 0.0, truth.case.points, "missing", f"{status}: {reason}".rstrip(".")
        )

    exercises = exercises_of(submission.notebook)
    results = [explain(e, [verdict(t) for t in truths(e, settings.seed)]) for e in exercises]
    flags = (*submission.flags, *flags)
    return _record(submission, settings, status, reason, results, list(flags))


def _record(
    submission: Submission,
    settings: Settings,
    status: str,
    reason: str,
    results: list[Result],
    flags: list[Flag],
    answers: dict[str, str] | None = None,
    words: Words | None = None,
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
    written = written_of(submission.notebook)
    texts, why = (words.answers, "") if words else ({}, f"{status}: {reason}".rstrip("."))
    exercises |= {e.name: entry(e, texts.get(e.name), why) for e in written}
    record = {
        "student": submission.student,
        "notebook": submission.notebook,
        "status": status,
        "reason": reason,
        "points": sum(r.points for r in results),
        "max_points": sum(r.exercise.max_points for r in results) + sum(e.max_points for e in written),
        "exercises": exercises,
        "flags": [{"kind": f.kind, "message": f.message} for f in flags],
        "answers": {name: source[:MAX_KEPT_CHARACTERS] for name, source in ((answers or {}) | texts).items()},
        "handed_in": list(submission.handed_in),
        "lms": submission.lms,
        "fingerprint": fingerprint(submission, settings),
    }
    return _storable(record)


def _storable(part: Any) -> Any:
    """The same with every text in characters that files and databases can hold: no NUL, no half of a pair."""
    if isinstance(part, str):
        return part.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    if isinstance(part, dict):
        return {_storable(key): _storable(value) for key, value in part.items()}
    return [_storable(value) for value in part] if isinstance(part, list | tuple) else part


def kept_record(path: Path, expected: str) -> Record | None:
    """The record of an earlier run, when it is whole and still holds."""
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("fingerprint") == expected else None
