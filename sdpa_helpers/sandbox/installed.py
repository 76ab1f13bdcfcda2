"""What of the installed packages belongs to a few distributions and to what they need: their lists of files say so."""

import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sdpa_helpers.sandbox.fork_servers import CannotStart

CACHE = "__pycache__"
"""A folder whose files belong to many: of it single files are taken."""


_AGAIN = "install it anew: pip install --force-reinstall {}, best in an environment of its own"


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
    what lies elsewhere are left out. Raises CannotStart.
    """
    return tuple(entry.path for entry in _entries(distributions))


def refuse_links(distributions: tuple[str, ...]) -> None:
    """Raise CannotStart where a file of these is a link: a view of single places does not show what it leads to."""
    for name, one in _closure(distributions).items():
        folder = os.path.abspath(str(one.locate_file("")))
        paths = {entry: path for path in _listed(one) if (entry := _entry(path))}
        for path in (os.path.join(folder, part) for both in paths.items() for part in both):
            if os.path.islink(path):
                leads = f"{path} is a link to another folder (UV_LINK_MODE=copy makes none)"
                raise CannotStart(f"{leads}: {_AGAIN.format(name)}")


def top_level_names(distributions: tuple[str, ...]) -> frozenset[str]:
    """The names that these distributions, and all that they require, can be imported by.

    One that came without a list of its files is taken at its own name. Raises CannotStart where one of them is missing.
    """
    closure = _closure(distributions).items()
    entries = ({*map(_entry, _listed(one))} or {name.replace("-", "_")} for name, one in closure)
    return frozenset(_Entry("", entry).importable for each in entries for entry in each) - {""}


def others(
    distributions: tuple[str, ...], elsewhere: tuple[str, ...] = ()
) -> tuple[list[str], frozenset[str]]:
    """What else is installed: (a file of each entry that has any directly in it; names to import them by).

    elsewhere: folders of packages to look at, beside those that these distributions lie in. Raises CannotStart.
    """
    own = set(_entries(distributions))
    folders = {entry.folder for entry in own} | set(filter(os.path.isdir, elsewhere))
    found = {_Entry(folder, name) for folder in folders for name in os.listdir(folder) if name != CACHE} - own
    files = [file for entry in found if (file := _a_file_of(entry.path))]
    names = frozenset(entry.importable for entry in found) - top_level_names(distributions)
    return sorted(files), names - {""}


def _a_file_of(path: str) -> str:
    """The path itself where it is a file, else one that is directly in it, or ""."""
    if not os.path.isdir(path):
        return path
    with os.scandir(path) as found:
        return next((entry.path for entry in found if entry.is_file()), "")


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
                raise CannotStart(
                    f"{name} is not installed for {sys.executable}: pip install {name}"
                ) from None
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
    folder, paths = os.path.abspath(str(one.locate_file(""))), _listed(one)
    again = _AGAIN.format(name)
    if not paths:
        raise CannotStart(f"{name} in {folder} came without a list of its files (RECORD): {again}")
    if re.search(r'"editable": *true', one.read_text("direct_url.json") or ""):
        raise CannotStart(f"{name} is installed as a link to its source (pip install -e): {again}")
    return [_Entry(folder, entry) for entry in dict.fromkeys(map(_entry, paths)) if entry]


def _listed(one: Distribution) -> list[str]:
    """Paths of its files, from its folder of packages."""
    return [line.strip('"').partition(",")[0] for line in (one.read_text("RECORD") or "").splitlines()]


def _entry(path: str) -> str:
    """The entry of the folder that a file of a list belongs to; "" for what has no place there."""
    first, _, rest = path.partition("/")
    if first in ("..", "") or path.endswith(".pth"):
        return ""
    return path if first == CACHE else first if rest or "." in first else ""
