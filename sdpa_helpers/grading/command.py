"""`sdpa grade` without its options: find, grade, write everything. The command line only parses and prints."""

import json
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sdpa_helpers.exercises import LESSONS
from sdpa_helpers.grading.batch import Record, Settings, fingerprint, grade_all, kept_record
from sdpa_helpers.grading.class_pages import write_class_pages
from sdpa_helpers.grading.imports import find_submissions, unpack, worksheet_times
from sdpa_helpers.grading.record import (
    grade_rows,
    result_path,
    write_gradebook,
    write_result,
    write_tables,
    write_text,
)
from sdpa_helpers.grading.report import feedback_page
from sdpa_helpers.grading.submission import Submission


class Unusable(Exception):
    """The command cannot run as it was called; its text says what to change."""


@dataclass
class Batch:
    """What a run of `sdpa grade` did. ignored: (file, why); rows: grades.csv's rows."""

    records: list[Record] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)
    kept: int = 0


def grade_folder(
    source: Path,
    out: Path,
    make_settings: Callable[[str], Settings],
    *,
    seed: str | None,
    jobs: int,
    fresh: bool,
    gradebook: str | None,
    progress: Callable[[int], Callable[[], None]],
    deadline: datetime | None = None,
    roster: Path | None = None,
) -> Batch:
    """Grade a folder or a zip into `out`; resumes what an interrupted run has left, unless `fresh`.

    `progress` gets the number of submissions and gives a function to call after each one. `roster`: Moodle's
    grading worksheet, which knows when each submission came.
    Raises Unusable when there is nothing to grade or `out` cannot be used.
    """
    _prepare(out, fresh)
    settings = make_settings(_seed(out, seed))
    with tempfile.TemporaryDirectory(prefix="sdpa-zip-") as folder:
        times = _worksheet_times(roster) if roster else None
        submissions, ignored = find_submissions(_folder(source, Path(folder)), list(LESSONS), deadline, times)
        if not submissions:
            raise Unusable(
                f"{source} holds no notebook of this course: expected <student>/<notebook>.ipynb with one of the "
                f"names {', '.join(LESSONS)}" + "".join(f"\n  {name}: {why}" for name, why in ignored[:10])
            )
        batch = _grade(submissions, settings, out, jobs, progress)
    batch.ignored = ignored
    batch.records.sort(key=lambda r: (r["student"], r["notebook"]))
    batch.rows = grade_rows(batch.records, list(LESSONS))
    write_tables(out, batch.records, list(LESSONS))
    write_gradebook(gradebook or f"sqlite:///{(out / 'gradebook.db').resolve()}", batch.records)
    write_class_pages(out, [(r["student"], r["notebook"]) for r in batch.records])
    return batch


def _grade(
    submissions: list[Submission],
    settings: Settings,
    out: Path,
    jobs: int,
    progress: Callable[[int], Callable[[], None]],
) -> Batch:
    batch, todo = Batch(), []
    tick = progress(len(submissions))
    for submission in submissions:
        path = result_path(out, submission.student, submission.notebook)
        record = kept_record(path, fingerprint(submission, settings))
        if record is None:
            todo.append(submission)
        else:
            batch.records.append({**record, "answers": {}})
            batch.kept += 1
            tick()
    for record in grade_all(todo, settings, jobs, tick):
        # The page first: a result file is the sign that all of a submission's output is there.
        write_text(out / "feedback" / record["student"] / f"{record['notebook']}.html", feedback_page(record))
        write_result(out, record)
        batch.records.append(
            {**record, "answers": {}}
        )  # the file keeps them; a class's answers fill a memory
    return batch


def _prepare(out: Path, fresh: bool) -> None:
    if out.exists() and not out.is_dir():
        raise Unusable(f"--out {out} is a file; name a folder")
    if fresh:
        for name in ("results", "feedback"):
            shutil.rmtree(out / name, ignore_errors=True)
        for name in (
            "grades.csv",
            "details.csv",
            "handed_in.csv",
            "class.html",
            "similar.html",
            "gradebook.db",
            "run.json",
        ):
            (out / name).unlink(missing_ok=True)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"--out {out} cannot be made: {error}") from None


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
