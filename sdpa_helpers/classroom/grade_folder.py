"""`sdpa grade` without its options: find, grade, write everything. The command line only parses and prints."""

import json
import secrets
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sqlalchemy import URL

from sdpa_helpers.classroom import lock
from sdpa_helpers.classroom.collect import find_submissions, unpack, worksheet_times
from sdpa_helpers.classroom.executors import CannotGrade, Place, grade_all
from sdpa_helpers.classroom.pages.class_pages import write_class_pages
from sdpa_helpers.classroom.results_folder import (
    CannotWrite,
    open_gradebook,
    read_result,
    read_results,
    remove_drafts,
    result_path,
    write_gradebook,
    write_tables,
    write_text,
)
from sdpa_helpers.classroom.review.apply_marks import with_marks, write_marked
from sdpa_helpers.classroom.review.marks_store import CannotKeep, load_marks
from sdpa_helpers.classroom.timings import add_timing, tidy_timings
from sdpa_helpers.grading.grade_one import Settings, fingerprint
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.grading.result import GradedNotebook
from sdpa_helpers.lessons.registry import LESSONS
from sdpa_helpers.sandbox import scratch


class Unusable(Exception):
    """The command cannot run as it was called; its text says what to change."""


@dataclass
class Batch:
    """What a run of `sdpa grade` did. Of the records, which lie in the files, only what is short is kept.

    remarks: (student, notebook) → what a human should look at; waiting: answers in words that nobody has read;
    ignored: (file, why); rows: grades.csv's rows; kept: how many submissions an earlier run had graded.
    given_up: (student, notebook, why) that the grader itself failed on; the next run tries them again.
    """

    remarks: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    waiting: int = 0
    ignored: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)
    kept: int = 0
    given_up: list[tuple[str, str, str]] = field(default_factory=list)

    def note(self, result: GradedNotebook) -> None:
        """Remember what is short of a result."""
        status = [result.status] if result.status != "graded" else []
        flags = sorted({flag.kind for flag in result.flags})
        self.remarks[result.student, result.notebook] = [*status, *flags]
        self.waiting += result.waiting
        if not result.fingerprint:
            self.given_up.append((result.student, result.notebook, result.reason))


def grade_folder(
    source: Path,
    out: Path,
    make_settings: Callable[[str], Settings],
    *,
    seed: str | None,
    place: Place,
    fresh: bool,
    gradebook: str | None,
    progress: Callable[[int], Callable[[], None]],
    deadline: datetime | None = None,
    roster: Path | None = None,
) -> Batch:
    """Grade a folder or a zip into `out`; resumes what an interrupted run has left, unless `fresh`.

    `progress` gets the number of submissions and gives a function to call after each one. `roster`: Moodle's
    grading worksheet, which knows when each submission came.
    Raises Unusable when there is nothing to grade, when `out` or the gradebook cannot be used, or when the machine
    is in trouble; what is graded by then stays so, and the same call goes on from there.
    """
    url = gradebook or URL.create("sqlite", database=str((out / "gradebook.db").absolute()))
    folder = None
    try:
        open_gradebook(url).dispose()  # before hours of work, not after them
        _make(out)
        with lock.held(out):
            _prepare(out, fresh)
            settings = make_settings(_seed(out, seed))
            folder = scratch.make("zip")
            times = _worksheet_times(roster) if roster else None
            submissions, ignored = find_submissions(_folder(source, folder), list(LESSONS), deadline, times)
            if not submissions:
                raise Unusable(
                    f"{source} holds no notebook of this course: expected <student>/<notebook>.ipynb with one of "
                    f"the names {', '.join(LESSONS)}"
                    + "".join(f"\n  {name}: {why}" for name, why in ignored[:10])
                )
            batch = _grade(submissions, settings, out, place, progress)
            batch.ignored = ignored
            _write_all(out, url, batch)
    except (lock.Taken, CannotGrade, CannotKeep) as error:
        raise Unusable(str(error)) from error
    except CannotWrite as error:
        raise Unusable(f"{error}. {_GO_ON}") from error
    except OSError as error:
        raise Unusable(f"{error.filename or out}: {error.strerror or error}. {_GO_ON}") from error
    finally:
        if folder is not None:
            scratch.remove(folder)
    return batch


_GO_ON = "What is graded is kept: the same command goes on from there."


def _write_all(out: Path, url: str | URL, batch: Batch) -> None:
    """The files about everybody, and last the gradebook: it may be on another machine, which may not answer."""
    pairs = sorted(batch.remarks)
    batch.rows = write_tables(out, read_results(out, pairs), list(LESSONS))
    tidy_timings(out, pairs)
    write_class_pages(out, pairs)
    write_gradebook(url, read_results(out, pairs))


def _grade(
    submissions: list[Submission],
    settings: Settings,
    out: Path,
    place: Place,
    progress: Callable[[int], Callable[[], None]],
) -> Batch:
    batch, todo, marks = Batch(), [], load_marks(out)
    tick = progress(len(submissions))
    for submission in submissions:
        path = result_path(out, submission.student, submission.notebook)
        kept = read_result(path)
        if (
            kept is None
            or kept.fingerprint != fingerprint(submission, settings)
            or not _page(out, kept).exists()
        ):
            todo.append(submission)
        else:
            marked = with_marks(kept, marks)
            if marked != kept:
                write_marked(out, marked)
            batch.note(marked)
            batch.kept += 1
            tick()
    for done in grade_all(todo, settings, place, tick):
        assert done.result is not None  # grade_all's promise
        result = with_marks(done.result, marks)
        write_marked(out, result)
        add_timing(out, result.student, result.notebook, done.seconds)
        batch.note(result)
    return batch


def _page(out: Path, result: GradedNotebook) -> Path:
    return out / "feedback" / result.student / f"{result.notebook}.html"


def _make(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise Unusable(f"--out {out} is a file; name a folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"--out {out} cannot be made: {error}") from None


def _prepare(out: Path, fresh: bool) -> None:
    remove_drafts(out)
    if fresh:
        for name in ("results", "feedback"):
            shutil.rmtree(out / name, ignore_errors=True)
        for name in (
            "grades.csv",
            "details.csv",
            "handed_in.csv",
            "timings.csv",
            "class.html",
            "similar.html",
            "gradebook.db-journal",  # of a writer that was killed: it would be applied to the next gradebook
            "gradebook.db",
            "run.json",
        ):
            (out / name).unlink(missing_ok=True)


def _worksheet_times(roster: Path) -> dict:
    try:
        return worksheet_times(roster)
    except (OSError, ValueError) as error:
        raise Unusable(f"--roster {roster} cannot be read: {error}") from None


def _seed(out: Path, seed: str | None) -> str:
    """The given seed, else that of the run being resumed, else a fresh secret one; kept in run.json."""
    path = out / "run.json"
    try:
        kept = json.loads(path.read_text())["seed"]
    except (OSError, ValueError, KeyError, TypeError):
        kept = None
    chosen = seed or (kept if isinstance(kept, str) else None) or secrets.token_hex(16)
    write_text(path, json.dumps({"seed": chosen}) + "\n")
    return chosen


def _folder(source: Path, scratch: Path) -> Path:
    if source.is_dir():
        return source
    if not source.exists():
        raise Unusable(f"{source} does not exist; expected a folder of submissions or a zip of one")
    try:
        unpack(source, scratch)
    except (zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise Unusable(f"{source} is neither a folder nor a readable zip ({error})") from None
    return scratch
