"""Which file of whom is graded: a folder per student, flat files, and what learning systems export.

Understood without being told which it is, as a folder or as a zip:
    ada/01_dot_product.ipynb                                                   a folder per student
    ada_01_dot_product.ipynb                                                   flat, with the student's name
    lovelaceada_LATE_12345_67890_01_dot_product-1.ipynb                        Canvas, "Download submissions"
    Ada Lovelace_123456_assignsubmission_file/01_dot_product.ipynb             Moodle, in folders
    Ada Lovelace_123456_assignsubmission_file_01_dot_product.ipynb             Moodle, flat
    Homework 1_ada_attempt_2026-01-30-15-30-10_01_dot_product.ipynb            Blackboard
"""

import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Literal

from sdpa_helpers.classroom.listing import HandedIn, Listing, list_folder, shown
from sdpa_helpers.classroom.names import Named, Sender, apart, from_moodle, read_name
from sdpa_helpers.classroom.worksheet import When
from sdpa_helpers.grading.answered import holds_nothing
from sdpa_helpers.grading.plain_text import one_line
from sdpa_helpers.grading.read import Submission, is_notebook, notebook_of
from sdpa_helpers.grading.result import FileHandedIn, Flag

SAME_MOMENT = timedelta(seconds=2)
"""Zips keep times to two seconds."""

ONE_DOWNLOAD = timedelta(minutes=10)
"""Canvas and Moodle stamp every file of a zip with the time of the download: such times say nothing."""

MAX_OTHERS_NAMED = 5
"""Of the files that were handed in beside the one that is graded; all are in handed_in.csv."""

RENAMED = "kept-under-another-name"
"""The kind of the flag on a submission whose student's name could not be that of a folder, or was taken."""

LatePolicy = Literal["use", "ignore", "penalty"]


@dataclass(frozen=True)
class Late:
    """What becomes of late files."""

    policy: LatePolicy = "use"
    """"use": graded where no other holds an answer; "ignore": never graded; "penalty": graded, for fewer points."""
    share: float = 0.1
    """With "penalty": what each started day costs, as a share of the points."""
    at_most: float = 1.0
    """The share that being late costs in all."""
    grace: timedelta = timedelta(0)
    """What comes so soon after the deadline is not late."""
    typed: bool = True
    """Whether the command says it: then it is refused where no file can be late."""
    until: Mapping[str, datetime] = field(default_factory=dict)
    """Learners with a deadline of their own, by name; no learning system's word calls them late before it."""


@dataclass(frozen=True)
class Candidate:
    """A file that may be the one to grade."""

    entry: HandedIn
    path: Path
    time: datetime | None
    late: bool = False
    number: int = 0
    """Grows with every upload."""

    @property
    def name(self) -> str:
        """The file's own name, as people read it."""
        return shown(PurePosixPath(self.entry.relative.name))


@dataclass
class Found:
    """What one student handed in."""

    files: dict[str, list[Candidate]] = field(default_factory=dict)
    """By notebook."""


# ---- finding ----------------------------------------------------------------------------------------------


def find_submissions(
    handed_in: Path | Listing,
    notebooks: list[str],
    deadline: datetime | None = None,
    handed_in_at: dict[str, When] | None = None,
    late: Late | None = None,
) -> tuple[list[Submission], list[tuple[str, str]]]:
    """Every student's notebooks, missing ones included, and the files that were left out, with why.

    A notebook that nobody handed in is not part of the batch. `handed_in_at`: a learning system's own times, by
    id, with whether it calls them late; they go before those of the files. Raises OSError when the folder of
    submissions cannot be opened; nothing in it raises anything.
    """
    listing = _unwrap(list_folder(handed_in) if isinstance(handed_in, Path) else handed_in, notebooks)
    found: dict[Sender, Found] = {}
    left_out = list(listing.left_out)
    for entry in listing.entries:
        _sort_in(entry, notebooks, found, left_out, handed_in_at)
    in_batch = [n for n in notebooks if any(n in one.files for one in found.values())]
    trusted = handed_in_at is not None or _times_mean_something(found)
    rule = _Rule(deadline, trusted, late or Late())
    names = apart(found)
    people = sorted(found, key=lambda sender: names[sender])
    submissions = [
        _named(_choose(n, found[s].files.get(n, []), rule.of(names[s])), s, names[s])
        for s in people
        for n in in_batch
    ]
    return submissions, sorted(left_out)


def _sort_in(
    entry: HandedIn,
    notebooks: list[str],
    found: dict[Sender, Found],
    left_out: list[tuple[str, str]],
    handed_in_at: dict[str, When] | None,
) -> None:
    """Put an entry where it belongs: to a student's files, or to what is left out."""
    parts, name = entry.relative.parts, shown(entry.relative)
    top = len(parts) == 1
    if entry.is_folder:
        if top and not parts[0].startswith("_") and (of := read_name(entry.relative / "x", notebooks)):
            found.setdefault(of.sender, Found())
        return
    named = read_name(entry.relative, notebooks)
    if named and (named.sender.lms or not top):
        found.setdefault(named.sender, Found())  # handed in something: a missing notebook is then a result
    if entry.path is None:
        if not is_notebook(entry.relative.name):
            if ".ipynb" in entry.relative.name.lower():
                left_out.append((name, "named like a notebook, but its name does not end with .ipynb"))
            elif top and named is None:
                left_out.append((name, "no notebook, and in nobody's folder"))
        return
    notebook = notebook_of(entry.relative.name, notebooks)
    if notebook is None:
        expected = ", ".join(f"{n}.ipynb" for n in notebooks)
        left_out.append((name, f"not a notebook of this course; expected one of {expected}"))
    elif named is None:
        why = "not in a student's folder: expected <student>/<notebook>.ipynb, or the student's name in the name"
        left_out.append((name, why))
    else:
        files = found.setdefault(named.sender, Found()).files
        files.setdefault(notebook, []).append(_candidate(entry, entry.path, named, handed_in_at))


def _candidate(entry: HandedIn, path: Path, named: Named, handed_in_at: dict[str, When] | None) -> Candidate:
    time, late = named.time or entry.time, bool(named.late)
    if handed_in_at is not None:
        number = named.sender.lms.id if named.sender.lms else ""
        time, late = handed_in_at.get(number, (None, False))
    return Candidate(entry, path, time, late, named.number)


def _unwrap(listing: Listing, notebooks: list[str]) -> Listing:
    """A download that lies in one folder more than expected: what is in that folder."""
    tops = {entry.relative.parts[0] for entry in listing.entries}
    below = [entry for entry in listing.entries if len(entry.relative.parts) > 1]
    if len(tops) != 1 or not below or from_moodle(next(iter(tops))):
        return listing
    inner = {PurePosixPath(*entry.relative.parts[1:]) for entry in below}
    if listing.zipped and not any(len(p.parts) == 1 and is_notebook(p.name) for p in inner):
        folders = {p.parts[0] for p in inner if len(p.parts) > 1}
        folders |= {e.relative.parts[1] for e in below if e.is_folder and len(e.relative.parts) == 2}
        unwraps = bool(folders)  # a zip of the folder: its students are one level down
    else:
        names = [read_name(PurePosixPath(first), notebooks) for first in {p.parts[0] for p in inner}]
        unwraps = any(n and n.sender.lms for n in names) or (len(names) > 1 and all(names))
    if not unwraps:
        return listing
    entries = [replace(e, relative=PurePosixPath(*e.relative.parts[1:])) for e in below]
    return Listing(entries, listing.left_out, listing.zipped)


def _times_mean_something(found: dict[Sender, Found]) -> bool:
    systems = {s.lms.system for s in found if s.lms}
    times = [f.time for one in found.values() for some in one.files.values() for f in some if f.time]
    if not times or not systems & {"canvas", "moodle"}:
        return True
    return max(times) - min(times) > ONE_DOWNLOAD


def _named(submission: Submission, sender: Sender, name: str) -> Submission:
    """The submission under the student's name; says so when that is not the one that the file has."""
    flags = submission.flags
    if name != unicodedata.normalize("NFC", sender.said):
        said = one_line(sender.said)[:200]
        why = "not every system can have a folder of that name"
        if name != sender.student:
            why = "another one here is called so"
        elif name == unicodedata.normalize("NFC", sender.said.strip()):
            why = "spaces around a name do not count"
        flags = (*flags, Flag(RENAMED, f"handed in as “{said}”: {why}; kept as “{name}”"))
    return replace(submission, student=name, lms=sender.lms, flags=flags)


# ---- choosing ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rule:
    """By what a file is chosen."""

    deadline: datetime | None
    trusted: bool
    """Whether the files' times are those at which they were handed in."""
    late: Late
    extended: bool = False
    """Whether the learner has a deadline of their own."""

    def of(self, learner: str) -> "_Rule":
        """The rule for one learner."""
        until = self.late.until.get(learner)
        return self if until is None else replace(self, deadline=until, extended=True)

    def is_late(self, file: Candidate) -> bool:
        """Canvas's or Moodle's own word counts; else the file's time, where it is that of the hand-in."""
        return (file.late and not self.extended) or self._after(file) > self.late.grace

    def time(self, file: Candidate) -> str:
        """When it was handed in, for people; "" where nobody knows, or nobody asked."""
        if not self.deadline or not self.trusted or not file.time:
            return ""
        try:
            return file.time.astimezone(self.deadline.tzinfo).isoformat(timespec="seconds")
        except (ValueError, OverflowError):
            return ""

    def days(self, file: Candidate) -> int:
        """Started days after the deadline; one where only the learning system's word is known."""
        return max(1, math.ceil(self._after(file) / timedelta(days=1))) if self.is_late(file) else 0

    def penalty(self, file: Candidate) -> float:
        """The share of the points that the file's being late costs, from 0 to 1."""
        cost = min(self.late.at_most, round(self.days(file) * self.late.share, 6))
        return cost if self.late.policy == "penalty" else 0.0

    def _after(self, file: Candidate) -> timedelta:
        if not self.deadline or not self.trusted or not file.time:
            return timedelta(0)
        return max(timedelta(0), file.time - self.deadline)


def _choose(notebook: str, files: list[Candidate], rule: _Rule) -> Submission:
    """The file that counts, of those that one student handed in for a notebook.

    The newest before the deadline; when all are late, the newest. One that holds no answer does not hide one that
    does, be that older, or late. Nothing is dropped from the record.
    """
    if not files:
        return Submission("", notebook, None)
    ranked = sorted(files, key=lambda f: f.entry.relative)
    in_time = [f for f in ranked if not rule.is_late(f)]
    late = [f for f in ranked if rule.is_late(f)] if rule.late.policy != "ignore" else []
    chosen, hollow = _best(notebook, in_time, late)
    kept = tuple(
        FileHandedIn(shown(f.entry.relative), f is chosen, rule.is_late(f), rule.time(f)) for f in ranked
    )
    if chosen is None:
        newest = rule.time(max(ranked, key=_age))
        reason = f"The notebook was handed in late{f', at {newest}' if newest else ''}; late files are not graded here."
        flag = Flag("late", f"{len(ranked)} handed in late, and not graded: --late ignore")
        return Submission("", notebook, None, (flag,), handed_in=kept, why_missing=reason)
    if rule.late.policy == "ignore" and (better := _late_and_better(notebook, chosen, ranked, rule)):
        return _set_aside(notebook, chosen, better, kept)
    flags = _flags(chosen, kept, hollow, rule)
    return Submission("", notebook, chosen.path, flags, handed_in=kept, late_penalty=rule.penalty(chosen))


def _late_and_better(notebook: str, chosen: Candidate, files: list[Candidate], rule: _Rule) -> str:
    """What to say of a late file that holds an answer where the one that counts holds none; else ""."""
    late = [f for f in files if rule.is_late(f)]
    if not late or not (why := holds_nothing(chosen.path, notebook)):
        return ""
    for file in _by_age(notebook, late)[:MAX_OTHERS_NAMED]:
        if not holds_nothing(file.path, notebook):
            when = f" at {rule.time(file)}," if rule.time(file) else ""
            return (
                f"The file that came in time {why}. One with answers came{when} after the deadline; late files are "
                "not graded here."
            )
    return ""


def _set_aside(notebook: str, chosen: Candidate, why: str, kept: tuple[FileHandedIn, ...]) -> Submission:
    """No file counts: the one in time holds nothing, and a late one that holds an answer is not graded."""
    late = sum(file.late for file in kept)
    flag = Flag(
        "late", f"{late} handed in late, and not graded: --late ignore; {chosen.name}, in time, holds nothing"
    )
    none = tuple(replace(file, graded=False) for file in kept)
    return Submission("", notebook, None, (flag,), handed_in=none, why_missing=why)


def _best(
    notebook: str, in_time: list[Candidate], late: list[Candidate]
) -> tuple[Candidate | None, list[tuple[Candidate, str]]]:
    """The file that counts, and those that would have, with why they hold no answer."""
    ordered = [*_by_age(notebook, in_time), *_by_age(notebook, late)]
    if len(ordered) < 2:
        return (ordered[0] if ordered else None), []
    hollow: list[tuple[Candidate, str]] = []
    for file in ordered[:MAX_OTHERS_NAMED]:
        why = holds_nothing(file.path, notebook)
        if not why:
            return file, hollow
        hollow.append((file, why))
    return ordered[0], []


def _by_age(notebook: str, files: list[Candidate]) -> list[Candidate]:
    """The one that counts first, then the others from new to old."""
    if not files:
        return []
    newest = max(files, key=_age)
    same = [f for f in files if f.number == newest.number and _same_moment(f, newest)]
    first = next((f for f in same if f.entry.relative.stem == notebook), newest)
    return [first, *sorted((f for f in files if f is not first), key=_age, reverse=True)]


def _age(file: Candidate) -> tuple[int, datetime]:
    return file.number, file.time or datetime.min.replace(tzinfo=UTC)


def _same_moment(one: Candidate, other: Candidate) -> bool:
    return one.time is None or other.time is None or abs(one.time - other.time) <= SAME_MOMENT


def _flags(
    chosen: Candidate, kept: tuple[FileHandedIn, ...], hollow: list[tuple[Candidate, str]], rule: _Rule
) -> tuple[Flag, ...]:
    flags = []
    own = next(file for file in kept if file.graded)
    if own.late:
        when = f", at {own.time}" if own.time else ""
        cost = "it was graded all the same"
        if rule.late.policy == "penalty":
            days = rule.days(chosen)
            begun = f"{days} started day{'s' if days > 1 else ''}, {rule.late.share:.4g} each"
            begun += (
                f", {rule.late.at_most:.4g} at most" if days * rule.late.share > rule.late.at_most < 1 else ""
            )
            cost = f"{100 * rule.penalty(chosen):.4g} % of its points are taken off ({begun})"
        flags.append(Flag("late", f"{chosen.name} was handed in late{when}; {cost}"))
    others = [_described(file) for file in kept if not file.graded]
    if others:
        more = f" and {len(others) - MAX_OTHERS_NAMED} more" if len(others) > MAX_OTHERS_NAMED else ""
        message = (
            f"{_described(own)} was graded; also handed in: {', '.join(others[:MAX_OTHERS_NAMED])}{more}"
        )
        flags.append(Flag("several-files", message))
    if hollow:
        reasons = ", ".join(f"{file.name} {why}" for file, why in hollow)
        flags.append(Flag("passed-over", f"{chosen.name} was graded, as {reasons}"))
    if chosen.entry.odd:
        flags.append(Flag("odd-file", f"{chosen.name}: {chosen.entry.odd}"))
    return tuple(flags)


def _described(file: FileHandedIn) -> str:
    name = PurePosixPath(file.file).name
    return name + (" (late)" if file.late else "") + (f" ({file.time})" if file.time else "")
