"""Who handed a file in, as its name says, and what they are called here: a name that every file system can hold."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from sdpa_helpers.grading.read import in_any_case, is_notebook, notebook_of
from sdpa_helpers.grading.result import LmsIdentity

MAX_NAME_CHARACTERS = 120
MAX_NAME_BYTES = 140
"""File systems count bytes: 255 as a rule, 143 in an encrypted home."""

# Canvas: user's sortable name without spaces, LATE, user id, attachment id, the file's own name.
_CANVAS = re.compile(
    r"(?:(?P<name>(?!LATE_|anon_).+?)_)?(?:(?P<late>LATE)_)?(?P<id>\d+|anon_\w+?)_(?P<number>\d+)_(?P<file>.+)",
    re.DOTALL,
)
# Moodle: full name (its underscores are spaces), participant number, plugin; then "/" or "_" and the file's name.
_MOODLE = re.compile(
    r"(?P<name>[^_]+)(?:_(?P<id>\d+))?_assignsubmission_(?P<plugin>[a-z]+)_?(?P<file>.*)", re.DOTALL
)
_BLACKBOARD = re.compile(
    r".+?_(?P<id>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5})_(?P<file>.+)", re.DOTALL | re.ASCII
)
_COPY = re.compile(r"[-_ ]{0,9}(\(\d{1,9}\)|Copy of|Copy\d{0,9}\b|[-_]\d{1,2}$)[-_ ]{0,9}", re.IGNORECASE)
_NO_NAME = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.DOTALL)
"""What Windows takes for a device."""
_DIGITS = 30
"""A longer number is no upload's: Python refuses to read thousands of digits."""


@dataclass(frozen=True)
class Sender:
    """Who handed a file in, as its name says."""

    student: str
    """What they are called here."""
    lms: LmsIdentity | None = None
    said: str = ""
    """The name as it stands there, letter for letter."""


@dataclass(frozen=True)
class Named:
    """What a file's name says."""

    sender: Sender
    file: str
    late: bool | None = None
    number: int = 0
    time: datetime | None = None


def read_name(relative: PurePath, notebooks: list[str]) -> Named | None:
    """Who handed in the file at this path below the folder of submissions; None when nobody can be told.

    What a student can choose, names inside their own folder, never decides who they are.
    """
    first, inside = relative.parts[0], len(relative.parts) > 1
    if match := _MOODLE.fullmatch(first):
        return Named(
            _from_system("moodle", match["name"], match["id"] or ""),
            relative.name if inside else match["file"],
        )
    if inside:
        return Named(_sender(first), relative.name)
    match = _CANVAS.fullmatch(first)
    if match and notebook_like(match["file"], notebooks) and len(match["number"]) <= _DIGITS:
        sender = _from_system("canvas", match["name"] or "", match["id"])
        return Named(sender, match["file"], match["late"] is not None, int(match["number"]))
    if match := _BLACKBOARD.fullmatch(first):
        return Named(_from_system("blackboard", "", match["id"]), match["file"], time=_moment(match["time"]))
    name = notebook_of(first, notebooks) if is_notebook(first) else None
    if name is None:
        return None
    around = in_any_case(name).split(first[: -len(".ipynb")], 1)
    before, after = (_COPY.sub(" ", part) for part in around)
    student = " ".join(part for part in (before.strip(" _-.,"), after.strip(" _-.,()")) if part)
    return Named(_sender(student), f"{name}.ipynb") if student else None


def from_moodle(name: str) -> bool:
    """Whether Moodle gave a file or folder this name."""
    return _MOODLE.fullmatch(name) is not None


def notebook_like(file: str, notebooks: list[str]) -> bool:
    """Whether a Canvas name's last part can be that: a notebook of this course, or no notebook at all."""
    return not is_notebook(file) or notebook_of(file, notebooks) is not None


def _moment(text: str) -> datetime | None:
    """Blackboard's time; None where there is no such day, and the file's own time has to do."""
    try:
        return datetime.strptime(text, "%Y-%m-%d-%H-%M-%S").astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _from_system(system: str, name: str, number: str) -> Sender:
    student = "_".join(part for part in (name, number) if part)
    return _sender(student, LmsIdentity(system, number, name))


def _sender(said: str, lms: LmsIdentity | None = None) -> Sender:
    return Sender(safe_name(said), lms, said)


# ---- names that can be kept -------------------------------------------------------------------------------


def safe_name(text: str) -> str:
    """A student's name as the name of a folder: it cannot lead elsewhere, and every file system can hold it.

    One that had to be changed ends with a mark of its own, so that it is nobody else's: "a_b~1c9e3f02".
    """
    wanted = unicodedata.normalize("NFC", text.strip())
    safe = "".join("_" if c in '/\\<>:"|?*' or not c.isprintable() else c for c in wanted)
    safe = safe.lstrip(".").rstrip(". ")
    if safe == wanted and safe and not _NO_NAME.fullmatch(safe) and _cut(safe) == safe:
        return safe
    return _marked(f"_{safe}" if _NO_NAME.fullmatch(safe) else safe or "unnamed", text)


def _cut(text: str, less: int = 0) -> str:
    """As much of a name as has room, `less` characters left free."""
    short = text[: MAX_NAME_CHARACTERS - less]
    return short.encode("utf-8", "replace")[: MAX_NAME_BYTES - less].decode("utf-8", "ignore").rstrip(". ")


def _marked(name: str, of: str) -> str:
    mark = "~" + hashlib.sha256(of.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return _cut(name, len(mark)) + mark


def apart(senders: Iterable[Sender]) -> dict[Sender, str]:
    """What each is called, so that no two share a name, nor one that differs in capitals alone.

    The first in order keeps it, those whose name was not changed before the others; each other one gets a mark.
    """
    ordered = sorted(senders, key=lambda s: (s.student != s.said, s.student, s.said, _system(s)))
    keep: dict[str, Sender] = {}
    for sender in ordered:
        keep.setdefault(_alike(sender.student), sender)
    names = {sender: sender.student for sender in keep.values()}
    taken = set(keep)
    for sender in (s for s in ordered if s not in names):
        name, tries = sender.student, 0
        while _alike(name) in taken:
            name = _marked(sender.student, f"{_system(sender)}\0{sender.said}\0{tries}")
            tries += 1
        taken.add(_alike(name))
        names[sender] = name
    return names


def _system(sender: Sender) -> str:
    return f"{sender.lms.system} {sender.lms.id}" if sender.lms else ""


def _alike(name: str) -> str:
    """The same for names that some file system or database cannot tell apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
