"""A zip in which the name or the version of one entry is nonsense: Python's reader then refuses all of it."""

import shutil
import struct
import zipfile
from pathlib import Path

_END, _ENTRY = b"PK\x05\x06", b"PK\x01\x02"
_HEADER = 46
"""Bytes of an entry in the directory at the end of a zip, before its name."""
_SAYS_UTF8 = 0x800
_VERSION = 20
"""That of an ordinary entry."""


def open_zip(archive: Path, into: Path) -> zipfile.ZipFile:
    """Open a zip; where a single entry keeps it from being opened, a copy in the folder `into` that is set right.

    Raises BadZipFile, OSError, RuntimeError or ValueError when that does not help.
    """
    try:
        return zipfile.ZipFile(archive)
    except (UnicodeDecodeError, NotImplementedError):
        mended = into / "mended.zip"
        shutil.copyfile(archive, mended)
        _mend(mended)
        return zipfile.ZipFile(mended)


def _mend(path: Path) -> None:
    """Take names that are no UTF-8 for what they may be else, and versions that nobody knows for an ordinary one."""
    with path.open("r+b") as file:
        file.seek(-min(path.stat().st_size, 22 + 65_535), 2)
        before, tail = file.tell(), file.read()
        at = tail.rfind(_END)
        if at < 0 or at + 20 > len(tail):
            raise zipfile.BadZipFile("it has no directory of its entries")
        (size,) = struct.unpack_from("<I", tail, at + 12)
        start = before + at - size
        if start < 0:
            raise zipfile.BadZipFile("its directory is not where it should be")
        file.seek(start)
        directory = bytearray(file.read(size))
        entry = 0
        while directory[entry : entry + 4] == _ENTRY and entry + _HEADER <= len(directory):
            flags, name, extra, comment = _fields(directory, entry)
            if flags & _SAYS_UTF8 and not _is_utf8(directory[entry + _HEADER : entry + _HEADER + name]):
                struct.pack_into("<H", directory, entry + 8, flags & ~_SAYS_UTF8)
            struct.pack_into("<H", directory, entry + 6, _VERSION)
            entry += _HEADER + name + extra + comment
        file.seek(start)
        file.write(directory)


def _fields(directory: bytearray, entry: int) -> tuple[int, int, int, int]:
    """(flags, length of the name, of the extra field, of the comment)."""
    (flags,) = struct.unpack_from("<H", directory, entry + 8)
    return flags, *struct.unpack_from("<HHH", directory, entry + 28)


def _is_utf8(name: bytearray) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
