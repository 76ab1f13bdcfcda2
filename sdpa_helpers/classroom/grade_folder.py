"""`sdpa grade` without its options: find, grade, write everything. The command line only parses and prints."""

import csv
import os
import secrets
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from sdpa_helpers.classroom import lock
from sdpa_helpers.classroom.collect import RENAMED, Late, find_submissions
from sdpa_helpers.classroom.executors import Executor, grade_all
from sdpa_helpers.classroom.gradebook import check_place, gradebook_place, write_gradebook
from sdpa_helpers.classroom.gradebook_rows import CannotWrite
from sdpa_helpers.classroom.listing import Listing, list_folder, unpack
from sdpa_helpers.classroom.marks.store import last_marks
from sdpa_helpers.classroom.pages import write_class_pages
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.apply_marks import with_marks, write_graded
from sdpa_helpers.classroom.run_json import Command, Run, options_of, read_run, what_changed, write_run
from sdpa_helpers.classroom.sentences.bring_in import keep_points, with_sentences
from sdpa_helpers.classroom.sentences.store import read_sentences
from sdpa_helpers.classroom.tables import StudentRow, write_left_out, write_tables
from sdpa_helpers.classroom.term.history import Changes, Standing, keep_history, noting
from sdpa_helpers.classroom.term.policy import NAME, Homework, LateRule, homework_of
from sdpa_helpers.classroom.timings import add_timing, tidy_timings
from sdpa_helpers.classroom.worksheet import worksheet_times
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.grading.grade_one import Settings, fingerprint
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import NO_MARK, GradedNotebook, Status
from sdpa_helpers.sandbox import scratch


class Unusable(Refusal):
    """The command cannot run as it was called; its text says what to change."""


@dataclass(frozen=True)
class Batch:
    """What to grade, and where everything goes."""

    source: Path
    """A folder of submissions, or a zip of one."""
    out: Path
    fresh: bool = False
    """Start over, instead of going on where an earlier run stopped."""
    gradebook: str | None = None
    """A SQLAlchemy URL; None: the SQLite file in `out`."""
    deadline: datetime | None = None
    """The newest file before it counts."""
    roster: Path | None = None
    """Moodle's grading worksheet, which knows when each submission came."""
    late: Late = field(default_factory=Late)
    """What becomes of late files."""
    tell: Callable[[str], None] = lambda note: None
    """Told at once, before anything is graded, what the instructor should know of the command itself."""
    only: frozenset[str] = frozenset()
    """Grade these learners again, and nobody else: all others stay as they are. None: whoever needs it."""
    command: Command = ()
    """The options it was called with, so that `sdpa regrade` needs none."""


@dataclass(frozen=True)
class Noted:
    """What is short of a result: the results themselves lie in the files, and a class of them is large."""

    student: str
    notebook: str
    status: Status
    points: float
    max_points: float
    flags: tuple[str, ...]
    """Their kinds, each once."""
    waiting: int
    """Answers in words that nobody has read."""
    kept: bool
    """Whether an earlier run had graded it, and its result still holds."""
    given_up: str
    """Why the grader itself failed on some of it, else ""; the next run tries again."""
    renamed: str = ""
    """Why its student has another name here than in the hand-in, else ""."""
    files: int = 0
    """How many files were handed in for it, be they graded or not."""
    again: bool = False
    """Whether an earlier run had graded it, and its result holds no more."""

    @property
    def no_mark(self) -> bool:
        """Whether its points are no mark."""
        return self.status in NO_MARK

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a human should look at."""
        return (*([self.status] if self.status != "graded" else []), *self.flags)


@dataclass(frozen=True)
class Summary:
    """What a run of `sdpa grade` did."""

    submissions: tuple[Noted, ...]
    """By student and notebook."""
    rows: tuple[StudentRow, ...]
    """Those of grades.csv."""
    left_out: tuple[tuple[str, str], ...]
    """Files that were not graded: (file, why)."""
    changes: Changes = field(default_factory=Changes)
    """Which marks are others than before."""

    @property
    def waiting(self) -> int:
        """Answers in words that nobody has read."""
        return sum(noted.waiting for noted in self.submissions)

    @property
    def kept(self) -> int:
        """How many submissions an earlier run had graded."""
        return sum(noted.kept for noted in self.submissions)

    @property
    def given_up(self) -> tuple[Noted, ...]:
        """Those that the grader itself failed on, in whole or in part."""
        return tuple(noted for noted in self.submissions if noted.given_up)


def grade_folder(
    batch: Batch,
    settings: Settings,
    executor: Executor,
    on_start: Callable[[int], None] = lambda total: None,
    on_done: Callable[[], None] = lambda: None,
) -> Summary:
    """Grade a batch; resumes what an interrupted run has left, unless it is to be fresh.

    Without a seed, `Settings("")`, the run uses that of the run being resumed, else a new secret one.
    `on_start` gets the number of notebooks that were handed in, `on_done` is called after each one.
    Raises a Refusal when there is nothing to grade, when the folder or the gradebook cannot be used, or when the
    machine is in trouble; what is graded by then stays so, and the same call goes on from there.
    """
    _refuse_as_one_folder(batch)
    folder, unpacked = ResultsFolder(batch.out), None
    rules = homework_of(folder)
    batch, settings = by_policy(batch, settings, rules)
    place = gradebook_place(folder, batch.gradebook)
    try:
        check_place(place)  # before hours of work, not after them
        _make(batch.out)
        with lock.held(folder.lock):
            folder.remove_drafts()
            if batch.fresh:
                folder.clear()
            unpacked = scratch.make("zip")
            submissions, left_out = _find(batch, unpacked)
            handed_in = sum(submission.path is not None for submission in submissions)
            settings = _remember(batch, settings, folder, handed_in)
            on_start(handed_in)
            found = []
            for noted in _grade(submissions, settings, folder, executor, batch.only):
                found.append(noted)
                if noted.status != "missing":
                    on_done()
            found.sort(key=lambda noted: (noted.student, noted.notebook))
            # The gradebook last: it may be on another machine, which may not answer.
            pairs = [(noted.student, noted.notebook) for noted in found]
            left_out += folder.of_others({noted.student for noted in found})
            now: list[Standing] = []
            rows = write_tables(folder, noting(folder.read_results(pairs), now), list(LESSONS), rules)
            changes = keep_history(folder, now)
            write_left_out(folder.left_out_csv, left_out)
            tidy_timings(folder.timings_csv, pairs)
            write_class_pages(folder, pairs)
            write_gradebook(place, folder.read_results(pairs))
    except CannotWrite as error:
        raise Unusable(f"{error}. {_GO_ON}") from error
    except OSError as error:
        raise Unusable(f"{error.filename or batch.out}: {error.strerror or error}. {_GO_ON}") from error
    finally:
        if unpacked is not None:
            scratch.remove(unpacked)
    return Summary(tuple(found), tuple(rows), tuple(left_out), changes)


_GO_ON = "What is graded is kept: the same command goes on from there."


def _grade(
    submissions: list[Submission],
    settings: Settings,
    folder: ResultsFolder,
    executor: Executor,
    only: frozenset[str],
) -> Iterator[Noted]:
    """Grade what an earlier run has not, or what was asked for; write each result as soon as it is there."""
    todo, marks = [], last_marks(folder.marks_db)
    sentences = read_sentences(folder.names_toml)

    def finished(result: GradedNotebook) -> GradedNotebook:
        """With what people said of it."""
        keep_points(folder.marks_db, [result], sentences, marks)
        return with_marks(with_sentences(result, sentences), marks)

    again: set[tuple[str, str]] = set()
    for submission in submissions:
        kept = _kept(submission, settings, folder, only)
        if kept is None and (not only or submission.student in only):
            todo.append(submission)
            if folder.result_path(submission.student, submission.notebook).exists():
                again.add((submission.student, submission.notebook))
        if kept is None:
            continue
        marked = finished(kept)
        if marked != kept:
            write_graded(folder, marked)
        yield _noted(marked, kept=True)
    for done in grade_all(todo, settings, executor):
        assert done.result is not None  # grade_all's promise
        result = finished(done.result)
        write_graded(folder, result)
        add_timing(folder.timings_csv, result.student, result.notebook, done.seconds)
        yield _noted(result, again=(result.student, result.notebook) in again)


def _kept(
    submission: Submission, settings: Settings, folder: ResultsFolder, only: frozenset[str]
) -> GradedNotebook | None:
    """The result of an earlier run, where that is to stay."""
    pair = (submission.student, submission.notebook)
    if not only:
        return folder.kept_result(*pair, fingerprint(submission, settings))
    return None if submission.student in only else next(folder.read_results([pair]), None)


def _noted(result: GradedNotebook, *, kept: bool = False, again: bool = False) -> Noted:
    return Noted(
        student=result.student,
        notebook=result.notebook,
        status=result.status,
        points=result.points,
        max_points=result.max_points,
        flags=tuple(sorted({flag.kind for flag in result.flags})),
        waiting=result.waiting,
        kept=kept,
        given_up="" if result.fingerprint else result.reason,
        renamed=next((flag.message for flag in result.flags if flag.kind == RENAMED), ""),
        files=len(result.handed_in),
        again=again,
    )


def by_policy(batch: Batch, settings: Settings, rules: Homework) -> tuple[Batch, Settings]:
    """The same with what term.toml says; Unusable where it says another thing than the command."""
    both = [
        name
        for name, typed, says in (
            ("--deadline", batch.deadline, rules.deadline),
            ("--late", batch.late != Late(), rules.late != LateRule()),
            ("--mistake-cap", settings.mistake_cap, rules.mistake_cap),
        )
        if typed and says
    ]
    if both:
        raise Unusable(f"{', '.join(both)}: {NAME} says it too; leave it out here, or there")
    late = replace(batch.late, until=dict(rules.extensions)) if batch.late != Late() else rules.as_late()
    cap = rules.mistake_cap if settings.mistake_cap is None else settings.mistake_cap
    batch = replace(batch, late=late, deadline=batch.deadline or rules.deadline)
    return batch, replace(settings, mistake_cap=cap)


# ---- before the work --------------------------------------------------------------------------------------


def _refuse_as_one_folder(batch: Batch) -> None:
    if not os.path.isdir(batch.source):  # Path.is_dir raises an error for a name that is too long
        return
    if os.path.realpath(batch.source) == os.path.realpath(batch.out):
        raise Unusable(f"--out {batch.out} is the folder of submissions itself; name another, new folder")
    if ResultsFolder(batch.source).is_of_a_run():
        raise Unusable(
            f"{batch.source} is the --out folder of an earlier run; expected a folder of submissions. Where it holds "
            "some too, move run.json, results/ and feedback/ out of it"
        )


def _make(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise Unusable(f"--out {out} is a file; name a folder")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.mkdir(
            mode=0o700, exist_ok=True
        )  # it will hold answers and the seed; one that is there stays as it is
    except OSError as error:
        raise Unusable(f"--out {out} cannot be made: {error}") from None


def _remember(batch: Batch, settings: Settings, folder: ResultsFolder, handed_in: int) -> Settings:
    """The settings with a seed: the given one, else that of the run being resumed, else a fresh secret one.

    Likewise how long a submission may wait without computing: what an earlier run decided, whatever has come since.
    Both are kept in the folder, with the options that marks depend on; tells which of them are others than before.
    """
    before = read_run(folder.run_json)
    seed = settings.seed or before.seed or secrets.token_hex(16)
    idle = before.idle or settings.limits.idle_of(handed_in)
    now = Run(seed, options_of(settings, batch.late, batch.deadline, batch.roster), idle, batch.command)
    if changed := what_changed(before, now):
        batch.tell(
            f"Otherwise than in the earlier run into {batch.out}: {'; '.join(changed)}. Results that depend on it are "
            "graded again, and points may change."
        )
    write_run(folder.run_json, now)
    if edited := folder.passed_over().edited:
        more = f" and {len(edited) - 10} more" if len(edited) > 10 else ""
        batch.tell(
            f"Edited by hand or cut off, so graded again: {', '.join(map(str, edited[:10]))}{more}. Marks of "
            "your own go in with `sdpa mark add`"
        )
    return replace(settings, seed=seed, limits=replace(settings.limits, idle=idle))


def _find(batch: Batch, into: Path) -> tuple[list[Submission], list[tuple[str, str]]]:
    """The submissions, unpacked into a folder where they come in a zip, and what was left out."""
    times = _worksheet_times(batch.roster) if batch.roster else None
    listing = _listing(batch.source, into, batch.out)
    submissions, left_out = find_submissions(listing, list(LESSONS), batch.deadline, times, batch.late)
    if not submissions:
        raise Unusable(
            f"{batch.source} holds no notebook of this course: expected <student>/<notebook>.ipynb with one of "
            f"the names {', '.join(LESSONS)}" + "".join(f"\n  {name}: {why}" for name, why in left_out[:10])
        )
    if strangers := set(batch.late.until) - {submission.student for submission in submissions}:
        batch.tell(f"{NAME} names learners who handed in nothing here: {', '.join(sorted(strangers))}")
    if unknown := batch.only - {submission.student for submission in submissions}:
        raise Unusable(
            f"--only {', '.join(sorted(unknown))}: nobody here is called so; grades.csv has all names"
        )
    _refuse_late_for_ever(batch, submissions)
    if batch.deadline and (untimed := _untimed(submissions)):
        batch.tell(_not_applied(untimed, batch.roster, submissions))
    return submissions, left_out


def _refuse_late_for_ever(batch: Batch, submissions: list[Submission]) -> None:
    """A rule for late files that no file can meet: only Canvas and Moodle's worksheet say what is late."""
    says_so = batch.roster or any(s.lms and s.lms.system == "canvas" for s in submissions)
    if batch.late.typed and batch.late.policy != "use" and not batch.deadline and not says_so:
        raise Unusable(f"--late {batch.late.policy} needs --deadline: without it no file is late")


def _untimed(submissions: list[Submission]) -> int:
    """How many files nobody knows the time of, nor that they are late."""
    return sum(not file.time and not file.late for s in submissions for file in s.handed_in)


def _not_applied(untimed: int, roster: Path | None, submissions: list[Submission]) -> str:
    """What to tell of files that the deadline could not be compared with."""
    systems = {s.lms.system for s in submissions if s.lms}
    files = "1 file has no time of its own" if untimed == 1 else f"{untimed} files have no time of their own"
    if roster:
        then = f"; {roster} has none either"
    elif "moodle" in systems:
        then = "; give Moodle's grading worksheet with --roster"
    else:
        then = ", only Canvas's word LATE was" if "canvas" in systems else ""
    return f"{files}: --deadline was not applied to {'it' if untimed == 1 else 'them'}{then}"


def _worksheet_times(roster: Path) -> dict:
    try:
        return worksheet_times(roster)
    except (OSError, ValueError, csv.Error) as error:
        raise Unusable(f"--roster {roster} cannot be read: {error}") from None


def _listing(source: Path, into: Path, out: Path) -> Listing:
    if source.is_dir():
        return list_folder(source, without=out)
    if not source.exists():
        raise Unusable(f"{source} does not exist; expected a folder of submissions or a zip of one")
    if not source.is_file():
        raise Unusable(
            f"{source} is neither a folder nor a file; expected a folder of submissions or a zip of one"
        )
    try:
        return unpack(source, into)
    except (zipfile.BadZipFile, OSError, RuntimeError, ValueError, struct.error) as error:
        raise Unusable(
            f"{source} is neither a folder nor a readable zip ({error}). If another program can unpack it, give the "
            "folder that it makes"
        ) from None
