"""Environments that hold exactly what a wheel asks for, made without the network.

A venv without pip: the wheel is unpacked into it, and beside it are linked, from the environment that runs the tests,
the distributions that its requirements name, and those that these need. What nobody asked for is not there.
"""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LEAN = Path(__file__).with_name("lean")
"""Stands in for a package that takes each process a second to import: `make test` has it on the path, and so does what
looks for the course elsewhere than here.
"""


def path_with(*places: Path | str) -> str:
    """What PYTHONPATH says where the course is found in these places."""
    return os.pathsep.join([*map(str, places), str(LEAN)])


@dataclass(frozen=True)
class Environment:
    """A Python with the package and what it asked for."""

    python: Path
    wants: dict[str, Distribution]  # by canonical name; without the package itself

    def run(self, *arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess:
        """Run `python ARGUMENTS` in the folder `cwd`; nothing of the checkout is on its path."""
        kept = {
            name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
        }
        command = [str(self.python), *arguments]
        return subprocess.run(
            command, cwd=cwd, env=kept | variables, capture_output=True, text=True, check=False
        )


def build_wheel(source: Path, folder: Path) -> Path:
    """Build the wheel of the project in `source` into `folder`; returns its path. Needs hatchling."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def environment(folder: Path, wheel: Path, extras: Iterable[str] = ()) -> Environment:
    """Make an environment in `folder` with this wheel and the closure of its requirements with these extras."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(folder), "platbase": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    ours = Distribution.at(next(site.glob("*.dist-info")))
    wants = closure(ours, extras)
    for wanted in wants.values():
        for name in _top_level(wanted):
            lean = LEAN / f"{name}.py"
            there = lean if lean.is_file() else Path(str(wanted.locate_file(name)))
            if not (site / there.name).exists():
                (site / there.name).symlink_to(there)
    return Environment(folder / "bin" / "python", wants)


def closure(ours: Distribution, extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """The distributions that `ours` needs with these extras, directly or not, by canonical name.

    Raises importlib.metadata.PackageNotFoundError, with the name, where one is not installed here.
    """
    root = canonicalize_name(ours.metadata["Name"])
    found = {root: ours}
    waiting, seen = [(root, frozenset(extras))], set()
    while waiting:
        name, with_extras = waiting.pop()
        if (name, with_extras) in seen:
            continue
        seen.add((name, with_extras))
        if name not in found:
            found[name] = distribution(name)
        for wanted in map(Requirement, found[name].requires or ()):
            if _applies(wanted, with_extras):
                waiting.append((canonicalize_name(wanted.name), frozenset(wanted.extras)))
    return {name: found[name] for name in found if name != root}


def _applies(wanted: Requirement, extras: frozenset[str]) -> bool:
    marker = wanted.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))


def constraints(course: Path) -> dict[str, str]:
    """Package, by canonical name → its one version in constraints.txt, for this Python."""
    lines = (course / "constraints.txt").read_text().split("\n")
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    here = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
    return {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in here}


def import_names(wants: Iterable[Distribution]) -> set[str]:
    """The names that these distributions offer to `import`, e.g. "PIL" for pillow."""
    return {name.split(".")[0] for wanted in wants for name in _top_level(wanted)}


def _top_level(wanted: Distribution) -> set[str]:
    """The folders and files that a distribution has directly in site-packages. Not its scripts, not its .pth files."""
    files = wanted.files
    assert files is not None, f"{wanted.metadata['Name']}: pip did not write down what it installed"
    names = {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}
    return {name for name in names if not name.endswith(".pth")}
