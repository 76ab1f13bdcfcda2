"""The wheel of `sdpa_helpers` for the browser: without what only instructors have, and the same bytes each time."""

import csv
import io
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.classroom import release

NO_BROWSER = ("bench", "cli", "desk", "grading", "sandbox")
"""Rooms that nothing imports which runs in a page."""
LEFT_OUT = tuple(f"sdpa_helpers/{room}/" for room in (release.LEFT_OUT, *NO_BROWSER))
"""The first of them the student edition has not got either; nor does it have a lesson's `TO_TEACH`."""

EPOCH = (1980, 1, 1, 0, 0, 0)


class OurWheel(NamedTuple):
    """A wheel of ours: its name has its content's hash, so that no browser serves an old one from its cache."""

    file_name: str
    version: str
    content: bytes


def our_wheel(root: Path) -> OurWheel:
    """Build the wheel of the checkout in `root`, less LEFT_OUT."""
    with tempfile.TemporaryDirectory() as temporary:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", temporary]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(
                f"The wheel of sdpa_helpers could not be built:\n{(done.stdout + done.stderr)[-2000:]}"
            )
        whole = next(Path(temporary).glob("*.whl"))
        name, version = whole.name.split("-")[:2]
        return named(name, version, without(whole.read_bytes()))


def empty_wheel(name: str, version: str) -> OurWheel:
    """A wheel that installs nothing: a name for its dependencies."""
    return pure_wheel(name, version, {})


def pure_wheel(name: str, version: str, modules: dict[str, bytes]) -> OurWheel:
    """A wheel of these files of Python, by their paths in it."""
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    tags = "Wheel-Version: 1.0\nGenerator: sdpa\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    info = f"{name}-{version}.dist-info"
    about = {f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": tags.encode(), f"{info}/RECORD": b""}
    return named(name, version, _packed(modules | about))


def named(name: str, version: str, content: bytes) -> OurWheel:
    """The same with a build tag made of the content's hash."""
    tag = sha256(content).hexdigest()[:10]
    return OurWheel(f"{name}-{version}-0_{tag}-py3-none-any.whl", version, content)


def without(wheel: bytes, left_out: tuple[str, ...] = LEFT_OUT) -> bytes:
    """A wheel's bytes without the files whose names begin so; its RECORD does not name them either."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not _is_out(name, left_out)}
    record = next(name for name in files if name.endswith(".dist-info/RECORD"))
    files[record] = _record_without(files[record].decode(), left_out).encode()
    return _packed(files)


def _is_out(name: str, left_out: tuple[str, ...]) -> bool:
    return name.startswith(left_out) or name.rpartition("/")[2] in release.TO_TEACH


def _record_without(record: str, left_out: tuple[str, ...]) -> str:
    kept = io.StringIO()
    rows = (row for row in csv.reader(io.StringIO(record)) if row and not _is_out(row[0], left_out))
    csv.writer(kept, lineterminator="\n").writerows(rows)
    return kept.getvalue()


def _packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), files[name], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
