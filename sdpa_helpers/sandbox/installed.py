"""What of the installed packages belongs to a few distributions and to what they need, as their own lists of files say."""

import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


class NotListed(Exception):
    """Which files a distribution has installed cannot be told; the text says what to do."""


CACHE = "__pycache__"
"""A folder whose files belong to many: of it single files are taken."""


@dataclass(frozen=True)
class _Entry:
    """Something directly in a folder of packages."""

    folder: str
    name: str
    """Below the folder: a package, a module, a folder of libraries or of facts; of __pycache__ one file."""

    @property
    def path(self) -> str:
        """Where it lies."""
        return os.path.join(self.folder, self.name)

    @property
    def importable(self) -> str:
        """The name to import it by, or ""."""
        name, dot, kind = self.name.partition(".")
        is_module = not dot or kind == "py" or kind.endswith(("so", "pyd"))
        return name if is_module and name.isidentifier() and not name.startswith("__") else ""


def places(distributions: tuple[str, ...]) -> tuple[str, ...]:
    """Absolute paths of what these distributions, and all that they require, have in the folders of packages.

    Packages, single modules with their compiled files, folders of libraries (`numpy.libs`), `.dist-info`. Scripts and
    what lies elsewhere are left out. Raises NotListed.
    """
    return tuple(entry.path for entry in _entries(distributions))


def top_level_names(distributions: tuple[str, ...]) -> frozenset[str]:
    """The names that these distributions, and all that they require, can be imported by. Raises NotListed."""
    return frozenset(entry.importable for entry in _entries(distributions)) - {""}


def others(distributions: tuple[str, ...]) -> tuple[list[str], frozenset[str]]:
    """What lies beside them: (paths of files, one for each entry that has any; names to import them by)."""
    own = set(_entries(distributions))
    folders = {entry.folder for entry in own}
    beside = {
        _Entry(folder, name) for folder in folders for name in os.listdir(folder) if name != CACHE
    } - own
    files = [_a_file_of(Path(entry.path)) for entry in beside]
    return sorted(file for file in files if file), frozenset(entry.importable for entry in beside) - {""}


def _a_file_of(path: Path) -> str:
    """The path itself where it is a file, else one that is directly in it, or ""."""
    candidates = sorted(path.iterdir()) if path.is_dir() else [path]
    return next((str(file) for file in candidates if file.is_file()), "")


@cache
def _entries(distributions: tuple[str, ...]) -> tuple[_Entry, ...]:
    found: dict[_Entry, None] = {}
    for name, one in _closure(distributions).items():
        found |= dict.fromkeys(_entries_of(name, one))
    return tuple(found)


def _closure(distributions: tuple[str, ...]) -> dict[str, Distribution]:
    """These distributions and what they require here, without extras; what is not installed is not there."""
    found: dict[str, Distribution] = {}
    todo = list(distributions)
    while todo:
        name = canonicalize_name(todo.pop())
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            if name in map(canonicalize_name, distributions):
                raise NotListed(f"{name} is not installed for {sys.executable}: pip install {name}") from None
            continue
        todo += _required(found[name])
    return found


def _required(one: Distribution) -> list[str]:
    """Names of the distributions that one requires here. Its long description is not looked at."""
    head = (one.read_text("METADATA") or "").partition("\n\n")[0]
    lines = [line.partition(": ")[2] for line in head.split("\n") if line.startswith("Requires-Dist: ")]
    found = [Requirement(line) for line in lines if "extra ==" not in line.partition(";")[2]]
    return [r.name for r in found if r.marker is None or r.marker.evaluate()]


def _entries_of(name: str, one: Distribution) -> list[_Entry]:
    """What a distribution has in its folder of packages."""
    folder, listed = str(one.locate_file("")), one.read_text("RECORD")
    again = f"install it anew: pip install --force-reinstall {name}, best in an environment of its own"
    if not listed:
        raise NotListed(f"{name} in {folder} came without a list of its files (RECORD): {again}")
    if re.search(r'"editable": *true', one.read_text("direct_url.json") or ""):
        raise NotListed(f"{name} is installed as a link to its source (pip install -e): {again}")
    paths = [line.strip('"').partition(",")[0] for line in listed.splitlines()]
    entries = {_entry(path): path for path in paths}
    for path in entries.values():
        if os.path.islink(os.path.join(folder, path)):
            raise NotListed(
                f"{path} in {folder} is a link to another folder (UV_LINK_MODE=copy makes none): {again}"
            )
    return [_Entry(folder, entry) for entry in entries if entry]


def _entry(path: str) -> str:
    """The entry of the folder that a file of a list belongs to; "" for what has no place there."""
    first, _, rest = path.partition("/")
    if first in ("..", "") or path.endswith(".pth"):
        return ""
    return path if first == CACHE else first if rest or "." in first else ""
