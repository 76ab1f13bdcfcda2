"""What was handed in, as a folder or as a zip: its notebooks, and by name what is left out, with why.

Nothing here looks into a notebook, follows a link or opens a pipe. One file, whatever it is called or made of, costs
only itself. From a zip each notebook is unpacked under a number: its name never becomes a path.
"""

import os
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.zip_names import open_zip
from sdpa_helpers.grading.plain_text import one_line
from sdpa_helpers.grading.read import MAX_NOTEBOOK_BYTES, is_notebook

TRAPS = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store", ".git")
"""What systems add by themselves: not worth a line."""

MAX_SHOWN_NAME = 200
MAX_NAME = 1000
"""A zip can have names of 65,535 bytes, folders at most 255."""

BOMB_BYTES, BOMB_RATIO = 4 << 20, 50
"""No notebook of this size packs so well: more than 4 MiB from less than a fiftieth."""

LINK = "a link, not a file: hand in the notebook itself"
FOLDER = "a folder that is named like a notebook: what is in it is not read"
OF_A_RUN = "the --out folder of a run of `sdpa grade`: not read"
HIDDEN = "hidden, as its name begins with a dot: not read"


@dataclass(frozen=True)
class HandedIn:
    """A file or folder that was handed in."""

    relative: PurePosixPath
    """Its path below the folder of submissions."""
    path: Path | None = None
    """Where a notebook's content lies; None for anything else, which only says who handed in something."""
    time: datetime | None = None
    odd: str = ""
    """What a human should know of the file itself, e.g. that the archive is damaged here; else ""."""
    is_folder: bool = False


@dataclass
class Listing:
    """All that was handed in."""

    entries: list[HandedIn] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """(file, why)."""
    zipped: bool = False

    def leave_out(self, relative: PurePosixPath, why: str) -> None:
        """Name what is not read."""
        self.left_out.append((shown(relative), why))


def shown(relative: PurePosixPath) -> str:
    """A path as people read it: on one line, and not endless."""
    text = one_line(str(relative))
    half = MAX_SHOWN_NAME // 2
    return text if len(text) <= MAX_SHOWN_NAME else f"{text[:half]}…{text[-half:]}"


# ---- folders ----------------------------------------------------------------------------------------------


def list_folder(root: Path, without: Path | None = None) -> Listing:
    """Everything in a folder and below, but for the folder `without`, which is the grader's own.

    Raises OSError when the folder itself cannot be opened.
    """
    listing, todo = Listing(), [PurePosixPath()]
    ours = _identity(without.stat()) if without is not None and without.is_dir() else None
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(root / folder) as found:
                children = sorted(found, key=lambda child: child.name)
        except OSError as error:
            if not folder.parts:
                raise
            listing.leave_out(folder, f"a folder that cannot be opened: {error.strerror}")
            continue
        for child in children:
            relative = folder / child.name
            try:
                if ours and _identity(child.stat(follow_symlinks=False)) == ours:
                    continue
                if child.is_dir(follow_symlinks=False) and ResultsFolder(Path(child.path)).is_of_a_run():
                    listing.leave_out(relative, OF_A_RUN)
                    continue
                if _add(listing, relative, child):
                    todo.append(relative)
            except OSError as error:
                listing.leave_out(relative, f"cannot be looked at: {error.strerror}")
    listing.entries.sort(key=lambda entry: entry.relative)
    listing.left_out.sort()
    return listing


def _add(listing: Listing, relative: PurePosixPath, child: os.DirEntry[str]) -> bool:
    """Take up one child; whether to look into it."""
    if _is_trap(child.name):
        return False
    notebook, top = is_notebook(child.name), len(relative.parts) == 1
    status = child.stat(follow_symlinks=False)
    is_folder = stat.S_ISDIR(status.st_mode)
    if child.name.startswith("."):
        if notebook or (top and is_folder):
            listing.leave_out(relative, HIDDEN)
        return False
    if is_folder and notebook:
        listing.leave_out(relative, FOLDER)
        return False
    if is_folder:
        listing.entries.append(HandedIn(relative, is_folder=True))
        return True
    if kind := _no_file(status.st_mode):
        listing.leave_out(relative, kind)
        listing.entries.append(HandedIn(relative, is_folder=top and not notebook))
    elif notebook:
        odd = "" if os.access(child.path, os.R_OK) else "it cannot be read: permission denied"
        listing.entries.append(HandedIn(relative, Path(child.path), moment(status.st_mtime), odd))
    else:
        listing.entries.append(HandedIn(relative))
    return False


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_trap(name: str) -> bool:
    return name in TRAPS or name.startswith("._")


def _no_file(mode: int) -> str:
    """Why this is no file, by its mode; "" for a file."""
    kinds = {
        stat.S_IFLNK: LINK,
        stat.S_IFIFO: "a named pipe, not a file",
        stat.S_IFSOCK: "a socket, not a file",
        stat.S_IFCHR: "a device, not a file",
        stat.S_IFBLK: "a device, not a file",
    }
    return kinds.get(stat.S_IFMT(mode), "")


def moment(seconds: float) -> datetime | None:
    """Seconds since 1970 as a time; None for one that no hand-in can have."""
    try:
        time = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return time if 1970 <= time.year <= 2999 else None


# ---- zips -------------------------------------------------------------------------------------------------


def unpack(archive: Path, into: Path) -> Listing:
    """Unpack the notebooks of a zip into an empty folder, and nothing else.

    Left out by name: what climbs out of the folder, what is a link, a name that was there before. What is too large
    to be graded takes no room on the disk. Raises BadZipFile, OSError, RuntimeError or ValueError when it is no
    readable zip.
    """
    listing, seen = Listing(zipped=True), dict[PurePosixPath, int]()
    with open_zip(archive, into) as file:
        infos = file.infolist()
        names = [info.filename for info in infos]
        if any("\\" in name for name in names) and not any("/" in name for name in names):
            names = [name.replace("\\", "/") for name in names]  # some programs of Windows write them so
        for name in names:
            relative = PurePosixPath(name)
            seen[relative] = seen.get(relative, 0) + 1
        taken: set[PurePosixPath] = set()
        for number, (name, info) in enumerate(zip(names, infos, strict=True)):
            relative = PurePosixPath(name)
            if not relative.parts or any(map(_is_trap, relative.parts)):
                continue
            if why := _refused(name, info):
                listing.leave_out(relative, why)
            elif any(part.startswith(".") for part in relative.parts):
                if is_notebook(relative.name):
                    listing.leave_out(relative, HIDDEN)
            elif name.endswith("/"):
                listing.entries.append(HandedIn(relative, is_folder=True))
            elif not is_notebook(relative.name):
                listing.entries.append(HandedIn(relative))
            elif relative in taken:
                listing.leave_out(
                    relative, f"the zip has {seen[relative]} entries of this name: the first is read"
                )
            else:
                taken.add(relative)
                target = into / f"{number:06}.ipynb"
                odd = _unpack_one(file, info, target)
                if seen[relative] > 1:
                    odd = f"the zip has {seen[relative]} entries of this name: the first was graded. {odd}".strip()
                listing.entries.append(HandedIn(relative, target, _entry_time(info), odd))
    return listing


def _refused(name: str, info: zipfile.ZipInfo) -> str:
    """Why an entry is not unpacked, by its name and kind; "" when nothing speaks against it."""
    relative, mode = PurePosixPath(name), info.external_attr >> 16
    if any(len(part) > MAX_NAME for part in relative.parts):
        return f"a name of more than {MAX_NAME} characters"
    if "\0" in info.orig_filename:
        return "its name goes on after a NUL character"
    if relative.is_absolute() or (len(relative.parts[0]) == 2 and relative.parts[0].endswith(":")):
        return "an absolute path: expected one below the folder of submissions"
    if ".." in relative.parts:
        return 'its path leads elsewhere, by "..": expected one below the folder of submissions'
    if any(is_notebook(part) for part in relative.parts[:-1]):
        return "in a folder that is named like a notebook: not read"
    if name.endswith("/"):
        return FOLDER if is_notebook(relative.name) else ""
    # Modes mean something in archives that say they were made on Unix.
    return _no_file(mode) if info.create_system == 3 else ""


def _unpack_one(file: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path) -> str:
    """Write one notebook; returns what a human should know about it."""
    packed_well = info.file_size > BOMB_BYTES and info.file_size > BOMB_RATIO * info.compress_size
    if info.file_size > MAX_NOTEBOOK_BYTES or packed_well:
        with target.open("wb") as large:
            large.truncate(MAX_NOTEBOOK_BYTES + 1)  # a hole: it will be refused for its size
        size = f"{info.file_size >> 20} MiB"
        return (
            f"not unpacked: {size} from {info.compress_size} bytes"
            if packed_well
            else f"not unpacked: {size}"
        )
    content, why = _content(file, info)
    target.write_bytes(content if not why else why.encode())  # that is no notebook: it will be refused
    return why


def _content(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[bytes, str]:
    """(what an entry holds, why it cannot be had)."""
    if info.flag_bits & 1:
        return b"", "encrypted in the zip"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # Others unpack without bounds.
        return b"", "packed by a method that is not read: use an ordinary zip"
    try:
        with file.open(info) as source:
            return source.read(MAX_NOTEBOOK_BYTES + 1), ""
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        return b"", f"damaged in the zip: {one_line(str(error))[:200]}"


def _entry_time(info: zipfile.ZipInfo) -> datetime | None:
    """From the "extended timestamp" where there is one, else from the local time of the entry."""
    extra = info.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return moment(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    try:
        return moment(datetime(*info.date_time).timestamp())
    except (ValueError, OverflowError, OSError):
        return None
