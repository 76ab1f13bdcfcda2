"""Put the archive together: the student edition, wheels, the site, what installs them; then one tar and its sum.

python -m editions.archive --extra-index-url …    # whatever follows is handed to `pip wheel`
"""

import json
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.classroom.packing import tar_folder, write_sums
from sdpa_helpers.classroom.release import release
from sdpa_helpers.course.places import course_root

HERE = Path(__file__).parent
INSTALLERS = ("install", "install.ps1")
BUILD_TOOLS = ("hatchling>=1.27,<2", "editables>=0.5,<1")
"""What pip needs to install the course itself, whose folder stays where it is."""
WHEELS = "wheels"

Fetch = Callable[[Path, Sequence[str], Path], None]
"""Called with (the student edition, its extras, a folder): puts the wheels of all that it needs into the folder."""


class NoWheels(RuntimeError):
    """pip could not get them; the text says why."""


@dataclass(frozen=True)
class Machine:
    """For which machines wheels are."""

    system: str
    """As `platform.system` says it, in small letters."""
    machine: str
    python: str
    """Major and minor version."""

    @classmethod
    def here(cls) -> "Machine":
        """This one."""
        version = ".".join(platform.python_version_tuple()[:2])
        return cls(platform.system().lower(), platform.machine().lower(), version)

    @property
    def name(self) -> str:
        """For the archive's name, e.g. "linux-x86_64-python3.11"."""
        return f"{self.system}-{self.machine}-python{self.python}"


def build_archive(
    into: Path, fetch: Fetch, extras: Sequence[str] = ("lab",), site: Path | None = None
) -> Path:
    """Write the archive and SHA256SUMS into a folder; returns the archive's path.

    extras: what `install` installs beside the core; a room needs "lab". site: the static site, where there is one.
    """
    into.mkdir(parents=True, exist_ok=True)
    here = Machine.here()
    name = f"sdpa-course-{course_version()}-{here.name}"
    with tempfile.TemporaryDirectory(dir=into) as made:
        folder = Path(made) / name
        release(folder)
        wheels = folder / WHEELS
        wheels.mkdir()
        fetch(folder, extras, wheels)
        for_machine = {"system": here.system, "machine": here.machine, "python": here.python}
        (wheels / "for.json").write_text(json.dumps(for_machine) + "\n", encoding="utf-8")
        shutil.copyfile(HERE / "fits.py", wheels / "fits.py")
        for script in INSTALLERS:
            text = (HERE / script).read_text(encoding="utf-8")
            (folder / script).write_bytes(text.replace("@EXTRAS@", ",".join(extras)).encode())
        if site:
            shutil.copytree(site, folder / "site")
        archive = tar_folder(folder, into / f"{name}.tar", run=["install"])
    write_sums(into, sorted(into.glob("*.tar")))
    return archive


def fetch_wheels(flags: Sequence[str]) -> Fetch:
    """Wheels as pip gets them, with these flags; what has no wheel is built into one."""

    def fetch(course: Path, extras: Sequence[str], wheels: Path) -> None:
        wanted = f"{course}[{','.join(extras)}]" if extras else f"{course}"
        pins = course / "constraints.txt"
        _pip_wheel(wheels, "-c", str(pins), *flags, wanted, *BUILD_TOOLS)
        names = {path.name.split("-")[0] for path in wheels.glob("*.whl")}
        for pin in pins_of_other_patches(pins.read_text(encoding="utf-8"), names):
            _pip_wheel(wheels, "--no-deps", "--ignore-requires-python", *flags, pin)
        for own in wheels.glob("sdpa_helpers-*.whl"):  # the room installs the folder itself, lessons and all
            own.unlink()

    return fetch


def _pip_wheel(wheels: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "-w", str(wheels)]
    if subprocess.run([*command, *arguments], check=False).returncode:
        raise NoWheels("pip could not get all wheels; its own words stand above")


def pins_of_other_patches(pins: str, names: Collection[str]) -> list[str]:
    """Of these packages, the versions that other patches of Python need: 3.11.2 and 3.11.7 can sit in one room."""
    found = [line.partition(";") for line in pins.splitlines() if "; python_full_version" in line]
    return [pin.strip() for pin, _, _ in found if pin.split("==")[0].replace("-", "_") in names]


def course_version() -> str:
    """The version that pyproject.toml says."""
    read = tomllib.loads((course_root() / "pyproject.toml").read_text(encoding="utf-8"))
    return read["project"]["version"]
