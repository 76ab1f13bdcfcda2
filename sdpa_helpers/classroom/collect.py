"""Who handed in which file, and when: a folder per student, flat files, and what learning systems export.

Understood without being told which it is, as a folder or as a zip:
    ada/01_dot_product.ipynb                                                   a folder per student
    ada_01_dot_product.ipynb                                                   flat, with the student's name
    lovelaceada_LATE_12345_67890_01_dot_product-1.ipynb                        Canvas, "Download submissions"
    Ada Lovelace_123456_assignsubmission_file/01_dot_product.ipynb             Moodle, in folders
    Ada Lovelace_123456_assignsubmission_file_01_dot_product.ipynb             Moodle, flat
    Homework 1_ada_attempt_2026-01-30-15-30-10_01_dot_product.ipynb            Blackboard
"""

import csv
import io
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath, PurePosixPath

from sdpa_helpers.grading.read import MAX_NOTEBOOK_BYTES, Submission, notebook_of
from sdpa_helpers.grading.result import FileHandedIn, Flag, LmsIdentity

TRAPS = ("__MACOSX", ".ipynb_checkpoints")
SAME_MOMENT = timedelta(seconds=2)
"""Zips keep times to two seconds."""

ONE_DOWNLOAD = timedelta(minutes=10)
"""Canvas and Moodle stamp every file of a zip with the time of the download: such times say nothing."""

# Canvas: user's sortable name without spaces, LATE, user id, attachment id, the file's own name.
_CANVAS = re.compile(
    r"(?:(?P<name>(?!LATE_|anon_).+?)_)?(?:(?P<late>LATE)_)?(?P<id>\d+|anon_\w+?)_(?P<number>\d+)_(?P<file>.+)"
)
# Moodle: full name (its underscores are spaces), participant number, plugin; then "/" or "_" and the file's name.
_MOODLE = re.compile(r"(?P<name>[^_]+)(?:_(?P<id>\d+))?_assignsubmission_(?P<plugin>[a-z]+)_?(?P<file>.*)")
_BLACKBOARD = re.compile(r".+?_(?P<id>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})_(?P<file>.+)")
_COPY = re.compile(r"[-_ ]*(\(\d+\)|Copy of|Copy\d*\b|[-_]\d{1,2}$)[-_ ]*", re.IGNORECASE)


@dataclass(frozen=True)
class Sender:
    """Who handed a file in, as its name says."""

    student: str
    lms: LmsIdentity | None = None


@dataclass(frozen=True)
class Candidate:
    """A file that may be the one to grade."""

    path: Path
    relative: str
    time: datetime | None
    late: bool | None = None
    """What the learning system says; None when it says nothing."""
    number: int = 0
    """Grows with every upload."""


@dataclass(frozen=True)
class Named:
    """What a file's name says."""

    sender: Sender
    file: str
    late: bool | None = None
    number: int = 0
    time: datetime | None = None


# ---- names ------------------------------------------------------------------------------------------------


def read_name(relative: PurePath, notebooks: list[str]) -> Named | None:
    """Who handed in the file at this path below the folder of submissions; None when nobody can be told.

    What a student can choose, names inside their own folder, never decides who they are.
    """
    first, inside = relative.parts[0], len(relative.parts) > 1
    if match := _MOODLE.fullmatch(first):
        return Named(
            _sender("moodle", match["name"], match["id"] or ""), relative.name if inside else match["file"]
        )
    if inside:
        return Named(Sender(safe_name(first)), relative.name)
    if (match := _CANVAS.fullmatch(first)) and notebook_like(match["file"], notebooks):
        sender = _sender("canvas", match["name"] or "", match["id"])
        return Named(sender, match["file"], match["late"] is not None, int(match["number"]))
    if match := _BLACKBOARD.fullmatch(first):
        time = datetime.strptime(match["time"], "%Y-%m-%d-%H-%M-%S").astimezone()
        return Named(_sender("blackboard", "", match["id"]), match["file"], time=time)
    name = notebook_of(first, notebooks) if first.endswith(".ipynb") else None
    if name is None:
        return None
    before, after = (_COPY.sub(" ", part) for part in first.removesuffix(".ipynb").split(name, 1))
    student = " ".join(part for part in (before.strip(" _-.,"), after.strip(" _-.,()")) if part)
    return Named(Sender(safe_name(student)), f"{name}.ipynb") if student else None


def notebook_like(file: str, notebooks: list[str]) -> bool:
    """Whether a Canvas name's last part can be that: a notebook of this course, or no notebook at all."""
    return not file.endswith(".ipynb") or notebook_of(file, notebooks) is not None


def _sender(system: str, name: str, number: str) -> Sender:
    student = "_".join(part for part in (name, number) if part)
    return Sender(safe_name(student), LmsIdentity(system, number, name))


def safe_name(text: str) -> str:
    """A student's name as the name of a folder: it cannot lead elsewhere, and every file can hold it."""
    text = text.encode("utf-8", "backslashreplace").decode()
    text = "".join("_" if c in "/\\\0" or not c.isprintable() else c for c in text)
    return text.strip().lstrip(".")[:120] or "unnamed"


# ---- finding ----------------------------------------------------------------------------------------------


def find_submissions(
    root: Path,
    notebooks: list[str],
    deadline: datetime | None = None,
    handed_in_at: dict[str, tuple[datetime | None, bool]] | None = None,
) -> tuple[list[Submission], list[tuple[str, str]]]:
    """Every student's notebooks under `root`, missing ones included, and the files that were left out, with why.

    A notebook that nobody handed in is not part of the batch. `handed_in_at`: a learning system's own times, by
    id, with whether it calls them late; they go before those of the files.
    """
    root = _unwrap(root, notebooks)
    found: dict[Sender, dict[str, list[Candidate]]] = {}
    left_out = []
    for path in _files(root):
        relative = path.relative_to(root)
        named = read_name(relative, notebooks)
        notebook = notebook_of(path.name, notebooks) if path.suffix == ".ipynb" else None
        if named and (named.sender.lms or len(relative.parts) > 1):
            found.setdefault(named.sender, {})  # handed in something: a missing notebook is then a result
        if path.suffix != ".ipynb":
            continue
        if path.is_symlink():
            left_out.append((_text(relative), "a link, not a file: hand in the notebook itself"))
        elif notebook is None:
            expected = ", ".join(f"{n}.ipynb" for n in notebooks)
            left_out.append((_text(relative), f"not a notebook of this course; expected one of {expected}"))
        elif named is None:
            why = "not in a student's folder: expected <student>/<notebook>.ipynb, or the student's name in the name"
            left_out.append((_text(relative), why))
        else:
            time, late = named.time or datetime.fromtimestamp(path.stat().st_mtime, UTC), named.late
            if handed_in_at is not None:
                number = named.sender.lms.id if named.sender.lms else ""
                time, late = handed_in_at.get(number, (None, False))
            file = Candidate(path, _text(relative), time, late, named.number)
            found.setdefault(named.sender, {}).setdefault(notebook, []).append(file)
    for folder in sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith((".", "_"))):
        named = read_name(PurePath(folder.name, "x"), notebooks)
        if named:
            found.setdefault(named.sender, {})
    in_batch = [n for n in notebooks if any(n in files for files in found.values())]
    trusted = _times_mean_something(found)
    people = sorted(found, key=lambda sender: sender.student)
    return [
        _choose(s, n, found[s].get(n, []), deadline, trusted or handed_in_at is not None)
        for s in people
        for n in in_batch
    ], left_out


def _files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.is_file() and not any(p in TRAPS or p.startswith(".") for p in parts):
            yield path


def _unwrap(root: Path, notebooks: list[str]) -> Path:
    """A download that lies in one folder more than expected: that folder."""
    inside = [p for p in root.iterdir() if p.name not in TRAPS and not p.name.startswith(".")]
    if len(inside) != 1 or not inside[0].is_dir() or _MOODLE.fullmatch(inside[0].name):
        return root
    names = [
        read_name(PurePath(p.name), notebooks) for p in inside[0].iterdir() if not p.name.startswith(".")
    ]
    exported = any(n and n.sender.lms for n in names)
    return inside[0] if exported or (len(names) > 1 and all(names)) else root


def _times_mean_something(found: dict[Sender, dict[str, list[Candidate]]]) -> bool:
    systems = {s.lms.system for s in found if s.lms}
    times = [f.time for files in found.values() for some in files.values() for f in some if f.time]
    if not times or not systems & {"canvas", "moodle"}:
        return True
    return max(times) - min(times) > ONE_DOWNLOAD


def _text(path: PurePath) -> str:
    return str(path).encode("utf-8", "backslashreplace").decode()


# ---- choosing ---------------------------------------------------------------------------------------------


def _choose(
    sender: Sender, notebook: str, files: list[Candidate], deadline: datetime | None, trusted: bool
) -> Submission:
    """The newest before the deadline counts; when all are late, the newest. Nothing is dropped from the record."""
    if not files:
        return Submission(sender.student, notebook, None, lms=sender.lms)
    late = {f.relative: _is_late(f, deadline, trusted) for f in files}
    ranked = sorted(files, key=lambda f: f.relative)
    on_time = [f for f in ranked if not late[f.relative]] or ranked
    newest = max(on_time, key=lambda f: (f.number, f.time or datetime.min.replace(tzinfo=UTC)))
    same = [f for f in on_time if f.number == newest.number and _same_moment(f, newest)]
    chosen = next((f for f in same if f.path.stem == notebook), newest)
    kept = []
    for file in ranked:
        time = ""
        if deadline and trusted and file.time:
            time = file.time.astimezone(deadline.tzinfo).isoformat(timespec="seconds")
        kept.append(FileHandedIn(file.relative, file is chosen, late[file.relative], time))
    return Submission(sender.student, notebook, chosen.path, _flags(chosen, kept), sender.lms, tuple(kept))


def _is_late(file: Candidate, deadline: datetime | None, trusted: bool) -> bool:
    """Canvas's or Moodle's own word counts; else the file's time, where it is that of the hand-in."""
    return bool(file.late) or bool(deadline and trusted and file.time and file.time > deadline)


def _same_moment(one: Candidate, other: Candidate) -> bool:
    return one.time is None or other.time is None or abs(one.time - other.time) <= SAME_MOMENT


def _flags(chosen: Candidate, kept: list[FileHandedIn]) -> tuple[Flag, ...]:
    flags = []
    own = next(file for file in kept if file.graded)
    if own.late:
        when = f", at {own.time}" if own.time else ""
        flags.append(Flag("late", f"{chosen.path.name} was handed in late{when}; it was graded all the same"))
    others = [_described(file) for file in kept if not file.graded]
    if others:
        message = f"{_described(own)} was graded; also handed in: {', '.join(others)}"
        flags.append(Flag("several-files", message))
    return tuple(flags)


def _described(file: FileHandedIn) -> str:
    name = PurePosixPath(file.file.replace("\\", "/")).name
    return name + (" (late)" if file.late else "") + (f" ({file.time})" if file.time else "")


# ---- times that Moodle's grading worksheet knows ------------------------------------------------------------

_MOODLE_TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")


def worksheet_times(worksheet: Path) -> dict[str, tuple[datetime | None, bool]]:
    """Participant number → when they handed in, and whether Moodle's status says late."""
    found: dict[str, tuple[datetime | None, bool]] = {}
    for row in csv.DictReader(io.StringIO(worksheet.read_text(encoding="utf-8-sig"))):
        number = re.sub(r"\D", "", row.get("Identifier") or "")
        status = row.get("Status") or ""
        if number and not status.startswith("No submission"):
            late = re.search(r"\blate\b", status) is not None
            found[number] = (_moodle_time(row.get("Last modified (submission)") or ""), late)
    return found


def _moodle_time(text: str) -> datetime | None:
    for form in _MOODLE_TIMES:
        try:
            return datetime.strptime(text.strip(), form).astimezone()
        except ValueError:
            continue
    return None


# ---- zips -------------------------------------------------------------------------------------------------


def unpack(archive: Path, into: Path) -> None:
    """Unpack the notebooks of a zip, and nothing else; names that climb out of the folder stay out.

    Each file gets the time of its entry. What is too large to be graded takes no room on the disk.
    """
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            target = (into / info.filename).resolve()
            if info.is_dir() or not target.is_relative_to(into.resolve()) or "\0" in info.filename:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if info.filename.endswith(".ipynb"):
                _unpack_one(file, info, target)
            elif _CANVAS.fullmatch(target.name) or _MOODLE.fullmatch(target.name):
                target.touch()  # something else was handed in: its name says by whom
    top = [p for p in into.iterdir() if p.name not in TRAPS]
    if len(top) != 1 or not top[0].is_dir() or _MOODLE.fullmatch(top[0].name) or list(top[0].glob("*.ipynb")):
        return
    if any(p.is_dir() for p in top[0].iterdir()):
        for child in list(top[0].iterdir()):  # a zip of the folder: its students are one level down
            child.rename(into / child.name)
        top[0].rmdir()


def _unpack_one(file: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path) -> None:
    if info.file_size > MAX_NOTEBOOK_BYTES:
        with target.open("wb") as large:
            large.truncate(MAX_NOTEBOOK_BYTES + 1)  # a hole: it will be refused for its size
    else:
        try:
            with file.open(info) as source:  # read a byte more than allowed: the size in the header may lie
                target.write_bytes(source.read(MAX_NOTEBOOK_BYTES + 1))
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
            target.write_text(f"damaged in the zip: {error}")
    seconds = _entry_time(info)
    if seconds is not None:
        os.utime(target, (seconds, seconds))


def _entry_time(info: zipfile.ZipInfo) -> float | None:
    """Seconds since 1970: from the "extended timestamp" where there is one, else from the local time of the entry."""
    extra = info.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return float(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    try:
        return datetime(*info.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
