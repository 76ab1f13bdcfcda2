"""Grade one submission: bring the parts together. Whatever is wrong with it ends up in its result."""

import hashlib
import hmac
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbformat import NotebookNode

from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Truth
from sdpa_helpers.course.registry import exercises_of, folder_of, written_of
from sdpa_helpers.grading.assemble import answer_cells, assemble, pristine_notebook, pristine_text
from sdpa_helpers.grading.fails_alone import draw_all, judge_alone, not_judged, not_lifted
from sdpa_helpers.grading.judge import (
    Evidence,
    Marking,
    beside_flags,
    forged,
    nothing_run,
    public_key,
    run_flags,
    status_of,
)
from sdpa_helpers.grading.lift_words import Words, unread
from sdpa_helpers.grading.own_code import code_for
from sdpa_helpers.grading.read import MAX_NOTEBOOK_BYTES, Lifted, Submission, Unreadable
from sdpa_helpers.grading.read_file import read_file
from sdpa_helpers.grading.result import (
    RECORD_FORM,
    Flag,
    Graded,
    GradedExercise,
    GradedNotebook,
    Status,
    storable,
)
from sdpa_helpers.grading.run import Outcome, run
from sdpa_helpers.sandbox.limits import Limits
from sdpa_helpers.sandbox.start import OFF

FORBIDDEN_EARNS_NOTHING = "zero"

MAX_KEPT_CHARACTERS = 10_000

LEAST_IDLE = 1.0
"""Seconds that a run of a notebook may at least wait, however many before it were ended."""


@dataclass(frozen=True)
class Settings:
    """What holds for a whole run."""

    seed: str
    """Hidden inputs are drawn from it."""
    limits: Limits = field(default_factory=Limits)
    forbidden: str = FORBIDDEN_EARNS_NOTHING
    """What it costs to use what is not there: "zero" points, or only a "flag"."""
    sandbox: str = OFF
    """The level of confinement; results do not depend on it."""
    mistake_cap: float | None = None
    """The share of an exercise that an answer with a named mistake earns at most; None: there is no such limit."""
    variants: int = 1
    """How many sets of hidden inputs there are; each learner gets one of them."""


@dataclass(frozen=True)
class Attempt:
    """One time that a submission was graded."""

    result: GradedNotebook | None
    """None when this machine could not do the work, which says nothing about the submission."""
    slow: bool = False
    """A limit on the clock was met with CPU time left, so a calmer moment may do better."""
    trouble: str = ""
    """Why this machine could not do the work, or ""."""
    note: str = ""
    """What the instructor should know about the machine that did it."""
    seconds: float = 0.0
    """How long it took. It is not part of the result: the same seed gives the same bytes."""


def marking_of(student: str, settings: Settings) -> Marking:
    """How a learner's answers are marked, and on which inputs."""
    seed = settings.seed
    if settings.variants > 1:
        digest = hmac.new(seed.encode(), student.encode("utf-8", "surrogatepass"), "sha256").digest()
        seed = f"{seed}, variant {int.from_bytes(digest[:8], 'big') % settings.variants}"
    refuse = settings.forbidden == FORBIDDEN_EARNS_NOTHING
    return Marking(seed, settings.seed != PUBLIC_SEED, refuse, settings.mistake_cap)


def fingerprint(submission: Submission, settings: Settings) -> str:
    """Changes whenever the result could: the file, its lesson, the seed, the limits, the code that grades."""
    parts = [
        code_for(folder_of(submission.notebook)),
        settings.seed,
        repr(settings.limits),
        settings.forbidden,
    ]
    parts += [repr(settings.mistake_cap), repr(settings.variants)]
    parts += [repr(submission.flags), repr(submission.handed_in), repr(submission.late_penalty), RECORD_FORM]
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


def grade(submission: Submission, settings: Settings) -> GradedNotebook:
    """The result of one submission. Whatever is wrong with the file ends up in it, not as an exception."""
    result = attempt(submission, settings).result
    assert result is not None  # only `classroom.executors` gives attempts without one
    return result


def attempt(submission: Submission, settings: Settings) -> Attempt:
    """Grade one submission once."""
    started = time.monotonic()
    exercises = exercises_of(submission.notebook)
    if submission.path is None:
        return Attempt(
            without_run(
                submission, settings, "missing", submission.why_missing or "No notebook was handed in."
            )
        )
    try:
        read = read_file(submission.path, submission.notebook)
    except Unreadable as error:
        return Attempt(without_run(submission, settings, "unreadable", str(error)))
    except OSError as error:
        return Attempt(without_run(submission, settings, "unreadable", cannot_open(error)))
    pristine = pristine_notebook(submission.notebook)
    lifted, words = read.lifted, read.words
    if not lifted.answers and not any(words.answers.values()):
        reason = (
            "No answer cell was found. The first line of an answer cell, `# exercise: NAME`, says which exercise "
            f"it answers; this notebook's are: {', '.join(answer_cells(pristine))}."
        )
        return Attempt(without_run(submission, settings, "unreadable", reason, lifted.flags))
    marking = marking_of(submission.student, settings)
    by_name = draw_all(exercises, marking.seed)
    evidence = _run_all(pristine, lifted, by_name, settings)
    result = _result(submission, settings, evidence, words)
    if marking.hidden:
        result = _with_public_keys(result, pristine, lifted, settings)
    outcome, stops = evidence.outcome, evidence.stops
    trouble = outcome.reason if "start-failed" in stops.values() else ""
    return Attempt(result, outcome.slow, trouble, seconds=time.monotonic() - started)


def _with_public_keys(
    result: GradedNotebook, pristine: NotebookNode, lifted: Lifted, settings: Settings
) -> GradedNotebook:
    """The result with the keys of its answers that failed for no known reason, by which anybody finds them again.

    Those that do not run on the inputs of `check` keep the key of this run alone.
    """
    nameless = {graded.name for graded in result.code if graded.unknown}
    if not nameless:
        return result
    asked = [e for e in exercises_of(result.notebook) if e.name in nameless]
    evidence = _run_all(pristine, lifted, draw_all(asked, PUBLIC_SEED), settings)
    keys = {e.name: public_key(e, evidence) for e in asked if e.name not in evidence.stops}

    def keyed(graded: Graded) -> Graded:
        key = keys.get(graded.name, "")
        return replace(graded, unknown=key) if key and isinstance(graded, GradedExercise) else graded

    return replace(result, exercises=tuple(map(keyed, result.exercises)))


def cannot_open(error: OSError) -> str:
    """What the learner reads of a file that the grader cannot open: nothing of the grader's own folders."""
    return f"The file cannot be opened ({error.strerror or type(error).__name__}). Tell your instructor."


def _run_all(
    pristine: NotebookNode, lifted: Lifted, by_name: dict[str, tuple[Truth, ...]], settings: Settings
) -> Evidence:
    """Run the notebook; when one exercise ends the run, run again without it, so that it costs only itself.

    All runs share the limits on time, so that an exercise which takes all of it leaves nothing to the next; each
    may wait without computing for half as long as the one before.
    """
    todo = [name for name in by_name if name in lifted.answers]
    answers, total, stops = dict(lifted.answers), Outcome(), dict[str, str]()
    own, own_stopped = lifted.own, ""
    left, clock, idle = settings.limits.seconds, settings.limits.wall_seconds, settings.limits.idle
    while todo:
        limits = replace(settings.limits, seconds=left, wall=clock, idle=idle)
        outcome = run(assemble(pristine, answers, by_name, todo, own), limits, settings.sandbox)
        total.answers.update(outcome.answers)
        total.cell_errors.update(outcome.cell_errors)
        total.forged.update(outcome.forged)
        total.malformed.update(outcome.malformed)
        total.noticed.update(outcome.noticed)
        total.slow |= outcome.slow
        total.reason = outcome.reason
        left, clock, idle = left - outcome.seconds, clock - outcome.wall, max(idle / 2, LEAST_IDLE)
        if not outcome.stopped:
            break
        culprit = outcome.stopped_in
        if own and not culprit and outcome.stopped != "start-failed" and min(left, clock) >= 1.0:
            own, own_stopped = (), outcome.stopped
            continue
        stops[culprit] = outcome.stopped
        if culprit not in answers or min(left, clock) < 1.0:
            stops.update({name: outcome.stopped for name in todo if not _arrived(name, total)})
            break
        del answers[culprit]
        todo = [name for name in todo if name != culprit and not _arrived(name, total)]
    return Evidence(lifted, total, stops, own_stopped)


def _arrived(exercise: str, outcome: Outcome) -> bool:
    came = {name for name, _ in (*outcome.answers, *outcome.forged)}
    return exercise in came or exercise in outcome.cell_errors


# ---- its result -------------------------------------------------------------------------------------------


def _result(submission: Submission, settings: Settings, evidence: Evidence, words: Words) -> GradedNotebook:
    """The result of a submission that was run."""
    lifted, marking = evidence.lifted, marking_of(submission.student, settings)
    judged = [judge_alone(e, evidence, marking) for e in exercises_of(submission.notebook)]
    code = [each.graded for each in judged]
    noticed = (
        *forged(evidence.outcome),
        *beside_flags(evidence.outcome),
        *(flag for each in judged for flag in each.use),
        *(flag for each in judged for flag in each.cell),
        *run_flags(evidence),
    )
    failed = ", ".join(exercise.name for exercise in code if exercise.failed)
    in_words = [unread(e, words.answers.get(e.name)) for e in written_of(submission.notebook)]
    answers = lifted.answers | words.answers
    return storable(
        GradedNotebook(
            student=submission.student,
            notebook=submission.notebook,
            status=status_of(code, evidence.stops),
            exercises=(*code, *in_words),
            reason=_FAILED.format(failed) if failed else "",
            flags=(*submission.flags, *lifted.flags, *words.flags, *noticed),
            answers={name: source[:MAX_KEPT_CHARACTERS] for name, source in answers.items()},
            shapes=lifted.shapes,
            handed_in=submission.handed_in,
            late_penalty=submission.late_penalty,
            lms=submission.lms,
            fingerprint="" if failed else fingerprint(submission, settings),
        )
    )


_FAILED = "The grader itself failed on {}, which has no mark yet. What else is here was graded."


def without_run(
    submission: Submission, settings: Settings, status: Status, reason: str, flags: tuple[Flag, ...] = ()
) -> GradedNotebook:
    """The result of a submission of which nothing could be run; `reason` is what the learner reads."""
    why = f"{status}: {reason}".rstrip(".")
    code = [nothing_run(e, settings.seed, why) for e in exercises_of(submission.notebook)]
    in_words = [unread(e, None, why) for e in written_of(submission.notebook)]
    found = _with_nothing_judged(submission, status, (*code, *in_words), reason)
    return storable(
        replace(found, flags=(*found.flags, *flags), fingerprint=fingerprint(submission, settings))
    )


def given_up(submission: Submission, reason: str) -> GradedNotebook:
    """The result of a submission that the grader itself failed on as a whole.

    It has no fingerprint: the next run of the same command tries again.
    """
    why = "The grader itself failed on this notebook"
    code = [not_judged(e, why) for e in exercises_of(submission.notebook)]
    in_words = [not_lifted(e, why) for e in written_of(submission.notebook)]
    return storable(_with_nothing_judged(submission, "grader-failed", (*code, *in_words), reason))


def _with_nothing_judged(
    submission: Submission, status: Status, exercises: tuple[Graded, ...], reason: str
) -> GradedNotebook:
    return GradedNotebook(
        student=submission.student,
        notebook=submission.notebook,
        status=status,
        exercises=exercises,
        reason=reason,
        flags=submission.flags,
        handed_in=submission.handed_in,
        late_penalty=submission.late_penalty,
        lms=submission.lms,
    )
