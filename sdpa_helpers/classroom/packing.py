"""Files as bytes that depend on nothing but what is in them: zips, tars, and the list of their SHA-256 sums.

Names are sorted as bytes, times are 1 January 1980, modes are 0644, or 0755 for what is meant to be run, owners are
nobody: where, when, by whom and under which umask or locale something was packed is no part of it.
"""

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from sdpa_helpers.grading.refusal import Refusal

SUMS = "SHA256SUMS"
"""As `sha256sum --check SHA256SUMS` reads it."""

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold."""
LONG_AGO_EPOCH = 315532800
"""The same in seconds, for tar and for SOURCE_DATE_EPOCH."""


class CannotPack(Refusal):
    """What was to be written is there already."""


def packed(folder: Path) -> list[tuple[str, Path]]:
    """(name within an archive, file) of each file in a folder, below the folder's own name, in their order."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted((f"{folder.name}/{path.relative_to(folder).as_posix()}", path) for path in files)


def zip_folder(folder: Path, path: Path | None = None) -> Path:
    """Pack a folder into a zip, FOLDER.zip beside it where nothing else is said. CannotPack if that exists."""
    path = path or folder.with_name(f"{folder.name}.zip")
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, file in packed(folder):
                add_to_zip(archive, name, file.read_bytes())
    except FileExistsError:
        raise CannotPack(f"{path} exists; name a new folder") from None
    return path


def add_to_zip(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a file to a zip: the same bytes, wherever and whenever."""
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.create_system = 3  # whose modes are those of Unix
    entry.external_attr = 0o100644 << 16
    archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


def tar_folder(folder: Path, path: Path, run: Iterable[str] = ()) -> Path:
    """Pack a folder into a plain tar. run: the files in it that are meant to be run. Replaces what is there."""
    programs = {f"{folder.name}/{name}" for name in run}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, file in packed(folder):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = file.stat().st_size, LONG_AGO_EPOCH
            entry.mode = 0o755 if name in programs else 0o644
            with file.open("rb") as stream:
                archive.addfile(entry, stream)
    return path


def write_sums(folder: Path, files: Iterable[Path]) -> Path:
    """Write SHA256SUMS into a folder, a line for each of these files in it; returns its path."""
    lines = sorted((path.relative_to(folder).as_posix(), sha256(path)) for path in files)
    (folder / SUMS).write_bytes("".join(f"{value}  {name}\n" for name, value in lines).encode())
    return folder / SUMS


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        digest = hashlib.sha256()
        while block := stream.read(io.DEFAULT_BUFFER_SIZE * 64):
            digest.update(block)
    return digest.hexdigest()
